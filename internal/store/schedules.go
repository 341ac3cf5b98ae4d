package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"termic/internal/fault"
)

// When says when a schedule is due: by the clock on a wall, or again and again after a time.
type When struct {
	Cron   string        `json:"cron,omitempty"`   // five fields, or a name such as @daily
	Every  time.Duration `json:"every,omitempty"`  // between two dues, where there is no cron
	Zone   string        `json:"zone,omitempty"`   // name of the time zone of Cron; empty for that of the machine
	Jitter time.Duration `json:"jitter,omitempty"` // each due is put off by up to this
	Missed string        `json:"missed"`           // what comes of dues that passed while nobody looked: MissedSkip or MissedOnce
	// Overlap lets a due act while the task that the one before it made still works.
	Overlap bool `json:"overlap,omitempty"`
}

// What comes of dues that passed while Termic did not run or the machine slept.
const (
	MissedSkip = "skip" // nothing
	MissedOnce = "once" // one run for all of them together
)

// Schedule is a rule that acts when its time has come.
type Schedule struct {
	Rule
	When    When
	LastDue time.Time // the newest due that was taken, whatever came of it; until there is one, when it was made or changed
	LastRan time.Time // when it acted last
}

const scheduleColumns = ruleColumns + `, spec, last_due, last_ran`

func scanSchedule(row scanner) (Schedule, error) {
	var v Schedule
	var r ruleRow
	var spec string
	var due, ran int64
	if err := row.Scan(append(v.dests(&r), &spec, &due, &ran)...); err != nil {
		return Schedule{}, err
	}
	v.LastDue, v.LastRan = unstamp(due), unstamp(ran)
	if err := json.Unmarshal([]byte(spec), &v.When); err != nil {
		return Schedule{}, fmt.Errorf("time of schedule %s: %w", v.ID, err)
	}
	return v, v.fill(r)
}

func noSchedule(name string) error { return fault.New(fault.NotFound, "There is no schedule %q", name) }

// Schedule returns a schedule by its name, without regard to ASCII case, or by its id.
func (r Reader) Schedule(ctx context.Context, name string) (Schedule, error) {
	return one(ctx, r, scanSchedule, noSchedule(name), `SELECT `+scheduleColumns+` FROM schedules WHERE name = ?1 OR id = upper(?1) ORDER BY name <> ?1 LIMIT 1`, name)
}

// Schedules returns the schedules, by name.
func (r Reader) Schedules(ctx context.Context) ([]Schedule, error) {
	return many(ctx, r, scanSchedule, `SELECT `+scheduleColumns+` FROM schedules ORDER BY name`)
}

// AddSchedule stores a schedule. A name that another one has, and one more than MaxRules, are conflicts.
func (t *Tx) AddSchedule(ctx context.Context, v Schedule) (Schedule, error) {
	if err := t.roomForRule(ctx, "schedules", "schedule", v.Name); err != nil {
		return Schedule{}, err
	}
	values, err := v.values(t.now())
	if err != nil {
		return Schedule{}, err
	}
	spec, err := json.Marshal(v.When)
	if err != nil {
		return Schedule{}, fmt.Errorf("time of a schedule: %w", err)
	}
	_, err = t.q.ExecContext(ctx, `INSERT INTO schedules (`+scheduleColumns+`) VALUES (?,?,?,?,?,?,?,?,?,?,?)`,
		append(values, string(spec), stamp(v.LastDue), stamp(v.LastRan))...)
	return v, err
}

// UpdateSchedule changes a schedule; its name and its creator stay.
func (t *Tx) UpdateSchedule(ctx context.Context, id string, fn func(*Schedule) error) (Schedule, error) {
	v, err := t.Schedule(ctx, id)
	if err != nil {
		return Schedule{}, err
	}
	if err := fn(&v); err != nil {
		return Schedule{}, err
	}
	values, err := v.values(t.now())
	if err != nil {
		return Schedule{}, err
	}
	spec, err := json.Marshal(v.When)
	if err != nil {
		return Schedule{}, fmt.Errorf("time of a schedule: %w", err)
	}
	_, err = t.q.ExecContext(ctx, `UPDATE schedules SET action = ?, enabled = ?, stopped = ?, updated = ?, spec = ?, last_due = ?, last_ran = ? WHERE id = ?`,
		values[2], values[4], values[5], values[7], string(spec), stamp(v.LastDue), stamp(v.LastRan), v.ID)
	return v, err
}

// DeleteSchedule forgets a schedule; what it did stays among the firings.
func (t *Tx) DeleteSchedule(ctx context.Context, id string) error {
	return t.changed(ctx, noSchedule(id), `DELETE FROM schedules WHERE id = ?`, id)
}

// TakeDue notes that a due of a schedule was taken, so that no other run takes it. It is a conflict when another one than last was the
// newest before, or the schedule is off.
func (t *Tx) TakeDue(ctx context.Context, id string, last, due time.Time, ran bool) error {
	query, args := `UPDATE schedules SET last_due = ?1 WHERE id = ?2 AND last_due = ?3 AND enabled AND stopped = ''`, []any{stamp(due), id, stamp(last)}
	if ran {
		query, args = `UPDATE schedules SET last_due = ?1, last_ran = ?4 WHERE id = ?2 AND last_due = ?3 AND enabled AND stopped = ''`, append(args, stamp(t.now()))
	}
	return t.changed(ctx, fault.New(fault.Conflict, "The due was taken already"), query, args...)
}
