package keyring

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"termic/internal/atomicfile"
	"termic/internal/fault"
	"termic/internal/secret"
)

func (r *Ring) file(name string) string { return filepath.Join(r.o.Dir, name) }

// WriteOwn puts data into a file that its owner alone may read, in a folder that nobody else may enter. The folder is made where there is
// none. What it holds is never put where a link leads: one in the place of the file is replaced, and one in the place of the folder is an error.
func WriteOwn(path string, data []byte) error {
	dir := filepath.Dir(path)
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = onlyOwn(dir)
	}
	if err != nil {
		return err
	}
	if st, err := os.Lstat(path); err == nil && st.Mode()&fs.ModeSymlink != 0 {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return atomicfile.WriteFile(path, data, 0o600, atomicfile.ExactMode())
}

// onlyOwn closes a folder to others; somebody may have made it wider.
func onlyOwn(dir string) error {
	st, err := os.Lstat(dir)
	if err == nil && !st.IsDir() {
		err = fault.New(fault.Unavailable, "%s is a link, and not a folder of the owner's alone", dir).WithHint("Move what it leads to in its place.")
	}
	if err == nil && st.Mode().Perm() != 0o700 {
		err = os.Chmod(dir, 0o700)
	}
	return err
}

// ErrNotOwn is a file that others may read, one that is no plain file, and one that is longer than it can be.
var ErrNotOwn = errors.New("the file is not the owner's alone")

// ReadOwn returns what WriteOwn wrote, of at most so many bytes. The error is ErrNotOwn, or one of the system.
func ReadOwn(path string, most int64) ([]byte, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || runtime.GOOS != "windows" && st.Mode().Perm()&0o077 != 0 || st.Size() > most { // modes say nothing on Windows
		return nil, ErrNotOwn
	}
	return os.ReadFile(path)
}

// write keeps a value in a file of its own.
func (r *Ring) write(name string, value secret.String) error {
	err := WriteOwn(r.file(name), []byte(value.Reveal()))
	if err != nil && fault.CodeOf(err) != fault.Unavailable {
		err = fault.Wrap(err, fault.Unavailable, "The value of %s could not be kept in %s", name, r.o.Dir).WithHint("Check the free space and the permissions of the folder.")
	}
	return err
}

// read returns the value in a file. One that others may read, and one that is no plain file, is refused: it is not the owner's alone.
func (r *Ring) read(name string) (secret.String, error) {
	path := r.file(name)
	text, err := ReadOwn(path, MaxValue)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return secret.String{}, fault.New(fault.NotFound, "The file with the value of %s is gone", name).WithHint("Set it again: `termic secret set %s`.", name)
	case errors.Is(err, ErrNotOwn):
		return secret.String{}, fault.New(fault.Forbidden, "The value of %s in %s is not the owner's alone, or is longer than one can be", name, path).
			WithHint("Others may know it: replace it where it is used, and set it again.")
	case err != nil:
		return secret.String{}, fault.Wrap(err, fault.Unavailable, "The value of %s could not be read from %s", name, path).WithHint("Check the permissions of the folder.")
	}
	return secret.Of(string(text)), nil
}

// unlink removes the file of a value, if there is one.
func (r *Ring) unlink(name string) error {
	if err := os.Remove(r.file(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(err, fault.Unavailable, "The file with the value of %s could not be removed", name).WithHint("Remove %s by hand.", r.file(name))
	}
	return nil
}
