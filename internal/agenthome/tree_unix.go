//go:build unix

package agenthome

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"termic/internal/atomicfile"
)

// tree is a folder that a caged program may change at any moment. It is walked name by name from an open descriptor and
// no link is followed, so that whatever the other side does, what is read and written lies in it.
type tree struct{ root int }

// openTree opens a private home. The folder itself is ours: nobody in the cage can replace it.
func openTree(dir string) (*tree, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	return &tree{root: fd}, nil
}

// makeTree makes a private home for nobody but this user, and opens it.
func makeTree(dir string) (*tree, error) {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	t, err := openTree(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Fchmod(t.root, 0o700); err != nil {
		return nil, errors.Join(fmt.Errorf("close %s to others: %w", dir, err), t.Close())
	}
	return t, nil
}

// Close lets go of the folder.
func (t *tree) Close() error { return unix.Close(t.root) }

// parent opens the folder that holds rel. With make, missing folders are made, and what stands in the place of one is
// taken away: only the cage can have put it there.
func (t *tree) parent(rel string, make bool) (dir int, name string, err error) {
	clean := path.Clean(rel)
	if clean != rel || !fs.ValidPath(rel) || rel == "." {
		return -1, "", fmt.Errorf("%q is no path in a home", rel)
	}
	dir, err = unix.FcntlInt(uintptr(t.root), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1, "", err
	}
	parts := strings.Split(rel, "/")
	for _, p := range parts[:len(parts)-1] {
		next, err := openDir(dir, p, make)
		unix.Close(dir)
		if err != nil {
			return -1, "", &fs.PathError{Op: "open", Path: rel, Err: err}
		}
		dir = next
	}
	return dir, parts[len(parts)-1], nil
}

// openDir opens a folder in another one, and makes it first if it is asked to.
func openDir(in int, name string, make bool) (int, error) {
	open := func() (int, error) {
		return unix.Openat(in, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	}
	fd, err := open()
	if err == nil || !make {
		return fd, err
	}
	if err == unix.ENOTDIR || err == unix.ELOOP || err == unix.EMLINK {
		if err := unix.Unlinkat(in, name, 0); err != nil && err != unix.ENOENT {
			return -1, err
		}
	} else if err != unix.ENOENT {
		return -1, err
	}
	if err := unix.Mkdirat(in, name, 0o700); err != nil && err != unix.EEXIST {
		return -1, err
	}
	return open()
}

// mkdir makes a folder and those above it.
func (t *tree) mkdir(rel string) error {
	dir, _, err := t.parent(rel+"/x", true)
	if err != nil {
		return err
	}
	return unix.Close(dir)
}

// read returns a file of the home. A missing one is fs.ErrNotExist; what is no plain file with one name, or is larger
// than max bytes, is a plantedError. A pipe is opened without waiting for its other end, and then refused.
func (t *tree) read(rel string, max int64) ([]byte, error) {
	dir, name, err := t.parent(rel, false)
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil, &plantedError{rel, "a link or a file stands in the place of its folder"}
	}
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err == unix.ELOOP || err == unix.EMLINK || err == unix.ENXIO {
		return nil, &plantedError{rel, "it is a link or a socket"}
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: rel, Err: err}
	}
	f := os.NewFile(uintptr(fd), rel)
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: rel, Err: err}
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, &plantedError{rel, "it is no plain file"}
	case st.Nlink != 1:
		return nil, &plantedError{rel, "it has a second name"}
	case st.Size > max:
		return nil, &plantedError{rel, "it is too large"}
	}
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: rel, Err: err}
	}
	if int64(len(data)) > max {
		return nil, &plantedError{rel, "it is too large"}
	}
	return data, nil
}

// write replaces a file of the home in one step, whatever stands in its place, a folder excepted. A file that has the
// content and mode already is left alone. With sync the content is on disk when write returns.
func (t *tree) write(rel string, data []byte, mode uint32, sync bool) error {
	if old, err := t.read(rel, int64(len(data))); err == nil && string(old) == string(data) && t.mode(rel) == mode {
		return nil
	}
	return t.put(rel, data, mode, sync, func(dir int, temp, name string) error { return unix.Renameat(dir, temp, dir, name) })
}

// writeOver is write for a file that the agent in the home may replace at any moment: it writes only over what was read, else
// it fails with atomicfile.ErrChanged, and the agent's newest file is there.
func (t *tree) writeOver(rel string, before, data []byte, mode uint32) error {
	return t.put(rel, data, mode, true, func(dir int, temp, name string) error {
		at := tree{root: dir}
		err := atomicfile.SwapOver(func() error { return atomicfile.SwapAt(dir, temp, name) },
			func() ([]byte, error) { return at.read(temp, maxLogin) }, data, before)
		if errors.Is(err, atomicfile.ErrNoSwap) {
			if now, err := at.read(name, maxLogin); err != nil || !bytes.Equal(now, before) {
				return atomicfile.ErrChanged
			}
			return unix.Renameat(dir, temp, dir, name)
		}
		if err == nil {
			err = unix.Unlinkat(dir, temp, 0)
		}
		return err
	})
}

// put writes a file beside the place of another one and lets place bring it there. After an error nothing is left of it.
func (t *tree) put(rel string, data []byte, mode uint32, sync bool, place func(dir int, temp, name string) error) error {
	dir, name, err := t.parent(rel, true)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	temp := ".termic-" + rand.Text()
	fd, err := unix.Openat(dir, temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return &fs.PathError{Op: "create", Path: rel, Err: err}
	}
	f := os.NewFile(uintptr(fd), rel)
	_, err = f.Write(data)
	if err == nil {
		err = unix.Fchmod(fd, mode)
	}
	if err == nil && sync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = place(dir, temp, name)
	}
	if err != nil {
		return errors.Join(&fs.PathError{Op: "write", Path: rel, Err: err}, unix.Unlinkat(dir, temp, 0))
	}
	return nil
}

// mode is the permission bits of a file, 0 when it cannot be seen.
func (t *tree) mode(rel string) uint32 {
	dir, name, err := t.parent(rel, false)
	if err != nil {
		return 0
	}
	defer unix.Close(dir)
	var st unix.Stat_t
	if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return 0
	}
	return uint32(st.Mode) & 0o7777
}

// locked runs do while no other process or goroutine of this user holds the same lock.
func locked(path string, do func() error) error {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return &fs.PathError{Op: "lock", Path: path, Err: err}
	}
	defer unix.Close(fd) // ends the lock
	for {
		err = unix.Flock(fd, unix.LOCK_EX)
		if err != unix.EINTR {
			break
		}
	}
	if err != nil {
		return &fs.PathError{Op: "lock", Path: path, Err: err}
	}
	return do()
}

// openSource opens a file of the user's own without waiting for the other end of a pipe.
func openSource(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
}
