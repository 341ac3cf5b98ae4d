package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"termic/internal/fault"
	"termic/internal/ids"
)

// MaxRules is how many triggers there may be, and how many schedules.
const MaxRules = 10_000

// MaxDetail is how many bytes are kept of why a rule stopped, and of what came of a firing.
const MaxDetail = 1000

// Creator is who made a rule, as its call was let in. What it may do now is computed from that anew at each firing.
type Creator struct {
	Principal  string   `json:"principal"`
	Class      string   `json:"class"`
	Token      string   `json:"token,omitempty"` // id of a named token; empty for others
	Task       string   `json:"task,omitempty"`  // id of the task whose agent it was; empty for others
	Projects   []string `json:"projects,omitempty"`
	Everywhere bool     `json:"everywhere,omitempty"`
	Face       string   `json:"face"` // that it came by
}

// Action is what a rule does: one call of a verb.
type Action struct {
	Verb   string          `json:"verb"`   // task_new or task_send
	Params json.RawMessage `json:"params"` // of the verb, without a prompt that is made at the firing
	// Facts appends what is known of the event to the prompt, marked as data.
	Facts bool `json:"facts,omitempty"`
}

// Rule is what triggers and schedules have in common.
type Rule struct {
	ID      string // made when empty
	Name    string // unique among its kind without regard to ASCII case
	Action  Action
	Creator Creator
	Enabled bool
	// Stopped says why Termic switched the rule off for good: its creator may not do any more what it was made with.
	Stopped string
	Created time.Time
	Updated time.Time
}

// ruleRow is a rule on its way from the database.
type ruleRow struct {
	action, creator  string
	created, updated int64
}

func (r *Rule) dests(row *ruleRow) []any {
	return []any{&r.ID, &r.Name, &row.action, &row.creator, &r.Enabled, &r.Stopped, &row.created, &row.updated}
}

func (r *Rule) fill(row ruleRow) error {
	r.Created, r.Updated = unstamp(row.created), unstamp(row.updated)
	if err := json.Unmarshal([]byte(row.action), &r.Action); err != nil {
		return fmt.Errorf("action of rule %s: %w", r.ID, err)
	}
	if err := json.Unmarshal([]byte(row.creator), &r.Creator); err != nil {
		return fmt.Errorf("creator of rule %s: %w", r.ID, err)
	}
	return nil
}

// values are what ruleColumns hold of a rule.
func (r *Rule) values(now time.Time) ([]any, error) {
	if r.ID == "" {
		r.ID = ids.New()
	}
	if r.Created.IsZero() {
		r.Created = now
	}
	r.Created, r.Updated = unstamp(stamp(r.Created)), unstamp(stamp(now))
	action, err := json.Marshal(r.Action)
	if err != nil {
		return nil, fmt.Errorf("action of a rule: %w", err)
	}
	creator, err := json.Marshal(r.Creator)
	if err != nil {
		return nil, fmt.Errorf("creator of a rule: %w", err)
	}
	r.Stopped = cut(r.Stopped, MaxDetail)
	err = firstError(limit("name", r.Name, MaxName), limit("action of a rule", string(action), MaxText))
	return []any{r.ID, r.Name, string(action), string(creator), r.Enabled, r.Stopped, stamp(r.Created), stamp(r.Updated)}, err
}

const ruleColumns = `id, name, action, creator, enabled, stopped, created, updated`

// roomForRule refuses one more row of a table of rules, and a name that is taken there.
func (t *Tx) roomForRule(ctx context.Context, table, what, name string) error {
	var n int
	if err := t.q.QueryRowContext(ctx, `SELECT COUNT(*) FROM `+table).Scan(&n); err != nil {
		return wrap(err, "count rules")
	}
	if n >= MaxRules {
		return fault.New(fault.Conflict, "There are %d %ss, and no more can be kept", n, what).WithHint("Delete some that nobody needs.")
	}
	taken, err := t.exists(ctx, `SELECT 1 FROM `+table+` WHERE name = ?`, name)
	if err == nil && taken {
		err = fault.New(fault.Conflict, "There is a %s called %q", what, name).WithHint("Take another name, or change that one.")
	}
	return err
}

// stopRule switches a rule of a table off for good.
func (t *Tx) stopRule(ctx context.Context, table, id, why string) error {
	_, err := t.q.ExecContext(ctx, `UPDATE `+table+` SET stopped = ?, updated = ? WHERE id = ? AND stopped = ''`, cut(why, MaxDetail), stamp(t.now()), id)
	return err
}

// StopTrigger notes why a trigger stopped; one that stopped before keeps its first reason.
func (t *Tx) StopTrigger(ctx context.Context, id, why string) error {
	return t.stopRule(ctx, "triggers", id, why)
}

// StopSchedule notes why a schedule stopped; one that stopped before keeps its first reason.
func (t *Tx) StopSchedule(ctx context.Context, id, why string) error {
	return t.stopRule(ctx, "schedules", id, why)
}
