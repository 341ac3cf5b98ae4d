package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/fault"
)

// The main job: a repository, a task, a prompt, its settling, its diff, its result in the main checkout, its end, and
// its return.
func TestMainJob(t *testing.T) {
	r := newRig(t)
	n := r.newTask("Say hello", "osc7501", "#write hello.txt hi there\n#work 200ms\n#say done")
	if n.Wait == nil || n.Wait.Outcome != api.OutcomeDone {
		t.Fatalf("wait: %+v\nlog:\n%s", n.Wait, r.tail())
	}
	if n.Task.Branch != "feature/say-hello" || n.Job == "" {
		t.Errorf("branch %q, job %q", n.Task.Branch, n.Job)
	}
	d := call[api.TaskDiffResult](r, "task_diff", map[string]any{"task": "Say hello", "full": true})
	if d.FilesChanged != 1 || d.Untracked != 1 || d.Insertions != 1 || !strings.Contains(d.Diff, "+hi there") {
		t.Fatalf("diff: %+v", d)
	}
	a := call[api.TaskApplyResult](r, "task_apply", map[string]any{"task": "Say hello"})
	if a.UntrackedFiles != 1 || len(a.Conflicts) != 0 {
		t.Errorf("apply: %+v", a)
	}
	if b, err := os.ReadFile(filepath.Join(r.repo, "hello.txt")); err != nil || string(b) != "hi there\n" {
		t.Fatalf("main checkout: %q, %v", b, err)
	}
	if log := call[api.TaskLogResult](r, "task_log", map[string]any{"task": "Say hello", "plain": true}); !strings.Contains(log.Data, "done") {
		t.Errorf("log: %q", log.Data)
	}
	must(t, os.WriteFile(filepath.Join(n.Task.Path, "only-here.txt"), []byte("x\n"), 0o600)) // what was applied is elsewhere too
	f := refused(r, fault.NeedsConsent, "task_archive", map[string]any{"task": "Say hello"})
	if losses, ok := f.Data["losses"].([]api.Loss); !ok || !slices.ContainsFunc(losses, func(l api.Loss) bool { return l.Kind == "untracked" }) {
		t.Errorf("losses: %v", f.Data)
	}
	if !r.live(n.Task.ID).Tabs[0].Live {
		t.Error("a refused archive ended the agent")
	}
	ar := call[api.TaskArchiveResult](r, "task_archive", map[string]any{"task": "Say hello", "discard": true, "deleteBranch": true})
	if ar.KilledAgents != 1 || !strings.HasPrefix(ar.BackupRef, "refs/termic/backup/") {
		t.Errorf("archive: %+v", ar)
	}
	if _, err := os.Stat(n.Task.Path); !os.IsNotExist(err) {
		t.Errorf("the worktree is still there: %v", err)
	}
	refused(r, fault.NotFound, "task_status", map[string]any{"task": "Say hello"})
	call[api.TaskRestoreResult](r, "task_restore", map[string]any{"task": "Say hello"})
	if b, err := os.ReadFile(filepath.Join(n.Task.Path, "hello.txt")); err != nil || string(b) != "hi there\n" {
		t.Errorf("restored: %q, %v", b, err)
	}
}

// Every manner of the fake agent gets the exact bytes of its prompts once, and its settling is noticed.
func TestManners(t *testing.T) {
	prompt := "#work 150ms\nline two\twith a tab, \"quotes\" and \u00e9\u4f60\U0001f468\u200d\U0001f469"
	for _, m := range manners {
		if m == "modal" || m == "trust" || strings.HasSuffix(m, "exits") {
			continue // have tests of their own
		}
		t.Run(m, func(t *testing.T) {
			r := newRig(t)
			n := r.newTask("T", idOf(m), prompt)
			if n.Wait == nil || n.Wait.Outcome != api.OutcomeDone && m != "silent" && m != "osc9" {
				t.Errorf("wait: %+v", n.Wait)
			}
			s := call[api.TaskSendResult](r, "task_send", map[string]any{"task": "T", "prompt": "second", "wait": true, "timeoutMs": 60000})
			if s.Wait == nil || s.Wait.Outcome == api.OutcomeNotDelivered || s.Wait.Outcome == api.OutcomeTimeout {
				t.Errorf("send: %+v %+v", s, s.Wait)
			}
			if got := r.received(m); !slices.Equal(got, []string{prompt, "second"}) {
				t.Errorf("received %q", got)
			}
			if t.Failed() {
				t.Logf("screen:\n%s", call[api.TaskLogResult](r, "task_log", map[string]any{"task": "T", "plain": true}).Data)
			}
		})
	}
}

// T10: a prompt is never typed into a menu; the task says what it waits for, and the prompt stays queued.
func TestDialogIsNotTypedInto(t *testing.T) {
	for _, m := range []string{"modal", "trust"} {
		t.Run(m, func(t *testing.T) {
			r := newRig(t)
			r.addProject()
			n := call[api.TaskNewResult](r, "task_new", map[string]any{"name": "D", "project": "repo", "agent": m, "prompt": "hello"})
			d := r.until(n.Task.ID, "asking", func(d api.TaskDetail) bool { return d.WorkState == api.WorkNeedsInput })
			if d.Queued != 1 || !d.Tabs[0].Live || len(r.received(m)) != 0 {
				t.Errorf("queued %d, live %v, received %q", d.Queued, d.Tabs[0].Live, r.received(m))
			}
			w := call[api.TaskWaitResult](r, "task_wait", map[string]any{"task": "D", "timeoutMs": 40000})
			if w.Outcome != api.OutcomeNeedsInput {
				t.Errorf("wait: %+v", w)
			}
		})
	}
}

// A busy agent's prompts queue, and come in order.
func TestQueue(t *testing.T) {
	r := newRig(t)
	n := r.newTask("Q", "osc7501", "")
	want := []string{"#work 5s\na", "b", "c"}
	call[api.TaskSendResult](r, "task_send", map[string]any{"task": "Q", "prompt": want[0]})
	r.until(n.Task.ID, "working", func(d api.TaskDetail) bool { return d.WorkState == api.WorkWorking })
	for _, p := range want[1:] {
		if s := call[api.TaskSendResult](r, "task_send", map[string]any{"task": "Q", "prompt": p}); s.Mode != api.SendQueued {
			t.Errorf("mode %q", s.Mode)
		}
	}
	w := call[api.TaskWaitResult](r, "task_wait", map[string]any{"task": "Q"})
	if w.Outcome != api.OutcomeDone {
		t.Errorf("wait: %+v", w)
	}
	if got := r.received("osc7501"); !slices.Equal(got, want) {
		t.Errorf("received %q", got)
	}
}

// The end of an agent is seen at once, and what it was waited for is an error, not an answer.
func TestAgentThatExits(t *testing.T) {
	r := newRig(t)
	n := r.newTask("X", "osc7501", "")
	_, err := try[api.TaskSendResult](r, "task_send", map[string]any{"task": "X", "prompt": "#work 100ms\n#exit 3", "wait": true})
	if fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("wait on an agent that exits: %v", err)
	}
	d := r.until(n.Task.ID, "ended", func(d api.TaskDetail) bool { return !d.Tabs[0].Live })
	if d.Tabs[0].Exit == nil || d.Tabs[0].Exit.Code != 3 || d.WorkState != api.WorkInactive {
		t.Errorf("after exit: %+v state %s", d.Tabs[0], d.WorkState)
	}
	refused(r, fault.Conflict, "task_send", map[string]any{"task": "X", "prompt": "more"})
	s := call[api.TaskSendResult](r, "task_send", map[string]any{"task": "X", "prompt": "again", "resume": true, "wait": true})
	if s.Mode != api.SendSpawned || s.Wait.Outcome != api.OutcomeDone {
		t.Errorf("resume: %+v", s)
	}
	d = r.live(n.Task.ID)
	if d.Tabs[0].SessionID == "" || s.TabID != d.Tabs[0].ID || len(d.Tabs) != 1 {
		t.Errorf("resumed in another tab or conversation: %+v", d.Tabs)
	}
}

// An agent that takes the terminal away while it is typed into did not get the prompt.
func TestNotDelivered(t *testing.T) {
	r := newRig(t)
	r.addProject()
	n := call[api.TaskNewResult](r, "task_new", map[string]any{"name": "N", "project": "repo", "agent": "osc7501_exits", "prompt": "hello", "wait": true})
	if n.Wait.Outcome != api.OutcomeNotDelivered || n.Wait.Detail == "" {
		t.Errorf("wait: %+v", n.Wait)
	}
	if got := r.received("osc7501,exits"); len(got) != 0 {
		t.Errorf("received %q", got)
	}
}
