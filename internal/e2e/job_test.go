package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
)

// job waits until a job has ended.
func (r *rig) job(id string) api.Job {
	r.t.Helper()
	return call[api.JobResult](r, "job_wait", map[string]any{"job": id, "timeoutMs": 60_000}).Job
}

func (r *rig) kinds(id string) string {
	r.t.Helper()
	var kinds []string
	for _, e := range call[api.JobEventsResult](r, "job_events", map[string]any{"job": id}).Events {
		kinds = append(kinds, e.Kind)
	}
	return strings.Join(kinds, " ")
}

// TestJobs: the job of a creation ends when the agent runs, that of a prompt when it was delivered; one that waits in the queue
// can be cancelled, and then is not typed.
func TestJobs(t *testing.T) {
	r := newRig(t)
	n := r.newTask("Jobs", "osc7501", "")
	if j := r.job(n.Job); j.State != api.JobDone || j.TaskID != n.Task.ID || j.Verb != "task_new" {
		t.Errorf("creation: %+v", j)
	}
	if l := call[api.JobLogResult](r, "job_log", map[string]any{"job": n.Job}).Lines; len(l) == 0 || l[0].Line == "" {
		t.Errorf("the creation printed %+v", l)
	}
	busy := call[api.TaskSendResult](r, "task_send", map[string]any{"task": n.Task.ID, "prompt": "#work 5m"})
	if j := r.job(busy.Job); j.State != api.JobDone || r.kinds(j.ID) != "asked delivering ended" {
		t.Errorf("delivery: %+v, %s", j, r.kinds(j.ID))
	}
	r.until(n.Task.ID, "working", func(d api.TaskDetail) bool { return d.WorkState == api.WorkWorking })
	queued := call[api.TaskSendResult](r, "task_send", map[string]any{"task": n.Task.ID, "prompt": "never to be typed"})
	if j := call[api.JobResult](r, "job_get", map[string]any{"job": queued.Job}).Job; j.State != api.JobRunning || j.Ended != "" {
		t.Errorf("queued: %+v", j)
	}
	if j := call[api.JobResult](r, "job_cancel", map[string]any{"job": queued.Job}).Job; j.State != api.JobCancelled || !strings.Contains(j.Message, "cancelled by owner") {
		t.Errorf("cancelled: %+v", j)
	}
	if q := call[api.TaskQueueResult](r, "task_queue", map[string]any{"task": n.Task.ID}); len(q.Prompts) != 0 {
		t.Errorf("it is still queued: %+v", q)
	}
	closed := call[api.TaskSendResult](r, "task_send", map[string]any{"task": n.Task.ID, "prompt": "its task goes"})
	archived := call[api.TaskArchiveResult](r, "task_archive", map[string]any{"task": n.Task.ID, "discard": true})
	if j := r.job(closed.Job); j.State != api.JobCancelled || !strings.Contains(j.Message, "archived") {
		t.Errorf("of an archived task: %+v", j)
	}
	if j := r.job(archived.Job); j.State != api.JobDone {
		t.Errorf("archive: %+v", j)
	}
	if got := r.received("osc7501"); len(got) != 1 {
		t.Errorf("the agent got %q", got)
	}
}

// TestCancelledCreation: a creation that is cancelled leaves a task that says so, no worktree and no branch, and its prompt is
// typed nowhere.
func TestCancelledCreation(t *testing.T) {
	r := newRig(t)
	r.addProject()
	must(t, os.MkdirAll(filepath.Join(r.repo, ".git", "hooks"), 0o755))
	slow := "#!/bin/sh\ntouch '" + filepath.Join(r.home, "began") + "'\nsleep 60\n"
	must(t, os.WriteFile(filepath.Join(r.repo, ".git", "hooks", "post-checkout"), []byte(slow), 0o755))
	n := call[api.TaskNewResult](r, "task_new", map[string]any{"name": "Slow", "project": "repo", "agent": "osc7501", "prompt": "never to be typed", "sandbox": "off"})
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) { // no event tells of a file
		if _, err := os.Stat(filepath.Join(r.home, "began")); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the hook of the checkout did not begin")
		}
	}
	j := call[api.JobResult](r, "job_cancel", map[string]any{"job": n.Job}).Job
	if j = r.job(j.ID); j.State != api.JobCancelled {
		t.Errorf("%+v", j)
	}
	d := r.until(n.Task.ID, "failed", func(d api.TaskDetail) bool { return d.State == api.TaskFailed })
	if !strings.Contains(d.Error, "cancelled") {
		t.Errorf("it says %q", d.Error)
	}
	if _, err := os.Stat(n.Task.Path); n.Task.Path != "" && !os.IsNotExist(err) {
		t.Errorf("the worktree is there: %v", err)
	}
	if out := strings.TrimSpace(r.git(r.repo, "branch", "--list", "feature/*")); out != "" {
		t.Errorf("branches that are left: %s", out)
	}
	if got := r.received("osc7501"); len(got) != 0 {
		t.Errorf("the agent got %q", got)
	}
	if _, err := try[api.JobResult](r, "job_cancel", map[string]any{"job": n.Job}); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("cancelled again: %v", err)
	}
}

// TestStopKeepsTheQueue: a prompt that waits when its agent is stopped is for the one that is started next; it is not typed into
// one that is being ended.
func TestStopKeepsTheQueue(t *testing.T) {
	r := newRig(t)
	n := r.newTask("Stopped", "osc7501", "")
	tab := r.live(n.Task.ID).Tabs[0].ID
	call[api.TaskSendResult](r, "task_send", map[string]any{"task": n.Task.ID, "prompt": "#work 5m"})
	for range 4 {
		r.until(n.Task.ID, "working", func(d api.TaskDetail) bool { return d.WorkState == api.WorkWorking })
		waits := call[api.TaskSendResult](r, "task_send", map[string]any{"task": n.Task.ID, "prompt": "#work 5m"})
		call[api.TaskStopResult](r, "task_stop", map[string]any{"task": n.Task.ID})
		if q := call[api.TaskQueueResult](r, "task_queue", map[string]any{"task": n.Task.ID}); len(q.Prompts) != 1 || q.Prompts[0].Typing {
			t.Fatalf("the queue is %+v", q)
		}
		if j := call[api.JobResult](r, "job_get", map[string]any{"job": waits.Job}).Job; j.State != api.JobRunning {
			t.Fatalf("its job is %+v", j)
		}
		call[api.TaskTabResult](r, "task_tab", map[string]any{"task": n.Task.ID, "restart": tab})
	}
}
