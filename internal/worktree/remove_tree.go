package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// asideOf is the name that a worktree has while it is deleted. Nobody else gives a folder such a name.
func asideOf(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".termic-removed")
}

// removeTree deletes a folder that is ours. Links are removed, never followed. Folders without write permission, such as
// those of a module cache, are given it first.
func removeTree(path string) error {
	err := os.RemoveAll(path)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = root.Chmod(name, 0o700) // what cannot be changed shows in the error of the removal
		}
		return nil
	})
	root.Close()
	return os.RemoveAll(path)
}

// removeEmptyParents removes the folders above path that are empty, up to but without the folder top. Anything in a
// folder ends it, since only an empty folder can be removed this way.
func removeEmptyParents(path, top string) {
	if top == "" {
		return
	}
	top = canonical(top)
	for dir := filepath.Dir(canonical(path)); dir != top && within(dir, top); dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil {
			return
		}
	}
}
