package core

import (
	"context"
	"errors"
	"slices"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
	"termic/sandbox"
)

// This file holds what a caller of the scoped class, the agent of a caged task, may do. Two sets bound it. It may read its own
// task and those that it created itself, in the projects of its list. It may also address, with a prompt and nothing else,
// any task of these projects whose exact id it knows, if nothing that runs there could do more than the caller itself.
// What is in neither set answers exactly as what does not exist.

// confined reports whether the rules of this file hold for a caller. Everybody else may do what the class of a verb says; a
// named token within its projects.
func confined(caller grant.Caller) bool {
	return !caller.Class.Covers(grant.Full) && !caller.Class.Named()
}

// bounded reports whether there is anything that is hidden from a caller.
func bounded(caller grant.Caller) bool {
	return confined(caller) || caller.Class.Named() && !caller.Everywhere
}

// mayRead reports whether a caller may read a task, and act on it as its verbs say. A task that was created by it when it was
// in no cage is none of its tasks any more.
func mayRead(caller grant.Caller, t store.Task) bool {
	switch {
	case caller.Class.Named():
		return caller.Everywhere || slices.Contains(caller.Projects, t.ProjectID)
	case !confined(caller):
		return true
	case caller.Task == "":
		return false
	}
	return t.ID == caller.Task || t.ParentID == caller.Task && t.FromCage && slices.Contains(caller.Projects, t.ProjectID)
}

// reads refuses a task that a caller created and in which an agent can do more than the caller itself: what the owner gave to
// the task since is not handed on to whoever reads it or ends it.
func (c *Core) reads(ctx context.Context, caller grant.Caller, t store.Task) error {
	if !confined(caller) || t.ID == caller.Task || t.State == api.TaskCreating || t.State == api.TaskFailed {
		return nil // there is no tree yet to compose a cage for, and its start is limited
	}
	mine, err := c.capabilityOfCaller(caller)
	if err != nil {
		return err
	}
	return c.taskWithin(ctx, mine, t)
}

// stillReads asks again at the end of something long: the task may have got a wider cage meanwhile.
func (c *Core) stillReads(ctx context.Context, caller grant.Caller, taskID string) error {
	if !confined(caller) || taskID == caller.Task {
		return nil
	}
	t, err := c.store.Task(ctx, taskID)
	if err != nil || t.Archived() {
		return err
	}
	return c.reads(ctx, caller, t)
}

// taskWithin refuses a task of which an agent can do more than mine, now or when it is started again.
func (c *Core) taskWithin(ctx context.Context, mine sandbox.Capability, t store.Task) error {
	for _, l := range c.liveInWalls(t.ID) {
		live, _ := c.cages.Live(l.tab.ID)
		if err := widerThanCaller(sandbox.Within(live, mine)); err != nil {
			return err
		}
	}
	return c.wouldBeWithin(ctx, mine, t, t.Agent)
}

// addressed finds the task that a caller may send to without reading it. ok is false for everything else, whatever the
// reason is.
func (c *Core) addressed(ctx context.Context, caller grant.Caller, id string) (t store.Task, ok bool, err error) {
	t, err = c.store.Task(ctx, id)
	if fault.CodeOf(err) == fault.NotFound {
		return store.Task{}, false, nil
	}
	if err != nil || !slices.Contains(caller.Projects, t.ProjectID) || t.Archived() || t.State != api.TaskLive && t.State != api.TaskCreating {
		return store.Task{}, false, err
	}
	tab, ok, err := c.receiver(ctx, t)
	if err != nil || !ok {
		return store.Task{}, false, err
	}
	if err := c.within(ctx, caller, t, tab); err != nil {
		// Also where the comparison failed: that there was something to compare with is not to be told.
		c.log.Debug("a task is not addressed", "task", t.ID, "caller", caller.Task, "err", err)
		return store.Task{}, false, ctx.Err()
	}
	return t, true, nil
}

// receiver is the tab that takes a prompt for a task as a whole: its first agent, or its only one.
func (c *Core) receiver(ctx context.Context, t store.Task) (store.Tab, bool, error) {
	tabs, err := c.store.Tabs(ctx, t.ID)
	if err != nil {
		return store.Tab{}, false, err
	}
	tabs = agentTabs(tabs)
	for _, tab := range tabs {
		if tab.IsDefault || len(tabs) == 1 {
			return tab, true, nil
		}
	}
	return store.Tab{}, false, nil
}

func agentTabs(tabs []store.Tab) []store.Tab {
	return slices.DeleteFunc(slices.Clone(tabs), func(t store.Tab) bool { return t.Kind != store.TabAgent })
}

// tabsFor are the tabs of a task that a caller may name. A caged agent and a client with a named token see agents alone: what
// the user runs beside them is in no cage and may show anything, so its output and its end are not theirs.
func (c *Core) tabsFor(ctx context.Context, caller grant.Caller, taskID string) ([]store.Tab, error) {
	tabs, err := c.store.Tabs(ctx, taskID)
	if err == nil && !caller.Class.Covers(grant.Full) {
		tabs = agentTabs(tabs)
	}
	return tabs, err
}

// capabilityOfCaller is the most that a confined caller may do: what the terminal that it speaks from was provisioned with.
func (c *Core) capabilityOfCaller(caller grant.Caller) (sandbox.Capability, error) {
	mine, ok := c.cages.Live(caller.Terminal)
	if caller.Terminal == "" || !ok || !mine.Known() {
		return sandbox.Capability{}, fault.New(fault.Forbidden, "The terminal that this call comes from has ended").
			WithHint("Call again from an agent that runs.")
	}
	return mine, nil
}

// within refuses a tab of a task whose agent can do more than the caller, now or when it is started again.
func (c *Core) within(ctx context.Context, caller grant.Caller, t store.Task, tab store.Tab) error {
	mine, err := c.capabilityOfCaller(caller)
	if err != nil {
		return err
	}
	if t.State == api.TaskCreating && t.ParentID == caller.Task {
		return nil // there is no tree to compose a cage for: its start is limited, and the prompt is asked about once more
	}
	return c.withinOf(ctx, mine, t, tab)
}

func (c *Core) withinOf(ctx context.Context, mine sandbox.Capability, t store.Task, tab store.Tab) error {
	if live, ok := c.cages.Live(tab.ID); ok {
		if err := widerThanCaller(sandbox.Within(live, mine)); err != nil {
			return err
		}
	}
	return c.wouldBeWithin(ctx, mine, t, tab.Agent)
}

// wouldBeWithin refuses an agent that could do more than the caller if it were started now.
func (c *Core) wouldBeWithin(ctx context.Context, mine sandbox.Capability, t store.Task, agentID string) error {
	would, err := c.cages.Would(ctx, t, agentID)
	if err != nil {
		return err
	}
	return widerThanCaller(sandbox.Within(would, mine))
}

// widerThanCaller puts the reason of a refused comparison into words for the caller. They name the part that is wider and
// nothing in it, which would tell what others are granted.
func widerThanCaller(err error) error {
	if err == nil {
		return nil
	}
	part := sandbox.PartUnknown
	if w, ok := errors.AsType[*sandbox.Wider](err); ok {
		part = w.Part
	}
	words := map[sandbox.Part]string{
		sandbox.PartUnknown: "is not known to be as tight as yours", sandbox.PartMode: "is in a looser mode than yours",
		sandbox.PartSecrets: "holds secrets that yours does not",
		sandbox.PartControl: "may do more in Termic than yours", sandbox.PartProjects: "may act on projects that yours may not",
		sandbox.PartAgents: "runs or may start agents that yours may not", sandbox.PartFiles: "reaches files that yours does not",
		sandbox.PartHosts: "reaches hosts that yours does not",
	}[part]
	return fault.Wrap(err, fault.Forbidden, "The cage of that agent %s", words).
		WithHint("Only an agent that can do no more than you can be driven by you.").WithData("part", string(part))
}

// mayStart refuses an agent that is not in the list of the caller's task.
func (c *Core) mayStart(ctx context.Context, caller grant.Caller, agentID string) error {
	allowed, err := c.agentsOfCaller(ctx, caller)
	if err != nil || slices.Contains(allowed, agentID) {
		return err
	}
	return fault.New(fault.Forbidden, "Your task may not start the agent %q", agentID).WithHint("%s", listed("It may start", allowed))
}

func (c *Core) agentsOfCaller(ctx context.Context, caller grant.Caller) ([]string, error) {
	me, err := c.store.Task(ctx, caller.Task)
	if err != nil {
		return nil, err
	}
	me, _, err = c.tightened(ctx, me)
	return agentsOf(me), err
}

// Permit is the part of the rules that looks at the arguments of a call. The dispatcher asks before anything is written
// about the target; what could change in between is asked again by whoever acts.
func (c *Core) Permit(ctx context.Context, call *Call, params any) error {
	if _, adds := params.(api.ProjectAddParams); adds && bounded(call.Caller) {
		return fault.New(fault.Forbidden, "This token is for certain projects, so it adds none").WithHint("The owner adds projects, and names them to the token.")
	}
	if !confined(call.Caller) {
		return nil
	}
	switch p := params.(type) {
	case api.TaskNewParams:
		n, err := c.planNew(ctx, call, p)
		if err != nil || p.IdempotencyKey != "" { // a repeat joins its first call even when there is no more room
			return err
		}
		return c.roomFor(ctx, n.task.ParentID, "")
	case api.TaskSendParams:
		return c.permitSend(ctx, call, p)
	case api.TaskTabParams:
		return c.permitTab(ctx, call, p)
	}
	return nil
}

// permitSend looks at the tab that a prompt would go to.
func (c *Core) permitSend(ctx context.Context, call *Call, p api.TaskSendParams) error {
	t, err := c.store.Task(ctx, call.Task)
	if err != nil {
		return err
	}
	if !mayRead(call.Caller, t) {
		if p.Tab != "" || p.Resume || p.Fresh || p.Wait || p.TimeoutMs != 0 {
			return noTask(call.Caller, p.Task) // each of them would tell about the target
		}
		return nil // the cages were compared when the id was looked up
	}
	tabs, err := c.tabsFor(ctx, call.Caller, t.ID)
	if err != nil {
		return err
	}
	if p.Tab != "" {
		tab, err := resolveTab(tabs, p.Tab)
		if err != nil {
			return err
		}
		return c.within(ctx, call.Caller, t, tab)
	}
	dflt, running := c.candidates(tabs)
	if p.Fresh || p.Resume {
		agentID := orElse(dflt.Agent, t.Agent)
		if err := c.mayStart(ctx, call.Caller, agentID); err != nil {
			return err
		}
		mine, err := c.capabilityOfCaller(call.Caller)
		if err != nil {
			return err
		}
		return c.wouldBeWithin(ctx, mine, t, agentID)
	}
	tab, _, err := c.chooseTarget(ctx, t, p, dflt, running)
	if err != nil {
		return err
	}
	return c.within(ctx, call.Caller, t, tab)
}

// permitTab looks at the agent that a new tab would have.
func (c *Core) permitTab(ctx context.Context, call *Call, p api.TaskTabParams) error {
	t, err := c.store.Task(ctx, call.Task)
	if err != nil {
		return err
	}
	agentID := p.AgentID
	if agentID == "" {
		tabs, err := c.tabsFor(ctx, call.Caller, t.ID)
		if err != nil {
			return err
		}
		dflt, _ := c.candidates(tabs)
		agentID = orElse(dflt.Agent, t.Agent)
	}
	if err := c.mayStart(ctx, call.Caller, agentID); err != nil {
		return err
	}
	mine, err := c.capabilityOfCaller(call.Caller)
	if err != nil {
		return err
	}
	return c.wouldBeWithin(ctx, mine, t, agentID)
}

// limitOf is what a program that a caller starts may do at most; nil for callers who are not confined.
func (c *Core) limitOf(caller grant.Caller) (*sandbox.Capability, error) {
	if !confined(caller) {
		return nil, nil
	}
	mine, err := c.capabilityOfCaller(caller)
	return &mine, err
}

// noTask is the answer to a name that stands for nothing which the caller may see.
func noTask(caller grant.Caller, asked string) error {
	hint := "`termic list` shows the tasks."
	switch {
	case confined(caller):
		hint = "You can name your own task, and tasks that you created."
	case caller.Class.Named():
		hint = "task_list shows the tasks that your token reaches."
	}
	return fault.New(fault.NotFound, "There is no task %q", asked).WithHint("%s", hint)
}

// narrowed takes out of the view of a task what a caller may not know of it. For a caged agent that is whose child it is, the
// user's own terminals, what the cages of other tasks refused, and anything of refs that are not its own; for a named token
// the terminals, and what lies in projects that it does not reach.
func (c *Core) narrowed(ctx context.Context, caller grant.Caller, d *api.TaskDetail) error {
	if caller.Class.Covers(grant.Full) {
		return nil
	}
	if !caller.Class.Named() {
		if d.ParentID != caller.Task {
			d.ParentID = ""
		}
		if d.ID != caller.Task {
			d.Denials = nil
		}
		d.Refs = nil
	} else if err := c.onlyReachable(ctx, caller, d); err != nil {
		return err
	}
	tabs, err := c.tabsFor(ctx, caller, d.ID)
	if err != nil {
		return err
	}
	d.Tabs = make([]api.TabStatus, len(tabs))
	for i, tab := range tabs {
		d.Tabs[i] = c.viewTab(tab, i+1)
	}
	open := len(tabs)
	d.OpenTabs = &open
	return nil
}

// onlyReachable takes out of the view of a task what it says of projects that a named token does not reach.
func (c *Core) onlyReachable(ctx context.Context, caller grant.Caller, d *api.TaskDetail) error {
	if caller.Everywhere {
		return nil
	}
	d.Cage = nil // its lists name other projects
	return c.onlyReachableParent(ctx, caller, &d.TaskSummary)
}

// onlyReachableParent leaves out whose child a task is for a named token that does not reach the parent.
func (c *Core) onlyReachableParent(ctx context.Context, caller grant.Caller, s *api.TaskSummary) error {
	if s.ParentID == "" || !caller.Class.Named() || caller.Everywhere {
		return nil
	}
	parent, err := c.store.Task(ctx, s.ParentID)
	if fault.CodeOf(err) == fault.NotFound || err == nil && !mayRead(caller, parent) {
		s.ParentID = ""
		return nil
	}
	return err
}
