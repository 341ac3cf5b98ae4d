package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"termic/internal/fault"
)

// Entry is one worktree as `git worktree list` tells it.
type Entry struct {
	Path        string
	Head        string // commit id; "" for a bare repository, zeros for an unborn branch
	Branch      string // without refs/heads/; "" when detached
	Main        bool   // the first one: the main checkout, or the bare repository itself
	Bare        bool
	Detached    bool
	Locked      bool
	LockReason  string
	Prunable    bool // its folder is gone
	PruneReason string
}

// List returns the worktrees of the repository, the main one first.
func (r *Repo) List(ctx context.Context) ([]Entry, error) {
	args, sep := []string{"worktree", "list", "--porcelain", "-z"}, byte(0)
	if !r.git.version.atLeast(2, 36) {
		args, sep = args[:3], '\n' // -z is newer than the rest
	}
	out, err := r.git.text(ctx, command{at: place{gitDir: r.common, common: r.common}, args: args})
	if err != nil {
		return nil, err
	}
	return parseList(out, sep)
}

// parseList reads the porcelain form: attributes, one each, ended by sep; an empty attribute ends a worktree. With a
// newline as sep a path that holds one cannot be told from two attributes; what does not look like an attribute is then
// taken as the rest of the path.
func parseList(out string, sep byte) ([]Entry, error) {
	var list []Entry
	var cur *Entry
	for _, attr := range strings.Split(out, string(sep)) {
		if attr == "" {
			cur = nil
			continue
		}
		word, value, _ := strings.Cut(attr, " ")
		if word == "worktree" && cur == nil {
			list = append(list, Entry{Path: filepath.FromSlash(value), Main: len(list) == 0})
			cur = &list[len(list)-1]
			continue
		}
		if cur == nil {
			return nil, errors.New("worktree list: attribute without a worktree: " + printable(attr, 80))
		}
		if !cur.take(word, value) && sep == '\n' && cur.Head == "" {
			cur.Path += "\n" + attr
		}
	}
	for _, e := range list {
		if e.Path == "" {
			return nil, errors.New("worktree list: a worktree without a path")
		}
	}
	return list, nil
}

// take records one attribute and reports whether it is a known one. Unknown ones belong to a newer git.
func (e *Entry) take(word, value string) bool {
	switch word {
	case "HEAD":
		e.Head = value
	case "branch":
		e.Branch = strings.TrimPrefix(value, "refs/heads/")
	case "bare":
		e.Bare = true
	case "detached":
		e.Detached = true
	case "locked":
		e.Locked, e.LockReason = true, value
	case "prunable":
		e.Prunable, e.PruneReason = true, value
	default:
		return false
	}
	return true
}

// find returns the entry of the worktree at path.
func (r *Repo) find(ctx context.Context, path string) (Entry, bool, error) {
	list, err := r.List(ctx)
	if err != nil {
		return Entry{}, false, err
	}
	want := canonical(path)
	for _, e := range list {
		if canonical(e.Path) == want && !e.Bare {
			return e, true, nil
		}
	}
	return Entry{}, false, nil
}

// Adopt returns the registered worktree at path. Errors: fault.NotFound when path is no worktree of this repository,
// fault.Unsupported when it is the main checkout, fault.Conflict when its folder is gone.
func (r *Repo) Adopt(ctx context.Context, path string) (Entry, error) {
	e, ok, err := r.find(ctx, path)
	switch {
	case err != nil:
		return Entry{}, err
	case !ok:
		return Entry{}, fault.New(fault.NotFound, "%s is not a worktree of this repository", printable(path, 200)).
			WithHint("`git worktree list` shows those that there are.")
	case e.Main:
		return Entry{}, fault.New(fault.Unsupported, "%s is the main checkout, not a worktree", printable(path, 200))
	case !isDir(e.Path):
		return Entry{}, fault.New(fault.Conflict, "The folder of the worktree %s is gone", printable(path, 200)).
			WithHint("Recreate it, or let git forget it.")
	}
	return e, nil
}

// Absence says what is left of a worktree.
type Absence struct {
	Gone       bool // no folder at the path
	Registered bool // git still lists it
	Locked     bool
	Branch     string // "" when unknown or detached
	Head       string // "" when unknown
}

// Missing looks whether the worktree at path was deleted behind our back. Restore brings it back, Forget drops it.
func (r *Repo) Missing(ctx context.Context, path string) (Absence, error) {
	a := Absence{Gone: !isDir(path)}
	e, ok, err := r.find(ctx, path)
	if err != nil || !ok {
		return a, err
	}
	a.Registered, a.Locked, a.Branch, a.Head = true, e.Locked, e.Branch, e.Head
	return a, nil
}

// Forget drops git's entry of a worktree whose folder is gone, and no other entry: a general prune would also drop
// worktrees on a disk that is not mounted just now. A worktree that is still there is fault.Conflict; one that git does
// not list is fine. What a removal that was cut short left of the folder is deleted.
func (r *Repo) Forget(ctx context.Context, path string) error {
	if err := r.forget(ctx, path); err != nil {
		return err
	}
	if err := removeTree(asideOf(canonical(path))); err != nil {
		r.git.log.WarnContext(ctx, "a removed worktree was not deleted whole", "left", asideOf(path), "err", err)
	}
	return nil
}

// forget drops git's entry alone.
func (r *Repo) forget(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fault.New(fault.Conflict, "The worktree %s is still there", printable(path, 200))
	} else if !errors.Is(err, os.ErrNotExist) {
		return fault.Wrap(err, fault.Unavailable, "The folder %s cannot be read", printable(path, 200))
	}
	_, ok, err := r.registered(path)
	if err != nil || !ok {
		return err
	}
	// Twice --force: a locked entry is ours to drop as well, its folder is known to be gone.
	_, err = r.git.run(ctx, command{at: r.here(), args: []string{"worktree", "remove", "--force", "--force", "--", path}, writes: true})
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "git could not forget the worktree %s", printable(path, 200)).WithHint("git says: %s", said(err))
	}
	return nil
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}
