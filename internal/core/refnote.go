package core

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"termic/internal/api"
	"termic/internal/worktree"
)

// refsMore are changes of one repository that are not remembered one by one.
type refsMore struct {
	Moved int             // refs that were moved or deleted
	New   map[string]bool // refs that are new, by name: no change of theirs takes anything away
}

// Ranks of changes, each with room of its own.
const (
	rankCheckedOut = iota // branches of checkouts; there are few
	rankMoved
	rankFetched // of remotes and backups, which move with every fetch, and in numbers
	rankNew
	ranks
)

func rankOf(c worktree.RefChange, checkedOut map[string]bool) int {
	switch {
	case checkedOut[c.Name]:
		return rankCheckedOut
	case c.Old == (worktree.Ref{}):
		return rankNew
	case strings.HasPrefix(c.Name, "refs/remotes/") || strings.HasPrefix(c.Name, worktree.BackupPrefix):
		return rankFetched
	}
	return rankMoved
}

// checkedOut are the refs that checkouts of the repository are on.
func (r *watchedRefs) checkedOut(ctx context.Context) (map[string]bool, error) {
	list, err := r.repo.List(ctx)
	out := map[string]bool{}
	for _, e := range list {
		if e.Branch != "" {
			out["refs/heads/"+e.Branch] = true
		}
	}
	return out, err
}

// note remembers changes, and makes sure that git keeps what the refs led to.
func (w *refWatch) note(ctx context.Context, r *watchedRefs, found []worktree.RefChange, tasks []string, now worktree.Refs, checkedOut map[string]bool) {
	w.mu.Lock()
	var keep []*changed
	room := [ranks]int{rankCheckedOut: math.MaxInt, rankMoved: maxRefChanges, rankFetched: maxRefChanges, rankNew: maxRefChanges}
	for _, c := range r.changes {
		room[rankOf(c.RefChange, checkedOut)]--
	}
	for _, f := range found {
		have := r.changes[f.Name]
		if have == nil {
			if r.more.New[f.Name] {
				if f.New == (worktree.Ref{}) {
					delete(r.more.New, f.Name)
				}
				continue // a cage may have made it
			}
			rank := rankOf(f, checkedOut)
			if room[rank]--; room[rank] < 0 {
				r.more.add(f, rank)
				continue
			}
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

// add counts a change for which there is no room.
func (m *refsMore) add(c worktree.RefChange, rank int) {
	if rank != rankNew {
		m.Moved++
		return
	}
	if m.New == nil {
		m.New = map[string]bool{}
	}
	m.New[c.Name] = true
}

// sentence says what is not remembered; empty for nothing.
func (m *refsMore) sentence() string {
	var parts []string
	if m.Moved > 0 {
		parts = append(parts, countOf(m.Moved, "moved or deleted ref"))
	}
	if n := len(m.New); n > 0 {
		parts = append(parts, countOf(n, "new ref"))
	}
	if len(parts) == 0 {
		return ""
	}
	return "There is no room for more than is listed: " + strings.Join(parts, " and ") + " are not. Look through `git for-each-ref`; `git reflog` may tell where a branch was."
}

// trouble is what keeps the list of a repository from being all of it. The caller has the lock.
func (r *watchedRefs) trouble() string {
	return strings.TrimSpace(r.problem + " " + r.more.sentence())
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
		problem = r.trouble()
		for _, name := range slices.Sorted(maps.Keys(r.changes)) {
			if c := r.changes[name]; taskID == "" || slices.Contains(c.Tasks, taskID) {
				out = append(out, c.view())
			}
		}
	}
	return out, problem
}
