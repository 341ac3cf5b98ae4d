package core

import (
	"context"
	"os"
	"strings"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/store"
	"termic/internal/worktree"
)

// TaskArchive is the verb task_archive. What exists only in the worktree is never lost: without consent the call is
// refused with a list, with consent a backup ref is left.
func (c *Core) TaskArchive(ctx context.Context, call *Call, p api.TaskArchiveParams) (api.TaskArchiveResult, error) {
	return c.archive(ctx, call, call.Task, p.Discard, p.DeleteBranch)
}

// archive ends the terminals of a task, removes its worktree and marks it archived.
func (c *Core) archive(ctx context.Context, call *Call, id string, discard, deleteBranch bool) (api.TaskArchiveResult, error) {
	release, err := c.hold(ctx, id)
	if err != nil {
		return api.TaskArchiveResult{}, err
	}
	defer release()
	t, err := c.store.Task(ctx, id)
	if err != nil {
		return api.TaskArchiveResult{}, err
	}
	project, err := c.store.Project(ctx, t.ProjectID)
	if err != nil {
		return api.TaskArchiveResult{}, err
	}
	if t.Archived() {
		return api.TaskArchiveResult{}, fault.New(fault.Conflict, "The task %q is archived already", t.Name)
	}
	result := api.TaskArchiveResult{TaskID: t.ID, Name: t.Name, Project: project.Name}
	// Looked at before anything is ended: a refused archive must leave the agents at work.
	if !discard {
		if err := c.refuseLosses(ctx, t, deleteBranch); err != nil {
			return result, err
		}
	}
	if err := c.stillArchivable(ctx, call, t, project, deleteBranch); err != nil {
		return result, err
	}
	started, err := c.holdStarts(ctx, t.ID)
	if err != nil {
		return result, err
	}
	defer started()
	c.revokeTask(t.ID)
	if result.KilledAgents, err = c.endTask(ctx, t.ID, "archived"); err != nil {
		return result, err
	}
	intent := archiveIntent{Task: t.ID, Discard: discard, DeleteBranch: deleteBranch}
	if intent.Backups, intent.Head, err = c.treeBefore(ctx, t, project); err != nil {
		return result, err
	}
	err = c.store.Write(ctx, func(tx *store.Tx) error { return beginIntent(ctx, tx, intentArchive, t.ID, intent) })
	if err != nil {
		return result, err
	}
	lasting, done := c.lasting(ctx)
	kept, err := c.removeTree(lasting, call, t, project, discard, deleteBranch)
	done()
	if err != nil && c.ctx.Err() != nil {
		return result, err // cut short by the end of the app: the intent tells the next start
	}
	if err != nil {
		if ierr := c.store.EndIntent(context.WithoutCancel(ctx), intentID(intentArchive, t.ID)); ierr != nil {
			c.log.Error("intent could not be ended", "task", t.ID, "err", ierr)
		}
		c.beacon.change()
		return result, err
	}
	if strings.HasPrefix(kept, "refs/") {
		result.BackupRef = kept
	}
	err = c.archived(ctx, t.ID, kept)
	if repo, rerr := c.repoOf(ctx, project); rerr == nil {
		c.pruneDiscards(ctx, project, repo)
	}
	return result, err
}

// archived marks a task as ended, and with it its queue, in one transaction with the end of the intent.
func (c *Core) archived(ctx context.Context, id, kept string) error {
	ctx = context.WithoutCancel(ctx)
	err := c.store.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.UpdateTask(ctx, id, func(t *store.Task) error {
			t.State, t.ArchivedAt, t.BackupRef = api.TaskArchived, time.Now(), kept
			return nil
		})
		if err != nil {
			return err
		}
		return tx.EndIntent(ctx, intentID(intentArchive, id))
	})
	if err == nil {
		c.forgetTerminals(ctx, id)
	}
	c.denials.forget(id)
	c.reviewed(ctx)
	c.sweepSoon()
	c.beacon.change()
	return err
}

// forgetTerminals gives back what the ended terminals of a task hold: their screens, and what was printed. Nobody can ask for that
// any more.
func (c *Core) forgetTerminals(ctx context.Context, id string) {
	tabs, err := c.store.Tabs(ctx, id)
	if err != nil {
		c.log.Warn("terminals of an archived task stay in memory", "task", id, "err", err)
	}
	for _, tab := range tabs {
		c.host.Forget(tab.ID)
		c.mu.Lock()
		delete(c.ended, tab.ID)
		c.mu.Unlock()
	}
}

// treeBefore tells what the intent of an archive must know of the worktree. A repository that is gone knows nothing.
func (c *Core) treeBefore(ctx context.Context, t store.Task, project store.Project) (backups int, head string, err error) {
	if !ownsTree(t, project) {
		return 0, "", nil
	}
	repo, err := c.repoOf(ctx, project)
	if err != nil {
		return 0, "", nil // removing the tree says what that means
	}
	refs, err := repo.Backups(ctx, t.ID)
	if err != nil {
		return 0, "", err
	}
	state, err := repo.Missing(ctx, t.Path)
	return len(refs), state.Head, err
}

// removeTree removes the worktree of a task and returns what keeps its work: a backup ref, or the commit it was on.
// Main checkouts, plain folders and trees that are gone are left alone.
func (c *Core) removeTree(ctx context.Context, call *Call, t store.Task, project store.Project, discard, deleteBranch bool) (string, error) {
	if !ownsTree(t, project) {
		return "", nil
	}
	repo, err := c.repoOf(ctx, project)
	if err != nil {
		if _, serr := os.Stat(t.Path); os.IsNotExist(serr) && discard {
			return "", nil // repository and worktree are both gone: there is nothing left to remove
		}
		return "", err
	}
	defer c.refs.ours(project.ID, repo, branchAnd(t.Branch))()
	var still func(string) error
	if call.isBound() {
		still = func(digest string) error { return call.still(partTree+t.ID, digest) }
	}
	removed, err := c.repoFor(repo, t).Remove(ctx, worktree.RemoveOptions{Path: t.Path, Branch: t.Branch, ID: t.ID, Consent: discard,
		DeleteBranch: deleteBranch, ParentsUpTo: c.settings.Get().Tasks.Dir, Still: still})
	if err != nil {
		return "", err
	}
	for _, w := range removed.Warnings {
		c.log.Warn("archiving", "task", t.ID, "warning", w)
	}
	return orElse(removed.BackupRef, removed.Head), nil
}

// ownsTree reports whether a task has a worktree of its own that archiving removes.
func ownsTree(t store.Task, p store.Project) bool {
	return !t.IsMain && !p.NonGit && t.State != api.TaskFailed && t.Path != ""
}

// losses lists what archiving a task would lose.
func (c *Core) losses(ctx context.Context, t store.Task, deleteBranch bool) ([]api.Loss, error) {
	project, err := c.store.Project(ctx, t.ProjectID)
	if err != nil {
		return nil, err
	}
	if !ownsTree(t, project) {
		return nil, nil
	}
	repo, err := c.repoOf(ctx, project)
	if err != nil {
		return nil, err
	}
	return c.repoFor(repo, t).Losses(ctx, t.Path, t.Branch, deleteBranch)
}

func (c *Core) refuseLosses(ctx context.Context, t store.Task, deleteBranch bool) error {
	losses, err := c.losses(ctx, t, deleteBranch)
	if err != nil || len(losses) == 0 {
		return err
	}
	return needsDiscard(t, losses)
}

// needsDiscard asks for the consent to lose what exists only in a worktree.
func needsDiscard(t store.Task, losses []api.Loss) error {
	return fault.New(fault.NeedsConsent, "Work in the task %q exists nowhere else: %s", t.Name, lossWords(losses)).
		WithHint("Commit and push it, apply it, or consent with --discard: a backup ref is left in the repository.").
		WithData("losses", losses)
}

// lossWords says in few words what would be lost.
func lossWords(losses []api.Loss) string {
	words := make([]string, len(losses))
	for i, l := range losses {
		words[i] = countOf(l.Count, lossNoun(l.Kind))
	}
	return strings.Join(words, ", ")
}

func lossNoun(kind string) string {
	nouns := map[string]string{"dirty": "changed file", "staged": "staged file", "untracked": "untracked file", "ignored": "ignored file",
		"unpushed": "commit", "stash": "stash", "rebase": "unfinished rebase", "locked": "lock", "submodule": "submodule", "repository": "nested repository",
		"unread": "unreadable folder"}
	return orElse(nouns[kind], strings.ReplaceAll(kind, "_", " "))
}

// endTask ends every terminal of a task at once and returns how many agents there were.
func (c *Core) endTask(ctx context.Context, taskID, why string) (agents int, err error) {
	tabs := c.liveTabs(taskID)
	errs := make(chan error, len(tabs))
	for _, l := range tabs {
		if l.tab.Kind == store.TabAgent {
			agents++
		}
		go func() { errs <- c.endTab(ctx, l, why) }()
	}
	for range tabs {
		if e := <-errs; e != nil {
			err = e
		}
	}
	return agents, err
}

// TaskStop is the verb task_stop.
func (c *Core) TaskStop(ctx context.Context, call *Call, _ api.TaskStopParams) (api.TaskStopResult, error) {
	ended := len(c.liveTabs(call.Task))
	_, err := c.endTask(ctx, call.Task, "stopped")
	c.beacon.change()
	return api.TaskStopResult{TaskID: call.Task, Ended: ended}, err
}

// TaskRestore is the verb task_restore: the branch is back, and what was left uncommitted is uncommitted again.
func (c *Core) TaskRestore(ctx context.Context, call *Call, _ api.TaskRestoreParams) (api.TaskRestoreResult, error) {
	release, err := c.hold(ctx, call.Task)
	if err != nil {
		return api.TaskRestoreResult{}, err
	}
	defer release()
	c.createMu.Lock()
	defer c.createMu.Unlock()
	t, err := c.store.Task(ctx, call.Task)
	if err != nil {
		return api.TaskRestoreResult{}, err
	}
	project, err := c.store.Project(ctx, t.ProjectID)
	if err != nil {
		return api.TaskRestoreResult{}, err
	}
	if !project.Removed.IsZero() {
		return api.TaskRestoreResult{}, fault.New(fault.Conflict, "The project of the task %q was removed", t.Name).WithHint("Add it again: `termic project add %s`.", shellWord(project.RootPath))
	}
	if err := c.beginRestore(ctx, t); err != nil {
		return api.TaskRestoreResult{}, err
	}
	if err := c.inherit(t); err != nil {
		return api.TaskRestoreResult{}, err
	}
	made, err := c.restoreTree(context.WithoutCancel(ctx), t, project)
	if err == nil {
		err = c.restored(ctx, t.ID, made)
	} else if ierr := c.store.EndIntent(context.WithoutCancel(ctx), intentID(intentRestore, t.ID)); ierr != nil {
		c.log.Error("intent could not be ended", "task", t.ID, "err", ierr)
	}
	if err != nil {
		return api.TaskRestoreResult{}, err
	}
	summary, err := c.summary(ctx, call.Caller, t.ID)
	return api.TaskRestoreResult{Task: summary}, err
}

// beginRestore refuses a name that is taken meanwhile, and writes the intent.
func (c *Core) beginRestore(ctx context.Context, t store.Task) error {
	return c.store.Write(ctx, func(tx *store.Tx) error {
		tasks, err := tx.Tasks(ctx, store.TaskFilter{ProjectID: t.ProjectID})
		if err != nil {
			return err
		}
		for _, other := range tasks {
			if strings.EqualFold(other.Name, t.Name) {
				return fault.New(fault.Conflict, "Another task is called %q now", other.Name).WithHint("Rename that one first.")
			}
		}
		return beginIntent(ctx, tx, intentRestore, t.ID, createIntent{Task: t.ID, Path: t.Path})
	})
}

func (c *Core) restoreTree(ctx context.Context, t store.Task, project store.Project) (worktree.Created, error) {
	if t.IsMain || project.NonGit || t.Path == "" {
		return worktree.Created{Path: t.Path, Branch: t.Branch}, nil
	}
	repo, err := c.repoOf(ctx, project)
	if err != nil {
		return worktree.Created{}, err
	}
	defer c.refs.ours(project.ID, repo, branchAnd(t.Branch))()
	o := worktree.RestoreOptions{Path: t.Path, Branch: t.Branch}
	if strings.HasPrefix(t.BackupRef, "refs/") {
		o.BackupRef = t.BackupRef
	} else {
		o.Commit = t.BackupRef
	}
	return repo.Restore(ctx, o)
}

func (c *Core) restored(ctx context.Context, id string, made worktree.Created) error {
	ctx = context.WithoutCancel(ctx)
	err := c.store.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.UpdateTask(ctx, id, func(t *store.Task) error {
			t.State, t.ArchivedAt, t.Path, t.Branch, t.Warnings, t.Error = api.TaskLive, time.Time{}, made.Path, made.Branch, made.Warnings, ""
			return nil
		})
		if err != nil {
			return err
		}
		return tx.EndIntent(ctx, intentID(intentRestore, id))
	})
	c.beacon.change()
	return err
}
