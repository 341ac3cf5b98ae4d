package worktree

import (
	"io/fs"
	"os"
	"path"
	"time"

	"termic/internal/fault"
)

// Bounds of the walk that looks for folders which cannot be read.
const (
	maxUnreadTime = 3 * time.Second
	// maxReadName is the longest name below a worktree, in bytes, under which git is expected to find a file. The kernel takes
	// 4096 (PATH_MAX), with the NUL at its end, and git puts the names of files behind.
	maxReadName = 4096 - 256 - 1
)

// unreadIn lists the folders of a tree that cannot be looked into: without the permission to read them, or so deep that no
// path leads there. git leaves them out of its status with a warning, so what is in them seems not to be. It is asked only
// where git warned of anything.
func unreadIn(tree string) ([]string, error) {
	root, err := os.OpenRoot(tree)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "The worktree cannot be opened")
	}
	defer root.Close()
	var out []string
	until := time.Now().Add(maxUnreadTime)
	note := func(name string) { out = append(out, printable(name, 200)+"/ (not kept by the backup)") }
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case time.Now().After(until):
			out = append(out, "more folders than were looked at")
			return fs.SkipAll
		case d == nil || !d.IsDir():
			return nil
		case err != nil || len(name) > maxReadName:
			note(name)
			return fs.SkipDir
		case path.Base(name) == ".git" && name != ".": // of a nested repository, which is a loss by itself
			return fs.SkipDir
		}
		return nil
	})
	return out, nil
}
