package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termic/internal/fault"
)

// Nothing of the user's that status does not show may be written over, written through or taken back.
func TestApplyLeavesWhatStatusDoesNotShow(t *testing.T) {
	w := newWorld(t)
	outside := filepath.Join(w.dir, "outside")
	w.must(os.Mkdir(outside, 0o755))
	for _, c := range []struct {
		name    string
		prepare func(dir string)
		blocked string // "" = applied
	}{
		{"an ignored file where a folder goes", func(dir string) { w.write(dir, "out", "precious\n") }, "out/f.txt"},
		{"an ignored link where a folder goes", func(dir string) { w.must(os.Symlink(outside, filepath.Join(dir, "out"))) }, "out/f.txt"},
		{"an ignored link to a folder inside", func(dir string) { w.must(os.Symlink("dir", filepath.Join(dir, "out"))) }, "out/f.txt"},
		{"assumed unchanged, and touched by the task", func(dir string) {
			w.run(dir, "update-index", "--assume-unchanged", "a.txt")
			w.write(dir, "a.txt", "mine\n")
		}, "a.txt"},
		{"skipped, and touched by the task", func(dir string) {
			w.run(dir, "update-index", "--skip-worktree", "a.txt")
			w.write(dir, "a.txt", "mine\n")
		}, "a.txt"},
		{"assumed unchanged, not touched", func(dir string) {
			w.run(dir, "update-index", "--assume-unchanged", "c.txt")
			w.write(dir, "c.txt", "mine\n")
		}, ""},
		{"assumed unchanged, and so it is", func(dir string) { w.run(dir, "update-index", "--assume-unchanged", "a.txt") }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := w.repo("r" + t.Name())
			w.write(dir, ".git/info/exclude", "/out\n")
			r := w.open(dir)
			task := w.task(r, t.Name())
			w.write(task.Path, "a.txt", "task's\n")
			w.write(task.Path, "out/f.txt", "task's\n")
			w.run(task.Path, "add", "-f", "out")
			w.commit(task.Path, "work")
			c.prepare(dir)
			before := w.tree(dir)
			_, err := r.Apply(ctx, task.Path, task.BaseRef)
			if left, _ := os.ReadDir(outside); len(left) != 0 {
				t.Errorf("written outside: %v", left)
			}
			if c.blocked == "" {
				w.must(err)
				same(t, "applied", w.read(dir, "a.txt"), "task's\n")
				if b, _ := os.ReadFile(filepath.Join(dir, "c.txt")); strings.Contains(before, "mine") && string(b) != "mine\n" {
					t.Errorf("the hidden change is gone: %q", b)
				}
				return
			}
			f := wantCode(t, err, fault.ApplyConflict)
			same(t, "conflicts", strings.Join(f.Data["conflicts"].([]string), ","), c.blocked)
			same(t, "main", w.tree(dir), before)
		})
	}
}

// A failed apply takes back its own paths alone: a folder with ignored files stands where the task has a file now.
func TestApplyTakesBackItsOwnPathsOnly(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	w.write(dir, ".git/info/exclude", "build\n")
	r := w.open(dir)
	task := w.task(r, "t")
	w.run(task.Path, "rm", "-q", "-r", "dir")
	w.write(task.Path, "dir", "a file now\n")
	w.write(task.Path, "a.txt", "task's\n")
	w.write(task.Path, "new.txt", "task's\n")
	w.commit(task.Path, "work")
	w.write(dir, "dir/build/x", "precious\n")
	w.run(dir, "update-index", "--assume-unchanged", "c.txt")
	w.write(dir, "c.txt", "mine\n")
	before := w.tree(dir)
	if _, err := r.Apply(ctx, task.Path, task.BaseRef); err == nil {
		t.Fatal("a folder with files in it was replaced")
	}
	same(t, "main", w.tree(dir), before)
	same(t, "status", w.run(dir, "status", "--porcelain"), "")
}

// TestArriving: whoever asks is told every path that is about to be written or to go, and before anything is. A refusal leaves
// the main checkout as it is.
func TestArriving(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("repo")
	r := w.open(dir)
	c := w.task(r, "one")
	w.write(c.Path, "a.txt", "other\n")
	w.write(c.Path, "new/é b.txt", "new\n")
	w.write(c.Path, "staged.txt", "staged\n")
	w.run(c.Path, "add", "staged.txt")
	w.run(c.Path, "mv", "c.txt", "moved.txt")
	w.must(os.Remove(filepath.Join(c.Path, "dir/b.txt")))
	want := []string{"a.txt", "c.txt", "dir/b.txt", "moved.txt", "new/é b.txt", "staged.txt"}
	refusal := errors.New("no")
	var told []string
	ask := func(paths []string, _ string) error {
		told = slices.Sorted(slices.Values(paths))
		if got := w.run(dir, "status", "--short"); got != "" {
			t.Errorf("something was written before: %s", got)
		}
		return refusal
	}
	if _, err := r.ApplySince(context.Background(), c.Path, c.BaseRef, "", ask); !errors.Is(err, refusal) {
		t.Errorf("%v", err)
	}
	if !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	if got := w.run(dir, "status", "--short"); got != "" {
		t.Errorf("a refused apply wrote %s", got)
	}
	refusal = nil
	if _, err := r.ApplySince(context.Background(), c.Path, c.BaseRef, "", ask); err != nil {
		t.Error(err)
	}
	if w.read(dir, "new/é b.txt") != "new\n" || w.read(dir, "staged.txt") != "staged\n" {
		t.Error("it did not arrive")
	}
}
