package store

import (
	"context"
	"encoding/json"
	"fmt"

	"termic/internal/fault"
)

// Match says which events of a kind a trigger follows. An empty field matches all.
type Match struct {
	Subject string            `json:"subject,omitempty"` // pattern of path.Match
	Project string            `json:"project,omitempty"` // id
	Facts   map[string]string `json:"facts,omitempty"`   // each must be there, and be this when written as text
}

// Trigger is a rule that follows events.
type Trigger struct {
	Rule
	Kind  string // of event
	Match Match
}

const triggerColumns = ruleColumns + `, kind, match`

func scanTrigger(row scanner) (Trigger, error) {
	var v Trigger
	var r ruleRow
	var match string
	if err := row.Scan(append(v.dests(&r), &v.Kind, &match)...); err != nil {
		return Trigger{}, err
	}
	if err := json.Unmarshal([]byte(match), &v.Match); err != nil {
		return Trigger{}, fmt.Errorf("match of trigger %s: %w", v.ID, err)
	}
	return v, v.fill(r)
}

func noTrigger(name string) error { return fault.New(fault.NotFound, "There is no trigger %q", name) }

// Trigger returns a trigger by its name, without regard to ASCII case, or by its id.
func (r Reader) Trigger(ctx context.Context, name string) (Trigger, error) {
	return one(ctx, r, scanTrigger, noTrigger(name), `SELECT `+triggerColumns+` FROM triggers WHERE name = ?1 OR id = upper(?1) ORDER BY name <> ?1 LIMIT 1`, name)
}

// Triggers returns the triggers, by name.
func (r Reader) Triggers(ctx context.Context) ([]Trigger, error) {
	return many(ctx, r, scanTrigger, `SELECT `+triggerColumns+` FROM triggers ORDER BY name`)
}

// TriggersOf returns the triggers that follow a kind of event, in the order in which they were made.
func (r Reader) TriggersOf(ctx context.Context, kind string) ([]Trigger, error) {
	return many(ctx, r, scanTrigger, `SELECT `+triggerColumns+` FROM triggers WHERE kind = ? ORDER BY id`, kind)
}

// AddTrigger stores a trigger. A name that another one has, and one more than MaxRules, are conflicts.
func (t *Tx) AddTrigger(ctx context.Context, v Trigger) (Trigger, error) {
	if err := t.roomForRule(ctx, "triggers", "trigger", v.Name); err != nil {
		return Trigger{}, err
	}
	values, err := v.values(t.now())
	if err != nil {
		return Trigger{}, err
	}
	match, err := json.Marshal(v.Match)
	if err != nil {
		return Trigger{}, fmt.Errorf("match of a trigger: %w", err)
	}
	_, err = t.q.ExecContext(ctx, `INSERT INTO triggers (`+triggerColumns+`) VALUES (?,?,?,?,?,?,?,?,?,?)`, append(values, v.Kind, string(match))...)
	return v, err
}

// UpdateTrigger changes a trigger; its name and its creator stay.
func (t *Tx) UpdateTrigger(ctx context.Context, id string, fn func(*Trigger) error) (Trigger, error) {
	v, err := t.Trigger(ctx, id)
	if err != nil {
		return Trigger{}, err
	}
	if err := fn(&v); err != nil {
		return Trigger{}, err
	}
	values, err := v.values(t.now())
	if err != nil {
		return Trigger{}, err
	}
	match, err := json.Marshal(v.Match)
	if err != nil {
		return Trigger{}, fmt.Errorf("match of a trigger: %w", err)
	}
	_, err = t.q.ExecContext(ctx, `UPDATE triggers SET action = ?, enabled = ?, stopped = ?, updated = ?, kind = ?, match = ? WHERE id = ?`,
		values[2], values[4], values[5], values[7], v.Kind, string(match), v.ID)
	return v, err
}

// DeleteTrigger forgets a trigger; what it did stays among the firings.
func (t *Tx) DeleteTrigger(ctx context.Context, id string) error {
	return t.changed(ctx, noTrigger(id), `DELETE FROM triggers WHERE id = ?`, id)
}
