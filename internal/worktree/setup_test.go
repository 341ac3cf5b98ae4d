package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termic/internal/fault"
)

func TestW12Hooks(t *testing.T) {
	hook := func(w *world, dir, text string) {
		w.must(os.WriteFile(filepath.Join(dir, ".git", "hooks", "post-checkout"), []byte("#!/bin/sh\n"+text), 0o755))
	}
	t.Run("runs in the worktree", func(t *testing.T) {
		w := newWorld(t)
		dir := w.repo("r")
		hook(w, dir, "echo \"$1 $2 $3 $(pwd)\" >hooked; git rev-parse --show-toplevel >>hooked; echo said it >&2\n")
		var lines []string
		r := w.open(dir)
		c, err := r.Create(ctx, CreateOptions{Path: filepath.Join(w.dir, "t"), Branch: "t", Progress: func(l string) { lines = append(lines, l) }})
		w.must(err)
		head := w.run(dir, "rev-parse", "HEAD")
		same(t, "arguments", w.read(c.Path, "hooked"), strings.Repeat("0", 40)+" "+head+" 1 "+c.Path+"\n"+c.Path+"\n")
		same(t, "warnings", len(c.Warnings), 0)
		if !contains(lines, "said it") {
			t.Errorf("progress %q lacks the hook's line", lines)
		}
	})
	t.Run("slow", func(t *testing.T) {
		w := newWorld(t, func(o *Options) { o.HookTimeout = 300 * time.Millisecond })
		dir := w.repo("r")
		hook(w, dir, "sleep 30 & sleep 30\n")
		start := time.Now()
		c := w.task(w.open(dir), "t")
		if took := time.Since(start); took > 15*time.Second {
			t.Errorf("took %s", took)
		}
		if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "did not finish") {
			t.Errorf("warnings %q", c.Warnings)
		}
		same(t, "file", w.read(c.Path, "c.txt"), "c\n")
	})
	t.Run("fails", func(t *testing.T) {
		w := newWorld(t)
		dir := w.repo("r")
		hook(w, dir, "echo no luck >&2; exit 3\n")
		c := w.task(w.open(dir), "t")
		if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "no luck") {
			t.Errorf("warnings %q", c.Warnings)
		}
	})
	t.Run("guarded", func(t *testing.T) {
		w := newWorld(t)
		dir := w.repo("r")
		hook(w, dir, "touch "+filepath.Join(w.dir, "ran")+"\n")
		_, err := w.open(dir).Create(ctx, CreateOptions{Path: filepath.Join(w.dir, "t"), Branch: "t", Guarded: true})
		w.must(err)
		if _, err := os.Lstat(filepath.Join(w.dir, "ran")); err == nil {
			t.Error("the hook ran")
		}
	})
}

func TestW10HooksPathOfTheUserStays(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	w.run(dir, "config", "core.hooksPath", ".husky")
	w.write(dir, ".husky/post-checkout", "#!/bin/sh\ntouch hooked\n")
	w.must(os.Chmod(filepath.Join(dir, ".husky/post-checkout"), 0o755))
	w.commit(dir, "husky")
	before := w.read(dir, ".git/config")
	r := w.open(dir)
	c := w.task(r, "t")
	w.write(c.Path, "a.txt", "x\n")
	_, err := r.Diff(ctx, c.Path, c.BaseRef, DiffOptions{})
	w.must(err)
	_, err = r.Apply(ctx, c.Path, c.BaseRef)
	w.must(err)
	_, err = r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch, Consent: true})
	w.must(err)
	same(t, "config", w.read(dir, ".git/config"), before)
	if _, err := os.Lstat(filepath.Join(w.dir, "tasks")); err != nil {
		t.Error(err)
	}
	c = w.task(r, "u")
	if _, err := os.Lstat(filepath.Join(c.Path, "hooked")); err != nil {
		t.Error("the user's hook did not run at creation")
	}
}

func TestW7Submodules(t *testing.T) {
	w := newWorld(t)
	lib := w.repo("lib")
	dir := w.repo("r")
	w.run(dir, "submodule", "--quiet", "add", lib, "vendor/lib")
	w.commit(dir, "with a submodule")
	r := w.open(dir)
	c := w.task(r, "good")
	same(t, "warnings", strings.Join(c.Warnings, "\n"), "")
	same(t, "file of the submodule", w.read(c.Path, "vendor/lib/a.txt"), "one\ntwo\nthree\n")
	losses, err := r.Plain().Losses(ctx, c.Path, c.Branch, false)
	w.must(err)
	same(t, "losses of an untouched tree", len(losses), 0)
	w.write(c.Path, "vendor/lib/a.txt", "work in the submodule\n")
	for _, repo := range []*Repo{r, r.Plain()} {
		_, err = repo.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch})
		wantCode(t, err, fault.NeedsConsent)
	}

	w.must(os.Rename(lib, lib+"-moved"))
	c = w.task(r, "broken")
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "submodules") {
		t.Errorf("warnings %q", c.Warnings)
	}
	same(t, "file", w.read(c.Path, "a.txt"), "one\ntwo\nthree\n")
	_, err = r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch})
	w.must(err)
}

func TestW8LFS(t *testing.T) {
	pointer := lfsPointer + "v1\noid sha256:" + strings.Repeat("ab", 32) + "\nsize 12\n"
	setup := func(t *testing.T, attributes string) (*world, *Repo) {
		w := newWorld(t)
		dir := w.repo("r")
		w.write(dir, "dir/.gitattributes", attributes)
		w.write(dir, "dir/big.bin", pointer)
		w.commit(dir, "big")
		return w, w.open(dir)
	}
	t.Run("no attributes, no word of LFS", func(t *testing.T) {
		w, r := setup(t, "")
		same(t, "warnings", len(w.task(r, "t").Warnings), 0)
	})
	t.Run("attributes, no filter", func(t *testing.T) {
		w, r := setup(t, "*.bin filter=lfs -text\n")
		c := w.task(r, "t")
		if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "1 files are kept by Git LFS") {
			t.Errorf("warnings %q", c.Warnings)
		}
	})
	t.Run("attributes, filter program is missing", func(t *testing.T) {
		w, r := setup(t, "*.bin filter=lfs -text\n")
		w.run(r.Root(), "config", "filter.lfs.process", "no-such-git-lfs filter-process")
		w.run(r.Root(), "config", "filter.lfs.smudge", "no-such-git-lfs smudge -- %f")
		w.run(r.Root(), "config", "filter.lfs.required", "true")
		c := w.task(r, "t")
		if len(c.Warnings) != 2 || !strings.Contains(c.Warnings[0], "filter") {
			t.Errorf("warnings %q", c.Warnings)
		}
		same(t, "pointer", w.read(c.Path, "dir/big.bin"), pointer)
		same(t, "branch", c.Branch, "feature/t")
		same(t, "path", c.Path, filepath.Join(w.dir, "tasks", "t"))
		st, err := r.Status(ctx, c.Path)
		w.must(err)
		same(t, "dirty files", st.Dirty(), 0)
	})
	t.Run("git-crypt keys are linked before the checkout", func(t *testing.T) {
		w := newWorld(t)
		dir := w.repo("r")
		w.write(dir, ".gitattributes", "*.secret filter=git-crypt\n")
		w.write(dir, "x.secret", "hidden\n")
		w.commit(dir, "secret")
		w.write(dir, ".git/git-crypt/keys/default", "key")
		w.run(dir, "config", "filter.git-crypt.smudge", `d=$(git rev-parse --absolute-git-dir); test -f "$d/git-crypt/keys/default" && sed s/hidden/plain/`)
		w.run(dir, "config", "filter.git-crypt.clean", `sed s/plain/hidden/`)
		w.run(dir, "config", "filter.git-crypt.required", "true")
		c := w.task(w.open(dir), "t")
		same(t, "warnings", strings.Join(c.Warnings, "\n"), "")
		same(t, "secret", w.read(c.Path, "x.secret"), "plain\n")
	})
}

// A remote that never answers costs the time that was set for it, and a warning.
func TestFetchIsBounded(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.FetchTimeout = 500 * time.Millisecond
		o.Env = append(o.Env, "GIT_SSH_COMMAND=sleep 60 #")
	})
	dir := w.repo("r")
	w.run(dir, "remote", "add", "origin", "ssh://git@host.invalid/x.git")
	w.run(dir, "update-ref", "refs/remotes/origin/main", "HEAD")
	r := w.open(dir)
	start := time.Now()
	c, err := r.Create(ctx, CreateOptions{Path: filepath.Join(w.dir, "t"), Branch: "t", Base: "origin/main", Fetch: true})
	w.must(err)
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "could not be brought up to date") || time.Since(start) > 30*time.Second {
		t.Errorf("%q after %s", c.Warnings, time.Since(start))
	}
	same(t, "base", c.BaseRef, "origin/main")
	w.must(r.Fetch(ctx, "main")) // no branch of a remote: nothing to fetch
	w.must(r.Fetch(ctx, "elsewhere/main"))
}
