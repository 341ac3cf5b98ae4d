package core

import (
	"context"
	"maps"
	"slices"
	"time"

	"termic/internal/api"
	"termic/internal/worktree"
)

// note remembers changes, and makes sure that git keeps what the refs led to.
func (w *refWatch) note(ctx context.Context, r *watchedRefs, found []worktree.RefChange, tasks []string, now worktree.Refs) {
	w.mu.Lock()
	var keep []*changed
	for _, f := range found {
		have := r.changes[f.Name]
		switch {
		case have == nil && len(r.changes) >= maxRefChanges:
			r.problem = "More refs of the repository changed while caged agents ran than are remembered."
			continue
		case have == nil:
			have = &changed{RefChange: f, Noted: time.Now()}
			r.changes[f.Name] = have
		}
		have.New = f.New
		have.Tasks = union(have.Tasks, tasks)
	}
	for name, c := range r.changes {
		if c.back() {
			delete(r.changes, name)
			if c.Backup != "" {
				keep = append(keep, c)
			}
		} else if c.Old.ID != "" && (c.Backup == "" || now.At[c.Backup].ID != c.Old.ID) {
			keep = append(keep, c) // a cage can delete a backup as well
		}
	}
	w.mu.Unlock()
	for _, c := range keep {
		w.keep(ctx, r, c)
	}
	if len(found) > 0 {
		w.save()
		w.core.beacon.change()
	}
}

// keep makes the backup of a change, or drops that of a change which is none any more.
func (w *refWatch) keep(ctx context.Context, r *watchedRefs, c *changed) {
	if c.back() {
		if err := r.repo.DropKept(ctx, c.Backup); err != nil {
			w.core.log.Warn("a kept ref could not be deleted", "ref", c.Backup, "err", err)
		}
		return
	}
	ref, err := r.repo.KeepRef(ctx, c.Name, c.Old.ID)
	if err != nil {
		w.core.log.Warn("what a ref led to could not be kept", "ref", c.Name, "commit", c.Old.ID, "err", err)
		return
	}
	w.mu.Lock()
	c.Backup = ref
	w.mu.Unlock()
}

// back reports whether the ref is again what it was.
func (c *changed) back() bool { return c.New.Same(c.Old) }

// view shows a change.
func (c *changed) view() api.RefChange {
	return api.RefChange{Ref: c.Name, Old: refText(c.Old), New: refText(c.New), Noted: stamp(c.Noted), Backup: c.Backup, Tasks: slices.Clone(c.Tasks)}
}

func refText(r worktree.Ref) string {
	if r.To != "" {
		return "ref: " + r.To
	}
	return r.ID
}

// changesOf are the refs of a project that changed while caged agents ran: of one task, or of any for "".
func (w *refWatch) changesOf(projectID, taskID string) (out []api.RefChange, problem string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.of {
		if r.projectID != projectID {
			continue
		}
		problem = r.problem
		for _, name := range slices.Sorted(maps.Keys(r.changes)) {
			if c := r.changes[name]; taskID == "" || slices.Contains(c.Tasks, taskID) {
				out = append(out, c.view())
			}
		}
	}
	return out, problem
}
