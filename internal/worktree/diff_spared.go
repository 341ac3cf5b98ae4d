package worktree

import (
	"context"
	"os"
	"path/filepath"

	"termic/internal/api"
	"termic/internal/fault"
)

// maxHashed bounds a changed file that git is let read for a diff, in bytes. It reads all of it, holes too, for the name of
// its content.
const maxHashed = 1 << 30

// canCompare reports whether git can compare what stands at a path now: it gives up on a whole tree for the sake of one file
// that it cannot open, or that is a pipe or a socket by now. kind is the status of the file where it cannot.
func canCompare(root *os.Root, name string, most int64) (kind string, ok bool) {
	st, err := root.Lstat(filepath.FromSlash(name))
	switch {
	case err != nil || st.IsDir() || isLink(st):
		return "", true // git says what is wrong
	case !st.Mode().IsRegular():
		return "typechange", false
	case st.Size() > most:
		return "modified", false
	}
	f, err := openFile(root, name)
	if err != nil {
		return "modified", false
	}
	_ = f.Close()
	return "", true
}

// spared are the tracked files that a diff leaves out of what git compares, with the status that they are listed with.
// index is one in which they count as unchanged; "" where there are none. done removes it.
func (r *Repo) spared(ctx context.Context, at place, st Status) (files []api.FileChange, index string, done func(), err error) {
	root, err := os.OpenRoot(at.workTree)
	if err != nil {
		return nil, "", nil, fault.Wrap(err, fault.Unavailable, "The worktree cannot be opened")
	}
	defer root.Close()
	var names []string
	for _, f := range st.files {
		if f.Index == '?' || f.Conflict || f.Submodule || f.Worktree == '.' || f.Worktree == 'D' {
			continue
		}
		if kind, ok := canCompare(root, f.Path, maxHashed); !ok {
			names, files = append(names, f.Path), append(files, api.FileChange{Path: f.Path, Status: kind})
		}
	}
	if len(names) == 0 {
		return nil, "", func() {}, nil
	}
	if index, done, err = copyIndex(at); err != nil {
		return nil, "", nil, err
	}
	_, err = r.git.run(ctx, command{at: at, index: index, writes: true, stdin: nulls(names), args: []string{"update-index", "--assume-unchanged", "-z", "--stdin"}})
	if err != nil {
		done()
		return nil, "", nil, err
	}
	return files, index, done, nil
}
