package e2e

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"termic/internal/api"
	"termic/internal/control"
)

// isLost reports that nobody knows how a call ended, since the app went away during it.
func isLost(err error) bool {
	return errors.Is(err, control.ErrLost) || errors.Is(err, control.ErrNotRunning) || errors.Is(err, os.ErrNotExist)
}

// check compares what the app says after a kill with what was acknowledged before it, and with what git, the file
// system and the kernel say by themselves.
func (k *killer) check() {
	k.t.Helper()
	ctx := context.Background()
	var live, archived api.TaskListResult
	must(k.t, k.ask(ctx, "task_list", map[string]any{"quiet": true}, &live))
	must(k.t, k.ask(ctx, "task_list", map[string]any{"archived": true}, &archived))
	rows := map[string]api.TaskSummary{}
	for _, t := range append(live.Tasks, archived.Tasks...) {
		rows[t.ID] = t
		if t.State == api.TaskCreating {
			k.t.Errorf("task %s is still being created after a restart", t.Name)
		}
	}
	for _, w := range k.workers {
		k.checkTasks(ctx, w, rows)
	}
	k.checkTrees(rows)
	k.checkPrompts()
	k.checkProcesses(rows)
	k.checkRest(ctx)
}

// checkTasks compares the tasks of a worker, and settles what was uncertain.
func (k *killer) checkTasks(ctx context.Context, w *worker, rows map[string]api.TaskSummary) {
	byName := map[string]api.TaskSummary{}
	for _, t := range rows {
		byName[t.Name] = t
	}
	for name, t := range w.tasks {
		if t.maybeMade {
			row, made := byName[t.name]
			if !made {
				delete(w.tasks, name)
				continue
			}
			t.id, t.maybeMade = row.ID, false
		}
		row, ok := rows[t.id]
		if !ok {
			k.t.Errorf("task %s (%s) was acknowledged and is gone", t.name, t.id)
			continue
		}
		if row.Name != t.name && row.Name != t.maybeName {
			k.t.Errorf("task %s is called %q", t.name, row.Name)
		}
		t.name, t.maybeName = row.Name, ""
		if is := row.State == api.TaskArchived; is != t.archived && !t.maybeFlip {
			k.t.Errorf("task %s: archived %v, acknowledged %v", t.name, is, t.archived)
		}
		t.archived, t.maybeFlip = row.State == api.TaskArchived, false
		k.checkTabs(ctx, t)
		if row.State == api.TaskFailed {
			k.forget(ctx, w, name, t)
		}
	}
}

func (k *killer) checkTabs(ctx context.Context, t *known) {
	if t.archived {
		return
	}
	var s api.TaskStatusResult
	must(k.t, k.ask(ctx, "task_status", map[string]any{"task": t.id}, &s))
	have := map[string]bool{}
	for _, tab := range s.Task.Tabs {
		have[tab.ID] = true
		if tab.Live {
			k.t.Errorf("task %s: a tab is live right after a restart", t.name)
		}
	}
	for id := range t.tabs {
		if !have[id] && id != t.maybeClose {
			k.t.Errorf("task %s: tab %s was acknowledged and is gone", t.name, id)
		}
		if !have[id] {
			delete(t.tabs, id)
		}
	}
	t.maybeClose = ""
}

// forget archives a task whose creation was cut short: that must work like any other archive.
func (k *killer) forget(ctx context.Context, w *worker, name string, t *known) {
	var out api.TaskArchiveResult
	if err := k.ask(ctx, "task_archive", map[string]any{"task": t.id}, &out); err != nil {
		k.t.Errorf("the failed task %s cannot be archived: %v", t.name, err)
	}
	delete(w.tasks, name)
}

// checkTrees: each live task has its worktree and branch, and there is no worktree and no branch of nobody's.
func (k *killer) checkTrees(rows map[string]api.TaskSummary) {
	trees := map[string]bool{}
	for _, line := range strings.Split(k.git(k.repo, "worktree", "list", "--porcelain"), "\n") {
		if path, ok := strings.CutPrefix(line, "worktree "); ok && path != k.repo {
			trees[path] = true
		}
	}
	branches := map[string]bool{}
	for _, b := range strings.Fields(k.git(k.repo, "for-each-ref", "--format=%(refname:short)", "refs/heads")) {
		branches[b] = b != "main"
	}
	for _, t := range rows {
		_, err := os.Stat(filepath.Join(t.Path, ".git"))
		there := err == nil
		switch t.State {
		case api.TaskLive:
			if !trees[t.Path] || !there || !branches[t.Branch] {
				k.t.Errorf("live task %s: listed by git %v, folder %v, branch %q %v", t.Name, trees[t.Path], there, t.Branch, branches[t.Branch])
			}
			delete(trees, t.Path)
		case api.TaskArchived, api.TaskFailed:
			// Its path may belong to a newer task by now, which the live case checks.
		default:
			k.t.Errorf("task %s is in state %q", t.Name, t.State)
		}
		branches[t.Branch] = false
	}
	for path := range trees {
		k.t.Errorf("the worktree %s belongs to no task", path)
	}
	for b, orphan := range branches {
		if orphan {
			k.t.Errorf("the branch %s belongs to no task", b)
		}
	}
}

// checkPrompts: what was said to be delivered arrived, and nothing arrived twice.
func (k *killer) checkPrompts() {
	times := map[string]int{}
	for _, p := range k.received("osc7501") {
		times[p]++
	}
	for p, n := range times {
		if n > 1 {
			k.t.Errorf("the prompt %q arrived %d times", p, n)
		}
	}
	for _, w := range k.workers {
		for _, t := range w.tasks {
			for p := range t.sent {
				if times[p] != 1 {
					k.t.Errorf("the prompt %q was said to be delivered and arrived %d times", p, times[p])
				}
			}
			t.maybeSent = ""
		}
	}
}

// checkProcesses: no program of a task outlived the killed app.
func (k *killer) checkProcesses(rows map[string]api.TaskSummary) {
	procs, err := filepath.Glob("/proc/[0-9]*/environ")
	must(k.t, err)
	for _, p := range procs {
		env, err := os.ReadFile(p)
		if err != nil {
			continue // gone, or somebody else's
		}
		for _, v := range strings.Split(string(env), "\x00") {
			if id, ok := strings.CutPrefix(v, "TERMIC_TASK_ID="); ok && rows[id].ID != "" {
				k.t.Errorf("%s of task %s outlived the app", filepath.Dir(p), rows[id].Name)
			}
		}
	}
}

// checkRest: database, ledger and settings.
func (k *killer) checkRest(ctx context.Context) {
	var ledger api.LedgerResult
	must(k.t, k.ask(ctx, "ledger", map[string]any{"limit": 1}, &ledger))
	if ledger.Chain != "whole" {
		k.t.Errorf("ledger: %s", ledger.Chain)
	}
	var doctor api.DoctorResult
	must(k.t, k.ask(ctx, "doctor", nil, &doctor))
	for _, f := range doctor.Findings {
		if f.Level == "fail" {
			k.t.Errorf("doctor: %s: %s", f.Name, f.Detail)
		}
	}
	w := k.workers[0]
	if w.size == 0 && w.maybe == 0 {
		return
	}
	var s api.SettingsResult
	must(k.t, k.ask(ctx, "settings_get", map[string]any{"key": "terminal.font_size"}, &s))
	got, _ := s.Value.(float64)
	if int(got) != w.size && int(got) != w.maybe {
		k.t.Errorf("terminal.font_size is %v, acknowledged %d, under way %d", s.Value, w.size, w.maybe)
	}
	w.size, w.maybe = int(got), 0
}
