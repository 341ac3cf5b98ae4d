package core

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"termic/internal/api"
	"termic/internal/boottime"
	"termic/internal/fault"
	"termic/internal/ids"
	"termic/internal/store"
)

// ApprovalLife is how long an approval waits to be decided, by the clock on the wall or by the time that the machine has been up,
// whichever is over first: neither setting the clock nor closing the lid prolongs it.
const ApprovalLife = time.Hour

// approvalTick is how often it is looked whether some are over. A timer alone would stand still while the machine is suspended.
const approvalTick = 5 * time.Second

// byTermic is the principal of what the app does by itself.
const byTermic = "termic"

// Clock tells the time. The zero value is the machine's.
type Clock struct {
	Wall func() time.Time
	Boot func() (time.Duration, error) // since the machine was booted, the time that it was suspended included
	// Timer rings once after a time, unless it is stopped.
	Timer func(time.Duration) (rings <-chan time.Time, stop func() bool)
}

func (k Clock) timer(d time.Duration) (<-chan time.Time, func() bool) {
	if k.Timer != nil {
		return k.Timer(d)
	}
	t := time.NewTimer(d)
	return t.C, t.Stop
}

func (k Clock) wall() time.Time {
	if k.Wall != nil {
		return k.Wall()
	}
	return time.Now()
}

func (k Clock) boot() (time.Duration, error) {
	if k.Boot != nil {
		return k.Boot()
	}
	return boottime.Now()
}

// approvals are the deadlines of those that were asked for in this run of the app. Its zero value is empty.
type approvals struct {
	mu    sync.Mutex // guards the following
	until map[string]time.Duration
}

// note keeps a deadline. Without a clock that goes on in suspend there is none but the one on the wall.
func (a *approvals) note(id string, k Clock) {
	now, err := k.boot()
	if err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.until == nil {
		a.until = map[string]time.Duration{}
	}
	a.until[id] = now + ApprovalLife
}

func (a *approvals) over(id string, k Clock) bool {
	a.mu.Lock()
	until, ok := a.until[id]
	a.mu.Unlock()
	now, err := k.boot()
	return ok && err == nil && now >= until
}

func (a *approvals) forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.until, id)
}

// Raise answers a call that needs an approval: it asks for one, and does nothing of the call. The job of the call waits for it.
func (c *Core) Raise(ctx context.Context, call *Call, params any, raw json.RawMessage) (api.RaisedResult, error) {
	if call.Caller.Token == "" {
		return api.RaisedResult{}, fault.New(fault.Forbidden, "Only a token that has a name can ask for approval")
	}
	g, err := c.planGated(ctx, call, params)
	if err != nil {
		return api.RaisedResult{}, err
	}
	plan, err := json.Marshal(shownPlan{Task: g.task.Name, Project: g.project.Name, Plan: g.plan})
	if err != nil {
		return api.RaisedResult{}, err
	}
	parts, err := json.Marshal(g.bound)
	if err != nil {
		return api.RaisedResult{}, err
	}
	now := c.clock.wall()
	a := store.Approval{ID: ids.New(), Job: call.Job, Token: call.Caller.Token, Principal: call.Caller.Principal, Face: string(call.Caller.Face), Verb: call.Verb,
		TaskID: g.task.ID, ProjectID: g.project.ID, Arguments: argumentsOf(raw), Digest: hashOf([]any{call.Verb, askedFor(params)}), Bound: string(parts), Plan: string(plan),
		Created: now, Expires: now.Add(ApprovalLife)}
	c.expire(ctx)
	if err := c.replaceOlder(ctx, a); err != nil {
		return api.RaisedResult{}, err
	}
	c.approvals.note(a.ID, c.clock)
	row := store.LedgerRow{Phase: store.PhaseDone, Call: a.ID, Principal: a.Principal, Face: a.Face, Verb: "approval_raise", Target: aboutOf(a), Outcome: store.ApprovalPending, Shape: "verb:" + a.Verb}
	err = c.store.AppendWith(ctx, row, func(tx *store.Tx) error {
		if a, err = tx.AddApproval(ctx, a); err != nil {
			return err
		}
		if err := tx.SetJobTarget(ctx, a.Job, aboutOf(a)); err != nil {
			return err
		}
		return tx.WaitJob(ctx, a.Job, "waits for approval "+a.ID)
	})
	if err != nil {
		c.approvals.forget(a.ID)
		return api.RaisedResult{}, err
	}
	call.KeepJob()
	call.Outcome = store.ApprovalPending
	c.beacon.change()
	return api.RaisedResult{Job: a.Job, Approval: c.viewApproval(ctx, a, true)}, nil
}

// argumentsOf is what was given, as an object.
func argumentsOf(raw json.RawMessage) string {
	if len(strings.TrimSpace(string(raw))) == 0 {
		return "{}"
	}
	return string(raw)
}

// aboutOf is what an approval is about, for the ledger and its job.
func aboutOf(a store.Approval) string { return orElse(a.TaskID, a.ProjectID) }

// replaceOlder refuses to ask twice for the very same, and takes back an older question of the same token that no longer fits.
func (c *Core) replaceOlder(ctx context.Context, a store.Approval) error {
	list, err := c.store.Approvals(ctx, store.ApprovalFilter{State: store.ApprovalPending, Token: a.Token, Limit: store.MaxPendingOfToken})
	if err != nil {
		return err
	}
	for _, old := range list {
		if old.Digest != a.Digest || aboutOf(old) != aboutOf(a) {
			continue
		}
		if old.Bound == a.Bound {
			return fault.New(fault.Conflict, "The same waits for approval already").
				WithHint("Look at its job, %s; or cancel that.", old.Job).WithData("approval", old.ID).WithData("job", old.Job)
		}
		err := c.endPending(ctx, old, store.Verdict{State: store.ApprovalStale, Reason: "It was asked for again, as things had changed"}, byTermic)
		if err != nil && fault.CodeOf(err) != fault.Conflict {
			return err
		}
	}
	return nil
}

// endPending ends an approval that nobody carried out, with its job, and tells the ledger, in one transaction.
func (c *Core) endPending(ctx context.Context, a store.Approval, v store.Verdict, by string) error {
	ctx = context.WithoutCancel(ctx)
	row := store.LedgerRow{Phase: store.PhaseDone, Call: a.ID, Principal: by, Face: v.On, Verb: "approval_end", Target: aboutOf(a), Outcome: v.State, Shape: "verb:" + a.Verb}
	err := c.store.AppendWith(ctx, row, func(tx *store.Tx) error {
		if err := tx.EndApproval(ctx, a.ID, store.ApprovalPending, v); err != nil {
			return err
		}
		return endWaiting(ctx, tx, a.Job, jobEndOf(v))
	})
	if err == nil {
		c.approvals.forget(a.ID)
		c.beacon.change()
	}
	return err
}

// endWaiting ends the job of an approval, unless that was forgotten.
func endWaiting(ctx context.Context, tx *store.Tx, job string, end store.JobEnd) error {
	err := tx.EndJob(ctx, job, end)
	if fault.CodeOf(err) == fault.NotFound {
		return nil
	}
	return err
}

// jobEndOf says how the job of an approval ends that was not carried out.
func jobEndOf(v store.Verdict) store.JobEnd {
	end := store.JobEnd{State: store.JobFailed, Outcome: string(fault.Conflict), Message: v.Reason}
	switch v.State {
	case store.ApprovalDenied:
		end.Outcome, end.Message = string(fault.Forbidden), "Denied by "+v.By
		if v.Reason != "" {
			end.Message += ": " + v.Reason
		}
	case store.ApprovalExpired:
		end.Message = "Nobody decided in time"
	case store.ApprovalWithdrawn:
		end.State, end.Outcome = store.JobCancelled, string(fault.Unavailable)
	}
	return end
}

// due reports whether the time of a pending approval is over.
func (c *Core) due(a store.Approval) bool {
	return !c.clock.wall().Before(a.Expires) || c.approvals.over(a.ID, c.clock)
}

// expire ends the approvals whose time is over.
func (c *Core) expire(ctx context.Context) {
	list, err := c.store.Approvals(ctx, store.ApprovalFilter{State: store.ApprovalPending, Limit: store.MaxPending})
	for _, a := range list {
		if c.due(a) {
			err = errors.Join(err, c.lapse(ctx, a))
		}
	}
	if err != nil && c.ctx.Err() == nil && ctx.Err() == nil {
		c.log.Error("approvals could not be ended in time", "err", err)
	}
}

// lapse ends one of them. Somebody may have been quicker.
func (c *Core) lapse(ctx context.Context, a store.Approval) error {
	err := c.endPending(ctx, a, store.Verdict{State: store.ApprovalExpired, Reason: "Nobody decided in time"}, byTermic)
	if fault.CodeOf(err) == fault.Conflict {
		return nil
	}
	return err
}

// watchApprovals ends approvals in time. It ends with Core.
func (c *Core) watchApprovals() {
	tick := time.NewTicker(approvalTick)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.expire(c.ctx)
		case <-c.ctx.Done():
			return
		}
	}
}

// staleAtStart ends what waited when the app ended: how long ago that was, and what happened meanwhile, nobody can say.
func (c *Core) staleAtStart(ctx context.Context) error {
	list, err := c.store.Approvals(ctx, store.ApprovalFilter{State: store.ApprovalPending, Limit: store.MaxPending})
	if err != nil {
		return err
	}
	for _, a := range list {
		v := store.Verdict{State: store.ApprovalStale, Reason: "Termic was started again"}
		row := store.LedgerRow{Phase: store.PhaseDone, Call: a.ID, Principal: byTermic, Verb: "approval_end", Target: aboutOf(a), Outcome: v.State, Shape: "verb:" + a.Verb}
		err := c.store.AppendWith(ctx, row, func(tx *store.Tx) error { return tx.EndApproval(ctx, a.ID, store.ApprovalPending, v) })
		if err != nil {
			return err
		}
	}
	return nil
}

// dropApprovalsOf ends what a token that is gone asked for.
func (c *Core) dropApprovalsOf(ctx context.Context, token string) error {
	list, err := c.store.Approvals(ctx, store.ApprovalFilter{State: store.ApprovalPending, Token: token, Limit: store.MaxPendingOfToken})
	for _, a := range list {
		e := c.endPending(ctx, a, store.Verdict{State: store.ApprovalStale, Reason: "The token that asked for it was revoked"}, byTermic)
		if fault.CodeOf(e) != fault.Conflict {
			err = errors.Join(err, e)
		}
	}
	return err
}
