package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/internal/fault"
)

// state is everything that git and the disk say of a checkout.
func (w *world) state(dir string) string {
	w.t.Helper()
	return w.tree(dir) + "\n" + w.run(dir, "status", "--porcelain=v2", "-z", "-uall") + "\n" + w.run(dir, "ls-files", "-s", "-z")
}

func (w *world) short(dir string) string {
	w.t.Helper()
	return w.run(dir, "-c", "core.quotePath=false", "status", "--short", "-uall")
}

// refused asks for an error of a code whose sentence and hint hold the words.
func refused(t *testing.T, err error, code fault.Code, words ...string) {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Fatalf("got %v (%s), want %s", err, fault.CodeOf(err), code)
	}
	text := fault.From(err).Message + " | " + fault.From(err).Hint
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%q lacks %q", text, word)
		}
	}
}

// atWork is a worktree with every kind of change, none of it staged.
func (w *world) atWork() (*Repo, string) {
	w.t.Helper()
	r := w.open(w.repo("r"))
	dir := w.task(r, "t").Path
	w.write(dir, "a.txt", "one\nTWO\nthree\n")
	w.must(os.Remove(filepath.Join(dir, "c.txt")))
	w.must(os.Chmod(filepath.Join(dir, "dir/b.txt"), 0o755))
	w.write(dir, "-dash", "new\n")
	w.write(dir, "new\nline", "new\n")
	w.write(dir, "*", "star\n")
	w.write(dir, "f\u00f6lder/x", "x\n")
	w.must(os.Symlink("nowhere", filepath.Join(dir, "link")))
	return r, dir
}

func TestStageTakesWhatIsNamedAndNothingElse(t *testing.T) {
	for _, c := range []struct {
		paths []string
		want  string
	}{
		{[]string{"a.txt"}, "M  a.txt"}, {[]string{"./dir/"}, "M  dir/b.txt"}, {[]string{"c.txt"}, "D  c.txt"}, {[]string{"-dash"}, "A  -dash"},
		{[]string{"new\nline"}, "A  \"new\\nline\""}, {[]string{"*"}, "A  *"}, {[]string{"f\u00f6lder"}, "A  f\u00f6lder/x"}, {[]string{"link"}, "A  link"},
		{[]string{"a.txt", "dir/../c.txt"}, "M  a.txt\nD  c.txt"},
	} {
		w := newWorld(t)
		r, dir := w.atWork()
		got, err := r.Stage(ctx, dir, Choice{Paths: c.paths})
		w.must(err)
		same(t, "staged", w.run(dir, "-c", "core.quotePath=false", "diff", "--cached", "--no-renames", "--name-status"), strings.ReplaceAll(c.want, "  ", "\t"))
		same(t, "paths", len(got.Paths), strings.Count(c.want, "\n")+1)
		u, err := r.Unstage(ctx, dir, Choice{All: true}, Keeping{})
		w.must(err)
		same(t, "unstaged", [2]any{w.run(dir, "diff", "--cached", "--name-only"), u.Ref}, [2]any{"", ""})
	}
	w := newWorld(t)
	r, dir := w.atWork()
	got, err := r.Stage(ctx, dir, Choice{All: true})
	w.must(err)
	same(t, "all", len(got.Paths), 8)
	same(t, "left", w.run(dir, "status", "--short", "-uall") == w.run(dir, "status", "--short", "--untracked-files=no"), true)
	_, err = r.Stage(ctx, dir, Choice{All: true})
	w.must(err)
}

func TestStageSaysWhyNot(t *testing.T) {
	w := newWorld(t)
	r, dir := w.atWork()
	w.write(dir, ".gitignore", "*.log\nout/\n")
	w.write(dir, "x.log", "x")
	w.write(dir, "out/y", "y")
	w.must(os.MkdirAll(filepath.Join(w.dir, "outside"), 0o755))
	w.must(os.Symlink(filepath.Join(w.dir, "outside"), filepath.Join(dir, "away")))
	w.run(dir, "add", "a.txt")
	nested := filepath.Join(dir, "nested")
	w.must(os.MkdirAll(nested, 0o755))
	w.run(nested, "init", "-q")
	w.commit(nested, "x")
	before := w.run(dir, "ls-files", "-s")
	for _, c := range []struct {
		path string
		code fault.Code
		word string
	}{
		{"../r/a.txt", fault.InvalidArgument, "not a path in the worktree"}, {"", fault.InvalidArgument, "not a path"},
		{filepath.Join(w.dir, "r/a.txt"), fault.InvalidArgument, "not a path in the worktree"}, {"x\x00y", fault.InvalidArgument, "not a path"},
		{"a.txt", fault.Conflict, "a.txt is staged already"}, {"nowhere", fault.NotFound, "no file nowhere"}, {"away/z", fault.NotFound, "no file away/z"},
		{"x.log", fault.Conflict, "ignored by git"}, {"out", fault.Conflict, "The files of the folder out are ignored"},
		{"nested", fault.Unsupported, "repository of its own"}, {"nested/x", fault.NotFound, "nested/x"}, {".git", fault.Conflict, "no change"},
	} {
		_, err := r.Stage(ctx, dir, Choice{Paths: []string{c.path}})
		if fault.CodeOf(err) != c.code {
			t.Errorf("%q: %v", c.path, err)
			continue
		}
		refused(t, err, c.code, c.word)
	}
	_, err := r.Stage(ctx, dir, Choice{Paths: []string{"c.txt", "nowhere"}})
	refused(t, err, fault.NotFound)
	_, err = r.Unstage(ctx, dir, Choice{Paths: []string{"c.txt"}}, Keeping{})
	refused(t, err, fault.Conflict, "c.txt is not staged")
	_, err = r.Stage(ctx, dir, Choice{})
	refused(t, err, fault.InvalidArgument)
	same(t, "index", w.run(dir, "ls-files", "-s"), before)
}

func TestStageSeesARenameWhole(t *testing.T) {
	w := newWorld(t)
	r := w.open(w.repo("r"))
	dir := w.task(r, "t").Path
	w.run(dir, "mv", "a.txt", "moved.txt")
	_, err := r.Unstage(ctx, dir, Choice{Paths: []string{"moved.txt"}}, Keeping{})
	w.must(err)
	same(t, "both halves", w.short(dir), " D a.txt\n?? moved.txt")
	w.run(dir, "add", "moved.txt")
	d, err := r.Diff(ctx, dir, "main", DiffOptions{})
	w.must(err)
	if len(d.Files) != 1 || d.Files[0].Also != "a.txt" || !d.Files[0].Staged || !d.Files[0].Unstaged {
		t.Fatalf("%+v", d.Files)
	}
	_, err = r.Stage(ctx, dir, Choice{Paths: []string{d.Files[0].Also}})
	w.must(err)
	same(t, "staged", w.short(dir), "R  a.txt -> moved.txt")
}

func TestStageLeavesWhatIsNotAsItWasSeen(t *testing.T) {
	w := newWorld(t)
	r, dir := w.atWork()
	d, err := r.Diff(ctx, dir, "main", DiffOptions{})
	w.must(err)
	seen := map[string]string{}
	for _, f := range d.Files {
		if f.Seen == "" {
			t.Errorf("%s has no signature", f.Path)
		}
		seen[f.Path] = f.Seen
	}
	w.write(dir, "a.txt", "one\nXXX\nthree\n")
	_, err = r.Stage(ctx, dir, Choice{Paths: []string{"c.txt", "a.txt"}, Seen: []string{seen["c.txt"], seen["a.txt"]}})
	refused(t, err, fault.Conflict, "a.txt changed since it was shown")
	same(t, "nothing", w.run(dir, "diff", "--cached", "--name-only"), "")
	_, err = r.Stage(ctx, dir, Choice{Paths: []string{"c.txt", "link"}, Seen: []string{seen["c.txt"], seen["link"]}})
	w.must(err)
	_, err = r.Stage(ctx, dir, Choice{Paths: []string{"link"}, Seen: []string{}})
	refused(t, err, fault.InvalidArgument)
}

func TestStageWaitsForGitsLock(t *testing.T) {
	w := newWorld(t)
	r, dir := w.atWork()
	at, err := r.in(dir)
	w.must(err)
	lock := filepath.Join(at.gitDir, "index.lock")
	w.write(at.gitDir, "index.lock", "somebody's")
	_, err = r.Stage(ctx, dir, Choice{All: true})
	refused(t, err, fault.Conflict, "its index is locked", lock)
	same(t, "somebody's lock", w.read(at.gitDir, "index.lock"), "somebody's")
	w.must(r.Unlock(dir))
	_, err = r.Stage(ctx, dir, Choice{All: true})
	w.must(err)
	if _, err := os.Lstat(lock); err == nil {
		t.Error("our lock stays")
	}
}

func TestStageOfAConflict(t *testing.T) {
	w := newWorld(t)
	r, dir := w.inConflict()
	_, err := r.Stage(ctx, dir, Choice{Paths: []string{"a.txt"}})
	refused(t, err, fault.Conflict, "a.txt still has conflict marks")
	_, err = r.Stage(ctx, dir, Choice{All: true})
	refused(t, err, fault.Conflict, "conflict marks")
	_, err = r.Unstage(ctx, dir, Choice{Paths: []string{"a.txt"}}, Keeping{})
	refused(t, err, fault.Conflict, "a.txt has a conflict")
	_, err = r.Commit(ctx, dir, CommitOptions{Message: "x"})
	refused(t, err, fault.Conflict, "a.txt has a conflict that is not resolved")
	_, err = r.Discard(ctx, dir, DiscardOptions{Choice: Choice{Paths: []string{"a.txt"}}, Staged: true})
	refused(t, err, fault.Conflict, "a.txt has a conflict")
	w.write(dir, "a.txt", "one\nboth\nthree\n")
	_, err = r.Stage(ctx, dir, Choice{Paths: []string{"a.txt"}})
	w.must(err)
	_, err = r.Commit(ctx, dir, CommitOptions{Message: "x"})
	refused(t, err, fault.Conflict, "in the middle of a merge", "git merge --continue")
}

// inConflict is a worktree in the middle of a merge that did not go through.
func (w *world) inConflict() (*Repo, string) {
	w.t.Helper()
	main := w.repo("r")
	r := w.open(main)
	dir := w.task(r, "t").Path
	w.write(dir, "a.txt", "one\ntheirs\nthree\n")
	w.commit(dir, "theirs")
	w.write(main, "a.txt", "one\nours\nthree\n")
	w.commit(main, "ours")
	if out, err := w.try(dir, "merge", "main"); err == nil {
		w.t.Fatal(out)
	}
	return r, dir
}

func TestStageThroughFilters(t *testing.T) {
	w := newWorld(t)
	main := w.repo("r")
	w.write(main, ".gitattributes", "*.up filter=up\n*.crlf text eol=crlf\n")
	w.run(main, "config", "filter.up.clean", "tr a-z A-Z")
	w.run(main, "config", "filter.up.smudge", "tr A-Z a-z")
	w.write(main, "f.up", "abc\n")
	w.commit(main, "filters")
	r := w.open(main)
	dir := w.task(r, "t").Path
	w.write(dir, "f.up", "abcd\n")
	w.write(dir, "g.crlf", "x\r\ny\r\n")
	_, err := r.Stage(ctx, dir, Choice{All: true})
	refused(t, err, fault.Unsupported, "f.up is stored through the filter \"up\"", "in a terminal of the task")
	_, err = r.Stage(ctx, dir, Choice{Paths: []string{"g.crlf"}})
	w.must(err)
	same(t, "stored", w.run(dir, "cat-file", "blob", ":g.crlf"), "x\ny")
	_, err = r.Plain().Stage(ctx, dir, Choice{All: true})
	w.must(err)
	same(t, "stored", w.run(dir, "cat-file", "blob", ":f.up"), "ABCD")
}

func TestStageAndSubmodules(t *testing.T) {
	w := newWorld(t)
	sub := w.repo("sub")
	main := w.repo("r")
	w.run(main, "submodule", "--quiet", "add", sub, "mod")
	w.commit(main, "with a submodule")
	r := w.open(main)
	dir := w.task(r, "t").Path
	mod := filepath.Join(dir, "mod")
	w.run(mod, "commit", "-q", "--allow-empty", "-m", "moved")
	w.write(dir, "a.txt", "changed\n")
	_, err := r.Stage(ctx, dir, Choice{Paths: []string{"mod"}})
	refused(t, err, fault.Unsupported, "mod is a submodule")
	_, err = r.Plain().Discard(ctx, dir, DiscardOptions{Choice: Choice{Paths: []string{"mod"}}, Keeping: Keeping{Ref: DiscardPrefix + "t/1"}})
	refused(t, err, fault.Unsupported, "mod is a submodule")
	got, err := r.Stage(ctx, dir, Choice{All: true})
	w.must(err)
	if len(got.Warnings) != 1 || len(got.Paths) != 1 {
		t.Errorf("%+v", got)
	}
	got, err = r.Plain().Stage(ctx, dir, Choice{All: true})
	w.must(err)
	same(t, "the submodule", strings.Join(got.Paths, " "), "mod")
}

func TestUnstageKeepsAVersionThatIsNowhereElse(t *testing.T) {
	w := newWorld(t)
	r := w.open(w.repo("r"))
	dir := w.task(r, "t").Path
	w.write(dir, "a.txt", "staged\n")
	w.write(dir, "n", "staged too\n")
	w.run(dir, "add", "-A")
	w.write(dir, "a.txt", "later\n")
	w.must(os.Remove(filepath.Join(dir, "n")))
	before := w.state(dir)
	got, err := r.Unstage(ctx, dir, Choice{All: true}, Keeping{Ref: DiscardPrefix + "t/1"})
	w.must(err)
	same(t, "unstaged", w.short(dir), " M a.txt")
	w.write(dir, "a.txt", "much later\n") // what lies there is not what it is about
	_, err = r.Undo(ctx, dir, got.Commit)
	w.must(err)
	same(t, "staged", w.run(dir, "cat-file", "blob", ":n"), "staged too")
	w.write(dir, "a.txt", "later\n")
	same(t, "state", w.state(dir), before)
}

// A change that takes back a committed one is none against the base, and still one to commit.
func TestDiffTellsOfWhatWasTakenBack(t *testing.T) {
	w := newWorld(t)
	r := w.open(w.repo("r"))
	dir := w.task(r, "t").Path
	w.write(dir, "a.txt", "changed\n")
	w.commit(dir, "changed")
	w.write(dir, "a.txt", "one\ntwo\nthree\n")
	d, err := r.Diff(ctx, dir, "main", DiffOptions{})
	w.must(err)
	if len(d.Files) != 0 || len(d.Back) != 1 || d.Back[0].Path != "a.txt" || d.Back[0].Status != "modified" || !d.Back[0].Unstaged || d.Back[0].Seen == "" {
		t.Fatalf("%+v %+v", d.Files, d.Back)
	}
	_, err = r.Stage(ctx, dir, Choice{Paths: []string{"a.txt"}, Seen: []string{d.Back[0].Seen}})
	w.must(err)
	got, err := r.Commit(ctx, dir, CommitOptions{Message: "back"})
	w.must(err)
	same(t, "files", got.Files, 1)
}
