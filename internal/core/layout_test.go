package core

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/store"
)

func leaf(tab string) *api.Pane { return &api.Pane{Tab: tab} }

func split(side string, share float64, first, second *api.Pane) *api.Pane {
	return &api.Pane{Split: side, Share: share, First: first, Second: second}
}

func TestLayoutsThatNoWindowShows(t *testing.T) {
	chain := leaf("t")
	for range api.MaxPanes {
		chain = split(api.SplitBelow, 0.5, leaf("t"), chain)
	}
	for name, l := range map[string]api.Layout{
		"seven panes":           {Root: chain},
		"a share of nothing":    {Root: split(api.SplitRight, 0, leaf("a"), leaf("b"))},
		"a share of everything": {Root: split(api.SplitRight, 1, leaf("a"), leaf("b"))},
		"a share too small":     {Root: split(api.SplitRight, 0.09, leaf("a"), leaf("b"))},
		"no number":             {Root: split(api.SplitRight, math.NaN(), leaf("a"), leaf("b"))},
		"one half":              {Root: &api.Pane{Split: api.SplitRight, Share: 0.5, First: leaf("a")}},
		"a way that is none":    {Root: split("left", 0.5, leaf("a"), leaf("b"))},
		"nothing shown":         {Root: &api.Pane{}},
		"a tab and a split":     {Root: &api.Pane{Tab: "x", Split: api.SplitRight, Share: 0.5, First: leaf("a"), Second: leaf("b")}},
		"halves of a leaf":      {Root: &api.Pane{Tab: "x", First: leaf("a")}},
		"no height":             {Height: 3},
		"too high":              {Height: 40000},
		"below zero":            {Height: -1},
	} {
		if err := checkLayout(l); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, text := range []string{"", "{", "[]", `{"root":{"tab":"a","more":1}}`, `{"tabs":1}`} {
		if _, err := readLayout(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func TestLayoutsAreRepaired(t *testing.T) {
	open := []store.Tab{{ID: "a", Kind: store.TabAgent}, {ID: "b", Kind: store.TabTerminal}, {ID: "c", Kind: store.TabAgent}, {ID: "s", Kind: store.TabShell}}
	three := func() *api.Pane {
		return split(api.SplitRight, 0.4, leaf("a"), split(api.SplitBelow, 0.3, leaf("b"), leaf("c")))
	}
	for _, c := range []struct {
		name       string
		have, want api.Layout
	}{
		{"whole", api.Layout{Root: three(), Focus: "c", Bottom: "s", Open: true, Height: 300}, api.Layout{Root: three(), Focus: "c", Bottom: "s", Open: true, Height: 300}},
		{"a tab is gone", api.Layout{Root: split(api.SplitRight, 0.4, leaf("gone"), split(api.SplitBelow, 0.3, leaf("b"), leaf("c"))), Focus: "gone"},
			api.Layout{Root: split(api.SplitBelow, 0.3, leaf("b"), leaf("c")), Focus: "b"}},
		{"all but one are gone", api.Layout{Root: split(api.SplitRight, 0.4, leaf("x"), split(api.SplitBelow, 0.3, leaf("y"), leaf("c"))), Focus: "x"}, api.Layout{Focus: "c"}},
		{"all are gone", api.Layout{Root: split(api.SplitRight, 0.4, leaf("x"), leaf("y")), Focus: "x"}, api.Layout{}},
		{"shown twice", api.Layout{Root: split(api.SplitRight, 0.4, leaf("a"), leaf("a"))}, api.Layout{Focus: "a"}},
		{"below and in a pane", api.Layout{Root: split(api.SplitRight, 0.4, leaf("a"), leaf("s")), Bottom: "s"}, api.Layout{Focus: "a", Bottom: "s"}},
		{"an agent below", api.Layout{Bottom: "a", Open: true, Focus: "a"}, api.Layout{Focus: "a"}},
		{"what is below is gone", api.Layout{Bottom: "x", Open: true, Height: 120}, api.Layout{Height: 120}},
		{"keys in a tab that no pane shows", api.Layout{Root: split(api.SplitRight, 0.4, leaf("a"), leaf("b")), Focus: "c"}, api.Layout{Root: split(api.SplitRight, 0.4, leaf("a"), leaf("b")), Focus: "a"}},
	} {
		if diff := cmp.Diff(c.want, fitLayout(c.have, open)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestFittedLayoutsAlwaysFit: whatever is stored and whatever is open, what comes out can be shown, shows open tabs once each,
// and fits again as it is.
func TestFittedLayoutsAlwaysFit(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f", "g"}
	var tree func(t *rapid.T, depth int) *api.Pane
	tree = func(t *rapid.T, depth int) *api.Pane {
		if depth == 0 || rapid.Bool().Draw(t, "leaf") {
			return leaf(rapid.SampledFrom(names).Draw(t, "tab"))
		}
		side := rapid.SampledFrom([]string{api.SplitRight, api.SplitBelow}).Draw(t, "side")
		return split(side, rapid.Float64Range(0.1, 0.9).Draw(t, "share"), tree(t, depth-1), tree(t, depth-1))
	}
	rapid.Check(t, func(t *rapid.T) {
		var open []store.Tab
		for _, name := range names {
			if rapid.Bool().Draw(t, "open "+name) {
				open = append(open, store.Tab{ID: name, Kind: rapid.SampledFrom([]string{store.TabAgent, store.TabShell}).Draw(t, "kind")})
			}
		}
		l := api.Layout{Focus: rapid.SampledFrom(names).Draw(t, "focus"), Bottom: rapid.SampledFrom(append(names, "")).Draw(t, "bottom"), Open: rapid.Bool().Draw(t, "shown")}
		if rapid.Bool().Draw(t, "split") {
			l.Root = tree(t, 3)
		}
		text, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		if l, err = readLayout(string(text)); err != nil {
			t.Fatal(err)
		}
		got := fitLayout(l, open)
		shown := leaves(got.Root)
		if len(shown) <= api.MaxPanes {
			if err := checkLayout(got); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
		}
		isOpen := func(id string) bool { return slices.ContainsFunc(open, func(o store.Tab) bool { return o.ID == id }) }
		for i, id := range shown {
			if !isOpen(id) || id == got.Bottom || slices.Contains(shown[i+1:], id) {
				t.Fatalf("%s is shown: %+v", id, got)
			}
		}
		if got.Root != nil && (len(shown) < 2 || !slices.Contains(shown, got.Focus)) || got.Bottom != "" && !isOpen(got.Bottom) || got.Open && got.Bottom == "" {
			t.Fatalf("%s became %+v", text, got)
		}
		if diff := cmp.Diff(got, fitLayout(got, open)); diff != "" {
			t.Fatalf("it does not stay:\n%s", diff)
		}
	})
}
