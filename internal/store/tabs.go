package store

import (
	"context"

	"termic/internal/fault"
	"termic/internal/ids"
)

const tabColumns = `id, task_id, kind, agent, title, command, is_default, session_id, session_used, position, created, closed_at,
	exited, exit_code, exit_signal, name, pinned`

// closedShown is how many closed tabs of a task can be listed.
const closedShown = 50

func scanTab(row scanner) (Tab, error) {
	var t Tab
	var created, closed int64
	var command string
	if err := row.Scan(&t.ID, &t.TaskID, &t.Kind, &t.Agent, &t.Title, &command, &t.IsDefault, &t.SessionID, &t.SessionUsed, &t.Position,
		&created, &closed, &t.Exited, &t.ExitCode, &t.ExitSignal, &t.Name, &t.Pinned); err != nil {
		return Tab{}, err
	}
	t.Created, t.ClosedAt = unstamp(created), unstamp(closed)
	var err error
	t.Command, err = unlist(command)
	return t, err
}

func noTab() error { return fault.New(fault.NotFound, "There is no such tab") }

// Tab returns a tab by id, also a closed one.
func (r Reader) Tab(ctx context.Context, id string) (Tab, error) {
	return one(ctx, r, scanTab, noTab(), `SELECT `+tabColumns+` FROM tabs WHERE id = ?`, id)
}

// Tabs returns the open tabs of a task in the order of the strip. Without a task it is an error: whoever lost an id shall not
// get everybody's tabs instead.
func (r Reader) Tabs(ctx context.Context, taskID string) ([]Tab, error) {
	if taskID == "" {
		return nil, noTask()
	}
	return many(ctx, r, scanTab, `SELECT `+tabColumns+` FROM tabs WHERE closed_at = 0 AND task_id = ?
		ORDER BY position, created, id`, taskID)
}

// AllTabs returns the open tabs of all tasks.
func (r Reader) AllTabs(ctx context.Context) ([]Tab, error) {
	return many(ctx, r, scanTab, `SELECT `+tabColumns+` FROM tabs WHERE closed_at = 0 ORDER BY task_id, position, created, id`)
}

// ClosedTabs returns the newest 50 closed tabs of a task, the last closed first.
func (r Reader) ClosedTabs(ctx context.Context, taskID string) ([]Tab, error) {
	return many(ctx, r, scanTab, `SELECT `+tabColumns+` FROM tabs WHERE closed_at > 0 AND task_id = ?
		ORDER BY closed_at DESC, id DESC LIMIT ?`, taskID, closedShown)
}

// LastClosed returns the tab of each task that is not archived which was closed last; scripts are left out.
func (r Reader) LastClosed(ctx context.Context) ([]Tab, error) {
	return many(ctx, r, scanTab, `SELECT `+tabColumns+` FROM tabs AS t WHERE closed_at > 0 AND kind <> '`+TabScript+`'
		AND task_id IN (SELECT id FROM tasks WHERE archived_at = 0)
		AND id = (SELECT id FROM tabs WHERE task_id = t.task_id AND closed_at > 0 AND kind <> '`+TabScript+`'
			ORDER BY closed_at DESC, id DESC LIMIT 1)`)
}

// CreateTab stores v as the last of its task's strip. A second open default tab is a conflict.
func (t *Tx) CreateTab(ctx context.Context, v Tab) (Tab, error) {
	if v.ID == "" {
		v.ID = ids.New()
	}
	if v.Created.IsZero() {
		v.Created = t.now()
	}
	v.Created, v.ClosedAt = unstamp(stamp(v.Created)), unstamp(stamp(v.ClosedAt))
	if _, err := t.Task(ctx, v.TaskID); err != nil {
		return Tab{}, err
	}
	if err := t.checkTab(ctx, v); err != nil {
		return Tab{}, err
	}
	if v.Position == 0 {
		if err := t.q.QueryRowContext(ctx, `SELECT COALESCE(MAX(position), 0) + 1 FROM tabs WHERE task_id = ? AND closed_at = 0`,
			v.TaskID).Scan(&v.Position); err != nil {
			return Tab{}, err
		}
	}
	args, err := tabArgs(v)
	if err != nil {
		return Tab{}, err
	}
	_, err = t.q.ExecContext(ctx, `INSERT INTO tabs (`+tabColumns+`) VALUES (`+marks(args)+`)`, args...)
	return v, err
}

// UpdateTab lets fn change a copy of the tab and stores it. Its id, task and time of birth stay. Setting ClosedAt closes
// it; its waiting prompts are cancelled then.
func (t *Tx) UpdateTab(ctx context.Context, id string, fn func(*Tab) error) (Tab, error) {
	old, err := t.Tab(ctx, id)
	if err != nil {
		return Tab{}, err
	}
	v := old
	if err := fn(&v); err != nil {
		return Tab{}, err
	}
	v.ID, v.TaskID, v.Created = old.ID, old.TaskID, old.Created
	v.ClosedAt = unstamp(stamp(v.ClosedAt))
	if err := t.checkTab(ctx, v); err != nil {
		return Tab{}, err
	}
	args, err := tabArgs(v)
	if err != nil {
		return Tab{}, err
	}
	if err := t.changed(ctx, noTab(), `UPDATE tabs SET (`+tabColumns+`) = (`+marks(args)+`) WHERE id = ?`,
		append(args, id)...); err != nil {
		return Tab{}, err
	}
	if !v.ClosedAt.IsZero() && old.ClosedAt.IsZero() {
		err = t.cancelPrompts(ctx, "tab_id", id, "the tab was closed")
	}
	return v, err
}

func tabArgs(v Tab) ([]any, error) {
	command, err := list(v.Command).text()
	if err != nil {
		return nil, err
	}
	return []any{v.ID, v.TaskID, v.Kind, v.Agent, v.Title, command, v.IsDefault, v.SessionID, v.SessionUsed, v.Position,
		stamp(v.Created), stamp(v.ClosedAt), v.Exited, v.ExitCode, v.ExitSignal, v.Name, v.Pinned}, nil
}

func (t *Tx) checkTab(ctx context.Context, v Tab) error {
	if err := firstError(limit("kind", v.Kind, MaxName), limit("agent", v.Agent, MaxName), limit("title", v.Title, MaxName),
		limit("name", v.Name, MaxName), limit("session id", v.SessionID, MaxPath), limit("signal", v.ExitSignal, MaxName)); err != nil {
		return err
	}
	if v.Kind == "" {
		return fault.New(fault.InvalidArgument, "A tab needs a kind")
	}
	if !v.IsDefault || !v.ClosedAt.IsZero() {
		return nil
	}
	taken, err := t.exists(ctx, `SELECT 1 FROM tabs WHERE task_id = ? AND is_default = 1 AND closed_at = 0 AND id <> ?`, v.TaskID, v.ID)
	if err != nil {
		return err
	}
	if taken {
		return fault.New(fault.Conflict, "The task has a default tab already")
	}
	return nil
}
