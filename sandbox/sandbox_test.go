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
		if err := Check(m); (err == nil) != (m == Off) {
			t.Errorf("Check(%q) = %v", m, err)
		}
	}
	for _, s := range []string{"", "OFF", "none", "enforce ", "enforce_fs"} {
		if _, err := ParseMode(s); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("ParseMode(%q) = %v", s, err)
		}
	}
	if fault.CodeOf(Check("nonsense")) != fault.Unsupported {
		t.Error("an unknown mode must be refused")
	}
}
