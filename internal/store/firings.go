package store

import (
	"context"
	"fmt"
	"time"

	"termic/internal/fault"
)

// What can come of a firing. The first two are those of one that has not ended.
const (
	FiringWaiting = "waiting" // it will act
	FiringActing  = "acting"  // it acts; when Termic ends now, nobody knows how far it came
	FiringDone    = "done"    // its call was let through, and began
	FiringRefused = "refused" // its call was not let through
	FiringFailed  = "failed"  // its call was let through and failed
	FiringHeld    = "held"    // the rule fires too often, or events go in a circle
	FiringSkipped = "skipped" // a due that is not caught up with, or that would overlap
	FiringMissed  = "missed"  // Termic ended before it acted
	FiringUnknown = "unknown" // Termic ended while it acted
)

// Firing is one time that a rule acted, or was about to.
type Firing struct {
	Seq      int64 // made by AddFiring
	Event    string
	Rule     string
	RuleName string
	Time     time.Time
	Verb     string // of the action
	Outcome  string
	Detail   string // why, where nothing came of it
	Task     string // that it made or sent to
	Job      string
}

const firingColumns = `seq, event_id, rule_id, rule_name, time, verb, outcome, detail, task_id, job_id`

func scanFiring(row scanner) (Firing, error) {
	var v Firing
	var at int64
	err := row.Scan(&v.Seq, &v.Event, &v.Rule, &v.RuleName, &at, &v.Verb, &v.Outcome, &v.Detail, &v.Task, &v.Job)
	v.Time = unstamp(at)
	return v, err
}

// AddFiring stores a firing.
func (t *Tx) AddFiring(ctx context.Context, v Firing) (Firing, error) {
	if v.Time.IsZero() {
		v.Time = t.now()
	}
	v.Time, v.Detail = unstamp(stamp(v.Time)), cut(v.Detail, MaxDetail)
	res, err := t.q.ExecContext(ctx, `INSERT INTO firings (event_id, rule_id, rule_name, time, verb, outcome, detail, task_id, job_id) VALUES (?,?,?,?,?,?,?,?,?)`,
		v.Event, v.Rule, v.RuleName, stamp(v.Time), v.Verb, v.Outcome, v.Detail, v.Task, v.Job)
	if err != nil {
		return Firing{}, fmt.Errorf("keep a firing: %w", err)
	}
	v.Seq, err = res.LastInsertId()
	return v, err
}

// SetFiring takes a firing from an outcome to that of v, with what came of it. One that has another outcome is a conflict: of two
// that take it, one comes second.
func (t *Tx) SetFiring(ctx context.Context, from string, v Firing) error {
	return t.changed(ctx, fault.New(fault.Conflict, "The firing is not %s any more", from),
		`UPDATE firings SET outcome = ?, detail = ?, task_id = COALESCE(NULLIF(?, ''), task_id), job_id = COALESCE(NULLIF(?, ''), job_id) WHERE seq = ? AND outcome = ?`,
		v.Outcome, cut(v.Detail, MaxDetail), v.Task, v.Job, v.Seq, from)
}

// SetFiringWork notes the job that a firing is, or the task that it made; what is empty stays as it is.
func (t *Tx) SetFiringWork(ctx context.Context, seq int64, job, task string) error {
	_, err := t.q.ExecContext(ctx, `UPDATE firings SET task_id = COALESCE(NULLIF(?, ''), task_id), job_id = COALESCE(NULLIF(?, ''), job_id) WHERE seq = ?`, task, job, seq)
	return err
}

// FiringsOf returns what followed from an event, in the order in which it did.
func (r Reader) FiringsOf(ctx context.Context, event string) ([]Firing, error) {
	return many(ctx, r, scanFiring, `SELECT `+firingColumns+` FROM firings WHERE event_id = ? ORDER BY seq`, event)
}

// FiringBefore returns the newest firing of a rule before another that did something, or was about to.
func (r Reader) FiringBefore(ctx context.Context, rule string, seq int64) (Firing, error) {
	return one(ctx, r, scanFiring, fault.New(fault.NotFound, "There is none before"),
		`SELECT `+firingColumns+` FROM firings WHERE rule_id = ? AND seq < ? AND outcome IN ('acting', 'done', 'unknown') ORDER BY seq DESC LIMIT 1`, rule, seq)
}

// Firing returns a firing by its sequence number.
func (r Reader) Firing(ctx context.Context, seq int64) (Firing, error) {
	return one(ctx, r, scanFiring, fault.New(fault.NotFound, "There is no such firing"), `SELECT `+firingColumns+` FROM firings WHERE seq = ?`, seq)
}

// LastFirings returns the newest firing of each rule, by the id of the rule.
func (r Reader) LastFirings(ctx context.Context) (map[string]Firing, error) {
	list, err := many(ctx, r, scanFiring, `SELECT `+firingColumns+` FROM firings WHERE seq IN (SELECT MAX(seq) FROM firings GROUP BY rule_id)`)
	out := make(map[string]Firing, len(list))
	for _, f := range list {
		out[f.Rule] = f
	}
	return out, err
}

// FollowedFrom counts by event what followed: how many firings did something, and how many did not. Only those of some rules count,
// unless that is nil.
func (r Reader) FollowedFrom(ctx context.Context, events, rules []string) (map[string][2]int, error) {
	args := make([]any, len(events))
	for i, e := range events {
		args[i] = e
	}
	of := ""
	in := marks(args)
	if rules != nil {
		mine := make([]any, len(rules))
		for i, id := range rules {
			mine[i] = id
		}
		of, args = " AND rule_id IN ("+marks(mine)+")", append(args, mine...)
	}
	type count struct {
		event string
		n     [2]int
	}
	list, err := many(ctx, r, func(row scanner) (c count, err error) {
		return c, row.Scan(&c.event, &c.n[0], &c.n[1])
	}, `SELECT event_id, SUM(outcome IN ('waiting', 'acting', 'done')), SUM(outcome NOT IN ('waiting', 'acting', 'done')) FROM firings
		WHERE event_id IN (`+in+`)`+of+` GROUP BY event_id`, args...)
	out := make(map[string][2]int, len(list))
	for _, c := range list {
		out[c.event] = c.n
	}
	return out, err
}

// ActedSince returns how often a rule acted since a time, for events about a subject, or for all when that is empty; and when last,
// the zero time for never.
func (r Reader) ActedSince(ctx context.Context, rule, subject string, since time.Time) (n int, last time.Time, err error) {
	query, args := ``, []any{rule, stamp(since)}
	if subject != "" {
		query, args = ` AND event_id IN (SELECT id FROM events WHERE subject = ?)`, append(args, subject)
	}
	var at int64
	err = r.q.QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(MAX(time), 0) FROM firings
		WHERE rule_id = ? AND time > ? AND outcome IN ('waiting', 'acting', 'done', 'failed', 'unknown')`+query, args...).Scan(&n, &at)
	return n, unstamp(at), wrap(err, "count firings")
}

// WaitingFirings returns those that have not begun to act, oldest first.
func (r Reader) WaitingFirings(ctx context.Context, most int) ([]Firing, error) {
	return many(ctx, r, scanFiring, `SELECT `+firingColumns+` FROM firings WHERE outcome = 'waiting' ORDER BY seq LIMIT ?`, most)
}

// DepthOf is how many firings led to what a prompt makes a task do: that of the firing which sent it, as the job of the prompt
// tells, or which made the task, for a prompt without a job. 0 for what people ask for.
func (r Reader) DepthOf(ctx context.Context, task, job string) (int, error) {
	condition, arg := `f.job_id = ?`, job
	if job == "" {
		condition, arg = `f.task_id = ? AND f.verb = 'task_new'`, task
	}
	var depth int
	err := r.q.QueryRowContext(ctx, `SELECT COALESCE(MAX(COALESCE(e.depth, 0) + 1), 0) FROM firings f LEFT JOIN events e ON e.id = f.event_id WHERE `+condition, arg).Scan(&depth)
	return depth, wrap(err, "look for what led here")
}

// DepthAround is how many firings led to what a task does since a time, whoever its agent is prompted by now.
func (r Reader) DepthAround(ctx context.Context, task string, since time.Time) (int, error) {
	var depth int
	err := r.q.QueryRowContext(ctx, `SELECT COALESCE(MAX(COALESCE(e.depth, 0) + 1), 0) FROM firings f LEFT JOIN events e ON e.id = f.event_id
		WHERE f.task_id = ? AND f.time > ? AND f.outcome IN ('acting', 'done', 'unknown')`, task, stamp(since)).Scan(&depth)
	return depth, wrap(err, "look for what led here")
}

// InterruptFirings ends the firings that the end of the app cut short: those that waited did nothing, and of those that acted
// nobody knows how far they came. It returns how many of each.
func (t *Tx) InterruptFirings(ctx context.Context) (missed, unknown int64, err error) {
	for _, v := range []struct {
		from, to, why string
		n             *int64
	}{{FiringWaiting, FiringMissed, "Termic ended before it acted.", &missed}, {FiringActing, FiringUnknown, "Termic ended while it acted; look at what it was to do.", &unknown}} {
		res, err := t.q.ExecContext(ctx, `UPDATE firings SET outcome = ?, detail = ? WHERE outcome = ?`, v.to, v.why, v.from)
		if err != nil {
			return 0, 0, err
		}
		if *v.n, err = res.RowsAffected(); err != nil {
			return 0, 0, err
		}
	}
	return missed, unknown, nil
}

// pruneEvents drops the oldest events, and firings, beyond what is kept. What bounds are counted by stays whatever comes: else whoever
// can make events would only have to make many, for a rule to act more often than it may, or a request to be told twice.
func (t *Tx) pruneEvents(ctx context.Context) error {
	const counts = `(outcome IN ('waiting', 'acting') OR outcome IN ('done', 'failed', 'unknown') AND time > ?)`
	acted := stamp(t.now().Add(-keepActed))
	if _, err := t.q.ExecContext(ctx, `DELETE FROM firings WHERE seq <= (SELECT COALESCE(MAX(seq), 0) FROM firings) - ? AND NOT `+counts, MaxEvents, acted); err != nil {
		return fmt.Errorf("drop old firings: %w", err)
	}
	if _, err := t.q.ExecContext(ctx, `DELETE FROM events WHERE seq <= (SELECT COALESCE(MAX(seq), 0) FROM events) - ? AND NOT (once <> '' AND time > ?)
		AND id NOT IN (SELECT event_id FROM firings WHERE `+counts+`)`, MaxEvents, stamp(t.now().Add(-keepOnce)), acted); err != nil {
		return fmt.Errorf("drop old events: %w", err)
	}
	return nil
}
