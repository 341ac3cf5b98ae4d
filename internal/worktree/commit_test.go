package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/internal/fault"
)

func TestCommitTakesWhatIsStaged(t *testing.T) {
	w := newWorld(t)
	r, dir := w.atWork()
	w.run(dir, "add", "c.txt")
	got, err := r.Commit(ctx, dir, CommitOptions{Message: "  \n\nTake it away  \r\n\n# not a comment\nwhy\t\n\n"})
	w.must(err)
	same(t, "result", [3]any{got.ID, got.Branch, got.Files}, [3]any{w.run(dir, "rev-parse", "HEAD"), "feature/t", 1})
	same(t, "subject", got.Subject, "Take it away")
	same(t, "message", w.run(dir, "log", "-1", "--format=%B%an <%ae> %cn"), "Take it away\n\n# not a comment\nwhy\nA User <user@example.invalid> A User")
	same(t, "files", w.run(dir, "diff-tree", "-r", "--name-status", "HEAD~", "HEAD"), "D\tc.txt")
	same(t, "reflog", w.run(dir, "log", "-g", "-1", "--format=%gs", "HEAD"), "commit: Take it away")
	same(t, "reflog of the branch", w.run(dir, "log", "-g", "-1", "--format=%gs", "feature/t"), "commit: Take it away")
	_, err = r.Commit(ctx, dir, CommitOptions{Message: "again"})
	refused(t, err, fault.Conflict, "Nothing is staged", "Stage the files")
	got, err = r.Commit(ctx, dir, CommitOptions{Message: "all", All: true})
	w.must(err)
	same(t, "files", got.Files, 7)
	same(t, "status", w.short(dir), "")
	_, err = r.Commit(ctx, dir, CommitOptions{Message: "again", All: true})
	refused(t, err, fault.Conflict, "Nothing is staged", "Nothing has changed since the last commit")
	w.run(dir, "fsck", "--strict")
}

func TestCommitRefuses(t *testing.T) {
	w := newWorld(t)
	r, dir := w.atWork()
	w.run(dir, "add", "-A")
	for _, message := range []string{"", " \n\t\n", "a\x00b", "\xff", strings.Repeat("x", MaxMessage+1)} {
		_, err := r.Commit(ctx, dir, CommitOptions{Message: message})
		refused(t, err, fault.InvalidArgument, "message")
	}
	w.run(dir, "symbolic-ref", "HEAD", "refs/heads/main")
	_, err := r.Commit(ctx, dir, CommitOptions{Message: "x"})
	refused(t, err, fault.Conflict, "The branch main is checked out in")
	w.run(dir, "symbolic-ref", "HEAD", "refs/heads/feature/t")
	head := w.run(dir, "rev-parse", "HEAD")
	w.run(dir, "commit", "-q", "-m", "one")
	w.write(dir, "a.txt", "x\n")
	w.run(dir, "add", "-A")
	w.run(dir, "commit", "-q", "-m", "two")
	w.write(dir, "a.txt", "y\n")
	if _, err := w.try(dir, "rebase", "-x", "false", "HEAD~1", "--autostash"); err == nil {
		t.Fatal("the rebase went through")
	}
	w.write(dir, "a.txt", "z\n")
	_, err = r.Commit(ctx, dir, CommitOptions{Message: "x", All: true})
	refused(t, err, fault.Conflict, "in the middle of a rebase", "git rebase --continue")
	if w.run(dir, "rev-parse", "HEAD") == head {
		t.Fatal("nothing was committed at all")
	}
}

func TestCommitNeedsAName(t *testing.T) {
	w := newWorld(t)
	r, dir := w.atWork()
	w.write(w.dir, "home/.gitconfig", "[user]\n\tname = A User\n")
	w.env = append(w.env, "EMAIL=")
	_, err := r.Commit(ctx, dir, CommitOptions{Message: "x", All: true})
	refused(t, err, fault.Unavailable, "in whose name", "git config --global user.email")
	same(t, "HEAD", w.run(dir, "log", "-1", "--format=%s"), "first")
	same(t, "staged", w.run(dir, "diff", "--cached", "--name-only"), "")
}

// No hook of anybody runs, and the result says so; nor is anything signed.
func TestCommitRunsNothing(t *testing.T) {
	w := newWorld(t)
	main := w.repo("r")
	r := w.open(main)
	dir := w.task(r, "t").Path
	mark := filepath.Join(w.dir, "ran")
	hook := "#!/bin/sh\necho \"$0\" >>'" + mark + "'\n"
	hooks := filepath.Join(main, ".git/hooks")
	for _, name := range []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-index-change", "reference-transaction"} {
		w.write(hooks, name, hook)
		w.must(os.Chmod(filepath.Join(hooks, name), 0o755))
	}
	w.write(hooks, "gpg", hook)
	w.must(os.Chmod(filepath.Join(hooks, "gpg"), 0o755))
	w.run(main, "config", "commit.gpgSign", "true")
	w.run(main, "config", "gpg.program", filepath.Join(hooks, "gpg"))
	w.run(main, "config", "core.fsmonitor", filepath.Join(hooks, "gpg"))
	w.write(dir, "n", "n\n")
	got, err := r.Plain().Commit(ctx, dir, CommitOptions{Message: "x", All: true})
	w.must(err)
	same(t, "told", strings.Join(got.Warnings, "; "), "Hooks do not run here: pre-commit, prepare-commit-msg, commit-msg, post-commit; The commit is not signed, though commit.gpgSign is set")
	w.write(dir, "n", "m\n")
	d, err := r.Plain().Discard(ctx, dir, discardOf(false, "n"))
	w.must(err)
	_, err = r.Plain().Undo(ctx, dir, d.Commit)
	w.must(err)
	if text, err := os.ReadFile(mark); err == nil {
		t.Errorf("these ran: %s", text)
	}
	w.run(main, "config", "core.hooksPath", "none")
	w.run(main, "config", "commit.gpgSign", "false")
	w.run(main, "config", "core.fsmonitor", "")
	got, err = r.Commit(ctx, dir, CommitOptions{Message: "x", All: true})
	w.must(err)
	same(t, "told", strings.Join(got.Warnings, "; "), "")
}

func TestCommitOnNoBranchAndOnANewOne(t *testing.T) {
	w := newWorld(t)
	r, dir := w.atWork()
	w.run(dir, "checkout", "-q", "--detach")
	got, err := r.Commit(ctx, dir, CommitOptions{Message: "x", All: true})
	w.must(err)
	same(t, "branch", got.Branch, "")
	same(t, "HEAD", w.run(dir, "rev-parse", "HEAD"), got.ID)
	w.run(dir, "checkout", "-q", "--orphan", "fresh")
	got, err = r.Commit(ctx, dir, CommitOptions{Message: "root"})
	w.must(err)
	same(t, "parents", w.run(dir, "log", "-1", "--format=%P"), "")
	empty := filepath.Join(w.dir, "empty")
	w.must(os.MkdirAll(empty, 0o755))
	w.run(empty, "init", "-q")
	w.write(empty, "a", "a\n")
	e := w.open(empty)
	_, err = e.Commit(ctx, empty, CommitOptions{Message: "x"})
	refused(t, err, fault.Conflict, "Nothing is staged")
	before := w.short(empty)
	d, err := e.Discard(ctx, empty, discardOf(true, "."))
	w.must(err)
	same(t, "status", w.short(empty), "")
	_, err = e.Undo(ctx, empty, d.Commit)
	w.must(err)
	same(t, "status", w.short(empty), before)
	_, err = e.Commit(ctx, empty, CommitOptions{Message: "first", All: true})
	w.must(err)
	same(t, "log", w.run(empty, "log", "--format=%s"), "first")
}

// An index in parts, one with a table of untracked files, and one of a part of the tree are indexes too.
func TestIndexesOfOtherKinds(t *testing.T) {
	for _, set := range [][]string{{"config", "core.splitIndex", "true"}, {"config", "core.untrackedCache", "true"}, {"config", "index.version", "4"},
		{"sparse-checkout", "set", "dir"}, {"sparse-checkout", "set", "--no-cone", "/a.txt", "/dir/"}} {
		w := newWorld(t)
		r := w.open(w.repo("r"))
		dir := w.task(r, "t").Path
		w.run(dir, set...)
		w.run(dir, "update-index", "--force-write-index")
		w.write(dir, "dir/b.txt", "changed\n")
		w.write(dir, "dir/n", "new\n")
		_, err := r.Stage(ctx, dir, Choice{All: true})
		w.must(err)
		before := w.state(dir)
		d, err := r.Discard(ctx, dir, discardOf(true, "."))
		w.must(err)
		same(t, "discarded", w.short(dir), "")
		_, err = r.Undo(ctx, dir, d.Commit)
		w.must(err)
		same(t, "undone", w.state(dir), before)
		_, err = r.Commit(ctx, dir, CommitOptions{Message: "x"})
		w.must(err)
		same(t, "files", w.run(dir, "diff-tree", "-r", "--name-only", "HEAD~", "HEAD"), "dir/b.txt\ndir/n")
		same(t, "status", w.short(dir), "")
	}
}
