package store

import (
	"context"
	"fmt"
	"strings"

	"termic/internal/fault"
	"termic/internal/ids"
)

// Bounds of approvals.
const (
	MaxPendingOfToken = 16  // pending approvals that one token may have asked for
	MaxPending        = 256 // of all tokens together
	MaxReason         = 500 // bytes of a reason
)

const approvalColumns = `id, job_id, token, principal, face, verb, task_id, project_id, arguments, digest, bound, plan, state, created, expires,
	decided_by, decided_on, reason, decided`

func scanApproval(row scanner) (Approval, error) {
	var v Approval
	var created, expires, decided int64
	err := row.Scan(&v.ID, &v.Job, &v.Token, &v.Principal, &v.Face, &v.Verb, &v.TaskID, &v.ProjectID, &v.Arguments, &v.Digest, &v.Bound, &v.Plan,
		&v.State, &created, &expires, &v.DecidedBy, &v.DecidedOn, &v.Reason, &decided)
	v.Created, v.Expires, v.Decided = unstamp(created), unstamp(expires), unstamp(decided)
	return v, err
}

// Approval returns an approval by id; those that are over are kept for 30 days.
func (r Reader) Approval(ctx context.Context, id string) (Approval, error) {
	missing := fault.New(fault.NotFound, "There is no such approval")
	return one(ctx, r, scanApproval, missing, `SELECT `+approvalColumns+` FROM approvals WHERE id = ?`, id)
}

// Approvals returns approvals, newest first.
func (r Reader) Approvals(ctx context.Context, f ApprovalFilter) ([]Approval, error) {
	where, args := []string{"1"}, []any{}
	for _, c := range []struct{ column, value string }{{"id", f.ID}, {"state", f.State}, {"token", f.Token}, {"job_id", f.Job}} {
		if c.value != "" {
			where, args = append(where, c.column+" = ?"), append(args, c.value)
		}
	}
	if f.Before != "" {
		where, args = append(where, "id < ?"), append(args, f.Before)
	}
	if f.Within != nil {
		in := texts(f.Within.Projects)
		where, args = append(where, "project_id IN ("+marks(in)+")"), append(args, in...)
	}
	limit := f.Limit
	if limit == 0 {
		limit = jobsUsual
	}
	args = append(args, min(max(limit, 1), jobsMost))
	return many(ctx, r, scanApproval, `SELECT `+approvalColumns+` FROM approvals WHERE `+strings.Join(where, " AND ")+` ORDER BY id DESC LIMIT ?`, args...)
}

// PendingApprovals counts those that wait.
func (r Reader) PendingApprovals(ctx context.Context) (n int, err error) {
	err = r.q.QueryRowContext(ctx, `SELECT COUNT(*) FROM approvals WHERE state = 'pending'`).Scan(&n)
	return n, wrap(err, "count approvals")
}

// AddApproval stores a pending approval. More than MaxPendingOfToken of a token, and more than MaxPending, are conflicts.
func (t *Tx) AddApproval(ctx context.Context, v Approval) (Approval, error) {
	var mine, all int
	err := t.q.QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(SUM(token = ?), 0) FROM approvals WHERE state = 'pending'`, v.Token).Scan(&all, &mine)
	if err != nil {
		return v, fmt.Errorf("count approvals: %w", err)
	}
	if mine >= MaxPendingOfToken || all >= MaxPending {
		return v, fault.New(fault.Conflict, "There are %d approvals that wait to be decided, and no more are taken", max(mine, min(all, MaxPending))).
			WithHint("Wait until some are decided, or cancel the job of one.")
	}
	if v.ID == "" {
		v.ID = ids.New()
	}
	if v.Created.IsZero() {
		v.Created = t.now()
	}
	v.State, v.Created, v.Expires = ApprovalPending, unstamp(stamp(v.Created)), unstamp(stamp(v.Expires))
	v.DecidedBy, v.DecidedOn, v.Reason, v.Decided = "", "", "", unstamp(0)
	if err := firstError(limit("arguments", v.Arguments, MaxText), limit("plan", v.Plan, MaxText), limit("state", v.Bound, MaxText)); err != nil {
		return v, err
	}
	_, err = t.q.ExecContext(ctx, `INSERT INTO approvals (`+approvalColumns+`) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		v.ID, v.Job, v.Token, v.Principal, v.Face, v.Verb, v.TaskID, v.ProjectID, v.Arguments, v.Digest, v.Bound, v.Plan, v.State, stamp(v.Created),
		stamp(v.Expires), "", "", "", 0)
	return v, err
}

// EndApproval takes an approval out of the state from. One that is in another state is a conflict: whoever comes first
// decides.
func (t *Tx) EndApproval(ctx context.Context, id, from string, v Verdict) error {
	if err := limit("reason", v.Reason, MaxReason); err != nil {
		return err
	}
	have, err := t.Approval(ctx, id)
	if err != nil {
		return err
	}
	return t.changed(ctx, fault.New(fault.Conflict, "The approval was %s already", have.State).WithData("state", have.State),
		`UPDATE approvals SET state = ?, decided_by = ?, decided_on = ?, reason = ?, decided = ? WHERE id = ? AND state = ?`,
		v.State, v.By, v.On, v.Reason, stamp(t.now()), id, from)
}
