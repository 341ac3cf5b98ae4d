package core

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"termic/internal/store"
	"termic/internal/worktree"
	"termic/sandbox"
)

// branchEvery is how often the branches of projects are looked at. A commit is nothing that somebody waits for in milliseconds.
const branchEvery = 5 * time.Second

const branchPrefix = "refs/heads/"

// branchWatch makes events of branches that move: those of tasks, and the base branches of their projects. It asks git only when
// something among the refs is another. What moved while the app did not run is not told. The watching goroutine alone uses it.
type branchWatch struct {
	seen   map[string]*seenBranches // by project
	common map[string]string        // where the refs of a project are, by project
}

type seenBranches struct {
	began time.Time // of the look
	mark  string
	at    map[string]string // commits by full name
}

func newBranchWatch() *branchWatch {
	return &branchWatch{seen: map[string]*seenBranches{}, common: map[string]string{}}
}

// suspects are the caged tasks that may have moved a branch of a project since a time: those of every project that has the same refs, as
// a worktree that is a project of its own has, and those that were granted to change what is there. Those that have ended since are asked for last, since who ends meanwhile is among them.
func (c *Core) suspects(projectID string, since time.Time) []string {
	all := map[string]bool{}
	common := c.branches.common[projectID]
	may := func(project string, could sandbox.Capability) bool {
		return project == projectID || common != "" && (c.branches.common[project] == common || could.Writes(common))
	}
	for _, l := range c.liveInWalls("") {
		if l.task.Sandbox != uncaged && may(l.task.ProjectID, capabilityOf(l)) {
			all[l.task.ID] = true
		}
	}
	for _, id := range c.walled.ranIn(may, since) {
		all[id] = true
	}
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
	repos := map[string]*worktree.Repo{} // of all of them before the first is looked at: it may have the refs of the last
	for _, p := range projects {
		if p.NonGit || len(of[p.ID]) == 0 {
			delete(c.branches.seen, p.ID)
			continue
		}
		repo, err := c.repoOf(ctx, p)
		if err != nil {
			c.log.Debug("the branches of a project could not be looked at", "project", p.ID, "err", err)
			continue
		}
		repos[p.ID], c.branches.common[p.ID] = repo, repo.CommonDir()
	}
	for _, p := range projects {
		if repos[p.ID] == nil {
			continue
		}
		if err := c.lookAtBranchesOf(ctx, p, repos[p.ID], of[p.ID]); err != nil && ctx.Err() == nil {
			c.log.Debug("the branches of a project could not be looked at", "project", p.ID, "err", err)
		}
	}
	return nil
}

// lookAtBranchesOf tells of the branches of one project that moved. The suspects are asked for after the refs were read, so that
// whoever moved one of them is among them.
func (c *Core) lookAtBranchesOf(ctx context.Context, p store.Project, repo *worktree.Repo, tasks []store.Task) error {
	began := c.clock.wall()
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
	now := &seenBranches{began: began, mark: mark, at: map[string]string{}}
	for name, ref := range refs.At {
		if strings.HasPrefix(name, branchPrefix) {
			now.at[name] = ref.ID
		}
	}
	c.branches.seen[p.ID] = now
	if was == nil {
		return nil
	}
	suspects := c.suspects(p.ID, was.began)
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
		e.Task, e.Depth = tasks[i].ID, c.depthOfTask(ctx, tasks[i].ID)
	}
	c.happened(ctx, e)
}

// depthOfTask is how many firings led to what the agents of a task do now. Where none runs any more, it is what they were given to do
// lately: one can end itself before anybody looks.
func (c *Core) depthOfTask(ctx context.Context, task string) (depth int) {
	runs := false
	for _, l := range c.liveTabs(task) {
		if l.det == nil {
			continue
		}
		runs = true
		one, err := c.depthOf(ctx, l)
		if err != nil {
			one = MaxChain
		}
		depth = max(depth, one)
	}
	if runs {
		return depth
	}
	depth, err := c.store.DepthAround(ctx, task, c.clock.wall().Add(-driven))
	if err != nil {
		return MaxChain
	}
	return depth
}
