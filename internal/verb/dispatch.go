package verb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
	"strings"
	"time"

	"termic/internal/api"
	"termic/internal/core"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/ids"
	"termic/internal/store"
)

// Dispatcher is the one way in. It is safe for concurrent use and holds no state of its own.
type Dispatcher struct {
	core *core.Core
	log  *slog.Logger
	spy  func(grant.Caller, string, json.RawMessage) // test hook, nil in the program
}

// NewDispatcher makes the way in to a core.
func NewDispatcher(c *core.Core, log *slog.Logger) *Dispatcher { return &Dispatcher{core: c, log: log} }

// TestOnlySpy lets a test see every call before anything else does. It must be set before the first one.
func (d *Dispatcher) TestOnlySpy(f func(grant.Caller, string, json.RawMessage)) { d.spy = f }

// Call runs a verb for a caller and returns the JSON of its result. Events of verbs that stream go to emit, in order,
// before Call returns; emit may be nil. Every error is a *fault.Error. The same call gives the same bytes on every
// face.
func (d *Dispatcher) Call(ctx context.Context, caller grant.Caller, name string, raw json.RawMessage, emit func(api.Event)) (json.RawMessage, error) {
	result, err := d.call(ctx, caller, name, raw, emit)
	if err != nil {
		return nil, fault.From(err)
	}
	out, err := json.Marshal(result)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "The result of %s could not be written", name)
	}
	return out, nil
}

// Attach is Call for the verb attach: it gives the terminal itself to a presenter that can stream it.
func (d *Dispatcher) Attach(ctx context.Context, caller grant.Caller, raw json.RawMessage, as core.AttachAs) (*core.Attachment, error) {
	result, err := d.call(core.WithAttach(ctx, as), caller, "attach", raw, nil)
	if err != nil {
		return nil, fault.From(err)
	}
	return result.(api.AttachHandle).Handle.(*core.Attachment), nil
}

func (d *Dispatcher) call(ctx context.Context, caller grant.Caller, name string, raw json.RawMessage, emit func(api.Event)) (any, error) {
	if d.spy != nil {
		d.spy(caller, name, raw)
	}
	call := &core.Call{ID: ids.New(), Caller: caller, Emit: emit, Verb: name}
	row := store.LedgerRow{Call: call.ID, Principal: caller.Principal, Face: string(caller.Face), Verb: name}
	v, ok := Lookup(name)
	if !ok || v.Local || !v.On(caller.Face) && !core.IsAttach(ctx) || !v.For(caller.Class) {
		err := unknownVerb(name)
		return nil, d.refused(ctx, row, err)
	}
	params, fields, err := d.read(ctx, v, call, raw)
	if params != nil {
		row.Shape = shape(fields, v)
	}
	if err != nil {
		return nil, d.refused(ctx, row, err)
	}
	row.Target = call.Task
	if v.Waits(caller.Class) {
		return d.run(ctx, v, call, row, params, func(ctx context.Context) (any, error) { return d.core.Raise(ctx, call, params, raw) })
	}
	call.Actor = d
	return d.run(ctx, v, call, row, params, func(ctx context.Context) (any, error) { return v.run(ctx, d.core, call, params) })
}

// read decodes the parameters of a call, finds its target and asks whether it may be about that. Parameters that are returned with
// an error are whole; it is the target that is refused. The fields are those of the parameters, as they were sent.
func (d *Dispatcher) read(ctx context.Context, v *Verb, call *core.Call, raw json.RawMessage) (params any, fields map[string]json.RawMessage, err error) {
	params, fields, err = v.decode(call.Caller, raw)
	if err != nil {
		return nil, nil, err
	}
	if t, ok := params.(targeted); ok {
		ref := t.Ref()
		if !v.CwdTarget {
			ref.Cwd = ""
		}
		call.Task, err = d.core.ResolveTask(ctx, call.Caller, ref, v.Name)
		if unnamed := ref.Task == "" && ref.Project == ""; err != nil && !(v.AnyTarget && unnamed) {
			return params, fields, err
		}
	}
	return params, fields, d.core.Permit(ctx, call, params)
}

// Prepare is the part of core.Actor: the arguments, the target and the rights of a call are looked at as if it came now.
func (d *Dispatcher) Prepare(ctx context.Context, caller grant.Caller, name string, raw json.RawMessage) (core.Prepared, error) {
	v, ok := Lookup(name)
	if !ok || !v.On(caller.Face) || !v.Waits(caller.Class) || !v.For(caller.Class) {
		return core.Prepared{}, unknownVerb(name)
	}
	call := &core.Call{Caller: caller, Verb: name}
	params, _, err := d.read(ctx, v, call, raw)
	return core.Prepared{Params: params, Task: call.Task, Run: func(ctx context.Context, act *core.Call) (any, error) {
		return d.guarded(v, act, func() (any, error) { return v.run(ctx, d.core, act, params) })
	}}, err
}

// Check is the part of core.Actor: a call of a rule is looked at as if it came now.
func (d *Dispatcher) Check(ctx context.Context, caller grant.Caller, name string, raw json.RawMessage) (core.Prepared, error) {
	v, ok := Lookup(name)
	if !ok || !caller.Face.ByRule() || !v.On(caller.Face) || !v.For(caller.Class) || v.Waits(caller.Class) {
		return core.Prepared{}, unknownVerb(name)
	}
	call := &core.Call{Caller: caller, Verb: name}
	params, _, err := d.read(ctx, v, call, raw)
	return core.Prepared{Params: params, Task: call.Task}, err
}

// Act is the part of core.Actor: a rule calls, and is let through or not as everybody is.
func (d *Dispatcher) Act(ctx context.Context, caller grant.Caller, name string, raw json.RawMessage) (core.Acted, error) {
	if !caller.Face.ByRule() {
		return core.Acted{}, unknownVerb(name)
	}
	result, err := d.call(ctx, caller, name, raw, nil)
	switch r := result.(type) {
	case api.TaskNewResult:
		return core.Acted{Task: r.Task.ID, Job: r.Job}, err
	case api.TaskSendResult:
		return core.Acted{Task: r.TaskID, Job: r.Job}, err
	}
	return core.Acted{}, err
}

// targeted is what parameters with a task in them are.
type targeted interface{ Ref() api.TaskRef }

// run tells the ledger, runs the handler and tells the ledger how it ended. A write whose asking cannot be recorded is
// not run.
func (d *Dispatcher) run(ctx context.Context, v *Verb, call *core.Call, row store.LedgerRow, params any, handler func(context.Context) (any, error)) (any, error) {
	start := time.Now()
	if v.Job {
		call.Job = ids.New()
	}
	if v.Effect.Kind != Reads {
		row.Phase = store.PhaseAsked
		under, done, err := d.core.BeginCall(ctx, call, row, params)
		if err != nil {
			return nil, d.refused(ctx, row, err)
		}
		defer done()
		ctx = under
		if call.Repeats() {
			handler = func(ctx context.Context) (any, error) { return d.core.Again(ctx, call, params) }
		}
	}
	result, err := d.guarded(v, call, func() (any, error) { return handler(ctx) })
	if cause := context.Cause(ctx); err != nil && (errors.Is(cause, grant.ErrRevoked) || errors.Is(cause, core.ErrCancelled)) {
		err = cause // whatever it was that could not be read then
	}
	row.Phase, row.Duration = store.PhaseDone, time.Since(start)
	row.Outcome = outcome(err)
	if err == nil && call.Outcome != "" {
		row.Outcome = call.Outcome
	}
	if call.Task != "" {
		row.Target = call.Task
	}
	if lerr := d.settle(ctx, v, call, row, &result, err); lerr != nil && err == nil {
		d.log.Error("ledger row lost", "verb", v.Name, "call", call.ID, "err", lerr)
	}
	if err != nil {
		d.log.Debug("verb failed", "verb", v.Name, "call", call.ID, "err", err)
	}
	return result, err
}

// settle tells the ledger, and the job of the call, how it ended. The result says which job that was, to those who can ask for
// it: a caged agent comes back with the id of its task.
func (d *Dispatcher) settle(ctx context.Context, v *Verb, call *core.Call, row store.LedgerRow, result *any, err error) error {
	ctx = context.WithoutCancel(ctx)
	if v.Effect.Kind == Reads {
		return d.core.Record(ctx, row, false)
	}
	var raw []byte
	if call.Job != "" && (err == nil || call.Kept() && *result != nil && !reflect.ValueOf(*result).IsZero()) {
		if call.Caller.Class.Covers(grant.Full) || call.Caller.Class.Named() {
			*result = withJob(*result, call.Job)
		}
		var merr error
		if raw, merr = json.Marshal(*result); merr != nil {
			return merr
		}
	}
	return d.core.EndCall(ctx, call, row, raw, err)
}

// withJob sets the field Job of a result; TestJobsAreTold holds that there is one.
func withJob(result any, job string) any {
	v := reflect.New(reflect.TypeOf(result)).Elem()
	v.Set(reflect.ValueOf(result))
	if f := v.FieldByName("Job"); f.IsValid() {
		f.SetString(job)
	}
	return v.Interface()
}

// guarded turns a panic of a handler into an internal error: one broken call must not end everybody's terminals.
func (d *Dispatcher) guarded(v *Verb, call *core.Call, handler func() (any, error)) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			d.log.Error("verb panicked", "verb", v.Name, "call", call.ID, "panic", p, "stack", string(debug.Stack()))
			err = fault.From(fmt.Errorf("panic in %s: %v", v.Name, p))
		}
	}()
	return handler()
}

// Refused records calls of a known caller that a presenter stopped before they named a verb, times of them in one row.
// Nothing of what they asked for is kept.
func (d *Dispatcher) Refused(ctx context.Context, caller grant.Caller, err error, times int) {
	row := store.LedgerRow{Call: ids.New(), Principal: caller.Principal, Face: string(caller.Face)}
	if times > 1 {
		row.Shape = fmt.Sprintf("times:%d", times)
	}
	_ = d.refused(ctx, row, err) // it gives the refusal back
}

// refused records a call that was stopped before its handler, without the name of what it asked for.
func (d *Dispatcher) refused(ctx context.Context, row store.LedgerRow, err error) error {
	if _, known := Lookup(row.Verb); !known {
		row.Verb = "unknown"
	}
	row.Phase, row.Outcome, row.Target = store.PhaseDone, outcome(err), ""
	if lerr := d.core.Record(context.WithoutCancel(ctx), row, false); lerr != nil {
		d.log.Error("ledger row lost", "verb", row.Verb, "call", row.Call, "err", lerr)
	}
	return err
}

func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	return string(fault.CodeOf(err))
}

func unknownVerb(name string) error {
	if len(name) > 64 {
		name = name[:64]
	}
	return fault.New(fault.NotFound, "There is no verb %q", strings.ToValidUTF8(name, "?")).WithHint("`termic help` lists the verbs.")
}
