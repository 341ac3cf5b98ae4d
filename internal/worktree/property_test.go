package worktree

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// fewChecks makes rapid content with n runs of a property that starts dozens of processes, unless the command line says
// how many.
func fewChecks(t *testing.T, n string) {
	t.Helper()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "rapid.checks" })
	f := flag.Lookup("rapid.checks")
	if said || f == nil {
		return
	}
	old := f.Value.String()
	if err := f.Value.Set(n); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(old) })
}

// forest draws trees and changes of them. Names are few, so that changes meet, and odd.
type forest struct {
	*rapid.T
	w *world
}

var (
	forestNames = []string{"a", "b.txt", "sp ace", "q\"uote'", "new\nline", "-dash", "\u00e9", "e\u0301", "d/x", "d/y", "d/e/z", "d", "tab\t", "back\\slash", ":(top)x", "*"}
	forestTexts = []string{"", "x", "x\n", "one\ntwo\nthree\n", "a\r\nb\r\n", "bin\x00\xff", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n",
		strings.Repeat("line of a long file\n", 40), strings.Repeat("line of a long file\n", 40) + "end\n", "no newline\nat the end"}
)

// put writes one file of a drawn kind, and reports whether the name was free for it.
func (f forest) put(dir, name string) {
	p := filepath.Join(dir, name)
	if os.MkdirAll(filepath.Dir(p), 0o755) != nil {
		return // a file is where a folder would be
	}
	if st, err := os.Lstat(p); err == nil && st.IsDir() {
		return
	}
	_ = os.Remove(p)
	switch rapid.IntRange(0, 9).Draw(f.T, "kind") {
	case 0:
		to := rapid.SampledFrom([]string{"a", "nowhere", "../up", "/abs"}).Draw(f.T, "to")
		f.w.must(os.Symlink(to, p))
	case 1:
		f.w.must(os.WriteFile(p, []byte(rapid.SampledFrom(forestTexts).Draw(f.T, "text")), 0o755))
		f.w.must(os.Chmod(p, 0o755))
	default:
		f.w.must(os.WriteFile(p, []byte(rapid.SampledFrom(forestTexts).Draw(f.T, "text")), 0o644))
	}
}

func (f forest) name() string { return rapid.SampledFrom(forestNames).Draw(f.T, "name") }

func (f forest) grow(dir string) {
	for range rapid.IntRange(0, 8).Draw(f.T, "files") {
		f.put(dir, f.name())
	}
}

// change does what an agent may do to its tree.
func (f forest) change(dir string) {
	for range rapid.IntRange(0, 8).Draw(f.T, "changes") {
		name := f.name()
		p := filepath.Join(dir, name)
		switch rapid.SampledFrom([]string{"put", "put", "put", "delete", "move", "mode", "add", "addall", "commit", "loosen"}).Draw(f.T, "op") {
		case "put":
			f.put(dir, name)
		case "delete":
			_ = os.RemoveAll(p)
		case "move":
			to := filepath.Join(dir, f.name())
			if _, err := os.Lstat(to); err != nil && os.MkdirAll(filepath.Dir(to), 0o755) == nil {
				_ = os.Rename(p, to)
			}
		case "mode":
			if st, err := os.Lstat(p); err == nil && st.Mode().IsRegular() {
				f.w.must(os.Chmod(p, st.Mode().Perm()^0o111))
			}
		case "add":
			_, _ = f.w.try(dir, "--literal-pathspecs", "add", "-A", "--", name)
		case "addall":
			f.w.run(dir, "add", "-A")
		case "commit":
			f.w.commit(dir, "step")
		case "loosen":
			_, _ = f.w.try(dir, "--literal-pathspecs", "rm", "-q", "--cached", "-r", "--", name)
		}
	}
}

// Law: when the main checkout does not move, applying makes its tree that of the task; again and again, whether the
// person commits in between or not, and a second apply changes nothing.
func TestPropertyApplyMakesTheTreesEqual(t *testing.T) {
	fewChecks(t, "10")
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
		since := ""
		for round := range rapid.IntRange(1, 3).Draw(rt, "rounds") {
			f.change(c.Path)
			a, err := r.ApplySince(ctx, c.Path, c.BaseRef, since, nil)
			if err != nil {
				rt.Fatalf("round %d: %v", round, err)
			}
			if got, want := w.tree(dir), w.tree(c.Path); got != want {
				rt.Fatalf("round %d\nmain:\n%q\ntask:\n%q", round, got, want)
			}
			since = a.Tree
			before := w.run(dir, "status", "--porcelain", "-z")
			a, err = r.ApplySince(ctx, c.Path, c.BaseRef, since, nil)
			if err != nil || a.Tracked+a.Untracked != 0 || w.run(dir, "status", "--porcelain", "-z") != before {
				rt.Fatalf("round %d, again: %+v, %v", round, a, err)
			}
			w.commit(dir, fmt.Sprintf("round %d", round))
			a, err = r.ApplySince(ctx, c.Path, c.BaseRef, since, nil)
			if err != nil || a.Tracked+a.Untracked != 0 || w.run(dir, "status", "--porcelain", "-z") != "" {
				rt.Fatalf("round %d, after the commit: %+v, %v", round, a, err)
			}
		}
	})
}

// Law: a removal with consent and the restore after it give the same files, with the same state in git.
func TestPropertyRemoveAndRestore(t *testing.T) {
	fewChecks(t, "10")
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		defer os.RemoveAll(w.dir)
		f := forest{rt, w}
		dir := w.repo("r")
		f.grow(dir)
		w.commit(dir, "grown")
		r := w.open(dir)
		c := w.task(r, "t")
		f.change(c.Path)
		state := func(p string) string {
			return w.tree(p) + "\n" + w.run(p, "status", "--porcelain=v2", "-z", "--branch", "-uall") + "\n" + w.run(p, "ls-files", "-s", "-z")
		}
		before := state(c.Path)
		deleteBranch := rapid.Bool().Draw(rt, "delete branch")
		removed, err := r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch, Consent: true, DeleteBranch: deleteBranch})
		if err != nil {
			rt.Fatal(err)
		}
		w.run(dir, "gc", "-q", "--prune=now")
		back, err := r.Restore(ctx, RestoreOptions{Path: c.Path, Branch: c.Branch, BackupRef: removed.BackupRef, Commit: removed.Head})
		if err != nil {
			rt.Fatal(err)
		}
		if got := state(back.Path); got != before {
			rt.Fatalf("restored:\n%q\nbefore:\n%q", got, before)
		}
	})
}

// Law: what the diff counts is what its patch holds, and the patch makes the base into the task's tree.
func TestPropertyDiffAgreesWithItsPatch(t *testing.T) {
	fewChecks(t, "6")
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		defer os.RemoveAll(w.dir)
		f := forest{rt, w}
		dir := w.repo("r")
		f.grow(dir)
		w.commit(dir, "grown")
		r := w.open(dir)
		c := w.task(r, "t")
		f.change(c.Path)
		d, err := r.Diff(ctx, c.Path, c.BaseRef, DiffOptions{Patch: true})
		if err != nil {
			rt.Fatal(err)
		}
		changed := w.tree(c.Path) != w.tree(dir)
		if changed && d.Stat.FilesChanged == 0 || d.Stat.FilesChanged > 0 && len(d.Patch) == 0 {
			rt.Fatalf("changed %v, stat %+v, patch of %d bytes", changed, d.Stat, len(d.Patch))
		}
		ins, del, untracked := 0, 0, 0
		for _, file := range d.Files {
			ins, del = ins+file.Insertions, del+file.Deletions
			if file.Status == "untracked" {
				untracked++
			}
		}
		if ins != d.Stat.Insertions || del != d.Stat.Deletions || untracked != d.Stat.Untracked || len(d.Files) != d.Stat.FilesChanged {
			rt.Fatalf("stat %+v of %+v", d.Stat, d.Files)
		}
	})
}
