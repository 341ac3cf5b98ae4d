package inside

import (
	"errors"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"termic/sandbox/cage/wire"
)

// The second wall. It allows what the root shows, once more and by another mechanism, and it divides the grants around what
// is hidden: a mount covers what lay at a path when the cage was made, a rule that is not there also covers what somebody
// outside puts there later.

// Rights by what they are about. Values of a file only take part in rules for files.
const (
	llFile  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	llRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	llWrite = llRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	llDevice = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// landlockABI is that of the kernel, 0 where it has none.
func landlockABI() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// ruleset is a Landlock ruleset that is being filled.
type ruleset struct {
	fd      int
	handled uint64
}

// newRuleset handles everything about files that an ABI knows, and from ABI 6 on keeps signals and abstract sockets of the
// outside away. TCP is not handled: a cage's own network has loopback alone, and on the host's every port is meant.
func newRuleset(abi int) (*ruleset, error) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: 1<<13 - 1}
	if abi >= 2 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 5 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	size := uintptr(8)
	if abi >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		size = 24 // with Scoped and without what later kernels added
	}
	return rulesetOf(attr, size)
}

func rulesetOf(attr unix.LandlockRulesetAttr, size uintptr) (*ruleset, error) {
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return nil, errno
	}
	return &ruleset{int(fd), attr.Handled_access_fs}, nil
}

// allow gives rights on what fd shows and everything below it.
func (r *ruleset) allow(fd int, rights uint64) error {
	id, err := identify(fd)
	if err != nil {
		return err
	}
	rights &= r.handled
	if !id.dir {
		rights &= llFile
	}
	if rights == 0 {
		return nil // the kernel takes no rule without any
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// allowPath is allow for a path of the cage.
func (r *ruleset) allowPath(path string, rights uint64) error {
	fd, err := openPlain(unix.AT_FDCWD, path)
	if err == nil {
		err = r.allow(fd, rights)
		_ = unix.Close(fd)
	}
	if err != nil {
		return failed(wire.StepLandlock, path, err)
	}
	return nil
}

// enforce puts the rules over this thread and everything that it executes or forks.
func (r *ruleset) enforce() error {
	_, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0)
	if errno != 0 {
		return errno
	}
	return unix.Close(r.fd)
}

// restrictFiles builds the second wall of a root and enforces it. self is the program of the helper, to be executed
// once more. The result is the ABI in use.
func restrictFiles(b *builder, self int, root bool) (int, error) {
	abi := landlockABI()
	if abi < b.s.NeedLandlock {
		return 0, failed(wire.StepLandlock, "", unix.EOPNOTSUPP)
	}
	if abi == 0 {
		return 0, nil
	}
	r, err := newRuleset(abi)
	if err != nil {
		return 0, failed(wire.StepLandlock, "", err)
	}
	proc := uint64(llRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE)
	if root {
		proc = llRead
	}
	if err := r.allowPath("/", unix.LANDLOCK_ACCESS_FS_READ_DIR); err != nil {
		return 0, err
	}
	rights := map[string]uint64{"/proc": proc, "/dev": llDevice}
	for _, path := range temporary {
		rights[path] = llWrite
	}
	for _, m := range b.s.Mounts {
		rights[m.Target] = llRead
		if m.Write {
			rights[m.Target] = llWrite
		}
	}
	// A rule holds for everything below, across mounts. So a hidden thing divides every rule above it, not just that of the
	// grant that shows it. A socket divides none: nothing new could be made beside it, and a server that makes its socket
	// anew can do so anywhere in a grant, where no division would hide it either.
	var hidden []string
	for _, p := range b.spots {
		if p.cover && !b.denied[p.host].socket {
			hidden = append(hidden, p.path)
		}
	}
	for path, rights := range rights {
		below := slices.DeleteFunc(slices.Clone(hidden), func(h string) bool { rest, ok := within(h, path); return !ok || rest == "" })
		err := r.divide(path, rights, below)
		var f *wire.Failed
		if errors.As(err, &f) && f.Errno == int(unix.ENOENT) && weakened(b.s, wire.WeakView) {
			continue // a target that the host's tree does not have
		}
		if err != nil {
			return 0, err
		}
	}
	if err := r.allow(self, llRead); err != nil {
		return 0, failed(wire.StepLandlock, "", err)
	}
	plain, err := plainRules(b, abi)
	if err != nil {
		return 0, err
	}
	for _, r := range []*ruleset{r, plain} {
		if r == nil {
			continue
		}
		if err := r.enforce(); err != nil {
			return 0, failed(wire.StepLandlock, "", err)
		}
	}
	return abi, nil
}

// llSpecial are the rights to make what a program outside would follow or wait for.
const llSpecial = unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK

// plainRules are a layer of their own that allows llSpecial everywhere but in plain mounts; nil where there are none. They are
// apart from the other rules since a right that any folder above gives cannot be taken away below, and the folders on the
// way to a plain mount keep all their other rights.
func plainRules(b *builder, abi int) (*ruleset, error) {
	var plain []string
	for _, m := range b.s.Mounts {
		if m.Plain {
			plain = append(plain, m.Target)
		}
	}
	if len(plain) == 0 {
		return nil, nil
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: llSpecial}
	if abi >= 2 { // what no layer names is allowed, but for this one
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	r, err := rulesetOf(attr, 8)
	if err != nil {
		return nil, failed(wire.StepLandlock, "", err)
	}
	if err := r.allowPath("/", unix.LANDLOCK_ACCESS_FS_REFER); err != nil {
		return nil, err
	}
	paths := slices.Clone(temporary[:])
	for _, m := range b.s.Mounts {
		inPlain := slices.ContainsFunc(plain, func(p string) bool { _, ok := within(m.Target, p); return ok })
		if m.Write && !inPlain {
			paths = append(paths, m.Target)
		}
	}
	for _, path := range paths {
		if err := r.divide(path, llSpecial, plain); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// divide gives rights on everything below path but what is hidden. A folder on the way to something hidden can be listed,
// and nothing new can be made in it.
func (r *ruleset) divide(path string, rights uint64, hidden []string) error {
	if slices.Contains(hidden, path) {
		return nil
	}
	if !slices.ContainsFunc(hidden, func(h string) bool { _, ok := within(h, path); return ok }) {
		return r.allowPath(path, rights)
	}
	if err := r.allowPath(path, unix.LANDLOCK_ACCESS_FS_READ_DIR); err != nil {
		return err
	}
	names, err := list(path)
	if err != nil {
		return failed(wire.StepLandlock, path, err)
	}
	for _, name := range names {
		if err := r.divide(join(path, name), rights, hidden); err != nil {
			var f *wire.Failed
			if errors.As(err, &f) && (f.Errno == int(unix.ENOENT) || f.Errno == int(unix.ELOOP) || f.Errno == int(unix.EACCES)) {
				continue // gone meanwhile, a link, or nothing that we may look at: without a rule it stays closed
			}
			return err
		}
	}
	return nil
}

// list names what is in a folder.
func list(path string) ([]string, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var names []string
	buf := make([]byte, 32<<10)
	for {
		n, err := unix.ReadDirent(fd, buf)
		if err != nil || n <= 0 {
			return names, err
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}
