package store

import (
	"context"
	"encoding/json"

	"termic/internal/fault"
	"termic/internal/ids"
)

const (
	terminalColumns = `id, tab_id, task_id, pid, pgid, sid, start_ticks, boot_id, created, capability`
	jobColumns      = `id, verb, principal, face, target, state, outcome, started, ended`
)

func scanTerminal(row scanner) (Terminal, error) {
	var v Terminal
	var ticks, created int64
	err := row.Scan(&v.ID, &v.TabID, &v.TaskID, &v.PID, &v.PGID, &v.SID, &ticks, &v.BootID, &created, &v.Capability)
	v.StartTicks, v.Created = uint64(ticks), unstamp(created)
	return v, err
}

// Terminals returns the children that are running or were when the app was killed.
func (r Reader) Terminals(ctx context.Context) ([]Terminal, error) {
	return many(ctx, r, scanTerminal, `SELECT `+terminalColumns+` FROM terminals ORDER BY created, id`)
}

// PutTerminal writes down a child, in place of an earlier row with its id.
func (t *Tx) PutTerminal(ctx context.Context, v Terminal) (Terminal, error) {
	if v.ID == "" {
		v.ID = ids.New()
	}
	if v.Created.IsZero() {
		v.Created = t.now()
	}
	v.Created = unstamp(stamp(v.Created))
	if err := limit("capability", v.Capability, MaxText); err != nil {
		return Terminal{}, err
	}
	_, err := t.q.ExecContext(ctx, `INSERT OR REPLACE INTO terminals (`+terminalColumns+`) VALUES (?,?,?,?,?,?,?,?,?,?)`,
		v.ID, v.TabID, v.TaskID, v.PID, v.PGID, v.SID, int64(v.StartTicks), v.BootID, stamp(v.Created), v.Capability)
	return v, err
}

// DeleteTerminal forgets a child that was seen to end. Forgetting one twice is no error.
func (t *Tx) DeleteTerminal(ctx context.Context, id string) error {
	_, err := t.q.ExecContext(ctx, `DELETE FROM terminals WHERE id = ?`, id)
	return err
}

func scanIntent(row scanner) (Intent, error) {
	var v Intent
	var payload string
	var created int64
	err := row.Scan(&v.ID, &v.Kind, &payload, &created)
	v.Payload, v.Created = []byte(payload), unstamp(created)
	return v, err
}

// Intents returns what was begun and not ended, oldest first.
func (r Reader) Intents(ctx context.Context) ([]Intent, error) {
	return many(ctx, r, scanIntent, `SELECT id, kind, payload, created FROM intents ORDER BY created, id`)
}

// BeginIntent writes down what is about to be done. Its payload must be JSON.
func (t *Tx) BeginIntent(ctx context.Context, v Intent) (Intent, error) {
	if v.ID == "" {
		v.ID = ids.New()
	}
	if v.Created.IsZero() {
		v.Created = t.now()
	}
	if len(v.Payload) == 0 {
		v.Payload = []byte("null")
	}
	if !json.Valid(v.Payload) {
		return Intent{}, fault.New(fault.Internal, "The payload of an intent is not JSON")
	}
	v.Created = unstamp(stamp(v.Created))
	if err := firstError(limit("kind", v.Kind, MaxName), limit("payload", string(v.Payload), MaxText)); err != nil {
		return Intent{}, err
	}
	_, err := t.q.ExecContext(ctx, `INSERT INTO intents (id, kind, payload, created) VALUES (?,?,?,?)`, v.ID, v.Kind, string(v.Payload), stamp(v.Created))
	return v, err
}

// EndIntent forgets an intent that was done or undone. Forgetting one twice is no error.
func (t *Tx) EndIntent(ctx context.Context, id string) error {
	_, err := t.q.ExecContext(ctx, `DELETE FROM intents WHERE id = ?`, id)
	return err
}

func scanJob(row scanner) (Job, error) {
	var v Job
	var started, ended int64
	err := row.Scan(&v.ID, &v.Verb, &v.Principal, &v.Face, &v.Target, &v.State, &v.Outcome, &started, &ended)
	v.Started, v.Ended = unstamp(started), unstamp(ended)
	return v, err
}

func noJob() error { return fault.New(fault.NotFound, "There is no such job") }

// Job returns a job by id; ended ones are kept for 30 days.
func (r Reader) Job(ctx context.Context, id string) (Job, error) {
	return one(ctx, r, scanJob, noJob(), `SELECT `+jobColumns+` FROM jobs WHERE id = ?`, id)
}

// StartJob stores a running job.
func (t *Tx) StartJob(ctx context.Context, v Job) (Job, error) {
	if v.ID == "" {
		v.ID = ids.New()
	}
	if v.Started.IsZero() {
		v.Started = t.now()
	}
	v.State, v.Outcome, v.Started, v.Ended = JobRunning, "", unstamp(stamp(v.Started)), unstamp(0)
	_, err := t.q.ExecContext(ctx, `INSERT INTO jobs (`+jobColumns+`) VALUES (?,?,?,?,?,?,?,?,?)`,
		v.ID, v.Verb, v.Principal, v.Face, v.Target, v.State, v.Outcome, stamp(v.Started), 0)
	return v, err
}

// EndJob ends a running job with state JobDone or JobFailed. A job that has ended already is a conflict.
func (t *Tx) EndJob(ctx context.Context, id, state, outcome string) error {
	if err := limit("outcome", outcome, MaxText); err != nil {
		return err
	}
	job, err := t.Job(ctx, id)
	if err != nil {
		return err
	}
	if job.State != JobRunning {
		return fault.New(fault.Conflict, "The job has ended: %s", job.State)
	}
	_, err = t.q.ExecContext(ctx, `UPDATE jobs SET state = ?, outcome = ?, ended = ? WHERE id = ?`, state, outcome, stamp(t.now()), id)
	return err
}

// InterruptRunningJobs is for a start: what ran when the app ended is marked so. It returns how many there were.
func (t *Tx) InterruptRunningJobs(ctx context.Context) (int, error) {
	res, err := t.q.ExecContext(ctx, `UPDATE jobs SET state = 'interrupted', ended = ? WHERE state = 'running'`, stamp(t.now()))
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}
