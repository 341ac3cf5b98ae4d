package sandbox

import (
	"errors"
	"strings"
	"testing"

	"termic/internal/fault"
	"termic/sandbox/cage"
)

// TestMachinesThatAreRefused: a mode is refused where a layer that it counts on is not there, with what to do.
func TestMachinesThatAreRefused(t *testing.T) {
	problem := errors.New("no namespaces")
	report := func(landlock int, lsms ...string) cage.Report {
		return cage.Report{Kernel: "6.1.0", LSMs: lsms, Enforce: true, EnforceFs: true, Holds: cage.Enforcement{Landlock: landlock}}
	}
	broken := report(7)
	broken.Problem, broken.ProblemFs = problem, problem
	for _, c := range []struct {
		what string
		mode Mode
		r    cage.Report
		hint string // a part of the advice; empty: not refused
	}{
		{"all there", Enforce, report(7), ""},
		{"all there, files alone", EnforceFs, report(6), ""},
		{"an old Landlock", Enforce, report(1), ""},
		{"an old Landlock, files alone", EnforceFs, report(5), "6.12"},
		{"no Landlock", Enforce, report(0, "lockdown", "capability", "yama"), "lsm=landlock,lockdown,capability,yama"},
		{"no Landlock, modules not told", Enforce, report(0), "5.13"},
		{"no Landlock, files alone", EnforceFs, report(0, "yama"), "6.12"},
	} {
		err := refusal(c.mode, c.r)
		if (err != nil) != (c.hint != "") || err != nil && (fault.CodeOf(err) != fault.Unsupported || !strings.Contains(fault.From(err).Hint, c.hint)) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	for _, m := range []Mode{Enforce, EnforceFs} {
		if err := refusal(m, broken); !errors.Is(err, problem) {
			t.Errorf("%s: %v", m, err)
		}
	}
}
