package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"termic/internal/fault"
)

// Repo is one repository, opened through one of its checkouts. It holds no open files and no cache of what git says but for
// its place, and may be used from several goroutines.
type Repo struct {
	git    *Git
	root   string // checkout that was opened, "" = bare
	main   string // main checkout, "" = bare
	common string
	zeros  string // the id of nothing: 40 digits, 64 with SHA-256
	plain  bool   // filters, merge drivers and submodules act as in the user's shell
	wall   Wall   // see Behind
}

// Open finds the repository that path lies in. path may be the root or any folder of a checkout, a linked worktree, a
// bare repository, or a .git folder. Errors: fault.NotFound when there is no such folder, fault.Unsupported when it is in
// no repository, or in one that git refuses to open.
func (g *Git) Open(ctx context.Context, path string) (*Repo, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.InvalidArgument, "The path %s cannot be made absolute", printable(path, 200))
	}
	if st, err := os.Stat(abs); err != nil || !st.IsDir() {
		return nil, fault.Wrap(errors.Join(err), fault.NotFound, "There is no folder %s", printable(abs, 200))
	}
	at, err := g.places.locate(ctx, g, abs)
	if err != nil {
		return nil, err
	}
	r := &Repo{git: g, root: at.top, common: at.common, zeros: strings.Repeat("0", 40)}
	if at.sha256 {
		r.zeros = strings.Repeat("0", 64)
	}
	switch {
	case at.top != "" && at.gitDir == at.common:
		r.main = at.top
	case at.bare:
	default: // a linked worktree, or a .git folder: only the list tells whether there is a main checkout
		list, err := r.List(ctx)
		if err != nil {
			return nil, err
		}
		if len(list) > 0 && !list[0].Bare {
			r.main = list[0].Path
		}
		if r.root == "" {
			r.root = r.main
		}
	}
	return r, nil
}

// Root returns the checkout that Open was pointed at: the main checkout, or the linked worktree that the path lay in; ""
// when it was a bare repository. Apply writes here.
func (r *Repo) Root() string { return r.root }

// Main returns the repository's main checkout, "" when it is bare.
func (r *Repo) Main() string { return r.main }

// CommonDir returns the folder with the objects and refs that all worktrees share: the identity of the repository.
func (r *Repo) CommonDir() string { return r.common }

// Bare reports whether the repository has no main checkout.
func (r *Repo) Bare() bool { return r.main == "" }

// Plain returns the same repository for trees whose agent is not caged: filters, merge drivers and submodules act as in
// the user's shell. Hooks stay off.
func (r *Repo) Plain() *Repo {
	c := *r
	c.plain = true
	return &c
}

// here is the place for commands about the repository as a whole.
func (r *Repo) here() place {
	return place{gitDir: r.common, common: r.common, workTree: r.main}
}

// in returns the place of the checkout at wt, found in the repository's own list and never in wt itself. A path that is
// no checkout of this repository is fault.NotFound, and so is one whose folder is gone (data.missing).
func (r *Repo) in(wt string) (place, error) {
	if r.main != "" && canonical(wt) == canonical(r.main) {
		return place{gitDir: r.common, common: r.common, workTree: r.main}, nil
	}
	reg, ok, err := r.registered(wt)
	if err != nil {
		return place{}, err
	}
	if !ok {
		return place{}, fault.New(fault.NotFound, "%s is not a worktree of this repository", printable(wt, 200)).WithData("path", wt)
	}
	switch st, err := os.Lstat(reg.path); {
	case err == nil && st.Mode()&os.ModeSymlink != 0:
		return place{}, fault.New(fault.Conflict, "%s is a link now, not the folder that git made", printable(wt, 200)).
			WithHint("Move the worktree back to its place.").WithData("path", wt)
	case err != nil || !st.IsDir():
		return place{}, fault.Wrap(errors.Join(err), fault.NotFound, "The folder %s is gone", printable(wt, 200)).
			WithHint("Recreate the worktree, or archive the task.").WithData("path", wt).WithData("missing", true)
	}
	return place{gitDir: reg.admin, common: r.common, workTree: reg.path}, nil
}

// AdminDir returns the folder with git's private files of the checkout at wt, as the repository itself lists it: the common
// folder for the main checkout. A path that is no checkout of this repository is fault.NotFound.
func (r *Repo) AdminDir(wt string) (string, error) {
	at, err := r.in(wt)
	return at.gitDir, err
}

// registration is git's entry of a linked worktree.
type registration struct {
	admin string // its administrative folder
	path  string // the worktree's folder as git wrote it down
}

// registered finds git's entry of the worktree at path.
func (r *Repo) registered(path string) (registration, bool, error) {
	base := filepath.Join(r.common, "worktrees")
	entries, err := os.ReadDir(base)
	if errors.Is(err, os.ErrNotExist) {
		return registration{}, false, nil
	}
	if err != nil {
		return registration{}, false, fault.Wrap(err, fault.Unavailable, "The list of worktrees cannot be read")
	}
	want := canonical(path)
	// git names the entry after the folder, with a number behind where that is taken: those come first, so that the others need
	// hardly ever be read.
	other := func(e os.DirEntry) int {
		if strings.HasPrefix(e.Name(), filepath.Base(path)) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(entries, func(a, b os.DirEntry) int { return other(a) - other(b) })
	for _, e := range entries {
		dir := filepath.Join(base, e.Name())
		b, err := readIn(dir, "gitdir")
		if err != nil {
			continue // half-made or half-removed; git skips it as well
		}
		pointer := filepath.FromSlash(strings.TrimRight(string(b), "\r\n"))
		if !filepath.IsAbs(pointer) {
			pointer = filepath.Join(dir, pointer)
		}
		if canonical(filepath.Dir(pointer)) == want {
			return registration{admin: dir, path: filepath.Dir(pointer)}, true, nil
		}
	}
	return registration{}, false, nil
}

// canonical resolves the symlinks of as much of path as exists, so that two spellings of one place compare equal.
func canonical(path string) string {
	path = filepath.Clean(path)
	rest := ""
	for p := path; ; {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			return filepath.Join(real, rest)
		}
		parent := filepath.Dir(p)
		if parent == p {
			return path
		}
		rest = filepath.Join(filepath.Base(p), rest)
		p = parent
	}
}

// enter is in for commands that look at files or write an index: unless the Repo is plain, filters and merge drivers are
// off there, since the tree could name programs of an agent's choice.
func (r *Repo) enter(ctx context.Context, wt string) (place, error) {
	at, err := r.in(wt)
	if err == nil && !r.plain {
		at.config, err = r.neutral(ctx, at)
		at.wall = r.wall
	}
	if err == nil && at.wall != nil {
		err = plainNotes(at.gitDir)
	}
	return at, err
}

// neutral returns the settings that keep filters and merge drivers from running. A merge driver without a command would
// silently keep our side, so it becomes git's own text merge.
func (r *Repo) neutral(ctx context.Context, at place) ([]setting, error) {
	names, err := r.git.records(ctx, command{at: at, args: []string{"config", "--null", "--name-only", "--get-regexp",
		`^(filter\..*\.(clean|smudge|process|required)|merge\..*\.driver)$`}})
	if exitOf(err) == 1 {
		return nil, nil // none
	}
	if err != nil {
		return nil, err
	}
	var out []setting
	for _, n := range names {
		switch {
		case strings.HasPrefix(n, "merge."):
			out = append(out, setting{n, "git merge-file -q --marker-size=%L %A %O %B"})
		case strings.HasSuffix(n, ".required"):
			out = append(out, setting{n, "false"})
		default:
			out = append(out, setting{n, ""})
		}
	}
	return out, nil
}

// submodules is how far a status or diff looks into submodules: git would start another git in each.
func (r *Repo) submodules() string {
	if r.plain {
		return "--ignore-submodules=none"
	}
	return "--ignore-submodules=dirty"
}
