package worktree

import (
	"context"
	"path/filepath"
)

// entriesSince returns, of the last applied tree, the files that dst still has just so.
func (a *application) entriesSince(ctx context.Context) (map[string]entry, error) {
	if a.since == "" {
		return nil, nil
	}
	// Only trees are asked for, by id: a name would let a ref decide.
	if !commitLine.MatchString(a.since + " commit 0") {
		return nil, nil
	}
	if _, err := a.r.git.run(ctx, command{at: a.dst, args: []string{"cat-file", "-e", a.since + "^{tree}"}}); err != nil {
		if exitOf(err) >= 0 {
			return nil, nil // collected long ago
		}
		return nil, err
	}
	applied, err := a.treeDiff(ctx, a.against, a.since)
	if err != nil {
		return nil, err
	}
	now, err := a.treeDiff(ctx, a.against, a.dstTree)
	if err != nil {
		return nil, err
	}
	have := make(map[string]entry, len(now))
	for _, c := range now {
		have[c.path] = c.entry
	}
	out := map[string]entry{}
	for _, c := range applied {
		if e, ok := have[c.path]; ok && e == c.entry {
			out[c.path] = e
		}
	}
	return out, nil
}

// adopted adds the untracked files of the task that dst got the last time and tracks by now.
func (a *application) adopted(ctx context.Context, asTracked map[string]bool) error {
	var err error
	if a.unmoved, err = a.entriesSince(ctx); err != nil {
		return err
	}
	for _, f := range a.untracked {
		if e, ok := a.unmoved[f.Path]; ok && e.mode != "0" {
			asTracked[f.Path] = true
		}
	}
	return nil
}

// advance moves the start of the change forward to what was applied the last time, file by file, where dst still has it:
// then the task's newer version is a change of that.
func (a *application) advance(ctx context.Context, own []treeChange) error {
	var entries []entry
	moved := false
	for i, c := range a.pending {
		if e, ok := a.unmoved[c.path]; ok {
			entries, moved = append(entries, e), true
			a.pending[i].oldMode, a.pending[i].oldID = e.mode, e.id
			if e.mode == "0" {
				a.pending[i].oldMode = noMode
			}
		}
	}
	// A file that was applied as new or gone, and that the task has taken back, is in the start's state again; the changes
	// from the start do not name it.
	named := map[string]bool{}
	for _, c := range a.changes {
		named[c.path] = true
	}
	for _, c := range own {
		if e, ok := a.unmoved[c.path]; ok && !named[c.path] && !a.isUntracked(c.path) {
			entries, moved = append(entries, e), true
			back := entry{mode: c.oldMode, id: c.oldID, path: c.path}
			if c.oldMode == noMode {
				back = entry{mode: "0", path: c.path}
			}
			if e.mode == "0" {
				e.mode = noMode
			}
			a.pending = append(a.pending, treeChange{entry: back, oldMode: e.mode, oldID: e.id})
		}
	}
	if !moved {
		return nil
	}
	g, index := a.r.git, filepath.Join(a.tmp, "start")
	if _, err := g.run(ctx, command{at: a.dst, index: index, args: []string{"read-tree", a.against + "^{tree}"}, writes: true}); err != nil {
		return err
	}
	if err := a.r.updateIndex(ctx, a.dst, index, entries); err != nil {
		return err
	}
	tree, err := g.text(ctx, command{at: a.dst, index: index, args: []string{"write-tree"}, writes: true})
	a.against = tree
	return err
}

func (a *application) isUntracked(name string) bool {
	for _, f := range a.untracked {
		if f.Path == name {
			return true
		}
	}
	return false
}
