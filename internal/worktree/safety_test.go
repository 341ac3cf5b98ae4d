package worktree

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Everything that a cage could write into its worktree to have the app's git run a program. Each trap first goes off in
// plain git, or it proves nothing.
func TestHostSideGitRunsNothingOfTheTree(t *testing.T) {
	for _, c := range []struct {
		name    string
		set     func(w *world, main, wt, script string)
		trigger []string // plain git that springs the trap
		config  bool     // the trap needs the repository's configuration, which plain Repos trust for filters
	}{
		{"hooks", func(w *world, main, wt, script string) {
			for _, h := range []string{"post-checkout", "post-index-change", "reference-transaction", "pre-commit", "post-commit", "post-merge", "post-rewrite"} {
				w.must(os.WriteFile(filepath.Join(main, ".git", "hooks", h), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
			}
		}, []string{"update-ref", "refs/heads/trap", "HEAD"}, false},
		{"core.hooksPath into the tree", func(w *world, main, wt, script string) {
			w.run(main, "config", "core.hooksPath", filepath.Join(wt, "hooks"))
			w.must(os.MkdirAll(filepath.Join(wt, "hooks"), 0o755))
			w.must(os.WriteFile(filepath.Join(wt, "hooks", "reference-transaction"), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
		}, []string{"update-ref", "refs/heads/trap", "HEAD"}, false},
		{"fsmonitor", func(w *world, main, wt, script string) { w.run(main, "config", "core.fsmonitor", script+"; false") }, []string{"status"}, false},
		{"clean and smudge filters", func(w *world, main, wt, script string) {
			w.run(main, "config", "filter.trap=x.clean", script+"; cat")
			w.run(main, "config", "filter.trap=x.smudge", script+"; cat")
			w.run(main, "config", "filter.trap=x.required", "true")
			w.write(wt, ".gitattributes", "* filter=trap=x\n")
		}, []string{"add", "-n", "a.txt"}, true},
		{"process filter", func(w *world, main, wt, script string) {
			w.run(main, "config", "filter.trap.process", script+"; false")
			w.write(wt, ".gitattributes", "* filter=trap\n")
		}, []string{"add", "a.txt"}, true},
		{"diff driver", func(w *world, main, wt, script string) {
			w.run(main, "config", "diff.trap.command", script+"; true")
			w.write(wt, ".gitattributes", "* diff=trap\n")
		}, []string{"diff"}, false},
		{"textconv", func(w *world, main, wt, script string) {
			w.run(main, "config", "diff.trap.textconv", script+"; cat")
			w.write(wt, ".gitattributes", "* diff=trap\n")
		}, []string{"diff"}, false},
		{"external diff and pager", func(w *world, main, wt, script string) {
			w.run(main, "config", "diff.external", script+"; true")
			w.run(main, "config", "core.pager", script+"; cat")
		}, []string{"diff"}, false},
		{"merge driver", func(w *world, main, wt, script string) {
			w.run(main, "config", "merge.trap.driver", script+"; false")
			w.write(main, ".gitattributes", "* merge=trap\n")
			w.write(main, "a.txt", "zero\none\ntwo\nthree\n")
			w.commit(main, "the driver")
			w.run(main, "branch", "theirs", "HEAD~1")
		}, nil, true},
		{"the .git file of the worktree", func(w *world, main, wt, script string) {
			evil := filepath.Join(w.dir, "evil")
			w.run(w.dir, "init", "-q", evil)
			w.run(evil, "config", "core.fsmonitor", script+"; false")
			w.must(os.Remove(filepath.Join(wt, ".git")))
			w.write(wt, ".git", "gitdir: "+filepath.Join(evil, ".git")+"\n")
		}, []string{"status"}, false},
		{"a filled submodule", func(w *world, main, wt, script string) {
			w.write(wt, "sub/x", "x\n")
			sub := filepath.Join(wt, "sub")
			w.run(sub, "init", "-q")
			w.commit(sub, "x")
			w.run(wt, "add", "sub")
			w.write(wt, ".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n")
			w.run(sub, "config", "filter.trap.clean", script+"; cat")
			w.write(sub, ".gitattributes", "* filter=trap\n")
			w.write(sub, "x", "y\n")
		}, []string{"status"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			main := w.repo("r")
			r := w.open(main)
			task := w.task(r, "t")
			ran := filepath.Join(w.dir, "ran")
			c.set(w, main, task.Path, "touch '"+ran+"'")
			w.write(task.Path, "a.txt", "one\ntwo\nthree\nfour\n")
			if c.trigger != nil {
				_, _ = w.try(task.Path, c.trigger...)
				if os.Remove(ran) != nil {
					t.Fatal("the trap does not even spring in plain git")
				}
			}
			try := func(what string, err error) {
				t.Helper()
				if os.Remove(ran) == nil {
					t.Errorf("%s ran a program of the tree (and answered %v)", what, err)
				}
			}
			repos := []*Repo{r}
			if !c.config {
				repos = append(repos, r.Plain())
			}
			for _, r := range repos {
				_, err := r.Status(ctx, task.Path)
				try("Status", err)
				_, err = r.Diff(ctx, task.Path, task.BaseRef, DiffOptions{Patch: true})
				try("Diff", err)
				_, err = r.Losses(ctx, task.Path, task.Branch, false)
				try("Losses", err)
				_, err = r.List(ctx)
				try("List", err)
				_, err = r.Apply(ctx, task.Path, task.BaseRef)
				try("Apply", err)
				_, _ = w.try(main, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "reset", "-q", "--hard") // may run what the trap is
				_ = os.Remove(ran)
			}
			_, err := r.Create(ctx, CreateOptions{Path: filepath.Join(w.dir, "tasks", "guarded"), Branch: "guarded", Base: task.Branch, Guarded: true})
			try("Create", err)
			removed, err := r.Remove(ctx, RemoveOptions{Path: task.Path, Branch: task.Branch, Consent: true, DeleteBranch: true})
			try("Remove", err)
			if err != nil {
				t.Error(err)
			}
			_, err = r.Restore(ctx, RestoreOptions{Path: task.Path, Branch: task.Branch, BackupRef: removed.BackupRef, Guarded: true})
			try("Restore", err)
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestPlainRunsTheUsersFilters(t *testing.T) {
	w := newWorld(t)
	main := w.repo("r")
	w.write(main, ".gitattributes", "*.up filter=case\n")
	w.write(main, "x.up", "LOUD\n")
	w.commit(main, "loud")
	w.run(main, "config", "filter.case.clean", "tr a-z A-Z")
	w.run(main, "config", "filter.case.smudge", "tr A-Z a-z")
	r := w.open(main)
	c := w.task(r, "t")
	same(t, "checked out by the filter", w.read(c.Path, "x.up"), "loud\n")
	w.write(c.Path, "x.up", "louder\n")
	w.run(main, "rm", "-q", "--cached", "x.up")
	w.run(main, "reset", "-q", "--hard")
	plain, err := r.Plain().Diff(ctx, c.Path, c.BaseRef, DiffOptions{Patch: true})
	w.must(err)
	guarded, err := r.Diff(ctx, c.Path, c.BaseRef, DiffOptions{Patch: true})
	w.must(err)
	if !strings.Contains(string(plain.Patch), "+LOUDER") || !strings.Contains(string(guarded.Patch), "+louder") {
		t.Errorf("plain:\n%s\nguarded:\n%s", plain.Patch, guarded.Patch)
	}
	_, err = r.Plain().Apply(ctx, c.Path, c.BaseRef)
	w.must(err)
	same(t, "applied through the filter", w.read(main, "x.up"), "louder\n")
	same(t, "as stored", w.run(main, "cat-file", "blob", ":x.up"), "LOUDER")
}

func TestEnvironmentIsOurs(t *testing.T) {
	for _, kv := range []string{"GIT_DIR=/nowhere", "GIT_WORK_TREE=/nowhere", "GIT_INDEX_FILE=/nowhere", "GIT_TRACE=/tmp/x", "GIT_EXTERNAL_DIFF=false",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.bare", "GIT_CONFIG_VALUE_0=true", "GIT_PAGER=false", "LANG=de_DE.UTF-8", "LC_ALL=de_DE.UTF-8", "GIT_CONFIG_PARAMETERS='core.bare=true'"} {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	w := newWorld(t)
	g, err := New(Options{Env: append(os.Environ(), "HOME="+filepath.Join(w.dir, "home"), "GIT_CONFIG_NOSYSTEM=1")})
	w.must(err)
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_TRACE", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0",
		"GIT_CONFIG_VALUE_0", "GIT_PAGER", "LANG", "LC_ALL", "GIT_CONFIG_PARAMETERS"} {
		os.Unsetenv(name) // for the test's own git; Setenv puts the old values back
	}
	dir := w.repo("r")
	r, err := g.Open(ctx, dir)
	w.must(err)
	c := w.task(r, "t")
	w.write(c.Path, "a.txt", "x\n")
	d, err := r.Diff(ctx, c.Path, c.BaseRef, DiffOptions{})
	w.must(err)
	same(t, "files", d.Stat.FilesChanged, 1)
	for _, kv := range g.environ(command{at: r.here()}) {
		if strings.HasPrefix(kv, "LANG=") || kv == "LC_ALL=de_DE.UTF-8" || strings.Contains(kv, "/nowhere") {
			t.Errorf("%s got through", kv)
		}
	}
}

// Files of names that git takes for its own folder on some system, which an agent may make, spoil neither the diff nor the
// apply nor the archive of a worktree. They do not arrive, and a backup keeps them under another name.
func TestNamesThatGitDoesNotTake(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("repo")
	r := w.open(dir)
	c := w.task(r, "one")
	names := map[string]string{"a/git~1/config": "a/git~1.kept-under-another-name/config", ".Git /x": ".Git.kept-under-another-name/x", "b/.git.../y": "b/.git.kept-under-another-name/y",
		"GIT~1": "GIT~1.kept-under-another-name", "b/.git:z": "b/.git_z.kept-under-another-name"}
	for name := range names {
		w.write(c.Path, name, name)
	}
	w.write(c.Path, "good.txt", "good")
	ctx := context.Background()
	d, err := r.Diff(ctx, c.Path, c.BaseRef, DiffOptions{})
	w.must(err)
	if len(d.Files) != len(names)+1 || !d.Truncated { // all are named
		t.Errorf("the diff: %+v", d)
	}
	applied, err := r.Apply(ctx, c.Path, c.BaseRef)
	w.must(err)
	if got := w.run(dir, "status", "--short", "--untracked-files=all"); got != "?? good.txt" || len(applied.Warnings) == 0 {
		t.Errorf("arrived: %q, warnings %q", got, applied.Warnings)
	}
	removed, err := r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch, Consent: true})
	w.must(err)
	back, err := r.Restore(ctx, RestoreOptions{Path: c.Path, Branch: c.Branch, BackupRef: removed.BackupRef})
	w.must(err)
	for name, kept := range names {
		if got := w.read(back.Path, kept); got != name {
			t.Errorf("%s came back as %q", name, got)
		}
	}
}
