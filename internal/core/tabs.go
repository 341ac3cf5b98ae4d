package core

import (
	"context"
	"time"

	"termic/internal/agent"
	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/store"
)

// TaskTab is the verb task_tab.
func (c *Core) TaskTab(ctx context.Context, call *Call, p api.TaskTabParams) (api.TaskTabResult, error) {
	prompt, err := c.compose(p.PromptRef, p.Prompt)
	if err != nil {
		return api.TaskTabResult{}, err
	}
	kind := orElse(p.Kind, "default")
	if p.Kind == "" && p.AgentID != "" {
		kind = "agent"
	}
	agents := kind == "agent" || kind == "default"
	switch {
	case !agents && (prompt != "" || p.AgentID != "" || p.Resume != ""):
		return api.TaskTabResult{}, fault.New(fault.InvalidArgument, "A %s tab takes no prompt, no agent and no resume", kind)
	case p.Wait && prompt == "":
		return api.TaskTabResult{}, fault.New(fault.InvalidArgument, "There is nothing to wait for without a prompt")
	case p.Restart != "" && (p.Kind != "" || p.AgentID != ""):
		return api.TaskTabResult{}, fault.New(fault.InvalidArgument, "A tab that is started again keeps its kind and agent")
	case kind == "default" && p.AgentID != "":
		return api.TaskTabResult{}, fault.New(fault.InvalidArgument, "The default tab has the task's own agent; use kind agent for another")
	}
	task, err := c.store.Task(ctx, call.Task)
	if err != nil {
		return api.TaskTabResult{}, err
	}
	if err := c.usableTree(task); err != nil {
		return api.TaskTabResult{}, err
	}
	tab, how, err := c.openTabFor(ctx, call, task, kind, p)
	if err != nil {
		return api.TaskTabResult{}, err
	}
	call.Spend() // the tab is there, whatever becomes of its program
	how.unattended, how.accept = prompt != "", p.AcceptFiles
	result := api.TaskTabResult{TaskID: task.ID, TabID: tab.ID, Agent: tab.Agent, Title: tab.Title, Warnings: c.hereRuns(ctx, task, tab.Kind)}
	l, err := c.startFor(ctx, call.Caller, task, tab, how)
	if err != nil || prompt == "" {
		return result, err
	}
	sent, err := c.sendTo(ctx, call, l, message{text: prompt}, sendHow{wait: p.Wait, timeoutMs: p.TimeoutMs, spawned: true})
	if err != nil {
		return result, withTab(err, tab.ID)
	}
	result.Prompt = &sent
	return result, nil
}

// withTab adds the id of a tab that was opened to an error that came afterwards.
func withTab(err error, tabID string) error { return fault.From(err).WithData("tab_id", tabID) }

// openTabFor is openTab for a caller, who may have room for no more.
func (c *Core) openTabFor(ctx context.Context, call *Call, task store.Task, kind string, p api.TaskTabParams) (store.Tab, startHow, error) {
	if confined(call.Caller) {
		release, err := c.roomForTab(ctx, task)
		if err != nil {
			return store.Tab{}, startHow{}, err
		}
		defer release()
	}
	return c.openTab(ctx, task, kind, p)
}

// openTab finds or makes the row of the tab to start.
func (c *Core) openTab(ctx context.Context, task store.Task, kind string, p api.TaskTabParams) (store.Tab, startHow, error) {
	tabs, err := c.store.Tabs(ctx, task.ID)
	if err != nil {
		return store.Tab{}, startHow{}, err
	}
	if p.Restart != "" {
		tab, err := resolveTab(tabs, p.Restart)
		if err == nil && c.liveOf(tab.ID) != nil {
			err = fault.New(fault.Conflict, "The program of the tab %q runs", tab.Title).
				WithHint("End it first: `termic stop %s`, or close the tab.", shellWord(task.Name))
		}
		return tab, c.howAgain(tab, task), err
	}
	for _, t := range tabs {
		if kind == "default" && t.IsDefault || kind == "shell" && t.Kind == store.TabShell || kind == store.TabCaged && t.Kind == store.TabCaged {
			return t, c.howAgain(t, task), nil
		}
	}
	tab := store.Tab{TaskID: task.ID, Kind: store.TabTerminal, Title: "Terminal", Command: []string{c.environment(ctx).Shell, "-l"}}
	how := startHow{}
	switch kind {
	case "shell":
		tab = store.Tab{TaskID: task.ID, Kind: store.TabShell, Title: "Shell"}
	case store.TabCaged:
		if err := needsCage(task); err != nil {
			return store.Tab{}, how, err
		}
		tab = store.Tab{TaskID: task.ID, Kind: store.TabCaged, Title: "Caged shell"}
	case "agent", "default":
		k, err := c.chooseAgent(ctx, p.AgentID, task.Agent)
		if err != nil {
			return store.Tab{}, how, err
		}
		if p.Resume != "" && len(k.ResumeIDArgs) == 0 {
			return store.Tab{}, how, fault.New(fault.Unsupported, "The agent %q cannot resume by session id", k.ID)
		}
		tab = store.Tab{TaskID: task.ID, Kind: store.TabAgent, Agent: k.ID, Title: k.Name, IsDefault: kind == "default" || !hasDefault(tabs),
			SessionID: p.Resume, SessionUsed: p.Resume != ""}
		how.resume = p.Resume != ""
	}
	tab, err = c.store.CreateTab(ctx, tab)
	return tab, how, err
}

// needsCage refuses a shell in the cage of a task that has none.
func needsCage(t store.Task) error {
	if caged(t) {
		return nil
	}
	return fault.New(fault.Conflict, "The task %q has no cage, its sandbox mode is %q", t.Name, t.Sandbox).
		WithHint("Open a terminal without one, or give the task a cage first: `termic sandbox %s --mode enforce`.", shellWord(t.Name))
}

func hasDefault(tabs []store.Tab) bool {
	for _, t := range tabs {
		if t.IsDefault {
			return true
		}
	}
	return false
}

// howAgain decides what a tab that had a program before starts with: its own conversation where the agent can resume
// it, the newest of the folder where that can only be its own, a new one otherwise.
func (c *Core) howAgain(tab store.Tab, task store.Task) startHow {
	if tab.Kind != store.TabAgent {
		return startHow{}
	}
	kind, err := c.agents.Load().Resolve(tab.Agent)
	if err != nil {
		return startHow{} // the start itself will say so
	}
	return howOf(kind, tab, task)
}

func howOf(kind agent.Kind, tab store.Tab, task store.Task) startHow {
	switch {
	case tab.SessionUsed && tab.SessionID != "" && len(kind.ResumeIDArgs) > 0:
		return startHow{resume: true}
	case tab.SessionUsed && tab.SessionID == "" && len(kind.ResumeArgs) > 0 && tab.IsDefault && !task.IsMain:
		return startHow{resume: true, byDir: true}
	}
	return startHow{}
}

// TaskTabClose is the verb task_tab_close.
func (c *Core) TaskTabClose(ctx context.Context, call *Call, p api.TaskTabCloseParams) (api.TaskTabCloseResult, error) {
	tabs, err := c.tabsFor(ctx, call.Caller, call.Task)
	if err != nil {
		return api.TaskTabCloseResult{}, err
	}
	tab, err := resolveTab(tabs, p.Tab)
	if err != nil {
		return api.TaskTabCloseResult{}, err
	}
	if err := needsAllowDefault(tab, p); err != nil {
		return api.TaskTabCloseResult{}, err
	}
	release, err := c.holdStarts(ctx, call.Task)
	if err != nil {
		return api.TaskTabCloseResult{}, err
	}
	defer release()
	if call.isBound() {
		now, err := c.tabFacts(ctx, tab)
		if err == nil {
			err = call.still(partTab+tab.ID, now)
		}
		if err != nil {
			return api.TaskTabCloseResult{}, err
		}
	}
	l := c.liveOf(tab.ID)
	result := api.TaskTabCloseResult{TaskID: call.Task, TabID: tab.ID, Title: tab.Title, Kind: tab.Kind, WasDefault: tab.IsDefault, KilledPTY: l != nil}
	// The row goes first: the end of the program must not look like a crash of an open tab.
	_, err = c.store.UpdateTab(ctx, tab.ID, func(t *store.Tab) error { t.ClosedAt = time.Now(); return nil })
	if err != nil {
		return result, err
	}
	if l != nil {
		err = c.endTab(ctx, l, "closed")
	}
	c.host.Forget(tab.ID)
	c.beacon.change()
	return result, err
}

// needsAllowDefault asks for the consent to close the first agent of a task.
func needsAllowDefault(tab store.Tab, p api.TaskTabCloseParams) error {
	if !tab.IsDefault || p.AllowDefault {
		return nil
	}
	return fault.New(fault.NeedsConsent, "The tab %q is the task's first agent", tab.Title).
		WithHint("Close it with allowDefault (--yes) if that is meant.")
}
