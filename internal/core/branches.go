package core

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"termic/internal/store"
)

// branchEvery is how often the branches of projects are looked at. A commit is nothing that somebody waits for in milliseconds.
const branchEvery = 5 * time.Second

const branchPrefix = "refs/heads/"

// branchWatch makes events of branches that move: those of tasks, and the base branches of their projects. It asks git only when
// something among the refs is another. What moved while the app did not run is not told.
type branchWatch struct {
	mu    sync.Mutex                 // guards the following
	cages map[string]map[string]bool // caged tasks of which a program ran since the last look, by project
	seen  map[string]*seenBranches   // by project; used by the watching goroutine alone
}

type seenBranches struct {
	mark string
	at   map[string]string // commits by full name
}

func newBranchWatch() *branchWatch {
	return &branchWatch{cages: map[string]map[string]bool{}, seen: map[string]*seenBranches{}}
}

// cageRan notes that a program in a cage was started, which from then on may move any branch of its project.
func (w *branchWatch) cageRan(t store.Task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cages[t.ProjectID] == nil {
		w.cages[t.ProjectID] = map[string]bool{}
	}
	w.cages[t.ProjectID][t.ID] = true
}

// suspects are the caged tasks that may have moved a branch of a project since the last look. Those that still run may move the next.
func (c *Core) suspects(projectID string) []string {
	w := c.branches
	live := map[string]bool{}
	for _, l := range c.liveInWalls("") {
		if l.task.ProjectID == projectID && l.task.Sandbox != uncaged {
			live[l.task.ID] = true
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	all := maps.Clone(live)
	maps.Copy(all, w.cages[projectID])
	w.cages[projectID] = live
	return slices.Sorted(maps.Keys(all))
}

// watchBranches looks at the branches of projects with tasks. It ends with Core.
func (c *Core) watchBranches() {
	tick := time.NewTicker(branchEvery)
	defer tick.Stop()
	for {
		if err := c.lookAtBranches(c.ctx); err != nil && c.ctx.Err() == nil {
			c.log.Warn("branches could not be looked at", "err", err)
		}
		select {
		case <-tick.C:
		case <-c.ctx.Done():
			return
		}
	}
}

func (c *Core) lookAtBranches(ctx context.Context) error {
	tasks, err := c.store.Tasks(ctx, store.TaskFilter{})
	if err != nil {
		return err
	}
	projects, err := c.store.Projects(ctx)
	if err != nil {
		return err
	}
	of := map[string][]store.Task{}
	for _, t := range tasks {
		of[t.ProjectID] = append(of[t.ProjectID], t)
	}
	for _, p := range projects {
		if p.NonGit || len(of[p.ID]) == 0 {
			delete(c.branches.seen, p.ID)
			continue
		}
		if err := c.lookAtBranchesOf(ctx, p, of[p.ID]); err != nil && ctx.Err() == nil {
			c.log.Debug("the branches of a project could not be looked at", "project", p.ID, "err", err)
		}
	}
	return nil
}

// lookAtBranchesOf tells of the branches of one project that moved. The suspects are asked for after the refs were read, so that
// whoever moved one of them is among them.
func (c *Core) lookAtBranchesOf(ctx context.Context, p store.Project, tasks []store.Task) error {
	repo, err := c.repoOf(ctx, p)
	if err != nil {
		return err
	}
	mark, err := repo.RefsMark()
	if err != nil {
		return err
	}
	was := c.branches.seen[p.ID]
	if was != nil && mark != "" && was.mark == mark {
		return nil
	}
	refs, err := repo.Refs(ctx)
	if err != nil {
		return err
	}
	suspects := c.suspects(p.ID)
	now := &seenBranches{mark: mark, at: map[string]string{}}
	for name, ref := range refs.At {
		if strings.HasPrefix(name, branchPrefix) {
			now.at[name] = ref.ID
		}
	}
	c.branches.seen[p.ID] = now
	if was == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(now.at)) {
		c.tellMoved(ctx, p, tasks, strings.TrimPrefix(name, branchPrefix), was.at[name], now.at[name], suspects)
	}
	for _, name := range slices.Sorted(maps.Keys(was.at)) {
		if now.at[name] == "" {
			c.tellMoved(ctx, p, tasks, strings.TrimPrefix(name, branchPrefix), was.at[name], "", suspects)
		}
	}
	return nil
}

// tellMoved makes the event of one branch, if it is a task's or the base.
func (c *Core) tellMoved(ctx context.Context, p store.Project, tasks []store.Task, branch, was, now string, suspects []string) {
	i := slices.IndexFunc(tasks, func(t store.Task) bool { return t.Branch == branch })
	base := branch == p.BaseBranch
	if was == now || i < 0 && !base || i >= 0 && was == "" { // a task that begins is no move
		return
	}
	e := store.Event{Kind: store.EventBranchMoved, Subject: branch, Project: p.ID, Cages: suspects,
		Facts: map[string]any{"branch": branch, "old": was, "new": now, "base": base, "gone": now == ""}}
	if i >= 0 {
		e.Task = tasks[i].ID
		for _, l := range c.liveTabs(e.Task) {
			if l.det == nil {
				continue
			}
			depth, err := c.depthOf(ctx, l)
			if err != nil {
				depth = MaxChain
			}
			e.Depth = max(e.Depth, depth)
		}
	}
	c.happened(ctx, e)
}
