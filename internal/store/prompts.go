package store

import (
	"context"
	"slices"

	"termic/internal/fault"
	"termic/internal/ids"
)

const promptColumns = `id, tab_id, task_id, text, state, reason, seq, created, updated, from_task, capability, repeats, job_id`

func scanPrompt(row scanner) (Prompt, error) {
	var p Prompt
	var created, updated int64
	err := row.Scan(&p.ID, &p.TabID, &p.TaskID, &p.Text, &p.State, &p.Reason, &p.Seq, &created, &updated, &p.FromTask, &p.Capability, &p.Repeats, &p.Job)
	p.Created, p.Updated = unstamp(created), unstamp(updated)
	return p, err
}

func noPrompt() error { return fault.New(fault.NotFound, "There is no such prompt") }

// Prompt returns a prompt by id, in whatever state; finished ones are kept for 30 days.
func (r Reader) Prompt(ctx context.Context, id string) (Prompt, error) {
	return one(ctx, r, scanPrompt, noPrompt(), `SELECT `+promptColumns+` FROM prompts WHERE id = ?`, id)
}

// Prompts returns what is queued for a tab or being delivered to it, oldest first. Without a tab it is an error.
func (r Reader) Prompts(ctx context.Context, tabID string) ([]Prompt, error) {
	if tabID == "" {
		return nil, noTab()
	}
	return many(ctx, r, scanPrompt, `SELECT `+promptColumns+` FROM prompts
		WHERE state IN ('queued', 'delivering') AND tab_id = ? ORDER BY seq`, tabID)
}

// PromptsOf returns what is queued for the tabs of a task or being delivered to them, also for those that are closed, oldest
// first. Without a task it is an error.
func (r Reader) PromptsOf(ctx context.Context, taskID string) ([]Prompt, error) {
	if taskID == "" {
		return nil, noTask()
	}
	return many(ctx, r, scanPrompt, `SELECT `+promptColumns+` FROM prompts
		WHERE state IN ('queued', 'delivering') AND task_id = ? ORDER BY seq`, taskID)
}

// AnyPromptOfJob returns the prompt that a job sent, in whatever state it is.
func (r Reader) AnyPromptOfJob(ctx context.Context, job string) (Prompt, bool, error) {
	p, err := one(ctx, r, scanPrompt, noPrompt(), `SELECT `+promptColumns+` FROM prompts WHERE job_id = ? AND job_id <> '' ORDER BY seq LIMIT 1`, job)
	if fault.CodeOf(err) == fault.NotFound {
		return Prompt{}, false, nil
	}
	return p, err == nil, err
}

// PromptOfJob returns the prompt that a job sent and that is queued or being delivered.
func (r Reader) PromptOfJob(ctx context.Context, job string) (Prompt, bool, error) {
	p, err := one(ctx, r, scanPrompt, noPrompt(), `SELECT `+promptColumns+` FROM prompts WHERE job_id = ? AND job_id <> ''
		AND state IN ('queued', 'delivering') ORDER BY seq LIMIT 1`, job)
	if fault.CodeOf(err) == fault.NotFound {
		return Prompt{}, false, nil
	}
	return p, err == nil, err
}

// NextPrompt returns the oldest queued prompt of a tab. There is none while another one is being delivered to it.
func (r Reader) NextPrompt(ctx context.Context, tabID string) (Prompt, bool, error) {
	p, err := one(ctx, r, scanPrompt, noPrompt(), `SELECT `+promptColumns+` FROM prompts WHERE tab_id = ?1 AND state = 'queued'
		AND NOT EXISTS (SELECT 1 FROM prompts WHERE tab_id = ?1 AND state = 'delivering') ORDER BY seq LIMIT 1`, tabID)
	if fault.CodeOf(err) == fault.NotFound {
		return Prompt{}, false, nil
	}
	return p, err == nil, err
}

// EnqueuePrompt stores v behind all others, in state queued unless v says otherwise.
func (t *Tx) EnqueuePrompt(ctx context.Context, v Prompt) (Prompt, error) {
	if err := limit("prompt", v.Text, MaxText); err != nil {
		return Prompt{}, err
	}
	tab, err := t.Tab(ctx, v.TabID)
	if err != nil {
		return Prompt{}, err
	}
	if !tab.ClosedAt.IsZero() {
		return Prompt{}, fault.New(fault.Conflict, "The tab was closed")
	}
	if v.ID == "" {
		v.ID = ids.New()
	}
	if v.State == "" {
		v.State = PromptQueued
	}
	if v.Created.IsZero() {
		v.Created = t.now()
	}
	v.TaskID, v.Created = tab.TaskID, unstamp(stamp(v.Created))
	v.Updated = v.Created
	err = t.q.QueryRowContext(ctx, `INSERT INTO prompts (id, tab_id, task_id, text, state, reason, created, updated, from_task, capability, repeats, job_id)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?) RETURNING seq`, v.ID, v.TabID, v.TaskID, v.Text, v.State, v.Reason, stamp(v.Created), stamp(v.Updated), v.FromTask, v.Capability, v.Repeats, v.Job).Scan(&v.Seq)
	return v, err
}

// SetPromptState moves a prompt on. With from, the prompt must be in one of these states, else it is a conflict and
// stays: so a prompt that was cancelled meanwhile is not delivered.
func (t *Tx) SetPromptState(ctx context.Context, id, state, reason string, from ...string) error {
	p, err := t.Prompt(ctx, id)
	if err != nil {
		return err
	}
	if len(from) > 0 && !slices.Contains(from, p.State) {
		return fault.New(fault.Conflict, "The prompt is %s", p.State).WithData("state", p.State)
	}
	if err := limit("reason", reason, MaxText); err != nil {
		return err
	}
	if _, err = t.q.ExecContext(ctx, `UPDATE prompts SET state = ?, reason = ?, updated = ? WHERE id = ?`, state, reason, stamp(t.now()), id); err != nil {
		return err
	}
	return t.endJobOf(ctx, p, state, reason)
}

// RepeatPrompt queues a prompt that was just delivered once more, next in line, and with one repeat less. The copy is as old
// as the first one: the pause between prompts that nobody watches holds for it. One without repeats is left alone.
func (t *Tx) RepeatPrompt(ctx context.Context, id string) error {
	p, err := t.Prompt(ctx, id)
	if err != nil || p.Repeats == 0 {
		return err
	}
	next := p
	next.ID, next.State, next.Reason, next.Repeats = "", PromptQueued, "", p.Repeats-1
	task, err := t.Task(ctx, p.TaskID)
	if err != nil || task.Archived() {
		return err
	}
	next, err = t.EnqueuePrompt(ctx, next)
	if fault.CodeOf(err) == fault.Conflict {
		return nil // its tab was closed while it was typed
	}
	if err != nil {
		return err
	}
	return t.swapSeq(ctx, p, next)
}

// MovePromptUp lets a queued prompt change places with the one that is queued before it for the same tab. The first one
// stays where it is.
func (t *Tx) MovePromptUp(ctx context.Context, id string) error {
	p, err := t.Prompt(ctx, id)
	if err != nil {
		return err
	}
	if p.State != PromptQueued {
		return fault.New(fault.Conflict, "The prompt is %s", p.State).WithData("state", p.State)
	}
	before, err := one(ctx, t.Reader, scanPrompt, noPrompt(), `SELECT `+promptColumns+` FROM prompts WHERE tab_id = ? AND state = 'queued'
		AND seq < ? ORDER BY seq DESC LIMIT 1`, p.TabID, p.Seq)
	if fault.CodeOf(err) == fault.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	return t.swapSeq(ctx, p, before)
}

// swapSeq lets two prompts change places. Seq is unique, so one of the two stands aside meanwhile; those in use begin at 1.
func (t *Tx) swapSeq(ctx context.Context, a, b Prompt) error {
	for _, step := range []struct {
		id  string
		seq int64
	}{{a.ID, -a.Seq}, {b.ID, a.Seq}, {a.ID, b.Seq}} {
		if _, err := t.q.ExecContext(ctx, `UPDATE prompts SET seq = ? WHERE id = ?`, step.seq, step.id); err != nil {
			return err
		}
	}
	return nil
}

// cancelPrompts cancels what is queued for a tab or a task: column says which.
func (t *Tx) cancelPrompts(ctx context.Context, column, id, reason string) error {
	list, err := many(ctx, t.Reader, scanPrompt, `UPDATE prompts SET state = 'cancelled', reason = ?, updated = ?
		WHERE `+column+` = ? AND state = 'queued' RETURNING `+promptColumns, reason, stamp(t.now()), id)
	if err != nil {
		return err
	}
	return t.endJobsOf(ctx, list)
}

// InterruptPrompts is for a start: what was being delivered when the app ended becomes unknown, and is returned.
func (t *Tx) InterruptPrompts(ctx context.Context) ([]Prompt, error) {
	list, err := many(ctx, t.Reader, scanPrompt, `UPDATE prompts SET state = 'unknown', reason = 'Termic ended while it was being delivered',
		updated = ? WHERE state = 'delivering' RETURNING `+promptColumns, stamp(t.now()))
	if err != nil {
		return nil, err
	}
	return list, t.endJobsOf(ctx, list)
}
