//go:build unix

package repofile

import (
	"path/filepath"
	"syscall"
	"testing"

	"termic/internal/fault"
)

// TestAPipeIsNotWaitedFor: a pipe without a writer would block a reader for ever.
func TestAPipeIsNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	check(t, syscall.Mkfifo(filepath.Join(dir, Name), 0o644))
	if _, found, err := Read(dir); found || fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("%v, %v", found, err)
	}
}
