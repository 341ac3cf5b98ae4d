package worktree

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// runs counts the gits that were started.
type runs struct {
	slog.Handler
	n int
}

func (r *runs) Handle(context.Context, slog.Record) error { r.n++; return nil }

// A repository is asked once where it is, and again when it could be elsewhere.
func TestWhereItIsIsAskedAgain(t *testing.T) {
	w := newWorld(t)
	counted := &runs{Handler: slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})}
	w.git.log = slog.New(counted)
	a := w.repo("a")
	path := filepath.Join(w.dir, "link")
	w.must(os.Symlink(a, path))
	asked := func(want bool) *Repo {
		t.Helper()
		before := counted.n
		r, err := w.git.Open(ctx, path)
		w.must(err)
		if got := counted.n > before; got != want {
			t.Errorf("asked: %v", got)
		}
		return r
	}
	asked(true)
	if r := asked(false); r.Root() != canonical(a) || r.Main() != canonical(a) {
		t.Errorf("at %s", r.Root())
	}
	w.write(a, "new.txt", "x")
	w.commit(a, "work of every day")
	asked(false)

	b := w.repo("b")
	w.must(os.Remove(path))
	w.must(os.Symlink(b, path)) // the name leads elsewhere
	if r := asked(true); r.Root() != canonical(b) {
		t.Errorf("at %s", r.Root())
	}

	w.must(os.Rename(b, b+".old")) // another repository has the name
	w.run(w.dir, "init", "-q", "--object-format=sha256", b)
	if r := asked(true); len(r.zeros) != 64 {
		t.Errorf("%d digits", len(r.zeros))
	}

	w.run(b, "config", "core.bare", "true") // its configuration says something else
	if r := asked(true); !r.Bare() {
		t.Error("it has a checkout")
	}
	w.run(b, "config", "core.bare", "false")
	asked(true)
	asked(false)

	path = filepath.Join(w.dir, "tree")
	w.run(a, "worktree", "add", "-q", path) // agents write the file that leads from there
	asked(true)
	asked(true)
}

// What a new checkout does not need is not started, and all that it may need is.
func TestOutlook(t *testing.T) {
	w := newWorld(t)
	hooks := t.TempDir()
	for _, c := range []struct {
		name         string
		set          func(dir string)
		hook, filter bool
	}{
		{"nothing", func(string) {}, false, false},
		{"a hook", func(dir string) { w.write(filepath.Join(dir, ".git/hooks"), "post-checkout", "#!/bin/sh\n") }, true, false},
		{"a folder of hooks without any", func(dir string) { w.run(dir, "config", "core.hooksPath", hooks) }, false, false},
		{"a folder of hooks in the tree", func(dir string) { w.run(dir, "config", "core.hooksPath", ".husky") }, true, false},
		{"attributes deep in the tree", func(dir string) {
			w.write(dir, "deep/er/.gitattributes", "*.bin -text filter=lfs\n")
			w.commit(dir, "filtered")
		}, false, true},
		{"attributes without a filter", func(dir string) {
			w.write(dir, ".gitattributes", "*.txt text\n")
			w.commit(dir, "texts")
		}, false, false},
		{"attributes beside the tree", func(dir string) { w.write(filepath.Join(dir, ".git/info"), "attributes", "*.bin filter=lfs\n") }, false, true},
	} {
		dir := w.repo(strings.ReplaceAll(c.name, " ", "-"))
		c.set(dir)
		r := w.open(dir)
		base, err := r.ResolveBase(ctx, "main")
		w.must(err)
		o := (&builder{repo: r, commit: base.Commit}).lookAhead(ctx)()
		late := r.git.version.atLeast(minMajor, hooksInSettings)
		if o.noHook != (!c.hook && !late) || o.noPointers == c.filter {
			t.Errorf("%s: %+v", c.name, o)
		}
	}
	bare := filepath.Join(w.dir, "bare")
	w.run(w.dir, "clone", "-q", "--bare", filepath.Join(w.dir, "nothing"), bare)
	r := w.open(bare)
	if o := (&builder{repo: r, branch: "main"}).lookAhead(ctx)(); o.noHook || !o.noPointers {
		t.Errorf("bare: %+v", o)
	}
}

// What the tree of a commit gives to filters is asked once; what lies beside the tree, and what a branch is at, each time.
func TestOutlookIsRememberedByCommit(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	plain := w.commit(dir, "plain")
	w.write(dir, ".gitattributes", "*.bin filter=lfs\n")
	filtered := w.commit(dir, "filtered")
	r := w.open(dir)
	looks := func(b *builder) bool {
		b.repo = r
		return b.lookAhead(ctx)().noPointers
	}
	for range 2 {
		if !looks(&builder{commit: plain}) || looks(&builder{commit: filtered}) {
			t.Error("asked of git")
		}
		if looks(&builder{commit: plain, branch: "main", reused: true}) {
			t.Error("the branch is not at that commit")
		}
	}
	git := r.git.bin
	r.git.bin = filepath.Join(w.dir, "nowhere")
	if !looks(&builder{commit: plain}) || looks(&builder{commit: filtered}) {
		t.Error("without git")
	}
	r.git.bin = git
	w.write(filepath.Join(dir, ".git/info"), "attributes", "*.bin filter=lfs\n")
	if looks(&builder{commit: plain}) {
		t.Error("attributes that came beside the tree are not seen")
	}
	for i := range mostPlain + 1 {
		r.git.plain.add(strconv.Itoa(i))
	}
	if n := len(r.git.plain.commits); n > mostPlain || !r.git.plain.has(strconv.Itoa(mostPlain)) {
		t.Errorf("%d commits are remembered", n)
	}
}
