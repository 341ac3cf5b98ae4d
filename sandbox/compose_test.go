package sandbox

import (
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"termic/internal/fault"
)

func TestModesWithoutACage(t *testing.T) {
	for _, m := range []Mode{Off, Monitor} {
		p, err := Compose(Wish{Mode: m})
		if err != nil || p.Caged() || p.Mode() != m || !reflect.DeepEqual(p.View(), View{}) || !p.Capability().Equal(Unbounded(m)) {
			t.Errorf("%s: %+v, %v", m, p, err)
		}
	}
	if _, err := Compose(Wish{Mode: "nonsense"}); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("an unknown mode: %v", err)
	}
	if _, err := Compose(Wish{}); err == nil {
		t.Error("the empty mode was composed")
	}
}

func TestOrderOfLayersMeansNothing(t *testing.T) {
	h := newHouse(t)
	h.dirs(h.home+"/a/b/c", h.home+"/a/d", h.root+"/x/y")
	layers := []Layer{
		{Name: "one", Read: []string{"$HOME/a", "$HOME/a/b/c"}, Hosts: []string{"x.test", "*.x.test:8443"}, Owner: true},
		{Name: "two", Write: []string{"$HOME/a/b"}, Deny: []string{"$HOME/a/d"}, Hosts: []string{"@forges"}, Owner: true},
		{Name: "three", Read: []string{h.root + "/x"}, Write: []string{h.root + "/x/y"}, Hosts: []string{"*.x.test"}},
		{Name: "four", Read: []string{"~/a/d", "$HOME/nothing"}, Optional: true, Deny: []string{h.root + "/x/y"}},
	}
	var first Policy
	for i := range 24 {
		order := rand.Perm(len(layers))
		p := h.compose(func(w *Wish) {
			for _, at := range order {
				l := layers[at]
				l.Read, l.Hosts = slices.Clone(l.Read), slices.Clone(l.Hosts)
				slices.Reverse(l.Read)
				slices.Reverse(l.Hosts)
				w.Layers = append(w.Layers, l)
			}
		})
		p.sockets = nil // what other programs of this machine hold open meanwhile is no matter of the order
		if i == 0 {
			first = p
			continue
		}
		if !reflect.DeepEqual(p, first) {
			t.Fatalf("order %v: the policy differs: %s", order, cmp.Diff(first.View(), p.View()))
		}
		if !p.Capability().Equal(first.Capability()) {
			t.Fatalf("order %v: the capability differs", order)
		}
	}
}

func TestTheBoxChangesOneDoorAlone(t *testing.T) {
	h := newHouse(t)
	for _, m := range []Mode{Enforce, EnforceFs} {
		mode := func(w *Wish) { w.Mode = m }
		without, with := h.compose(mode), h.compose(mode, func(w *Wish) { w.MCP = true })
		without.sockets, with.sockets = nil, nil // of other programs, which come and go
		if d := cmp.Diff(without.View(), with.View()); d != "" {
			t.Errorf("%s: the view differs: %s", m, d)
		}
		if !without.Hosts().Equal(with.Hosts()) || without.OwnNetwork() != with.OwnNetwork() || !slices.Equal(without.Warnings(), with.Warnings()) ||
			!slices.Equal(without.GitEnvironment(nil), with.GitEnvironment(nil)) || !reflect.DeepEqual(without.prepare, with.prepare) {
			t.Errorf("%s: more than the door differs", m)
		}
		want := map[Mode][][]int{Enforce: {{7778}, {7778, 7777}}, EnforceFs: {nil, nil}}[m]
		if !slices.Equal(without.Doors(), want[0]) || !slices.Equal(with.Doors(), want[1]) {
			t.Errorf("%s: doors %v and %v, want %v", m, without.Doors(), with.Doors(), want)
		}
		a, b := without.Capability(), with.Capability()
		if a.Control() != ControlNone || b.Control() != ControlScoped {
			t.Errorf("%s: control %s and %s", m, a.Control(), b.Control())
		}
		b.control = ControlNone
		if !a.Equal(b) {
			t.Errorf("%s: the capabilities differ in more than control", m)
		}
	}
}

// TestEntriesAreRefusedInWords goes through what cannot be provisioned as it is written. Each sentence names the layer and
// the entry.
func TestEntriesAreRefusedInWords(t *testing.T) {
	h := newHouse(t)
	h.link(h.data, h.home+"/innocent")
	h.link("nowhere", h.home+"/dangling")
	h.link("loop", h.home+"/loop")
	for _, c := range []struct {
		name  string
		layer Layer
		entry string
	}{
		{"missing", Layer{Read: []string{"$HOME/nothing"}}, "$HOME/nothing"},
		{"a link to nothing", Layer{Read: []string{"$HOME/dangling"}}, "$HOME/dangling"},
		{"a link to itself", Layer{Read: []string{"$HOME/loop"}}, "$HOME/loop"},
		{"relative", Layer{Read: []string{"code"}}, "code"},
		{"another variable", Layer{Read: []string{"$SECRET/x"}}, "$SECRET/x"},
		{"a variable as a prefix of a name", Layer{Read: []string{"$HOMEX"}}, "$HOMEX"},
		{"a pattern", Layer{Write: []string{"$HOME/.claude*"}}, "$HOME/.claude*"},
		{"a pattern of an optional layer", Layer{Write: []string{"$HOME/.claude*"}, Optional: true}, "$HOME/.claude*"},
		{"a regular expression", Layer{Read: []string{"regex:^/x"}}, "regex:^/x"},
		{"a line break", Layer{Read: []string{"/usr\n/etc"}}, ""},
		{"the data folder", Layer{Read: []string{h.data}, Owner: true}, h.data},
		{"a file in the data folder", Layer{Write: []string{h.data + "/token"}, Owner: true}, "token"},
		{"the data folder by another name", Layer{Read: []string{"$HOME/innocent"}, Owner: true}, "innocent"},
		{"the data folder by dots", Layer{Read: []string{"$HOME/code/../.local/share/termic"}, Owner: true}, "termic"},
		{"everything", Layer{Read: []string{"/"}, Owner: true}, "/"},
		{"processes", Layer{Read: []string{"/proc"}, Owner: true}, "/proc"},
		{"a device", Layer{Write: []string{"/dev/null"}, Owner: true}, "/dev/null"},
		{"all of /tmp", Layer{Write: []string{"/tmp"}, Owner: true}, "/tmp"},
		{"a denial of what is missing", Layer{Deny: []string{"$HOME/.netrc"}, Optional: true}, "$HOME/.netrc"},
		{"a denial of the workspace", Layer{Deny: []string{"$WORKSPACE"}}, "$WORKSPACE"},
		{"a host as a URL", Layer{Hosts: []string{"https://x.test"}}, "https://x.test"},
		{"an unknown list of hosts", Layer{Hosts: []string{"@nonsense"}}, "@nonsense"},
	} {
		c.layer.Name = "the list of demo"
		_, err := h.try(layer(c.layer))
		f := fault.From(err)
		if fault.CodeOf(err) != fault.InvalidArgument || f == nil || !strings.Contains(f.Message, "the list of demo") || !strings.Contains(f.Message, c.entry) {
			t.Errorf("%s: %v; want a sentence with the layer and %q", c.name, err, c.entry)
		}
		if f != nil && f.Hint == "" && c.name != "a line break" && c.name != "a link to itself" {
			t.Errorf("%s: %v has no advice", c.name, err)
		}
	}
}

func TestDataFolderStaysHidden(t *testing.T) {
	h := newHouse(t)
	for _, l := range []Layer{
		{Read: []string{"$HOME/.local/share"}}, {Write: []string{"$HOME/.local/share"}, Owner: true}, {Read: []string{"$HOME/.local"}, Owner: true},
		{Read: []string{"$HOME"}, Owner: true}, {Write: []string{filepath.Dir(h.home)}, Owner: true}, {Read: []string{h.root}, Owner: true},
	} {
		for _, m := range []Mode{Enforce, EnforceFs} {
			p := h.compose(layer(l), func(w *Wish) { w.Mode = m })
			v := p.View()
			for _, mount := range v.Mounts {
				if covers(mount.Source, h.data) && !slices.Contains(v.Covers, h.data) {
					t.Errorf("%+v: %s shows the data folder", l, mount.Source)
				}
				if covers(h.data, mount.Source) && mount.Source != h.priv && mount.Source != h.wish.GitView {
					t.Errorf("%+v: %s is mounted", l, mount.Source)
				}
			}
			for _, kind := range []string{"read", "write"} {
				if permits(p.Capability(), operation{kind: kind, path: h.data + "/token"}) {
					t.Errorf("%+v: %s of the token is in the capability", l, kind)
				}
			}
			if len(p.Warnings()) == 0 {
				t.Errorf("%+v: no warning", l)
			}
		}
	}
	p := h.compose(layer(Layer{Read: []string{"$HOME/.local/share"}}))
	if !permits(p.Capability(), operation{kind: "read", path: h.home + "/.local/share/sibling"}) || mountOf(p, h.home+"/.local/share") == nil {
		t.Error("the positive control is not granted")
	}
}

func TestHomeIsThePrivateOne(t *testing.T) {
	h := newHouse(t)
	h.dirs(h.home+"/.nvm", filepath.Dir(h.home)+"/other")
	h.link(h.home+"/.nvm", h.home+"/node")
	p := h.compose(layer(Layer{Name: "agent", Write: []string{"$HOME/node"}}))
	if m := mountOf(p, h.home); m == nil || m.Source != h.priv || !m.Write {
		t.Errorf("home is %+v", m)
	}
	if m := mountOf(p, h.home+"/.nvm"); m == nil || m.Write {
		t.Errorf("a write grant that nobody wrote by hand is %+v", m)
	}
	if !slices.ContainsFunc(p.Warnings(), func(s string) bool { return strings.Contains(s, "$HOME/node") }) {
		t.Errorf("warnings: %q", p.Warnings())
	}
	if !slices.Contains(p.prepare, preparation{root: h.priv, path: "node", link: h.home + "/.nvm"}) {
		t.Errorf("the link in the home is not made: %+v", p.prepare)
	}
	p = h.compose(layer(Layer{Write: []string{"$HOME/.nvm"}, Owner: true}))
	if m := mountOf(p, h.home+"/.nvm"); m == nil || !m.Write || len(p.Warnings()) == 0 {
		t.Errorf("a write grant by hand is %+v, warnings %q", m, p.Warnings())
	}
	p = h.compose(layer(Layer{Read: []string{filepath.Dir(h.home)}, Owner: true}))
	if mountOf(p, filepath.Dir(h.home)) != nil || mountOf(p, filepath.Dir(h.home)+"/other") == nil {
		t.Errorf("a grant above the home: %+v", p.View().Mounts)
	}
	if permits(p.Capability(), operation{kind: "read", path: h.home + "/.nvm"}) {
		t.Error("a grant above the home reaches into the home")
	}
}

func TestWorkspaceIsInNoCapability(t *testing.T) {
	h := newHouse(t)
	h.dirs(h.wt + "/src")
	p := h.compose(layer(Layer{Write: []string{"$WORKSPACE/src"}, Deny: []string{"$WORKSPACE/f"}}))
	c := p.Capability()
	for _, path := range []string{h.wt, h.wt + "/src", h.priv, h.git + "/objects", h.admin} {
		if permits(c, operation{kind: "read", path: path}) {
			t.Errorf("%s is compared", path)
		}
	}
	if v := p.View(); !slices.Contains(v.Covers, h.wt+"/f") {
		t.Errorf("a denial in the workspace is not in %v", v.Covers)
	}
	other := h.compose(func(w *Wish) { w.TaskID = "t2" })
	if err := Within(p.Capability(), other.Capability()); err != nil {
		t.Errorf("two tasks of one project: %v", err)
	}
}

// TestWorkedExample is the one of the first paper: A1 has its own project alone, B1 may act on C as well.
func TestWorkedExample(t *testing.T) {
	h := newHouse(t)
	task := func(id, project string, projects ...string) Capability {
		return h.compose(func(w *Wish) { w.TaskID, w.Project, w.Projects, w.MCP = id, project, projects, true }).Capability()
	}
	a1, b1, c1 := task("A1", "A"), task("B1", "B", "B", "C"), task("C1", "C")
	if err := Within(c1, b1); err != nil {
		t.Errorf("B1 into C1: %v", err)
	}
	if err := Within(c1, a1); err == nil {
		t.Error("A1 into C1 was allowed")
	}
	if err := Within(b1, a1); err == nil {
		t.Error("A1 into B1 was allowed")
	}
	if err := Within(task("C2", "C", "D"), b1); err == nil {
		t.Error("B1 into a task that reaches further than B1 was allowed")
	}
}

func TestAgentsAreComparedByTheirID(t *testing.T) {
	h := newHouse(t)
	caller := h.compose(func(w *Wish) { w.MCP = true }).Capability()
	codex := h.compose(func(w *Wish) { w.Agent = "codex" })
	if err := Within(codex.Capability(), caller); err == nil {
		t.Error("another agent was within")
	}
	caller = h.compose(func(w *Wish) { w.MCP, w.Agents = true, []string{"codex"} }).Capability()
	if err := Within(codex.Capability(), caller); err != nil {
		t.Errorf("a listed agent: %v", err)
	}
	if _, ok := codex.Hosts().Allows("api.openai.com", 443); !ok {
		t.Error("the agent's own host is refused")
	}
	if _, ok := h.compose().Hosts().Allows("api.openai.com", 443); ok {
		t.Error("another agent's host is allowed")
	}
}

func TestAgentHostsAreRules(t *testing.T) {
	for id, rules := range agentHosts {
		if set := mustHosts(rules); set.Empty() || set.Unbounded() {
			t.Errorf("%s: %v", id, set)
		}
	}
	for _, g := range Groups() {
		if list, ok := Preset(g.Name); mustHosts(list).Unbounded() || !ok || !strings.HasPrefix(g.Name, "@") {
			t.Errorf("%s: %v", g.Name, list)
		}
	}
}

func TestEnforceFsReachesEveryHost(t *testing.T) {
	h := newHouse(t)
	p := h.compose(func(w *Wish) { w.Mode = EnforceFs }, layer(Layer{Hosts: []string{"x.test"}}))
	if _, ok := p.Hosts().Allows("elsewhere.test", 1); !ok {
		t.Error("a host is refused")
	}
	if err := Within(p.Capability(), h.compose().Capability()); err == nil {
		t.Error("EnforceFs is within Enforce")
	}
	if err := Within(h.compose().Capability(), h.compose(func(w *Wish) { w.Mode = EnforceFs }).Capability()); err != nil {
		t.Errorf("Enforce is not within EnforceFs: %v", err)
	}
}

func TestSSHAgentIsGrantedByItsOwnerAlone(t *testing.T) {
	h := newHouse(t)
	short, err := os.MkdirTemp("", "s") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	l, err := net.Listen("unix", short+"/agent")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	agent := func(w *Wish) { w.SSHAgent = short + "/agent" }
	for _, c := range []struct {
		name    string
		layer   Layer
		change  func(*Wish)
		granted bool
	}{
		{"the owner, for writing", Layer{Owner: true, Write: []string{SSHAgentEntry}}, agent, true},
		{"the owner, for reading", Layer{Owner: true, Read: []string{SSHAgentEntry}}, agent, false},
		{"a file of the repository", Layer{Write: []string{SSHAgentEntry}}, agent, false},
		{"none runs", Layer{Owner: true, Write: []string{SSHAgentEntry}}, func(*Wish) {}, false},
		{"it is gone", Layer{Owner: true, Write: []string{SSHAgentEntry}}, func(w *Wish) { w.SSHAgent = short + "/other" }, false},
		{"it is no socket", Layer{Owner: true, Write: []string{SSHAgentEntry}}, func(w *Wish) { w.SSHAgent = h.repo + "/f" }, false},
		{"nobody names it, and its folder is granted", Layer{Owner: true, Write: []string{short}}, agent, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := h.compose(layer(c.layer), c.change)
			hidden := slices.Contains(p.View().Covers, short+"/agent") || source(p.View().Mounts, short+"/agent") == nil
			if hidden == c.granted || (p.SSHAgent() != "") != c.granted {
				t.Errorf("hidden %v, told %q", hidden, p.SSHAgent())
			}
			named := len(c.layer.Read)+len(c.layer.Write) > 0 && !slices.Contains(c.layer.Write, short)
			if named && !slices.ContainsFunc(p.Warnings(), func(s string) bool { return strings.Contains(s, "ssh agent") }) {
				t.Errorf("it is not told: %q", p.Warnings())
			}
		})
	}
}
