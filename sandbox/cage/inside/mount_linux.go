package inside

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// The calls for mounts that work on descriptors: what was opened is what is mounted, whatever happens to its path.

// openPlain opens a path without following a link in any component.
func openPlain(dirfd int, path string) (int, error) {
	return unix.Openat2(dirfd, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS})
}

// identity is what makes a file or folder the same one.
type identity struct {
	dev, ino uint64
	dir      bool
	socket   bool
}

func identify(fd int) (identity, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return identity{}, err
	}
	kind := st.Mode & unix.S_IFMT
	return identity{uint64(st.Dev), st.Ino, kind == unix.S_IFDIR, kind == unix.S_IFSOCK}, nil
}

// clone makes a mount, not yet placed, of what fd shows, with everything mounted below it.
func clone(fd int) (int, error) {
	return unix.OpenTree(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE|unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
}

// place puts a mount onto what target shows.
func place(tree, target int) error {
	return unix.MoveMount(tree, "", target, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// restrict adds attributes to a mount, and with recursive to everything mounted below it. None is ever taken away.
func restrict(tree int, attrs uint64, recursive bool) error {
	flags := uint(unix.AT_EMPTY_PATH)
	if recursive {
		flags |= unix.AT_RECURSIVE
	}
	return unix.MountSetattr(tree, "", flags, &unix.MountAttr{Attr_set: attrs})
}

const (
	attrPlain    = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	attrReadOnly = attrPlain | unix.MOUNT_ATTR_RDONLY
)

// rebind mounts what fd shows onto itself, so that it cannot be renamed or removed, with attributes of its own.
func rebind(fd int, attrs uint64) error {
	tree, err := clone(fd)
	if err != nil {
		return err
	}
	defer unix.Close(tree)
	if attrs != 0 {
		if err := restrict(tree, attrs, true); err != nil {
			return err
		}
	}
	return place(tree, fd)
}

// newMount makes a file system of a kind, with options, mounted nowhere yet.
func newMount(kind string, attrs int, options ...string) (int, error) {
	fs, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fs)
	for _, o := range options {
		if key, value, ok := strings.Cut(o, "="); ok {
			err = unix.FsconfigSetString(fs, key, value)
		} else {
			err = unix.FsconfigSetFlag(fs, key)
		}
		if err != nil {
			return -1, fmt.Errorf("option %s: %w", o, err)
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, err
	}
	return unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, attrs)
}

// mountNew puts a new file system at a place of the new root and returns a descriptor of its root.
func (b *builder) mountNew(path, kind string, attrs int, options ...string) (int, error) {
	fd, err := b.point(path, true)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fd)
	tree, err := newMount(kind, attrs, options...)
	if err != nil {
		return -1, err
	}
	if err := place(tree, fd); err != nil {
		_ = unix.Close(tree)
		return -1, err
	}
	return tree, nil
}
