//go:build !weakcage

package attack

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestEveryLayerIsNeeded builds this test with a cage whose layers can be left out, and runs TestWeakenedCage in it.
func TestEveryLayerIsNeeded(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT SHOWN in short mode: that each layer of the cage holds something")
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("NOT SHOWN: that each layer of the cage holds something: there is no go to build the weakened cage with")
	}
	weak := filepath.Join(t.TempDir(), "weak.test")
	build := exec.Command(goTool, "test", "-c", "-tags=weakcage", "-o", weak, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	uid := testUser
	if os.Getuid() != 0 {
		uid = os.Getuid()
	}
	runAs(t, uid, weak, "TestWeakenedCage")
}
