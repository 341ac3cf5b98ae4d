package core

import (
	"context"
	"slices"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/store"
)

// TaskTabSet is the verb task_tab_set: it names, pins and moves a tab. Nothing of that touches its program.
func (c *Core) TaskTabSet(ctx context.Context, call *Call, p api.TaskTabSetParams) (api.TaskTabSetResult, error) {
	if p.Name != "" {
		if err := checkName("tab", p.Name); err != nil {
			return api.TaskTabSetResult{}, err
		}
	}
	if p.Position < 0 {
		return api.TaskTabSetResult{}, firstIsOne()
	}
	var changed store.Tab
	var index int
	err := c.store.Write(ctx, func(tx *store.Tx) error {
		tabs, err := tx.Tabs(ctx, call.Task)
		if err != nil {
			return err
		}
		tab, err := resolveTab(tabs, p.Tab)
		if err != nil {
			return err
		}
		tab, err = tx.UpdateTab(ctx, tab.ID, func(t *store.Tab) error {
			t.Name = orElse(p.Name, t.Name)
			if p.OwnTitle {
				t.Name = ""
			}
			t.Pinned = (t.Pinned || p.Pin) && !p.Unpin
			return nil
		})
		if err != nil {
			return err
		}
		order := make([]string, len(tabs))
		for i, t := range tabs {
			order[i] = t.ID
		}
		if p.Position > 0 {
			order, _ = moved(order, tab.ID, int(p.Position))
			if err := tx.PlaceTabs(ctx, order); err != nil {
				return err
			}
		}
		changed, index = tab, slices.Index(order, tab.ID)+1
		return nil
	})
	if err != nil {
		return api.TaskTabSetResult{}, err
	}
	c.beacon.change()
	return api.TaskTabSetResult{TaskID: call.Task, Tab: c.viewTab(changed, index)}, nil
}

// TaskTabReopen is the verb task_tab_reopen: it opens a tab again that was closed, and starts its program: an agent takes up
// its conversation where it can, a terminal starts anew. What a repository proposed is not run in this way.
func (c *Core) TaskTabReopen(ctx context.Context, call *Call, p api.TaskTabReopenParams) (api.TaskTabResult, error) {
	task, err := c.store.Task(ctx, call.Task)
	if err != nil {
		return api.TaskTabResult{}, err
	}
	if err := c.usableTree(task); err != nil {
		return api.TaskTabResult{}, err
	}
	var closed time.Time
	tab, err := c.reopen(ctx, task, p.Tab, &closed)
	if err != nil {
		return api.TaskTabResult{}, err
	}
	how := c.howAgain(tab, task)
	how.accept = p.AcceptFiles
	if _, err := c.startFor(ctx, call.Caller, task, tab, how); err != nil {
		// It stays closed, so that the next try, with consent, finds it again.
		_, cerr := c.store.UpdateTab(context.WithoutCancel(ctx), tab.ID, func(t *store.Tab) error { t.ClosedAt = closed; return nil })
		if cerr != nil {
			c.log.Error("a tab that did not start stays open", "tab", tab.ID, "err", cerr)
		}
		return api.TaskTabResult{}, err
	}
	c.beacon.change()
	return api.TaskTabResult{TaskID: task.ID, TabID: tab.ID, Agent: tab.Agent, Title: orElse(tab.Name, tab.Title), Warnings: c.hereRuns(ctx, task, tab.Kind)}, nil
}

// reopen opens the row of a closed tab, as the last of the strip. A task has one default tab, and one shell of each kind.
func (c *Core) reopen(ctx context.Context, task store.Task, asked string, closed *time.Time) (tab store.Tab, err error) {
	err = c.store.Write(ctx, func(tx *store.Tx) error {
		was, err := tx.ClosedTabs(ctx, task.ID)
		if err != nil {
			return err
		}
		open, err := tx.Tabs(ctx, task.ID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(was, func(t store.Tab) bool {
			return t.Kind != store.TabScript && !secondShell(open, t) && (asked == "" || t.ID == asked)
		})
		if i < 0 && asked != "" {
			return fault.New(fault.NotFound, "The task %q has no closed tab %q that can be opened again", task.Name, asked)
		}
		if i < 0 {
			return fault.New(fault.NotFound, "The task %q has no closed tab to open again", task.Name)
		}
		last := 0
		for _, t := range open {
			last = max(last, t.Position)
		}
		*closed = was[i].ClosedAt
		tab, err = tx.UpdateTab(ctx, was[i].ID, func(t *store.Tab) error {
			t.ClosedAt, t.Position = time.Time{}, last+1
			t.IsDefault = t.IsDefault && !hasDefault(open)
			return nil
		})
		return err
	})
	return tab, err
}

// secondShell reports whether a tab is a shell where the task has one of its kind already.
func secondShell(open []store.Tab, t store.Tab) bool {
	return (t.Kind == store.TabShell || t.Kind == store.TabCaged) && slices.ContainsFunc(open, func(o store.Tab) bool { return o.Kind == t.Kind })
}
