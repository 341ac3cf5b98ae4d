package core

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/store"
)

// TaskLayout is the verb task_layout: it keeps how the window shows the tabs of a task. One that no window could show is
// refused; tabs that were closed meanwhile are left out of it.
func (c *Core) TaskLayout(ctx context.Context, call *Call, p api.TaskLayoutParams) (api.Layout, error) {
	l, err := readLayout(p.Layout)
	if err != nil {
		return api.Layout{}, fault.Wrap(err, fault.InvalidArgument, "The layout cannot be read")
	}
	if err := checkLayout(l); err != nil {
		return api.Layout{}, err
	}
	err = c.store.Write(ctx, func(tx *store.Tx) error {
		tabs, err := tx.Tabs(ctx, call.Task)
		if err != nil {
			return err
		}
		if err := knownTabs(ctx, tx, call.Task, l); err != nil {
			return err
		}
		l = fitLayout(l, tabs)
		l.TaskID = call.Task
		text, err := json.Marshal(l)
		if err != nil {
			return err
		}
		return tx.SetLayout(ctx, call.Task, string(text))
	})
	if err != nil {
		return api.Layout{}, err
	}
	c.beacon.change()
	return l, nil
}

// readLayout parses a layout; what it does not know is an error.
func readLayout(text string) (l api.Layout, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err = d.Decode(&l); err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("something follows the layout")
		}
	}
	return l, err
}

// checkLayout refuses a layout whose form no window shows.
func checkLayout(l api.Layout) error {
	if l.Height != 0 && (l.Height < api.LeastBottom || l.Height > api.MostBottom) {
		return fault.New(fault.InvalidArgument, "A bottom terminal cannot be %d pixels high", l.Height)
	}
	panes := 0
	return checkPane(l.Root, &panes, 0)
}

// checkPane looks at a pane and those in it, and counts the ones that show a tab.
func checkPane(p *api.Pane, panes *int, depth int) error {
	if p == nil {
		return nil
	}
	if depth >= api.MaxPanes { // a tree of that many leaves is never deeper
		return tooManyPanes()
	}
	if p.Split == "" {
		if *panes++; *panes > api.MaxPanes {
			return tooManyPanes()
		}
		if p.Tab == "" || p.Share != 0 || p.First != nil || p.Second != nil {
			return fault.New(fault.InvalidArgument, "A pane that is not split shows one tab, and nothing else")
		}
		return nil
	}
	switch {
	case p.Split != api.SplitRight && p.Split != api.SplitBelow:
		return fault.New(fault.InvalidArgument, "A pane is split %s or %s, not %q", api.SplitRight, api.SplitBelow, p.Split)
	case p.Tab != "" || p.First == nil || p.Second == nil:
		return fault.New(fault.InvalidArgument, "A pane that is split has two panes, and no tab of its own")
	case !(p.Share >= api.LeastShare && p.Share <= 1-api.LeastShare): // so that no number at all is refused as well
		return fault.New(fault.InvalidArgument, "The first part of a split has from 0.1 to 0.9 of it, not %v", p.Share)
	}
	if err := checkPane(p.First, panes, depth+1); err != nil {
		return err
	}
	return checkPane(p.Second, panes, depth+1)
}

func tooManyPanes() error {
	return fault.New(fault.InvalidArgument, "There is room for %d panes", api.MaxPanes).WithHint("Close one first.")
}

// knownTabs refuses a layout that names a tab which the task never had.
func knownTabs(ctx context.Context, tx *store.Tx, task string, l api.Layout) error {
	for _, id := range append(leaves(l.Root), l.Focus, l.Bottom) {
		if id == "" {
			continue
		}
		tab, err := tx.Tab(ctx, id)
		if err != nil || tab.TaskID != task {
			return fault.New(fault.NotFound, "The task has no tab %q", id)
		}
	}
	return nil
}

// leaves are the tabs that a tree of panes shows, from the left and from the top.
func leaves(p *api.Pane) []string {
	switch {
	case p == nil:
		return nil
	case p.Split == "":
		return []string{p.Tab}
	}
	return append(leaves(p.First), leaves(p.Second)...)
}

// fitLayout makes a layout fit the open tabs of its task, given in their order. Panes of tabs that are gone vanish with their
// half of the split, a tab that is named twice is shown once, and what is left of a tree with a single pane is no tree.
func fitLayout(l api.Layout, tabs []store.Tab) api.Layout {
	free := map[string]bool{}
	for _, t := range tabs {
		free[t.ID] = true
		if t.ID == l.Bottom && t.Kind != store.TabShell && t.Kind != store.TabCaged {
			l.Bottom = ""
		}
	}
	if !free[l.Bottom] {
		l.Bottom = ""
	}
	l.Open = l.Open && l.Bottom != ""
	delete(free, l.Bottom)
	shown := free
	if l.Root != nil {
		shown = map[string]bool{}
		l.Root = fitPane(l.Root, free, shown)
	}
	if l.Root == nil {
		shown = free
	} else if l.Root.Split == "" {
		l.Focus, l.Root = l.Root.Tab, nil
	}
	if !shown[l.Focus] {
		l.Focus = ""
		if all := leaves(l.Root); len(all) > 0 {
			l.Focus = all[0]
		}
	}
	return l
}

// fitPane returns what is left of a pane: nil for nothing. It takes what is shown out of free.
func fitPane(p *api.Pane, free, shown map[string]bool) *api.Pane {
	if p.Split == "" {
		if !free[p.Tab] {
			return nil
		}
		delete(free, p.Tab)
		shown[p.Tab] = true
		return p
	}
	first, second := fitPane(p.First, free, shown), fitPane(p.Second, free, shown)
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return &api.Pane{Split: p.Split, Share: p.Share, First: first, Second: second}
}

// layouts are those of tasks that have one. One that no window could show, or that does not parse, is none: it is made
// anew by hand in a moment.
func (c *Core) layouts(ctx context.Context, tasks []api.TaskDetail) ([]api.Layout, error) {
	stored, err := c.store.Layouts(ctx)
	if err != nil || len(stored) == 0 {
		return []api.Layout{}, err
	}
	out := []api.Layout{}
	for _, t := range tasks {
		text, ok := stored[t.ID]
		if !ok {
			continue
		}
		l, err := readLayout(text)
		if err == nil {
			err = checkLayout(l)
		}
		if err != nil {
			c.log.Warn("a layout was left out", "task", t.ID, "err", err)
			continue
		}
		open := make([]store.Tab, len(t.Tabs))
		for i, tab := range t.Tabs {
			open[i] = store.Tab{ID: tab.ID, Kind: tab.Kind}
		}
		l = fitLayout(l, open)
		l.TaskID = t.ID
		out = append(out, l)
	}
	return slices.Clip(out), nil
}
