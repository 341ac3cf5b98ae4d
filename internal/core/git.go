package core

import (
	"context"
	"encoding/json"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/ids"
	"termic/internal/store"
	"termic/internal/worktree"
)

// gitTask is a task whose worktree is changed by git. Nobody else changes its structure until release is called.
type gitTask struct {
	task    store.Task
	project store.Project
	repo    *worktree.Repo // as git may be run for the tree
	release func()
}

func (c *Core) gitTask(ctx context.Context, id string) (g gitTask, err error) {
	held, err := c.hold(ctx, id)
	if err != nil {
		return g, err
	}
	g.release = held
	defer func() {
		if err != nil {
			g.release()
		}
	}()
	if g.task, err = c.store.Task(ctx, id); err != nil {
		return g, err
	}
	if err = c.usableTree(g.task); err != nil {
		return g, err
	}
	if g.project, err = c.store.Project(ctx, g.task.ProjectID); err != nil {
		return g, err
	}
	repo, err := c.repoOf(ctx, g.project)
	if err != nil {
		return g, err
	}
	g.repo = c.repoFor(repo, g.task)
	if g.task.IsMain { // tasks of the main checkout share it, and others are applied to it
		main, err := c.hold(ctx, "main:"+g.project.ID)
		if err != nil {
			return g, err
		}
		g.release = func() { main(); held() }
	}
	return g, nil
}

// TaskStage is the verb task_stage.
func (c *Core) TaskStage(ctx context.Context, call *Call, p api.TaskStageParams) (api.TaskStageResult, error) {
	result := api.TaskStageResult{TaskID: call.Task, Paths: []string{}}
	if !p.All && len(p.Paths) == 0 {
		return result, fault.New(fault.InvalidArgument, "There is nothing named to stage").WithHint("Name files of the worktree, or say all of them.")
	}
	g, err := c.gitTask(ctx, call.Task)
	if err != nil {
		return result, err
	}
	defer g.release()
	defer c.beacon.change()
	choice := worktree.Choice{Paths: p.Paths, Seen: p.Seen, All: p.All}
	if !p.Unstage {
		staged, err := g.repo.Stage(ctx, g.task.Path, choice)
		result.Paths, result.Warnings = append(result.Paths, staged.Paths...), staged.Warnings
		return result, err
	}
	var taken worktree.Discarded
	result.Undo, err = c.keeping(ctx, g, true, func(k worktree.Keeping) (worktree.Discarded, error) {
		taken, err = g.repo.Unstage(ctx, g.task.Path, choice, k)
		return taken, err
	})
	result.Paths = append(result.Paths, taken.Paths...)
	return result, err
}

// TaskDiscard is the verb task_discard. What it takes away is kept, and undo puts exactly that back.
func (c *Core) TaskDiscard(ctx context.Context, call *Call, p api.TaskDiscardParams) (api.TaskDiscardResult, error) {
	result := api.TaskDiscardResult{TaskID: call.Task, Paths: []string{}, Kept: []api.Discarded{}}
	if len(p.Paths) == 0 && (p.Staged || len(p.Seen) > 0) {
		return result, fault.New(fault.InvalidArgument, "There is nothing named to discard").WithHint("Name files of the worktree; `.` stands for all of them.")
	}
	g, err := c.gitTask(ctx, call.Task)
	if err != nil {
		return result, err
	}
	defer g.release()
	var done worktree.Discarded
	switch {
	case p.Undo != "":
		result.Undone, done, err = c.undoDiscard(ctx, g, p.Undo)
	case len(p.Paths) > 0:
		result.Undo, err = c.keeping(ctx, g, false, func(k worktree.Keeping) (worktree.Discarded, error) {
			done, err = g.repo.Discard(ctx, g.task.Path, worktree.DiscardOptions{Choice: worktree.Choice{Paths: p.Paths, Seen: p.Seen}, Staged: p.Staged, Keeping: k})
			return done, err
		})
	}
	if err != nil {
		return result, err
	}
	result.Paths, result.Warnings = append(result.Paths, done.Paths...), done.Warnings
	if len(done.Paths) > 0 {
		c.beacon.change()
	}
	kept, err := c.discards.of(g.task.ID)
	for _, k := range kept.List {
		result.Kept = append(result.Kept, k.view())
	}
	return result, err
}

// keeping runs an act that may take something away, and keeps account of what it took.
func (c *Core) keeping(ctx context.Context, g gitTask, unstaged bool, act func(worktree.Keeping) (worktree.Discarded, error)) (id string, err error) {
	k := keptDiscard{ID: ids.New(), Unstaged: unstaged}
	k.Ref = worktree.DiscardPrefix + g.task.ID + "/" + k.ID
	began, noted := false, false
	_, err = act(worktree.Keeping{Ref: k.Ref, Kept: func(d worktree.Discarded) error {
		if err := c.beginDiscard(ctx, g.task.ID); err != nil {
			return err
		}
		began = true
		k.take(d)
		if err := c.discards.add(g.task, k); err != nil {
			return err
		}
		noted = true
		return nil
	}})
	if began {
		c.endDiscard(ctx, g.task.ID)
	}
	if err != nil {
		if noted { // it was taken back
			c.discards.drop(g.task.ID, k.ID)
		}
		return "", err
	}
	if !noted {
		return "", nil
	}
	c.pruneDiscards(ctx, g.project, g.repo)
	return k.ID, nil
}

// undoDiscard puts back what a discard took away; "last" is the newest one.
func (c *Core) undoDiscard(ctx context.Context, g gitTask, id string) (string, worktree.Discarded, error) {
	k, err := c.discards.find(g.task.ID, id)
	if err != nil {
		return "", worktree.Discarded{}, err
	}
	if err := c.beginDiscard(ctx, g.task.ID); err != nil {
		return "", worktree.Discarded{}, err
	}
	defer c.endDiscard(ctx, g.task.ID)
	done, err := g.repo.Undo(ctx, g.task.Path, k.Commit)
	if fault.CodeOf(err) == fault.NotFound {
		c.discards.drop(g.task.ID, k.ID) // it cannot be undone any more
	}
	if err != nil {
		return "", done, err
	}
	moved := c.refs.ours(g.project.ID, g.repo, func(name string) bool { return name == k.Ref })
	defer moved()
	c.discards.drop(g.task.ID, k.ID)
	if err := g.repo.DropDiscard(context.WithoutCancel(ctx), k.Ref, k.Commit); err != nil {
		c.log.Warn("the ref of a discard that was undone stays", "ref", k.Ref, "err", err)
	}
	return k.ID, done, nil
}

func (c *Core) beginDiscard(ctx context.Context, task string) error {
	return c.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		return beginIntent(ctx, tx, intentDiscard, task, discardIntent{Task: task})
	})
}

func (c *Core) endDiscard(ctx context.Context, task string) {
	if err := c.store.EndIntent(context.WithoutCancel(ctx), intentID(intentDiscard, task)); err != nil {
		c.log.Error("intent could not be ended", "task", task, "err", err)
	}
}

// settleDiscard frees the index that a killed app has left locked. What was taken away by then is kept, and the person is
// told how to put it back.
func (c *Core) settleDiscard(ctx context.Context, in store.Intent) error {
	var i discardIntent
	if err := json.Unmarshal(in.Payload, &i); err != nil {
		return err
	}
	t, project, ok, err := c.taskOfIntent(ctx, i.Task)
	if err != nil {
		return err
	}
	if !ok || t.Archived() || c.missing(t) {
		return c.store.EndIntent(ctx, in.ID)
	}
	repo, err := c.repoOf(ctx, project)
	if err != nil {
		return err
	}
	if err := repo.Unlock(t.Path); err != nil {
		return err
	}
	c.notice("Discarding files of the task %q was interrupted. Nothing is lost: `termic discard %s --undo last` puts back what was taken away.", t.Name, shellWord(t.Name))
	return c.store.EndIntent(ctx, in.ID)
}

// TaskCommit is the verb task_commit. No hook runs: a caged agent could have had a hand in what they start.
func (c *Core) TaskCommit(ctx context.Context, call *Call, p api.TaskCommitParams) (api.TaskCommitResult, error) {
	g, err := c.gitTask(ctx, call.Task)
	if err != nil {
		return api.TaskCommitResult{}, err
	}
	defer g.release()
	tip, err := g.repo.Tip(g.task.Path)
	if err != nil {
		return api.TaskCommitResult{}, err
	}
	moved := c.refs.ours(g.project.ID, g.repo, func(name string) bool { return tip.Ref != "" && name == tip.Ref })
	defer moved()
	defer c.beacon.change()
	done, err := g.repo.Commit(ctx, g.task.Path, worktree.CommitOptions{Message: p.Message, All: p.All})
	return api.TaskCommitResult{TaskID: g.task.ID, Commit: done.ID, Branch: strings.TrimPrefix(done.Branch, "refs/heads/"),
		Subject: done.Subject, Files: done.Files, Warnings: done.Warnings}, err
}
