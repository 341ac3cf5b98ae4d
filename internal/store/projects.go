package store

import (
	"context"

	"termic/internal/fault"
	"termic/internal/ids"
)

const projectColumns = `id, name, root_path, base_branch, remote, non_git, bare, default_agent, position, created, removed,
	sandbox, mcp, mcp_projects, mcp_agents, sandbox_read, sandbox_write, sandbox_hosts, group_name, secrets`

func scanProject(row scanner) (Project, error) {
	var p Project
	var created, removed int64
	var projects, agents, reads, writes, hosts, secrets string
	if err := row.Scan(&p.ID, &p.Name, &p.RootPath, &p.BaseBranch, &p.Remote, &p.NonGit, &p.Bare, &p.DefaultAgent,
		&p.Position, &created, &removed, &p.Sandbox, &p.MCP, &projects, &agents, &reads, &writes, &hosts, &p.Group, &secrets); err != nil {
		return Project{}, err
	}
	p.Created, p.Removed = unstamp(created), unstamp(removed)
	return p, unlists(lists{{projects, &p.MCPProjects}, {agents, &p.MCPAgents}, {reads, &p.SandboxRead}, {writes, &p.SandboxWrite}, {hosts, &p.SandboxHosts}, {secrets, &p.Secrets}})
}

func noProject() error { return fault.New(fault.NotFound, "There is no such project") }

// Project returns a project by id, also one that was removed.
func (r Reader) Project(ctx context.Context, id string) (Project, error) {
	return one(ctx, r, scanProject, noProject(), `SELECT `+projectColumns+` FROM projects WHERE id = ?`, id)
}

// ProjectByName returns a project by its name, without regard to ASCII case.
func (r Reader) ProjectByName(ctx context.Context, name string) (Project, error) {
	return one(ctx, r, scanProject, noProject(), `SELECT `+projectColumns+` FROM projects WHERE name = ? AND removed = 0`, name)
}

// ProjectByRoot returns a project by its root path, byte for byte.
func (r Reader) ProjectByRoot(ctx context.Context, root string) (Project, error) {
	return one(ctx, r, scanProject, noProject(), `SELECT `+projectColumns+` FROM projects WHERE root_path = ? AND removed = 0`, root)
}

// Projects returns the projects in the order of the sidebar.
func (r Reader) Projects(ctx context.Context) ([]Project, error) {
	return many(ctx, r, scanProject, `SELECT `+projectColumns+` FROM projects WHERE removed = 0 ORDER BY position, created, id`)
}

// AddProject stores p. A project with that root path is returned as it is, with existed; a removed one comes back with
// its id and history, and p's other fields. A name that another project has is a conflict.
func (t *Tx) AddProject(ctx context.Context, p Project) (stored Project, existed bool, err error) {
	if have, err := t.ProjectByRoot(ctx, p.RootPath); err == nil {
		return have, true, nil
	} else if fault.CodeOf(err) != fault.NotFound {
		return Project{}, false, err
	}
	if err := t.checkProject(ctx, p); err != nil {
		return Project{}, false, err
	}
	p.Removed = Project{}.Removed
	if p.Position == 0 {
		if err := t.q.QueryRowContext(ctx, `SELECT COALESCE(MAX(position), 0) + 1 FROM projects WHERE removed = 0`).Scan(&p.Position); err != nil {
			return Project{}, false, err
		}
	}
	old, err := one(ctx, t.Reader, scanProject, noProject(),
		`SELECT `+projectColumns+` FROM projects WHERE root_path = ? AND removed > 0 ORDER BY removed DESC LIMIT 1`, p.RootPath)
	switch {
	case err == nil:
		p.ID, p.Created = old.ID, old.Created
		return p, false, t.putProject(ctx, p)
	case fault.CodeOf(err) != fault.NotFound:
		return Project{}, false, err
	}
	if p.ID == "" {
		p.ID = ids.New()
	}
	if p.Created.IsZero() {
		p.Created = t.now()
	}
	p.Created = unstamp(stamp(p.Created))
	args, err := projectArgs(p)
	if err != nil {
		return Project{}, false, err
	}
	_, err = t.q.ExecContext(ctx, `INSERT INTO projects (`+projectColumns+`) VALUES (`+marks(args)+`)`, args...)
	return p, false, err
}

func projectArgs(p Project) ([]any, error) {
	texts, err := listTexts(p.MCPProjects, p.MCPAgents, p.SandboxRead, p.SandboxWrite, p.SandboxHosts, p.Secrets)
	if err != nil {
		return nil, err
	}
	return []any{p.ID, p.Name, p.RootPath, p.BaseBranch, p.Remote, p.NonGit, p.Bare, p.DefaultAgent, p.Position, stamp(p.Created),
		stamp(p.Removed), p.Sandbox, p.MCP, texts[0], texts[1], texts[2], texts[3], texts[4], p.Group, texts[5]}, nil
}

// UpdateProject lets fn change a copy of the project and stores it. Its id and time of birth stay.
func (t *Tx) UpdateProject(ctx context.Context, id string, fn func(*Project) error) (Project, error) {
	old, err := t.Project(ctx, id)
	if err != nil {
		return Project{}, err
	}
	p := old
	if err := fn(&p); err != nil {
		return Project{}, err
	}
	p.ID, p.Created, p.Removed = old.ID, old.Created, old.Removed
	if err := t.checkProject(ctx, p); err != nil {
		return Project{}, err
	}
	return p, t.putProject(ctx, p)
}

// RemoveProject forgets a project. Its archived tasks stay and come back when the same folder is added again; a task
// that is not archived is a conflict.
func (t *Tx) RemoveProject(ctx context.Context, id string) error {
	live, err := t.exists(ctx, `SELECT 1 FROM tasks WHERE project_id = ? AND archived_at = 0`, id)
	if err != nil {
		return err
	}
	if live {
		return fault.New(fault.Conflict, "The project still has tasks").WithHint("Archive them first.")
	}
	return t.changed(ctx, noProject(), `UPDATE projects SET removed = ? WHERE id = ? AND removed = 0`, stamp(t.now()), id)
}

func (t *Tx) putProject(ctx context.Context, p Project) error {
	args, err := projectArgs(p)
	if err != nil {
		return err
	}
	return t.changed(ctx, noProject(), `UPDATE projects SET (`+projectColumns+`) = (`+marks(args)+`) WHERE id = ?`, append(args, p.ID)...)
}

// checkProject refuses bad texts, and a name or path that another project has.
func (t *Tx) checkProject(ctx context.Context, p Project) error {
	if err := firstError(limit("name", p.Name, MaxName), limit("path", p.RootPath, MaxPath), limit("base branch", p.BaseBranch, MaxPath),
		limit("remote", p.Remote, MaxPath), limit("agent", p.DefaultAgent, MaxName),
		limit("sandbox mode", p.Sandbox, MaxName), limit("group", p.Group, MaxName)); err != nil {
		return err
	}
	if p.Name == "" || p.RootPath == "" {
		return fault.New(fault.InvalidArgument, "A project needs a name and a folder")
	}
	taken, err := t.exists(ctx, `SELECT 1 FROM projects WHERE name = ? AND removed = 0 AND id <> ?`, p.Name, p.ID)
	if err != nil {
		return err
	}
	if taken {
		return fault.New(fault.Conflict, "There is a project named %q already", p.Name).WithHint("Give this one another name.")
	}
	taken, err = t.exists(ctx, `SELECT 1 FROM projects WHERE root_path = ? AND removed = 0 AND id <> ?`, p.RootPath, p.ID)
	if err != nil {
		return err
	}
	if taken {
		return fault.New(fault.Conflict, "That folder is a project already")
	}
	return nil
}
