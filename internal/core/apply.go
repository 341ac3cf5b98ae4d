package core

import (
	"context"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/store"
	"termic/internal/worktree"
	"termic/settings"
)

// TaskApply is the verb task_apply: everything that the task has over its base arrives uncommitted in the project's
// main checkout. The task itself is left as it is, and applying again changes nothing more.
func (c *Core) TaskApply(ctx context.Context, call *Call, p api.TaskApplyParams) (api.TaskApplyResult, error) {
	release, err := c.hold(ctx, call.Task)
	if err != nil {
		return api.TaskApplyResult{}, err
	}
	defer release()
	t, project, err := c.applicable(ctx, call.Task)
	if err != nil {
		return api.TaskApplyResult{}, err
	}
	var asked func([]string) error
	if !p.AcceptFiles && (t.FromCage || c.written(ctx, t)) {
		then, agree := "they arrive in the main checkout", "apply "+shellWord(t.Name)+" --accept-files"
		if err := c.refuseSelfRun(ctx, t, then, agree); err != nil {
			return api.TaskApplyResult{}, err
		}
		// Its agent may be writing: what was looked at need not be what arrives.
		asked = func(paths []string) error { return refuseArriving(t, paths, then, agree) }
	}
	if p.AcceptFiles {
		if err := c.trust(t.ProjectID, t.BaseCommit); err != nil {
			return api.TaskApplyResult{}, err
		}
	}
	releaseMain, err := c.hold(ctx, "main:"+project.ID) // two tasks must not write one checkout at once
	if err != nil {
		return api.TaskApplyResult{}, err
	}
	defer releaseMain()
	if err := call.still(partTask+t.ID, taskFacts(t, project)); err != nil {
		return api.TaskApplyResult{}, err
	}
	if asked == nil && !call.isBound() {
		return c.apply(ctx, t, project, nil)
	}
	return c.apply(ctx, t, project, func(paths []string, digest string) error {
		if asked != nil {
			if err := asked(paths); err != nil {
				return err
			}
		}
		return call.still(partApply+t.ID, digest)
	})
}

func (c *Core) apply(ctx context.Context, t store.Task, project store.Project, arriving func([]string, string) error) (api.TaskApplyResult, error) {
	repo, err := c.repoOf(ctx, project)
	if err != nil {
		return api.TaskApplyResult{}, err
	}
	err = c.store.Write(ctx, func(tx *store.Tx) error {
		return beginIntent(ctx, tx, intentApply, t.ID, applyIntent{Task: t.ID, Root: project.RootPath})
	})
	if err != nil {
		return api.TaskApplyResult{}, err
	}
	// A caller that goes away must not leave half of a change in the main checkout.
	done := context.WithoutCancel(ctx)
	applied, err := c.repoFor(repo, t).ApplySince(done, t.Path, baseOf(t), t.AppliedTree, arriving)
	if err == nil && applied.Tree != t.AppliedTree {
		if _, err := c.store.UpdateTask(done, t.ID, func(t *store.Task) error { t.AppliedTree = applied.Tree; return nil }); err != nil {
			c.log.Error("what was applied could not be noted", "task", t.ID, "err", err)
		}
	}
	if ierr := c.store.EndIntent(done, intentID(intentApply, t.ID)); ierr != nil {
		c.log.Error("intent could not be ended", "task", t.ID, "err", ierr)
	}
	c.beacon.change()
	return api.TaskApplyResult{TaskID: t.ID, TrackedFiles: applied.Tracked, UntrackedFiles: applied.Untracked, Conflicts: applied.Conflicts}, err
}

// TaskRename is the verb task_rename. Branch and folder keep their names.
func (c *Core) TaskRename(ctx context.Context, call *Call, p api.TaskRenameParams) (api.TaskRenameResult, error) {
	if err := checkName("task", p.Name); err != nil {
		return api.TaskRenameResult{}, err
	}
	if _, err := worktree.Slug(p.Name); err != nil {
		return api.TaskRenameResult{}, err
	}
	c.createMu.Lock()
	defer c.createMu.Unlock()
	var old string
	_, err := c.store.UpdateTask(ctx, call.Task, func(t *store.Task) error {
		old, t.Name = t.Name, p.Name
		return nil
	})
	if err != nil {
		return api.TaskRenameResult{}, err
	}
	c.beacon.change()
	summary, err := c.summary(ctx, call.Caller, call.Task)
	return api.TaskRenameResult{Task: summary, OldName: old}, err
}

// Path is the verb path. While the task is being created it waits: a folder that is named is there.
func (c *Core) Path(ctx context.Context, call *Call, _ api.PathParams) (api.PathResult, error) {
	for {
		_, changed := c.beacon.watch()
		t, err := c.store.Task(ctx, call.Task)
		if err != nil {
			return api.PathResult{}, err
		}
		if t.State != api.TaskCreating {
			return api.PathResult{TaskID: t.ID, Path: t.Path}, c.usableTree(t)
		}
		if err := c.pause(ctx, changed, time.Time{}); err != nil {
			return api.PathResult{}, err
		}
	}
}

// TaskOpen is the verb task_open.
func (c *Core) TaskOpen(_ context.Context, call *Call, _ api.TaskOpenParams) (api.TaskOpenResult, error) {
	return api.TaskOpenResult{TaskID: call.Task, Raised: c.show(call.Task)}, nil
}

// show asks the window to come forward with a task, and reports whether there is a window.
func (c *Core) show(task string) bool {
	c.mu.Lock()
	c.focus = task
	c.mu.Unlock()
	c.beacon.change()
	return c.raise != nil && c.raise()
}

// takeFocus gives the task to show, once.
func (c *Core) takeFocus() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.focus
	c.focus = ""
	return f
}

// Quit is the verb quit. Without commit it only tells what would end.
func (c *Core) Quit(_ context.Context, _ *Call, p api.QuitParams) (api.QuitResult, error) {
	tasks, agents, working := map[string]bool{}, 0, map[string]bool{}
	for _, l := range c.liveTabs("") {
		if l.det == nil {
			continue
		}
		agents++
		tasks[l.task.ID] = true
		if s, _ := l.workState(); s == api.WorkWorking {
			working[l.task.ID] = true
		}
	}
	result := api.QuitResult{Running: true, TasksWithAgents: len(tasks), LiveAgents: agents, WorkingTasks: len(working), Quitting: p.Commit}
	if p.Commit {
		if c.quit == nil {
			return result, fault.New(fault.Unsupported, "This app cannot be ended by a verb")
		}
		c.quit()
	}
	return result, nil
}

// SettingsGet is the verb settings_get.
func (c *Core) SettingsGet(_ context.Context, _ *Call, p api.SettingsGetParams) (api.SettingsResult, error) {
	return c.settingsResult(p.Key)
}

func (c *Core) settingsResult(key string) (api.SettingsResult, error) {
	result := api.SettingsResult{File: c.settings.Path(), Settings: c.settings.Values(), ReadOnly: c.settings.ReadOnly(), Problem: c.settings.Problem(), Notes: c.settings.Note(), Key: key}
	if key == "" {
		return result, nil
	}
	value, err := c.settings.Value(key)
	if err != nil {
		return api.SettingsResult{}, err
	}
	result.Value, result.Settings = value, map[string]any{key: value}
	return result, nil
}

// SettingsSet is the verb settings_set.
func (c *Core) SettingsSet(ctx context.Context, _ *Call, p api.SettingsSetParams) (api.SettingsResult, error) {
	value, err := settings.ParseValue(p.Key, p.Value)
	if err != nil {
		return api.SettingsResult{}, err
	}
	if err := c.checkGrants(p.Key, value); err != nil {
		return api.SettingsResult{}, err
	}
	if err := c.settings.Patch(ctx, map[string]any{p.Key: value}); err != nil {
		return api.SettingsResult{}, err
	}
	return c.settingsResult(p.Key)
}

// SettingsReset is the verb settings_reset. Taking out what is not in the file succeeds and changes nothing.
func (c *Core) SettingsReset(ctx context.Context, _ *Call, p api.SettingsResetParams) (api.SettingsResult, error) {
	if err := c.settings.Patch(ctx, map[string]any{p.Key: nil}); err != nil {
		return api.SettingsResult{}, err
	}
	result, err := c.settingsResult(p.Key)
	if fault.CodeOf(err) == fault.NotFound { // it has no default: nothing of it is in force any more
		return api.SettingsResult{File: c.settings.Path(), Settings: map[string]any{}, ReadOnly: c.settings.ReadOnly(),
			Problem: c.settings.Problem(), Notes: c.settings.Note(), Key: p.Key}, nil
	}
	return result, err
}
