package core

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
)

// keyed is what parameters of a call are that can be repeated without being done twice.
type keyed interface{ Key() string }

// onceKey names a call by face, principal and verb, with a digest of what it asks for; nil when it has no key. A token that has the
// name of an earlier one has keys of its own.
func onceKey(call *Call, params any) *store.IdempotencyKey {
	k, ok := params.(keyed)
	if !ok || k.Key() == "" || call.Job == "" {
		return nil
	}
	principal := call.Caller.Principal
	if call.Caller.Token != "" {
		principal += "#" + call.Caller.Token
	}
	return &store.IdempotencyKey{Face: string(call.Caller.Face), Principal: principal, Verb: call.Verb, Key: k.Key(),
		Digest: hashOf([]any{call.Task, askedFor(params)})}
}

// askedFor is what a call asks for. Its key, how long to wait, and where it was typed are no part of that.
func askedFor(params any) map[string]any {
	raw, err := json.Marshal(params)
	var out map[string]any
	if err != nil || json.Unmarshal(raw, &out) != nil {
		return map[string]any{"": params}
	}
	for _, name := range []string{"idempotency_key", "wait", "timeoutMs", "cwd", "open"} {
		delete(out, name)
	}
	return out
}

// Repeats reports whether the call is an earlier one again, whose answer Again gives.
func (c *Call) Repeats() bool { return c.repeats }

// Kept reports whether the job of the call goes on after it, so that its answer is worth keeping even when the caller went away.
func (c *Call) Kept() bool { return c.kept }

// Spend says that something was made that a repeat would make twice: the key of the call stays taken even if it fails.
func (c *Call) Spend() { c.spent = true }

// claim ties the key of a call to its job, or makes the call the repeat of an earlier one.
func (c *Call) claim(ctx context.Context, tx *store.Tx) error {
	if c.key == nil {
		return nil
	}
	have, joined, err := tx.ClaimKey(ctx, *c.key, c.Job)
	if err != nil || !joined {
		return err
	}
	nothing, err := madeNothing(ctx, tx, have)
	if err != nil {
		return err
	}
	if nothing {
		return tx.MoveKey(ctx, *c.key, c.Job)
	}
	c.Job, c.repeats, c.kept = have, true, true
	return nil
}

// madeNothing reports whether a job was cut short by the end of the app before anything of it was written down. Whoever asks for it
// again then means it.
func madeNothing(ctx context.Context, tx *store.Tx, id string) (bool, error) {
	j, err := tx.Job(ctx, id)
	if fault.CodeOf(err) == fault.NotFound {
		return true, nil
	}
	if err != nil || j.State != store.JobInterrupted {
		return false, err
	}
	switch j.Verb {
	case "task_new":
		return j.Target == "", nil
	case "task_send":
		_, sent, err := tx.AnyPromptOfJob(ctx, id)
		return !sent, err
	}
	return false, nil
}

// Again answers a call that repeats an earlier one: with the answer of that, as soon as there is one. Nothing is done twice.
func (c *Core) Again(ctx context.Context, call *Call, params any) (any, error) {
	j, err := c.answered(ctx, call, params)
	if err != nil {
		return nil, err
	}
	if err := c.repeatReaches(ctx, call.Caller, j); err != nil {
		return nil, err
	}
	if list, err := c.store.Approvals(ctx, store.ApprovalFilter{Job: j.ID, Limit: 1}); err != nil || len(list) > 0 {
		if err != nil {
			return nil, err
		}
		return api.RaisedResult{Job: j.ID, Approval: c.viewApproval(ctx, list[0], true)}, nil
	}
	switch p := params.(type) {
	case api.TaskNewParams:
		return c.newAgain(ctx, call, j, p)
	case api.TaskSendParams:
		return c.sendAgain(ctx, call, j, p)
	case api.TaskTabParams:
		return c.tabAgain(ctx, call, j, p)
	case api.TaskRaceParams:
		return recorded[api.TaskRaceResult](j)
	case api.TaskApplyParams:
		return recorded[api.TaskApplyResult](j)
	case api.TaskArchiveParams:
		return recorded[api.TaskArchiveResult](j)
	case api.TaskTabCloseParams:
		return recorded[api.TaskTabCloseResult](j)
	case api.ProjectRemoveParams:
		return recorded[api.ProjectRemoveResult](j)
	}
	return nil, fault.New(fault.Internal, "%s has no answer for a repeat", call.Verb)
}

// answered waits until the earlier call has an answer, or is known to have none.
func (c *Core) answered(ctx context.Context, call *Call, params any) (store.Job, error) {
	until := deadline(call.Caller, 0, time.Now())
	for {
		_, changed := c.beacon.watch()
		j, err := c.store.Job(ctx, call.Job)
		if err != nil {
			return j, err
		}
		if j.Result != "" || ended(j) || j.State == store.JobWaiting {
			return j, nil
		}
		switch params.(type) {
		case api.TaskNewParams:
			if j.Target != "" {
				return j, nil
			}
		case api.TaskSendParams:
			if _, sent, err := c.store.AnyPromptOfJob(ctx, j.ID); sent || err != nil {
				return j, err
			}
		}
		if !until.IsZero() && !time.Now().Before(until) {
			return j, fault.New(fault.Unavailable, "The first call with this key is still under way").WithHint("Call again in a moment, with the same key.")
		}
		if err := c.pause(ctx, changed, until); err != nil {
			return j, err
		}
	}
}

// repeatReaches refuses the answer of an earlier call to a caller that may not read any more what that was about.
func (c *Core) repeatReaches(ctx context.Context, caller grant.Caller, j store.Job) error {
	if j.Target == "" || !bounded(caller) {
		return nil
	}
	t, err := c.store.Task(ctx, j.Target)
	switch {
	case fault.CodeOf(err) == fault.NotFound && slices.Contains(caller.Projects, j.Target):
		return nil
	case fault.CodeOf(err) == fault.NotFound:
		return outOfReach()
	case err != nil:
		return err
	}
	if j.Verb == "task_send" && confined(caller) && !mayRead(caller, t) {
		return nil // such a send answers nothing about its target
	}
	return c.readsAgain(ctx, caller, t)
}

// readsAgain refuses to tell a caller of the task that an earlier call of its was about, where it may not read that task any more.
func (c *Core) readsAgain(ctx context.Context, caller grant.Caller, t store.Task) error {
	if !mayRead(caller, t) {
		return outOfReach()
	}
	return c.reads(ctx, caller, t)
}

func outOfReach() error {
	return fault.New(fault.Conflict, "The task that this idempotency key made is out of your reach by now").WithHint("Use a new key.")
}

// recorded is the answer that an earlier call gave, or its refusal.
func recorded[T any](j store.Job) (T, error) {
	var out T
	switch {
	case j.Result != "":
		if err := json.Unmarshal([]byte(j.Result), &out); err != nil {
			return out, fault.Wrap(err, fault.Internal, "The answer of the first call cannot be read")
		}
		return out, nil
	case j.State == store.JobDone:
		return out, fault.New(fault.Conflict, "The first call with this key is done, and its answer was too long to be kept").WithHint("Take a new key for a new call.")
	}
	return out, fault.New(fault.Code(orElse(j.Outcome, string(fault.Unavailable))), "%s", strings.TrimSuffix(j.Message, ".")).
		WithHint("That was the answer to the first call with this key. Take a new key to try again.")
}

func (c *Core) newAgain(ctx context.Context, call *Call, j store.Job, p api.TaskNewParams) (api.TaskNewResult, error) {
	if j.Target == "" {
		return recorded[api.TaskNewResult](j)
	}
	call.Task = j.Target
	t, err := c.store.Task(ctx, j.Target)
	if err == nil && t.Archived() {
		err = fault.New(fault.Conflict, "The task that this idempotency key made was archived").WithHint("Use a new key.")
	}
	if err != nil {
		return api.TaskNewResult{}, err
	}
	var out api.TaskNewResult
	if j.Result != "" {
		if out, err = recorded[api.TaskNewResult](j); err != nil {
			return out, err
		}
	} else if out.Task, err = c.summary(ctx, call.Caller, t.ID); err != nil {
		return out, err
	}
	if !p.Wait || out.Wait != nil {
		return out, nil
	}
	tab, err := c.defaultTab(ctx, t.ID)
	if err != nil {
		return out, err
	}
	w, err := c.await(ctx, call, waitFor{task: t.ID, tab: tab, prompt: out.Prompt, timeoutMs: p.TimeoutMs, fresh: true})
	if err != nil {
		return out, err
	}
	out.Wait = &w
	out.Task, err = c.summary(ctx, call.Caller, t.ID)
	return out, err
}

// defaultTab is the id of the first agent's tab; empty when there is none.
func (c *Core) defaultTab(ctx context.Context, task string) (string, error) {
	tabs, err := c.store.Tabs(ctx, task)
	for _, t := range tabs {
		if t.IsDefault {
			return t.ID, err
		}
	}
	return "", err
}

func (c *Core) sendAgain(ctx context.Context, call *Call, j store.Job, p api.TaskSendParams) (api.TaskSendResult, error) {
	prompt, sent, err := c.store.AnyPromptOfJob(ctx, j.ID)
	if err != nil {
		return api.TaskSendResult{}, err
	}
	if j.Result == "" && !sent {
		return recorded[api.TaskSendResult](j)
	}
	if t, err := c.store.Task(ctx, call.Task); err != nil || !mayRead(call.Caller, t) {
		return api.TaskSendResult{Mode: api.SendAccepted}, err // nothing of the target is told, the second time neither
	}
	var out api.TaskSendResult
	if j.Result != "" {
		if out, err = recorded[api.TaskSendResult](j); err != nil {
			return out, err
		}
	} else {
		out = api.TaskSendResult{TaskID: prompt.TaskID, TabID: prompt.TabID, Mode: api.SendQueued, Prompt: prompt.ID}
		if prompt.State == store.PromptDelivered {
			out.Mode = api.SendDelivered
		}
	}
	if !p.Wait || out.Wait != nil || out.Prompt == "" {
		return out, nil
	}
	w, err := c.await(ctx, call, waitFor{task: out.TaskID, tab: out.TabID, prompt: out.Prompt, timeoutMs: p.TimeoutMs})
	if err == nil {
		out.Wait = &w
	}
	return out, err
}

func (c *Core) tabAgain(ctx context.Context, call *Call, j store.Job, p api.TaskTabParams) (api.TaskTabResult, error) {
	out, err := recorded[api.TaskTabResult](j)
	if err != nil || !p.Wait || out.Prompt == nil || out.Prompt.Wait != nil {
		return out, err
	}
	w, err := c.await(ctx, call, waitFor{task: out.TaskID, tab: out.TabID, prompt: out.Prompt.Prompt, timeoutMs: p.TimeoutMs})
	if err == nil {
		out.Prompt.Wait = &w
	}
	return out, err
}
