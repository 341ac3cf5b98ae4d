package worktree

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxModules bounds the folders that are looked through for repositories of submodules.
const maxModules = 2000

// submodulesHeld lists the submodules that hold something: those in the tree, and repositories of submodules that are
// not in it now, which go with the worktree as well. Looking into one means to run git on a configuration that lies in
// the worktree's reach, so a guarded Repo does not, and lists every one.
func (r *Repo) submodulesHeld(ctx context.Context, at place) ([]string, error) {
	modules := filepath.Join(at.gitDir, "modules")
	_, errFile := os.Lstat(filepath.Join(at.workTree, ".gitmodules"))
	if errFile != nil && !isDir(modules) {
		return nil, nil
	}
	recs, err := r.git.records(ctx, command{at: at, args: []string{"ls-files", "--stage", "-z"}})
	if err != nil {
		return nil, err
	}
	var out, filled []string
	note := func(name, what string) {
		if what != "" {
			out = append(out, fmt.Sprintf("%s (%s; not kept by the backup)", printable(name, 200), what))
		}
	}
	for _, rec := range recs {
		head, path, _ := strings.Cut(rec, "\t")
		dir := filepath.Join(at.workTree, filepath.FromSlash(path))
		if !strings.HasPrefix(head, "160000 ") {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
			continue // not filled
		}
		what, gitDir := "not looked into", ""
		if r.plain {
			if what, gitDir, err = r.submoduleHolds(ctx, dir); exitOf(err) >= 0 {
				what = "not looked into" // it is broken, or has no commit: consent must be able to remove it
			} else if err != nil {
				return nil, err
			}
		}
		filled = append(filled, canonical(gitDir))
		note(path, what)
	}
	for _, dir := range repositoriesIn(modules) {
		if slices.Contains(filled, canonical(dir)) || !r.plain && len(filled) > 0 {
			continue
		}
		what := "not looked into"
		if r.plain {
			if what, err = r.moduleHolds(ctx, place{gitDir: dir, common: dir}); exitOf(err) >= 0 {
				what = "not looked into"
			} else if err != nil {
				return nil, err
			}
		}
		rel, _ := filepath.Rel(modules, dir)
		note(filepath.ToSlash(rel), what)
	}
	return out, nil
}

// submoduleHolds says what the submodule at dir has that is nowhere else, "" = nothing, and where its repository is.
func (r *Repo) submoduleHolds(ctx context.Context, dir string) (what, gitDir string, err error) {
	at := place{workTree: dir} // found by git itself: only for trees that are not guarded
	if gitDir, err = r.git.text(ctx, command{at: at, args: []string{"rev-parse", "--absolute-git-dir"}}); err != nil {
		return "", "", err
	}
	recs, err := r.git.records(ctx, command{at: at, args: []string{"status", "--porcelain", "-z", "--untracked-files=all", "--ignored=matching", "--ignore-submodules=none"}})
	if err != nil {
		return "", "", err
	}
	for _, rec := range recs {
		if !strings.HasPrefix(rec, "!! ") {
			return "changed files", gitDir, nil
		}
		what = "ignored files"
	}
	if held, err := r.moduleHolds(ctx, at); err != nil || held != "" {
		return held, gitDir, err
	}
	return what, gitDir, nil
}

// moduleHolds says which commits the repository of a submodule has that are not pushed.
func (r *Repo) moduleHolds(ctx context.Context, at place) (string, error) {
	refs, err := r.git.text(ctx, command{at: at, args: []string{"for-each-ref", "--count=1", "--format=%(refname)", "refs/stash"}})
	if err != nil {
		return "", err
	}
	if refs != "" {
		return "stashes", nil
	}
	out, err := r.git.text(ctx, command{at: at, args: []string{"log", "--format=%h", "HEAD", "--branches", "--not", "--remotes", "--"}})
	if err != nil {
		return "", err
	}
	if out != "" {
		return "commits that are not pushed", nil
	}
	return "", nil
}

// repositoriesIn lists the git folders below dir; those of nested submodules lie in others.
func repositoriesIn(dir string) []string {
	var out []string
	n := 0
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // what cannot be read holds nothing that we can name
		if n++; n > maxModules {
			return filepath.SkipAll
		}
		if err != nil || !d.IsDir() {
			return nil
		}
		switch d.Name() {
		case "objects", "refs", "logs", "hooks", "info":
			if isDir(filepath.Join(filepath.Dir(path), "objects")) {
				return filepath.SkipDir
			}
		}
		if _, err := os.Stat(filepath.Join(path, "HEAD")); err == nil && isDir(filepath.Join(path, "objects")) {
			out = append(out, path)
		}
		return nil
	})
	return out
}
