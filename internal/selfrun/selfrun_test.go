//go:build unix

package selfrun

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestMatch(t *testing.T) {
	l := New()
	for name, kind := range map[string]Kind{
		".claude/settings.json": Agent, ".claude/settings.local.json": Agent, "sub/dir/.claude/skills/x/SKILL.md": Agent, ".claude": Agent, ".mcp.json": Agent,
		".codex/config.toml": Agent, ".codex/hooks.json": Agent, ".CLAUDE/Settings.JSON": Agent, ".agents/plugins/marketplace.json": Agent,
		"CLAUDE.md": Instructions, "a/AGENTS.md": Instructions, ".github/copilot-instructions.md": Instructions,
		".vscode/tasks.json": Editor, "x.code-workspace": Editor, ".envrc": Shell, "deep/.envrc": Shell, "mise.toml": Shell,
		".gitattributes": Git, ".husky/pre-commit": Git, ".gitmodules": Git, "vendor/.git": Git, "vendor/.git/config": Git, ".huskyrc.js": Git,
		".cargo/config.toml": Tool, ".yarnrc.yml": Tool, "eslint.config.mjs": Tool, ".github/workflows/ci.yml": CI, ".termic.yaml": Ours,
	} {
		r, is := l.Match(name)
		if !is || r.Kind != kind {
			t.Errorf("%s: %v %+v, want %s", name, is, r, kind)
		}
	}
	for _, name := range []string{"README.md", "claude/settings.json", "src/main.go", "xCLAUDE.md", "CLAUDE.md.txt", "mcp.json", "sub/.github/workflows/ci.yml", "sub/.termic.yaml",
		"github/workflows/x", "vscode/tasks.json", ".github/ISSUE_TEMPLATE/x.md", "package.json", "Makefile", ".gitignore", "envrc", ""} {
		if r, is := l.Match(name); is {
			t.Errorf("%s matches %+v", name, r)
		}
	}
	for _, r := range l.Rules() {
		if r.Kind.rank() < 0 {
			t.Errorf("%s has a kind without a rank: %s", r.Name, r.Kind)
		}
		if strings.Contains(filepath.Dir(r.Name), "*") {
			t.Errorf("%s has a pattern before its last element", r.Name)
		}
	}
}

// tree is a repository with one commit, and its worktree is what a cage changes.
type tree struct {
	t    *testing.T
	dir  string
	base map[string]Entry
}

func newTree(t *testing.T, files map[string]string) *tree {
	t.Helper()
	w := &tree{t: t, dir: t.TempDir()}
	w.git("init", "-q")
	for name, text := range files {
		w.write(name, text)
	}
	w.git("add", "-f", "-A")
	w.git("commit", "-q", "--allow-empty", "-m", "base")
	var err error
	w.base, err = ParseTree(w.git("ls-tree", "-r", "-z", "--full-tree", "HEAD"))
	w.must(err)
	return w
}

func (w *tree) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *tree) git(args ...string) []byte {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = w.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=T", "GIT_AUTHOR_EMAIL=t@example.invalid",
		"GIT_COMMITTER_NAME=T", "GIT_COMMITTER_EMAIL=t@example.invalid"}
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("git %v: %v", args, err)
	}
	return out
}

func (w *tree) path(name string) string { return filepath.Join(w.dir, name) }

func (w *tree) write(name, text string) {
	w.t.Helper()
	w.must(os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
	w.must(os.WriteFile(w.path(name), []byte(text), 0o644))
}

func (w *tree) changed() []string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := New().Changed(ctx, w.dir, w.base)
	w.must(err)
	if !r.Complete {
		w.t.Error("it did not look at everything")
	}
	out := []string{}
	for _, c := range r.Changes {
		out = append(out, fmt.Sprintf("%s %s", c.How, c.Path))
	}
	return out
}

var ordinary = map[string]string{".claude/settings.json": "{}", ".claude/hooks/x.sh": "#!/bin/sh\n", ".mcp.json": "{}", "README.md": "one", "src/.envrc": "export A=1\n", ".gitignore": ".env\n*.local.json\n"}

// Every manner in which a cage can change a file that runs by itself is seen, also those that git does not show.
func TestChanged(t *testing.T) {
	for name, tt := range map[string]struct {
		act  func(w *tree)
		want []string
	}{
		"nothing":        {func(w *tree) {}, nil},
		"something else": {func(w *tree) { w.write("README.md", "two"); w.write("src/new.go", "package x") }, nil},
		"modified":       {func(w *tree) { w.write(".mcp.json", "{ }") }, []string{"modified .mcp.json"}},
		"untracked":      {func(w *tree) { w.write(".vscode/tasks.json", "{}") }, []string{"added .vscode/tasks.json"}},
		"ignored":        {func(w *tree) { w.write(".env", "A=1"); w.write(".claude/settings.local.json", "{}") }, []string{"added .claude/settings.local.json", "added .env"}},
		"deleted":        {func(w *tree) { w.must(os.Remove(w.path(".claude/settings.json"))) }, []string{"deleted .claude/settings.json"}},
		"other case":     {func(w *tree) { w.write(".Codex/hooks.json", "{}") }, []string{"added .Codex/hooks.json"}},
		"executable":     {func(w *tree) { w.must(os.Chmod(w.path(".claude/hooks/x.sh"), 0o755)) }, []string{"modified .claude/hooks/x.sh"}},
		"folder for a link": {func(w *tree) {
			w.must(os.Symlink("elsewhere", w.path(".codex")))
			w.write("elsewhere/hooks.json", "{}")
		}, []string{"added .codex"}},
		"link for a folder": {func(w *tree) {
			w.must(os.Rename(w.path(".claude"), w.path("moved")))
			w.must(os.Symlink("moved", w.path(".claude")))
		}, []string{"added .claude", "deleted .claude/hooks/x.sh", "deleted .claude/settings.json"}},
		"link to the same text": {func(w *tree) {
			w.must(os.Rename(w.path(".mcp.json"), w.path("moved")))
			w.must(os.Symlink("moved", w.path(".mcp.json")))
		}, []string{"modified .mcp.json"}},
		"pipe": {func(w *tree) {
			w.must(os.Remove(w.path(".mcp.json")))
			w.must(syscall.Mkfifo(w.path(".mcp.json"), 0o644))
		}, []string{"modified .mcp.json"}},
		"hidden from the index": {func(w *tree) {
			w.git("update-index", "--skip-worktree", ".mcp.json")
			w.git("update-index", "--assume-unchanged", ".claude/settings.json")
			w.write(".mcp.json", "{ }")
			w.write(".claude/settings.json", "{ }")
		}, []string{"modified .claude/settings.json", "modified .mcp.json"}},
		"committed": {func(w *tree) {
			w.write(".mcp.json", "{ }")
			w.git("commit", "-q", "-am", "by the cage")
		}, []string{"modified .mcp.json"}},
		"another repository": {func(w *tree) { w.must(os.MkdirAll(w.path("lib/.git/hooks"), 0o755)) }, []string{"added lib/.git"}},
		"a pointer to one":   {func(w *tree) { w.write("lib/.git", "gitdir: /elsewhere") }, []string{"added lib/.git"}},
		"a repository laid bare": {func(w *tree) {
			w.write("lib/HEAD", "x")
			w.write("lib/objects/x", "")
			w.write("lib/refs/x", "")
			w.write("lib/config", "")
		}, []string{"added lib"}},
		"in installed packages":   {func(w *tree) { w.write("node_modules/x/.vscode/tasks.json", "{}") }, nil},
		"beside the code, nested": {func(w *tree) { w.write("src/a/b/c/CLAUDE.md", "do") }, []string{"added src/a/b/c/CLAUDE.md"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTree(t, ordinary)
			tt.act(w)
			if got := w.changed(); !slices.Equal(got, append([]string{}, tt.want...)) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A repository of the repository is told once, since nothing of it is in the base.
func TestChangedWithSubmodule(t *testing.T) {
	w := newTree(t, ordinary)
	w.base["lib"] = Entry{Mode: "160000", Hash: strings.Repeat("a", 40)}
	w.write("lib/.git", "gitdir: ../.git/modules/lib")
	w.write("lib/.mcp.json", "{}")
	if got := w.changed(); !slices.Equal(got, []string{"modified lib"}) {
		t.Errorf("got %q", got)
	}
}

// A tree with more than is looked at, or one that cannot be read, is never called unchanged.
func TestChangedIsNeverQuietAboutItsBounds(t *testing.T) {
	w := newTree(t, ordinary)
	deep := w.dir
	for range maxDeep + 3 {
		deep += "/d"
	}
	w.must(os.MkdirAll(deep, 0o755))
	r, err := New().Changed(context.Background(), w.dir, w.base)
	if err != nil || r.Complete {
		t.Errorf("a tree too deep: %+v %v", r, err)
	}
	w = newTree(t, nil)
	for i := range maxChanges + 1 {
		w.write(fmt.Sprintf(".yarn/%d", i), "")
	}
	if r, err := New().Changed(context.Background(), w.dir, w.base); err != nil || r.Complete || len(r.Changes) != maxChanges {
		t.Errorf("too many changes: complete %v, %d, %v", r.Complete, len(r.Changes), err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New().Changed(ctx, w.dir, w.base); err == nil {
		t.Error("an ended context is no error")
	}
	if _, err := New().Changed(context.Background(), w.dir+"/nowhere", w.base); err == nil {
		t.Error("a tree that is not there is no error")
	}
}

func TestParseTree(t *testing.T) {
	got, err := ParseTree([]byte("100644 blob abc\ta b\n\x00160000 commit def\tsub\x00"))
	if err != nil || len(got) != 2 || got["a b\n"] != (Entry{"100644", "abc"}) || got["sub"] != (Entry{"160000", "def"}) {
		t.Errorf("got %v %v", got, err)
	}
	for _, bad := range []string{"100644 blob abc", "100644 blob\tx", "x\ty\x00", "100644 blob abc\t"} {
		if _, err := ParseTree([]byte(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	if got, err := ParseTree(nil); err != nil || len(got) != 0 {
		t.Errorf("an empty tree: %v %v", got, err)
	}
}

// Law: a file of the list stays one in any folder below, in any case of letters; entries for the top do not.
func TestMatchLaws(t *testing.T) {
	l := New()
	all := l.Rules()
	rapid.Check(t, func(rt *rapid.T) {
		r := all[rapid.IntRange(0, len(all)-1).Draw(rt, "rule")]
		name := strings.ReplaceAll(r.Name, "*", "x")
		if strings.HasSuffix(name, "/") {
			name += rapid.StringMatching(`[a-z]{0,3}`).Draw(rt, "inside")
			name = strings.TrimSuffix(name, "/")
		}
		if _, is := l.Match(name); !is {
			rt.Fatalf("%s does not match its own rule", name)
		}
		if _, is := l.Match(strings.ToUpper(name)); !is {
			rt.Fatalf("%s does not match in capitals", name)
		}
		below := rapid.StringMatching(`[a-z]{1,5}(/[a-z]{1,5}){0,2}`).Draw(rt, "below") + "/" + name
		if _, is := l.Match(below); is == r.Root {
			rt.Fatalf("%s: %v", below, is)
		}
	})
}
