package core

import (
	"context"
	"errors"
	"slices"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
	"termic/internal/worktree"
)

// diffAtOnce is how many tasks are compared with their bases at the same time by one list: each runs a few gits, and
// more than a handful only makes them wait for the disk.
const diffAtOnce = 4

// statTime bounds the counting of one task's changes: whatever lies in the tree of one, the list of all is there soon.
const statTime = 10 * time.Second

// listTime bounds the counting of all tasks of a list together: where one takes too long all may, as when their server is away.
const listTime = 3 * statTime

// stat counts the changes of a task, or says why it cannot: never zeros for an error.
func (c *Core) stat(ctx context.Context, t store.Task) (*api.DiffStat, string) {
	counting, cancel := context.WithTimeout(ctx, statTime)
	defer cancel()
	d, err := c.diff(counting, t, worktree.DiffOptions{StatOnly: true})
	switch {
	case err != nil && !errors.Is(ctx.Err(), context.Canceled) && counting.Err() != nil:
		return nil, "Its changes take too long to count"
	case fault.CodeOf(err) == fault.Unsupported:
		return nil, "" // a plain folder: there is nothing to compare
	case err != nil:
		return nil, fault.From(err).Message
	}
	return &d.Stat, ""
}

// summary is one task as task_list shows it to a caller, without its changes.
func (c *Core) summary(ctx context.Context, caller grant.Caller, id string) (api.TaskSummary, error) {
	t, err := c.store.Task(ctx, id)
	if err != nil {
		return api.TaskSummary{}, err
	}
	project, err := c.store.Project(ctx, t.ProjectID)
	if err != nil {
		return api.TaskSummary{}, err
	}
	tabs, err := c.tabsFor(ctx, caller, id)
	if err != nil {
		return api.TaskSummary{}, err
	}
	v := c.viewTask(t, project.Name, tabs, false)
	return v, c.onlyReachableParent(ctx, caller, &v)
}

// viewTask shows a stored task with what is known of its terminals.
func (c *Core) viewTask(t store.Task, project string, tabs []store.Tab, quiet bool) api.TaskSummary {
	v := api.TaskSummary{ID: t.ID, Name: t.Name, Project: project, Agent: t.Agent, Branch: t.Branch, BaseBranch: t.BaseRef,
		Path: t.Path, IsMainCheckout: t.IsMain, Created: stamp(t.Created), State: t.State, Error: t.Error, ParentID: t.ParentID, Race: t.Race,
		Sandbox: t.Sandbox, Archived: stamp(t.ArchivedAt)}
	if c.missing(t) {
		v.State = api.TaskMissing
	}
	if quiet || t.Archived() {
		return v
	}
	open := len(tabs)
	v.OpenTabs = &open
	v.WorkState, v.Detail, v.Queued = c.aggregate(tabs)
	return v
}

// aggregate tells what a task is doing from what its tabs are doing: the strongest wins.
func (c *Core) aggregate(tabs []store.Tab) (state, detail string, queued int) {
	strength := map[string]int{api.WorkInactive: 0, "": 1, api.WorkIdle: 2, api.WorkDone: 3, api.WorkNeedsInput: 4, api.WorkWorking: 5}
	state = api.WorkInactive
	for _, tab := range tabs {
		queued += c.queued(tab.ID)
		l := c.liveOf(tab.ID)
		if l == nil || l.det == nil {
			continue
		}
		if s, d := l.workState(); strength[s] > strength[state] || state == api.WorkInactive {
			state, detail = s, d
		}
	}
	return state, detail, queued
}

// queued counts the prompts that wait for a tab.
func (c *Core) queued(tabID string) int {
	prompts, err := c.store.Prompts(c.ctx, tabID)
	if err != nil && c.ctx.Err() == nil {
		c.log.Error("queue could not be read", "tab", tabID, "err", err)
	}
	return len(prompts)
}

// TaskStatus is the verb task_status.
func (c *Core) TaskStatus(ctx context.Context, call *Call, _ api.TaskStatusParams) (api.TaskStatusResult, error) {
	t, err := c.store.Task(ctx, call.Task)
	if err != nil {
		return api.TaskStatusResult{}, err
	}
	project, err := c.store.Project(ctx, t.ProjectID)
	if err != nil {
		return api.TaskStatusResult{}, err
	}
	names, err := c.projectNames(ctx)
	if err != nil {
		return api.TaskStatusResult{}, err
	}
	d, err := c.detail(ctx, t, names)
	if err != nil {
		return api.TaskStatusResult{}, err
	}
	if err := c.narrowed(ctx, call.Caller, &d); err != nil {
		return api.TaskStatusResult{}, err
	}
	if d.State == api.TaskLive && !project.NonGit {
		counting, cancel := context.WithTimeout(ctx, statTime) // both together: where one is held up the other is as well
		defer cancel()
		d.Diff, d.DiffError = c.stat(counting, t)
		if repo, err := c.repoOf(counting, project); err == nil {
			if status, err := c.readerFor(repo, t).Status(counting, t.Path); err == nil {
				dirty := status.Dirty()
				d.DirtyFiles = &dirty
			}
		}
	}
	return api.TaskStatusResult{Task: d}, nil
}

// detail is a task with its tabs, without anything that runs git.
func (c *Core) detail(ctx context.Context, t store.Task, names map[string]string) (api.TaskDetail, error) {
	tabs, err := c.store.Tabs(ctx, t.ID)
	if err != nil {
		return api.TaskDetail{}, err
	}
	d := api.TaskDetail{TaskSummary: c.viewTask(t, names[t.ProjectID], tabs, false), Port: t.Port, Log: t.Log, Warnings: t.Warnings, Yolo: t.Yolo, Secrets: t.Secrets,
		Cage: taskCage(t, names), Denials: c.cages.Denials(t.ID),
		Tabs: make([]api.TabStatus, len(tabs))}
	if t.State == api.TaskCreating {
		d.Log = c.making.of(t.ID)
	}
	d.Refs, _ = c.refs.changesOf(t.ProjectID, t.ID)
	for i, tab := range tabs {
		d.Tabs[i] = c.viewTab(tab, i+1)
	}
	return d, nil
}

func (c *Core) viewTab(tab store.Tab, index int) api.TabStatus {
	v := api.TabStatus{ID: tab.ID, Index: index, Kind: tab.Kind, Agent: tab.Agent, Title: orElse(tab.Name, tab.Title), IsDefault: tab.IsDefault,
		Queued: c.queued(tab.ID), SessionID: sessionOf(tab), Named: tab.Name != "", Pinned: tab.Pinned}
	if l := c.liveOf(tab.ID); l != nil {
		v.Live, v.MCP, v.Cage = true, c.connection(l), c.inForce(c.ctx, l)
		v.State, v.Detail = l.workState()
		if title := l.term.Screen().Title; title != "" && tab.Name == "" {
			v.Title = title
		}
	} else if tab.Exited {
		v.Exit = &api.Exit{Code: tab.ExitCode, Signal: tab.ExitSignal}
	}
	return v
}

// stamp writes a time as every result does; a zero time is an empty string.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// WindowState is the verb window_state.
func (c *Core) WindowState(ctx context.Context, _ *Call, p api.WindowStateParams) (api.WindowState, error) {
	rev, _ := c.beacon.watch() // before reading, so that a change in between makes the window ask again
	projects, err := c.projects(ctx)
	if err != nil {
		return api.WindowState{}, err
	}
	names := map[string]string{}
	for _, p := range projects {
		names[p.ID] = p.Name
	}
	s := api.WindowState{Rev: rev, Version: c.version, Updates: c.updateResult(), Projects: projects,
		Agents: c.shownAgents(ctx), Notices: append(c.allNotices(), c.refs.notices(names)...), TasksDir: c.settings.Get().Tasks.Dir, Home: c.home,
		Cages: c.cageOffers(), StaleClients: c.staleClients(), Down: c.checksDown()}
	if !p.Peek {
		s.Focus, s.Link = c.takeFocus(), c.takeLink()
	}
	if c.endpoint != nil {
		status := c.endpoint.Status()
		s.MCP = &status
	}
	if s.Approvals, err = c.store.PendingApprovals(ctx); err != nil {
		return s, err
	}
	if s.Tasks, err = c.details(ctx, names); err != nil {
		return s, err
	}
	slices.Reverse(s.Tasks) // the sidebar shows the newest first, until somebody moves one
	if s.Look, s.Closed, err = c.shownLook(ctx); err != nil {
		return s, err
	}
	s.Layouts, err = c.layouts(ctx, s.Tasks)
	return s, err
}

// TaskDetails returns the tasks that are not archived, as window_state has them. It runs no git and changes nothing.
func (c *Core) TaskDetails(ctx context.Context) ([]api.TaskDetail, error) {
	names, err := c.projectNames(ctx)
	if err != nil {
		return nil, err
	}
	return c.details(ctx, names)
}

func (c *Core) details(ctx context.Context, names map[string]string) ([]api.TaskDetail, error) {
	tasks, err := c.store.Tasks(ctx, store.TaskFilter{})
	if err != nil {
		return nil, err
	}
	out := make([]api.TaskDetail, len(tasks))
	for i, t := range tasks {
		if out[i], err = c.detail(ctx, t, names); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// allNotices are the sentences that a person should see now.
func (c *Core) allNotices() []string {
	c.mu.Lock()
	out := append(append([]string{}, c.notices...), c.agentNotices...)
	c.mu.Unlock()
	if p := c.settings.Problem(); p != "" {
		out = append(out, p)
	}
	return append(out, c.endpointNotices()...)
}
