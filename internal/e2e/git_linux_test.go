package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/fault"
)

// TestGitWhereACageWrites: the owner stages, discards and commits what a caged agent did. Nothing that the agent prepared
// runs for it, what the app does to the branch and its own refs is not told as somebody's doing, and a ref that the agent
// makes is no discard of another task.
func TestGitWhereACageWrites(t *testing.T) {
	r := newRig(t)
	c := r.cageTask("writer", "enforce-fs", nil)
	other := r.live(r.newTask("other", "osc7501", "").Task.ID)
	outside := filepath.Join(r.home, "outside")
	must(t, os.MkdirAll(outside, 0o700))
	c.run("echo changed > README.md && echo new > new.txt && mkdir sub && echo deep > sub/file && " +
		"git config --worktree core.hooksPath \"$PWD/hooks\"; mkdir -p hooks && printf '#!/bin/sh\\ntouch " + outside + "/ran\\n' > hooks/pre-commit && chmod +x hooks/pre-commit && " +
		"printf '*.txt filter=x\\n' > .gitattributes; git config filter.x.clean 'touch " + outside + "/ran'; true")
	target := func(more map[string]any) map[string]any { more["task"] = c.id; return more }

	gone := call[api.TaskDiscardResult](r, "task_discard", target(map[string]any{"paths": []string{"README.md", "sub"}}))
	if got := r.git(c.path, "status", "--short", "--untracked-files=no"); got != "" || len(gone.Paths) != 2 {
		t.Errorf("discarded %+v, left %s", gone, got)
	}
	c.run("git update-ref refs/termic/discarded/" + other.ID + "/01ARZ3NDEKTSV4RRFFQ69G5FAV " + gone.Undo + " ; git for-each-ref --format='%(objectname)' refs/termic/discarded/ | head -n 1 | xargs -I{} git update-ref refs/termic/discarded/" + other.ID + "/01ARZ3NDEKTSV4RRFFQ69G5FAV {}")
	refused(r, fault.NotFound, "task_discard", map[string]any{"task": other.ID, "undo": "last"})
	refused(r, fault.NotFound, "task_discard", map[string]any{"task": other.ID, "undo": "01ARZ3NDEKTSV4RRFFQ69G5FAV"})

	c.run("ln -s " + outside + " sub")
	refused(r, fault.Conflict, "task_discard", target(map[string]any{"undo": "last"}))
	if names, _ := os.ReadDir(outside); len(names) != 0 {
		t.Fatalf("something came out of the worktree: %v", names)
	}
	c.run("rm sub")
	call[api.TaskDiscardResult](r, "task_discard", target(map[string]any{"undo": "last"}))
	if text, err := os.ReadFile(filepath.Join(c.path, "sub/file")); err != nil || string(text) != "deep\n" {
		t.Fatalf("put back %q, %v", text, err)
	}
	call[api.TaskStageResult](r, "task_stage", target(map[string]any{"paths": []string{"README.md", "new.txt"}}))
	made := call[api.TaskCommitResult](r, "task_commit", target(map[string]any{"message": "by the owner"}))
	if made.Files != 2 || r.git(c.path, "log", "-1", "--format=%s %an") != "by the owner Test" {
		t.Errorf("%+v", made)
	}
	if names, _ := os.ReadDir(outside); len(names) != 0 {
		t.Errorf("a hook or filter of the agent ran: %v", names)
	}
	refs := call[api.ProjectRefsResult](r, "project_refs", map[string]any{"name": "repo"})
	for _, ref := range refs.Refs {
		if !strings.Contains(ref.Ref, other.ID) {
			t.Errorf("told as a caged agent's doing: %+v", ref)
		}
	}
}
