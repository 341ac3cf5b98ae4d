package sandbox

import (
	"testing"

	"termic/internal/fault"
)

func TestNoCageIsEverPretended(t *testing.T) {
	for _, m := range Modes {
		got, err := ParseMode(string(m))
		if err != nil || got != m {
			t.Fatalf("ParseMode(%q) = %q, %v", m, got, err)
		}
	}
	for _, s := range []string{"", "OFF", "none", "enforce ", "enforce_fs"} {
		if _, err := ParseMode(s); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("ParseMode(%q) = %v", s, err)
		}
	}
	var m Machine
	for _, open := range []Mode{Off, Monitor} {
		if err := m.Check(t.Context(), open); err != nil {
			t.Error(err)
		}
	}
	if fault.CodeOf(m.Check(t.Context(), "nonsense")) != fault.InvalidArgument {
		t.Error("an unknown mode must be refused")
	}
}
