package core

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/store"
	"termic/internal/worktree"
)

// maxLog bounds the lines of a creation that are kept.
const maxLog = 200

// create makes the worktree of an accepted task and starts its agent. It runs in a goroutine of Core; how it ends is
// written into the task and its job.
func (c *Core) create(n *newTask) {
	ctx, done := c.jobs.under(c.ctx, n.job)
	defer done()
	release, err := c.hold(ctx, n.task.ID)
	if err != nil {
		return // the app is ending: the intent tells the next start
	}
	defer c.making.forget(n.task.ID)
	made, lines, err := c.makeWorktree(ctx, n)
	if err == nil && errors.Is(context.Cause(ctx), ErrCancelled) {
		err = c.takeBack(n)
	}
	if err != nil {
		release()
		c.createFailed(ctx, n, lines, err)
		return
	}
	setup, serr := c.setupOf(ctx, n.project)
	last := n.params.NoAgent && setup == "" && serr == nil
	err = c.created(ctx, n, made, lines, last)
	release()
	if err != nil {
		c.createFailed(ctx, n, lines, err)
		return
	}
	c.setUp(ctx, n, setup, serr)
	switch {
	case !n.params.NoAgent:
		c.startNew(ctx, n)
	case !last:
		c.endJob(ctx, n.job, nil)
	}
}

// takeBack removes the worktree that was just made for a creation which somebody cancelled, and the branch with it. It returns
// why the creation failed.
func (c *Core) takeBack(n *newTask) error {
	ctx := context.WithoutCancel(c.ctx)
	intents, err := c.store.Intents(ctx)
	for _, in := range intents {
		var i createIntent
		if in.ID != intentID(intentCreate, n.task.ID) || json.Unmarshal(in.Payload, &i) != nil || i.Mode != "worktree" {
			continue
		}
		err = c.undoCreate(ctx, n.task, n.project, i)
	}
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "The creation was cancelled, and what it had made could not be removed").
			WithHint("Archive the task: that removes the rest.")
	}
	return ErrCancelled
}

// startNew starts the first agent of a task that has its worktree.
func (c *Core) startNew(ctx context.Context, n *newTask) {
	_, err := c.startTab(ctx, n.task.ID, n.tab.ID, startHow{resume: n.params.Resume != "", unattended: n.prompt != "", limit: n.limit})
	c.endJob(ctx, n.job, err)
	if err == nil {
		return
	}
	c.log.Warn("first agent did not start", "task", n.task.ID, "err", err)
	c.failPrompts(n.tab.ID, "The agent did not start: "+sentence(err))
	_, uerr := c.store.UpdateTask(context.WithoutCancel(ctx), n.task.ID, func(t *store.Task) error {
		t.Error = sentence(err)
		return nil
	})
	if uerr != nil {
		c.log.Error("the reason of a failed start could not be stored", "task", n.task.ID, "err", uerr)
	}
	c.beacon.change()
}

// makeWorktree does the part that touches git. Progress lines are told as they come, and returned to be stored.
func (c *Core) makeWorktree(ctx context.Context, n *newTask) (worktree.Created, []string, error) {
	progress := func(line string) {
		if c.making.add(n.task.ID, line) {
			c.beacon.change()
		}
	}
	if n.mode == "main" {
		made := worktree.Created{Path: n.project.RootPath}
		if n.project.NonGit {
			return made, nil, nil
		}
		repo, err := c.repoOf(ctx, n.project)
		if err != nil {
			return made, nil, err
		}
		base, err := repo.ResolveBase(ctx, n.project.BaseBranch)
		made.BaseRef, made.BaseCommit = base.Ref, base.Commit
		if err != nil {
			return made, nil, err
		}
		status, err := repo.Status(ctx, n.project.RootPath)
		made.Branch = status.Branch
		return made, nil, err
	}
	repo, err := c.repoOf(ctx, n.project)
	if err != nil {
		return worktree.Created{}, nil, err
	}
	if n.mode == "adopt" {
		entry, err := repo.Adopt(ctx, n.task.Path)
		return worktree.Created{Path: entry.Path, Branch: entry.Branch, BaseRef: n.project.BaseBranch, ReusedBranch: true}, nil, err
	}
	defer c.refs.ours(n.project.ID, repo, branchAnd(n.task.Branch, orElse(n.params.Base, n.project.BaseBranch)))()
	o := c.createOptions(n)
	o.Progress, o.NewBranch = progress, func(name, commit string) error { return c.noteBranch(ctx, n, name, commit) }
	made, err := repo.Create(ctx, o)
	return made, c.making.of(n.task.ID), err
}

// createOptions say how the worktree of a new task is to be made.
func (c *Core) createOptions(n *newTask) worktree.CreateOptions {
	return worktree.CreateOptions{Path: n.task.Path, PathFixed: true, Branch: n.task.Branch, BranchTyped: n.params.Branch != "",
		Base: orElse(n.params.Base, n.project.BaseBranch), Fetch: n.start == "" && c.settings.Get().Tasks.FetchBeforeCreate, Commit: n.start}
}

// begin stores the intent to create the task.
func (n *newTask) begin(ctx context.Context, tx *store.Tx) error {
	return beginIntent(ctx, tx, intentCreate, n.task.ID,
		createIntent{Task: n.task.ID, Mode: n.mode, Path: n.task.Path, Job: n.job, Branch: n.branch, Commit: n.commit})
}

// noteBranch stores the branch that is about to be created: after a crash the next start knows what to take back. Mostly it was
// foreseen when the task was accepted, and nothing has to wait for the disk again.
func (c *Core) noteBranch(ctx context.Context, n *newTask, name, commit string) error {
	if name == n.branch && commit == n.commit {
		return nil
	}
	n.branch, n.commit = name, commit
	return c.store.Write(ctx, func(tx *store.Tx) error {
		if err := tx.EndIntent(ctx, intentID(intentCreate, n.task.ID)); err != nil {
			return err
		}
		return n.begin(ctx, tx)
	})
}

// created makes the task live and ends its intent, in one transaction, and with that its job if nothing more is to come: a
// transaction of its own would make whoever waits for the job wait for the disk once more.
func (c *Core) created(ctx context.Context, n *newTask, made worktree.Created, lines []string, last bool) error {
	if err := c.inherit(n.task); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	err := c.store.Write(ctx, func(tx *store.Tx) error {
		live, err := tx.UpdateTask(ctx, n.task.ID, func(t *store.Task) error {
			t.State, t.Path, t.Branch, t.ReusedBranch = api.TaskLive, made.Path, made.Branch, made.ReusedBranch
			t.BaseRef, t.BaseCommit, t.Warnings, t.Log = made.BaseRef, made.BaseCommit, slices.Concat(n.told, made.Warnings), lines
			return nil
		})
		if err != nil {
			return err
		}
		n.task = live
		if err := tx.AddJobLines(ctx, n.job, lines); err != nil {
			return err
		}
		if last && n.job != "" {
			if err := tx.EndJob(ctx, n.job, jobEnd(nil)); err != nil {
				return err
			}
		}
		return tx.EndIntent(ctx, intentID(intentCreate, n.task.ID))
	})
	if err == nil {
		c.beacon.change()
	}
	return err
}

// createFailed writes down why. The worktree package has cleaned up what it made.
func (c *Core) createFailed(under context.Context, n *newTask, lines []string, cause error) {
	if c.ctx.Err() != nil {
		return // cut short by the end of the app: the intent tells the next start
	}
	if errors.Is(context.Cause(under), ErrCancelled) {
		cause = ErrCancelled
	}
	ctx := context.WithoutCancel(c.ctx)
	c.log.Warn("task could not be created", "task", n.task.ID, "err", cause)
	err := c.store.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.UpdateTask(ctx, n.task.ID, func(t *store.Task) error {
			t.State, t.Error, t.Log = api.TaskFailed, sentence(cause), lines
			return nil
		}); err != nil {
			return err
		}
		if err := tx.AddJobLines(ctx, n.job, lines); err != nil {
			return err
		}
		return tx.EndIntent(ctx, intentID(intentCreate, n.task.ID))
	})
	if err != nil {
		c.log.Error("a failed creation could not be stored", "task", n.task.ID, "err", err)
	}
	c.failPrompts(n.tab.ID, "The task could not be created: "+sentence(cause))
	c.endJob(under, n.job, cause)
	c.beacon.change()
}

// sentence is what a person reads of an error: the message and what to do.
func sentence(err error) string {
	f := fault.From(err)
	if f.Hint == "" {
		return f.Message + "."
	}
	return f.Message + ". " + f.Hint
}
