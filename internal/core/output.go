package core

import (
	"context"
	"maps"
	"strings"
	"time"

	"termic/internal/agent"
	"termic/internal/agenthome"
	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
	"termic/internal/worktree"
)

// Limits of what one answer carries, so that it fits a line of the control protocol after JSON escaping.
const (
	maxLogData = 256 << 10 // bytes of terminal output: the whole ring
	plainData  = 32 << 10  // bytes of it as plain text, unless more are asked for: enough to read what an agent answered
	maxPatch   = 600 << 10 // bytes of a patch
	maxEscaped = 850 << 10 // bytes that a text may take once it is escaped
)

// TaskLog is the verb task_log.
func (c *Core) TaskLog(ctx context.Context, call *Call, p api.TaskLogParams) (api.TaskLogResult, error) {
	tab, err := c.pickTab(ctx, call.Caller, call.Task, p.Tab, p.Shell)
	if err != nil {
		return api.TaskLogResult{}, err
	}
	term, ok := c.host.Get(tab.ID)
	if !ok {
		return api.TaskLogResult{}, fault.New(fault.Conflict, "The tab %q has no terminal: nothing ran in it since Termic was started", tab.Title)
	}
	result := api.TaskLogResult{TaskID: call.Task, TabID: tab.ID, Source: tab.Kind}
	want := int(min(p.LastBytes, maxLogData))
	if want == 0 && p.Plain {
		want = plainData
	}
	if want == 0 {
		want = maxLogData
	}
	data, from, total := term.Log(want)
	result.Total, result.Truncated = total, from > 0
	if p.Plain {
		text, cut := term.Text(want)
		result.Data = tailEscaped(text, maxEscaped)
		result.Truncated = cut || len(result.Data) < len(text)
		return result, nil
	}
	text := strings.ToValidUTF8(string(data), "\uFFFD")
	result.Data = tailEscaped(text, maxEscaped)
	result.Truncated = result.Truncated || len(result.Data) < len(text)
	return result, nil
}

// pickTab finds the tab that a verb is about: the one asked for, the task's shell, or its default agent.
func (c *Core) pickTab(ctx context.Context, caller grant.Caller, taskID, asked string, shell bool) (store.Tab, error) {
	tabs, err := c.tabsFor(ctx, caller, taskID)
	if err != nil {
		return store.Tab{}, err
	}
	if asked != "" && shell {
		return store.Tab{}, fault.New(fault.InvalidArgument, "Either a tab or the shell, not both")
	}
	if asked != "" {
		return resolveTab(tabs, asked)
	}
	for _, t := range tabs {
		if shell && t.Kind == store.TabShell || !shell && t.IsDefault {
			return t, nil
		}
	}
	if shell {
		return store.Tab{}, fault.New(fault.NotFound, "The task has no shell").WithHint("Open one: `termic tab TASK --kind shell`.")
	}
	if len(tabs) == 1 {
		return tabs[0], nil
	}
	return store.Tab{}, fault.New(fault.NotFound, "The task has no agent tab").WithHint("Open one: `termic tab TASK`, or name a tab with --tab.")
}

// TaskResult is the verb task_result.
func (c *Core) TaskResult(ctx context.Context, call *Call, _ api.TaskResultParams) (api.TaskResultResult, error) {
	task, err := c.store.Task(ctx, call.Task)
	if err != nil {
		return api.TaskResultResult{}, err
	}
	tab, err := c.pickTab(ctx, call.Caller, call.Task, "", false)
	if err != nil {
		return api.TaskResultResult{}, err
	}
	kind, err := c.agents.Load().Resolve(tab.Agent)
	if err != nil {
		return api.TaskResultResult{}, err
	}
	q := agent.ResultQuery{Kind: kind, Home: c.home, Env: maps.Clone(c.environment(ctx).Env), Dir: task.Path, SessionID: sessionOf(tab), SharedDir: task.IsMain}
	maps.Copy(q.Env, kind.Env) // which may move the agent's files
	if c.homed(task, tab) {
		q.Home, q.Confined = c.homeOf(task.ID), true
		q.Env = agenthome.Transcripts(q.Home)
	}
	found, err := c.newestResult(ctx, tab.ID, q)
	if err != nil {
		return api.TaskResultResult{}, err
	}
	text := tailEscaped(found.Text, maxEscaped)
	return api.TaskResultResult{TaskID: task.ID, Agent: kind.ID, Transcript: found.Path, Text: text,
		Truncated: found.Truncated || len(text) < len(found.Text)}, nil
}

// Agents tell that they are done before they have written their answer down: claude was seen to be late on a busy
// machine. So a result that is older than its prompt is looked at again for a while after the agent settled.
const (
	resultWait  = 5 * time.Second
	resultEvery = 50 * time.Millisecond
)

// newestResult reads the last answer, and waits for the one that an agent which has just settled is about to write.
func (c *Core) newestResult(ctx context.Context, tabID string, q agent.ResultQuery) (agent.Found, error) {
	for {
		l := c.liveOf(tabID) // before the file: what it says of the agent is older than the answer then
		var s agent.State
		var entered time.Time
		if l != nil && l.det != nil {
			s = l.det.State()
			l.mu.Lock()
			entered = l.entered.Truncate(time.Millisecond) // the precision of transcripts
			l.mu.Unlock()
		}
		found, err := agent.Result(q)
		late := fault.CodeOf(err) == fault.NotFound || found.Open || !found.At.IsZero() && found.At.Before(entered)
		settling := (s.Work == agent.Done || s.Work == agent.Idle) && s.Submits > 0 && time.Since(s.Since) < resultWait
		if !late || !settling {
			return found, err
		}
		select {
		case <-time.After(resultEvery):
		case <-ctx.Done():
			return found, err
		case <-c.ctx.Done():
			return found, err
		}
	}
}

// sessionOf is the conversation that a tab is known to have had; a chosen but unused id names none.
func sessionOf(t store.Tab) string {
	if !t.SessionUsed {
		return ""
	}
	return t.SessionID
}

// TaskDiff is the verb task_diff.
func (c *Core) TaskDiff(ctx context.Context, call *Call, p api.TaskDiffParams) (api.TaskDiffResult, error) {
	task, err := c.store.Task(ctx, call.Task)
	if err != nil {
		return api.TaskDiffResult{}, err
	}
	d, err := c.diff(ctx, task, worktree.DiffOptions{Patch: p.Full, MaxBytes: maxPatch})
	if err != nil {
		return api.TaskDiffResult{}, err
	}
	result := api.TaskDiffResult{TaskID: task.ID, Base: task.BaseRef, DiffStat: d.Stat, Files: d.Files, Commits: d.Commits, InProgress: d.InProgress, Back: d.Back}
	if result.Files == nil {
		result.Files = []api.FileChange{}
	}
	if result.Commits == nil {
		result.Commits = []api.Commit{}
	}
	if p.Full {
		patch := strings.ToValidUTF8(string(d.Patch), "\uFFFD")
		result.Diff = headEscaped(patch, maxEscaped-fileBudget(result.Files))
		result.Truncated, result.DiffBytes = d.Truncated || len(result.Diff) < len(patch), d.TotalBytes
	}
	return result, nil
}

// fileBudget estimates the bytes that the file list takes in the same answer.
func fileBudget(files []api.FileChange) int {
	n := 0
	for _, f := range files {
		n += 200 + 2*len(f.Path) + 2*len(f.OldPath)
	}
	return min(n, maxEscaped-(64<<10))
}

func (c *Core) diff(ctx context.Context, task store.Task, o worktree.DiffOptions) (worktree.Diff, error) {
	project, err := c.store.Project(ctx, task.ProjectID)
	if err != nil {
		return worktree.Diff{}, err
	}
	if err := c.usableTree(task); err != nil {
		return worktree.Diff{}, err
	}
	repo, err := c.repoOf(ctx, project)
	if err != nil {
		return worktree.Diff{}, err
	}
	d, err := c.readerFor(repo, task).Diff(ctx, task.Path, baseOf(task), o)
	if err == nil {
		return d, nil
	}
	if why := c.usableTree(task); why != nil { // it went meanwhile
		return d, why
	}
	return d, err
}

// baseOf is the commit-ish that a task's changes are counted from. The branch it was started from may be gone or have
// moved; then the commit itself still tells.
func baseOf(t store.Task) string {
	if t.BaseCommit != "" && t.IsMain {
		return t.BaseCommit
	}
	return orElse(t.BaseRef, t.BaseCommit)
}

// usableTree refuses tasks that have no folder to look at, and says what to do.
func (c *Core) usableTree(t store.Task) error {
	switch {
	case t.State == api.TaskCreating:
		return fault.New(fault.Conflict, "The task %q is still being created", t.Name).WithHint("`termic wait` waits for it.")
	case t.State == api.TaskFailed:
		return fault.New(fault.Conflict, "The task %q could not be created: %s", t.Name, t.Error).WithHint("Archive it and create it again.")
	case t.Archived(): // it was not when the call began
		return fault.New(fault.Conflict, "The task %q is archived", t.Name).WithHint("`termic restore` brings it back.")
	case c.missing(t):
		return fault.New(fault.NotFound, "The folder of the task %q is gone: %s", t.Name, t.Path).
			WithHint("Archive the task, and restore it to get its branch back.")
	}
	return c.answers("task", t.Name, t.Path)
}
