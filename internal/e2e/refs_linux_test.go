package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
)

// as calls a verb for somebody else than the owner.
func as(r *rig, caller grant.Caller, verb string, params map[string]any) (json.RawMessage, error) {
	raw, err := json.Marshal(params)
	must(r.t, err)
	return r.app.Dispatcher.Call(r.t.Context(), caller, verb, raw, nil)
}

// refsOf are the refs that are said to have changed, by name.
func (r *rig) refsOf(task string) map[string]api.RefChange {
	r.t.Helper()
	out := map[string]api.RefChange{}
	for _, c := range call[api.TaskStatusResult](r, "task_status", map[string]any{"task": task}).Task.Refs {
		out[c.Ref] = c
	}
	return out
}

func namesOf(refs []api.RefChange) (names []string) {
	for _, c := range refs {
		names = append(names, c.Ref)
	}
	slices.Sort(names)
	return names
}

// TestRefsThatACageMoves: a caged agent moves, deletes and makes refs beside its own branch. That is shown to the owner,
// kept from git's clean-up, known after a restart, and put back. What the app and other agents did is not said to be the
// cage's doing.
func TestRefsThatACageMoves(t *testing.T) {
	r := newRig(t)
	r.git(r.repo, "commit", "-q", "--allow-empty", "-m", "second")
	for _, name := range []string{"victim", "doomed"} {
		r.git(r.repo, "branch", name)
	}
	r.write("README.md", "stashed\n")
	r.git(r.repo, "stash", "-q")
	victim, stash := r.git(r.repo, "rev-parse", "victim"), r.git(r.repo, "rev-parse", "stash")
	c := r.cageTask("mover", "enforce", nil)
	if refs := r.refsOf(c.id); len(refs) != 0 {
		t.Fatalf("changed before anything was done: %v", refs)
	}

	// The task's own work, and that of others, is no change.
	c.run("git -c user.name=a -c user.email=a@example.invalid commit -q --allow-empty -m own; echo x > s && git add s && git stash -q && git stash pop -q")
	other := r.newTask("other", "osc7501", "")
	live := r.live(other.Task.ID)
	r.git(live.Path, "commit", "-q", "--allow-empty", "-m", "other's own")
	gone := r.newTask("archived", "osc7501", "")
	r.live(gone.Task.ID)
	call[json.RawMessage](r, "task_archive", map[string]any{"task": gone.Task.ID, "discard": true, "deleteBranch": true})
	if refs := call[api.ProjectRefsResult](r, "project_refs", map[string]any{"name": "repo"}).Refs; len(refs) != 0 {
		t.Errorf("what the app and other agents did: %v", namesOf(refs))
	}

	out := c.run("git update-ref refs/heads/victim HEAD && git update-ref -d refs/heads/doomed && git branch made && git stash drop -q")
	want := []string{"refs/heads/doomed", "refs/heads/made", "refs/heads/victim", "refs/stash@{" + stash + "}"}
	d := r.until(c.id, "told of the refs", func(d api.TaskDetail) bool { return len(d.Refs) >= len(want) })
	if got := namesOf(d.Refs); !slices.Equal(got, want) {
		t.Fatalf("changed: %v\n%s", got, out)
	}
	moved := r.refsOf(c.id)["refs/heads/victim"]
	if moved.Old != victim || moved.New != r.git(r.repo, "rev-parse", "victim") || moved.Backup == "" || r.git(r.repo, "rev-parse", moved.Backup) != victim {
		t.Errorf("the moved branch: %+v", moved)
	}
	c.run("git gc -q --prune=now")
	var state api.WindowState
	raw, err := as(r, grant.OwnerOn(grant.Window), "window_state", map[string]any{})
	must(t, err)
	must(t, json.Unmarshal(raw, &state))
	if !slices.ContainsFunc(state.Notices, func(s string) bool { return strings.Contains(s, "victim") && !strings.Contains(s, "made") }) {
		t.Errorf("the notices: %v", state.Notices)
	}
	// The agent itself is told nothing, and may not ask.
	if raw, err := as(r, grant.Caller{Face: grant.MCP, Class: grant.Scoped, Task: c.id, Principal: "task:" + c.id, Terminal: d.Tabs[0].ID}, "task_status", map[string]any{"task": c.id}); err != nil || strings.Contains(string(raw), "victim") {
		t.Errorf("a caged agent sees %s, %v", raw, err)
	}
	if _, err := as(r, grant.Caller{Face: grant.MCP, Class: grant.Full, Principal: "full"}, "project_refs", map[string]any{"name": "repo", "undo": []string{"all"}}); err == nil {
		t.Error("a caller over MCP put refs back")
	}

	r.stop()
	r.start()
	if got := namesOf(call[api.ProjectRefsResult](r, "project_refs", map[string]any{"name": "repo"}).Refs); !slices.Equal(got, want) {
		t.Errorf("after a restart: %v", got)
	}
	r.git(r.repo, "gc", "-q", "--prune=now")
	refused(r, fault.NotFound, "project_refs", map[string]any{"name": "repo", "undo": []string{"main"}})
	kept := call[api.ProjectRefsResult](r, "project_refs", map[string]any{"name": "repo", "keep": []string{"made"}})
	if got := namesOf(kept.Kept); len(got) != 1 || len(kept.Refs) != len(want)-1 {
		t.Errorf("kept: %+v", kept)
	}
	done := call[api.ProjectRefsResult](r, "project_refs", map[string]any{"name": "repo", "undo": []string{"all"}})
	if len(done.Refs) != 0 || len(done.Undone) != 3 {
		t.Errorf("put back: %+v", done)
	}
	for _, name := range []string{"victim", "doomed"} {
		if at := r.git(r.repo, "rev-parse", "refs/heads/"+name); at != victim {
			t.Errorf("%s is at %s, was at %s", name, at, victim)
		}
	}
	if at := r.git(r.repo, "rev-parse", "stash"); at != stash {
		t.Errorf("the stash is %s, was %s", at, stash)
	}
	if out := r.git(r.repo, "for-each-ref", "refs/termic/watch"); out != "" {
		t.Errorf("left behind: %s", out)
	}
	if refs := r.refsOf(c.id); len(refs) != 0 {
		t.Errorf("still changed: %v", refs)
	}
}

// TestRefsAreLookedAtOnceMore: what an agent moves right before its end is found.
func TestRefsAreLookedAtOnceMore(t *testing.T) {
	r := newRig(t)
	r.git(r.repo, "commit", "-q", "--allow-empty", "-m", "second")
	r.git(r.repo, "branch", "victim")
	c := r.cageTask("mover", "enforce", nil)
	c.run("git update-ref refs/heads/victim HEAD~1")
	call[json.RawMessage](r, "task_stop", map[string]any{"task": c.id})
	r.until(c.id, "told of the ref", func(d api.TaskDetail) bool { return len(d.Refs) == 1 && d.Refs[0].Ref == "refs/heads/victim" })
	// Whatever is done while no caged agent runs is the user's own affair.
	r.git(r.repo, "branch", "-f", "victim", "main")
	if f := refused(r, fault.Conflict, "project_refs", map[string]any{"name": "repo", "undo": []string{"victim"}}); !strings.Contains(f.Message, "victim") {
		t.Errorf("a ref that moved again: %v", f)
	}
}
