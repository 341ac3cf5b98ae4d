package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
)

// asksAbout checks that a verb asks the owner about exactly these files.
func (r *rig) asksAbout(want, verb string, params map[string]any) {
	r.t.Helper()
	f := refused(r, fault.NeedsConsent, verb, params)
	raw, err := json.Marshal(f.Data["files"])
	must(r.t, err)
	var files []api.SelfRun
	must(r.t, json.Unmarshal(raw, &files))
	var got []string
	for _, v := range files {
		got = append(got, v.How+" "+v.Path)
	}
	if strings.Join(got, ", ") != want {
		r.t.Errorf("%s asks about %v, want %s", verb, got, want)
	}
}

// TestFilesThatRunByThemselves: what a caged agent wrote into its tree and what would run by itself outside comes to
// nothing without a cage before the owner has agreed.
func TestFilesThatRunByThemselves(t *testing.T) {
	r := newRig(t)
	r.write(".mcp.json", "{}\n")
	r.git(r.repo, "add", "-A")
	r.git(r.repo, "commit", "-qm", "second")
	c := r.cageTask("writer", "enforce-fs", nil)
	c.run("mkdir -p .claude && echo '{}' > .claude/settings.json && echo '{ }' > .mcp.json && echo text > plain.txt && printf '.claude\\n' >> .gitignore && " +
		"git update-index --assume-unchanged .mcp.json")
	const files = "added .claude/settings.json, modified .mcp.json"

	r.asksAbout(files, "task_apply", map[string]any{"task": "writer"})
	full := grant.Caller{Face: grant.MCP, Class: grant.Full, Principal: "full"}
	if _, err := as(r, full, "task_apply", map[string]any{"task": c.id}); fault.CodeOf(err) != fault.NeedsConsent {
		t.Errorf("task_apply over MCP: %v", err)
	}
	if _, err := as(r, full, "task_apply", map[string]any{"task": c.id, "acceptFiles": true}); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("a caller over MCP agreed in the owner's place: %v", err)
	}
	if got := r.git(r.repo, "status", "--short"); got != "" {
		t.Errorf("something arrived before the owner agreed: %s", got)
	}
	if applied := call[api.TaskApplyResult](r, "task_apply", map[string]any{"task": "writer", "acceptFiles": true}); applied.TrackedFiles+applied.UntrackedFiles == 0 {
		t.Errorf("nothing was applied: %+v", applied)
	}

	told := call[api.TaskTabResult](r, "task_tab", map[string]any{"task": c.id, "kind": "terminal"})
	if len(told.Warnings) != 1 || !strings.Contains(told.Warnings[0], "no cage") {
		t.Errorf("a terminal where a cage writes: %+v", told)
	}
	r.asksAbout(files, "task_sandbox", map[string]any{"task": "writer", "mode": "off"})
	d := r.live(c.id)
	if d.Sandbox != "enforce-fs" || !d.Tabs[0].Live {
		t.Errorf("a refused change: mode %s, live %v", d.Sandbox, d.Tabs[0].Live)
	}
	call[api.TaskSandboxResult](r, "task_sandbox", map[string]any{"task": "writer", "mode": "enforce"}) // tighter: nobody is asked
	r.asksAbout(files, "task_sandbox", map[string]any{"task": "writer", "mode": "monitor"})
	call[api.TaskSandboxResult](r, "task_sandbox", map[string]any{"task": "writer", "mode": "off", "acceptFiles": true})
	restart := map[string]any{"task": c.id, "restart": d.Tabs[0].ID}
	call[api.TaskTabResult](r, "task_tab", restart) // the owner has agreed
	call[json.RawMessage](r, "task_stop", map[string]any{"task": c.id})

	// A cage that was there for another reason, such as a file of the repository, leaves its mark as well.
	must(t, os.WriteFile(filepath.Join(r.data, "written", c.id), nil, 0o600))
	r.asksAbout(files, "task_tab", restart)
	r.asksAbout(files, "task_send", map[string]any{"task": c.id, "prompt": "hello", "fresh": true})
	restart["acceptFiles"] = true
	call[api.TaskTabResult](r, "task_tab", restart)
	told = call[api.TaskTabResult](r, "task_tab", map[string]any{"task": c.id, "kind": "terminal"})
	if len(told.Warnings) != 0 {
		t.Errorf("a terminal where no cage writes any more: %+v", told)
	}
}

// TestNothingToAskAbout: a caged agent that wrote nothing of the kind is applied and let out without a question.
func TestNothingToAskAbout(t *testing.T) {
	r := newRig(t)
	r.write(".mcp.json", "{}\n")
	r.git(r.repo, "add", "-A")
	r.git(r.repo, "commit", "-qm", "second")
	c := r.cageTask("writer", "enforce-fs", nil)
	c.run("echo text > plain.txt")
	call[api.TaskApplyResult](r, "task_apply", map[string]any{"task": "writer"})
	call[api.TaskSandboxResult](r, "task_sandbox", map[string]any{"task": "writer", "mode": "off"})
}

// TestWhatACageWroteInOtherTasks: once a cage has run in a project, a task without one is asked about whatever its first
// agent would start among, by whatever name the commit comes. What the owner has agreed to is not asked about again.
func TestWhatACageWroteInOtherTasks(t *testing.T) {
	r := newRig(t)
	c := r.cageTask("writer", "enforce-fs", nil)
	c.run("mkdir -p .claude && echo '{}' > .claude/settings.json && git add -A && git -c user.name=a -c user.email=a@example.com commit -qm hooked && " +
		"git branch innocent && git tag v9 && git update-ref refs/heads/main HEAD")
	branch := r.live(c.id).Branch
	const files = "added .claude/settings.json"
	asked := func(name string, more map[string]any) map[string]any {
		t.Helper()
		p := map[string]any{"name": name, "project": "repo", "agent": "osc7501", "sandbox": "off"}
		for k, v := range more {
			p[k] = v
		}
		made := call[api.TaskNewResult](r, "task_new", p)
		var d api.TaskDetail
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			d = call[api.TaskStatusResult](r, "task_status", map[string]any{"task": made.Task.ID}).Task
			if d.Error != "" || time.Now().After(deadline) {
				break
			}
		}
		if !strings.Contains(d.Error, ".claude/settings.json") || d.Tabs[0].Live {
			t.Fatalf("%s: the agent is live: %v, error %q", name, d.Tabs[0].Live, d.Error)
		}
		again := map[string]any{"task": made.Task.ID, "restart": d.Tabs[0].ID}
		r.asksAbout(files, "task_tab", again)
		return again
	}
	asked("from its branch", map[string]any{"base": branch})
	asked("by its commit", map[string]any{"base": r.git(r.repo, "rev-parse", branch)})
	asked("from another branch of its making", map[string]any{"base": "innocent"})
	asked("from a tag", map[string]any{"base": "v9"})
	asked("from a base that it moved", nil)
	call[json.RawMessage](r, "task_archive", map[string]any{"task": c.id, "discard": true})
	r.git(r.repo, "worktree", "add", "-q", filepath.Join(r.home, "again"), branch)
	asked("its branch by hand", map[string]any{"from": filepath.Join(r.home, "again")})

	again := asked("from its branch once more", map[string]any{"base": branch})
	again["acceptFiles"] = true
	call[api.TaskTabResult](r, "task_tab", again)
	made := call[api.TaskNewResult](r, "task_new", map[string]any{"name": "agreed", "project": "repo", "agent": "osc7501", "sandbox": "off", "base": branch})
	if !r.live(made.Task.ID).Tabs[0].Live {
		t.Error("what the owner agreed to is asked about again")
	}
}

// TestCagedAndUncagedInOneFolder: whoever lets an agent in a cage and one without work in the same main checkout is told.
func TestCagedAndUncagedInOneFolder(t *testing.T) {
	r := newRig(t)
	boxed := r.cageTask("boxed", "enforce-fs", map[string]any{"mode": "main"})
	free := call[api.TaskNewResult](r, "task_new", map[string]any{"name": "free", "project": "repo", "agent": "osc7501", "sandbox": "off", "mode": "main"})
	d := r.live(free.Task.ID)
	const word = "only one of the two is in a cage"
	if !strings.Contains(strings.Join(d.Warnings, " "), word) {
		t.Errorf("a task without a cage beside one: %q", d.Warnings)
	}
	call[json.RawMessage](r, "task_stop", map[string]any{"task": boxed.id})
	again := call[api.TaskTabResult](r, "task_tab", map[string]any{"task": boxed.id, "restart": r.tabOf(boxed.id)})
	if !strings.Contains(strings.Join(again.Warnings, " "), word) {
		t.Errorf("an agent in a cage beside one without: %q", again.Warnings)
	}
	call[json.RawMessage](r, "task_stop", map[string]any{"task": boxed.id})
	call[json.RawMessage](r, "task_stop", map[string]any{"task": free.Task.ID})
	alone := call[api.TaskTabResult](r, "task_tab", map[string]any{"task": free.Task.ID, "restart": d.Tabs[0].ID})
	if len(alone.Warnings) != 0 {
		t.Errorf("alone: %q", alone.Warnings)
	}
}
