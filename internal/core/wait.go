package core

import (
	"context"
	"slices"
	"time"

	"termic/internal/agent"
	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
)

// Waits of callers over MCP: their clients give up at about 60 s, so a wait without a limit of its own ends before that;
// and no call hangs for more than minutes. The window and the command line have neither.
const (
	RemoteWait    = 50 * time.Second
	MaxRemoteWait = 300 * time.Second
)

// waitFor says what a wait is about.
type waitFor struct {
	task      string
	tab       string // empty: the whole task
	prompt    string // empty: whatever is under way
	timeoutMs int64
	fresh     bool // the agent was started for the prompt
}

// TaskWait is the verb task_wait.
func (c *Core) TaskWait(ctx context.Context, call *Call, p api.TaskWaitParams) (api.TaskWaitResult, error) {
	w := waitFor{task: call.Task, timeoutMs: p.TimeoutMs}
	if p.Tab != "" {
		tabs, err := c.tabsFor(ctx, call.Caller, call.Task)
		if err != nil {
			return api.TaskWaitResult{}, err
		}
		tab, err := resolveTab(tabs, p.Tab)
		if err != nil {
			return api.TaskWaitResult{}, err
		}
		if tab.Kind != store.TabAgent {
			return api.TaskWaitResult{}, fault.New(fault.Unsupported, "The tab %q runs no agent, so there is nothing to wait for", tab.Title)
		}
		w.tab = tab.ID
	}
	out, err := c.await(ctx, call, w)
	return api.TaskWaitResult{TaskID: call.Task, WaitOutcome: out}, err
}

// deadline is when a wait of this caller ends; zero for never.
func deadline(caller grant.Caller, ms int64, now time.Time) time.Time {
	d := time.Duration(min(ms, int64(365*24*time.Hour/time.Millisecond))) * time.Millisecond
	if caller.Face != grant.Window && caller.Face != grant.CLI {
		if d == 0 {
			d = RemoteWait
		}
		d = min(d, MaxRemoteWait)
	}
	if d == 0 {
		return time.Time{}
	}
	return now.Add(d)
}

// await looks at every change, and at the moments that agent.Outcome asks for, until the wait is over.
func (c *Core) await(ctx context.Context, call *Call, w waitFor) (api.WaitOutcome, error) {
	now := time.Now()
	watch := agent.Watch{Started: now, Deadline: deadline(call.Caller, w.timeoutMs, now), Prompt: w.prompt, TrustDone: w.fresh}
	told := agent.Work("-")
	var delivered bool
	for {
		_, changed := c.beacon.watch()
		o, err := c.observe(ctx, w)
		if err != nil {
			return api.WaitOutcome{}, err
		}
		if o.Phase == agent.PhaseDelivered && !delivered {
			delivered = true
			call.emit(api.Event{Event: "prompt_delivered", Prompt: w.prompt})
		}
		var v agent.Verdict
		watch, v = agent.Outcome(watch, o)
		if v.State != told {
			told = v.State
			call.emit(api.Event{Event: "state", State: string(v.State)})
		}
		if v.Over {
			if err := c.stillReads(ctx, call.Caller, w.task); err != nil {
				return api.WaitOutcome{}, err
			}
			return api.WaitOutcome{Outcome: v.Outcome, State: string(v.State), Detail: v.Detail}, v.Err
		}
		if err := c.pause(ctx, changed, v.Next); err != nil {
			return api.WaitOutcome{}, err
		}
	}
}

// pause waits for a change or a moment, whichever comes first.
func (c *Core) pause(ctx context.Context, changed <-chan struct{}, until time.Time) error {
	var moment <-chan time.Time
	if !until.IsZero() {
		t := time.NewTimer(time.Until(until) + time.Millisecond) // past it, not just before
		defer t.Stop()
		moment = t.C
	}
	select {
	case <-changed:
	case <-moment:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.ctx.Done():
		return ending()
	}
	return nil
}

// observe reads what agent.Outcome needs to know.
func (c *Core) observe(ctx context.Context, w waitFor) (agent.Observation, error) {
	o := agent.Observation{Now: time.Now()}
	t, err := c.store.Task(ctx, w.task)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		o.Missing = "removed"
		return o, nil
	case err != nil:
		return o, err
	case t.Archived():
		o.Missing = "archived"
		return o, nil
	}
	tabs, err := c.store.Tabs(ctx, w.task)
	if err != nil {
		return o, err
	}
	c.observeTabs(&o, tabs, w.tab)
	if err := c.observePrompt(ctx, &o, w); err != nil {
		return o, err
	}
	switch {
	case t.State == api.TaskCreating || !o.Live && c.anyStarting(tabs, w.tab):
		if w.prompt == "" {
			// Neither creating nor starting is settled: the wait sees an agent at work.
			o.Present, o.Live = true, true
			o.State = agent.State{Work: agent.Working, Capable: true}
		}
	case t.State == api.TaskFailed && w.prompt == "":
		return o, c.usableTree(t)
	case w.tab != "" && !o.Present:
		o.Missing = "closed"
	}
	return o, nil
}

// observeTabs takes the state of the tab, or of the strongest agent tab of a whole task.
func (c *Core) observeTabs(o *agent.Observation, tabs []store.Tab, only string) {
	strength := map[agent.Work]int{agent.Idle: 1, agent.Done: 2, agent.NeedsInput: 3, agent.Working: 4}
	best := -1
	for _, tab := range tabs {
		if only != "" && tab.ID != only {
			continue
		}
		o.Present = true
		o.Queued += c.queued(tab.ID)
		l := c.liveOf(tab.ID)
		if l == nil || l.det == nil {
			continue
		}
		s := l.det.State()
		if n := strength[s.Work]; n > best {
			best, o.State, o.Live = n, s, true
		}
	}
}

// observePrompt says what became of the prompt. One whose agent is gone is taken out of the queue, since its sender is
// told that it was not delivered.
func (c *Core) observePrompt(ctx context.Context, o *agent.Observation, w waitFor) error {
	if w.prompt == "" {
		return nil
	}
	p, err := c.store.Prompt(ctx, w.prompt)
	if err != nil {
		return err
	}
	if p.State == store.PromptQueued && c.liveOf(p.TabID) == nil && !c.isStarting(p.TabID) && !c.creating(ctx, w.task) {
		err := c.store.SetPromptState(ctx, p.ID, store.PromptFailed, "The agent ended before it could be delivered.", store.PromptQueued)
		if err != nil && fault.CodeOf(err) != fault.Conflict {
			return err
		}
		if p, err = c.store.Prompt(ctx, w.prompt); err != nil {
			return err
		}
	}
	switch p.State {
	case store.PromptQueued, store.PromptDelivering:
		o.Phase = agent.PhaseQueued
		if !o.Live && o.Present && p.State == store.PromptDelivering {
			// The program ended while it was typed into: the delivery is about to say how far it came.
			o.Live, o.State = true, agent.State{Work: agent.Working, Capable: true}
		}
	case store.PromptDelivered:
		o.Phase = agent.PhaseDelivered
	default:
		o.Phase, o.Reason = agent.PhaseFailed, orElse(p.Reason, p.State)
	}
	return nil
}

func (c *Core) creating(ctx context.Context, taskID string) bool {
	t, err := c.store.Task(ctx, taskID)
	return err == nil && t.State == api.TaskCreating
}

// setStarting marks a tab whose program is about to be started, so that nobody takes it for one that ended.
func (c *Core) setStarting(tabID string, on bool) {
	if tabID == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if on {
		c.starting[tabID] = true
	} else {
		delete(c.starting, tabID)
	}
}

// anyStarting reports whether the program of one of the tabs that are looked at is about to be started.
func (c *Core) anyStarting(tabs []store.Tab, only string) bool {
	return slices.ContainsFunc(tabs, func(t store.Tab) bool { return (only == "" || t.ID == only) && c.isStarting(t.ID) })
}

func (c *Core) isStarting(tabID string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.starting[tabID]
}
