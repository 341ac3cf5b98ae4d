package core

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"termic/internal/fault"
	"termic/internal/store"
	"termic/internal/worktree"
)

// refEvery is how often the refs of a repository are compared while a cage can move them.
const refEvery = 3 * time.Second

// maxRefChanges bounds what is remembered of one repository, for each rank of changes: refs that are new take no room from
// those that were moved. What comes after is counted alone.
const maxRefChanges = 500

// refWatch compares the refs of repositories while caged agents run that share them. Each repository with such an agent
// has one goroutine, which ends with the last of them; Core.Close waits for it. What changed stays until the owner put it
// back or agreed to it, also when the app is started again.
type refWatch struct {
	core *Core
	mu   sync.Mutex // guards the following, and the fields of each repository where they say so
	of   map[string]*watchedRefs
}

// watchedRefs are the refs of one repository.
type watchedRefs struct {
	projectID string // never changes
	common    string // its common folder; never changes

	turn   chan struct{} // holds one: held while refs are compared or moved; guards the following four
	repo   *worktree.Repo
	seen   worktree.Refs
	mark   string
	agreed map[string]worktree.RefChange // branches that may differ from what their checkouts noted, by name

	// Guarded by refWatch.mu.
	cages   map[string]int      // live caged programs, by task
	ran     map[string]bool     // tasks of which a program ended since refs were compared
	hands   []*refHand          // of the app itself
	changes map[string]*changed // by name
	problem string              // a sentence: why refs cannot be compared
	more    refsMore            // that there was no room for
	stop    context.CancelFunc
}

// refHand says which refs the app is moving.
type refHand struct{ match func(name string) bool }

// changed is a ref that somebody moved while caged agents ran.
type changed struct {
	worktree.RefChange
	Tasks  []string  // whose caged agents ran
	Noted  time.Time // when it was seen first
	Backup string    // what keeps Old
}

func newRefWatch(c *Core) *refWatch { return &refWatch{core: c, of: map[string]*watchedRefs{}} }

// entry is what is known of a repository.
func (w *refWatch) entry(projectID string, repo *worktree.Repo) *watchedRefs {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.of[repo.CommonDir()]
	if r == nil {
		r = newWatchedRefs(projectID, repo.CommonDir())
		w.of[r.common] = r
	}
	return r
}

func newWatchedRefs(projectID, common string) *watchedRefs {
	return &watchedRefs{projectID: projectID, common: common, turn: make(chan struct{}, 1), agreed: map[string]worktree.RefChange{}, cages: map[string]int{}, ran: map[string]bool{}, changes: map[string]*changed{}}
}

// take waits for the turn.
func (r *watchedRefs) take(ctx context.Context) error {
	select {
	case r.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fault.Wrap(context.Cause(ctx), fault.Unavailable, "The refs of the repository are being compared")
	}
}

func (r *watchedRefs) give() { <-r.turn }

// enter begins to watch for an agent that is about to be started in a cage. A repository whose refs cannot be read has no
// caged agent. The watch ends with the walls of the agent, after one more look.
func (w *refWatch) enter(ctx context.Context, l *liveTab) error {
	project, err := w.core.store.Project(ctx, l.task.ProjectID)
	if err != nil || project.NonGit || l.task.IsMain {
		return err // in the main checkout the cage writes nothing of git's
	}
	repo, err := w.core.repoOf(ctx, project)
	if err != nil {
		return err
	}
	r := w.entry(project.ID, repo)
	if err := r.take(ctx); err != nil {
		return err
	}
	defer r.give()
	w.mu.Lock()
	watched := len(r.cages) > 0
	w.mu.Unlock()
	if watched {
		w.compare(ctx, r) // what moved so far was not this agent
	} else if err := r.begin(ctx, repo); err != nil {
		return err
	}
	w.mu.Lock()
	if r.cages[l.task.ID]++; r.stop == nil {
		loop, stop := context.WithCancel(w.core.ctx)
		r.stop, r.problem = stop, ""
		w.core.spawn(func() { w.loop(loop, r) })
	}
	w.mu.Unlock()
	l.walls.onClose(func() { w.leave(r, l.task.ID) })
	return nil
}

// begin takes the refs as they are for those that are right.
func (r *watchedRefs) begin(ctx context.Context, repo *worktree.Repo) (err error) {
	r.repo = repo
	if r.mark, err = repo.RefsMark(); err == nil {
		r.seen, err = repo.Refs(ctx)
	}
	if err == nil {
		err = r.accept(ctx, func(string) bool { return true })
	}
	return err
}

// leave looks once more, since the agent may have moved something right before its end, and then stops watching for it.
func (w *refWatch) leave(r *watchedRefs, taskID string) {
	last := func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(w.core.ctx), 10*time.Second)
		defer cancel()
		if err := r.take(ctx); err == nil {
			w.compare(ctx, r)
			r.give()
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if r.cages[taskID]--; r.cages[taskID] == 0 {
			delete(r.cages, taskID)
		}
		if len(r.cages) == 0 && r.stop != nil {
			r.stop()
			r.stop = nil
		}
	}
	if !w.core.spawn(last) {
		last() // the app is ending, and waits for the program anyway
	}
}

func (w *refWatch) loop(ctx context.Context, r *watchedRefs) {
	tick := time.NewTicker(refEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if r.take(ctx) != nil {
			return
		}
		w.compare(ctx, r)
		r.give()
	}
}

// ended tells that a program of a task ended: what its branch did until now was its own doing.
func (w *refWatch) ended(t store.Task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.of {
		if r.projectID == t.ProjectID && len(r.cages) > 0 {
			r.ran[t.ID] = true
		}
	}
}

// ours tells that the app itself moves refs until done is called: they are taken as they are then.
func (w *refWatch) ours(projectID string, repo *worktree.Repo, match func(name string) bool) (done func()) {
	r, hand := w.entry(projectID, repo), &refHand{match}
	w.mu.Lock()
	r.hands = append(r.hands, hand)
	w.mu.Unlock()
	return func() {
		ctx := context.WithoutCancel(w.core.ctx)
		w.mu.Lock()
		watched := len(r.cages) > 0
		w.mu.Unlock()
		if watched && r.take(ctx) == nil {
			w.compare(ctx, r)
			if err := r.accept(ctx, match); err != nil {
				w.core.log.Warn("what the app did to branches may be told as somebody else's doing", "repository", r.common, "err", err)
			}
			r.give()
		}
		w.mu.Lock()
		r.hands = slices.DeleteFunc(r.hands, func(h *refHand) bool { return h == hand })
		w.mu.Unlock()
	}
}

// branchAnd matches the branch of a task, with a number behind it where the name is taken, and bases that are fetched.
func branchAnd(branch string, bases ...string) func(string) bool {
	return func(name string) bool {
		rest, is := strings.CutPrefix(name, "refs/heads/"+branch)
		if is && branch != "" && strings.Trim(rest, "-0123456789") == "" {
			return true
		}
		return slices.ContainsFunc(bases, func(b string) bool { return b != "" && name == "refs/remotes/"+b })
	}
}

// compare finds what moved since the last time. The caller has the turn.
func (w *refWatch) compare(ctx context.Context, r *watchedRefs) {
	w.mu.Lock()
	before := slices.Collect(maps.Keys(r.ran)) // one that ends from now on is asked about the next time
	w.mu.Unlock()
	mark, err := r.repo.RefsMark()
	if err == nil && mark != "" && mark == r.mark {
		w.forgive(r, before)
		return
	}
	var now worktree.Refs
	if err == nil {
		now, err = r.repo.Refs(ctx)
	}
	var own map[string]ownRef
	if err == nil {
		own, err = w.own(ctx, r)
	}
	var stray []worktree.RefChange
	if err == nil {
		stray, err = w.strays(ctx, r, own, now)
	}
	if err != nil {
		if ctx.Err() == nil {
			w.core.log.Warn("the refs of a repository could not be compared", "repository", r.common, "err", err)
			w.mu.Lock()
			tell := r.problem != sentence(err)
			r.problem = sentence(err)
			w.mu.Unlock()
			if tell {
				w.core.beacon.change()
			}
		}
		return
	}
	found := slices.DeleteFunc(r.seen.Changes(now), func(c worktree.RefChange) bool { _, is := own[c.Name]; return is })
	found = append(append(found, w.followed(r, own, now)...), stray...)
	w.mu.Lock()
	hands, tasks := slices.Clone(r.hands), slices.Sorted(maps.Keys(r.cages))
	r.problem = ""
	w.mu.Unlock()
	checkedOut, err := r.checkedOut(ctx)
	if err != nil {
		w.core.log.Warn("it cannot be told which branches are checked out", "repository", r.common, "err", err) // they have less room then
	}
	found = slices.DeleteFunc(found, func(c worktree.RefChange) bool {
		return notWatched(c) || slices.ContainsFunc(hands, func(h *refHand) bool { return h.match(c.Name) })
	})
	slices.SortFunc(found, func(a, b worktree.RefChange) int { return strings.Compare(a.Name, b.Name) })
	w.note(ctx, r, found, tasks, now, checkedOut)
	// A stash that came while agents ran may be one of theirs, and they may take it up again.
	now.Stashes = slices.DeleteFunc(slices.Clone(r.seen.Stashes), func(s string) bool { return !slices.Contains(now.Stashes, s) })
	r.seen, r.mark = now, mark
	w.forgive(r, before)
}

// forgive forgets which programs ended before refs were compared.
func (w *refWatch) forgive(r *watchedRefs, ran []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ran {
		delete(r.ran, id)
	}
}

// notWatched are changes that mean nothing: what the watch itself keeps, a backup or a discard that comes, and the notes that one
// checkout keeps of its own bisecting and rebasing.
func notWatched(c worktree.RefChange) bool {
	switch {
	case strings.HasPrefix(c.Name, worktree.WatchPrefix):
		return true
	case strings.HasPrefix(c.Name, worktree.BackupPrefix) || strings.HasPrefix(c.Name, worktree.DiscardPrefix):
		return c.Old.ID == ""
	}
	return strings.HasPrefix(c.Name, "refs/bisect/") || strings.HasPrefix(c.Name, "refs/worktree/") || strings.HasPrefix(c.Name, "refs/rewritten/")
}

// own are the refs that running tasks may move as they like: each its own branch. Where no cage is, that is the one which
// is checked out; a cage could say that of any branch.
func (w *refWatch) own(ctx context.Context, r *watchedRefs) (map[string]ownRef, error) {
	tasks, err := w.core.store.Tasks(ctx, store.TaskFilter{ProjectID: r.projectID})
	if err != nil {
		return nil, err
	}
	checkouts, err := r.repo.List(ctx)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	runs := maps.Clone(r.ran)
	for id := range r.cages {
		runs[id] = true
	}
	w.mu.Unlock()
	out := map[string]ownRef{}
	for _, t := range tasks {
		if !runs[t.ID] && len(w.core.liveTabs(t.ID)) == 0 || t.IsMain && w.core.ownCageWrites(t) {
			continue
		}
		if t.Branch != "" {
			out["refs/heads/"+t.Branch] = ownRef{t.ID, t.Path}
		}
		for _, e := range checkouts {
			if e.Path == t.Path && e.Branch != "" && !w.core.ownCageWrites(t) {
				out["refs/heads/"+e.Branch] = ownRef{t.ID, t.Path}
			}
		}
	}
	return out, nil
}
