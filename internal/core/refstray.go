package core

import (
	"context"
	"time"

	"termic/internal/worktree"
)

// strayPause is how long a branch may differ from what its checkout noted: git writes the note first, then the branch.
const strayPause = 200 * time.Millisecond

// ownRef is a branch that a running task may move as it likes.
type ownRef struct{ task, path string }

// strays are branches of running tasks that somebody else moved. Every cage can write all refs of its repository, so that a
// task runs says nothing about who moved its branch; but what is done in a checkout, git notes in the checkout's own folder,
// which no other cage can write. Where it notes nothing, or the checkout is on another branch, it cannot be told.
func (w *refWatch) strays(ctx context.Context, r *watchedRefs, own map[string]ownRef, now worktree.Refs) ([]worktree.RefChange, error) {
	first := w.astray(r, own, now)
	if len(first) == 0 {
		return nil, nil
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(strayPause):
	}
	again, err := r.repo.Refs(ctx)
	if err != nil {
		return nil, err
	}
	second := w.astray(r, own, again)
	var out []worktree.RefChange
	for name, c := range first {
		if second[name] == c && r.agreed[name] != c {
			out = append(out, c)
		}
	}
	return out, nil
}

// astray are the branches that are not where the checkouts of their tasks last went.
func (w *refWatch) astray(r *watchedRefs, own map[string]ownRef, now worktree.Refs) map[string]worktree.RefChange {
	out := map[string]worktree.RefChange{}
	for name, o := range own {
		if !w.othersRan(r, o.task) {
			continue
		}
		tip, err := r.repo.Tip(o.path)
		if err != nil || tip.ID == "" || tip.Ref != name || now.At[name].ID == tip.ID {
			continue
		}
		out[name] = worktree.RefChange{Name: name, Old: worktree.Ref{ID: tip.ID}, New: now.At[name]}
	}
	return out
}

// accept takes branches that are not where their checkouts last went as they are: what was so before a cage could have done
// it, what the app did itself, and what the owner left as it is. The caller has the turn.
func (r *watchedRefs) accept(ctx context.Context, which func(name string) bool) error {
	checkouts, err := r.repo.List(ctx)
	if err != nil {
		return err
	}
	now, err := r.repo.Refs(ctx)
	if err != nil {
		return err
	}
	for _, e := range checkouts {
		name := "refs/heads/" + e.Branch
		if e.Branch == "" || !which(name) {
			continue
		}
		if tip, err := r.repo.Tip(e.Path); err == nil && tip.ID != "" && now.At[name].ID != tip.ID {
			r.agreed[name] = worktree.RefChange{Name: name, Old: worktree.Ref{ID: tip.ID}, New: now.At[name]}
		}
	}
	return nil
}

// othersRan reports whether a cage of another task could have moved refs since they were last compared.
func (w *refWatch) othersRan(r *watchedRefs, task string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range r.cages {
		if id != task {
			return true
		}
	}
	for id := range r.ran {
		if id != task {
			return true
		}
	}
	return false
}

// followed are the changes that are remembered of branches which their own tasks have moved since.
func (w *refWatch) followed(r *watchedRefs, own map[string]ownRef, now worktree.Refs) (out []worktree.RefChange) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name := range own {
		if c := r.changes[name]; c != nil && !c.New.Same(now.At[name]) {
			out = append(out, worktree.RefChange{Name: name, Old: c.Old, New: now.At[name]})
		}
	}
	return out
}
