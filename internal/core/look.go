package core

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/store"
)

// Widths that the sides of the window may have, in pixels; those of the design.
const (
	leastSidebar, mostSidebar = 220, 400
	leastPanel, mostPanel     = 280, 480
)

// groupKey begins the key of a group among what is folded.
const groupKey = "group:"

// farAway bounds what is kept of a window's place and size.
const farAway = 100_000

// look is what is stored of the window.
type look struct {
	api.WindowLook
	Shape api.WindowShape `json:"shape"`
}

// WindowSet is the verb window_set: it keeps how the window is cut up, and what is folded in its sidebar.
func (c *Core) WindowSet(ctx context.Context, call *Call, p api.WindowSetParams) (api.WindowLook, error) {
	if p.Sidebar != 0 && (p.Sidebar < leastSidebar || p.Sidebar > mostSidebar) {
		return api.WindowLook{}, fault.New(fault.InvalidArgument, "The sidebar is from %d to %d pixels wide", leastSidebar, mostSidebar)
	}
	if p.Panel != 0 && (p.Panel < leastPanel || p.Panel > mostPanel) {
		return api.WindowLook{}, fault.New(fault.InvalidArgument, "The right panel is from %d to %d pixels wide", leastPanel, mostPanel)
	}
	shape, err := parsedShape(p.Shape)
	if err != nil {
		return api.WindowLook{}, err
	}
	to, err := c.changeLook(ctx, func(tx *store.Tx, to *look) error {
		to.keep(shape)
		if p.Sidebar != 0 {
			to.Sidebar = int(p.Sidebar)
		}
		if p.Panel != 0 {
			to.Panel = int(p.Panel)
		}
		if p.Fold == "" && p.Unfold == "" {
			return nil
		}
		known, err := foldable(ctx, tx)
		if err != nil {
			return err
		}
		to.Folded = slices.DeleteFunc(to.Folded, func(key string) bool { return !known[key] || key == p.Unfold || key == p.Fold })
		if p.Fold == "" {
			return nil
		}
		if !known[p.Fold] {
			return fault.New(fault.NotFound, "There is nothing %q in the sidebar", p.Fold)
		}
		to.Folded = append(to.Folded, p.Fold)
		return nil
	})
	if err == nil && (p.Sidebar != 0 || p.Panel != 0 || p.Fold != "" || p.Unfold != "") {
		c.beacon.change() // the page shows nothing of the window's own shape
	}
	return to.WindowLook, err
}

// parsedShape reads the shape of a window; nil where none was given.
func parsedShape(text string) (*api.WindowShape, error) {
	if text == "" {
		return nil, nil
	}
	var s api.WindowShape
	err := json.Unmarshal([]byte(text), &s)
	for _, n := range []int{s.Width, s.Height, s.X, s.Y} {
		if err != nil || n < -farAway || n > farAway || s.Width < 0 || s.Height < 0 {
			return nil, fault.New(fault.InvalidArgument, "This is not the shape of a window")
		}
	}
	return &s, nil
}

// keep takes in the shape of the window. A maximised window keeps the size and the place that it will have again when it is
// not maximised any more.
func (l *look) keep(s *api.WindowShape) {
	switch {
	case s == nil:
	case s.Maximised:
		l.Shape.Maximised = true
	default:
		l.Shape = *s
	}
}

// foldable are the keys of all that can be folded: what is stored is never more than there is.
func foldable(ctx context.Context, tx *store.Tx) (map[string]bool, error) {
	projects, err := tx.Projects(ctx)
	if err != nil {
		return nil, err
	}
	tasks, err := tx.Tasks(ctx, store.TaskFilter{})
	known := map[string]bool{}
	for _, p := range projects {
		known[p.ID] = true
		if p.Group != "" {
			known[groupKey+p.Group] = true
		}
	}
	for _, t := range tasks {
		known[t.ID] = true
	}
	return known, err
}

func (c *Core) changeLook(ctx context.Context, fn func(*store.Tx, *look) error) (look, error) {
	var to look
	err := c.store.Write(ctx, func(tx *store.Tx) error {
		text, err := tx.Look(ctx)
		if err != nil {
			return err
		}
		to = parsedLook(text)
		if err := fn(tx, &to); err != nil {
			return err
		}
		out, err := json.Marshal(to)
		if err != nil {
			return err
		}
		return tx.SetLook(ctx, string(out))
	})
	return to, err
}

// parsedLook reads what was stored. What does not parse, or has no sense, is as if it had never been stored.
func parsedLook(text string) look {
	var l look
	if json.NewDecoder(strings.NewReader(text)).Decode(&l) != nil {
		l = look{}
	}
	if l.Sidebar < leastSidebar || l.Sidebar > mostSidebar {
		l.Sidebar = 0
	}
	if l.Panel < leastPanel || l.Panel > mostPanel {
		l.Panel = 0
	}
	if l.Folded == nil {
		l.Folded = []string{}
	}
	return l
}

// shownLook is how the window is cut up, and for each task the tab that would be opened again.
func (c *Core) shownLook(ctx context.Context) (api.WindowLook, []api.ClosedTab, error) {
	text, err := c.store.Look(ctx)
	if err != nil {
		return api.WindowLook{}, nil, err
	}
	tabs, err := c.store.LastClosed(ctx)
	closed := make([]api.ClosedTab, len(tabs))
	for i, t := range tabs {
		closed[i] = api.ClosedTab{TaskID: t.TaskID, Title: orElse(t.Name, t.Title), Closed: stamp(t.ClosedAt)}
	}
	l := parsedLook(text)
	if l.Shape != (api.WindowShape{}) {
		l.WindowLook.Shape = &l.Shape
	}
	return l.WindowLook, closed, err
}

// Shape is how the window was when it was seen last.
func (c *Core) Shape(ctx context.Context) (api.WindowShape, error) {
	text, err := c.store.Look(ctx)
	return parsedLook(text).Shape, err
}

// KeepShape stores how the window is.
func (c *Core) KeepShape(ctx context.Context, s api.WindowShape) error {
	_, err := c.changeLook(ctx, func(_ *store.Tx, to *look) error {
		to.keep(&s)
		return nil
	})
	return err
}
