package inside

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"termic/sandbox/cage/wire"
)

// builder makes the new root. Everything that is needed of the old one is opened before anything is covered.
type builder struct {
	s     *wire.Setup
	spots []spot

	trees   []int // mounts of the grants, not yet placed, in the order of s.Mounts
	dirs    []bool
	denied  map[string]identity // of covers and pins, by host path
	devices []int               // mounts of the device nodes, in the order of nodes

	base  string // where the new root stands while it is built
	root  int
	masks int // a folder of empty things to hide others with; -1 = none was needed
}

// nodes are the devices of a cage.
var nodes = [...]string{"null", "zero", "full", "random", "urandom", "tty"}

// temporary are the private file systems that every cage has.
var temporary = [...]string{"/tmp", "/var/tmp", "/dev/shm"}

// buildRoot builds the root and enters it.
func buildRoot(s *wire.Setup) (*builder, error) {
	b := &builder{s: s, masks: -1, denied: map[string]identity{}}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return nil, failed(wire.StepRoot, "/", err)
	}
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, failed(wire.StepRoot, "/proc/self/mountinfo", err)
	}
	if b.spots, err = findSpots(s, parseMounts(string(text))); err != nil {
		return nil, err
	}
	if weakened(s, wire.WeakView) {
		return b, b.keepHost()
	}
	for _, step := range []func() error{b.openSources, b.openDenied, b.openDevices, b.makeRoot, b.makeLinks, b.fill, b.mountProc, b.enter} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// openSources opens every granted path and makes a mount of it that is already as strict as it will be.
func (b *builder) openSources() error {
	for _, m := range b.s.Mounts {
		fd, err := openPlain(unix.AT_FDCWD, m.Source)
		if err != nil {
			return failed(wire.StepOpen, m.Source, err)
		}
		id, err := identify(fd)
		if err != nil {
			return failed(wire.StepOpen, m.Source, err)
		}
		if (m.Dev != 0 || m.Ino != 0) && (id.dev != m.Dev || id.ino != m.Ino) {
			return &wire.Failed{Step: wire.StepChanged, Path: m.Source}
		}
		tree, err := clone(fd)
		if err != nil {
			return failed(wire.StepMount, m.Source, err)
		}
		_ = unix.Close(fd)
		attrs := uint64(attrReadOnly)
		if m.Write {
			attrs = attrPlain
		}
		if err := restrict(tree, attrs, true); err != nil {
			return failed(wire.StepMount, m.Source, err)
		}
		b.trees, b.dirs = append(b.trees, tree), append(b.dirs, id.dir)
	}
	return nil
}

// openDenied looks at every cover and pin: a denial of something that is not there would deny nothing.
func (b *builder) openDenied() error {
	for i, path := range slices.Concat(b.s.Covers, b.s.Pins) {
		step := wire.StepCover
		if i >= len(b.s.Covers) {
			step = wire.StepPin
		}
		fd, err := openPlain(unix.AT_FDCWD, path)
		if err != nil {
			return failed(step, path, err)
		}
		id, err := identify(fd)
		if err != nil {
			return failed(step, path, err)
		}
		_ = unix.Close(fd)
		b.denied[path] = id
	}
	return nil
}

func (b *builder) openDevices() error {
	for _, name := range nodes {
		fd, err := openPlain(unix.AT_FDCWD, "/dev/"+name)
		if err != nil {
			return failed(wire.StepDev, "/dev/"+name, err)
		}
		tree, err := clone(fd)
		if err == nil {
			// Read-only keeps its mode and owner as they are; what is written to a device is not written to the mount.
			err = restrict(tree, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC|unix.MOUNT_ATTR_RDONLY, false)
		}
		if err != nil {
			return failed(wire.StepDev, "/dev/"+name, err)
		}
		_ = unix.Close(fd)
		b.devices = append(b.devices, tree)
	}
	return nil
}

// makeRoot mounts an empty file system where there is a folder to put it on; which one is of no matter, since the tree that
// it lies in is left behind.
func (b *builder) makeRoot() error {
	err := error(unix.ENOENT)
	for _, base := range []string{"/tmp", "/mnt", "/home", "/var", "/etc"} {
		if err = unix.Mount("tmpfs", base, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=16m"); err == nil {
			b.base = base
			break
		}
	}
	if err == nil {
		b.root, err = unix.Open(b.base, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return failed(wire.StepRoot, b.base, err)
	}
	return nil
}

func (b *builder) makeLinks() error {
	for _, l := range b.s.Links {
		dir, name := cut(l.Path)
		fd, err := b.point(dir, true)
		if err == nil {
			err = unix.Symlinkat(l.To, fd, name)
			_ = unix.Close(fd)
		}
		if err != nil {
			return failed(wire.StepRoot, l.Path, err)
		}
	}
	return nil
}

// point opens a place of the new root, and makes it if it is not there: a folder, or an empty file. No link is followed on
// the way, since a granted folder may hold what an earlier cage left there.
func (b *builder) point(path string, dir bool) (int, error) {
	fd, err := unix.Dup(b.root)
	if err != nil {
		return -1, err
	}
	unix.CloseOnExec(fd)
	parts := strings.Split(path[1:], "/")
	if path == "/" {
		parts = nil
	}
	for i, part := range parts {
		next, err := openPlain(fd, part)
		if errors.Is(err, unix.ENOENT) {
			if err = makeAt(fd, part, dir || i < len(parts)-1); err == nil {
				next, err = openPlain(fd, part)
			}
		}
		_ = unix.Close(fd)
		if err != nil {
			return -1, err
		}
		fd = next
	}
	return fd, nil
}

func makeAt(fd int, name string, dir bool) error {
	if dir {
		return unix.Mkdirat(fd, name, 0o755)
	}
	file, err := unix.Openat(fd, name, unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o644)
	if err == nil {
		_ = unix.Close(file)
	}
	return err
}

// cut splits an absolute path other than "/" into folder and name.
func cut(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 1)], path[i+1:]
}

// enter makes the new root the only one.
func (b *builder) enter() error {
	if b.masks >= 0 {
		_ = unix.Close(b.masks)
		if err := unix.Unmount(b.base+maskDir, unix.MNT_DETACH); err != nil {
			return failed(wire.StepCover, "", err)
		}
		if err := unix.Rmdir(b.base + maskDir); err != nil {
			return failed(wire.StepCover, "", err)
		}
	}
	if err := restrict(b.root, attrReadOnly, false); err != nil {
		return failed(wire.StepRoot, "/", err)
	}
	return b.pivot()
}

func (b *builder) pivot() error {
	err := unix.Fchdir(b.root)
	if err == nil {
		err = unix.PivotRoot(".", ".")
	}
	if err == nil {
		err = unix.Unmount(".", unix.MNT_DETACH)
	}
	if err == nil {
		err = unix.Chdir("/")
	}
	_ = unix.Close(b.root)
	if err != nil {
		return failed(wire.StepPivot, "/", fmt.Errorf("leave the old root: %w", err))
	}
	return nil
}
