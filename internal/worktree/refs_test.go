package worktree

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"testing"
	"time"

	"termic/internal/fault"
)

// TestRefsChangedAndPutBack moves refs in every way with the user's git, and puts each back.
func TestRefsChangedAndPutBack(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	dir := filepath.Join(w.dir, "repo")
	w.must(os.MkdirAll(dir, 0o755))
	w.run(dir, "init", "-q")
	w.run(dir, "commit", "-q", "--allow-empty", "-m", "one")
	w.run(dir, "commit", "-q", "--allow-empty", "-m", "two")
	for _, name := range []string{"moved", "gone", "packed"} {
		w.run(dir, "branch", name)
	}
	w.run(dir, "tag", "-a", "v1", "-m", "v1")
	w.run(dir, "update-ref", "refs/remotes/origin/main", "main")
	w.run(dir, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	w.run(dir, "pack-refs", "--all")
	w.write(dir, "file", "text")
	w.run(dir, "add", "file")
	w.run(dir, "stash", "-q")
	stash := w.run(dir, "rev-parse", "stash")
	r, err := w.git.Open(ctx, dir)
	w.must(err)
	before, err := r.Refs(ctx)
	w.must(err)
	mark, err := r.RefsMark()
	w.must(err)
	if again, err := r.RefsMark(); err != nil || again != mark {
		t.Fatalf("the mark changes by itself: %v", err)
	}

	w.run(dir, "branch", "-f", "moved", "main~1")
	w.run(dir, "branch", "-D", "gone")
	w.run(dir, "tag", "-f", "v1", "main~1")
	w.run(dir, "branch", "side", "main~1")
	w.run(dir, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/moved")
	w.run(dir, "stash", "drop", "-q")
	w.write(dir, "other", "text")
	w.run(dir, "add", "other")
	w.run(dir, "stash", "-q") // one that comes is no change
	if now, err := r.RefsMark(); err != nil || now == mark {
		t.Errorf("the mark did not change: %v", err)
	}
	now, err := r.Refs(ctx)
	w.must(err)
	changes := before.Changes(now)
	sort.Slice(changes, func(i, j int) bool { return changes[i].Name < changes[j].Name })
	var names []string
	for _, c := range changes {
		names = append(names, c.Name)
	}
	want := []string{"refs/heads/gone", "refs/heads/moved", "refs/heads/side", "refs/remotes/origin/HEAD", StashName(stash), "refs/tags/v1"}
	if strings.Join(names, " ") != strings.Join(want, " ") {
		t.Fatalf("changed: %v", names)
	}
	for _, c := range changes {
		if id := c.Old.ID; id != "" {
			ref, err := r.KeepRef(ctx, c.Name, id)
			w.must(err)
			if got := w.run(dir, "rev-parse", ref); got != id {
				t.Errorf("%s keeps %s, not %s", ref, got, id)
			}
		}
	}
	w.run(dir, "gc", "-q", "--prune=now")
	for _, c := range changes {
		w.must(r.PutBack(ctx, c))
		if c.Old.ID != "" && !strings.Contains(c.Name, "stash") {
			if err := r.PutBack(ctx, c); c.Old.To == "" && fault.CodeOf(err) != fault.Conflict {
				t.Errorf("%s is put back although it moved since: %v", c.Name, err)
			}
		}
	}
	after, err := r.Refs(ctx)
	w.must(err)
	for _, c := range before.Changes(after) {
		if !strings.HasPrefix(c.Name, WatchPrefix) {
			t.Errorf("still changed: %+v", c)
		}
	}
	if out := w.run(dir, "stash", "show", "-p", "stash@{0}"); !strings.Contains(out, "file") {
		t.Errorf("the stash that is back: %s", out)
	}
}

// TestRefsMarkIsNotFooled sets times back, and puts things among the refs that git would wait for.
func TestRefsMarkIsNotFooled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT TESTED: there are no cages on Windows")
	}
	ctx := context.Background()
	w := newWorld(t)
	dir := filepath.Join(w.dir, "repo")
	w.must(os.MkdirAll(dir, 0o755))
	w.run(dir, "init", "-q")
	w.run(dir, "commit", "-q", "--allow-empty", "-m", "one")
	w.run(dir, "commit", "-q", "--allow-empty", "-m", "two")
	r, err := w.git.Open(ctx, dir)
	w.must(err)
	file := filepath.Join(dir, ".git/refs/heads/main")
	at := time.Unix(1_700_000_000, 0)
	w.must(os.Chtimes(file, at, at))
	mark, err := r.RefsMark()
	w.must(err)
	w.must(os.WriteFile(file, []byte(w.run(dir, "rev-parse", "main~1")+"\n"), 0o644))
	w.must(os.Chtimes(file, at, at))
	if now, err := r.RefsMark(); err != nil || now == mark {
		t.Errorf("a ref whose time was set back is not seen: %v", err)
	}
	for name, to := range map[string]string{"refs/heads/zero": "/dev/zero", "refs/heads/out": "../../../file"} {
		p := filepath.Join(dir, ".git", name)
		w.must(os.Symlink(to, p))
		if _, err := r.RefsMark(); fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		w.must(os.Remove(p))
	}
}
