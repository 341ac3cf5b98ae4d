package core

import (
	"context"
	"slices"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
)

// maxWaiting is how many prompts of one caged agent may wait for one tab. A person sees them there and can cancel them; more
// would only bury what others send.
const maxWaiting = 32

// holdCages makes the caller the only one that changes what cages are made of, or acts on a comparison of two of them.
func (c *Core) holdCages(ctx context.Context) (release func(), err error) {
	return c.hold(ctx, "cages")
}

// sendBlind queues a prompt for a task that its sender may not read. Nothing that is told afterwards depends on the task: it
// waits for the task's agent, whether that runs or not, and is asked about once more when it is about to be typed.
func (c *Core) sendBlind(ctx context.Context, call *Call, t store.Task, p api.TaskSendParams, m message) (api.TaskSendResult, error) {
	tab, ok, err := c.receiver(ctx, t)
	if err != nil {
		return api.TaskSendResult{}, err
	}
	if !ok {
		return api.TaskSendResult{}, noTask(call.Caller, p.Task) // it was closed a moment ago
	}
	if err := c.roomInQueue(ctx, call.Caller, tab); err != nil {
		return api.TaskSendResult{}, err
	}
	_, err = c.enqueue(ctx, call, tab, m)
	if err != nil {
		if ctx.Err() != nil {
			return api.TaskSendResult{}, err
		}
		c.log.Warn("a prompt for a task that its sender does not see was not taken", "task", t.ID, "caller", call.Caller.Task, "err", err)
		return api.TaskSendResult{}, noTask(call.Caller, p.Task) // it changed a moment ago; what of it is not to be told
	}
	if l := c.liveOf(tab.ID); l != nil {
		l.wake()
	}
	c.beacon.change()
	return api.TaskSendResult{Mode: api.SendAccepted}, nil
}

// mayEnqueue compares the cages once more, and looks whether there is room.
func (c *Core) mayEnqueue(ctx context.Context, caller grant.Caller, tab store.Tab) error {
	t, err := c.store.Task(ctx, tab.TaskID)
	if err != nil {
		return err
	}
	if err := c.within(ctx, caller, t, tab); err != nil {
		return err
	}
	return c.roomInQueue(ctx, caller, tab)
}

// roomInQueue bounds what one caged agent lets wait for one tab.
func (c *Core) roomInQueue(ctx context.Context, caller grant.Caller, tab store.Tab) error {
	prompts, err := c.store.Prompts(ctx, tab.ID)
	if err != nil {
		return err
	}
	mine := 0
	for _, p := range prompts {
		if p.FromTask == caller.Task {
			mine++
		}
	}
	if mine >= maxWaiting {
		return fault.New(fault.Conflict, "%s of yours wait for that agent already", countOf(mine, "prompt")).WithHint("Wait until it has taken some.")
	}
	return nil
}

// startFor starts an agent for a caller: for a caged one only as tight as itself, and while its own task has room for
// another live child.
func (c *Core) startFor(ctx context.Context, caller grant.Caller, t store.Task, tab store.Tab, how startHow) (*liveTab, error) {
	var err error
	if how.limit, err = c.limitOf(caller); err != nil {
		return nil, err
	}
	if confined(caller) && tab.Kind == store.TabAgent {
		if err := c.mayStart(ctx, caller, tab.Agent); err != nil {
			return nil, err
		}
	}
	release, err := c.takeRoom(ctx, caller, t)
	if err != nil {
		return nil, err
	}
	defer release()
	return c.startTab(ctx, t.ID, tab.ID, how)
}

// signed notes on a prompt which task's caged agent sends it, and what that agent was provisioned with: the words are as
// tight as it was, whatever becomes of its task until they are typed. A prompt of anybody else stays as it is.
func (c *Core) signed(caller grant.Caller, p *store.Prompt) error {
	if !confined(caller) {
		return nil
	}
	mine, err := c.capabilityOfCaller(caller)
	if err != nil {
		return err
	}
	text, err := mine.MarshalBinary()
	p.FromTask, p.Capability = caller.Task, string(text)
	return err
}

// stillAllowed asks again, when a prompt of a caged agent is about to be typed, whether it may go to the program that runs
// now: it may have been started after the prompt was sent. It may do no more than the sender could when it sent it, nor than
// the sender's task could now.
func (c *Core) stillAllowed(ctx context.Context, p store.Prompt, l *liveTab) error {
	sender, err := c.store.Task(ctx, p.FromTask)
	if err != nil {
		return err
	}
	if sender.Archived() {
		return fault.New(fault.Forbidden, "The task that sent it was archived")
	}
	if sender, _, err = c.tightened(ctx, sender); err != nil {
		return err
	}
	if sender.Sandbox == uncaged {
		// It was in a cage when it sent the prompt. What it may do now says nothing about what wrote the words.
		return fault.New(fault.Forbidden, "The task that sent it was in a cage then, and is in none now")
	}
	if l.task.ID != sender.ID && !slices.Contains(projectsOf(sender), l.task.ProjectID) {
		return fault.New(fault.Forbidden, "The task that sent it may not act on this project")
	}
	then, err := writtenWith(p)
	if err != nil {
		return err
	}
	if err := c.withinOf(ctx, then, l.task, l.tab); err != nil {
		return err
	}
	return c.withinSender(ctx, sender, l)
}

// withinSender refuses a program that can do more than the agents of a task that run, or would if one were started.
func (c *Core) withinSender(ctx context.Context, sender store.Task, l *liveTab) error {
	tabs, err := c.store.Tabs(ctx, sender.ID)
	if err != nil {
		return err
	}
	var running bool
	for _, tab := range agentTabs(tabs) {
		mine, ok := c.cages.Live(tab.ID)
		running = running || ok
		if ok && c.withinOf(ctx, mine, l.task, l.tab) == nil {
			return nil
		}
	}
	if running {
		return fault.New(fault.Forbidden, "The cage of this agent is wider than that of the task that sent it")
	}
	mine, err := c.cages.Would(ctx, sender, sender.Agent)
	if err != nil {
		return err
	}
	return c.withinOf(ctx, mine, l.task, l.tab)
}
