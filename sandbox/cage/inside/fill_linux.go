package inside

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"termic/sandbox/cage/wire"
)

// maskDir is where the empty things lie while the root is built.
const maskDir = "/.masks"

// A step of filling: something is put at a place. Folders come before what is below them.
type filling struct {
	path string
	rank int // at one place: what every cage has, then a grant, then a denial
	do   func() error
}

// fill puts everything in its place, from the top down: a grant inside a hidden folder comes after what hides it, and a
// denial inside a grant after the grant.
func (b *builder) fill() error {
	steps := []filling{{"/dev", 0, b.mountDev}}
	for _, path := range temporary {
		if b.granted(path) < 0 {
			steps = append(steps, filling{path, 0, func() error { return b.mountTmp(path) }})
		}
	}
	for i, m := range b.s.Mounts {
		steps = append(steps, filling{m.Target, 1, func() error { return b.mountGrant(i) }})
	}
	for _, p := range b.spots {
		steps = append(steps, filling{p.path, 2, func() error { return b.deny(p) }})
	}
	slices.SortStableFunc(steps, func(x, y filling) int {
		if c := comparePaths(x.path, y.path); c != 0 {
			return c
		}
		return x.rank - y.rank
	})
	for _, s := range steps {
		if err := s.do(); err != nil {
			return err
		}
	}
	return b.closeDev()
}

// granted is the index of the grant with this very target, or -1.
func (b *builder) granted(path string) int {
	return slices.IndexFunc(b.s.Mounts, func(m wire.Mount) bool { return m.Target == path })
}

// tmpFiles bounds the files of a temporary file system of so many bytes. An empty file takes none of them, but about a KiB of
// the kernel's memory, which nothing else counts where there is no control group.
func tmpFiles(bytes int64) int64 {
	const perFile, most = 4096, 400_000 // more than any build has there
	return min(max(bytes/perFile, 1024), most)
}

func (b *builder) mountTmp(path string) error {
	options := []string{"mode=1777"}
	if b.s.TmpBytes > 0 {
		options = append(options, "size="+strconv.FormatInt(b.s.TmpBytes, 10), "nr_inodes="+strconv.FormatInt(tmpFiles(b.s.TmpBytes), 10))
	}
	fd, err := b.mountNew(path, "tmpfs", attrPlain, options...)
	if err != nil {
		return failed(wire.StepMount, path, err)
	}
	return unix.Close(fd)
}

func (b *builder) mountGrant(i int) error {
	m := b.s.Mounts[i]
	fd, err := b.point(m.Target, b.dirs[i])
	if err == nil {
		err = place(b.trees[i], fd)
		_ = unix.Close(fd)
	}
	if err != nil {
		return failed(wire.StepMount, m.Target, err)
	}
	_ = unix.Close(b.trees[i])
	return nil
}

// deny covers or pins one place. The folders on the way to it, up to the grant, are pinned first if the grant is writable:
// whoever renames one would move the denied thing to another path.
func (b *builder) deny(p spot) error {
	step := wire.StepPin
	if p.cover {
		step = wire.StepCover
	}
	grant := b.s.Mounts[p.grant]
	if !p.cover && !grant.Write {
		return nil
	}
	fd, err := b.lookup(p.path)
	if err != nil {
		if !p.must && errors.Is(err, unix.ENOENT) {
			return nil
		}
		return failed(step, p.path, err)
	}
	id, err := identify(fd)
	_ = unix.Close(fd)
	if err != nil {
		return failed(step, p.path, err)
	}
	if p.exact && id != b.denied[p.host] {
		if p.must {
			return &wire.Failed{Step: wire.StepChanged, Path: p.host}
		}
		return nil
	}
	if grant.Write {
		if err := b.pinWay(grant.Target, p.path); err != nil {
			return failed(step, p.path, err)
		}
	}
	if fd, err = b.lookup(p.path); err != nil { // again: the way may consist of new mounts now
		return failed(step, p.path, err)
	}
	defer unix.Close(fd)
	if p.cover {
		err = b.mask(p.path, fd, id.dir)
	} else {
		err = rebind(fd, attrReadOnly)
	}
	if err != nil {
		return failed(step, p.path, err)
	}
	return nil
}

// lookup opens a place that is there already.
func (b *builder) lookup(path string) (int, error) {
	if path == "/" {
		return openPlain(b.root, ".")
	}
	return openPlain(b.root, path[1:])
}

// pinWay mounts every folder strictly between top and path onto itself. What is a mount already is left.
func (b *builder) pinWay(top, path string) error {
	rest, _ := within(path, top)
	parts := strings.Split(rest, "/")
	for i := range len(parts) - 1 {
		fd, err := b.lookup(join(top, strings.Join(parts[:i+1], "/")))
		if err != nil {
			return err
		}
		mounted, err := isMount(fd)
		if err == nil && !mounted {
			err = rebind(fd, 0)
		}
		_ = unix.Close(fd)
		if err != nil {
			return err
		}
	}
	return nil
}

// isMount tells whether fd is the root of a mount.
func isMount(fd int) (bool, error) {
	var st unix.Statx_t
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, 0, &st); err != nil {
		return false, err
	}
	if st.Attributes_mask&unix.STATX_ATTR_MOUNT_ROOT == 0 {
		return false, nil // an old kernel: one mount more does no harm
	}
	return st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0, nil
}

// mask puts an empty thing that nobody may open onto what fd shows. Grants that lie below path get their mount points in
// it.
func (b *builder) mask(path string, fd int, dir bool) error {
	if err := b.openMasks(); err != nil {
		return err
	}
	name := "file"
	if dir {
		name = "dir"
		var below []string
		for i, m := range b.s.Mounts {
			if rest, ok := within(m.Target, path); ok && rest != "" {
				if !b.dirs[i] {
					rest += "\x00" // its last component is a file
				}
				below = append(below, rest)
			}
		}
		if len(below) > 0 {
			name = "dir-" + strconv.Itoa(len(path)) + "-" + strings.ReplaceAll(path[1:], "/", "_")
			if err := b.maskWith(name, below); err != nil {
				return fmt.Errorf("make mount points in a hidden folder: %w", err)
			}
		}
	}
	item, err := openPlain(b.masks, name)
	if err != nil {
		return err
	}
	defer unix.Close(item)
	tree, err := clone(item)
	if err != nil {
		return err
	}
	defer unix.Close(tree)
	if err := restrict(tree, attrReadOnly|unix.MOUNT_ATTR_NOEXEC, true); err != nil {
		return err
	}
	return place(tree, fd)
}

// openMasks mounts the file system that hidden things are covered with.
func (b *builder) openMasks() error {
	if b.masks >= 0 {
		return nil
	}
	fd, err := b.mountNew(maskDir, "tmpfs", attrPlain|unix.MOUNT_ATTR_NOEXEC, "mode=0700", "size=1m")
	if err != nil {
		return err
	}
	b.masks = fd
	if err := unix.Mkdirat(fd, "dir", 0); err != nil {
		return err
	}
	file, err := unix.Openat(fd, "file", unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0)
	if err == nil {
		err = unix.Close(file)
	}
	return err
}

// maskWith makes a folder that holds the way to each of the paths and nothing else. It can be walked through, not read.
func (b *builder) maskWith(name string, below []string) error {
	made := []string{name}
	if err := unix.Mkdirat(b.masks, name, 0o700); err != nil {
		return err
	}
	for _, rest := range below {
		rest, file := strings.CutSuffix(rest, "\x00")
		at := name
		parts := strings.Split(rest, "/")
		for i, part := range parts {
			at += "/" + part
			if slices.Contains(made, at) {
				continue
			}
			dir := !file || i < len(parts)-1
			if err := makeAt(b.masks, at, dir); err != nil {
				return err
			}
			if dir {
				made = append(made, at)
			}
		}
	}
	for _, at := range slices.Backward(made) {
		if err := unix.Fchmodat(b.masks, at, 0o111, 0); err != nil {
			return err
		}
	}
	return nil
}
