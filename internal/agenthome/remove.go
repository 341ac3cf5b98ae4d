package agenthome

import (
	"errors"
	"io/fs"
	"os"
	"path"
)

// DropLogins takes the logins of all known agents out of a private home. What is left in it stays. A link that a cage has
// put in the way is not followed out of the home. No agent may run in there.
func DropLogins(home string) error {
	root, err := os.OpenRoot(home)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	var failed error
	for _, r := range recipes() {
		if r.login == nil {
			continue
		}
		name := path.Join(r.folder, r.login.file)
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) && !gone(root, name) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// gone reports that there is no such file in the home, whatever else has its name.
func gone(root *os.Root, name string) bool {
	_, err := root.Lstat(name)
	return err != nil && !errors.Is(err, fs.ErrPermission)
}

// Remove deletes a private home with all that is in it. Links are removed, never followed, and folders that were made
// unwritable from inside are given back to their owner first.
func Remove(home string) error {
	err := os.RemoveAll(home)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	root, err := os.OpenRoot(home)
	if err != nil {
		return err
	}
	_ = root.Chmod(".", 0o700)
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = root.Chmod(name, 0o700) // what cannot be changed shows in the error of the removal
		}
		return nil
	})
	root.Close()
	return os.RemoveAll(home)
}
