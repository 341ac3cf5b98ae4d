package sandbox

import "testing"

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
