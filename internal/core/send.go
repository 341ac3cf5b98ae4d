package core

import (
	"context"
	"time"

	"termic/internal/agent"
	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
)

// deliveryPatience is how long task_send without wait watches its prompt on the way to an agent that is at rest, before
// it answers that the prompt is queued. It covers the start of a slow agent (20 s until it must have painted) and the
// repeated Enter.
const deliveryPatience = 30 * time.Second

// sendHow says what a sender wants to know.
type sendHow struct {
	wait      bool
	timeoutMs int64
	spawned   bool // the agent was started for this prompt
}

// maxRepeat is how often one prompt may be typed for one call: a loop that nobody stops ends by itself.
const maxRepeat = 100

// message is what a sender wants typed.
type message struct {
	text    string
	repeats int // how often once more, each time when the agent has settled
}

// messageOf checks how often a prompt is to be typed.
func messageOf(text string, repeat int64) (message, error) {
	if repeat < 0 || repeat > maxRepeat {
		return message{}, fault.New(fault.InvalidArgument, "A prompt can be repeated from 1 to %d times, not %d", maxRepeat, repeat)
	}
	return message{text, max(int(repeat)-1, 0)}, nil
}

// needSettling refuses what follows an agent's settling for an agent that gives no sign of it.
func needSettling(kind agent.Kind, how sendHow, m message) error {
	switch {
	case kind.WorkDone:
		return nil
	case how.wait:
		return fault.New(fault.Unsupported, "The agent %q gives no sign of settling, so there is nothing to wait for", kind.ID).
			WithHint("Send without wait, and look at its log.")
	case m.repeats > 0:
		return fault.New(fault.Unsupported, "The agent %q gives no sign of settling, so a prompt cannot be repeated when it has", kind.ID).
			WithHint("Send it again by hand.")
	}
	return nil
}

// TaskSend is the verb task_send.
func (c *Core) TaskSend(ctx context.Context, call *Call, p api.TaskSendParams) (api.TaskSendResult, error) {
	prompt, err := c.compose(p.PromptRef, p.Prompt)
	switch {
	case err != nil:
		return api.TaskSendResult{}, err
	case prompt == "":
		return api.TaskSendResult{}, fault.New(fault.InvalidArgument, "There is no prompt to send").WithHint("Give its text, or `-` to read it from standard input.")
	}
	task, err := c.store.Task(ctx, call.Task)
	if err != nil {
		return api.TaskSendResult{}, err
	}
	m, err := messageOf(prompt, p.Repeat)
	if err != nil {
		return api.TaskSendResult{}, err
	}
	if !mayRead(call.Caller, task) {
		return c.sendBlind(ctx, call, task, p, m)
	}
	if task.State != api.TaskCreating {
		if err := c.usableTree(task); err != nil {
			return api.TaskSendResult{}, err
		}
	}
	how := sendHow{wait: p.Wait, timeoutMs: p.TimeoutMs}
	tab, start, err := c.sendTarget(ctx, call.Caller, task, p)
	if err != nil {
		return api.TaskSendResult{}, err
	}
	l := c.liveOf(tab.ID)
	if l == nil && task.State != api.TaskCreating && !c.isStarting(tab.ID) {
		start.unattended, how.spawned = true, true
		if l, err = c.startFor(ctx, call.Caller, task, tab, start); err != nil {
			return api.TaskSendResult{}, err
		}
	}
	if l == nil {
		return c.sendEarly(ctx, call, tab, m, how)
	}
	return c.sendTo(ctx, call, l, m, how)
}

// sendTarget picks the agent tab that a prompt goes to: the one named, the default one if it runs, the only one that
// runs, or the one that resume or fresh starts.
func (c *Core) sendTarget(ctx context.Context, caller grant.Caller, task store.Task, p api.TaskSendParams) (store.Tab, startHow, error) {
	tabs, err := c.tabsFor(ctx, caller, task.ID)
	if err != nil {
		return store.Tab{}, startHow{}, err
	}
	if p.Tab != "" {
		tab, err := resolveTab(tabs, p.Tab)
		switch {
		case err != nil:
		case tab.Kind != store.TabAgent:
			err = fault.New(fault.Unsupported, "The tab %q runs no agent, so it takes no prompt", tab.Title)
		case c.liveOf(tab.ID) == nil && task.State != api.TaskCreating && !c.isStarting(tab.ID):
			err = fault.New(fault.Conflict, "The agent of the tab %q is not running", tab.Title).WithHint("Start it: `termic tab TASK --restart %s`.", tab.ID)
		}
		return tab, startHow{}, err
	}
	dflt, running := c.candidates(tabs)
	return c.chooseTarget(ctx, task, p, dflt, running)
}

// candidates are the first agent of a task, if it has one, and its agents that run or are about to.
func (c *Core) candidates(tabs []store.Tab) (dflt store.Tab, running []store.Tab) {
	for _, t := range tabs {
		if t.Kind != store.TabAgent {
			continue
		}
		if t.IsDefault {
			dflt = t
		}
		if c.liveOf(t.ID) != nil || c.isStarting(t.ID) {
			running = append(running, t)
		}
	}
	return dflt, running
}

func (c *Core) chooseTarget(ctx context.Context, task store.Task, p api.TaskSendParams, dflt store.Tab, running []store.Tab) (store.Tab, startHow, error) {
	switch {
	case len(running) > 0 && (p.Resume || p.Fresh):
		return store.Tab{}, startHow{}, fault.New(fault.Conflict, "An agent of the task is running").
			WithHint("Send to it without resume and fresh, or open another with task_tab.")
	case task.State == api.TaskCreating && dflt.ID != "":
		return dflt, startHow{}, nil
	case dflt.ID != "" && (c.liveOf(dflt.ID) != nil || c.isStarting(dflt.ID)):
		return dflt, startHow{}, nil
	case len(running) == 1:
		return running[0], startHow{}, nil
	case len(running) > 1:
		return store.Tab{}, startHow{}, fault.New(fault.Ambiguous, "%s of the task are running", countOf(len(running), "agent")).WithHint("Say which with tab.")
	case p.Resume:
		if dflt.ID == "" {
			return store.Tab{}, startHow{}, fault.New(fault.Conflict, "The task has no conversation to resume").WithHint("Start a new one with --fresh.")
		}
		how := c.howAgain(dflt, task)
		if !how.resume {
			return store.Tab{}, startHow{}, fault.New(fault.Conflict, "The agent of the task has no conversation to resume").WithHint("Start a new one with --fresh, or its tab again with `termic tab TASK`.")
		}
		return dflt, how, nil
	case p.Fresh:
		return c.openTab(ctx, task, "agent", api.TaskTabParams{AgentID: orElse(dflt.Agent, task.Agent)})
	}
	return store.Tab{}, startHow{}, fault.New(fault.Conflict, "No agent of the task is running").
		WithHint("Start one with the prompt: --resume goes on with the last conversation, --fresh begins a new one.")
}

// sendEarly queues a prompt for a task that is still being created.
func (c *Core) sendEarly(ctx context.Context, call *Call, tab store.Tab, m message, how sendHow) (api.TaskSendResult, error) {
	kind, err := c.agents.Load().Resolve(tab.Agent)
	if err == nil {
		if err := needSettling(kind, how, m); err != nil {
			return api.TaskSendResult{}, err
		}
	}
	p, failed := c.enqueue(ctx, call, tab, m)
	if failed != nil {
		return api.TaskSendResult{}, failed
	}
	if l := c.liveOf(tab.ID); l != nil {
		l.wake() // it started meanwhile
	}
	result := api.TaskSendResult{TaskID: tab.TaskID, TabID: tab.ID, Mode: api.SendQueued, Prompt: p.ID, Capable: err == nil && kind.Capable()}
	return c.watchSent(ctx, call, result, how)
}

// sendTo queues a prompt for a running agent and watches how it fares.
func (c *Core) sendTo(ctx context.Context, call *Call, l *liveTab, m message, how sendHow) (api.TaskSendResult, error) {
	s := l.det.State()
	if err := needSettling(l.kind, how, m); err != nil {
		return api.TaskSendResult{}, err
	}
	if m.repeats > 0 && !s.Capable && !l.kind.Capable() {
		return api.TaskSendResult{}, fault.New(fault.Unsupported, "The agent of %q has given no sign of its state yet, so nobody can tell when to repeat a prompt", l.tab.Title).
			WithHint("Send it once, and look whether the agent is seen at work.")
	}
	busy := !readyForPrompt(s) || c.queued(l.tab.ID) > 0
	p, err := c.enqueue(ctx, call, l.tab, m)
	if err != nil {
		return api.TaskSendResult{}, err
	}
	l.wake()
	c.beacon.change()
	result := api.TaskSendResult{TaskID: l.task.ID, TabID: l.tab.ID, Mode: api.SendQueued, Prompt: p.ID, Capable: s.Capable || l.kind.Capable()}
	if !busy {
		outcome, err := c.watchDelivery(ctx, p.ID)
		if err != nil {
			return result, err
		}
		switch {
		case outcome.State == store.PromptDelivered && how.spawned:
			result.Mode = api.SendSpawned
		case outcome.State == store.PromptDelivered:
			result.Mode = api.SendDelivered
		case outcome.State != store.PromptQueued && outcome.State != store.PromptDelivering:
			result.Wait = &api.WaitOutcome{Outcome: api.OutcomeNotDelivered, Detail: outcome.Reason}
			return result, nil
		}
	}
	return c.watchSent(ctx, call, result, how)
}

// enqueue makes a prompt durable. From here on it is delivered at most once. That of a caged agent is compared with the
// target under the lock that guards what cages are made of.
func (c *Core) enqueue(ctx context.Context, call *Call, tab store.Tab, m message) (p store.Prompt, err error) {
	if confined(call.Caller) {
		release, err := c.holdCages(ctx)
		if err != nil {
			return p, err
		}
		defer release()
		if err := c.mayEnqueue(ctx, call.Caller, tab); err != nil {
			return p, err
		}
	}
	p = store.Prompt{TabID: tab.ID, Text: m.text, Repeats: m.repeats, Job: call.Job}
	if err := c.signed(call.Caller, &p); err != nil {
		return p, err
	}
	if p, err = c.store.EnqueuePrompt(ctx, p); err == nil {
		call.KeepJob() // it ends with the prompt
	}
	return p, err
}

// watchDelivery waits until a prompt is no longer on its way, its agent asks for something first, or patience ends.
func (c *Core) watchDelivery(ctx context.Context, promptID string) (store.Prompt, error) {
	patience := time.NewTimer(deliveryPatience)
	defer patience.Stop()
	for {
		_, changed := c.beacon.watch()
		p, err := c.store.Prompt(ctx, promptID)
		if err != nil {
			return p, err
		}
		if p.State != store.PromptQueued && p.State != store.PromptDelivering {
			return p, nil
		}
		l := c.liveOf(p.TabID)
		if l == nil || p.State == store.PromptQueued && !readyForPrompt(l.det.State()) {
			return p, nil
		}
		select {
		case <-changed:
		case <-patience.C:
			return p, nil
		case <-ctx.Done():
			return p, context.Cause(ctx)
		case <-c.ctx.Done():
			return p, ending()
		}
	}
}

// before says what a queued prompt waits for: the agent's work, or its question.
func (c *Core) before(tabID string) (state, detail string) {
	l := c.liveOf(tabID)
	if l == nil || l.det == nil {
		return "", ""
	}
	switch s := l.det.State(); s.Work {
	case agent.NeedsInput:
		return api.WorkNeedsInput, s.Detail
	case agent.Working:
		return api.WorkWorking, ""
	}
	return "", ""
}

// watchSent tells the events of a sent prompt and, when asked, waits for what becomes of it.
func (c *Core) watchSent(ctx context.Context, call *Call, result api.TaskSendResult, how sendHow) (api.TaskSendResult, error) {
	if result.Mode == api.SendQueued {
		result.State, result.Detail = c.before(result.TabID)
		call.emit(api.Event{Event: "prompt_queued", Prompt: result.Prompt})
	}
	if !how.wait {
		return result, nil
	}
	out, err := c.await(ctx, call, waitFor{task: result.TaskID, tab: result.TabID, prompt: result.Prompt, timeoutMs: how.timeoutMs})
	if err != nil {
		return result, err
	}
	result.Wait = &out
	return result, nil
}
