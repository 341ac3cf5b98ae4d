package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/internal/fault"
)

func TestApplyEveryKindOfChange(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	w.write(dir, "moved.txt", strings.Repeat("a line of text\n", 30))
	w.write(dir, "gone.txt", "1\n2\n")
	w.write(dir, "loosened.txt", "was tracked\n")
	w.write(dir, "crlf.txt", "a\r\nb\r\n")
	w.must(os.WriteFile(filepath.Join(dir, "binary"), []byte{0, 1, 2, 255}, 0o644))
	w.must(os.Symlink("a.txt", filepath.Join(dir, "link")))
	w.must(os.Symlink("../outside", filepath.Join(dir, "dir", "out")))
	w.commit(dir, "more")
	r := w.open(dir)
	c := w.task(r, "t")
	p := c.Path
	w.write(p, "committed/new.txt", "new\nfile\n")
	w.run(p, "mv", "moved.txt", "committed/moved.txt")
	w.commit(p, "part one")
	w.write(p, "a.txt", "one\nTWO\nthree\n")
	w.run(p, "add", "a.txt")
	w.write(p, "crlf.txt", "a\r\nB\r\n")
	w.must(os.Remove(filepath.Join(p, "gone.txt")))
	w.run(p, "rm", "-q", "--cached", "loosened.txt")
	w.write(p, "loosened.txt", "now untracked\n")
	w.must(os.WriteFile(filepath.Join(p, "binary"), []byte{9, 0, 9}, 0o644))
	w.must(os.Chmod(filepath.Join(p, "c.txt"), 0o755))
	w.must(os.Remove(filepath.Join(p, "link")))
	w.write(p, "link", "a file now\n")
	w.write(p, "new dir/run.sh", "#!/bin/sh\n")
	w.must(os.Chmod(filepath.Join(p, "new dir/run.sh"), 0o755))
	w.must(os.Symlink("/etc/passwd", filepath.Join(p, "new dir/abs")))
	w.must(os.Symlink("nowhere", filepath.Join(p, "dangling")))
	head := w.run(dir, "rev-parse", "HEAD")
	before := w.run(p, "status", "--porcelain")

	a, err := r.Apply(ctx, p, c.BaseRef)
	w.must(err)
	same(t, "tree", w.tree(dir), w.tree(p))
	if a.Tracked != 9 || a.Untracked != 3 || len(a.Conflicts) != 0 {
		t.Errorf("%+v", a)
	}
	same(t, "main's head", w.run(dir, "rev-parse", "HEAD"), head)
	same(t, "the task", w.run(p, "status", "--porcelain"), before)

	status := w.run(dir, "status", "--porcelain")
	a, err = r.Apply(ctx, p, c.BaseRef)
	w.must(err)
	same(t, "again", a.Tracked+a.Untracked, 0)
	same(t, "status", w.run(dir, "status", "--porcelain"), status)

	w.commit(dir, "applied")
	a, err = r.Apply(ctx, p, c.BaseRef)
	w.must(err)
	same(t, "after the commit", a.Tracked+a.Untracked, 0)
	same(t, "status", w.run(dir, "status", "--porcelain"), "")

	w.write(p, "dir/b.txt", "B\n")
	a, err = r.Apply(ctx, p, c.BaseRef)
	w.must(err)
	same(t, "one more change", a.Tracked+a.Untracked, 1)
	same(t, "tree", w.tree(dir), w.tree(p))
}

// The everyday round: apply, commit, the agent goes on in the same places, apply again.
func TestApplySinceTheLastTime(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	r := w.open(dir)
	c := w.task(r, "t")
	w.write(c.Path, "a.txt", "one\nTWO\nthree\n")
	w.write(c.Path, "loose.txt", "first\n")
	first, err := r.Apply(ctx, c.Path, c.BaseRef)
	w.must(err)
	w.commit(dir, "round one")
	w.write(c.Path, "a.txt", "one\nTWO\nTHREE\n")
	w.write(c.Path, "loose.txt", "second\n")
	before := w.tree(dir)
	_, err = r.Apply(ctx, c.Path, c.BaseRef)
	wantCode(t, err, fault.ApplyConflict) // nobody told that main's lines are the task's own
	same(t, "main", w.tree(dir), before)

	second, err := r.ApplySince(ctx, c.Path, c.BaseRef, first.Tree, nil)
	w.must(err)
	same(t, "changes", second.Tracked+second.Untracked, 2)
	same(t, "tree", w.tree(dir), w.tree(c.Path))
	w.commit(dir, "round two")

	// What the person changed since is not the task's: it conflicts as ever.
	w.write(dir, "a.txt", "one\nmine\nTHREE\n")
	w.commit(dir, "mine")
	w.write(c.Path, "a.txt", "one\nagain\nTHREE\n")
	_, err = r.ApplySince(ctx, c.Path, c.BaseRef, second.Tree, nil)
	f := wantCode(t, err, fault.ApplyConflict)
	same(t, "written", f.Data["written"], any(true))
	if !strings.Contains(w.read(dir, "a.txt"), "mine\n") {
		t.Error("the person's line is gone")
	}
}

func TestApplyOntoMovedMain(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	long := strings.Repeat("a line of text\n", 30)
	w.write(dir, "long.txt", long)
	w.commit(dir, "long")
	r := w.open(dir)
	c := w.task(r, "t")
	w.run(c.Path, "mv", "long.txt", "renamed.txt")
	w.write(c.Path, "a.txt", "one\ntwo\nthree\nfour\n")
	w.write(c.Path, "both.txt", "same\n")
	w.run(c.Path, "add", "both.txt")
	w.write(dir, "long.txt", long+"main's line\n")
	w.write(dir, "both.txt", "same\n")
	w.write(dir, "c.txt", "main's c\n")
	w.commit(dir, "main moved")
	_, err := r.Apply(ctx, c.Path, c.BaseRef)
	w.must(err)
	same(t, "the edit follows the rename", w.read(dir, "renamed.txt"), long+"main's line\n")
	same(t, "task's change", w.read(dir, "a.txt"), "one\ntwo\nthree\nfour\n")
	same(t, "main's change", w.read(dir, "c.txt"), "main's c\n")
	for _, when := range []string{"again", "after the commit"} {
		a, err := r.Apply(ctx, c.Path, c.BaseRef)
		w.must(err)
		same(t, when, a.Tracked+a.Untracked, 0)
		w.commit(dir, "applied")
	}
	w.write(c.Path, "c.txt", "task's c\n")
	w.write(dir, "a.txt", "main's one\ntwo\nthree\nfour\n")
	w.run(dir, "rm", "-q", "c.txt")
	w.commit(dir, "without c")
	before := w.tree(dir)
	_, err = r.Apply(ctx, c.Path, c.BaseRef)
	f := wantCode(t, err, fault.ApplyConflict)
	same(t, "conflicts", strings.Join(f.Data["conflicts"].([]string), ","), "c.txt")
	same(t, "written", f.Data["written"], any(false))
	same(t, "main", w.tree(dir), before)
}

func TestApplyConflicts(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	r := w.open(dir)
	c := w.task(r, "t")
	w.write(c.Path, "a.txt", "one\ntask\nthree\n")
	w.write(c.Path, "c.txt", "task's c\n")
	w.write(c.Path, "loose.txt", "u\n")
	w.write(dir, "a.txt", "one\nmain\nthree\n")
	w.commit(dir, "main's")
	a, err := r.Apply(ctx, c.Path, c.BaseRef)
	f := wantCode(t, err, fault.ApplyConflict)
	same(t, "conflicts", strings.Join(f.Data["conflicts"].([]string), ","), "a.txt")
	same(t, "written", f.Data["written"], any(true))
	same(t, "result", strings.Join(a.Conflicts, ","), "a.txt")
	marked := w.read(dir, "a.txt")
	for _, part := range []string{"<<<<<<<", "main\n", "task\n", ">>>>>>>"} {
		if !strings.Contains(marked, part) {
			t.Errorf("%q lacks %q", marked, part)
		}
	}
	same(t, "the rest", w.read(dir, "c.txt")+w.read(dir, "loose.txt"), "task's c\nu\n")
	_, err = r.Apply(ctx, c.Path, c.BaseRef)
	wantCode(t, err, fault.Conflict)
}

func TestApplyRefusesBeforeItWrites(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	w.write(dir, ".gitignore", "*.log\n")
	w.commit(dir, "ignore")
	r := w.open(dir)
	c := w.task(r, "t")
	w.write(c.Path, "a.txt", "changed\n")
	w.write(c.Path, "loose.txt", "task's\n")
	w.write(c.Path, "forced.log", "task's\n")
	w.run(c.Path, "add", "-f", "forced.log")
	w.must(os.Symlink("a.txt", filepath.Join(c.Path, "ln")))
	refuse := func(what string, code fault.Code) *fault.Error {
		t.Helper()
		before := w.tree(dir) + w.run(dir, "status", "--porcelain", "--ignored")
		_, err := r.Apply(ctx, c.Path, c.BaseRef)
		f := wantCode(t, err, code)
		same(t, what+": main", w.tree(dir)+w.run(dir, "status", "--porcelain", "--ignored"), before)
		return f
	}
	w.write(dir, "c.txt", "dirty\n")
	refuse("dirty", fault.Conflict)
	w.write(dir, "c.txt", "c\n")
	w.write(dir, "mine.txt", "untracked\n")
	refuse("untracked", fault.Conflict)
	w.must(os.Remove(filepath.Join(dir, "mine.txt")))

	w.write(dir, "forced.log", "main's, ignored\n")
	f := refuse("ignored file in the way", fault.ApplyConflict)
	same(t, "conflicts", strings.Join(f.Data["conflicts"].([]string), ","), "forced.log")
	same(t, "written", f.Data["written"], any(false))
	w.must(os.Remove(filepath.Join(dir, "forced.log")))

	w.write(dir, "loose.txt", "main's\n")
	w.must(os.Symlink("c.txt", filepath.Join(dir, "ln")))
	w.commit(dir, "the same names")
	f = refuse("other content", fault.ApplyConflict)
	same(t, "conflicts", strings.Join(f.Data["conflicts"].([]string), ","), "ln,loose.txt")
	w.run(dir, "reset", "-q", "--hard", "HEAD~1")

	w.run(dir, "checkout", "-q", "-b", "x")
	w.write(dir, "c.txt", "x\n")
	w.commit(dir, "x")
	w.run(dir, "checkout", "-q", "main")
	w.write(dir, "c.txt", "y\n")
	w.commit(dir, "y")
	_, _ = w.try(dir, "merge", "x")
	refuse("in the middle of a merge", fault.Conflict)
	w.run(dir, "merge", "--abort")

	_, err := r.Apply(ctx, dir, c.BaseRef)
	wantCode(t, err, fault.Unsupported)
}

// A link that main tracks must not lead an untracked file of the task out of the checkout.
func TestApplyStaysInside(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	outside := filepath.Join(w.dir, "outside")
	w.must(os.Mkdir(outside, 0o755))
	r := w.open(dir)
	c := w.task(r, "t")
	w.write(c.Path, "sub/loose.txt", "x\n")
	w.must(os.Symlink(outside, filepath.Join(dir, "sub")))
	w.commit(dir, "a link where the task has a folder")
	_, err := r.Apply(ctx, c.Path, c.BaseRef)
	wantCode(t, err, fault.ApplyConflict)
	if left, _ := os.ReadDir(outside); len(left) != 0 {
		t.Errorf("written outside: %v", left)
	}
}

func TestApplyTakesBackWhatFails(t *testing.T) {
	if os.Getuid() == 0 {
		// Root may write everywhere, so a folder that cannot be written is made by a filter that fails halfway.
		t.Log("as root: a failing filter stands for a full disk")
	}
	w := newWorld(t)
	dir := w.repo("r")
	w.write(dir, ".gitattributes", "z*.txt filter=odd\n")
	w.write(dir, "z.txt", "z\n")
	w.commit(dir, "attributes")
	r := w.open(dir).Plain()
	c := w.task(r, "t")
	w.write(c.Path, "a.txt", "changed\n")
	w.write(c.Path, "new/b.txt", "new\n")
	w.write(c.Path, "z.txt", "zz\n")
	w.commit(c.Path, "work")
	before := w.tree(dir)
	w.run(dir, "config", "filter.odd.smudge", "false")
	w.run(dir, "config", "filter.odd.required", "true")
	_, err := r.Apply(ctx, c.Path, c.BaseRef)
	w.run(dir, "config", "--remove-section", "filter.odd")
	if err == nil {
		t.Fatal("applied although a filter fails")
	}
	same(t, "main", w.tree(dir), before)
	same(t, "status", w.run(dir, "status", "--porcelain"), "")
}

func TestW1ApplyMovesNoBranch(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	w.run(dir, "checkout", "-q", "-b", "other")
	second := filepath.Join(w.dir, "second")
	w.run(dir, "worktree", "add", "-q", second, "main") // the base is checked out elsewhere
	r := w.open(dir)
	c, err := r.Create(ctx, CreateOptions{Path: filepath.Join(w.dir, "t"), Branch: "t", Base: "main"})
	w.must(err)
	w.write(c.Path, "a.txt", "changed\n")
	w.commit(c.Path, "work")
	refs := w.run(dir, "for-each-ref")
	a, err := r.Apply(ctx, c.Path, c.BaseRef)
	w.must(err)
	same(t, "tracked", a.Tracked, 1)
	same(t, "the checkout that was named", w.read(dir, "a.txt"), "changed\n")
	same(t, "the other one", w.run(second, "status", "--porcelain"), "")
	same(t, "refs", w.run(dir, "for-each-ref"), refs)
}
