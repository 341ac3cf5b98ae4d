package worktree

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
)

// changesOf prints the files of a diff, one a line.
func changesOf(d Diff) string {
	var out []string
	for _, f := range d.Files {
		s := fmt.Sprintf("%s %s +%d -%d", f.Status, f.Path, f.Insertions, f.Deletions)
		if f.OldPath != "" {
			s += " from " + f.OldPath
		}
		if f.Binary {
			s += " binary"
		}
		if f.Staged {
			s += " staged"
		}
		if f.Unstaged {
			s += " unstaged"
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

func TestDiffSeesEveryKindOfChange(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	long := strings.Repeat("a line of text\n", 30)
	w.write(dir, "moved.txt", long)
	w.write(dir, "gone.txt", "1\n2\n")
	w.write(dir, "kind.txt", "file\n")
	w.commit(dir, "more")
	r := w.open(dir)
	c := w.task(r, "t")
	p := c.Path
	w.write(p, "committed.txt", "x\ny\nz\n")
	w.commit(p, "the subject\n\nthe body")
	w.write(p, "staged.txt", "s\n")
	w.run(p, "add", "staged.txt")
	w.write(p, "a.txt", "one\ntwo\nthree\nfour\n")
	w.must(os.Remove(filepath.Join(p, "gone.txt")))
	w.run(p, "mv", "moved.txt", "elsewhere.txt")
	w.must(os.Remove(filepath.Join(p, "kind.txt")))
	w.must(os.Symlink("a.txt", filepath.Join(p, "kind.txt")))
	w.write(p, "binary", "a\x00b")
	w.write(p, "untracked/x y.txt", "u\nu\n")
	w.must(os.Chmod(filepath.Join(p, "c.txt"), 0o755))

	w.write(dir, "later.txt", "main got this meanwhile\n")
	w.commit(dir, "later")

	d, err := r.Diff(ctx, p, c.BaseRef, DiffOptions{Patch: true})
	w.must(err)
	want := `modified a.txt +1 -0 unstaged
modified c.txt +0 -0 unstaged
added committed.txt +3 -0
renamed elsewhere.txt +0 -0 from moved.txt staged
deleted gone.txt +0 -2 unstaged
typechange kind.txt +1 -1 unstaged
added staged.txt +1 -0 staged
untracked binary +0 -0 binary
untracked untracked/x y.txt +2 -0`
	same(t, "changes", changesOf(d), want)
	same(t, "stat", d.Stat, api.DiffStat{FilesChanged: 9, Insertions: 8, Deletions: 3, Untracked: 2})
	same(t, "merge base", d.MergeBase, c.BaseCommit)
	if len(d.Commits) != 1 || d.Commits[0].Subject != "the subject" {
		t.Errorf("commits %+v", d.Commits)
	}
	if _, err := time.Parse(time.RFC3339, d.Commits[0].Time); err != nil {
		t.Error(err)
	}
	for _, part := range []string{"rename from moved.txt", "+four", "new file mode 100644", "old mode 100644", "+u\n"} {
		if !strings.Contains(string(d.Patch), part) {
			t.Errorf("the patch lacks %q", part)
		}
	}
	if strings.Contains(string(d.Patch), "later.txt") {
		t.Error("what the base got meanwhile is in the patch")
	}
	same(t, "total", d.TotalBytes, int64(len(d.Patch)))

	cut, err := r.Diff(ctx, p, c.BaseRef, DiffOptions{Patch: true, MaxBytes: 100})
	w.must(err)
	if !cut.Truncated || len(cut.Patch) != 100 || cut.TotalBytes != d.TotalBytes || string(cut.Patch) != string(d.Patch[:100]) {
		t.Errorf("truncated %v, %d of %d bytes", cut.Truncated, len(cut.Patch), cut.TotalBytes)
	}
	stat, err := r.Diff(ctx, p, c.BaseRef, DiffOptions{StatOnly: true})
	w.must(err)
	same(t, "stat only", stat.Stat, d.Stat)

	// Merging the base in changes nothing of what the task did.
	w.run(p, "stash", "-q", "-u")
	w.run(p, "merge", "-q", "main")
	w.run(p, "stash", "pop", "-q")
	merged, err := r.Diff(ctx, p, c.BaseRef, DiffOptions{})
	w.must(err)
	for _, f := range merged.Files {
		if f.Path == "later.txt" {
			t.Error("after a merge of the base its change counts as the task's")
		}
	}
}

func TestDiffIgnoresTheUsersTaste(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	r := w.open(dir)
	c := w.task(r, "t")
	w.write(c.Path, "a.txt", "one\nTWO\nthree\n")
	w.write(c.Path, "u.txt", "u\n")
	plain, err := r.Diff(ctx, c.Path, c.BaseRef, DiffOptions{Patch: true})
	w.must(err)
	for _, kv := range [][2]string{{"color.ui", "always"}, {"diff.noprefix", "true"}, {"diff.mnemonicPrefix", "true"}, {"diff.external", "false"},
		{"diff.renames", "copies"}, {"status.showUntrackedFiles", "no"}, {"status.relativePaths", "true"}, {"core.quotePath", "false"},
		{"diff.submodule", "log"}, {"core.pager", "false"}, {"diff.relative", "true"}, {"log.showSignature", "true"}} {
		w.run(dir, "config", "--global", kv[0], kv[1])
	}
	got, err := r.Diff(ctx, c.Path, c.BaseRef, DiffOptions{Patch: true})
	w.must(err)
	same(t, "patch", string(got.Patch), string(plain.Patch))
	same(t, "changes", changesOf(got), changesOf(plain))
}

func TestDiffErrorsAreErrors(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	r := w.open(dir)
	c := w.task(r, "t")
	_, err := r.Diff(ctx, c.Path, "no-such-branch", DiffOptions{})
	wantCode(t, err, fault.NotFound)
	_, err = r.Diff(ctx, filepath.Join(w.dir, "elsewhere"), "main", DiffOptions{})
	wantCode(t, err, fault.NotFound)
	w.must(os.WriteFile(filepath.Join(dir, ".git/worktrees", "t", "index"), []byte("not an index"), 0o644))
	if d, err := r.Diff(ctx, c.Path, "main", DiffOptions{}); err == nil {
		t.Errorf("a broken index gave %+v", d.Stat)
	}
	if _, err := r.Status(ctx, c.Path); err == nil {
		t.Error("a broken index gave a status")
	}
}

func TestDiffWithoutCommits(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.dir, "empty")
	w.must(os.Mkdir(dir, 0o755))
	w.run(dir, "init", "-q")
	w.write(dir, "staged.txt", "1\n2\n")
	w.run(dir, "add", "staged.txt")
	w.write(dir, "loose.txt", "x\n")
	r := w.open(dir)
	d, err := r.Diff(ctx, dir, "", DiffOptions{Patch: true})
	w.must(err)
	same(t, "changes", changesOf(d), "added staged.txt +2 -0 staged\nuntracked loose.txt +1 -0")
	same(t, "commits", len(d.Commits), 0)
	st, err := r.Status(ctx, dir)
	w.must(err)
	same(t, "branch", st.Branch, "main")
	same(t, "head", st.Head, "")
}

func TestStatus(t *testing.T) {
	w := newWorld(t)
	w.repo("up")
	w.run(w.dir, "clone", "-q", "up", "r")
	dir := filepath.Join(w.dir, "r")
	r := w.open(dir)
	c := w.task(r, "t")
	p := c.Path
	w.run(p, "branch", "-q", "--set-upstream-to", "origin/main")
	w.write(p, "a.txt", "ours\n")
	w.commit(p, "ours")
	w.write(p, "b2.txt", "x\n")
	w.run(p, "add", "b2.txt")
	w.write(p, "b2.txt", "y\n")
	w.write(p, "loose", "")
	st, err := r.Status(ctx, p)
	w.must(err)
	same(t, "counts", fmt.Sprint(st.Staged, st.Unstaged, st.Untracked, st.Conflicted, st.Ahead, st.Behind, st.Dirty()), "1 1 1 0 1 0 2")
	same(t, "branch", st.Branch+" "+st.Upstream, "feature/t origin/main")

	w.run(p, "reset", "-q", "--hard")
	w.must(os.Remove(filepath.Join(p, "loose")))
	w.run(p, "checkout", "-q", "-b", "other", "HEAD~1")
	w.write(p, "a.txt", "theirs\n")
	w.commit(p, "theirs")
	for _, c := range []struct {
		name string
		args []string
		end  []string
	}{
		{"merge", []string{"merge", "feature/t"}, []string{"merge", "--abort"}},
		{"rebase", []string{"rebase", "feature/t"}, []string{"rebase", "--abort"}},
		{"cherry-pick", []string{"cherry-pick", "feature/t"}, []string{"cherry-pick", "--abort"}},
		{"bisect", []string{"bisect", "start"}, []string{"bisect", "reset"}},
	} {
		_, _ = w.try(p, c.args...) // a conflict is what is wanted
		st, err := r.Status(ctx, p)
		w.must(err)
		same(t, "in progress", st.InProgress, c.name)
		if c.name != "bisect" {
			same(t, c.name+" conflicts", st.Conflicted, 1)
			d, err := r.Diff(ctx, p, "main", DiffOptions{})
			w.must(err)
			same(t, c.name+" file", d.Files[0].Status, "unmerged")
		}
		w.run(p, c.end...)
	}
}

func TestTimeouts(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	slow := filepath.Join(w.dir, "slow-git")
	w.must(os.WriteFile(slow, []byte("#!/bin/sh\ncase \"$1\" in version) exec git version;; esac\nsleep 60 & sleep 60\n"), 0o755))
	g, err := New(Options{Bin: slow, Env: w.env, Timeout: 3 * time.Second})
	w.must(err)
	g.timeout = 300 * time.Millisecond
	start := time.Now()
	_, err = g.Open(ctx, dir)
	f := wantCode(t, err, fault.Unavailable)
	if !strings.Contains(f.Message, "did not finish") || time.Since(start) > 20*time.Second {
		t.Errorf("%q after %s", f.Message, time.Since(start))
	}
}

// An agent removes files while git walks the tree: git dies over a file that it saw a moment ago. A look or two more get
// through; a tree that never holds still gives a sentence, not a fault of the app.
func TestTreeThatMoves(t *testing.T) {
	w := newWorld(t)
	r := w.open(w.repo("r"))
	c := w.task(r, "t")
	w.write(c.Path, "new", "1\n")
	left := filepath.Join(w.dir, "left")
	moving := filepath.Join(w.dir, "moving-git")
	w.must(os.WriteFile(moving, []byte("#!/bin/sh\ncase \"$*\" in *--patch*|*--porcelain=v2*) if [ -s \""+left+"\" ]; then sed -i 1d \""+left+
		"\"; echo \"fatal: stat 'd/id': No such file or directory\" >&2; exit 128; fi;; esac\nexec git \"$@\"\n"), 0o755))
	g, err := New(Options{Bin: moving, Env: w.env, Timeout: 30 * time.Second})
	w.must(err)
	again, err := g.Open(ctx, r.Main())
	w.must(err)
	for deaths, ok := range []bool{true, true, true, false, false} {
		for name, look := range map[string]func() error{
			"diff":   func() error { _, err := again.Diff(ctx, c.Path, "main", DiffOptions{Patch: true}); return err },
			"status": func() error { _, err := again.Status(ctx, c.Path); return err },
		} {
			w.must(os.WriteFile(left, bytes.Repeat([]byte("x\n"), deaths), 0o600))
			if err := look(); ok {
				w.must(err)
			} else if f := wantCode(t, err, fault.Unavailable); !strings.Contains(f.Hint, "Try again") || !strings.Contains(f.Hint, "d/id") {
				t.Errorf("%s after %d deaths: %q %q", name, deaths, f.Message, f.Hint)
			}
		}
	}
}

func TestNew(t *testing.T) {
	w := newWorld(t)
	for text, want := range map[string]bool{"git version 2.31.9": false, "git version 1.8.3.1": false, "git version 2.32.0": true,
		"git version 2.39.5 (Apple Git-154)": true, "git version 2.50.1.windows.1": true, "git version 3.0.0-rc1": true, "hg 4": false} {
		fake := filepath.Join(w.dir, "fake-git")
		w.must(os.WriteFile(fake, []byte("#!/bin/sh\necho '"+text+"'\n"), 0o755))
		_, err := New(Options{Bin: fake, Env: w.env})
		if (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
		if err != nil {
			wantCode(t, err, fault.Unavailable)
		}
	}
	_, err := New(Options{Env: []string{"PATH=" + w.dir}})
	wantCode(t, err, fault.Unavailable)
}

// A file of a huge size costs nothing to make, and git would read all of it.
func TestDiffDoesNotReadHugeUntrackedFiles(t *testing.T) {
	w := newWorld(t)
	r := w.open(w.repo("r"))
	c := w.task(r, "t")
	w.write(c.Path, "small", "1\n")
	w.write(c.Path, "huge", "")
	w.must(os.Truncate(filepath.Join(c.Path, "huge"), 1<<40))
	d, err := r.Diff(t.Context(), c.Path, c.BaseRef, DiffOptions{Patch: true})
	w.must(err)
	if got := changesOf(d); !strings.Contains(got, "untracked huge +0 -0") || !strings.Contains(got, "untracked small +1 -0") || !d.Truncated {
		t.Errorf("truncated %v:\n%s", d.Truncated, got)
	}
}
