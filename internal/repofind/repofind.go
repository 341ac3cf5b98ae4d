// Package repofind finds git repositories below a folder, so that a person does not have to name each.
//
// It promises to be quick and to stay where it was sent: it looks at names alone, near folders before far ones, reads no file,
// starts no program, follows no link, and stops at its limits and says so. It does not judge a repository: one that git cannot open
// is found as well. Bare repositories and worktrees of others are not among what it finds.
package repofind

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Limits of one look. A home with everything in it has some thousand folders within this depth.
const (
	maxDepth   = 4    // folders below the one that is looked in
	maxFolders = 6000 // that are read
	MaxFound   = 200
)

// Repository is a folder with git's own folder in it.
type Repository struct {
	Path string
	Last time.Time // when something was done in it last, as far as the files of git tell; zero where they tell nothing
}

// Found is what a look found.
type Found struct {
	Repositories []Repository // what was used last first
	More         bool         // a limit was reached: there may be others
}

// passed are folders in which nobody keeps their work, but programs keep thousands of folders.
var passed = map[string]bool{"node_modules": true, "vendor": true, "Library": true, "Applications": true, "AppData": true, "snap": true, "target": true}

// Look finds the repositories below dir, and dir itself if it is one. It leaves out the folders in not, and what is hidden. It ends with
// what it has when the context ends; the error is that dir cannot be read.
func Look(ctx context.Context, dir string, not ...string) (Found, error) {
	var r Found
	if _, err := os.ReadDir(dir); err != nil {
		return r, fmt.Errorf("look for repositories: %w", err)
	}
	for i := range not {
		not[i] = filepath.Clean(not[i])
	}
	level, read := []string{filepath.Clean(dir)}, 0
	for depth := 0; depth <= maxDepth && len(level) > 0; depth++ {
		var next []string
		for _, folder := range level {
			if ctx.Err() != nil || read >= maxFolders || len(r.Repositories) >= MaxFound {
				r.More = true
				return r.sorted(), nil
			}
			read++
			last, is := lastUse(folder)
			if is {
				r.Repositories = append(r.Repositories, Repository{Path: folder, Last: last})
				continue
			}
			next = append(next, below(folder, not)...)
		}
		level = next
	}
	return r.sorted(), nil
}

func (r Found) sorted() Found {
	slices.SortStableFunc(r.Repositories, func(a, b Repository) int { return b.Last.Compare(a.Last) })
	return r
}

// below are the folders of a folder in which there may be repositories. One that cannot be read has none.
func below(folder string, not []string) []string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if e.Type() == fs.ModeDir && !strings.HasPrefix(e.Name(), ".") && !passed[e.Name()] && !slices.Contains(not, path) {
			out = append(out, path)
		}
	}
	return out
}

// lastUse reports whether a folder is a repository, and when one of the files changed that git writes with each commit, checkout and
// change of the index.
func lastUse(folder string) (last time.Time, is bool) {
	dir := filepath.Join(folder, ".git")
	if st, err := os.Lstat(dir); err != nil || !st.IsDir() {
		return last, false // a file stands for the repository of a worktree, which lies elsewhere
	}
	for _, name := range []string{"HEAD", "index", filepath.Join("logs", "HEAD")} {
		st, err := os.Lstat(filepath.Join(dir, name))
		switch {
		case err != nil && name == "HEAD":
			return last, false
		case err == nil && st.ModTime().After(last):
			last = st.ModTime()
		}
	}
	return last, true
}
