package cage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/internal/fault"
)

// envAppArmor says that the test runs as a user on a machine with AppArmor, and in which state it is: "loaded" has the profile
// of the helper; "profiled" has it and keeps programs without a profile from making namespaces; "bare" does so without it.
const envAppArmor = "TERMIC_TEST_APPARMOR"

// installed is where the profile expects the helper.
const installed = "/usr/bin/termic-cage"

// TestAppArmor: without the profile every cage is refused with the advice to load it; with it the helper at the path that
// it names makes cages, and the same program at another path does not.
func TestAppArmor(t *testing.T) {
	state := os.Getenv(envAppArmor)
	if state == "" {
		t.Skip("NOT TESTED: this needs a machine whose AppArmor restricts namespaces, such as those of build/kernels.sh")
	}
	refused := func(helper string) {
		t.Helper()
		r := Probe(t.Context(), helper)
		if r.Enforce || r.EnforceFs {
			t.Errorf("%s makes cages, and has no profile", helper)
			return
		}
		said := words(r.Problem)
		t.Logf("%s: %s", helper, said)
		if fault.CodeOf(r.Problem) != fault.Unsupported || !strings.Contains(said, "AppArmor") || !strings.Contains(said, "apparmor_parser -r") {
			t.Errorf("the refusal does not say what to do: %s", said)
		}
	}
	if state == "bare" {
		refused(installed)
		return
	}
	if state == "profiled" {
		program, err := os.ReadFile(installed)
		must(t, err)
		elsewhere := filepath.Join(folder(t), "termic-cage")
		must(t, os.WriteFile(elsewhere, program, 0o755))
		refused(elsewhere)
	}

	for _, net := range networks(t, installed) {
		out, exit := run(t, Spec{View: systemView(t), Net: net, HelperPath: installed}, "sh", "-c", "cat /proc/self/attr/current; cat /proc/1/attr/current; git --version")
		if exit.Code != 0 || !strings.Contains(out, "git version") {
			t.Errorf("network of its own %v: %+v %s", net, exit, out)
		}
		t.Logf("the labels of a program and of the first process: %s", out)
	}
}
