//go:build !testbridge

package app

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The test bridge hands the owner's authority to whoever opens an address. It must be in no program that people run.
func TestTheProgramHasNoTestBridge(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "termic")
	build := exec.Command("go", "build", "-tags", "headless", "-o", binary, "termic")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	for _, trace := range []string{"TEST_BRIDGE", "termic: bridge", "bridgeHandler"} {
		if bytes.Contains(program, []byte(trace)) {
			t.Errorf("the program holds %q", trace)
		}
	}
	if !bytes.Contains(program, []byte("termic: ready")) {
		t.Error("this test looks at the wrong bytes: the program does not even hold the words that it prints")
	}
}
