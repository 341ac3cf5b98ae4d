package sandbox

import (
	"os"
	"slices"
	"testing"
)

// TestPlantedLinks: a link that a program of the cage put into a folder that it may write shows the next start nothing
// that was not granted: neither in the place of a granted folder, nor of one on PATH, nor of the agent's program.
func TestPlantedLinks(t *testing.T) {
	for name, c := range map[string]struct {
		layer   Layer
		victim  string // what the cage replaces, below the home or the worktree
		path    string // more on PATH
		program string
		starts  bool
	}{
		"in the worktree":    {layer: Layer{Read: []string{"$WORKSPACE/out"}}, victim: "trees/wt/out"},
		"written":            {layer: Layer{Write: []string{"$WORKSPACE/out"}}, victim: "trees/wt/out"},
		"below another":      {layer: Layer{Write: []string{"~/go"}, Read: []string{"~/go/bin"}}, victim: "go/bin"},
		"on PATH":            {layer: Layer{Write: []string{"~/go"}}, victim: "go/bin", path: "go/bin", starts: true},
		"the agent":          {layer: Layer{Write: []string{"~/tools"}}, victim: "tools/bin"},
		"the agent by shell": {layer: Layer{Write: []string{"~/tools"}}, program: "tools/bin/agent", starts: true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.file(h.home+"/.ssh/agent", "KEY")
			w := h.wish
			c.layer.Name, c.layer.Owner = "the list", true
			w.Layers = []Layer{c.layer}
			if c.path != "" {
				w.Path = append([]string{h.home + "/" + c.path}, w.Path...)
			}
			if c.program != "" {
				h.file(h.home+"/"+c.program, "#!"+h.home+"/.ssh/agent\n")
			} else {
				h.dirs(h.home + "/" + c.victim)
				if _, err := Compose(w); err != nil {
					t.Fatalf("before: %v", err)
				}
				if err := os.RemoveAll(h.home + "/" + c.victim); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(h.home+"/.ssh", h.home+"/"+c.victim); err != nil {
					t.Fatal(err)
				}
			}
			p, err := Compose(w)
			if (err == nil) != c.starts {
				t.Errorf("composed: %v", err)
			}
			if slices.ContainsFunc(p.grants, func(g grant) bool { return covers(h.home+"/.ssh", g.path) || covers(g.path, h.home+"/.ssh") }) {
				t.Errorf("the keys are granted: %+v", p.grants)
			}
		})
	}
	// A link of the worktree that stays in it is the repository's own affair.
	h := newHouse(t)
	h.dirs(h.wt + "/real")
	if err := os.Symlink("real", h.wt+"/out"); err != nil {
		t.Fatal(err)
	}
	w := h.wish
	w.Layers = []Layer{{Name: "the list", Owner: true, Read: []string{"$WORKSPACE/out"}}}
	if _, err := Compose(w); err != nil {
		t.Error(err)
	}
}
