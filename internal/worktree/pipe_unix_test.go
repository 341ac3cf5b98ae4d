//go:build unix

package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"termic/internal/fault"
)

// Whoever writes a tree can put a pipe in the place of a file right after it was looked at.
func TestOpenFileDoesNotWaitForAPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if f, err := openFile(root, "pipe"); f != nil || !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("%v, %v", f, err)
	}
	if same, err := sameContent(root, root, "pipe"); same || err == nil {
		t.Errorf("same %v, %v", same, err)
	}
}

func TestPipesAreNoFilesToStageOrDiscard(t *testing.T) {
	w := newWorld(t)
	r, dir := w.atWork()
	w.must(syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	w.must(os.Remove(filepath.Join(dir, "dir/b.txt")))
	w.must(syscall.Mkfifo(filepath.Join(dir, "dir/b.txt"), 0o600))
	_, err := r.Stage(ctx, dir, Choice{Paths: []string{"pipe"}})
	refused(t, err, fault.Conflict, "no change")
	_, err = r.Stage(ctx, dir, Choice{Paths: []string{"dir/b.txt"}})
	refused(t, err, fault.Unsupported, "neither file nor link")
	_, err = r.Discard(ctx, dir, discardOf(false, "dir"))
	refused(t, err, fault.Unsupported, "neither file nor link")
}
