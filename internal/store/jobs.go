package store

import (
	"context"
	"slices"
	"strings"

	"termic/internal/fault"
	"termic/internal/ids"
)

// Bounds of jobs.
const (
	MaxJobResult = 64 << 10 // bytes of a result that is kept
	MaxJobLines  = 1000     // lines of a job's log that are kept; later ones are dropped
	maxJobLine   = 4096     // bytes of one of them
	maxJobEvents = 100      // events of a job that are kept
	jobsMost     = 1000     // jobs that one reading returns
	jobsUsual    = 100      // when no number is named
)

const jobColumns = `id, verb, principal, token, face, target, state, outcome, message, result, started, ended`

func scanJob(row scanner) (Job, error) {
	var v Job
	var started, ended int64
	err := row.Scan(&v.ID, &v.Verb, &v.Principal, &v.Token, &v.Face, &v.Target, &v.State, &v.Outcome, &v.Message, &v.Result, &started, &ended)
	v.Started, v.Ended = unstamp(started), unstamp(ended)
	return v, err
}

func noJob() error { return fault.New(fault.NotFound, "There is no such job") }

// Job returns a job by id; ended ones are kept for 30 days.
func (r Reader) Job(ctx context.Context, id string) (Job, error) {
	return one(ctx, r, scanJob, noJob(), `SELECT `+jobColumns+` FROM jobs WHERE id = ?`, id)
}

// Jobs returns jobs, newest first.
func (r Reader) Jobs(ctx context.Context, f JobFilter) ([]Job, error) {
	where, args := f.where()
	limit := f.Limit
	if limit == 0 {
		limit = jobsUsual
	}
	args = append(args, min(max(limit, 1), jobsMost))
	return many(ctx, r, scanJob, `SELECT `+jobColumns+` FROM jobs WHERE `+where+` ORDER BY id DESC LIMIT ?`, args...)
}

// AreProjects are those of some ids that are of projects, also of removed ones.
func (r Reader) AreProjects(ctx context.Context, ids []string) (map[string]bool, error) {
	args := texts(ids)
	list, err := many(ctx, r, func(row scanner) (id string, err error) { return id, row.Scan(&id) }, `SELECT id FROM projects WHERE id IN (`+marks(args)+`)`, args...)
	out := make(map[string]bool, len(list))
	for _, id := range list {
		out[id] = true
	}
	return out, err
}

// ApprovalsOfJobs are the ids of the newest approvals of some jobs, by the id of the job.
func (r Reader) ApprovalsOfJobs(ctx context.Context, jobs []string) (map[string]string, error) {
	type row struct{ job, approval string }
	args := texts(jobs)
	list, err := many(ctx, r, func(s scanner) (v row, err error) { return v, s.Scan(&v.job, &v.approval) },
		`SELECT job_id, MAX(id) FROM approvals WHERE job_id IN (`+marks(args)+`) GROUP BY job_id`, args...)
	out := make(map[string]string, len(list))
	for _, v := range list {
		out[v.job] = v.approval
	}
	return out, err
}

// texts are strings as arguments of a query.
func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// CountJobs counts jobs, without the limit of the filter.
func (r Reader) CountJobs(ctx context.Context, f JobFilter) (int, error) {
	where, args := f.where()
	return one(ctx, r, func(row scanner) (n int, err error) { return n, row.Scan(&n) }, noJob(), `SELECT COUNT(*) FROM jobs WHERE `+where, args...)
}

// where is the condition on the jobs that a filter lets through.
func (f *JobFilter) where() (string, []any) {
	where, args := []string{"1"}, []any{}
	for _, c := range []struct{ column, value string }{{"id", f.ID}, {"state", f.State}, {"verb", f.Verb}, {"target", f.Target}} {
		if c.value != "" {
			where, args = append(where, c.column+" = ?"), append(args, c.value)
		}
	}
	if f.Before != "" {
		where, args = append(where, "id < ?"), append(args, f.Before)
	}
	if f.Within != nil {
		condition, more := f.Within.where()
		where, args = append(where, condition), append(args, more...)
	}
	return strings.Join(where, " AND "), args
}

// StartJob stores a running job, with the event that it was asked for.
func (t *Tx) StartJob(ctx context.Context, v Job) (Job, error) {
	if v.ID == "" {
		v.ID = ids.New()
	}
	if v.Started.IsZero() {
		v.Started = t.now()
	}
	v.State, v.Outcome, v.Message, v.Result, v.Started, v.Ended = JobRunning, "", "", "", unstamp(stamp(v.Started)), unstamp(0)
	_, err := t.q.ExecContext(ctx, `INSERT INTO jobs (`+jobColumns+`) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)`,
		v.ID, v.Verb, v.Principal, v.Token, v.Face, v.Target, v.State, v.Outcome, v.Message, v.Result, stamp(v.Started), 0)
	if err != nil {
		return v, err
	}
	return v, t.AddJobEvent(ctx, v.ID, "asked", "asked by "+v.Principal+" via "+v.Face)
}

// WaitJob makes a running job one that waits for an approval.
func (t *Tx) WaitJob(ctx context.Context, id, text string) error {
	return t.moveJob(ctx, id, JobRunning, JobWaiting, "waiting", text)
}

// ResumeJob makes a waiting job a running one.
func (t *Tx) ResumeJob(ctx context.Context, id, text string) error {
	return t.moveJob(ctx, id, JobWaiting, JobRunning, "approved", text)
}

func (t *Tx) moveJob(ctx context.Context, id, from, to, kind, text string) error {
	missing := fault.New(fault.Conflict, "The job is not %s any more", from)
	if err := t.changed(ctx, missing, `UPDATE jobs SET state = ? WHERE id = ? AND state = ?`, to, id, from); err != nil {
		return err
	}
	return t.AddJobEvent(ctx, id, kind, text)
}

// SetJobTarget says what a job turned out to be about.
func (t *Tx) SetJobTarget(ctx context.Context, id, target string) error {
	_, err := t.q.ExecContext(ctx, `UPDATE jobs SET target = ? WHERE id = ?`, target, id)
	return err
}

// EndJob ends a running or waiting job. A job that has ended already is a conflict.
func (t *Tx) EndJob(ctx context.Context, id string, end JobEnd) error {
	if len(end.Result) > MaxJobResult {
		end.Result = ""
	}
	if err := firstError(limit("outcome", end.Outcome, MaxName), limit("message", end.Message, MaxText)); err != nil {
		return err
	}
	job, err := t.Job(ctx, id)
	if err != nil {
		return err
	}
	if job.State != JobRunning && job.State != JobWaiting {
		return fault.New(fault.Conflict, "The job has ended: %s", job.State)
	}
	if end.Result == "" {
		end.Result = job.Result
	}
	_, err = t.q.ExecContext(ctx, `UPDATE jobs SET state = ?, outcome = ?, message = ?, result = ?, ended = ? WHERE id = ?`,
		end.State, end.Outcome, end.Message, end.Result, stamp(t.now()), id)
	if err != nil {
		return err
	}
	text := end.State
	if end.Message != "" {
		text += ": " + end.Message
	}
	return t.AddJobEvent(ctx, id, "ended", text)
}

// SetJobResult keeps what the call gave while its job goes on.
func (t *Tx) SetJobResult(ctx context.Context, id, result string) error {
	if len(result) > MaxJobResult {
		return nil
	}
	_, err := t.q.ExecContext(ctx, `UPDATE jobs SET result = ? WHERE id = ?`, result, id)
	return err
}

// InterruptRunningJobs is for a start: what ran, or waited for an approval, when the app ended is marked so. It returns how many
// there were. A job whose prompt is still queued goes on with it.
func (t *Tx) InterruptRunningJobs(ctx context.Context) (int, error) {
	jobs, err := many(ctx, t.Reader, scanJob, `SELECT `+jobColumns+` FROM jobs WHERE state IN ('running', 'waiting')
		AND id NOT IN (SELECT job_id FROM prompts WHERE state = 'queued')`)
	if err != nil {
		return 0, err
	}
	for _, j := range jobs {
		why := "Termic ended while it ran"
		if j.State == JobWaiting {
			why = "Termic ended while it waited for approval"
		}
		if err := t.EndJob(ctx, j.ID, JobEnd{State: JobInterrupted, Outcome: string(fault.Unavailable), Message: why}); err != nil {
			return 0, err
		}
	}
	return len(jobs), nil
}

// endJobsOf is endJobOf for prompts that are in their last state already.
func (t *Tx) endJobsOf(ctx context.Context, list []Prompt) error {
	for _, p := range list {
		if err := t.endJobOf(ctx, p, p.State, p.Reason); err != nil {
			return err
		}
	}
	return nil
}

// endJobOf ends the job of a prompt that came to its end, if it is not repeated and the job runs.
func (t *Tx) endJobOf(ctx context.Context, p Prompt, state, reason string) error {
	if p.Job == "" || p.Repeats > 0 && state == PromptDelivered {
		return nil
	}
	end := JobEnd{State: JobFailed, Outcome: string(fault.Unavailable), Message: reason}
	switch state {
	case PromptQueued, PromptDelivering:
		return t.AddJobEvent(ctx, p.Job, state, "")
	case PromptDelivered:
		end = JobEnd{State: JobDone, Outcome: "ok"}
	case PromptCancelled:
		end.State = JobCancelled
	case PromptUnknown:
		end.State = JobInterrupted
	}
	err := t.EndJob(ctx, p.Job, end)
	if code := fault.CodeOf(err); code == fault.Conflict || code == fault.NotFound {
		return nil // it ended before its prompt, or was forgotten
	}
	return err
}

func scanJobEvent(row scanner) (JobEvent, error) {
	var v JobEvent
	var at int64
	err := row.Scan(&v.Seq, &at, &v.Kind, &v.Text, &v.Job)
	v.Time = unstamp(at)
	return v, err
}

// JobEvents returns the events of a job after a sequence number, oldest first.
func (r Reader) JobEvents(ctx context.Context, id string, after int64) ([]JobEvent, error) {
	return many(ctx, r, scanJobEvent, `SELECT seq, time, kind, text, job_id FROM job_events WHERE job_id = ? AND seq > ? ORDER BY seq`, id, after)
}

// RecentJobEvents returns the newest events after a sequence number of all jobs that are within; nil for all. The oldest of them
// comes first.
func (r Reader) RecentJobEvents(ctx context.Context, within *JobReach, after int64) ([]JobEvent, error) {
	where, args := "1", []any{after}
	if within != nil {
		condition, more := within.where()
		where, args = "job_id IN (SELECT id FROM jobs WHERE "+condition+")", append(args, more...)
	}
	list, err := many(ctx, r, scanJobEvent, `SELECT seq, time, kind, text, job_id FROM job_events WHERE seq > ? AND `+where+` ORDER BY seq DESC LIMIT ?`, append(args, jobsUsual)...)
	slices.Reverse(list)
	return list, err
}

// where is the condition on jobs that are within reach.
func (r *JobReach) where() (string, []any) {
	in := texts(r.Projects)
	args := append(append([]any{r.Token}, in...), in...)
	return "(token <> '' AND token = ? AND target = '' OR target IN (" + marks(in) + ") OR target IN (SELECT id FROM tasks WHERE project_id IN (" + marks(in) + ")))", args
}

// AddJobEvent appends an event, unless the job has as many as are kept.
func (t *Tx) AddJobEvent(ctx context.Context, id, kind, text string) error {
	_, err := t.q.ExecContext(ctx, `INSERT INTO job_events (job_id, time, kind, text)
		SELECT ?1, ?2, ?3, ?4 WHERE (SELECT COUNT(*) FROM job_events WHERE job_id = ?1) < ?5`, id, stamp(t.now()), kind, cut(text, maxJobLine), maxJobEvents)
	return err
}

func scanJobLine(row scanner) (JobLine, error) {
	var v JobLine
	var at int64
	err := row.Scan(&v.Seq, &at, &v.Line)
	v.Time = unstamp(at)
	return v, err
}

// JobLog returns the lines of a job after a sequence number, oldest first.
func (r Reader) JobLog(ctx context.Context, id string, after int64) ([]JobLine, error) {
	return many(ctx, r, scanJobLine, `SELECT seq, time, line FROM job_log WHERE job_id = ? AND seq > ? ORDER BY seq`, id, after)
}

// AddJobLines appends lines to the log of a job, up to as many as are kept; each is cut to 4 KiB.
func (t *Tx) AddJobLines(ctx context.Context, id string, lines []string) error {
	if id == "" || len(lines) == 0 {
		return nil
	}
	var have int
	if err := t.q.QueryRowContext(ctx, `SELECT COUNT(*) FROM job_log WHERE job_id = ?`, id).Scan(&have); err != nil {
		return err
	}
	room := max(MaxJobLines-have, 0)
	for _, line := range slices.Clone(lines[:min(room, len(lines))]) {
		if _, err := t.q.ExecContext(ctx, `INSERT INTO job_log (job_id, time, line) VALUES (?,?,?)`, id, stamp(t.now()), cut(line, maxJobLine)); err != nil {
			return err
		}
	}
	return nil
}

// cut shortens text to at most so many bytes of valid UTF-8, without NUL.
func cut(text string, most int) string {
	text = strings.ReplaceAll(text, "\x00", "")
	if len(text) > most {
		text = text[:most]
	}
	return strings.ToValidUTF8(text, "")
}
