//go:build clients

package e2eclients

import (
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/fakemodel"
)

// A client that was never started asks first. The task says so, nothing is typed, and the prompt goes out when a person
// has answered.
func TestClaudeFirstRun(t *testing.T) {
	r := newRig(t, options{firstRun: true})
	n := call[api.TaskNewResult](r, "task_new", map[string]any{"name": "First", "project": "repo", "agent": "claude", "prompt": "SAY hello"})
	asks := func(what string) {
		t.Helper()
		d := r.until(n.Task.ID, what, func(d api.TaskDetail) bool {
			return d.WorkState == api.WorkNeedsInput && strings.Contains(strings.ToLower(d.Detail), what)
		})
		if !d.Tabs[0].Live || d.Queued != 1 || len(r.model.Main()) != 0 {
			t.Fatalf("%s: live %v, queued %d, asked %d", what, d.Tabs[0].Live, d.Queued, len(r.model.Main()))
		}
	}
	asks("trust")
	r.showing(n.Task.ID, "❯ No, exit") // an Enter would end it
	w := call[api.TaskWaitResult](r, "task_wait", map[string]any{"task": n.Task.ID, "timeoutMs": patience.Milliseconds()})
	if w.Outcome != api.OutcomeNeedsInput || !strings.Contains(w.Detail, "trust") {
		t.Errorf("wait: %+v", w)
	}
	r.showing(n.Task.ID, "❯ No, exit") // and half a minute later it is still there
	r.keys(n.Task.ID, "\x1b[B")
	r.showing(n.Task.ID, "❯ Yes, I trust")
	r.keys(n.Task.ID, "\r")
	asks("api key")
	r.showing(n.Task.ID, "❯ No")
	r.keys(n.Task.ID, "\x1b[A")
	r.showing(n.Task.ID, "❯ Yes")
	r.keys(n.Task.ID, "\r")
	r.asked("the prompt", func(q fakemodel.Request) bool { return q.Prompt() == "SAY hello" })
	r.wantPrompts("SAY hello")
}

// codex asks for trust only once it was given the first prompt, with the cursor on yes: the Enter of a next prompt would
// agree for the person.
func TestCodexFirstRun(t *testing.T) {
	r := newRig(t, options{firstRun: true})
	n := call[api.TaskNewResult](r, "task_new", map[string]any{"name": "First", "project": "repo", "agent": "codex", "prompt": "SAY hello"})
	d := r.until(n.Task.ID, "asking", func(d api.TaskDetail) bool { return d.WorkState == api.WorkNeedsInput })
	if !strings.Contains(strings.ToLower(d.Detail), "trust") || !d.Tabs[0].Live {
		t.Errorf("asks %q, live %v", d.Detail, d.Tabs[0].Live)
	}
	s := call[api.TaskSendResult](r, "task_send", map[string]any{"task": n.Task.ID, "prompt": "SAY second"})
	if s.Mode != api.SendQueued || len(r.model.Main()) != 0 {
		t.Fatalf("a second prompt was not held back: %+v, asked %d", s, len(r.model.Main()))
	}
	w := call[api.TaskWaitResult](r, "task_wait", map[string]any{"task": n.Task.ID, "timeoutMs": patience.Milliseconds()})
	if w.Outcome != api.OutcomeNeedsInput || len(r.model.Main()) != 0 {
		t.Errorf("wait: %+v, asked %d", w, len(r.model.Main()))
	}
	r.keys(n.Task.ID, "\r")
	r.asked("both prompts", func(q fakemodel.Request) bool { return q.Prompt() == "SAY second" })
	r.wantPrompts("SAY hello", "SAY second")
}
