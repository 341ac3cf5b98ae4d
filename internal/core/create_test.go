package core

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"termic/internal/api"
	"termic/internal/store"
)

// TestTheBranchIsForeseen: the intent with which a creation is accepted names its branch, so that the disk is not waited for again
// before git works. Where another task is about to make a branch of that name, or the branch is there, it names none: what it names is
// taken back after a crash.
func TestTheBranchIsForeseen(t *testing.T) {
	r := newIDRig(t)
	root := filepath.Join(r.dir, "harbor")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", root, "-c", "user.name=x", "-c", "user.email=x@y"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+filepath.Join(r.dir, "gitconfig"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	must(t, os.Mkdir(root, 0o700))
	git("init", "-q", "-b", "main")
	git("commit", "-q", "--allow-empty", "-m", "first")
	git("branch", "feature/there")
	_, _, err := r.store.AddProject(t.Context(), store.Project{Name: "harbor", RootPath: root, BaseBranch: "main"})
	must(t, err)
	for _, c := range []struct{ name, want string }{{"crane", "feature/crane"}, {"crane!", ""}, {"there", ""}} {
		call := r.ownCall(store.Task{})
		n, err := r.planNew(t.Context(), call, api.TaskNewParams{Name: c.name, Project: "harbor", NoAgent: true, Mode: "worktree"})
		must(t, err)
		must(t, r.acceptNew(t.Context(), call, n))
		intents, err := r.store.Intents(t.Context())
		must(t, err)
		var i createIntent
		for _, in := range intents {
			if in.ID == intentID(intentCreate, n.task.ID) {
				must(t, json.Unmarshal(in.Payload, &i))
			}
		}
		if i.Task != n.task.ID || i.Branch != c.want || (i.Commit != "") != (c.want != "") {
			t.Errorf("%s: the intent is %+v; want the branch %q", c.name, i, c.want)
		}
	}
}
