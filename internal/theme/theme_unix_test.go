//go:build unix

package theme

import (
	"syscall"
	"testing"
)

// notFile makes a pipe: opening one waits for its other end.
func notFile(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}
