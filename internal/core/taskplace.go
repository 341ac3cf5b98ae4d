package core

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"termic/internal/fault"
	"termic/internal/store"
	"termic/internal/worktree"
)

// planStart refuses what a task cannot start from: a base that is not there, a repository without a commit, a folder to adopt
// that is no worktree. A base of a remote may arrive with the fetch, so it is never refused here.
func (c *Core) planStart(ctx context.Context, n *newTask) error {
	if n.project.NonGit {
		return nil
	}
	repo, err := c.repoOf(ctx, n.project)
	if err != nil {
		return err
	}
	n.repo = repo
	if n.mode == "adopt" {
		path, err := c.absolute(n.params.From)
		if err == nil {
			_, err = repo.Adopt(ctx, path)
		}
		return err
	}
	base := orElse(n.params.Base, n.project.BaseBranch)
	_, err = repo.ResolveBase(ctx, base)
	if f := fault.From(err); f != nil && f.Code == fault.NotFound && n.params.Base == "" {
		return f.WithHint("It is the base of the project %q. Name another for this task with base.", n.project.Name)
	}
	if err == nil && n.mode == "worktree" && n.params.Branch != "" {
		err = repo.BranchFree(ctx, n.params.Branch)
	}
	return err
}

// planPath chooses the folder, past those that are taken, and the branch name.
func (c *Core) planPath(ctx context.Context, n *newTask) error {
	switch n.mode {
	case "main":
		n.task.Path = n.project.RootPath
		return nil
	case "adopt":
		path, err := c.absolute(n.params.From)
		n.task.Path = path
		return err
	}
	slug, err := worktree.Slug(n.params.Name)
	if err != nil {
		return err
	}
	folder, err := worktree.Slug(n.project.Name)
	if err != nil {
		folder = n.project.ID
	}
	tasks, err := c.store.Tasks(ctx, store.TaskFilter{})
	if err != nil {
		return err
	}
	if n.task.Path, err = freePath(tasks, filepath.Join(c.settings.Get().Tasks.Dir, folder, slug)); err != nil {
		return err
	}
	n.task.Branch = orElse(n.params.Branch, worktree.BranchFor(c.settings.Get().Tasks.BranchPrefix, n.params.Name))
	if !slices.ContainsFunc(tasks, func(t store.Task) bool { return t.Branch == n.task.Branch }) { // else another one may be about to make it
		n.branch, n.commit, _ = n.repo.Foresee(c.createOptions(n))
	}
	return nil
}

// freePath puts a number behind a folder name that is taken, on disk or by a task whose folder is still to come.
func freePath(tasks []store.Task, path string) (string, error) {
	taken := map[string]bool{}
	for _, t := range tasks {
		taken[t.Path] = true
	}
	for n := 1; n < 1000; n++ {
		p := path
		if n > 1 {
			p = fmt.Sprintf("%s-%d", path, n)
		}
		if _, err := os.Lstat(p); os.IsNotExist(err) && !taken[p] {
			return p, nil
		}
	}
	return "", fault.New(fault.Conflict, "There is no free folder like %s", path).WithHint("Choose another name.")
}
