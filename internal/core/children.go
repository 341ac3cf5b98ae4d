package core

import (
	"context"
	"slices"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/ids"
	"termic/internal/store"
)

// Limits of what an agent may create: live children of one task, and generations.
const (
	MaxChildren = 8
	MaxDepth    = 3
)

// planChild makes a task that a caged agent asks for as tight as the agent itself: its mode, its lists, a control plane of
// the same projects and agents, in a worktree of its own. Nothing of it can be chosen by the caller.
func (c *Core) planChild(ctx context.Context, call *Call, n *newTask) error {
	mine, err := c.capabilityOfCaller(call.Caller)
	if err != nil {
		return err
	}
	me, err := c.store.Task(ctx, call.Caller.Task)
	if err != nil {
		return err
	}
	if n.mode != "worktree" {
		return fault.New(fault.Unsupported, "The project %q is a plain folder, and a caged agent may not create tasks in the folder itself", n.project.Name)
	}
	if err := childName(n.task.Name); err != nil {
		return err
	}
	if err := c.mayStart(ctx, call.Caller, n.kind.ID); err != nil {
		return err
	}
	if err := c.asProvisioned(ctx, call.Caller); err != nil {
		return err
	}
	t := &n.task
	if t.SandboxRead, t.SandboxWrite, t.SandboxHosts, err = c.frozenLists(ctx, me); err != nil {
		return err
	}
	if t.MCPAgents, err = c.agentsOfCaller(ctx, call.Caller); err != nil {
		return err
	}
	t.Sandbox, t.MCP, t.MCPProjects, t.Yolo, t.FromCage = string(mine.Mode()), true, slices.Clone(call.Caller.Projects), false, true
	n.limit = &mine
	return nil
}

// childName refuses a name by which the user would mean another task: an id, or a project with a task in it. Whether there
// is such a project is not to be told.
func childName(name string) error {
	switch {
	case ids.Valid(strings.ToUpper(name)):
		return fault.New(fault.InvalidArgument, "The name %q looks like the id of a task", name)
	case strings.Contains(name, "/"):
		return fault.New(fault.InvalidArgument, "The name %q looks like a task in a project that you may not act on", name).WithHint("Use a name without a slash.")
	}
	return nil
}

// asProvisioned refuses a caller whose cage was changed since its agent was started: the lists that a child would be made
// with are the stored ones, and are not those that the caller has.
func (c *Core) asProvisioned(ctx context.Context, caller grant.Caller) error {
	l := c.terminalOf(caller)
	if l == nil || !l.walls.made {
		return nil
	}
	task, err := c.store.Task(ctx, l.task.ID)
	if err != nil {
		return err
	}
	if task, _, err = c.tightened(ctx, task); err != nil {
		return err
	}
	digest, err := c.wishDigest(ctx, task, l.kind.ID)
	if err != nil || digest == l.walls.digest {
		return err
	}
	return fault.New(fault.Conflict, "What your cage allows was changed since you were started, so a child would not have the same").
		WithHint("Ask the user to start you again.")
}

// planParent writes down who created the task, and refuses one too deep.
func (c *Core) planParent(ctx context.Context, call *Call, n *newTask) error {
	if call.Caller.Task == "" {
		return nil
	}
	parent, err := c.store.Task(ctx, call.Caller.Task)
	if err != nil {
		return err
	}
	n.task.ParentID, n.task.Depth = parent.ID, parent.Depth+1
	if n.task.Depth > MaxDepth {
		return fault.New(fault.Conflict, "Tasks may create tasks %d levels deep, and this one would be deeper", MaxDepth).
			WithHint("Let the task that created this one create it.")
	}
	return nil
}

// roomFor refuses one more live child of a task. A child is live while one of its agents runs, is about to, or while the
// child is being created; it is counted from the store, so that a restart of the app changes nothing. A child that is
// live already takes no more room.
func (c *Core) roomFor(ctx context.Context, parentID, childID string) error {
	if parentID == "" {
		return nil
	}
	children, err := c.store.Tasks(ctx, store.TaskFilter{ParentID: parentID})
	if err != nil {
		return err
	}
	running, err := c.runningAgents(ctx)
	if err != nil {
		return err
	}
	live := 0
	for _, t := range children {
		if !running[t.ID] && t.State != api.TaskCreating {
			continue
		}
		if t.ID == childID {
			return nil
		}
		live++
	}
	if live < MaxChildren {
		return nil
	}
	return fault.New(fault.Conflict, "Your task has %d running children already, the most that it may have", MaxChildren).
		WithHint("Close the agent of one with task_tab_close and allowDefault.")
}

// MaxTabs is how many tabs a task may have for an agent to open one more in it. Each has a cage of its own, with limits of its
// own, so without it they would bound nothing.
const MaxTabs = 8

// roomForTab refuses one more tab in a task, and keeps others from being opened there until release is called.
func (c *Core) roomForTab(ctx context.Context, t store.Task) (release func(), err error) {
	if release, err = c.hold(ctx, "tabs:"+t.ID); err != nil {
		return nil, err
	}
	tabs, err := c.store.Tabs(ctx, t.ID)
	if err == nil && len(tabs) >= MaxTabs {
		err = fault.New(fault.Conflict, "The task %q has %d tabs already, the most with which an agent may open another", t.Name, len(tabs)).
			WithHint("Close one with task_tab_close.")
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// runningAgents are the ids of the tasks with an agent that runs or is about to.
func (c *Core) runningAgents(ctx context.Context) (map[string]bool, error) {
	tabs, err := c.store.AllTabs(ctx)
	if err != nil {
		return nil, err
	}
	terminals, err := c.store.Terminals(ctx)
	if err != nil {
		return nil, err
	}
	hasTerminal := map[string]bool{}
	for _, t := range terminals {
		hasTerminal[t.TabID] = true
	}
	running := map[string]bool{}
	for _, t := range agentTabs(tabs) {
		if hasTerminal[t.ID] || c.isStarting(t.ID) {
			running[t.TaskID] = true
		}
	}
	return running, nil
}

// takeRoom keeps other children of the same parent from being started until release is called, and refuses the start of
// a child for which there is no room. Starts by those who are not the child's parent are not counted.
func (c *Core) takeRoom(ctx context.Context, caller grant.Caller, t store.Task) (release func(), err error) {
	if caller.Task == "" || t.ParentID != caller.Task {
		return func() {}, nil
	}
	if release, err = c.hold(ctx, "children:"+caller.Task); err != nil {
		return nil, err
	}
	if err := c.roomFor(ctx, caller.Task, t.ID); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// listed is a sentence with a list, or with the word for none.
func listed(what string, list []string) string {
	if len(list) == 0 {
		return what + " none."
	}
	return what + ": " + strings.Join(list, ", ") + "."
}

// ownProject is the project of the caged agent that asks, if it may act on it.
func (c *Core) ownProject(ctx context.Context, caller grant.Caller, allowed []store.Project) (store.Project, error) {
	me, err := c.store.Task(ctx, caller.Task)
	if err != nil {
		return store.Project{}, err
	}
	names := make([]string, len(allowed))
	for i, p := range allowed {
		if names[i] = p.Name; p.ID == me.ProjectID {
			return p, nil
		}
	}
	return store.Project{}, fault.New(fault.InvalidArgument, "Which project is the task for?").WithHint("%s", listed("You may name", names))
}
