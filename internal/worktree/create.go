package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"termic/internal/fault"
)

// maxNumber bounds the numbers that are put behind derived names.
const maxNumber = 999

// CreateOptions describe a new worktree.
type CreateOptions struct {
	Path        string            // folder to create, absolute; parents are made
	PathFixed   bool              // an existing Path is an error; otherwise -2, -3, ... is put behind it
	Branch      string            // branch to create or reuse
	BranchTyped bool              // a person chose Branch: an existing one is reused, never numbered
	Base        string            // as for ResolveBase
	Commit      string            // begin here instead of where Base is by then; empty: where it is
	Fetch       bool              // bring Base up to date first, best effort
	Guarded     bool              // the base could have been written by a cage: no hooks, no filters, no submodules
	Progress    func(line string) // lines for a log, as untrusted as hooks are; may be nil
	// NewBranch is told the name and commit of a branch right before it is created, so that a caller can note what to
	// take back after a crash; its error stops the creation. It may be called again with the next name. May be nil.
	NewBranch func(name, commit string) error
}

// Created is a new, restored or recreated worktree.
type Created struct {
	Path         string // as git knows it, symlinks resolved
	Branch       string // "" when HEAD is detached
	BaseRef      string // name of what it started from, such as origin/main
	BaseCommit   string
	ReusedBranch bool
	Warnings     []string // sentences for the user
}

// Create makes a worktree on a branch of its own, which does not track anything. A derived branch that exists is never
// touched: the next free number is put behind the name. A typed one that exists is checked out as it is, unless another
// worktree has it.
//
// A fetch, filter, submodule or hook that fails or takes too long leaves a warning, not an error: the worktree is there.
// Errors: fault.InvalidArgument for a bad name, fault.Conflict for a branch or path that is in use, fault.NotFound for an
// unknown base, ErrEmpty in the chain for a repository without a commit. After an error nothing of it is left behind.
func (r *Repo) Create(ctx context.Context, o CreateOptions) (Created, error) {
	b := &builder{repo: r, guarded: o.Guarded, progress: o.Progress, onBranch: o.NewBranch}
	if err := checkBranch(o.Branch); err != nil {
		return Created{}, err
	}
	if err := r.checkPath(o.Path); err != nil {
		return Created{}, err
	}
	if o.Fetch {
		b.say("Fetching %s", o.Base)
		if err := r.Fetch(ctx, o.Base); err != nil {
			b.warn("%s could not be brought up to date; the worktree starts from what is here (%s)", baseName(o.Base), reason(err))
		}
	}
	base, err := b.pickBranch(ctx, o)
	if err != nil {
		return Created{}, err
	}
	if base.Fallback {
		b.warn("There is no %s here; the worktree starts from %s", baseName(o.Base), base.Name)
	}
	ahead := b.lookAhead(ctx)
	err = b.build(ctx, o.Path, o.PathFixed)
	seen := ahead()
	if err != nil {
		return Created{}, err
	}
	b.finish(ctx, seen)
	return Created{Path: b.path, Branch: b.branch, BaseRef: base.Name, BaseCommit: base.Commit, ReusedBranch: b.reused, Warnings: b.warnings}, nil
}

// builder is one creation under way. It has no goroutine of its own.
type builder struct {
	repo     *Repo
	guarded  bool
	progress func(string)
	onBranch func(name, commit string) error

	branch   string // "" = detached at commit
	commit   string
	reused   bool   // branch was there before
	path     string // made by us, set by build
	madeFrom string // deepest folder above path that was there before
	begin    func() // lets what is looked up beside the checkout begin; may be nil
	warnings []string
}

func (b *builder) say(format string, args ...any) {
	if b.progress != nil {
		b.progress(printable(fmt.Sprintf(format, args...), 500))
	}
}

func (b *builder) warn(format string, args ...any) {
	s := printable(fmt.Sprintf(format, args...), 600)
	b.warnings = append(b.warnings, s)
	b.say("%s", s)
}

// pickBranch resolves the base and settles on the branch; a new one is created here, which reserves its name.
func (b *builder) pickBranch(ctx context.Context, o CreateOptions) (Base, error) {
	var base Base
	for first := 1; first <= maxNumber; first += 16 {
		var names, refs []string
		for n := first; n < first+16; n++ {
			name := numbered(o.Branch, n)
			names, refs = append(names, name), append(refs, "refs/heads/"+name, "refs/remotes/origin/"+name)
		}
		var found []string
		var err error
		if base, found, err = b.repo.resolve(ctx, o.Base, refs); err != nil {
			return Base{}, err
		}
		base.Commit = cmp.Or(o.Commit, base.Commit)
		b.commit = base.Commit
		if o.BranchTyped {
			return base, b.typedBranch(ctx, o.Branch, found[0], found[1])
		}
		for i, name := range names {
			if found[2*i] != "" || found[2*i+1] != "" {
				continue
			}
			taken, err := b.newBranch(ctx, name)
			if err != nil {
				return Base{}, err
			}
			if !taken {
				return base, nil
			}
		}
	}
	return Base{}, fault.New(fault.Conflict, "Every branch from %s to %s is there already", o.Branch, numbered(o.Branch, maxNumber))
}

// typedBranch takes the branch that a person named: local is its commit, remote that of origin's branch of that name.
func (b *builder) typedBranch(ctx context.Context, name, local, remote string) error {
	if local == "" {
		taken, err := b.newBranch(ctx, name)
		if err == nil && taken {
			err = fault.New(fault.Conflict, "The branch %s cannot be created, because there are branches below that name", name).
				WithHint("Name another branch.")
		}
		if err == nil && remote != "" {
			b.warn("origin has a branch %s too; this one is new and starts from the base", name)
		}
		return err
	}
	if err := b.repo.BranchFree(ctx, name); err != nil {
		return err
	}
	b.branch, b.reused = name, true
	b.say("Using the branch %s as it is", name)
	return nil
}

// BranchFree is fault.Conflict, with the folder in its data (path), for a branch that a worktree has: git lets one have it at a time. It can be
// asked before anything is made; what git says then still counts.
func (r *Repo) BranchFree(ctx context.Context, name string) error {
	list, err := r.List(ctx)
	if err != nil {
		return err
	}
	for _, e := range list {
		if e.Branch == name && !e.Bare {
			return fault.New(fault.Conflict, "The branch %s is checked out in %s", name, printable(e.Path, 200)).
				WithHint("Name another branch, or adopt that worktree.").WithData("path", e.Path)
		}
	}
	return nil
}

// newBranch creates a branch at the base. taken reports that the name is in use, by a branch that appeared meanwhile or
// by one that the name would have to be a folder of, or the reverse.
func (b *builder) newBranch(ctx context.Context, name string) (taken bool, err error) {
	r := b.repo
	if b.onBranch != nil {
		if err := b.onBranch(name, b.commit); err != nil {
			return false, err
		}
	}
	_, err = r.git.run(ctx, command{at: r.here(), args: []string{"branch", "--no-track", "--end-of-options", name, b.commit}, writes: true})
	if err == nil {
		b.branch = name
		b.say("Created the branch %s", name)
		return false, nil
	}
	if exitOf(err) < 0 {
		return false, err
	}
	// The pattern matches the name itself and everything below it.
	other, lookErr := r.git.text(ctx, command{at: r.here(), args: []string{"for-each-ref", "--count=1", "--format=%(refname)", "refs/heads/" + name}})
	if lookErr != nil {
		return false, lookErr
	}
	if other != "" {
		b.say("The name %s is in use by %s", name, strings.TrimPrefix(other, "refs/heads/"))
		return true, nil
	}
	above := parents(name)
	refs := make([]string, len(above))
	for i, p := range above {
		refs[i] = "refs/heads/" + p
	}
	found, lookErr := r.commits(ctx, r.here(), append(refs, "HEAD")...)
	if lookErr != nil {
		return false, lookErr
	}
	for i, p := range above {
		if found[i] != "" {
			return false, fault.Wrap(err, fault.Conflict, "The branch %s cannot be created, because there is a branch %s", name, p).
				WithHint("Name another branch, or choose another branch prefix in the settings.")
		}
	}
	return false, fault.Wrap(err, fault.Conflict, "The branch %s could not be created", name).WithHint("git says: %s", said(err))
}

func numbered(name string, n int) string {
	if n < 2 {
		return name
	}
	return fmt.Sprintf("%s-%d", name, n)
}

// checkPath refuses folders that a worktree must not be put in.
func (r *Repo) checkPath(path string) error {
	switch {
	case path == "" || !filepath.IsAbs(path) || strings.ContainsRune(path, 0):
		return fault.New(fault.InvalidArgument, "The folder of a worktree must be an absolute path, not %q", printable(path, 200))
	case within(canonical(path), r.common):
		return fault.New(fault.InvalidArgument, "A worktree cannot lie inside of git's own folder %s", printable(r.common, 200))
	case r.root != "" && canonical(path) == r.root:
		return fault.New(fault.Conflict, "%s is the project itself", printable(path, 200))
	}
	return nil
}

// within reports whether path is dir or lies below it; both are canonical.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// build makes the folder and has git check the branch out into it. On failure everything that was made is taken back.
func (b *builder) build(ctx context.Context, path string, fixed bool) error {
	err := b.reserve(path, fixed)
	if err == nil {
		b.say("Checking out into %s", b.path)
		err = b.checkout(ctx)
	}
	if err != nil {
		b.undo(ctx)
	}
	return err
}

// reserve makes the folder itself, so that two creations at once never get the same one. Whatever is at a path, a file,
// a link or an empty folder, is left alone.
func (b *builder) reserve(path string, fixed bool) error {
	path = filepath.Clean(path)
	b.madeFrom = existing(filepath.Dir(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fault.Wrap(err, fault.Unavailable, "The folder %s cannot be created", printable(filepath.Dir(path), 200))
	}
	for n := 1; n <= maxNumber; n++ {
		p := numbered(path, n)
		if _, listed, err := b.repo.registered(p); err != nil {
			return err
		} else if !listed { // else: git would refuse, it lists a worktree here, even if the folder is gone
			err := os.Mkdir(p, 0o755)
			if err == nil {
				b.path = canonical(p)
				return nil
			}
			if !errors.Is(err, os.ErrExist) {
				return fault.Wrap(err, fault.Unavailable, "The folder %s cannot be created", printable(p, 200))
			}
		}
		if fixed {
			return fault.New(fault.Conflict, "%s exists already", printable(p, 200)).WithHint("Move it away, or choose another folder.").WithData("path", p)
		}
	}
	return fault.New(fault.Conflict, "Every folder from %s to %s exists already", printable(path, 200), filepath.Base(numbered(path, maxNumber)))
}

// existing returns the deepest folder on the way to path that is there.
func existing(path string) string {
	for {
		if _, err := os.Lstat(path); err == nil || filepath.Dir(path) == path {
			return path
		}
		path = filepath.Dir(path)
	}
}

// undo takes back a creation that failed: git's entry, the folder that we made, its parents if they are new and empty,
// and the branch if it is new and still where we put it.
func (b *builder) undo(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	r := b.repo
	var errs []error
	if b.path != "" {
		if _, listed, err := r.registered(b.path); err == nil && listed {
			_, err := r.git.run(ctx, command{at: r.here(), args: []string{"worktree", "remove", "--force", "--force", "--", b.path}, writes: true})
			errs = append(errs, err)
		}
		errs = append(errs, removeTree(b.path), r.Forget(ctx, b.path))
		removeEmptyParents(b.path, b.madeFrom)
	}
	if b.branch != "" && !b.reused {
		_, err := r.git.run(ctx, command{at: r.here(), args: []string{"update-ref", "-d", "refs/heads/" + b.branch, b.commit}, writes: true})
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		r.git.log.WarnContext(ctx, "a failed creation was not wholly taken back", "path", b.path, "branch", b.branch, "err", err)
	}
}

// baseName is how a base that was asked for is called in a sentence.
func baseName(base string) string {
	if base == "" {
		return "default base"
	}
	return base
}

// reason is the part of an error that a warning quotes.
func reason(err error) string {
	if exitOf(err) >= 0 {
		return said(err)
	}
	f := fault.From(err)
	return f.Message
}
