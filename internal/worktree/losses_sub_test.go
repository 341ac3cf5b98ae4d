package worktree

import (
	"path/filepath"
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/fault"
)

// What a submodule holds beside changed files is work too: stashes, ignored files, and commits in a repository that is
// not in the tree any more.
func TestSubmodulesHoldWork(t *testing.T) {
	w := newWorld(t)
	lib := w.repo("lib")
	w.write(lib, ".gitignore", "*.log\n")
	w.commit(lib, "ignore")
	dir := w.repo("r")
	w.run(dir, "submodule", "--quiet", "add", lib, "vendor/lib")
	w.commit(dir, "with a submodule")
	r := w.open(dir).Plain()
	for _, c := range []struct {
		name, want string
		work       func(tree, sub string)
	}{
		{"nothing", "", func(string, string) {}},
		{"taken out untouched", "", func(tree, _ string) { w.run(tree, "submodule", "--quiet", "deinit", "-f", "vendor/lib") }},
		{"stash", "stashes", func(_, sub string) {
			w.write(sub, "a.txt", "precious\n")
			w.run(sub, "stash", "-q")
		}},
		{"ignored", "ignored files", func(_, sub string) { w.write(sub, "key.log", "precious\n") }},
		{"taken out", "commits that are not pushed", func(tree, sub string) {
			w.run(sub, "checkout", "-q", "-b", "side")
			w.write(sub, "a.txt", "precious\n")
			w.commit(sub, "precious")
			w.run(sub, "checkout", "-q", "--detach", "HEAD~1")
			w.run(tree, "submodule", "--quiet", "deinit", "-f", "vendor/lib")
		}},
		{"without a commit", "not looked into", func(_, sub string) {
			w.run(sub, "checkout", "-q", "--orphan", "new")
			w.run(sub, "rm", "-q", "-r", "-f", ".")
		}},
		{"broken", "not looked into", func(_, sub string) { w.write(sub, ".git", "gitdir: nowhere\n") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			task := w.task(r, c.name)
			c.work(task.Path, filepath.Join(task.Path, "vendor/lib"))
			losses, err := r.Losses(ctx, task.Path, task.Branch, false)
			w.must(err)
			got := itemsOf(losses, LossSubmodule)
			if c.want == "" && len(losses) != 0 || !strings.Contains(strings.Join(got, ","), c.want) {
				t.Errorf("%+v, want %q", losses, c.want)
			}
			_, err = r.Remove(ctx, RemoveOptions{Path: task.Path, Branch: task.Branch})
			if c.want == "" {
				w.must(err)
				return
			}
			wantCode(t, err, fault.NeedsConsent)
			_, err = r.Remove(ctx, RemoveOptions{Path: task.Path, Branch: task.Branch, Consent: true})
			w.must(err)
		})
	}
}

func itemsOf(losses []api.Loss, kind string) []string {
	for _, l := range losses {
		if l.Kind == kind {
			return l.Items
		}
	}
	return nil
}

// Commits that only a ref of the worktree itself has, and what a rebase put aside, go with the worktree: they are losses,
// and the backup keeps them.
func TestWhatOnlyTheWorktreesOwnRefsHave(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	r := w.open(dir)
	c := w.task(r, "own")
	w.run(c.Path, "checkout", "-q", "--detach")
	w.write(c.Path, "a.txt", "precious\n")
	kept := w.commit(c.Path, "precious")
	w.run(c.Path, "update-ref", "refs/worktree/kept", "HEAD")
	w.run(c.Path, "checkout", "-q", c.Branch)
	_, err := r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch})
	wantCode(t, err, fault.NeedsConsent)
	removed, err := r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch, Consent: true})
	w.must(err)
	w.run(dir, "merge-base", "--is-ancestor", kept, removed.BackupRef)

	c = w.task(r, "rebase")
	w.write(c.Path, "a.txt", "mine\n")
	w.commit(c.Path, "mine")
	w.run(c.Path, "checkout", "-q", "-b", "other", "main")
	w.write(c.Path, "a.txt", "other\n")
	w.commit(c.Path, "other")
	w.run(c.Path, "checkout", "-q", c.Branch)
	w.write(c.Path, "c.txt", "put aside\n")
	if out, err := w.try(c.Path, "rebase", "--autostash", "other"); err == nil {
		t.Fatalf("no conflict: %s", out)
	}
	aside := strings.TrimSpace(w.read(w.run(c.Path, "rev-parse", "--absolute-git-dir"), "rebase-merge/autostash"))
	removed, err = r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch, Consent: true})
	w.must(err)
	w.run(dir, "merge-base", "--is-ancestor", aside, removed.BackupRef)
}
