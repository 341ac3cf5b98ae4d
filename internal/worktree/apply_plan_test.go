package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"termic/internal/fault"
)

// statusPaths are the paths that git finds changed in a checkout.
func (w *world) statusPaths(dir string) []string {
	var out []string
	for _, rec := range strings.Split(w.run(dir, "status", "--porcelain", "-z", "-uall", "--no-renames"), "\x00") {
		if len(rec) > 3 {
			out = append(out, rec[3:])
		}
	}
	slices.Sort(out)
	return out
}

func (p ApplyPlan) names() []string {
	var out []string
	for _, f := range p.Files {
		out = append(out, f.Path)
	}
	return out
}

// Law: what a plan says is what applying then does: the same refusal, or the same counts, conflicts and paths; and planning
// changes nothing on either side.
func TestPropertyPlanAgreesWithApply(t *testing.T) {
	fewChecks(t, "12")
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
		moved := rapid.Bool().Draw(rt, "the main checkout moves")
		if moved {
			f.change(dir)
			if rapid.Bool().Draw(rt, "and is clean") {
				w.commit(dir, "moved")
			}
		}
		before := w.tree(dir) + w.tree(c.Path) + w.run(dir, "status", "--porcelain", "-z") + w.run(c.Path, "status", "--porcelain", "-z")
		plan, err := r.PlanApply(ctx, c.Path, c.BaseRef, "")
		if err != nil {
			rt.Fatal(err)
		}
		if w.tree(dir)+w.tree(c.Path)+w.run(dir, "status", "--porcelain", "-z")+w.run(c.Path, "status", "--porcelain", "-z") != before {
			rt.Fatal("planning changed something")
		}
		again, err := r.PlanApply(ctx, c.Path, c.BaseRef, "")
		if err != nil || again.Digest != plan.Digest || !slices.Equal(again.names(), plan.names()) {
			rt.Fatalf("the same state, another plan: %+v, %+v, %v", plan, again, err)
		}
		asked := ""
		a, err := r.ApplySince(ctx, c.Path, c.BaseRef, "", func(_ []string, digest string) error { asked = digest; return nil })
		if plan.Refusal != nil {
			if f := fault.From(err); f == nil || f.Code != plan.Refusal.Code || f.Message != plan.Refusal.Message {
				rt.Fatalf("planned: %v, refused: %v", plan.Refusal, err)
			}
			return
		}
		if asked != plan.Digest {
			rt.Fatalf("the digest of the plan is %q, that of the act %q", plan.Digest, asked)
		}
		if (len(plan.Conflicts) > 0) != (fault.CodeOf(err) == fault.ApplyConflict) || err != nil && len(plan.Conflicts) == 0 {
			rt.Fatalf("conflicts planned: %v, applied: %v", plan.Conflicts, err)
		}
		if a.Tracked != plan.Tracked || a.Untracked != plan.Untracked || !slices.Equal(sortedOf(a.Conflicts), sortedOf(plan.Conflicts)) {
			rt.Fatalf("planned %+v, applied %+v", plan, a)
		}
		for _, p := range w.statusPaths(dir) {
			if asked != "" && !slices.Contains(plan.names(), p) {
				rt.Fatalf("%q was changed and is not in the plan %q", p, plan.names())
			}
		}
		if n := len(w.statusPaths(dir)); !moved && n != len(plan.Files) {
			rt.Fatalf("%d changed, planned %q", n, plan.names())
		}
	})
}

func sortedOf(list []string) []string { return slices.Sorted(slices.Values(list)) }

// TestPlanDigest: every change of either side, staged or not, seen by git or not, gives another digest.
func TestPlanDigest(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	r := w.open(dir)
	c := w.task(r, "one")
	w.write(c.Path, "a.txt", "task\n")
	w.write(c.Path, "new.txt", "one\n")
	since := ""
	digest := func() string {
		p, err := r.PlanApply(ctx, c.Path, c.BaseRef, since)
		if err != nil || p.Refusal != nil || p.Digest == "" {
			t.Fatalf("%+v, %v", p, err)
		}
		return p.Digest
	}
	seen := map[string]string{digest(): "as it was"}
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"a tracked file changes", func() { w.write(c.Path, "a.txt", "kaat\n") }},
		{"an untracked file changes, at the same length", func() { w.write(c.Path, "new.txt", "two\n") }},
		{"a file comes", func() { w.write(c.Path, "more.txt", "x") }},
		{"a file goes", func() { w.must(os.Remove(filepath.Join(c.Path, "more.txt"))) }},
		{"its mode changes", func() { w.must(os.Chmod(filepath.Join(c.Path, "a.txt"), 0o755)) }},
		{"it is committed", func() { w.commit(c.Path, "work") }},
		{"the main checkout moves", func() { w.write(dir, "own.txt", "own\n"); w.commit(dir, "own") }},
		{"the main checkout commits nothing", func() { w.run(dir, "commit", "-q", "--allow-empty", "-m", "empty") }},
		{"it was applied before", func() { since = w.run(dir, "rev-parse", "HEAD^{tree}") }},
	} {
		step.do()
		d := digest()
		if was, ok := seen[d]; ok && step.name != "a file goes" {
			t.Errorf("%s: the digest is that of %q", step.name, was)
		}
		seen[d] = step.name
	}
}

// TestSealedApply: what the task's agent writes after the question is not applied, and what was written is taken back.
func TestSealedApply(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	r := w.open(dir)
	c := w.task(r, "one")
	w.write(c.Path, "a.txt", "task\n")
	w.write(c.Path, "new.txt", "one\n")
	before := w.tree(dir)
	_, err := r.ApplySince(ctx, c.Path, c.BaseRef, "", func([]string, string) error { w.write(c.Path, "new.txt", "evil\n"); return nil })
	if fault.CodeOf(err) != fault.Conflict || w.tree(dir) != before || len(w.statusPaths(dir)) != 0 {
		t.Errorf("%v, left %q", err, w.statusPaths(dir))
	}
}

// TestDrift: how far both sides went apart, and what does not merge; no content, and nothing is changed.
func TestDrift(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	r := w.open(dir)
	c := w.task(r, "one")
	start := w.run(dir, "rev-parse", "main")
	d, err := r.Drift(ctx, c.Path, "main", start)
	if err != nil || d.Ahead+d.Behind+len(d.Moved)+len(d.Mine)+len(d.Conflicts) != 0 || d.Base != start || d.Now != start || d.Rewritten || d.Ref != "main" {
		t.Errorf("nothing moved: %+v, %v", d, err)
	}
	w.write(c.Path, "a.txt", "task\n")
	w.commit(c.Path, "work")
	w.write(c.Path, "loose.txt", "task\n")
	w.write(dir, "a.txt", "main\n")
	w.write(dir, "loose.txt", "main\n")
	w.write(dir, "c.txt", "main\n")
	w.commit(dir, "one")
	w.run(dir, "commit", "-q", "--allow-empty", "-m", "two")
	before := w.tree(dir) + w.tree(c.Path) + w.run(dir, "for-each-ref") + w.run(c.Path, "status", "--porcelain")
	d, err = r.Drift(ctx, c.Path, "main", start)
	if err != nil || d.Ahead != 1 || d.Behind != 2 || d.Base != start || d.Now == start || d.Rewritten {
		t.Errorf("%+v, %v", d, err)
	}
	if !slices.Equal(d.Moved, []string{"a.txt", "c.txt", "loose.txt"}) || !slices.Equal(d.Mine, []string{"a.txt", "loose.txt"}) || d.Known && !slices.Equal(d.Conflicts, []string{"a.txt", "loose.txt"}) {
		t.Errorf("%+v", d)
	}
	if w.tree(dir)+w.tree(c.Path)+w.run(dir, "for-each-ref")+w.run(c.Path, "status", "--porcelain") != before {
		t.Error("looking changed something")
	}
	w.run(dir, "reset", "-q", "--hard", start)
	w.run(dir, "commit", "-q", "--amend", "--allow-empty", "-m", "another history")
	if d, err = r.Drift(ctx, c.Path, "main", start); err != nil || !d.Rewritten {
		t.Errorf("a base that was rewritten: %+v, %v", d, err)
	}
}

// TestHeld: whatever is lost by a removal, every change of it gives another digest, and Remove asks with the very same.
func TestHeld(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	w.write(dir, ".gitignore", "ignored\n")
	w.commit(dir, "ignore")
	r := w.open(dir)
	c := w.task(r, "one")
	seen := map[string]string{}
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"as it was", func() {}},
		{"an untracked file", func() { w.write(c.Path, "new.txt", "one\n") }},
		{"its content, at the same length", func() { w.write(c.Path, "new.txt", "two\n") }},
		{"a changed file", func() { w.write(c.Path, "a.txt", "task\n") }},
		{"it is staged", func() { w.run(c.Path, "add", "a.txt") }},
		{"an ignored file", func() { w.write(c.Path, "ignored", "one\n") }},
		{"its content, at the same length", func() { w.write(c.Path, "ignored", "two\n") }},
		{"a commit", func() { w.run(c.Path, "commit", "-q", "-m", "work") }},
		{"a stash", func() { w.run(c.Path, "stash", "-q", "-u") }},
		{"a lock", func() { w.run(dir, "worktree", "lock", c.Path) }},
	} {
		step.do()
		_, d, err := r.Held(ctx, c.Path, c.Branch, false)
		if err != nil || seen[d] != "" {
			t.Errorf("%s: the digest is that of %q, %v", step.name, seen[d], err)
		}
		if _, again, err := r.Held(ctx, c.Path, c.Branch, false); err != nil || again != d {
			t.Errorf("%s: another digest for the same, %v", step.name, err)
		}
		seen[d] = step.name
		no := errors.New("no")
		_, err = r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch, Consent: true, Still: func(asked string) error {
			if asked != d {
				t.Errorf("%s: Remove asks with another digest", step.name)
			}
			return no
		}})
		if !errors.Is(err, no) {
			t.Errorf("%s: %v", step.name, err)
		}
		if _, err := os.Stat(c.Path); err != nil || w.run(dir, "for-each-ref", "refs/termic") != "" {
			t.Fatalf("%s: something was done, %v", step.name, err)
		}
	}
}
