package core

import (
	"context"
	"path/filepath"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/store"
)

// ProjectGit is the verb project_git: what a new task of a project can start from or be attached to.
func (c *Core) ProjectGit(ctx context.Context, call *Call, p api.ProjectGitParams) (api.ProjectGitResult, error) {
	project, err := c.resolveProject(ctx, call.Caller, p.Name)
	if err != nil {
		return api.ProjectGitResult{}, err
	}
	if project.NonGit {
		return api.ProjectGitResult{}, fault.New(fault.Unsupported, "The project %q is a plain folder, so it has no branches and no worktrees", project.Name)
	}
	repo, err := c.repoOf(ctx, project)
	if err != nil {
		return api.ProjectGitResult{}, err
	}
	branches, more, err := repo.Branches(ctx)
	if err != nil {
		return api.ProjectGitResult{}, err
	}
	trees, err := repo.List(ctx)
	if err != nil {
		return api.ProjectGitResult{}, err
	}
	tasks, err := c.store.Tasks(ctx, store.TaskFilter{ProjectID: project.ID})
	if err != nil {
		return api.ProjectGitResult{}, err
	}
	byPath := map[string]string{}
	for _, t := range tasks {
		if !t.IsMain {
			byPath[filepath.Clean(t.Path)] = t.Name
		}
	}
	r := api.ProjectGitResult{Name: project.Name, Branches: []api.Branch{}, Worktrees: []api.Worktree{}, More: more}
	for _, b := range branches {
		r.Branches = append(r.Branches, api.Branch{Name: b.Name, Remote: b.Remote, Commit: b.Commit, Time: stamp(b.Time)})
	}
	for _, w := range trees {
		if !w.Bare {
			r.Worktrees = append(r.Worktrees, api.Worktree{Path: w.Path, Branch: w.Branch, Main: w.Main, Gone: w.Prunable, Locked: w.Locked, Task: byPath[filepath.Clean(w.Path)]})
		}
	}
	return r, nil
}
