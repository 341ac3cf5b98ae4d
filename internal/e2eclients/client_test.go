//go:build clients

package e2eclients

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/fakemodel"
	"termic/internal/fault"
)

// A task's first prompt arrives exactly and once, its settling is noticed, its answer is read, and so on with the next.
func TestConversation(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		r := newRig(t, options{})
		first := "First line, \"quoted\" and 'so'\n\n\tindented with é, 你好, 👨‍👩‍👧 and \\n as it is\nSAY the first answer, längere Zeile"
		n := r.newTask("Talk", c, first)
		r.wantDone("first prompt", n.Wait)
		r.wantPrompts(c.sees(first))
		if got := r.result("Talk"); got != "the first answer, längere Zeile" {
			t.Errorf("result %q", got)
		}
		s := r.send("Talk", "SAY second", nil)
		r.wantDone("second prompt", s.Wait)
		if s.Mode != api.SendDelivered || !s.Capable {
			t.Errorf("sent: %+v", s)
		}
		if got := r.result("Talk"); got != "second" {
			t.Errorf("result %q", got)
		}
		// A tool call in between changes nothing: the wait ends with the turn.
		tool := map[string]string{"claude": `CALL Read {"file_path":"` + n.Task.Path + `/README.md"}`, "codex": `CALL list_mcp_resources`}[c.id]
		r.wantDone("tool", r.send("Talk", tool+"\nSAY read: {{result}}", nil).Wait)
		if got := r.result("Talk"); !strings.HasPrefix(got, "read: ") || !strings.Contains(got, map[string]string{"claude": "one", "codex": "resources"}[c.id]) {
			t.Errorf("result %q", got)
		}
		r.wantPrompts(c.sees(first), "SAY second", tool+"\nSAY read: {{result}}")
	})
}

// While an agent is at work prompts queue, and come in order, each in a turn of its own.
func TestQueue(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		r := newRig(t, options{})
		n := r.newTask("Queue", c, "")
		want := []string{"HOLD busy\nSAY one", "SAY two", "SAY three"}
		call[api.TaskSendResult](r, "task_send", map[string]any{"task": n.Task.ID, "prompt": want[0]})
		r.asked("first", func(q fakemodel.Request) bool { return q.Prompt() == want[0] })
		r.until(n.Task.ID, "working", func(d api.TaskDetail) bool { return d.WorkState == api.WorkWorking })
		if len(processesWith(r.root)) == 0 && runtime.GOOS == "linux" {
			t.Error("a running client is not found, so a left one would not be either")
		}
		for _, p := range want[1:] {
			if s := call[api.TaskSendResult](r, "task_send", map[string]any{"task": n.Task.ID, "prompt": p}); s.Mode != api.SendQueued {
				t.Errorf("mode %q", s.Mode)
			}
		}
		if d := r.until(n.Task.ID, "queued", func(d api.TaskDetail) bool { return d.Queued == 2 }); d.WorkState != api.WorkWorking {
			t.Errorf("state %s", d.WorkState)
		}
		r.model.Release("busy")
		w := call[api.TaskWaitResult](r, "task_wait", map[string]any{"task": n.Task.ID, "timeoutMs": patience.Milliseconds()})
		if w.Outcome != api.OutcomeDone {
			t.Errorf("wait: %+v", w)
		}
		r.wantPrompts(want...)
		if got := r.result("Queue"); got != "three" {
			t.Errorf("result %q", got)
		}
	})
}

// A question for permission ends a wait, says what is asked, holds the queue back, and is answered by a key.
func TestPermission(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		r := newRig(t, options{args: map[string][]string{"claude": {"--permission-mode", "default"}}})
		ask := map[string]string{"claude": `CALL Bash {"command":"touch asked.txt","description":"make a file"}`,
			"codex": `CALL exec_command {"cmd":"touch asked.txt","sandbox_permissions":"require_escalated","justification":"the test wants it"}`}[c.id] + "\nSAY made it"
		n := r.newTask("Ask", c, ask)
		if n.Wait == nil || n.Wait.Outcome != api.OutcomeNeedsInput || !strings.Contains(n.Wait.Detail, "touch asked.txt") {
			t.Fatalf("wait: %+v", n.Wait)
		}
		s := call[api.TaskSendResult](r, "task_send", map[string]any{"task": n.Task.ID, "prompt": "SAY afterwards"})
		if s.Mode != api.SendQueued {
			t.Errorf("a prompt for an asking agent: %+v", s)
		}
		if got := r.last().Results; len(got) != 0 {
			t.Fatalf("the tool ran before it was allowed: %q", got)
		}
		r.answer(n.Task.ID, "1. Yes", "1") // the report comes before the menu
		r.asked("the queued prompt", func(q fakemodel.Request) bool { return q.Prompt() == "SAY afterwards" })
		r.wantPrompts(ask, "SAY afterwards")
		w := call[api.TaskWaitResult](r, "task_wait", map[string]any{"task": n.Task.ID, "timeoutMs": patience.Milliseconds()})
		if w.Outcome != api.OutcomeDone {
			t.Errorf("wait: %+v", w)
		}
	})
}

// The end of an agent is seen, and is an error to who waits for it. Its conversation is taken up again.
func TestExitAndResume(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		r := newRig(t, options{})
		n := r.newTask("Exit", c, "SAY remember me")
		r.wantDone("first", n.Wait)
		before := r.last()
		call[api.TaskSendResult](r, "task_send", map[string]any{"task": n.Task.ID, "prompt": "HOLD for ever"})
		r.asked("held", func(q fakemodel.Request) bool { return q.Prompt() == "HOLD for ever" })
		waited := make(chan error, 1)
		go func() {
			_, err := try[api.TaskWaitResult](r, "task_wait", map[string]any{"task": n.Task.ID, "timeoutMs": patience.Milliseconds()})
			waited <- err
		}()
		call[api.TaskStopResult](r, "task_stop", map[string]any{"task": n.Task.ID})
		if err := <-waited; fault.CodeOf(err) != fault.Unavailable && fault.CodeOf(err) != fault.Unsupported {
			t.Errorf("a wait on an agent that was stopped: %v", err)
		}
		r.until(n.Task.ID, "inactive", func(d api.TaskDetail) bool { return !d.Tabs[0].Live && d.WorkState == api.WorkInactive })
		r.model.Release("for ever")
		s := r.send(n.Task.ID, "SAY back again", map[string]any{"resume": true})
		r.wantDone("resumed", s.Wait)
		after := r.last()
		if s.Mode != api.SendSpawned || after.Conversation != before.Conversation {
			t.Errorf("mode %q, conversation %q, before %q", s.Mode, after.Conversation, before.Conversation)
		}
		if p := after.Prompts; p[0] != "SAY remember me" || p[len(p)-1] != "SAY back again" {
			t.Errorf("the conversation holds %q", p)
		}
		if got := r.result(n.Task.ID); got != "back again" {
			t.Errorf("result %q", got)
		}
	})
}

// A person who quits the agent by its own keys is seen to have done so.
func TestQuitByKeys(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		r := newRig(t, options{})
		n := r.newTask("Quit", c, "SAY hello")
		r.wantDone("first", n.Wait)
		d := r.quit(n.Task.ID, c)
		if d.Tabs[0].Exit.Code != 0 || d.WorkState != api.WorkInactive {
			t.Errorf("after the exit: %+v, state %s", d.Tabs[0], d.WorkState)
		}
	})
}

// Two tasks at once do not mix.
func TestTwoAtOnce(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		r := newRig(t, options{})
		names := []string{"Left", "Right"}
		for _, name := range names {
			call[api.TaskNewResult](r, "task_new", map[string]any{"name": name, "project": "repo", "agent": c.id, "prompt": "HOLD both\nSAY I am " + name})
		}
		seen := map[string]string{}
		for _, name := range names {
			q := r.asked(name, func(q fakemodel.Request) bool { return q.Prompt() == "HOLD both\nSAY I am "+name })
			if len(q.Prompts) != 1 {
				t.Errorf("%s: prompts %q", name, q.Prompts)
			}
			seen[q.Conversation] = name
		}
		if len(seen) != 2 {
			t.Errorf("one conversation for both: %v", seen)
		}
		r.model.Release("both")
		for _, name := range names {
			r.until(r.idOf(name), "done", func(d api.TaskDetail) bool { return d.WorkState == api.WorkDone })
			r.wantDone(name, r.send(name, "SAY still "+name, nil).Wait)
			if got := r.result(name); got != "still "+name {
				t.Errorf("result of %s: %q", name, got)
			}
			r.wantPrompts("HOLD both\nSAY I am "+name, "SAY still "+name)
		}
	})
}

func (r *rig) idOf(name string) string {
	r.t.Helper()
	all := call[api.TaskListResult](r, "task_list", nil).Tasks
	i := slices.IndexFunc(all, func(t api.TaskSummary) bool { return t.Name == name })
	if i < 0 {
		r.t.Fatalf("there is no task %q", name)
	}
	return all[i].ID
}

// The answer that is read right after a wait is the one that was waited for, however the client writes its transcript.
func TestResultIsTheNewest(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		r := newRig(t, options{})
		n := r.newTask("Newest", c, "")
		for i := range 20 {
			want := fmt.Sprintf("answer %d", i)
			r.wantDone(want, r.send(n.Task.ID, "SAY "+want, nil).Wait)
			if got := r.result(n.Task.ID); got != want {
				t.Fatalf("result %q, want %q", got, want)
			}
		}
	})
}
