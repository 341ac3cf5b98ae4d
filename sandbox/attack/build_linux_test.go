//go:build !weakcage || race

package attack

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// envWeak names a test program that was built with the tag weakcage, for machines without a go.
const envWeak = "TERMIC_ATTACK_WEAK"

// build makes this test program anew, static and with the given tags.
func build(t *testing.T, tags ...string) string {
	t.Helper()
	if made := os.Getenv(envWeak); made != "" && slices.Equal(tags, []string{"weakcage"}) {
		return made
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("NOT SHOWN: there is no go to build the program with")
	}
	out := filepath.Join(t.TempDir(), "attack.test")
	args := []string{"test", "-c", "-o", out}
	for _, tag := range tags {
		args = append(args, "-tags="+tag)
	}
	cmd := exec.Command(goTool, append(args, ".")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return out
}
