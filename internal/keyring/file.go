package keyring

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"termic/internal/atomicfile"
	"termic/internal/fault"
	"termic/internal/secret"
)

func (r *Ring) file(name string) string { return filepath.Join(r.o.Dir, name) }

// write keeps a value in a file of its own.
func (r *Ring) write(name string, value secret.String) error {
	err := os.MkdirAll(r.o.Dir, 0o700)
	if err == nil {
		err = os.Chmod(r.o.Dir, 0o700) // somebody may have made it wider
	}
	if err == nil {
		err = atomicfile.WriteFile(r.file(name), []byte(value.Reveal()), 0o600, atomicfile.ExactMode())
	}
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "The value of %s could not be kept in %s", name, r.o.Dir).WithHint("Check the free space and the permissions of the folder.")
	}
	return nil
}

// read returns the value in a file. One that others may read, and one that is no plain file, is refused: it is not the owner's alone.
func (r *Ring) read(name string) (secret.String, error) {
	path := r.file(name)
	st, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return secret.String{}, fault.New(fault.NotFound, "The file with the value of %s is gone", name).WithHint("Set it again: `termic secret set %s`.", name)
	case err == nil && (!st.Mode().IsRegular() || st.Mode().Perm()&0o077 != 0):
		return secret.String{}, fault.New(fault.Forbidden, "The value of %s in %s is not the owner's alone", name, path).
			WithHint("Others may know it: replace it where it is used, and set it again.")
	case err == nil && st.Size() > MaxValue:
		return secret.String{}, fault.New(fault.Forbidden, "The value of %s in %s is longer than a value can be", name, path).WithHint("Set it again.")
	}
	text, err := os.ReadFile(path)
	if err != nil {
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
