package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termic/internal/fault"
)

// TestHalfMadeWorktrees: git dies when it reads the list of worktrees while another git is making one, whoever that is. What was asked
// of it is done all the same, if the other one gets on; and where it never does, git's words are told.
func TestHalfMadeWorktrees(t *testing.T) {
	w := newWorld(t)
	repo := w.repo("up")
	r := w.open(repo)
	admin := filepath.Join(repo, ".git/worktrees/other")
	half := func() {
		t.Helper()
		w.run(repo, "worktree", "add", "-q", "--detach", filepath.Join(w.dir, "other"))
		if err := os.WriteFile(filepath.Join(admin, "commondir"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	half()
	if _, err := r.List(ctx); err == nil || !strings.Contains(err.Error(), "commondir") {
		t.Fatalf("this git does not mind: %v", err)
	}
	_, err := r.Create(ctx, CreateOptions{Branch: "one", Path: filepath.Join(w.dir, "one")})
	if f := fault.From(err); err == nil || !strings.Contains(f.Error()+f.Hint, "commondir") {
		t.Errorf("it never gets on: %v", err)
	}
	go func() {
		time.Sleep(4 * halfMadePause)
		if err := os.WriteFile(filepath.Join(admin, "commondir"), []byte("../..\n"), 0o644); err != nil {
			t.Error(err)
		}
	}()
	made, err := r.Create(ctx, CreateOptions{Branch: "two", Path: filepath.Join(w.dir, "two")})
	if err != nil {
		t.Fatalf("while another one is made: %v", err)
	}
	if _, err := os.Stat(filepath.Join(made.Path, ".git")); err != nil {
		t.Error(err)
	}
}
