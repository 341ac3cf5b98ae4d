package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A house is a made-up user: a home, a project with a linked worktree, Termic's data folder with a private home.
type house struct {
	t                                            *testing.T
	root, home, data, priv, repo, wt, git, admin string
	wish                                         Wish
}

// newHouse builds one with real git. Nothing of the machine's own settings is read.
func newHouse(t *testing.T) *house {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, root: root, home: root + "/users/u", repo: root + "/users/u/code/repo", wt: root + "/users/u/trees/wt"}
	h.data = h.home + "/.local/share/termic"
	h.priv, h.git, h.admin = h.data+"/homes/t1", h.repo+"/.git", h.repo+"/.git/worktrees/wt"
	h.dirs(h.repo, h.priv, h.home+"/tools/bin", h.home+"/.local/bin")
	h.file(h.data+"/token", "SECRET")
	h.file(h.data+"/../sibling", "open")
	h.file(h.home+"/tools/bin/agent", "#!/bin/sh\nexec true\n")
	if err := os.Chmod(h.home+"/tools/bin/agent", 0o755); err != nil {
		t.Fatal(err)
	}
	h.run(h.repo, "init", "-q", "-b", "main")
	h.file(h.repo+"/f", "1\n")
	h.run(h.repo, "add", "f")
	h.run(h.repo, "commit", "-q", "-m", "1")
	h.run(h.repo, "worktree", "add", "-q", "-b", "task", h.wt)
	h.wish = Wish{Mode: Enforce, TaskID: "t1", Project: "p", Agent: "claude", Worktree: h.wt, GitDir: h.admin, GitCommonDir: h.git,
		GitView: h.data + "/views/1", Home: h.home, HomeDir: h.priv, DataDir: h.data, Program: h.home + "/tools/bin/agent",
		Path: []string{h.home + "/tools/bin", "/usr/bin", "/bin"}, MCPPort: 7777, ProxyPort: 7778, GOOS: "linux"}
	return h
}

func (h *house) dirs(paths ...string) {
	h.t.Helper()
	for _, p := range paths {
		if err := os.MkdirAll(p, 0o755); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *house) file(path, text string) {
	h.t.Helper()
	h.dirs(filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) link(to, path string) {
	h.t.Helper()
	h.dirs(filepath.Dir(path))
	if err := os.Symlink(to, path); err != nil {
		h.t.Fatal(err)
	}
}

// gitEnv keeps git from the settings and the identity of the machine.
func (h *house) gitEnv() []string {
	return []string{"HOME=" + h.root, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@a.test", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@a.test"}
}

// run runs git outside of any cage.
func (h *house) run(dir string, args ...string) string {
	h.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, h.gitEnv()
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (h *house) compose(change ...func(w *Wish)) Policy {
	h.t.Helper()
	p, err := h.try(change...)
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

func (h *house) try(change ...func(w *Wish)) (Policy, error) {
	w := h.wish
	for _, c := range change {
		c(&w)
	}
	return Compose(w)
}

func layer(l Layer) func(*Wish) {
	if l.Name == "" {
		l.Name = "the task's list"
	}
	return func(w *Wish) { w.Layers = append(w.Layers, l) }
}

func mountOf(p Policy, target string) *Mount {
	for _, m := range p.View().Mounts {
		if m.Target == target {
			return &m
		}
	}
	return nil
}
