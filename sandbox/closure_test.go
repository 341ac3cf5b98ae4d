package sandbox

import (
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"termic/internal/fault"
)

func (h *house) program(path, text string) {
	h.t.Helper()
	h.file(path, text)
	if err := os.Chmod(path, 0o755); err != nil {
		h.t.Fatal(err)
	}
}

// TestProgramIsGrantedWithWhatItNeeds lays agents out as their installers do. What has to be granted is granted, and nothing
// around it.
func TestProgramIsGrantedWithWhatItNeeds(t *testing.T) {
	for _, c := range []struct {
		name    string
		lay     func(h *house) (program string, path []string)
		granted []string // relative to the home
		hidden  []string
	}{
		{"a package of node", func(h *house) (string, []string) {
			node := h.home + "/.nvm/versions/node/v20"
			h.program(node+"/bin/node", "#!/bin/sh\nexec true\n")
			h.program(node+"/lib/node_modules/@x/agent/cli.js", "#!/usr/bin/env node\n")
			h.file(h.home+"/.nvm/versions/node/v18/x", "")
			h.link("../lib/node_modules/@x/agent/cli.js", node+"/bin/agent")
			return node + "/bin/agent", []string{node + "/bin"}
		}, []string{".nvm/versions/node/v20"}, []string{".nvm/versions/node/v18"}},
		{"a package outside of its interpreter", func(h *house) (string, []string) {
			h.program(h.home+"/.volta/bin/node", "#!/bin/sh\nexec true\n")
			h.program(h.home+"/npm/lib/node_modules/agent/node_modules/dep/cli.js", "#!/usr/bin/env -S node --flag\n")
			h.link("../npm/lib/node_modules/agent/node_modules/dep/cli.js", h.home+"/links/agent")
			return h.home + "/links/agent", []string{h.home + "/links", h.home + "/.volta/bin"}
		}, []string{"npm/lib/node_modules", ".volta", "links"}, []string{"npm/lib", "npm"}},
		{"a native program with versions", func(h *house) (string, []string) {
			h.program(h.home+"/.local/share/agent/versions/1.0", "#!/bin/sh\nexec true\n")
			h.link(h.home+"/.local/share/agent/versions/1.0", h.home+"/.local/bin/agent")
			return h.home + "/.local/bin/agent", []string{h.home + "/.local/bin"}
		}, []string{".local/share/agent/versions", ".local/bin"}, []string{".local", ".local/share", ".local/share/sibling"}},
		{"a file in the home", func(h *house) (string, []string) {
			h.program(h.home+"/agent", "#!/bin/sh\nexec true\n")
			return h.home + "/agent", nil
		}, []string{"agent"}, []string{"", "code"}},
		{"bin in the home", func(h *house) (string, []string) {
			h.program(h.home+"/bin/agent", "#!/bin/sh\nexec true\n")
			return h.home + "/bin/agent", []string{h.home + "/bin", "relative", h.home + "/not-there"}
		}, []string{"bin"}, []string{"", "code"}},
		{"an interpreter of its own", func(h *house) (string, []string) {
			h.program(h.home+"/venv/agent/bin/agent", "#!"+h.home+"/venv/agent/bin/python\n")
			h.program(h.home+"/venv/base/bin/python3", "#!/bin/sh\nexec true\n")
			h.link(h.home+"/venv/base/bin/python3", h.home+"/venv/agent/bin/python")
			return h.home + "/venv/agent/bin/agent", nil
		}, []string{"venv/agent", "venv/base"}, []string{"venv"}},
	} {
		h := newHouse(t)
		program, path := c.lay(h)
		p := h.compose(func(w *Wish) { w.Program, w.Path = program, append(path, "/usr/bin", "/bin") })
		caps := p.Capability()
		for _, g := range c.granted {
			if !permits(caps, operation{kind: "read", path: h.home + "/" + g}) {
				t.Errorf("%s: ~/%s is not granted: %v", c.name, g, caps.read)
			}
		}
		for _, g := range c.hidden {
			if permits(caps, operation{kind: "read", path: strings.TrimSuffix(h.home+"/"+g, "/")}) {
				t.Errorf("%s: ~/%s is granted: %v", c.name, g, caps.read)
			}
		}
		for _, w := range caps.write {
			t.Errorf("%s: %s can be written", c.name, w)
		}
	}
}

func TestProgramsThatCannotBeShown(t *testing.T) {
	h := newHouse(t)
	h.program(h.home+"/tools/bin/loop", "#!"+h.home+"/tools/bin/loop\n")
	h.link("nowhere", h.home+"/tools/bin/gone")
	for _, program := range []string{h.home + "/tools/bin/loop", h.home + "/tools/bin/gone", h.home + "/tools/bin/missing", "agent"} {
		if _, err := h.try(func(w *Wish) { w.Program = program }); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("%s: %v", program, err)
		}
	}
	p := h.compose(func(w *Wish) { w.Path = []string{h.home, h.root, "/usr/bin", h.data} })
	if n := len(p.Warnings()); n != 3 {
		t.Errorf("%d warnings, want one for each folder that holds more than programs: %q", n, p.Warnings())
	}
}

func TestSocketsOutsideAreCovered(t *testing.T) {
	h := newHouse(t)
	short, err := os.MkdirTemp("", "s") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	l, err := net.Listen("unix", short+"/daemon")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	before := h.compose(layer(Layer{Read: []string{short}})).Capability()
	v := h.compose(layer(Layer{Read: []string{short}})).View()
	if !slices.Contains(v.Covers, short+"/daemon") {
		t.Errorf("covers: %v", v.Covers)
	}
	if v := h.compose().View(); slices.Contains(v.Covers, short+"/daemon") {
		t.Error("a socket that no grant shows is covered")
	}
	l.Close()
	if after := h.compose(layer(Layer{Read: []string{short}})).Capability(); !after.Equal(before) {
		t.Error("a socket that came and went changed the capability")
	}
}

// TestPreparingFollowsNoLink: a cage could write where things are prepared, and must not make Termic write elsewhere.
func TestPreparingFollowsNoLink(t *testing.T) {
	h := newHouse(t)
	h.dirs(h.home+"/victim", h.home+"/.nvm")
	h.link(h.home+"/.nvm", h.home+"/a/b/node")
	h.link(h.home+"/victim", h.priv+"/a")
	p := h.compose(layer(Layer{Read: []string{"$HOME/a/b/node"}}))
	if err := p.Prepare(); err == nil {
		t.Error("a link out of the private home was followed, or nothing was prepared")
	}
	if list := children(h.home + "/victim"); len(list) > 0 {
		t.Errorf("%v was made outside", list)
	}
}

func TestWhatIsPreparedGoesAway(t *testing.T) {
	h := newHouse(t)
	p := h.compose(func(w *Wish) { w.GitView = "" })
	q := h.compose(func(w *Wish) { w.GitView = "" })
	if p.gitView.dir == q.gitView.dir {
		t.Error("two starts share a view")
	}
	for range 2 {
		if err := p.Prepare(); err != nil {
			t.Fatal(err)
		}
	}
	if !exists(p.gitView.dir + "/packed-refs") {
		t.Error("the view was not made")
	}
	if err := p.Remove(); err != nil || exists(p.gitView.dir) {
		t.Errorf("the view is still there: %v", err)
	}
	h.run(h.repo, "fsck", "--strict")
	h.run(h.repo, "clone", "-q", ".", h.root+"/clone")
	h.run(h.repo, "worktree", "remove", "--force", h.wt)
}

func TestGitEnvironment(t *testing.T) {
	h := newHouse(t)
	got := h.compose().GitEnvironment([]string{"A=b", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=x.y", "GIT_CONFIG_VALUE_0=z"})
	for _, want := range []string{"A=b", "GIT_CONFIG_KEY_0=x.y", "GIT_CONFIG_KEY_1=branch.autoSetupMerge", "GIT_CONFIG_COUNT=6"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
	if slices.Contains(got, "GIT_CONFIG_COUNT=1") {
		t.Error("two counts")
	}
	if got := (Policy{mode: Off}).GitEnvironment([]string{"A=b"}); !slices.Equal(got, []string{"A=b"}) {
		t.Errorf("without a cage: %q", got)
	}
}

// TestRefTablesAreRefused: where all refs are in one folder, a cage that may write its own branch could write every other ref
// and the HEAD of the person's checkout. The project's own checkout has its whole folder read-only, so it is caged.
func TestRefTablesAreRefused(t *testing.T) {
	for _, goos := range []string{"linux", "darwin"} {
		h := newHouse(t)
		on := func(w *Wish) { w.GOOS = goos }
		if _, err := h.try(on); err != nil {
			t.Fatalf("%s: without tables: %v", goos, err)
		}
		h.file(h.git+"/"+refTables, "0x000000000001-0x000000000002-abcdef01.ref\n")
		_, err := h.try(on)
		if f := fault.From(err); err == nil || f.Code != fault.Unsupported || !strings.Contains(f.Hint, "git refs migrate") {
			t.Errorf("%s: a linked worktree: %v", goos, err)
		}
		if _, err := h.try(on, func(w *Wish) { w.Worktree, w.GitDir, w.GitView = h.repo, h.git, "" }); err != nil {
			t.Errorf("%s: the project's own checkout: %v", goos, err)
		}
	}
}
