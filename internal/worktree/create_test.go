package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"termic/internal/fault"
)

var ctx = context.Background()

func TestCreateResolvesTheBase(t *testing.T) {
	w := newWorld(t)
	up := w.repo("up")
	w.run(w.dir, "clone", "-q", up, "clone")
	clone := filepath.Join(w.dir, "clone")
	old := w.run(up, "rev-parse", "HEAD")
	newer := w.commit(up, "second") // the clone has not fetched it

	noRemote := w.repo("alone")
	local := w.run(noRemote, "rev-parse", "HEAD")
	w.run(noRemote, "branch", "topic")

	gone := w.repo("gone")
	w.run(gone, "remote", "add", "origin", filepath.Join(w.dir, "nowhere"))

	for _, c := range []struct {
		name, repo, base    string
		fetch               bool
		wantRef, wantCommit string
		warn                string
	}{
		{"remote default", clone, "", false, "origin/main", old, ""},
		{"remote named", clone, "origin/main", false, "origin/main", old, ""},
		{"remote fetched", clone, "origin/main", true, "origin/main", newer, ""},
		{"no remote, default", noRemote, "", false, "main", local, ""},
		{"no remote, stored origin/topic", noRemote, "origin/topic", false, "topic", local, "There is no origin/topic here"},
		{"no remote, stored origin/lost", noRemote, "origin/lost", false, "HEAD", local, "starts from HEAD"},
		{"commit", noRemote, local[:10], false, local[:10], local, ""},
		{"unreachable remote", gone, "origin/main", true, "main", w.run(gone, "rev-parse", "HEAD"), "could not be brought up to date"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := w.open(c.repo)
			got, err := r.Create(ctx, CreateOptions{Path: filepath.Join(w.dir, "tasks", "t"), Branch: "feature/t", Base: c.base, Fetch: c.fetch})
			w.must(err)
			same(t, "base ref", got.BaseRef, c.wantRef)
			same(t, "base commit", got.BaseCommit, c.wantCommit)
			same(t, "head", w.run(got.Path, "rev-parse", "HEAD"), c.wantCommit)
			if all := strings.Join(got.Warnings, "\n"); !strings.Contains(all, c.warn) || c.warn == "" && all != "" {
				t.Errorf("warnings %q, want %q", all, c.warn)
			}
			if out, err := w.try(got.Path, "rev-parse", "@{upstream}"); err == nil {
				t.Errorf("the branch tracks %s", out)
			}
		})
	}
	t.Run("unknown name", func(t *testing.T) {
		_, err := w.open(noRemote).Create(ctx, CreateOptions{Path: filepath.Join(w.dir, "tasks", "u"), Branch: "u", Base: "relaese"})
		wantCode(t, err, fault.NotFound)
		if _, err := os.Lstat(filepath.Join(w.dir, "tasks", "u")); err == nil {
			t.Error("a folder was left behind")
		}
	})
	t.Run("empty repository", func(t *testing.T) {
		dir := filepath.Join(w.dir, "empty")
		w.must(os.Mkdir(dir, 0o755))
		w.run(dir, "init", "-q")
		r := w.open(dir)
		base, remote, err := r.DefaultBase(ctx)
		w.must(err)
		same(t, "base", base, "main")
		same(t, "remote", remote, "")
		_, err = r.Create(ctx, CreateOptions{Path: filepath.Join(w.dir, "tasks", "e"), Branch: "e"})
		wantCode(t, err, fault.Conflict)
		if !errors.Is(err, ErrEmpty) {
			t.Errorf("ErrEmpty is not in the chain of %v", err)
		}
	})
}

func TestW21BranchesThatExist(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	r := w.open(dir)
	w.run(dir, "checkout", "-q", "-b", "feature/old")
	kept := w.commit(dir, "work of last week")
	w.run(dir, "checkout", "-q", "main")

	derived := w.task(r, "old")
	same(t, "derived branch", derived.Branch, "feature/old-2")
	same(t, "old branch", w.run(dir, "rev-parse", "feature/old"), kept)
	again, err := r.Create(ctx, CreateOptions{Path: filepath.Join(w.dir, "tasks", "x"), Branch: "feature/old"})
	w.must(err)
	same(t, "next derived branch", again.Branch, "feature/old-3")

	typed, err := r.Create(ctx, CreateOptions{Path: filepath.Join(w.dir, "tasks", "typed"), Branch: "feature/old", BranchTyped: true})
	w.must(err)
	if !typed.ReusedBranch || typed.Branch != "feature/old" {
		t.Errorf("typed branch was not reused: %+v", typed)
	}
	same(t, "head of the reused branch", w.run(typed.Path, "rev-parse", "HEAD"), kept)

	_, err = r.Create(ctx, CreateOptions{Path: filepath.Join(w.dir, "tasks", "twice"), Branch: "feature/old", BranchTyped: true})
	f := wantCode(t, err, fault.Conflict)
	same(t, "data.path", f.Data["path"], any(typed.Path))

	// A branch that is a folder of the wanted one, and the reverse.
	w.run(dir, "branch", "team")
	_, err = r.Create(ctx, CreateOptions{Path: filepath.Join(w.dir, "tasks", "df"), Branch: "team/x", BranchTyped: true})
	wantCode(t, err, fault.Conflict)
	c, err := r.Create(ctx, CreateOptions{Path: filepath.Join(w.dir, "tasks", "df"), Branch: "feature"})
	w.must(err)
	same(t, "branch beside a folder of branches", c.Branch, "feature-2")
}

func TestW4SlashAndHyphenAreTwoTasks(t *testing.T) {
	w := newWorld(t)
	r := w.open(w.repo("r"))
	paths, branches := map[string]bool{}, map[string]bool{}
	for _, name := range []string{"feat/x", "feat-x"} {
		s, err := Slug(name)
		w.must(err)
		c, err := r.Create(ctx, CreateOptions{Path: filepath.Join(w.dir, "tasks", s), Branch: BranchFor("", name)})
		w.must(err)
		paths[c.Path], branches[c.Branch] = true, true
	}
	if len(paths) != 2 || !branches["feat/x"] || !branches["feat-x"] {
		t.Errorf("paths %v, branches %v", paths, branches)
	}
}

func TestW3NormalFormsAreTwoNames(t *testing.T) {
	w := newWorld(t)
	r := w.open(w.repo("r"))
	nfc, nfd := "\u00e9", "e\u0301"
	for _, name := range []string{nfc, nfd} {
		c, err := r.Create(ctx, CreateOptions{Path: filepath.Join(w.dir, "tasks", name), Branch: "b/" + name, BranchTyped: true})
		w.must(err)
		same(t, "branch", c.Branch, "b/"+name)
		w.write(c.Path, nfc+".txt", "x\n")
		w.write(c.Path, nfd+".txt", "y\n")
		st, err := r.Status(ctx, c.Path)
		w.must(err)
		same(t, "branch in the status", st.Branch, "b/"+name)
		same(t, "untracked", st.Untracked, 2)
	}
	list, err := r.List(ctx)
	w.must(err)
	same(t, "worktrees", len(list), 3)
	if got := BranchFor("p", nfd); got != "p/"+nfd {
		t.Errorf("a decomposed name became %q", got)
	}
}

func TestW5OddPaths(t *testing.T) {
	for _, name := range []string{"a b 'q\" é", "new\nline", "-dash\t日本語", "$(touch x)`y`\\%s%n"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			dir := w.repo(name)
			r := w.open(dir)
			same(t, "root", r.Root(), dir)
			c, err := r.Create(ctx, CreateOptions{Path: filepath.Join(w.dir, "tasks", name), Branch: "t"})
			w.must(err)
			w.write(c.Path, name, "content\n")
			w.write(c.Path, "a.txt", "changed\n")
			d, err := r.Diff(ctx, c.Path, c.BaseRef, DiffOptions{Patch: true})
			w.must(err)
			same(t, "files", len(d.Files), 2)
			found := false
			for _, f := range d.Files {
				found = found || f.Path == name && f.Status == "untracked"
			}
			if !found {
				t.Errorf("%q is not among %+v", name, d.Files)
			}
			_, err = r.Apply(ctx, c.Path, c.BaseRef)
			w.must(err)
			same(t, "applied file", w.read(dir, name), "content\n")
			removed, err := r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch, Consent: true, ParentsUpTo: w.dir})
			w.must(err)
			back, err := r.Restore(ctx, RestoreOptions{Path: c.Path, Branch: c.Branch, BackupRef: removed.BackupRef})
			w.must(err)
			same(t, "restored file", w.read(back.Path, name), "content\n")
		})
	}
}

func TestW29BranchNamesThatLookLikeOptions(t *testing.T) {
	w := newWorld(t)
	r := w.open(w.repo("r"))
	for _, name := range []string{"--force", "-D", "-", "--", "-b", "a..b", "a b", "a~1", "x.lock", "a//b", ".a", "@", "a@{1}", "HEAD", "head", "", "a\nb", "a.", "é\x7f"} {
		_, err := r.Create(ctx, CreateOptions{Path: filepath.Join(w.dir, "tasks", "t"), Branch: name, BranchTyped: true})
		wantCode(t, err, fault.InvalidArgument)
	}
	for _, base := range []string{"--force", "-D", "--upload-pack=touch pwned"} {
		_, err := r.Create(ctx, CreateOptions{Path: filepath.Join(w.dir, "tasks", "t"), Branch: "t", Base: base, Fetch: true})
		wantCode(t, err, fault.InvalidArgument)
	}
	for _, name := range []string{"--force", "-D"} { // as names of tasks they are fine
		same(t, "derived", BranchFor("feature", name), "feature/"+strings.ToLower(strings.Trim(name, "-")))
	}
	list, err := r.List(ctx)
	w.must(err)
	same(t, "worktrees", len(list), 1)
	if _, err := os.Lstat(filepath.Join(w.dir, "tasks")); err == nil {
		t.Error("refused names left a folder behind")
	}
}

func TestW17PathExists(t *testing.T) {
	w := newWorld(t)
	r := w.open(w.repo("r"))
	p := filepath.Join(w.dir, "tasks", "t")
	w.write(p, "precious.txt", "mine\n")
	c := w.task(r, "t")
	same(t, "path", c.Path, p+"-2")
	same(t, "file in the way", w.read(p, "precious.txt"), "mine\n")

	_, err := r.Create(ctx, CreateOptions{Path: p, PathFixed: true, Branch: "other"})
	wantCode(t, err, fault.Conflict)
	same(t, "file in the way", w.read(p, "precious.txt"), "mine\n")
	if out, err := w.try(r.Root(), "rev-parse", "--verify", "other"); err == nil {
		t.Errorf("a refused creation left the branch %s", out)
	}

	empty := filepath.Join(w.dir, "tasks", "empty")
	w.must(os.MkdirAll(empty, 0o755))
	link := filepath.Join(w.dir, "tasks", "link")
	w.must(os.Symlink("nowhere", link))
	same(t, "beside an empty folder", w.task(r, "empty").Path, empty+"-2")
	same(t, "beside a dangling link", w.task(r, "link").Path, link+"-2")

	for _, inside := range []string{filepath.Join(r.CommonDir(), "x"), r.Root()} {
		if _, err := r.Create(ctx, CreateOptions{Path: inside, Branch: "inside"}); err == nil {
			t.Errorf("created in %s", inside)
		}
	}
}

func TestW13BareRepository(t *testing.T) {
	w := newWorld(t)
	w.repo("src")
	w.run(w.dir, "clone", "-q", "--bare", "src", "bare.git")
	bare := filepath.Join(w.dir, "bare.git")
	r := w.open(bare)
	if !r.Bare() || r.Root() != "" || r.CommonDir() != bare {
		t.Errorf("bare %v root %q common %q", r.Bare(), r.Root(), r.CommonDir())
	}
	c := w.task(r, "t")
	same(t, "base", c.BaseRef, "main")
	w.write(c.Path, "a.txt", "changed\n")
	d, err := r.Diff(ctx, c.Path, c.BaseRef, DiffOptions{})
	w.must(err)
	same(t, "files changed", d.Stat.FilesChanged, 1)
	_, err = r.Apply(ctx, c.Path, c.BaseRef)
	wantCode(t, err, fault.Unsupported)
	_, err = r.Create(ctx, CreateOptions{Path: filepath.Join(bare, "inside"), Branch: "inside"})
	wantCode(t, err, fault.InvalidArgument)
	removed, err := r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch, Consent: true})
	w.must(err)
	back, err := r.Restore(ctx, RestoreOptions{Path: c.Path, Branch: c.Branch, BackupRef: removed.BackupRef})
	w.must(err)
	same(t, "restored", w.read(back.Path, "a.txt"), "changed\n")
}

func TestW19WorktreeAsProject(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	w.run(dir, "worktree", "add", "-q", "-b", "side", filepath.Join(w.dir, "side"))
	side := filepath.Join(w.dir, "side")
	for path, want := range map[string][2]string{
		side:                         {side, dir},
		filepath.Join(side, "dir"):   {side, dir},
		dir:                          {dir, dir},
		filepath.Join(dir, "dir"):    {dir, dir},
		filepath.Join(dir, ".git"):   {dir, dir},
		filepath.Join(dir, "dir/.."): {dir, dir},
	} {
		r := w.open(path)
		same(t, "root of "+path, r.Root(), want[0])
		same(t, "main of "+path, r.Main(), want[1])
		same(t, "common of "+path, r.CommonDir(), filepath.Join(dir, ".git"))
	}
	r := w.open(side)
	base, _, err := r.DefaultBase(ctx)
	w.must(err)
	same(t, "default base", base, "side")
	c := w.task(r, "t")
	w.write(c.Path, "a.txt", "x\n")
	_, err = r.Apply(ctx, c.Path, c.BaseRef)
	w.must(err)
	same(t, "applied into the project", w.read(side, "a.txt"), "x\n")
	same(t, "the main checkout", w.read(dir, "a.txt"), "one\ntwo\nthree\n")

	for path, code := range map[string]fault.Code{w.dir: fault.Unsupported, filepath.Join(w.dir, "none"): fault.NotFound} {
		_, err := w.git.Open(ctx, path)
		wantCode(t, err, code)
	}
}

func TestW23CreateInParallel(t *testing.T) {
	w := newWorld(t)
	r := w.open(w.repo("r"))
	const n = 6
	var wg sync.WaitGroup
	made, errs := make([]Created, n), make([]error, n)
	for i := range n {
		wg.Go(func() {
			made[i], errs[i] = r.Create(ctx, CreateOptions{Path: filepath.Join(w.dir, "tasks", "same"), Branch: "feature/same"})
		})
	}
	wg.Wait()
	w.must(errors.Join(errs...))
	paths, branches := map[string]bool{}, map[string]bool{}
	for _, c := range made {
		paths[c.Path], branches[c.Branch] = true, true
	}
	if len(paths) != n || len(branches) != n {
		t.Errorf("%d creations made %d folders and %d branches", n, len(paths), len(branches))
	}
}

func TestCreateLeavesNothingBehind(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	r := w.open(dir)
	before := w.run(dir, "for-each-ref") + w.run(dir, "worktree", "list", "--porcelain")
	deep := filepath.Join(w.dir, "new", "deep", "t")

	// A tree that git cannot check out: its blob is not there.
	w.write(dir, "lost.txt", "to be lost\n")
	bad := w.commit(dir, "bad")
	blob := w.run(dir, "rev-parse", bad+":lost.txt")
	w.run(dir, "reset", "-q", "--hard", "HEAD~1")
	w.must(os.Remove(filepath.Join(dir, ".git", "objects", blob[:2], blob[2:])))
	_, err := r.Create(ctx, CreateOptions{Path: deep, Branch: "b", Base: bad})
	wantCode(t, err, fault.Conflict)

	stopped, cancel := context.WithCancel(ctx)
	_, err = r.Create(stopped, CreateOptions{Path: deep, Branch: "c", Progress: func(l string) {
		if strings.HasPrefix(l, "Created the branch") {
			cancel()
		}
	}})
	if err == nil {
		t.Error("a stopped creation answered without an error")
	}
	cancel()
	same(t, "refs and worktrees", w.run(dir, "for-each-ref")+w.run(dir, "worktree", "list", "--porcelain"), before)
	if _, err := os.Lstat(filepath.Join(w.dir, "new")); err == nil {
		t.Error("folders were left behind")
	}
}

func TestAdopt(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	r := w.open(dir)
	w.run(dir, "worktree", "add", "-q", "-b", "theirs", filepath.Join(w.dir, "theirs"))
	e, err := r.Adopt(ctx, filepath.Join(w.dir, "theirs"))
	w.must(err)
	same(t, "branch", e.Branch, "theirs")
	_, err = r.Adopt(ctx, dir)
	wantCode(t, err, fault.Unsupported)
	_, err = r.Adopt(ctx, w.dir)
	wantCode(t, err, fault.NotFound)
	w.must(os.RemoveAll(filepath.Join(w.dir, "theirs")))
	_, err = r.Adopt(ctx, filepath.Join(w.dir, "theirs"))
	wantCode(t, err, fault.Conflict)
}

func TestSHA256(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.dir, "r")
	w.run(w.dir, "init", "-q", "--object-format=sha256", dir)
	w.write(dir, "a.txt", "a\n")
	w.write(dir, "b.txt", "b\n")
	w.commit(dir, "first")
	r := w.open(dir)
	c := w.task(r, "t")
	w.write(c.Path, "a.txt", "changed\n")
	w.write(c.Path, "new.txt", "new\n")
	w.must(os.Remove(filepath.Join(c.Path, "b.txt")))
	want := w.tree(c.Path)
	d, err := r.Diff(ctx, c.Path, c.BaseRef, DiffOptions{})
	w.must(err)
	same(t, "files", d.Stat.FilesChanged, 3)
	a, err := r.Apply(ctx, c.Path, c.BaseRef)
	w.must(err)
	same(t, "applied", a.Tracked+a.Untracked, 3)
	same(t, "main", w.tree(dir), want)
	removed, err := r.Remove(ctx, RemoveOptions{Path: c.Path, Branch: c.Branch, Consent: true, DeleteBranch: true})
	w.must(err)
	back, err := r.Restore(ctx, RestoreOptions{Path: c.Path, Branch: c.Branch, BackupRef: removed.BackupRef})
	w.must(err)
	same(t, "restored", w.tree(back.Path), want)
}
