//go:build unix

package selfrun

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// folder is an open folder of the tree. Everything is reached from it by one name at a time, and no link is followed.
type folder struct{ f *os.File }

func openFolder(p string) (*folder, error) {
	fd, err := unix.Open(p, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &folder{os.NewFile(uintptr(fd), p)}, nil
}

// Close lets go of the folder.
func (d *folder) Close() { _ = d.f.Close() } // it was open for reading

func (d *folder) open(name string) (*folder, error) {
	fd, err := unix.Openat(int(d.f.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &folder{os.NewFile(uintptr(fd), name)}, nil
}

// list returns the entries of the folder, at most max, and whether there are more or they could not all be read. Kinds
// are asked for one by one: not every file system tells them in the list.
func (d *folder) list(max int) (entries []entry, more bool) {
	if max <= 0 {
		return nil, true
	}
	names, err := d.f.Readdirnames(max + 1)
	more = len(names) > max || err != nil && !errors.Is(err, io.EOF)
	for _, name := range names[:min(len(names), max)] {
		var st unix.Stat_t
		if err := unix.Fstatat(int(d.f.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				more = true
			}
			continue
		}
		e := entry{name: name}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			e.folder = true
		case unix.S_IFLNK:
			e.link = true
		}
		entries = append(entries, e)
	}
	return entries, more
}

func (d *folder) readlink(name string) (string, error) {
	buf := make([]byte, 8192)
	n, err := unix.Readlinkat(int(d.f.Fd()), name, buf)
	if err != nil || n == len(buf) {
		return "", errors.Join(err, errors.New("not a link of ordinary length"))
	}
	return string(buf[:n]), nil
}

// file opens a plain file; a pipe is not waited for.
func (d *folder) file(name string) (f *os.File, size int64, executable bool, err error) {
	fd, err := unix.Openat(int(d.f.Fd()), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, 0, false, err
	}
	f = os.NewFile(uintptr(fd), name)
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = errors.New("not a plain file")
	}
	if err != nil {
		return nil, 0, false, errors.Join(err, f.Close())
	}
	return f, st.Size(), st.Mode()&0o100 != 0, nil
}
