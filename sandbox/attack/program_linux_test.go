//go:build !race

package attack

import (
	"os"
	"testing"
)

// program is the test program that attacks and is the cage's helper: this one.
func program(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}
