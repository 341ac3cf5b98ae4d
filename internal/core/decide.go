package core

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/ids"
	"termic/internal/store"
)

// Actor carries out a call that was approved, or that a rule makes. The dispatcher is the one there is: it reads the arguments and
// finds the target as it does for every call.
type Actor interface {
	// Prepare reads the call again, for whoever asked as its token is now. It does nothing.
	Prepare(ctx context.Context, caller grant.Caller, verb string, raw json.RawMessage) (Prepared, error)
	// Check says whether a call of a rule would be let through if it came now, and reads it. It does nothing, and tells the ledger
	// nothing; what it returns cannot be run.
	Check(ctx context.Context, caller grant.Caller, verb string, raw json.RawMessage) (Prepared, error)
	// Act makes a call as a rule, like any other.
	Act(ctx context.Context, caller grant.Caller, verb string, raw json.RawMessage) (Acted, error)
}

// Prepared is a call that can be carried out.
type Prepared struct {
	Params any
	Task   string // its target; empty for what is about a project
	Run    func(ctx context.Context, call *Call) (any, error)
}

// ApprovalList is the verb approval_list.
func (c *Core) ApprovalList(ctx context.Context, call *Call, p api.ApprovalListParams) (api.ApprovalListResult, error) {
	c.expire(ctx)
	f := store.ApprovalFilter{State: orElse(p.State, store.ApprovalPending), Before: strings.ToUpper(p.Before), Limit: int(min(p.Limit, 1000)), Within: reachOf(call.Caller)}
	if f.State == "all" {
		f.State = ""
	}
	list, err := c.store.Approvals(ctx, f)
	out := make([]api.Approval, len(list))
	for i, a := range list {
		out[i] = c.viewApproval(ctx, a, false)
	}
	return api.ApprovalListResult{Approvals: out}, err
}

// ApprovalGet is the verb approval_get.
func (c *Core) ApprovalGet(ctx context.Context, call *Call, p api.ApprovalParams) (api.ApprovalResult, error) {
	c.expire(ctx)
	a, err := c.approvalOf(ctx, call.Caller, p.Approval)
	if err != nil {
		return api.ApprovalResult{}, err
	}
	return api.ApprovalResult{Approval: c.viewApproval(ctx, a, true)}, nil
}

// ApprovalDecide is the verb approval_decide, and the only way in which an approval is decided, on every face. What was approved
// is carried out before it answers, with what the token that asked may do now.
func (c *Core) ApprovalDecide(ctx context.Context, call *Call, p api.ApprovalDecideParams) (api.ApprovalDecideResult, error) {
	if len(p.Reason) > store.MaxReason {
		return api.ApprovalDecideResult{}, fault.New(fault.InvalidArgument, "The reason is %d bytes long; at most %d are taken", len(p.Reason), store.MaxReason)
	}
	release, err := c.hold(ctx, "approval:"+strings.ToUpper(p.Approval)) // of two who decide at once, one comes second
	if err != nil {
		return api.ApprovalDecideResult{}, err
	}
	defer release()
	a, err := c.approvalOf(ctx, call.Caller, p.Approval)
	if err != nil {
		return api.ApprovalDecideResult{}, err
	}
	call.Task = a.TaskID
	if err := mayDecide(call.Caller, a); err != nil {
		return api.ApprovalDecideResult{}, err
	}
	if a.State == store.ApprovalPending && c.due(a) {
		if err := c.lapse(ctx, a); err != nil {
			return api.ApprovalDecideResult{}, err
		}
		a.State = store.ApprovalExpired
	}
	if a.State != store.ApprovalPending {
		return api.ApprovalDecideResult{}, fault.New(fault.Conflict, "The approval is %s already", a.State).WithData("state", a.State)
	}
	if p.Decision == "deny" {
		v := store.Verdict{State: store.ApprovalDenied, By: call.Caller.Principal, On: string(call.Caller.Face), Reason: p.Reason}
		if err := c.claim(ctx, call, a, v); err != nil {
			return api.ApprovalDecideResult{}, err
		}
		return c.decided(ctx, a.ID, api.ApprovalDecideResult{Outcome: store.ApprovalDenied})
	}
	return c.approve(ctx, call, a, p.Reason)
}

// mayDecide refuses whoever may not decide an approval: nobody but the owner and tokens with the scope approve, and never who
// asked, by what is recorded of it. A token that has the name of the one which asked is taken for the same, since whoever read
// the one's file reads the other's.
func mayDecide(caller grant.Caller, a store.Approval) error {
	if caller.Class != grant.Owner && caller.Class != grant.Approve {
		return fault.New(fault.Forbidden, "Only the owner and tokens with the scope approve decide")
	}
	if strings.EqualFold(caller.Principal, a.Principal) || caller.Token != "" && caller.Token == a.Token {
		return fault.New(fault.Forbidden, "Whoever asked cannot decide").WithHint("The owner decides, or another token with the scope approve.")
	}
	return nil
}

// approve carries an approval out.
func (c *Core) approve(ctx context.Context, call *Call, a store.Approval, reason string) (api.ApprovalDecideResult, error) {
	act, prepared, err := c.prepare(ctx, call, a)
	if err == nil {
		err = c.unchanged(ctx, act, prepared, a)
	}
	if err != nil {
		return api.ApprovalDecideResult{}, c.wentStale(ctx, call, a, store.ApprovalPending, err)
	}
	v := store.Verdict{State: store.ApprovalApproved, By: call.Caller.Principal, On: string(call.Caller.Face), Reason: reason}
	if err := c.claim(ctx, call, a, v); err != nil {
		if _, stale := errors.AsType[*staleError](err); stale {
			err = c.wentStale(ctx, call, a, store.ApprovalPending, err)
		}
		return api.ApprovalDecideResult{}, err
	}
	result, err := c.carryOut(ctx, act, prepared, a)
	if _, stale := errors.AsType[*staleError](err); stale {
		return api.ApprovalDecideResult{}, c.wentStale(ctx, call, a, store.ApprovalApproved, err)
	}
	out := api.ApprovalDecideResult{Outcome: "ok", Result: result}
	if err != nil {
		f := fault.From(err)
		out.Outcome, out.Message, out.Result = string(f.Code), sentence(f), nil
	}
	return c.decided(ctx, a.ID, out)
}

// prepare reads again what was asked for, for the token that asked as it is now.
func (c *Core) prepare(ctx context.Context, call *Call, a store.Approval) (*Call, Prepared, error) {
	requester, err := c.requester(ctx, a)
	if err != nil {
		return nil, Prepared{}, err
	}
	if call.Actor == nil {
		return nil, Prepared{}, fault.New(fault.Unavailable, "Nothing can be carried out here")
	}
	prepared, err := call.Actor.Prepare(ctx, requester, a.Verb, json.RawMessage(a.Arguments))
	if err != nil {
		return nil, Prepared{}, &staleError{fault.Wrap(err, fault.Conflict, "What was asked for is not possible any more, so nothing was done: %s", fault.From(err).Message)}
	}
	act := &Call{ID: ids.New(), Verb: a.Verb, Caller: requester, Task: prepared.Task, Job: a.Job, bound: boundTo{}}
	if err := json.Unmarshal([]byte(a.Bound), &act.bound); err != nil || len(act.bound) == 0 {
		return nil, Prepared{}, fault.Wrap(err, fault.Internal, "What the approval is bound to cannot be read")
	}
	if prepared.Task != a.TaskID {
		return nil, Prepared{}, &staleError{fault.New(fault.Conflict, "The name that was given means another task now, so nothing was done")}
	}
	if hashOf([]any{a.Verb, askedFor(prepared.Params)}) != a.Digest {
		return nil, Prepared{}, &staleError{fault.New(fault.Conflict, "The arguments are not those that were shown, so nothing was done")}
	}
	return act, prepared, nil
}

// unchanged looks whether everything is as it was shown, so that what is stale is refused before anything is claimed. What holds
// is the look that the act itself takes, under its locks.
func (c *Core) unchanged(ctx context.Context, act *Call, prepared Prepared, a store.Approval) error {
	look := *act
	look.bound = nil
	now, err := c.planGated(ctx, &look, prepared.Params)
	if err != nil {
		return &staleError{fault.Wrap(err, fault.Conflict, "What was asked for would be refused now, so nothing was done: %s", fault.From(err).Message)}
	}
	for part, digest := range act.bound {
		if now.bound[part] != digest {
			return errStale(part)
		}
	}
	if len(now.bound) != len(act.bound) || now.project.ID != a.ProjectID {
		return errStale("")
	}
	return nil
}

// claim decides an approval that is pending: from here on nobody else can. For the moment no token changes, and both that of who
// decides and that of who asked are looked at again.
func (c *Core) claim(ctx context.Context, call *Call, a store.Approval, v store.Verdict) error {
	release, err := c.holdTokens(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := c.stillDecides(ctx, call.Caller, a); err != nil {
		return err
	}
	if v.State == store.ApprovalDenied {
		return c.endPending(ctx, a, v, v.By)
	}
	if _, err := c.requester(ctx, a); err != nil {
		return err
	}
	row := store.LedgerRow{Phase: store.PhaseDone, Call: a.ID, Principal: v.By, Face: v.On, Verb: "approval_end", Target: aboutOf(a), Outcome: v.State, Shape: "verb:" + a.Verb}
	done := context.WithoutCancel(ctx)
	err = c.store.AppendWith(done, row, func(tx *store.Tx) error {
		if err := tx.EndApproval(done, a.ID, store.ApprovalPending, v); err != nil {
			return err
		}
		return tx.ResumeJob(done, a.Job, "approved by "+v.By+" via "+v.On)
	})
	if err == nil {
		c.approvals.forget(a.ID)
		c.beacon.change()
	}
	return err
}

// stillDecides looks at the token of who decides as it is stored now; its call may have been let in before it was narrowed.
func (c *Core) stillDecides(ctx context.Context, caller grant.Caller, a store.Approval) error {
	if caller.Class == grant.Owner {
		return nil
	}
	t, found, err := c.tokenByID(ctx, caller.Token)
	if err != nil {
		return err
	}
	if !found || grant.Class(t.Scope) != grant.Approve || !t.Everywhere && !slices.Contains(t.Projects, a.ProjectID) {
		return grant.ErrRevoked
	}
	return nil
}

// carryOut runs what was approved, as a call of whoever asked, and ends its job. Whoever decided may go away meanwhile.
func (c *Core) carryOut(ctx context.Context, act *Call, prepared Prepared, a store.Approval) (any, error) {
	ctx, forget := c.jobs.under(context.WithoutCancel(ctx), a.Job)
	defer forget()
	row := store.LedgerRow{Call: act.ID, Principal: a.Principal, Face: a.Face, Verb: a.Verb, Target: aboutOf(a), Shape: "approval:" + a.ID}
	row.Phase = store.PhaseAsked
	result, err := any(nil), c.Record(ctx, row, true)
	if err == nil {
		result, err = prepared.Run(ctx, act)
	}
	row.Phase, row.Outcome = store.PhaseDone, "ok"
	var raw json.RawMessage
	if err != nil {
		row.Outcome = string(fault.CodeOf(err))
	} else if raw, err = json.Marshal(result); err != nil {
		return nil, err
	}
	if eerr := c.EndCall(context.WithoutCancel(ctx), act, row, raw, err); eerr != nil {
		c.log.Error("the end of what was approved could not be written down", "approval", a.ID, "err", eerr)
	}
	return result, err
}

// wentStale notes why an approval was not carried out, and returns that.
func (c *Core) wentStale(ctx context.Context, call *Call, a store.Approval, from string, why error) error {
	if _, stale := errors.AsType[*staleError](why); !stale {
		return why // it says nothing about the approval: it may be decided again
	}
	v := store.Verdict{State: store.ApprovalStale, By: call.Caller.Principal, On: string(call.Caller.Face), Reason: cutReason(fault.From(why).Message)}
	var err error
	if from == store.ApprovalPending {
		err = c.endPending(ctx, a, v, byTermic)
	} else {
		done := context.WithoutCancel(ctx)
		row := store.LedgerRow{Phase: store.PhaseDone, Call: a.ID, Principal: byTermic, Verb: "approval_end", Target: aboutOf(a), Outcome: v.State, Shape: "verb:" + a.Verb}
		err = c.store.AppendWith(done, row, func(tx *store.Tx) error { return tx.EndApproval(done, a.ID, from, v) })
		c.beacon.change()
	}
	if err != nil && fault.CodeOf(err) != fault.Conflict {
		c.log.Error("a stale approval could not be noted", "approval", a.ID, "err", err)
	}
	return fault.From(why).WithData("state", store.ApprovalStale)
}

func cutReason(s string) string {
	if len(s) > store.MaxReason {
		s = strings.ToValidUTF8(s[:store.MaxReason], "")
	}
	return s
}

// decided is the answer of a decision.
func (c *Core) decided(ctx context.Context, id string, out api.ApprovalDecideResult) (api.ApprovalDecideResult, error) {
	a, err := c.store.Approval(context.WithoutCancel(ctx), id)
	out.Approval = c.viewApproval(ctx, a, false)
	return out, err
}

// approvalOf finds an approval that a caller may know of: about a project that it reaches. Any other answers as one that does not
// exist.
func (c *Core) approvalOf(ctx context.Context, caller grant.Caller, id string) (store.Approval, error) {
	list, err := c.store.Approvals(ctx, store.ApprovalFilter{ID: strings.ToUpper(id), Limit: 1, Within: reachOf(caller)})
	if err == nil && (len(list) == 0 || id == "") {
		err = fault.New(fault.NotFound, "There is no approval %q", id).WithHint("approval_list shows those that wait.")
	}
	if err != nil {
		return store.Approval{}, err
	}
	return list[0], nil
}

// viewApproval is what is shown of an approval. full adds what it is about in detail.
func (c *Core) viewApproval(_ context.Context, a store.Approval, full bool) api.Approval {
	v := api.Approval{ID: a.ID, Job: a.Job, State: a.State, Verb: a.Verb, Principal: a.Principal, Face: a.Face, TaskID: a.TaskID, ProjectID: a.ProjectID,
		Created: stamp(a.Created), Expires: stamp(a.Expires), DecidedBy: a.DecidedBy, DecidedOn: a.DecidedOn, Decided: stamp(a.Decided), Reason: a.Reason,
		Digest: hashOf([]string{a.Digest, a.Bound})}
	var shown shownPlan
	if err := json.Unmarshal([]byte(a.Plan), &shown); err != nil {
		c.log.Error("the plan of an approval cannot be read", "approval", a.ID, "err", err)
	}
	v.Task, v.Project, v.Summary = shown.Task, shown.Project, shown.Plan.Summary
	if full {
		v.Plan, v.Arguments = &shown.Plan, json.RawMessage(a.Arguments)
	}
	return v
}

// shownPlan is what is stored of what was shown.
type shownPlan struct {
	Task    string           `json:"task"`
	Project string           `json:"project"`
	Plan    api.ApprovalPlan `json:"plan"`
}
