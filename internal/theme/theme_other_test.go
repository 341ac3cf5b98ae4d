//go:build !unix

package theme

import (
	"os"
	"testing"
)

// notFile makes a folder, where there are no pipes in folders.
func notFile(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
}
