package core

import (
	"context"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/store"
	"termic/internal/worktree"
)

// maxPlanned bounds each list of paths in an answer; the counts beside it are of all.
const maxPlanned = 500

// TaskPlan is the verb task_plan: what task_apply would do now. It starts no program of a repository's choice, so where the
// repository has filters of its own, apply may come to other files.
func (c *Core) TaskPlan(ctx context.Context, call *Call, _ api.TaskPlanParams) (api.ApplyPlan, error) {
	t, project, err := c.applicable(ctx, call.Task)
	if err != nil {
		return api.ApplyPlan{}, err
	}
	repo, err := c.repoOf(ctx, project)
	if err != nil {
		return api.ApplyPlan{}, err
	}
	p, err := c.readerFor(repo, t).PlanApply(ctx, t.Path, baseOf(t), t.AppliedTree)
	if err != nil {
		return api.ApplyPlan{}, err
	}
	return viewPlan(t, project, p), nil
}

// applicable refuses a task that has nothing which could be applied.
func (c *Core) applicable(ctx context.Context, id string) (store.Task, store.Project, error) {
	t, err := c.store.Task(ctx, id)
	if err != nil {
		return t, store.Project{}, err
	}
	project, err := c.store.Project(ctx, t.ProjectID)
	switch {
	case err != nil:
	case t.IsMain || project.NonGit:
		err = fault.New(fault.Unsupported, "The task %q works in the main checkout already, so there is nothing to apply", t.Name)
	case project.Bare:
		err = fault.New(fault.Unsupported, "The project %q is a bare repository without a main checkout", project.Name).
			WithHint("Push the branch %s instead.", quoted(t.Branch))
	default:
		err = c.usableTree(t)
	}
	return t, project, err
}

func viewPlan(t store.Task, project store.Project, p worktree.ApplyPlan) api.ApplyPlan {
	v := api.ApplyPlan{TaskID: t.ID, Task: t.Name, Project: project.Name, Files: []api.PlannedFile{}, Total: len(p.Files), Tracked: p.Tracked,
		Untracked: p.Untracked, Conflicts: firstOf(p.Conflicts), Warnings: p.Warnings}
	for i, f := range p.Files {
		switch f.Action {
		case worktree.PlanAdd, worktree.PlanCopy:
			v.Added++
		case worktree.PlanDelete:
			v.Deleted++
		default:
			v.Modified++
		}
		if i < maxPlanned {
			v.Files = append(v.Files, api.PlannedFile{Path: f.Path, Action: f.Action})
		}
	}
	if r := p.Refusal; r != nil {
		v.Refused = &api.PlanRefusal{Code: string(r.Code), Message: r.Message, Hint: r.Hint}
		if in, ok := r.Data["conflicts"].([]string); ok {
			v.Conflicts = firstOf(in)
		}
	}
	return v
}

func firstOf(list []string) []string {
	return append([]string{}, list[:min(len(list), maxPlanned)]...)
}

// TaskDrift is the verb task_drift. Nothing is fetched: the base is where the repository knows it to be.
func (c *Core) TaskDrift(ctx context.Context, call *Call, _ api.TaskDriftParams) (api.TaskDriftResult, error) {
	t, err := c.store.Task(ctx, call.Task)
	if err != nil {
		return api.TaskDriftResult{}, err
	}
	project, err := c.store.Project(ctx, t.ProjectID)
	if err != nil {
		return api.TaskDriftResult{}, err
	}
	if t.IsMain || project.NonGit {
		return api.TaskDriftResult{}, fault.New(fault.Unsupported, "The task %q works in the main checkout itself, so it cannot drift from it", t.Name)
	}
	if err := c.usableTree(t); err != nil {
		return api.TaskDriftResult{}, err
	}
	repo, err := c.repoOf(ctx, project)
	if err != nil {
		return api.TaskDriftResult{}, err
	}
	d, err := c.readerFor(repo, t).Drift(ctx, t.Path, t.BaseRef, t.BaseCommit)
	if err != nil {
		return api.TaskDriftResult{}, err
	}
	return api.TaskDriftResult{TaskID: t.ID, Task: t.Name, Project: project.Name, BaseRef: d.Ref, BaseCommit: d.Base, BaseNow: d.Now, Moved: d.Base != d.Now,
		Rewritten: d.Rewritten, Ahead: d.Ahead, Behind: d.Behind, BaseFiles: firstOf(d.Moved), BaseTotal: len(d.Moved), TaskFiles: firstOf(d.Mine),
		TaskTotal: len(d.Mine), Conflicts: firstOf(d.Conflicts), ConflictsKnown: d.Known}, nil
}
