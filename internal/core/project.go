package core

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/store"
	"termic/internal/worktree"
)

// ProjectList is the verb project_list. What repositories propose is for their owner to read, not for agents: it is text of
// whoever wrote the repository.
func (c *Core) ProjectList(ctx context.Context, call *Call, _ api.ProjectListParams) (api.ProjectListResult, error) {
	projects, err := c.projects(ctx)
	if bounded(call.Caller) {
		projects = slices.DeleteFunc(projects, func(p api.Project) bool { return !slices.Contains(call.Caller.Projects, p.ID) })
	}
	for i := range projects {
		projects[i].Repo = nil
		if bounded(call.Caller) {
			projects[i].Cage = nil // its lists name other projects
		}
	}
	return api.ProjectListResult{Projects: projects}, err
}

func (c *Core) projects(ctx context.Context) ([]api.Project, error) {
	stored, err := c.store.Projects(ctx)
	if err != nil {
		return nil, err
	}
	count, err := c.store.TaskCounts(ctx)
	if err != nil {
		return nil, err
	}
	stored = together(stored)
	names := map[string]string{}
	for _, p := range stored {
		names[p.ID] = p.Name
	}
	out := make([]api.Project, len(stored))
	for i, p := range stored {
		out[i] = c.viewProject(p, count[p.ID])
		if err := c.viewProjectKnobs(ctx, &out[i], p, names); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *Core) viewProject(p store.Project, tasks int) api.Project {
	return api.Project{ID: p.ID, Name: p.Name, RootPath: p.RootPath, BaseBranch: p.BaseBranch, Remote: p.Remote,
		NonGit: p.NonGit, Bare: p.Bare, DefaultAgent: p.DefaultAgent, Group: p.Group, Tasks: tasks, Missing: c.folders.glance(p.RootPath) == deleted, Secrets: p.Secrets}
}

// ProjectAdd is the verb project_add. Any folder inside a repository stands for the repository; adding it again answers
// with the project there is.
func (c *Core) ProjectAdd(ctx context.Context, call *Call, p api.ProjectAddParams) (api.ProjectAddResult, error) {
	path, err := c.absolute(p.Path)
	if err != nil {
		return api.ProjectAddResult{}, err
	}
	project, err := c.inspect(ctx, path, p.NonGit)
	if err != nil {
		return api.ProjectAddResult{}, err
	}
	if err := c.refuseWritten(ctx, project, path); err != nil {
		return api.ProjectAddResult{}, err
	}
	project.Name = p.Name
	if project.Name == "" {
		project.Name = strings.TrimSuffix(filepath.Base(project.RootPath), ".git")
	}
	if err := checkName("project", project.Name); err != nil {
		return api.ProjectAddResult{}, err
	}
	stored, existed, err := c.store.AddProject(ctx, project)
	if err != nil {
		return api.ProjectAddResult{}, err
	}
	c.beacon.change()
	projects, err := c.projects(ctx)
	if err != nil {
		return api.ProjectAddResult{}, err
	}
	for _, v := range projects {
		if v.ID == stored.ID {
			v.Repo = nil
			return api.ProjectAddResult{Project: v, Existed: existed}, nil
		}
	}
	return api.ProjectAddResult{Project: c.viewProject(stored, 0), Existed: existed}, nil
}

// absolute expands a leading ~ and insists on an existing folder.
func (c *Core) absolute(path string) (string, error) {
	if path == "~" || strings.HasPrefix(path, "~/") {
		path = filepath.Join(c.home, path[1:])
	}
	if !filepath.IsAbs(path) {
		return "", fault.New(fault.InvalidArgument, "%q is not an absolute path", path).WithHint("Give the whole path of the folder.")
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fault.Wrap(err, fault.NotFound, "There is no folder %q", path)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", fault.New(fault.InvalidArgument, "%q is not a folder", path)
	}
	return real, nil
}

// inspect finds out what a folder is: the main checkout or bare repository that it belongs to, or a plain folder.
func (c *Core) inspect(ctx context.Context, path string, nonGit bool) (store.Project, error) {
	repo, err := c.git.Open(ctx, path)
	switch code := fault.CodeOf(err); {
	case nonGit && (code == fault.NotFound || code == fault.Unsupported):
		return store.Project{RootPath: path, NonGit: true}, nil
	case code == fault.NotFound || code == fault.Unsupported:
		return store.Project{}, fault.Wrap(err, fault.Unsupported, "%q is not a git repository", path).
			WithHint("Run `git init` there first, or add it as a plain folder (--non-git): its tasks then have no branch and no diff.")
	case err != nil:
		return store.Project{}, err
	case nonGit:
		return store.Project{}, fault.New(fault.InvalidArgument, "%q is a git repository", path).WithHint("Add it without --non-git.")
	}
	root, bare := repo.Root(), repo.Bare()
	if bare {
		root = repo.CommonDir()
	}
	base, remote, err := repo.DefaultBase(ctx)
	if err != nil {
		return store.Project{}, err
	}
	return store.Project{RootPath: root, BaseBranch: base, Remote: remote, Bare: bare}, nil
}

// ProjectRemove is the verb project_remove. All its tasks are archived first; the first one that would lose work stops
// it, and those archived before stay so.
func (c *Core) ProjectRemove(ctx context.Context, call *Call, p api.ProjectRemoveParams) (api.ProjectRemoveResult, error) {
	project, err := c.resolveProject(ctx, call.Caller, p.Name)
	if err != nil {
		return api.ProjectRemoveResult{}, err
	}
	tasks, err := c.store.Tasks(ctx, store.TaskFilter{ProjectID: project.ID})
	if err != nil {
		return api.ProjectRemoveResult{}, err
	}
	if !p.Discard {
		if err := c.lossesOfAll(ctx, tasks); err != nil {
			return api.ProjectRemoveResult{}, err
		}
	}
	if err := call.still(partProject+project.ID, projectFacts(project, tasks)); err != nil {
		return api.ProjectRemoveResult{}, err
	}
	if err := c.stillAllArchivable(ctx, call, tasks, project); err != nil {
		return api.ProjectRemoveResult{}, err
	}
	result := api.ProjectRemoveResult{Name: project.Name}
	for _, t := range tasks {
		r, err := c.archive(ctx, call, t.ID, p.Discard, false)
		if err != nil {
			return result, err
		}
		result.RemovedTasks++
		if r.BackupRef != "" {
			result.BackupRefs = append(result.BackupRefs, r.BackupRef)
		}
	}
	narrowed, err := c.forgetProject(ctx, project.ID)
	if err != nil {
		return result, err
	}
	for _, t := range narrowed {
		if err := c.offer(t); err != nil {
			return result, err
		}
	}
	c.revokeProject(project.ID)
	c.refs.forget(project.ID)
	c.beacon.change()
	return result, nil
}

// forgetProject removes a project, and takes it out of the lists of those who may act on it: when the same folder is added
// again, nobody shall be found to be trusted with it.
func (c *Core) forgetProject(ctx context.Context, id string) (narrowed []store.Token, err error) {
	unlock, err := c.holdTokens(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	release, err := c.holdCages(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	err = c.store.Write(ctx, func(tx *store.Tx) (err error) {
		if narrowed, err = forgetInTokens(ctx, tx, id); err != nil {
			return err
		}
		if err := tx.RemoveProject(ctx, id); err != nil {
			return err
		}
		if err := tx.SetConsent(ctx, id, ""); err != nil {
			return err
		}
		others := func(ids []string) []string { return keep(ids, func(p string) bool { return p != id }) }
		tasks, err := tx.Tasks(ctx, store.TaskFilter{All: true})
		if err != nil {
			return err
		}
		for _, t := range tasks {
			if !slices.Contains(t.MCPProjects, id) {
				continue
			}
			if _, err := tx.UpdateTask(ctx, t.ID, func(t *store.Task) error { t.MCPProjects = others(t.MCPProjects); return nil }); err != nil {
				return err
			}
		}
		projects, err := tx.Projects(ctx)
		if err != nil {
			return err
		}
		for _, p := range projects {
			if !slices.Contains(p.MCPProjects, id) {
				continue
			}
			if _, err := tx.UpdateProject(ctx, p.ID, func(p *store.Project) error { p.MCPProjects = others(p.MCPProjects); return nil }); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		c.reviewed(ctx)
	}
	return narrowed, err
}

// lossesOfAll collects what archiving the tasks would lose, so that nothing is archived when anything would be.
func (c *Core) lossesOfAll(ctx context.Context, tasks []store.Task) error {
	all := map[string][]api.Loss{}
	for _, t := range tasks {
		losses, err := c.losses(ctx, t, false)
		if err != nil {
			return err
		}
		if len(losses) > 0 {
			all[t.Name] = losses
		}
	}
	if len(all) == 0 {
		return nil
	}
	names := make([]string, 0, len(all))
	for n := range all {
		names = append(names, n)
	}
	return fault.New(fault.NeedsConsent, "Work in %s exists nowhere else: %s", countOf(len(all), "task"), strings.Join(sorted(names), ", ")).
		WithHint("Commit and push it, apply it, or consent with --discard: a backup ref is left in the repository.").WithData("losses", all)
}

// repoOf opens the repository of a project.
func (c *Core) repoOf(ctx context.Context, p store.Project) (*worktree.Repo, error) {
	if p.NonGit {
		return nil, fault.New(fault.Unsupported, "The project %q is a plain folder without git", p.Name)
	}
	if err := c.answers("project", p.Name, p.RootPath); err != nil {
		return nil, err
	}
	repo, err := c.git.Open(ctx, p.RootPath)
	if f, is := errors.AsType[*fault.Error](err); is && f.Code == fault.Unavailable { // git did not end, say: the folder may be there
		return nil, err
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "The repository of project %q cannot be opened at %s", p.Name, p.RootPath).
			WithHint("Put the folder back, or remove the project.")
	}
	return repo, nil
}
