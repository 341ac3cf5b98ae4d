package core

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"termic/internal/api"
	"termic/internal/atomicfile"
	"termic/internal/fault"
	"termic/internal/worktree"
)

// ProjectRefs is the verb project_refs: it shows the refs that changed while caged agents of a project ran, which could
// have moved them, puts them back, or forgets about them.
func (c *Core) ProjectRefs(ctx context.Context, call *Call, p api.ProjectRefsParams) (api.ProjectRefsResult, error) {
	project, err := c.resolveProject(ctx, call.Caller, p.Name)
	if err != nil {
		return api.ProjectRefsResult{}, err
	}
	result := api.ProjectRefsResult{Name: project.Name, Refs: []api.RefChange{}}
	if project.NonGit {
		return result, nil
	}
	repo, err := c.repoOf(ctx, project)
	if err != nil {
		return result, err
	}
	r := c.refs.entry(project.ID, repo)
	if err := r.take(ctx); err != nil {
		return result, err
	}
	defer r.give()
	if r.repo == nil {
		r.repo = repo
	}
	c.refs.mu.Lock()
	watched := len(r.cages) > 0
	c.refs.mu.Unlock()
	if watched {
		c.refs.compare(ctx, r)
	}
	undo, err := c.refs.chosen(r, p.Undo)
	if err != nil {
		return result, err
	}
	keep, err := c.refs.chosen(r, p.Keep)
	if err != nil {
		return result, err
	}
	for _, have := range undo {
		if slices.Contains(keep, have) {
			return result, fault.New(fault.InvalidArgument, "%q cannot be put back and left as it is", have.Name)
		}
	}
	err = c.refs.settle(ctx, r, undo, keep, &result)
	if err == nil && slices.Contains(p.Keep, "all") {
		c.refs.seenMore(r)
	}
	var shown []api.RefChange
	shown, result.Problem = c.refs.changesOf(project.ID, "")
	result.Refs = append(result.Refs, shown...)
	return result, err
}

// chosen are the changes that the owner named.
func (w *refWatch) chosen(r *watchedRefs, names []string) ([]*changed, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []*changed
	for _, name := range names {
		found := false
		for _, c := range r.changes {
			if (name == "all" || c.Name == name || c.Name == "refs/heads/"+name) && !slices.Contains(out, c) {
				out, found = append(out, c), true
			}
		}
		if !found && name != "all" {
			return nil, fault.New(fault.NotFound, "No ref %q changed while a caged agent ran", name).WithHint("`termic project refs NAME` lists those that did.")
		}
	}
	slices.SortFunc(out, func(a, b *changed) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// settle puts changes back and forgets them. The caller has the turn. It ends at the first one that cannot be put back.
func (w *refWatch) settle(ctx context.Context, r *watchedRefs, undo, keep []*changed, result *api.ProjectRefsResult) error {
	if len(undo)+len(keep) == 0 {
		return nil
	}
	defer func() {
		w.save()
		w.core.beacon.change()
	}()
	for _, c := range undo {
		v := c.view()
		v.Backup = ""
		if c.Old.ID == "" { // nothing would lead to it any more
			ref, err := r.repo.KeepRef(ctx, c.Name, c.New.ID)
			if err != nil {
				return err
			}
			v.Backup = ref
		}
		if err := r.repo.PutBack(ctx, c.RefChange); err != nil {
			return err
		}
		w.drop(ctx, r, c)
		result.Undone = append(result.Undone, v)
	}
	for _, c := range keep {
		w.drop(ctx, r, c)
		v := c.view()
		v.Backup = ""
		result.Kept = append(result.Kept, v)
	}
	if len(keep) > 0 && r.repo != nil {
		named := func(name string) bool {
			return slices.ContainsFunc(keep, func(c *changed) bool { return c.Name == name })
		}
		if err := r.accept(ctx, named); err != nil {
			return err
		}
	}
	if len(undo) > 0 {
		now, err := r.repo.Refs(ctx)
		if err != nil {
			return err
		}
		for _, c := range undo { // and nothing else: what a cage moved at this moment is still to be found
			if r.seen.At == nil {
				break // nobody watches
			}
			if ref, there := now.At[c.Name]; there {
				r.seen.At[c.Name] = ref
			} else {
				delete(r.seen.At, c.Name)
			}
		}
		r.mark = ""
	}
	return nil
}

// seenMore forgets what there was no room for: the owner has looked.
func (w *refWatch) seenMore(r *watchedRefs) {
	w.mu.Lock()
	r.more = refsMore{}
	w.mu.Unlock()
	w.save()
	w.core.beacon.change()
}

// drop forgets a change and what was kept for it.
func (w *refWatch) drop(ctx context.Context, r *watchedRefs, c *changed) {
	w.mu.Lock()
	delete(r.changes, c.Name)
	w.mu.Unlock()
	if c.Backup == "" {
		return
	}
	if err := r.repo.DropKept(ctx, c.Backup); err != nil {
		w.core.log.Warn("a kept ref could not be deleted", "ref", c.Backup, "err", err)
	}
}

// notices are sentences about branches, tags, backups and stashes that changed. A new ref takes nothing away, and refs of
// remotes move with every fetch of the user: both are shown with the task alone.
func (w *refWatch) notices(names map[string]string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, r := range w.of {
		var loud []string
		for name, c := range r.changes {
			if c.Old != (worktree.Ref{}) && !strings.HasPrefix(name, "refs/remotes/") {
				loud = append(loud, strings.TrimPrefix(name, "refs/heads/"))
			}
		}
		if len(loud) > 0 {
			more := ""
			if n := len(sorted(loud)) - 3; n > 0 {
				loud, more = loud[:3], " and more"
			}
			out = append(out, "In the project "+quoted(names[r.projectID])+", "+strings.Join(loud, ", ")+more+
				" changed while a caged agent ran. `termic project refs "+shellWord(names[r.projectID])+"` shows it, and puts it back.")
		}
		if r.problem != "" {
			out = append(out, "In the project "+quoted(names[r.projectID])+", refs are not watched: "+r.problem)
		}
		if more := r.more.sentence(); more != "" {
			out = append(out, "In the project "+quoted(names[r.projectID])+", many refs changed while a caged agent ran. "+more+" When you have, `termic project refs "+
				shellWord(names[r.projectID])+" --keep all` takes this away.")
		}
	}
	return sorted(out)
}

// forget drops what is known of a project that was removed.
func (w *refWatch) forget(projectID string) {
	w.mu.Lock()
	for _, r := range w.of {
		if r.projectID == projectID {
			clear(r.changes)
			r.more = refsMore{}
		}
	}
	w.mu.Unlock()
	w.save()
}

// savedRefs is what is written down of one repository.
type savedRefs struct {
	Project string
	Common  string
	Changes []*changed
	More    refsMore
}

func (w *refWatch) file() string { return filepath.Join(w.core.dataDir, "changed-refs.json") }

// save writes down what the owner has not seen to: another run of the app shows it as well. It is in Termic's own folder,
// where no cage writes, since the refs that keep the old commits could have been made by one.
func (w *refWatch) save() {
	w.mu.Lock()
	var all []savedRefs
	for _, r := range w.of {
		s := savedRefs{Project: r.projectID, Common: r.common, More: r.more}
		for _, c := range r.changes {
			s.Changes = append(s.Changes, c)
		}
		if len(s.Changes) > 0 || s.More.sentence() != "" {
			all = append(all, s)
		}
	}
	raw, err := json.Marshal(all)
	if err == nil {
		err = atomicfile.WriteFile(w.file(), raw, 0o600)
	}
	w.mu.Unlock()
	if err != nil {
		w.core.log.Error("changed refs could not be written down", "err", err)
	}
}

// load takes up what an earlier run wrote down.
func (w *refWatch) load() {
	raw, err := os.ReadFile(w.file())
	var all []savedRefs
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			w.core.log.Error("changed refs of an earlier run could not be read", "err", err)
		}
		return
	}
	for _, s := range all {
		r := newWatchedRefs(s.Project, s.Common)
		for _, c := range s.Changes {
			r.changes[c.Name] = c
		}
		r.more = s.More
		w.of[r.common] = r
	}
}
