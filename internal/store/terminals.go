package store

import (
	"context"
	"encoding/json"

	"termic/internal/fault"
	"termic/internal/ids"
)

const terminalColumns = `id, tab_id, task_id, pid, pgid, sid, start_ticks, boot_id, created, capability`

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
