package sandbox

import (
	"context"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"termic/sandbox/cage"
)

func TestMain(m *testing.M) {
	cage.BeChild()
	beInside()
	os.Exit(m.Run())
}

// needCage skips where no cage can be built, and says why.
func needCage(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if r := cage.Probe(ctx, ""); !r.Enforce { // none of these is on the host's network
		t.Skipf("NOT TESTED: this machine builds no cage: %v", r.Problem)
	}
}

// inside runs a shell script in the cage of a policy, and returns its exit code and everything that it said.
func (h *house) inside(p Policy, script string) (int, string) {
	h.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		h.t.Fatal(err)
	}
	defer r.Close()
	env := append(h.gitEnv(), "HOME="+h.home)
	pr, err := Provision(context.Background(), p, Launch{Argv: []string{"/bin/sh", "-c", script}, Env: env, Dir: h.wt, Stdio: [3]*os.File{nil, w, w}})
	w.Close()
	if err != nil {
		h.t.Fatalf("provision: %v", err)
	}
	out, err := io.ReadAll(r)
	exit := pr.Wait()
	if err != nil || exit.Signal != "" {
		h.t.Fatalf("the cage ended with %+v, %v\n%s", exit, err, out)
	}
	return exit.Code, string(out)
}

// A try is a command in a cage, the code with which it must end, and what it must say.
type try struct {
	script string
	code   int
	says   string
}

// tries runs commands one after another in one cage, each in a shell of its own.
func (h *house) tries(list []try) {
	h.t.Helper()
	const mark = "==="
	var script strings.Builder
	for _, c := range list {
		script.WriteString("( " + c.script + "\n) 2>&1; echo \"" + mark + "$?\"\n")
	}
	_, out := h.inside(h.compose(), script.String())
	for _, c := range list {
		said, rest, _ := strings.Cut(out, mark)
		code, rest, ok := strings.Cut(rest, "\n")
		if out = rest; !ok || code != strconv.Itoa(c.code) || !strings.Contains(said, c.says) {
			h.t.Errorf("%s: code %s, %q; want %d, %q", c.script, code, said, c.code, c.says)
		}
	}
}

// TestGitWorksInACage goes through what an agent does with git, and through what it may not do. After all of it the
// repository is whole, and nothing in it was changed that git outside would run.
func TestGitWorksInACage(t *testing.T) {
	needCage(t)
	h := newHouse(t)
	h.run(h.repo, "branch", "packed")
	h.run(h.repo, "worktree", "add", "-q", "-b", "other", h.home+"/trees/other")
	h.run(h.repo, "config", "extensions.worktreeConfig", "true") // config.worktree files are read now
	h.run(h.repo, "pack-refs", "--all")
	before := h.run(h.repo, "config", "--list", "--local")
	h.tries([]try{
		{"git status -sb", 0, "## task"},
		{"echo 2 >>f && git add f && git commit -q -m 2 && git log --oneline | wc -l", 0, "2"},
		{"git branch mine && git switch -q mine && git switch -q task", 0, ""},
		{"echo 3 >>f && git stash -q && git stash pop -q && git checkout -q f", 0, ""},
		{"echo 4 >>f && git stash -q && git stash drop -q && git status --porcelain", 0, ""},
		{"git tag v1 && git tag -a -m x v2 && git describe", 0, "v2"},
		{"git switch -q -c side && echo s >s && git add s && git commit -q -m s && git switch -q task && git merge -q --no-ff -m m side && git rebase -q HEAD~1", 0, ""},
		{"git notes add -m hi && git reflog | head -1", 0, ""},
		{"git -c gc.auto=1 gc --auto -q && git gc -q", 0, ""},
		{"git fsck", 0, ""},
		{"git worktree list", 0, "other"},
		{"git fetch -q . main", 0, ""},
		{"git update-ref -d refs/heads/side", 0, ""},

		{"git config a.b c", 255, "Read-only"},
		{"git config --worktree a.b c", 4, "busy"},
		{"git branch -D packed", 1, lastOfChain},
		{"git pack-refs --all", 128, lastOfChain},
		{"git worktree add ../more", 128, "Read-only"},
		{"echo x >" + h.git + "/hooks/post-commit", 2, ""},
		{"echo x >" + h.git + "/info/attributes", 2, ""},
		{"echo x >" + h.admin + "/commondir", 2, ""},
		{"echo x >" + h.admin + "/config.worktree", 2, ""},
		{"mv " + h.admin + "/config.worktree " + h.admin + "/x", 1, ""},
		{"rm -f " + h.wt + "/.git", 1, ""},
		{"mv .git x", 1, ""},
		{"echo x >" + h.git + "/worktrees/other/HEAD", 2, "Read-only"},
		{"echo /x >>" + h.git + "/objects/info/alternates", 2, ""},
		{"mkdir -p " + h.git + "/refs/replace/x", 1, ""},
		{"ls " + h.home + "/trees/other", 2, ""},
		{"cat " + h.data + "/token", 1, ""},
	})
	// What lies only in the cage's own folder is made there and means nothing.
	if code, out := h.inside(h.compose(), "cd "+h.git+" && rm -f config commondir shallow index && echo x >config; echo x >commondir; echo x >shallow; echo x >index"); code != 0 {
		t.Errorf("its own folder: %d, %s", code, out)
	}
	if after := h.run(h.repo, "config", "--list", "--local"); after != before {
		t.Errorf("git's settings changed from %q to %q", before, after)
	}
	for _, p := range []string{"commondir", "shallow", "config.worktree", "hooks/post-commit", "modules"} {
		if exists(h.git + "/" + p) {
			t.Errorf("%s was made", p)
		}
	}
	h.run(h.repo, "fsck", "--strict")
	h.run(h.repo, "gc", "-q")
	h.run(h.repo, "rev-parse", "packed", "task", "v1", "v2", "other", "mine")
	h.run(h.repo, "worktree", "remove", "--force", h.wt)
}

// TestChangesOutsideReachTheCage changes the repository while the cage lives: what is seen follows, and nothing becomes
// writable that was not. A mount that pins one file would fail here.
func TestChangesOutsideReachTheCage(t *testing.T) {
	needCage(t)
	h := newHouse(t)
	const script = `until [ -e go ]; do sleep 0.02; done
git config new.value
git rev-parse --verify -q task && git log --oneline | wc -l
echo "[core] fsmonitor = evil" >` + "$GIT" + `/config.lock && mv $GIT/config.lock $GIT/config
find / -name config -path '*git*' 2>/dev/null | while read f; do echo evil >>$f; done
exit 0`
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	pr, err := Provision(context.Background(), h.compose(), Launch{Argv: []string{"/bin/sh", "-c", strings.ReplaceAll(script, "$GIT", h.git)},
		Env: append(h.gitEnv(), "HOME="+h.home), Dir: h.wt, Stdio: [3]*os.File{nil, w, w}})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	h.run(h.repo, "config", "new.value", "seen") // replaces the file by renaming
	h.run(h.repo, "pack-refs", "--all", "--prune")
	h.run(h.repo, "gc", "-q")
	h.file(h.wt+"/go", "")
	out, err := io.ReadAll(r)
	pr.Wait()
	if err != nil || !strings.Contains(string(out), "seen\n") || !strings.Contains(string(out), "\n1\n") {
		t.Errorf("the cage said %q, %v", out, err)
	}
	settings, err := os.ReadFile(h.git + "/config")
	if err != nil || strings.Contains(string(settings), "evil") {
		t.Errorf("the settings are %q, %v", settings, err)
	}
	h.run(h.repo, "status")
}

func TestOwnCheckoutKeepsItsGitFolder(t *testing.T) {
	needCage(t)
	h := newHouse(t)
	p := h.compose(func(w *Wish) {
		w.InPlace, w.Worktree, w.GitDir, w.GitCommonDir = true, h.repo, h.git, h.git
	})
	h.wt = h.repo
	for script, code := range map[string]int{"git status -s && echo 2 >>f && git diff --stat": 0, "git commit -q -am x": 128, "echo x >.git/config": 2, "echo x >.git/commondir": 2,
		"mv .git x": 1, "rm -rf .git/hooks": 1} {
		if got, out := h.inside(p, script); got != code {
			t.Errorf("%s: code %d, want %d: %s", script, got, code, out)
		}
	}
}
