package store

import (
	"context"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/ids"
)

const taskColumns = `id, project_id, name, branch, base_ref, base_commit, path, agent, state, error, is_main, parent_id, depth,
	sandbox, mcp, mcp_projects, yolo, port, position, created, archived_at, backup_ref, reused_branch, warnings, log, revision, applied_tree,
	mcp_agents, sandbox_read, sandbox_write, sandbox_hosts, from_cage, race, secrets`

func scanTask(row scanner) (Task, error) {
	var t Task
	var parent *string
	var created, archived int64
	var projects, warnings, log, agents, reads, writes, hosts, secrets string
	if err := row.Scan(&t.ID, &t.ProjectID, &t.Name, &t.Branch, &t.BaseRef, &t.BaseCommit, &t.Path, &t.Agent, &t.State, &t.Error,
		&t.IsMain, &parent, &t.Depth, &t.Sandbox, &t.MCP, &projects, &t.Yolo, &t.Port, &t.Position, &created, &archived, &t.BackupRef,
		&t.ReusedBranch, &warnings, &log, &t.Revision, &t.AppliedTree,
		&agents, &reads, &writes, &hosts, &t.FromCage, &t.Race, &secrets); err != nil {
		return Task{}, err
	}
	if parent != nil {
		t.ParentID = *parent
	}
	t.Created, t.ArchivedAt = unstamp(created), unstamp(archived)
	return t, unlists(lists{{projects, &t.MCPProjects}, {agents, &t.MCPAgents}, {reads, &t.SandboxRead}, {writes, &t.SandboxWrite},
		{hosts, &t.SandboxHosts}, {secrets, &t.Secrets}, {warnings, &t.Warnings}, {log, &t.Log}})
}

func noTask() error { return fault.New(fault.NotFound, "There is no such task") }

// Task returns a task by id, also an archived one.
func (r Reader) Task(ctx context.Context, id string) (Task, error) {
	return one(ctx, r, scanTask, noTask(), `SELECT `+taskColumns+` FROM tasks WHERE id = ?`, id)
}

// CreateTask stores v with a name that is free in its project and a block of ports.
func (t *Tx) CreateTask(ctx context.Context, v Task) (Task, error) {
	if v.ID == "" {
		v.ID = ids.New()
	}
	if v.State == "" {
		v.State = api.TaskCreating
	}
	if v.Sandbox == "" {
		v.Sandbox = "off"
	}
	if v.Created.IsZero() {
		v.Created = t.now()
	}
	v.Created, v.ArchivedAt, v.Revision = unstamp(stamp(v.Created)), unstamp(stamp(v.ArchivedAt)), 1
	project, err := t.Project(ctx, v.ProjectID)
	if err != nil {
		return Task{}, err
	}
	if !project.Removed.IsZero() {
		return Task{}, fault.New(fault.NotFound, "There is no such project")
	}
	if err := t.checkTask(ctx, &v, false); err != nil {
		return Task{}, err
	}
	if v.Position == 0 {
		if err := t.q.QueryRowContext(ctx, `SELECT COALESCE(MAX(position), 0) + 1 FROM tasks WHERE project_id = ? AND archived_at = 0`,
			v.ProjectID).Scan(&v.Position); err != nil {
			return Task{}, err
		}
	}
	args, err := taskArgs(v)
	if err != nil {
		return Task{}, err
	}
	_, err = t.q.ExecContext(ctx, `INSERT INTO tasks (`+taskColumns+`)
		VALUES (`+marks(args)+`)`, args...)
	return v, err
}

// UpdateTask lets fn change a copy of the task and stores it with the next revision. Its id, project and time of birth
// stay. A task that becomes archived gives its ports free and its waiting prompts are cancelled; one that comes back
// needs a name that is free, and gets other ports if its own were taken.
func (t *Tx) UpdateTask(ctx context.Context, id string, fn func(*Task) error) (Task, error) {
	old, err := t.Task(ctx, id)
	if err != nil {
		return Task{}, err
	}
	v := old
	if err := fn(&v); err != nil {
		return Task{}, err
	}
	v.ID, v.ProjectID, v.Created, v.Revision = old.ID, old.ProjectID, old.Created, old.Revision+1
	v.ArchivedAt = unstamp(stamp(v.ArchivedAt))
	if err := t.checkTask(ctx, &v, !old.Archived()); err != nil {
		return Task{}, err
	}
	args, err := taskArgs(v)
	if err != nil {
		return Task{}, err
	}
	if err := t.changed(ctx, noTask(), `UPDATE tasks SET (`+taskColumns+`) = (`+marks(args)+`)
		WHERE id = ?`, append(args, id)...); err != nil {
		return Task{}, err
	}
	if v.Archived() && !old.Archived() {
		err = t.cancelPrompts(ctx, "task_id", id, "the task was archived")
	}
	return v, err
}

// DeleteTask erases a task with its tabs and prompts, as if it had never been; for a creation that is taken back.
func (t *Tx) DeleteTask(ctx context.Context, id string) error {
	return t.changed(ctx, noTask(), `DELETE FROM tasks WHERE id = ?`, id)
}

func taskArgs(v Task) ([]any, error) {
	texts, err := listTexts(v.MCPProjects, v.Warnings, v.Log, v.MCPAgents, v.SandboxRead, v.SandboxWrite, v.SandboxHosts, v.Secrets)
	if err != nil {
		return nil, err
	}
	return []any{v.ID, v.ProjectID, v.Name, v.Branch, v.BaseRef, v.BaseCommit, v.Path, v.Agent, v.State, v.Error, v.IsMain,
		nullable(v.ParentID), v.Depth, v.Sandbox, v.MCP, texts[0], v.Yolo, v.Port, v.Position, stamp(v.Created), stamp(v.ArchivedAt),
		v.BackupRef, v.ReusedBranch, texts[1], texts[2], v.Revision, v.AppliedTree, texts[3], texts[4], texts[5], texts[6], v.FromCage, v.Race, texts[7]}, nil
}

// checkTask refuses bad texts and a name that is taken, and makes sure of a block of ports. Programs of a task that was live
// before may be listening on its own.
func (t *Tx) checkTask(ctx context.Context, v *Task, live bool) error {
	if err := firstError(limit("name", v.Name, MaxName), limit("branch", v.Branch, MaxPath), limit("base", v.BaseRef, MaxPath),
		limit("commit", v.BaseCommit, MaxName), limit("path", v.Path, MaxPath), limit("agent", v.Agent, MaxName),
		limit("error", v.Error, MaxText), limit("backup ref", v.BackupRef, MaxPath), limit("state", v.State, MaxName),
		limit("sandbox mode", v.Sandbox, MaxName), limit("race", v.Race, MaxName)); err != nil {
		return err
	}
	if v.Name == "" {
		return fault.New(fault.InvalidArgument, "A task needs a name")
	}
	if v.FromCage && len(v.Secrets) > 0 {
		return fault.New(fault.Internal, "A task that a caged agent made names secrets")
	}
	if v.Archived() {
		return nil
	}
	taken, err := t.exists(ctx, `SELECT 1 FROM tasks WHERE project_id = ? AND name = ? AND archived_at = 0 AND id <> ?`,
		v.ProjectID, v.Name, v.ID)
	if err != nil {
		return err
	}
	if taken {
		return fault.New(fault.Conflict, "There is a task named %q in this project already", v.Name).WithHint("Choose another name.")
	}
	return t.reservePorts(ctx, v, live)
}
