package sandbox

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"termic/internal/netgroup"
	"termic/sandbox/hosts"
)

// TestWrites: what was granted counts by the folder that it lies in and by what lies in it, and nothing else does.
func TestWrites(t *testing.T) {
	c := Capability{known: true, mode: Enforce, write: []string{"/src/other", "/src/one/.git/refs"}}
	for path, want := range map[string]bool{"/src/other": true, "/src/other/.git": true, "/src/one/.git": true, "/src/one/.git/refs/heads": true, "/src/otherwise": false, "/src/two/.git": false, "/": true} {
		if got := c.Writes(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	if Unbounded(Monitor).Writes("/src") || (Capability{}).Writes("/src") {
		t.Error("it writes without a grant")
	}
}

// TestWhatACapabilitySays: what it is asked is what was composed, for every mode, and the zero value is nobody's.
func TestWhatACapabilitySays(t *testing.T) {
	h := newHouse(t)
	for _, m := range Modes {
		c := h.compose(func(w *Wish) { w.Mode, w.Secrets = m, []string{"NPM_TOKEN", "AWS_KEY", "NPM_TOKEN"} }).Capability()
		want := map[Mode]Control{Off: ControlFull, Monitor: ControlFull, EnforceFs: ControlNone, Enforce: ControlNone}[m]
		if c.Mode() != m || !c.Known() || c.Uncaged() != (m == Off) || c.Control() != want {
			t.Errorf("%s: mode %q, known %v, uncaged %v, control %s", m, c.Mode(), c.Known(), c.Uncaged(), c.Control())
		}
		got := c.Secrets()
		if !slices.Equal(got, []string{"AWS_KEY", "NPM_TOKEN"}) {
			t.Errorf("%s: secrets %q", m, got)
		}
		got[0] = "CHANGED"
		if c.Secrets()[0] == "CHANGED" {
			t.Errorf("%s: whoever asks can change it", m)
		}
		if u := Unbounded(m); u.Known() != (m == Off || m == Monitor) || !u.Known() && !u.Equal(Capability{}) {
			t.Errorf("%s: %+v without a cage", m, u)
		}
	}
	var none Capability
	if none.Known() || none.Uncaged() || none.Mode() != "" || none.Control() != ControlNone || none.Secrets() != nil {
		t.Errorf("the zero value says %+v", none)
	}
	for c, want := range map[Control]string{ControlNone: "none", ControlScoped: "scoped", ControlFull: "full", 7: "Control(7)"} {
		if c.String() != want {
			t.Errorf("%d is %q", int(c), c)
		}
	}
}

// TestEqualLooksAtEverything: two capabilities that differ in any one thing are not equal, whichever is asked.
func TestEqualLooksAtEverything(t *testing.T) {
	office, err := netgroup.Parse([]string{"203.0.113.0/24"})
	if err != nil {
		t.Fatal(err)
	}
	base := Capability{known: true, mode: Enforce, control: ControlScoped, projects: []string{"p"}, agents: []string{"a"}, secrets: []string{"K"}, read: []string{"/r"}, write: []string{"/w"},
		deny: []string{"/r/d"}, pinned: []string{"/w/p"}, hosts: mustHosts([]string{"x.test"}), nets: hosts.Nets{}.With("o", []uint16{443}, office), refused: office}
	if !base.Equal(base) || !(Capability{}).Equal(Capability{}) || base.Equal(Capability{}) {
		t.Error("one is not equal to itself, or to nothing")
	}
	for name, change := range map[string]func(*Capability){
		"known": func(c *Capability) { c.known = false }, "mode": func(c *Capability) { c.mode = EnforceFs }, "control": func(c *Capability) { c.control = ControlNone },
		"unbounded": func(c *Capability) { c.unbounded = true }, "secrets": func(c *Capability) { c.secrets = nil }, "projects": func(c *Capability) { c.projects = []string{"q"} },
		"agents": func(c *Capability) { c.agents = nil }, "read": func(c *Capability) { c.read = nil }, "write": func(c *Capability) { c.write = nil },
		"deny": func(c *Capability) { c.deny = nil }, "pinned": func(c *Capability) { c.pinned = nil }, "hosts": func(c *Capability) { c.hosts = hosts.All() },
		"nets": func(c *Capability) { c.nets = hosts.Nets{} }, "refused": func(c *Capability) { c.refused = netgroup.Set{} },
	} {
		other := base
		change(&other)
		if base.Equal(other) || other.Equal(base) {
			t.Errorf("they differ by %s, and are equal", name)
		}
	}
}

// TestNoLimitIsWithinNone: however a capability without limits came by a tight mode, it is not within one that has them.
func TestNoLimitIsWithinNone(t *testing.T) {
	wide, tight := Capability{known: true, mode: Enforce, unbounded: true}, Capability{known: true, mode: Enforce}
	var w *Wider
	if err := Within(wide, tight); !errors.As(err, &w) || w.Part != PartFiles {
		t.Errorf("%v", err)
	}
	if err := Within(tight, wide); err != nil {
		t.Errorf("%v", err)
	}
}

// TestHolding: the names are those that are given, and none of before.
func TestHolding(t *testing.T) {
	had := holding(Unbounded(Off), []string{"B", "A", "B"})
	if !slices.Equal(had.secrets, []string{"A", "B"}) {
		t.Errorf("%q", had.secrets)
	}
	if now := holding(had, nil); now.secrets != nil || !now.Equal(Unbounded(Off)) {
		t.Errorf("%q", now.secrets)
	}
}

// TestUnionWithTheUnknown: what is not known is not judged, so it makes nothing known.
func TestUnionWithTheUnknown(t *testing.T) {
	known := Capability{known: true, mode: Enforce, projects: []string{"p"}}
	for name, u := range map[string]Capability{"first": Union(Capability{}, known), "second": Union(known, Capability{}), "both": Union(Capability{}, Capability{}),
		"without a cage": Union(Unbounded(Off), Capability{}), "a cage that is unknown": Union(Capability{mode: Enforce, projects: []string{"p"}}, known)} {
		if u.Known() || !u.Equal(Capability{}) {
			t.Errorf("%s: %+v", name, u)
		}
	}
	if u := Union(known, known); !u.Known() || u.Mode() != Enforce {
		t.Errorf("%+v", u)
	}
}

// TestWhatANetgroupWarnsOf: that names are looked up where it allows something, and that it allows nothing where nothing of it is public.
func TestWhatANetgroupWarnsOf(t *testing.T) {
	h := newHouse(t)
	for group, want := range map[string]string{"office": "Any name is looked up", "home": "has no public address"} {
		p := h.compose(func(w *Wish) { w.Netgroups = map[string][]string{"office": {"203.0.113.0/24"}, "home": {"10.0.0.0/8"}} }, layer(Layer{Hosts: []string{"@" + group}}))
		said := slices.DeleteFunc(p.Warnings(), func(s string) bool { return !strings.Contains(s, "@"+group) })
		if len(said) != 1 || !strings.Contains(said[0], want) {
			t.Errorf("@%s: %q, want %q", group, said, want)
		}
	}
	own := []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:4711")}
	for text, want := range map[string]bool{"127.0.0.1:4711": true, "127.0.0.1:4712": false, "192.0.2.1:80": false} {
		if got := OwnAddress(own, netip.MustParseAddrPort(text)); got != want {
			t.Errorf("%s is our own: %v", text, got)
		}
	}
}
