package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
)

func seenOf(t *testing.T, d api.TaskDiffResult, path string) string {
	t.Helper()
	for _, f := range d.Files {
		if f.Path == path {
			return f.Seen
		}
	}
	t.Fatalf("%s is not among %+v", path, d.Files)
	return ""
}

// TestStageDiscardCommit is the work on the changes of a task, up to the commit.
func TestStageDiscardCommit(t *testing.T) {
	r := newRig(t)
	made := r.newTask("work", "osc7501", "")
	task := r.live(made.Task.ID)
	file := func(name string) string { return filepath.Join(task.Path, name) }
	must(t, os.WriteFile(file("new.txt"), []byte("new\n"), 0o600))
	must(t, os.WriteFile(file("README.md"), []byte("changed\n"), 0o600))
	target := func(more map[string]any) map[string]any { more["task"] = task.ID; return more }

	d := call[api.TaskDiffResult](r, "task_diff", target(map[string]any{}))
	seen := seenOf(t, d, "new.txt")
	must(t, os.WriteFile(file("new.txt"), []byte("newer\n"), 0o600))
	window := grant.OwnerOn(grant.Window)
	for _, verb := range []string{"task_discard", "task_stage"} {
		if _, err := as(r, window, verb, target(map[string]any{"paths": []string{"new.txt"}, "seen": []string{seen}})); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("%s of what nobody has seen: %v", verb, err)
		}
	}
	d = call[api.TaskDiffResult](r, "task_diff", target(map[string]any{}))
	raw, err := as(r, window, "task_discard", target(map[string]any{"paths": []string{"new.txt"}, "seen": []string{seenOf(t, d, "new.txt")}}))
	must(t, err)
	var gone api.TaskDiscardResult
	must(t, json.Unmarshal(raw, &gone))
	if _, err := os.Lstat(file("new.txt")); err == nil || gone.Undo == "" || len(gone.Kept) != 1 {
		t.Fatalf("not discarded: %+v", gone)
	}
	r.stop() // what was discarded outlives the app
	r.start()
	list := call[api.TaskDiscardResult](r, "task_discard", target(map[string]any{}))
	if len(list.Kept) != 1 || list.Kept[0].ID != gone.Undo || strings.Join(list.Kept[0].Paths, " ") != "new.txt" {
		t.Fatalf("kept %+v", list)
	}
	back := call[api.TaskDiscardResult](r, "task_discard", target(map[string]any{"undo": "last"}))
	if text, err := os.ReadFile(file("new.txt")); err != nil || string(text) != "newer\n" || back.Undone != gone.Undo || len(back.Kept) != 0 {
		t.Fatalf("undone %+v, %q, %v", back, text, err)
	}
	if refs := r.git(r.repo, "for-each-ref", "refs/termic/discarded/"); refs != "" {
		t.Errorf("what was undone is still kept: %s", refs)
	}

	call[api.TaskStageResult](r, "task_stage", target(map[string]any{"paths": []string{"new.txt"}}))
	d = call[api.TaskDiffResult](r, "task_diff", target(map[string]any{}))
	for _, f := range d.Files {
		if f.Staged != (f.Path == "new.txt") {
			t.Errorf("%+v", f)
		}
	}
	made1 := call[api.TaskCommitResult](r, "task_commit", target(map[string]any{"message": "new"}))
	if made1.Files != 1 || made1.Branch != task.Branch || made1.Commit != r.git(task.Path, "rev-parse", "HEAD") {
		t.Errorf("%+v", made1)
	}
	refused(r, fault.Conflict, "task_commit", target(map[string]any{"message": "again"}))
	call[api.TaskCommitResult](r, "task_commit", target(map[string]any{"message": "rest", "all": true}))
	if got := r.git(task.Path, "status", "--short"); got != "" {
		t.Errorf("left %s", got)
	}
}

// TestDiscardsAreBounded: of each task the newest are kept, whoever asks.
func TestDiscardsAreBounded(t *testing.T) {
	r := newRig(t)
	task := r.live(r.newTask("many", "osc7501", "").Task.ID)
	for range 52 {
		must(t, os.WriteFile(filepath.Join(task.Path, "x"), []byte("x"), 0o600))
		call[api.TaskDiscardResult](r, "task_discard", map[string]any{"task": task.ID, "paths": []string{"x"}})
	}
	list := call[api.TaskDiscardResult](r, "task_discard", map[string]any{"task": task.ID})
	refs := strings.Fields(r.git(r.repo, "for-each-ref", "--format=%(refname)", "refs/termic/discarded/"))
	if len(list.Kept) != 50 || len(refs) != 50 {
		t.Errorf("%d in the list, %d refs", len(list.Kept), len(refs))
	}
}
