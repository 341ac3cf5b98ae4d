package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"termic/internal/api"
)

// TestRefsOfARunningTask: a cage moves the branches of tasks that run at the same time, caged and not. That is told, also
// where a branch only went back to where it was when refs were last compared; what those tasks do themselves is not.
func TestRefsOfARunningTask(t *testing.T) {
	r := newRig(t)
	mover := r.cageTask("mover", "enforce", nil)
	other := r.live(r.newTask("other", "osc7501", "").Task.ID)
	boxed := r.cageTask("boxed", "enforce", nil)
	shown := func() map[string]api.RefChange {
		out := map[string]api.RefChange{}
		for _, c := range call[api.ProjectRefsResult](r, "project_refs", map[string]any{"name": "repo"}).Refs {
			out[c.Ref] = c
		}
		return out
	}
	commit := "git -c user.name=a -c user.email=a@example.invalid commit -q --allow-empty -m "
	boxed.run(commit + "one && " + commit + "two && git rebase -q HEAD~1 && git reset -q --hard HEAD~1 && " + commit + "three && git checkout -q --detach && git checkout -q -")
	mover.run(commit + "mine")
	r.git(other.Path, "commit", "-q", "--allow-empty", "-m", "other's own")
	if got := shown(); len(got) != 0 {
		t.Fatalf("told of what tasks did to their own branches: %+v", got)
	}
	// Back to where they were when refs were last compared.
	for _, path := range []string{other.Path, boxed.path} {
		r.git(path, "commit", "-q", "--allow-empty", "-m", "lost")
	}
	lost := map[string]string{}
	for _, path := range []string{other.Path, boxed.path} {
		branch := r.git(path, "symbolic-ref", "HEAD")
		lost[branch] = r.git(path, "rev-parse", "HEAD")
		mover.run("git update-ref " + branch + " " + branch + "~1")
	}
	got := shown()
	for branch, id := range lost {
		c := got[branch]
		if c.Old != id || c.New != r.git(r.repo, "rev-parse", id+"~1") {
			t.Errorf("%s: %+v", branch, c)
		}
	}
	if len(got) != len(lost) {
		t.Errorf("told: %+v", got)
	}
	done := call[api.ProjectRefsResult](r, "project_refs", map[string]any{"name": "repo", "undo": []string{other.Branch}, "keep": []string{r.git(boxed.path, "symbolic-ref", "--short", "HEAD")}})
	if len(done.Undone) != 1 || len(done.Kept) != 1 || len(done.Refs) != 0 || r.git(other.Path, "rev-parse", "HEAD") != lost["refs/heads/"+other.Branch] {
		t.Errorf("put back: %+v", done)
	}
	mover.run(commit + "again")
	if got := shown(); len(got) != 0 {
		t.Errorf("what the owner left as it is was told again: %+v", got)
	}
	// On top of what somebody else put there, the task goes on; the change stays known.
	was := r.git(other.Path, "rev-parse", "HEAD")
	mover.run("git update-ref refs/heads/" + other.Branch + " HEAD")
	if c := shown()["refs/heads/"+other.Branch]; c.Old != was {
		t.Errorf("moved to a commit of another: %+v", c)
	}
	r.git(other.Path, "commit", "-q", "--allow-empty", "-m", "on top")
	if c := shown()["refs/heads/"+other.Branch]; c.Old != was || c.New != r.git(other.Path, "rev-parse", "HEAD") {
		t.Errorf("with more on top: %+v", c)
	}
	call[json.RawMessage](r, "task_stop", map[string]any{"task": mover.id})
	call[api.ProjectRefsResult](r, "project_refs", map[string]any{"name": "repo", "undo": []string{"all"}})
	if at := r.git(other.Path, "rev-parse", "HEAD"); at != was {
		t.Errorf("put back to %s, was %s", at, was)
	}
}

// TestManyNewRefs: a cage that makes more refs than are remembered hides nothing behind them, and that there were more is
// told.
func TestManyNewRefs(t *testing.T) {
	r := newRig(t)
	r.git(r.repo, "commit", "-q", "--allow-empty", "-m", "second")
	r.git(r.repo, "branch", "victim")
	c := r.cageTask("mover", "enforce", nil)
	flood := func(word string) string {
		return "for i in $(seq 1 700); do echo create refs/heads/" + word + "-$i HEAD; done | git update-ref --stdin"
	}
	c.run(flood("a") + " && " + flood("zz"))
	r.until(c.id, "told of the flood", func(d api.TaskDetail) bool { return len(d.Refs) >= 500 })
	c.run("git update-ref refs/heads/victim HEAD~1; git update-ref refs/heads/zz-700 HEAD~1")
	d := r.until(c.id, "told of the moved branch", func(d api.TaskDetail) bool {
		return slices.ContainsFunc(d.Refs, func(ref api.RefChange) bool { return ref.Ref == "refs/heads/victim" && ref.Old != "" })
	})
	moved := 0
	for _, ref := range d.Refs {
		if ref.Old != "" {
			moved++
		}
	}
	if moved != 1 {
		t.Errorf("%d refs are said to have led elsewhere before", moved)
	}
	told := call[api.ProjectRefsResult](r, "project_refs", map[string]any{"name": "repo"}).Problem
	if !strings.Contains(told, "900 new refs") {
		t.Errorf("what is not listed is not told: %q", told)
	}
	r.stop()
	r.start()
	if after := call[api.ProjectRefsResult](r, "project_refs", map[string]any{"name": "repo"}).Problem; after != told {
		t.Errorf("after a restart: %q", after)
	}
	call[api.ProjectRefsResult](r, "project_refs", map[string]any{"name": "repo", "keep": []string{"all"}})
	if after := call[api.ProjectRefsResult](r, "project_refs", map[string]any{"name": "repo"}); after.Problem != "" || len(after.Refs) != 0 {
		t.Errorf("after the owner has seen it: %q, %d", after.Problem, len(after.Refs))
	}
}
