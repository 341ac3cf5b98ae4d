package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"termic/internal/fault"
)

func keptAs(n int) Keeping { return Keeping{Ref: fmt.Sprintf("%st/%d", DiscardPrefix, n)} }

func discardOf(staged bool, paths ...string) DiscardOptions {
	return DiscardOptions{Choice: Choice{Paths: paths}, Staged: staged, Keeping: keptAs(1)}
}

func TestDiscardAndUndo(t *testing.T) {
	for _, c := range []struct {
		name   string
		staged bool
		paths  []string
		want   string // status afterwards; what is not named is left out
	}{
		{"modified", false, []string{"a.txt"}, " D c.txt\nMM both.txt\n M dir/b.txt\n?? new\nA  staged"},
		{"deleted", false, []string{"c.txt"}, " M a.txt\nMM both.txt\n M dir/b.txt\n?? new\nA  staged"},
		{"the mode", false, []string{"dir"}, " M a.txt\n D c.txt\nMM both.txt\n?? new\nA  staged"},
		{"untracked", false, []string{"new"}, " M a.txt\n D c.txt\nMM both.txt\n M dir/b.txt\nA  staged"},
		{"back to what is staged", false, []string{"both.txt"}, " M a.txt\n D c.txt\nM  both.txt\n M dir/b.txt\n?? new\nA  staged"},
		{"both halves", true, []string{"both.txt"}, " M a.txt\n D c.txt\n M dir/b.txt\n?? new\nA  staged"},
		{"only staged", true, []string{"staged"}, " M a.txt\n D c.txt\nMM both.txt\n M dir/b.txt\n?? new"},
		{"all of it", true, []string{"."}, ""},
		{"all that is not staged", false, []string{"."}, "M  both.txt\nA  staged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			main := w.repo("r")
			w.write(main, "both.txt", "first\n")
			w.commit(main, "more")
			r := w.open(main)
			dir := w.task(r, "t").Path
			w.write(dir, "both.txt", "staged\n")
			w.write(dir, "staged", "staged\n")
			w.run(dir, "add", "-A")
			w.write(dir, "both.txt", "later\n")
			w.write(dir, "a.txt", "changed\r\nwith\x00bytes")
			w.must(os.Remove(filepath.Join(dir, "c.txt")))
			w.must(os.Chmod(filepath.Join(dir, "dir/b.txt"), 0o755))
			w.write(dir, "new", "new\n")
			before := w.state(dir)
			got, err := r.Discard(ctx, dir, discardOf(c.staged, c.paths...))
			w.must(err)
			sorted := func(s string) string { l := strings.Split(s, "\n"); slices.Sort(l); return strings.Join(l, "\n") }
			same(t, "status", sorted(w.short(dir)), sorted(c.want))
			w.run(main, "gc", "-q", "--prune=now")
			_, err = r.Undo(ctx, dir, got.Commit)
			w.must(err)
			same(t, "undone", w.state(dir), before)
			w.must(r.DropDiscard(ctx, got.Ref, got.Commit))
			same(t, "refs", w.run(main, "for-each-ref", DiscardPrefix), "")
		})
	}
}

func TestDiscardRefuses(t *testing.T) {
	w := newWorld(t)
	r, dir := w.atWork()
	w.write(dir, "staged", "x")
	w.run(dir, "add", "staged")
	nested := filepath.Join(dir, "deep/nested")
	w.must(os.MkdirAll(nested, 0o755))
	w.run(nested, "init", "-q")
	w.commit(nested, "x")
	w.must(os.Remove(filepath.Join(dir, "dir/b.txt")))
	w.must(os.Remove(filepath.Join(dir, "dir")))
	w.write(dir, "dir", "a file where a folder was")
	before := w.state(dir)
	_, err := r.Discard(ctx, dir, discardOf(false, "staged"))
	refused(t, err, fault.Conflict, "staged has only staged changes")
	_, err = r.Discard(ctx, dir, discardOf(false, "dir/b.txt"))
	refused(t, err, fault.Conflict, "dir is in the place of dir/b.txt")
	_, err = r.Discard(ctx, dir, discardOf(false, "deep/nested"))
	refused(t, err, fault.Unsupported, "repository of its own")
	o := discardOf(false, "a.txt")
	o.Kept = func(Discarded) error { return errors.New("the disk is full") }
	if _, err = r.Discard(ctx, dir, o); err == nil {
		t.Error("what nobody noted was discarded")
	}
	o = discardOf(false, "a.txt")
	o.Ref = "refs/heads/x"
	_, err = r.Discard(ctx, dir, o)
	refused(t, err, fault.InvalidArgument)
	same(t, "state", w.state(dir), before)
	same(t, "refs", w.run(dir, "for-each-ref", "refs/termic/"), "")
	got, err := r.Discard(ctx, dir, discardOf(false, "deep", "dir", "a.txt"))
	w.must(err)
	same(t, "warned", len(got.Warnings), 1)
	same(t, "put back", w.read(dir, "dir/b.txt"), "b\n")
	_, err = r.Undo(ctx, dir, got.Commit)
	w.must(err)
	same(t, "state", w.state(dir), before)
}

// What changes between the look and the act is not taken away, whenever that is.
func TestDiscardLeavesWhatChangedMeanwhile(t *testing.T) {
	w := newWorld(t)
	r, dir := w.atWork()
	d, err := r.Diff(ctx, dir, "main", DiffOptions{})
	w.must(err)
	seen := ""
	for _, f := range d.Files {
		if f.Path == "a.txt" {
			seen = f.Seen
		}
	}
	o := discardOf(false, "a.txt")
	o.Seen = []string{seen}
	w.write(dir, "a.txt", "one\nTWo\nthree\n")
	_, err = r.Discard(ctx, dir, o)
	refused(t, err, fault.Conflict, "a.txt changed since it was shown")
	w.write(dir, "a.txt", "one\nTWO\nthree\n")
	w.run(dir, "add", "a.txt") // what is staged counts too
	_, err = r.Discard(ctx, dir, o)
	refused(t, err, fault.Conflict, "a.txt changed since it was shown")
	w.run(dir, "reset", "-q", "a.txt")

	before := w.state(dir)
	for _, write := range []func(){
		func() { w.write(dir, "a.txt", "one\nNEW\nthree\n") },
		func() { w.must(os.Chmod(filepath.Join(dir, "a.txt"), 0o755)) },
		func() { w.must(os.Remove(filepath.Join(dir, "a.txt"))) },
	} {
		o.Kept = nil
		c, err := r.change(ctx, dir)
		w.must(err)
		act := &discard{change: c, k: o.Keeping}
		w.must(act.look())
		w.must(act.choose(ctx, o))
		write()
		after := w.state(dir)
		_, err = act.run(ctx)
		c.close()
		refused(t, err, fault.Conflict, "a.txt changed")
		same(t, "the newer one", w.state(dir), after)
		w.must(os.RemoveAll(filepath.Join(dir, "a.txt")))
		w.write(dir, "a.txt", "one\nTWO\nthree\n")
	}
	same(t, "state", w.state(dir), before)
	o.Kept = func(Discarded) error { w.write(dir, "c.txt", "came back\n"); return nil }
	o.Paths, o.Seen = []string{"a.txt", "c.txt"}, nil
	_, err = r.Discard(ctx, dir, o)
	refused(t, err, fault.Conflict, "c.txt changed at this very moment")
	w.must(os.Remove(filepath.Join(dir, "c.txt")))
	same(t, "all put back", w.state(dir), before)
	same(t, "refs", w.run(dir, "for-each-ref", "refs/termic/"), "")
}

func TestUndoRefusesWhatHasChangedSince(t *testing.T) {
	for name, change := range map[string]func(w *world, dir string){
		"the file":       func(w *world, dir string) { w.write(dir, "a.txt", "newer\n") },
		"its mode":       func(w *world, dir string) { w.must(os.Chmod(filepath.Join(dir, "a.txt"), 0o755)) },
		"the index":      func(w *world, dir string) { w.run(dir, "rm", "-q", "--cached", "a.txt") },
		"a new one":      func(w *world, dir string) { w.write(dir, "new", "other\n") },
		"a folder there": func(w *world, dir string) { w.write(dir, "new/x", "x\n") },
		"a file above":   func(w *world, dir string) { w.write(dir, "sub", "x\n") },
		"a link above":   func(w *world, dir string) { w.must(os.Symlink("/tmp", filepath.Join(dir, "sub"))) },
		"a commit":       func(w *world, dir string) { w.write(dir, "a.txt", "n\n"); w.commit(dir, "n") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			r := w.open(w.repo("r"))
			dir := w.task(r, "t").Path
			w.write(dir, "a.txt", "changed\n")
			w.write(dir, "new", "new\n")
			w.write(dir, "sub/deep", "deep\n")
			got, err := r.Discard(ctx, dir, discardOf(false, "."))
			w.must(err)
			change(w, dir)
			before := w.state(dir)
			_, err = r.Undo(ctx, dir, got.Commit)
			refused(t, err, fault.Conflict)
			same(t, "nothing was written", w.state(dir), before)
		})
	}
	w := newWorld(t)
	r := w.open(w.repo("r"))
	dir := w.task(r, "t").Path
	_, err := r.Undo(ctx, dir, strings.Repeat("0", 40))
	refused(t, err, fault.NotFound)
	_, err = r.Undo(ctx, dir, "--help")
	refused(t, err, fault.InvalidArgument)
}

// A discard that is cut off anywhere is undone like a whole one.
func TestUndoOfADiscardThatWasCutOff(t *testing.T) {
	for files := range 4 {
		w := newWorld(t)
		r, dir := w.atWork()
		w.run(dir, "add", "a.txt", "-A")
		w.write(dir, "a.txt", "later\n")
		before := w.state(dir)
		o := discardOf(true, ".")
		c, err := r.change(ctx, dir)
		w.must(err)
		act := &discard{change: c, k: o.Keeping, restages: true}
		w.must(act.look())
		w.must(act.choose(ctx, o))
		w.must(act.prepare(ctx))
		commit, err := act.keep(ctx)
		w.must(err)
		w.must(act.note(ctx, Discarded{Ref: o.Ref, Commit: commit}))
		w.must(act.hold(ctx))
		act.pieces = act.pieces[:2*files]
		w.must(act.takeAway(ctx))
		w.write(dir, placing+"01", "half of it") // and here it is killed
		c.lock = nil
		c.close()
		_, err = r.Stage(ctx, dir, Choice{All: true})
		refused(t, err, fault.Conflict, "its index is locked")
		w.must(r.Unlock(dir))
		_, err = r.Undo(ctx, dir, commit)
		w.must(err)
		same(t, "state", w.state(dir), before)
	}
}

func TestUndoLooksAtWhatTheRepositoryGives(t *testing.T) {
	w := newWorld(t)
	main := w.repo("r")
	r := w.open(main)
	dir := w.task(r, "t").Path
	w.write(dir, "new", "true\n")
	got, err := r.Discard(ctx, dir, discardOf(false, "new"))
	w.must(err)

	id := w.run(main, "rev-parse", got.Commit+":file/new")
	p := filepath.Join(main, ".git/objects", id[:2], id[2:])
	other := w.put(main, "false\n")
	text, err := os.ReadFile(filepath.Join(main, ".git/objects", other[:2], other[2:]))
	w.must(err)
	_ = os.Chmod(p, 0o644)
	if err := os.WriteFile(p, text, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, pack := range w.glob(main, ".git/objects/pack/pack-*") {
		w.must(os.Remove(pack))
	}
	_, err = r.Undo(ctx, dir, got.Commit)
	if err == nil {
		t.Fatal("another content was put back")
	}
	if _, err := os.Lstat(filepath.Join(dir, "new")); err == nil {
		t.Error("something was written")
	}
}

func (w *world) put(dir, text string) string {
	w.t.Helper()
	w.write(w.dir, "put", text)
	return w.run(dir, "hash-object", "-w", filepath.Join(w.dir, "put"))
}

func (w *world) glob(dir, pattern string) []string {
	w.t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, pattern))
	w.must(err)
	return list
}

// Law: whatever is discarded, undo gives the same status, index and files.
func TestPropertyDiscardAndUndo(t *testing.T) {
	fewChecks(t, "12")
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		defer os.RemoveAll(w.dir)
		f := forest{rt, w}
		dir := w.repo("r")
		f.grow(dir)
		w.commit(dir, "grown")
		r := w.open(dir)
		if rapid.Bool().Draw(rt, "plain") {
			r = r.Plain()
		}
		c := w.task(r, "t")
		f.change(c.Path)
		if rapid.Bool().Draw(rt, "intent") {
			_, _ = w.try(c.Path, "--literal-pathspecs", "add", "-N", "--", f.name())
		}
		before := w.state(c.Path)
		var names []string
		for range rapid.IntRange(1, 4).Draw(rt, "names") {
			names = append(names, f.name())
		}
		if rapid.Bool().Draw(rt, "everything") {
			names = []string{"."}
		}
		o := DiscardOptions{Choice: Choice{Paths: names}, Staged: rapid.Bool().Draw(rt, "staged"), Keeping: keptAs(1)}
		got, err := r.Discard(ctx, c.Path, o)
		if err != nil {
			if code := fault.CodeOf(err); code != fault.Conflict && code != fault.NotFound {
				rt.Fatalf("%v", err)
			}
			if now := w.state(c.Path); now != before {
				rt.Fatalf("refused with %v, and changed\n%q\n%q", err, now, before)
			}
			return
		}
		if o.Staged && names[0] == "." && w.short(c.Path) != "" {
			rt.Fatalf("left %q", w.short(c.Path))
		}
		w.run(dir, "gc", "-q", "--prune=now")
		if _, err := r.Undo(ctx, c.Path, got.Commit); err != nil {
			rt.Fatalf("%v %q", err, got.Paths)
		}
		if now := w.state(c.Path); now != before {
			rt.Fatalf("undone:\n%q\nbefore:\n%q", now, before)
		}
	})
}

func TestDiscardEndsWithItsCaller(t *testing.T) {
	w := newWorld(t)
	r, dir := w.atWork()
	before := w.state(dir)
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := r.Discard(gone, dir, discardOf(false, ".")); err == nil {
		t.Error("nobody asked any more")
	}
	same(t, "state", w.state(dir), before)
}
