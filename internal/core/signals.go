package core

import (
	"context"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/store"
)

// TaskSignals is the verb task_signals: why an agent is said to do what it is said to do.
func (c *Core) TaskSignals(ctx context.Context, call *Call, p api.TaskSignalsParams) (api.TaskSignalsResult, error) {
	tabs, err := c.store.Tabs(ctx, call.Task)
	if err != nil {
		return api.TaskSignalsResult{}, err
	}
	tab, err := agentTab(tabs, p.Tab)
	if err != nil {
		return api.TaskSignalsResult{}, err
	}
	r := api.TaskSignalsResult{TaskID: call.Task, TabID: tab.ID, Agent: tab.Agent, Signals: []api.AgentSignal{}}
	l := c.liveOf(tab.ID)
	if l == nil || l.det == nil {
		return r, fault.New(fault.Conflict, "The agent of the tab %q is not running, so nothing is known of what it says", tab.Title).
			WithHint("Start it, and look again.")
	}
	s := l.det.State()
	r.State, r.Source, r.Why, r.Detail, r.Since = s.Work.String(), s.Source.String(), s.Why, s.Detail, stamp(s.Since)
	r.Capable, r.Held, r.WorkDone = s.Capable, s.Held, l.kind.WorkDone
	for _, t := range l.det.Trace() {
		r.Signals = append(r.Signals, api.AgentSignal{Time: stamp(t.At), Kind: t.Kind, Text: t.Text, Times: t.Times})
	}
	return r, nil
}

// agentTab is the tab that is named, which must be an agent's; or the first agent's.
func agentTab(tabs []store.Tab, named string) (store.Tab, error) {
	if named != "" {
		tab, err := resolveTab(tabs, named)
		if err == nil && tab.Kind != store.TabAgent {
			err = fault.New(fault.Unsupported, "The tab %q runs no agent, so it gives no signals", tab.Title)
		}
		return tab, err
	}
	for _, t := range tabs {
		if t.IsDefault && t.Kind == store.TabAgent {
			return t, nil
		}
	}
	for _, t := range tabs {
		if t.Kind == store.TabAgent {
			return t, nil
		}
	}
	return store.Tab{}, fault.New(fault.Conflict, "The task has no agent")
}
