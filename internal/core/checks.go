package core

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"termic/internal/api"
	"termic/internal/check"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
)

// Limits of the verbs of checks.
const (
	checkPage     = 100
	maxCheckPage  = 1000
	defaultSnooze = time.Hour
	maxSnooze     = 30 * 24 * time.Hour
)

// wholeReach refuses a token that is kept to some projects: what is watched and named here belongs to none of them.
func wholeReach(caller grant.Caller, what string) error {
	if caller.Class.Named() && !caller.Everywhere {
		return fault.New(fault.Forbidden, "%s belong to no project, and this token is kept to some projects", what).
			WithHint("The owner can mint one that reaches every project: `termic token set NAME --all-projects`.")
	}
	return nil
}

// CheckList is the verb check_list.
func (c *Core) CheckList(ctx context.Context, call *Call, p api.CheckListParams) (api.CheckListResult, error) {
	if err := wholeReach(call.Caller, "Checks"); err != nil {
		return api.CheckListResult{}, err
	}
	limit := cmp.Or(p.Limit, checkPage)
	if limit < 1 || limit > maxCheckPage || p.Offset < 0 {
		return api.CheckListResult{}, fault.New(fault.InvalidArgument, "A list has 1 to %d checks, and leaves out none or more before", maxCheckPage)
	}
	list, err := c.store.Checks(ctx)
	if err != nil {
		return api.CheckListResult{}, err
	}
	out := api.CheckListResult{Checks: []api.Check{}}
	for _, k := range list {
		v := c.viewCheck(k)
		if v.State == api.CheckDown {
			out.Down++
		}
		if p.State == "" || p.State == v.State {
			out.Checks = append(out.Checks, v)
		}
	}
	slices.SortStableFunc(out.Checks, func(a, b api.Check) int { return cmp.Compare(checkRank(a), checkRank(b)) })
	out.Total = len(out.Checks)
	from := min(p.Offset, int64(len(out.Checks)))
	out.Checks = out.Checks[from:min(from+limit, int64(len(out.Checks)))]
	return out, nil
}

// checkRank puts what is down first, and what is switched off last.
func checkRank(v api.Check) int {
	switch {
	case !v.Enabled:
		return 2
	case v.State == api.CheckDown:
		return 0
	}
	return 1
}

// CheckGet is the verb check_get.
func (c *Core) CheckGet(ctx context.Context, call *Call, p api.CheckGetParams) (api.CheckResult, error) {
	k, err := c.checkOf(ctx, call.Caller, p.Name)
	if err != nil {
		return api.CheckResult{}, err
	}
	return api.CheckResult{Check: c.viewCheck(k)}, nil
}

// CheckAdd is the verb check_add.
func (c *Core) CheckAdd(ctx context.Context, call *Call, p api.CheckAddParams) (api.CheckResult, error) {
	if err := wholeReach(call.Caller, "Checks"); err != nil {
		return api.CheckResult{}, err
	}
	if err := checkPlainName("check", p.Name); err != nil {
		return api.CheckResult{}, err
	}
	s, err := withChanges(check.Spec{Kind: check.Kind(p.Kind)}, p.Targets, p.CheckFields, p.CheckTimes, nil)
	if err == nil {
		err = ownersCommand(call.Caller, s.Kind)
	}
	if err != nil {
		return api.CheckResult{}, err
	}
	k := store.Check{Name: p.Name, Kind: p.Kind, Enabled: true, CreatedBy: call.Caller.Principal}
	if err := setSpec(&k, s); err != nil {
		return api.CheckResult{}, err
	}
	return c.writeCheck(ctx, func(tx *store.Tx) (store.Check, error) { return tx.AddCheck(ctx, k) })
}

// CheckUpdate is the verb check_update.
func (c *Core) CheckUpdate(ctx context.Context, call *Call, p api.CheckUpdateParams) (api.CheckResult, error) {
	return c.changeCheck(ctx, call.Caller, p.Name, func(k *store.Check) error {
		if len(p.Targets)+len(p.Clear) == 0 && p.CheckFields == (api.CheckFields{}) && p.CheckTimes == (api.CheckTimes{}) && p.Rename == "" {
			return nothingToChange("a target, a field of the kind, a time, or another name")
		}
		if p.Rename != "" {
			if err := checkPlainName("check", p.Rename); err != nil {
				return err
			}
			k.Name = p.Rename
		}
		s, err := specOf(*k)
		if err == nil {
			s, err = withChanges(s, p.Targets, p.CheckFields, p.CheckTimes, p.Clear)
		}
		if err != nil {
			return err
		}
		return setSpec(k, s)
	})
}

// CheckSetEnabled is the verb check_set_enabled. What is switched off keeps the state that it had.
func (c *Core) CheckSetEnabled(ctx context.Context, call *Call, p api.CheckSetEnabledParams) (api.CheckResult, error) {
	return c.changeCheck(ctx, call.Caller, p.Name, func(k *store.Check) error { k.Enabled = p.To == "on"; return nil })
}

// CheckSnooze is the verb check_snooze. A snoozed check is made as before and its state is kept; its flips are no events.
func (c *Core) CheckSnooze(ctx context.Context, call *Call, p api.CheckSnoozeParams) (api.CheckResult, error) {
	d := defaultSnooze
	if p.ForMs != 0 {
		d = time.Duration(min(p.ForMs, int64(maxSnooze/time.Millisecond)+1)) * time.Millisecond
	}
	if d < time.Second || d > maxSnooze {
		return api.CheckResult{}, fault.New(fault.InvalidArgument, "A check sleeps for one second to 30 days")
	}
	return c.changeCheck(ctx, call.Caller, p.Name, func(k *store.Check) error {
		if k.Snoozed = c.clock.wall().Add(d); p.End {
			k.Snoozed = time.Time{}
		}
		return nil
	})
}

// CheckDelete is the verb check_delete.
func (c *Core) CheckDelete(ctx context.Context, call *Call, p api.CheckDeleteParams) (api.CheckDeleteResult, error) {
	k, err := c.checkOf(ctx, call.Caller, p.Name)
	if err == nil {
		err = ownersCommand(call.Caller, check.Kind(k.Kind))
	}
	if err == nil {
		err = c.store.Write(ctx, func(tx *store.Tx) error { return tx.DeleteCheck(ctx, k.ID) })
	}
	if err != nil {
		return api.CheckDeleteResult{}, err
	}
	c.watching.drop(k.ID)
	c.checksChanged(context.WithoutCancel(ctx))
	return api.CheckDeleteResult{Name: k.Name}, nil
}

// CheckProbe is the verb check_probe: it looks now. Nothing is kept of it and it is no flip.
func (c *Core) CheckProbe(ctx context.Context, call *Call, p api.CheckProbeParams) (api.CheckProbeResult, error) {
	k, err := c.checkOf(ctx, call.Caller, p.Name)
	if err == nil {
		err = ownersCommand(call.Caller, check.Kind(k.Kind))
	}
	if err != nil {
		return api.CheckProbeResult{}, err
	}
	s, err := specOf(k)
	if err != nil {
		return api.CheckProbeResult{}, err
	}
	targets := s.Targets
	if p.Target != "" {
		if targets = keep(targets, func(t string) bool { return t == p.Target }); len(targets) == 0 {
			return api.CheckProbeResult{}, fault.New(fault.NotFound, "The check %q has no target %q", k.Name, p.Target).WithHint("%s", listed("It has", s.Targets))
		}
	}
	return c.probeAll(ctx, s, targets)
}

// checkOf finds a check for a caller; a refusal says which there are.
func (c *Core) checkOf(ctx context.Context, caller grant.Caller, name string) (store.Check, error) {
	if err := wholeReach(caller, "Checks"); err != nil {
		return store.Check{}, err
	}
	k, err := c.store.CheckByName(ctx, name)
	if fault.CodeOf(err) != fault.NotFound {
		return k, err
	}
	list, lerr := c.store.Checks(ctx)
	names := make([]string, len(list))
	for i, v := range list {
		names[i] = v.Name
	}
	if lerr != nil {
		return store.Check{}, lerr
	}
	return store.Check{}, fault.New(fault.NotFound, "There is no check %q", name).WithHint("`termic check list` shows which there are.").OrNear(name, names)
}

// changeCheck changes a check, if the caller may.
func (c *Core) changeCheck(ctx context.Context, caller grant.Caller, name string, change func(*store.Check) error) (api.CheckResult, error) {
	k, err := c.checkOf(ctx, caller, name)
	if err == nil {
		err = ownersCommand(caller, check.Kind(k.Kind))
	}
	if err != nil {
		return api.CheckResult{}, err
	}
	return c.writeCheck(ctx, func(tx *store.Tx) (store.Check, error) {
		return tx.UpdateCheck(ctx, name, func(k *store.Check) error {
			k.Targets = c.watching.now(*k) // the newest of what is known, also where it was not stored yet
			return change(k)
		})
	})
}

// writeCheck stores a change and has it take effect.
func (c *Core) writeCheck(ctx context.Context, write func(*store.Tx) (store.Check, error)) (api.CheckResult, error) {
	var k store.Check
	c.watching.order.Lock()
	err := c.store.Write(ctx, func(tx *store.Tx) (err error) { k, err = write(tx); return err })
	if err == nil {
		c.watching.drop(k.ID)
	}
	c.watching.order.Unlock()
	if err != nil {
		return api.CheckResult{}, err
	}
	c.checksChanged(context.WithoutCancel(ctx))
	return api.CheckResult{Check: c.viewCheck(k)}, nil
}

// ownersCommand refuses to let anybody else start, stop or change programs that run as the owner's own word.
func ownersCommand(caller grant.Caller, k check.Kind) error {
	if k == check.Command && caller.Class != grant.Owner {
		return fault.New(fault.Forbidden, "A check of the kind command runs a program outside every cage, so it is the owner's alone").
			WithHint("The owner adds and changes it in the window or with `termic check`.")
	}
	return nil
}

// clearable is a field by its name, for which a person at a shell may say its flag.
func clearable(name string) string {
	return orElse(map[string]string{"min-days": "minDays", "expect-addr": "expectAddr"}[name], name)
}

// withChanges puts what was given over a spec, and checks what comes of it.
func withChanges(s check.Spec, targets []string, f api.CheckFields, t api.CheckTimes, clear []string) (check.Spec, error) {
	for _, field := range clear {
		to := map[string]func(){"expect": func() { s.Expect = "" }, "minDays": func() { s.MinDays = 0 }, "expectAddr": func() { s.ExpectAddr = "" }, "retries": func() { s.Retries = 0 }}[clearable(field)]
		if to == nil {
			return s, fault.New(fault.InvalidArgument, "%q cannot be taken back", field).WithHint("These can: expect, minDays, expectAddr, retries.")
		}
		to()
	}
	if len(targets) > 0 {
		s.Targets = targets
	}
	s.Expect, s.ExpectAddr, s.Op, s.Value = orElse(f.Expect, s.Expect), orElse(f.ExpectAddr, s.ExpectAddr), orElse(f.Op, s.Op), orElse(f.Value, s.Value)
	s.MinDays, s.Retries = numberOr(f.MinDays, s.MinDays), numberOr(t.Retries, s.Retries)
	s.Interval, s.Timeout = millis(t.EveryMs, s.Interval), millis(t.LookMs, s.Timeout)
	return s.Check()
}

// numberOr is a number that was given, or the old one. What no int of 32 bits holds stays out of range.
func numberOr(given int64, old int) int {
	if given == 0 {
		return old
	}
	return int(min(max(given, -1), 1<<30))
}

func millis(given int64, old time.Duration) time.Duration {
	if given == 0 {
		return old
	}
	return time.Duration(min(max(given, -1), int64(1<<40))) * time.Millisecond
}

// specOf reads what is stored of a check.
func specOf(k store.Check) (check.Spec, error) {
	var s check.Spec
	if err := json.Unmarshal([]byte(k.Spec), &s); err != nil {
		return s, fmt.Errorf("read the check %s: %w", k.ID, err)
	}
	return s, nil
}

// setSpec stores a spec in a check. Targets that stay keep their state.
func setSpec(k *store.Check, s check.Spec) error {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("write a check down: %w", err)
	}
	old := k.Targets
	k.Spec, k.Targets = string(text), nil
	for _, t := range s.Targets {
		g := store.CheckTarget{Target: t}
		if at := slices.IndexFunc(old, func(o store.CheckTarget) bool { return o.Target == t }); at >= 0 {
			g = old[at]
		}
		k.Targets = append(k.Targets, g)
	}
	return nil
}

// viewCheck is a check as callers see it, with the newest that is known of its targets.
func (c *Core) viewCheck(k store.Check) api.Check {
	s, err := specOf(k)
	if err != nil {
		c.log.Error("a stored check cannot be read", "name", k.Name, "err", err)
	}
	v := api.Check{Name: k.Name, Kind: k.Kind, Enabled: k.Enabled, Targets: []api.CheckTarget{}, EveryMs: s.Interval.Milliseconds(), TimeoutMs: s.Timeout.Milliseconds(),
		Retries: int64(s.Retries), Expect: s.Expect, MinDays: int64(s.MinDays), ExpectAddr: s.ExpectAddr, Op: s.Op, Value: s.Value, CreatedBy: k.CreatedBy, Created: stamp(k.Created)}
	if k.Snoozed.After(c.clock.wall()) {
		v.Snoozed = stamp(k.Snoozed)
	}
	var since time.Time
	for _, t := range c.watching.now(k) {
		g := api.CheckTarget{Target: t.Target, State: orElse(t.State, api.CheckUnknown), DurationMs: t.Duration.Milliseconds(), Netgroup: t.Netgroup, Detail: t.Detail}
		if !t.Ran.IsZero() {
			g.Ran = stamp(t.Ran)
		}
		if t.State != "" {
			g.Since = stamp(t.Since)
		}
		v.Targets = append(v.Targets, g)
		switch worse := stateRank(g.State) - stateRank(v.State); {
		case v.State == "" || worse > 0:
			v.State, since = g.State, t.Since
		case worse == 0 && earlier(g.State, t.Since, since):
			since = t.Since
		}
	}
	if v.State != api.CheckUnknown {
		v.Since = stamp(since)
	}
	return v
}

// stateRank orders the states of targets: the highest one is that of the check.
func stateRank(s string) int {
	return slices.Index([]string{api.CheckUp, api.CheckUnknown, api.CheckDown}, s)
}

// earlier says which of two targets in the same state tells since when the check is in it: down since the first, up since the last.
func earlier(state string, t, than time.Time) bool {
	if state == api.CheckDown {
		return t.Before(than)
	}
	return t.After(than)
}
