package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Read without git, refs are what git says they are, or nothing is said.
func TestPeekSaysWhatGitSays(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		w := newWorld(t)
		dir := filepath.Join(w.dir, "r")
		w.run(w.dir, "init", "-q", "-b", "main", "--object-format="+format, dir)
		first := w.commit(dir, "first")
		refs := []string{"main", "deep/er", "deep/est", "maint", "ain"}
		for _, name := range refs[1:] {
			w.run(dir, "branch", name)
		}
		w.run(dir, "update-ref", "refs/remotes/origin/main", first)
		w.run(dir, "tag", "-a", "-m", "annotated", "main")
		w.run(dir, "tag", "only-a-tag")
		agree := func(state string) {
			t.Helper()
			r := w.open(dir)
			for _, base := range append(refs, "origin/main", "deep", "nothing", "ma", "er", "only-a-tag", "HEAD", "main~1", "origin/HEAD", "refs/heads/main", "") {
				more := []string{"refs/heads/deep/er", "refs/heads/deep", "refs/remotes/origin/main", "refs/heads/gone", "refs/heads/main/below"}
				b, rest, ok := r.peek(base, more)
				if !ok {
					continue
				}
				want, err := r.commits(ctx, r.here(), append([]string{b.Ref}, more...)...)
				w.must(err)
				if b.Commit != want[0] || !slices.Equal(rest, want[1:]) || b.Name != base || b.Fallback {
					t.Errorf("%s, %s, %q: %+v %q, git says %q", format, state, base, b, rest, want)
				}
			}
			for _, base := range []string{"main", "origin/main", "deep/er"} {
				if _, _, ok := r.peek(base, nil); !ok {
					t.Errorf("%s, %s: git is asked for %s", format, state, base)
				}
			}
			for _, base := range []string{"deep", "nothing", "only-a-tag", "HEAD", "main~1", "refs/heads/main", ""} {
				if b, _, ok := r.peek(base, nil); ok {
					t.Errorf("%s, %s: git is not asked for %q: %+v", format, state, base, b)
				}
			}
		}
		agree("loose")
		w.run(dir, "pack-refs", "--all")
		agree("packed")
		w.commit(dir, "second")
		w.run(dir, "branch", "-D", "deep/est")
		agree("both")
	}
}

// What is no plain ref is left to git.
func TestPeekLeavesTheRestToGit(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	r := w.open(dir)
	w.run(dir, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
	w.must(os.Symlink("main", filepath.Join(dir, ".git/refs/heads/link")))
	w.write(filepath.Join(dir, ".git/refs/heads"), "half", "4b82")
	w.write(filepath.Join(dir, ".git/refs/heads"), "empty", "")
	for _, base := range []string{"alias", "link", "half", "empty"} {
		if b, _, ok := r.peek(base, nil); ok {
			t.Errorf("%s: %+v", base, b)
		}
		if _, _, ok := r.peek("main", []string{"refs/heads/" + base}); ok {
			t.Errorf("main, and %s", base)
		}
	}
	w.write(filepath.Join(dir, ".git"), "packed-refs", strings.Repeat("#", maxPeeked+1))
	if _, _, ok := r.peek("main", nil); ok {
		t.Error("a file of packed refs that is long is read")
	}
	w.must(os.Remove(filepath.Join(dir, ".git/packed-refs")))
	if _, _, ok := r.peek("main", nil); !ok {
		t.Error("git is asked")
	}
	w.must(os.Mkdir(filepath.Join(dir, ".git/reftable"), 0o755))
	if _, _, ok := r.peek("main", nil); ok {
		t.Error("refs in tables are read as files")
	}
}

// What Foresee says is what Create then does, and of what it cannot know it says nothing.
func TestForeseeSaysWhatCreateDoes(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	first := w.commit(dir, "first")
	second := w.commit(dir, "second")
	r := w.open(dir)
	w.run(dir, "branch", "taken")
	w.run(dir, "branch", "folder/taken")
	w.run(dir, "update-ref", "refs/remotes/origin/far", first)
	for name, c := range map[string]struct {
		o    CreateOptions
		want string // the commit; empty: nothing is said
	}{
		"a new one":                     {CreateOptions{Branch: "new", Base: "main"}, second},
		"one at a commit":               {CreateOptions{Branch: "older", Base: "main", Commit: first}, first},
		"a name that is taken":          {CreateOptions{Branch: "taken", Base: "main"}, ""},
		"a typed name that is taken":    {CreateOptions{Branch: "taken", BranchTyped: true, Base: "main"}, ""},
		"a name that origin has":        {CreateOptions{Branch: "far", Base: "main"}, ""},
		"a typed name that origin has":  {CreateOptions{Branch: "far", BranchTyped: true, Base: "main"}, second},
		"a base that nobody fetches":    {CreateOptions{Branch: "here", Base: "main", Fetch: true}, second},
		"a base that is fetched before": {CreateOptions{Branch: "fetched", Base: "origin/far", Fetch: true}, ""},
		"a base that was fetched":       {CreateOptions{Branch: "was-fetched", Base: "origin/far"}, first},
		"a base that is no branch":      {CreateOptions{Branch: "from", Base: "main~1"}, ""},
		"a name that is none":           {CreateOptions{Branch: "a..b", Base: "main"}, ""},
	} {
		branch, commit, ok := r.Foresee(c.o)
		if ok != (c.want != "") || commit != c.want || ok && branch != c.o.Branch {
			t.Errorf("%s: %q at %q, %v; want %q", name, branch, commit, ok, c.want)
			continue
		}
		c.o.Path, c.o.PathFixed = filepath.Join(w.dir, strings.ReplaceAll(name, " ", "-")), true
		told := false
		c.o.NewBranch = func(b, at string) error {
			if ok && !told && (b != branch || at != commit) {
				t.Errorf("%s: it made %q at %q first, foreseen was %q at %q", name, b, at, branch, commit)
			}
			told = true
			return nil
		}
		if _, err := r.Create(ctx, c.o); err != nil && ok || ok && !told {
			t.Errorf("%s: foreseen, and not made: %v", name, err)
		}
	}
}
