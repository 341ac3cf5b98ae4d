package sandbox

import (
	"slices"
	"testing"
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
