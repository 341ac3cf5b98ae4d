package core

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/ptyhost"
	"termic/internal/store"
	"termic/internal/worktree"
)

// remnantGrace is how long leftovers of a killed app have between TERM and KILL.
const remnantGrace = 1500 * time.Millisecond

// reconcile mends what an app that was killed left behind: processes, half-done acts, jobs and prompts under way. It
// runs before any verb does.
func (c *Core) reconcile(ctx context.Context) error {
	intents, err := c.store.Intents(ctx)
	if err != nil {
		return err
	}
	if err := c.endLeftovers(ctx, wasKilled(intents)); err != nil {
		return err
	}
	prompts, err := c.store.InterruptPrompts(ctx)
	if err != nil {
		return err
	}
	if n := len(prompts); n > 0 {
		c.notice("Termic was ended while %s being delivered. Look at the agent before sending again.", wasWere(n, "prompt"))
	}
	if err := c.staleAtStart(ctx); err != nil {
		return err
	}
	if err := c.firingsAtStart(ctx); err != nil {
		return err
	}
	jobs, err := c.store.InterruptRunningJobs(ctx)
	if err != nil {
		return err
	}
	if jobs > 0 {
		c.log.Info("jobs were interrupted by the end of the app", "count", jobs)
	}
	for _, in := range intents {
		if in.Kind == intentRun {
			continue
		}
		if err := c.settle(ctx, in); err != nil {
			// Kept for the next start: a repository on a disk that is not mounted must not stop the app.
			c.log.Error("an interrupted act could not be settled", "intent", in.ID, "err", err)
			c.notice("An act on a task was interrupted and could not be settled: %s", sentence(err))
		}
	}
	return c.store.Write(ctx, func(tx *store.Tx) error {
		if err := tx.EndIntent(ctx, intentRun); err != nil {
			return err
		}
		_, err := tx.BeginIntent(ctx, store.Intent{ID: intentRun, Kind: intentRun, Payload: []byte("{}")})
		return err
	})
}

// wasKilled reports that the app before this one did not come to end its run.
func wasKilled(intents []store.Intent) bool {
	return slices.ContainsFunc(intents, func(in store.Intent) bool { return in.Kind == intentRun })
}

func wasWere(n int, noun string) string {
	if n == 1 {
		return countOf(n, noun) + " was"
	}
	return countOf(n, noun) + " were"
}

func (c *Core) notice(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notices = append(c.notices, fmt.Sprintf(format, args...))
}

// endLeftovers ends programs that survived a killed app, found by their recorded session or by the task id in their
// environment. After a kill the second way is always looked at: a program may have been started whose row was not yet
// written.
func (c *Core) endLeftovers(ctx context.Context, killed bool) error {
	rows, err := c.store.Terminals(ctx)
	if err != nil {
		return err
	}
	if len(rows) == 0 && !killed {
		return nil
	}
	tasks, err := c.store.Tasks(ctx, store.TaskFilter{})
	if err != nil {
		return err
	}
	remnants := make([]ptyhost.Remnant, len(rows))
	for i, r := range rows {
		remnants[i] = ptyhost.Remnant{ID: r.TabID, Pid: r.PID, Pgid: r.PGID, Sid: r.SID, Start: r.StartTicks, Boot: r.BootID}
	}
	markers := make([]string, len(tasks))
	for i, t := range tasks {
		markers[i] = "TERMIC_TASK_ID=" + t.ID
	}
	ended, err := ptyhost.EndRemnants(ctx, remnants, markers, remnantGrace)
	if err != nil {
		c.log.Error("leftovers of an earlier run could not be ended", "err", err)
		c.notice("Programs of an earlier run could not be ended: %s", err)
	}
	if ended > 0 {
		c.log.Info("ended leftovers of an earlier run", "processes", ended)
	}
	for _, r := range rows {
		if err := c.store.DeleteTerminal(ctx, r.ID); err != nil {
			return err
		}
	}
	return nil
}

// settle finishes or undoes one act.
func (c *Core) settle(ctx context.Context, in store.Intent) error {
	switch in.Kind {
	case intentCreate:
		return c.settleCreate(ctx, in)
	case intentArchive:
		return c.settleArchive(ctx, in)
	case intentRestore:
		return c.settleRestore(ctx, in)
	case intentApply:
		return c.settleApply(ctx, in)
	case intentDiscard:
		return c.settleDiscard(ctx, in)
	}
	return fault.New(fault.Internal, "There is an unfinished act of an unknown kind %q", in.Kind)
}

// taskOfIntent reads the task of an intent; ok is false when there is none any more.
func (c *Core) taskOfIntent(ctx context.Context, id string) (t store.Task, p store.Project, ok bool, err error) {
	if t, err = c.store.Task(ctx, id); fault.CodeOf(err) == fault.NotFound {
		return t, p, false, nil
	}
	if err == nil {
		p, err = c.store.Project(ctx, t.ProjectID)
	}
	return t, p, err == nil, err
}

// settleCreate undoes a creation: no agent ever ran in that worktree, so what lies there was put by git alone. What git
// would call work all the same is kept by a backup ref.
func (c *Core) settleCreate(ctx context.Context, in store.Intent) error {
	var i createIntent
	if err := json.Unmarshal(in.Payload, &i); err != nil {
		return err
	}
	t, project, ok, err := c.taskOfIntent(ctx, i.Task)
	if err != nil {
		return err
	}
	if ok && i.Mode == "worktree" {
		if err := c.undoCreate(ctx, t, project, i); err != nil {
			return err
		}
	}
	return c.store.Write(ctx, func(tx *store.Tx) error {
		if ok {
			if err := failQueue(ctx, tx, t.ID, "Termic was ended while the task was being created."); err != nil {
				return err
			}
			if _, err := tx.UpdateTask(ctx, t.ID, func(t *store.Task) error {
				t.State, t.Error = api.TaskFailed, "Termic was ended while the task was being created. Archive it and create it again."
				return nil
			}); err != nil {
				return err
			}
		}
		return tx.EndIntent(ctx, in.ID)
	})
}

// undoCreate removes the worktree that a creation had begun. The folder was free when the creation was accepted, so a
// worktree that is registered there is the one that was begun.
func (c *Core) undoCreate(ctx context.Context, t store.Task, project store.Project, i createIntent) error {
	repo, err := c.repoOf(ctx, project)
	if err != nil {
		return err
	}
	left, err := repo.Missing(ctx, t.Path)
	switch {
	case err != nil:
		return err
	case left.Registered && left.Gone:
		err = repo.Forget(ctx, t.Path)
	case left.Registered:
		_, err = repo.Remove(ctx, worktree.RemoveOptions{Path: t.Path, Branch: left.Branch, ID: t.ID, Consent: true,
			DeleteBranch: i.Branch != "" && i.Branch == left.Branch, ParentsUpTo: c.settings.Get().Tasks.Dir})
		return err
	default:
		_ = os.Remove(t.Path) // only an empty folder goes; anything else is not ours to judge
	}
	if err != nil || i.Branch == "" {
		return err
	}
	return repo.DropBranch(ctx, i.Branch, i.Commit)
}

// failQueue ends every prompt that waits for a task.
func failQueue(ctx context.Context, tx *store.Tx, taskID, why string) error {
	tabs, err := tx.Tabs(ctx, taskID)
	if err != nil {
		return err
	}
	for _, tab := range tabs {
		prompts, err := tx.Prompts(ctx, tab.ID)
		if err != nil {
			return err
		}
		for _, p := range prompts {
			if err := tx.SetPromptState(ctx, p.ID, store.PromptFailed, why); err != nil {
				return err
			}
		}
	}
	return nil
}

// settleArchive finishes an archive whose worktree is gone already, and otherwise drops the wish: the task is live.
func (c *Core) settleArchive(ctx context.Context, in store.Intent) error {
	var i archiveIntent
	if err := json.Unmarshal(in.Payload, &i); err != nil {
		return err
	}
	t, project, ok, err := c.taskOfIntent(ctx, i.Task)
	if err != nil {
		return err
	}
	if !ok || t.Archived() {
		return c.store.EndIntent(ctx, in.ID)
	}
	if !ownsTree(t, project) {
		return c.archived(ctx, t.ID, "")
	}
	if _, err := os.Stat(t.Path); !os.IsNotExist(err) {
		return c.store.EndIntent(ctx, in.ID)
	}
	repo, err := c.repoOf(ctx, project)
	if err != nil {
		return err
	}
	kept, err := repo.Backups(ctx, t.ID)
	if err != nil {
		return err
	}
	if err := repo.Forget(ctx, t.Path); err != nil && fault.CodeOf(err) != fault.NotFound {
		return err
	}
	if len(kept) > i.Backups {
		return c.archived(ctx, t.ID, kept[len(kept)-1])
	}
	return c.archived(ctx, t.ID, i.Head)
}

// settleRestore takes a restore as done when the worktree is there, and as not begun otherwise.
func (c *Core) settleRestore(ctx context.Context, in store.Intent) error {
	var i createIntent
	if err := json.Unmarshal(in.Payload, &i); err != nil {
		return err
	}
	t, project, ok, err := c.taskOfIntent(ctx, i.Task)
	if err != nil {
		return err
	}
	if !ok || !t.Archived() {
		return c.store.EndIntent(ctx, in.ID)
	}
	if t.IsMain || project.NonGit {
		return c.restored(ctx, t.ID, worktree.Created{Path: t.Path, Branch: t.Branch})
	}
	repo, err := c.repoOf(ctx, project)
	if err != nil {
		return err
	}
	if gone, err := repo.Missing(ctx, t.Path); err != nil || gone.Gone || !gone.Registered {
		if err != nil {
			return err
		}
		return c.store.EndIntent(ctx, in.ID)
	}
	c.notice("Restoring the task %q was interrupted. Its worktree is there; check it against %s.", t.Name, orElse(t.BackupRef, "its branch"))
	return c.restored(ctx, t.ID, worktree.Created{Path: t.Path, Branch: t.Branch, Warnings: []string{
		"Restoring this task was interrupted; compare it with " + orElse(t.BackupRef, "its branch") + "."}})
}

// settleApply can only tell: the main checkout is the person's, and git leaves it readable at any moment.
func (c *Core) settleApply(ctx context.Context, in store.Intent) error {
	var i applyIntent
	if err := json.Unmarshal(in.Payload, &i); err != nil {
		return err
	}
	name := i.Task
	if t, _, ok, err := c.taskOfIntent(ctx, i.Task); err == nil && ok {
		name = t.Name
	}
	c.notice("Applying the task %q to %s was interrupted. Look at `git status` there; the task itself is untouched.", name, i.Root)
	return c.store.EndIntent(ctx, in.ID)
}
