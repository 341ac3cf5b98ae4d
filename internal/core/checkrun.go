package core

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"termic/internal/api"
	"termic/internal/check"
	"termic/internal/shellenv"
	"termic/internal/store"
	"termic/sandbox"
)

// savedAfter is how old the stored times of looks may be. A change of state is stored at once; the times of looks that found the
// same as before are only told, and a write for each would keep the disk awake.
const savedAfter = time.Minute

// maxProbes is how many targets are looked at at the same time because somebody asked.
const maxProbes = 64

// watching is what is known of the checks beyond what is stored. Its goroutine is makeChecks.
type watching struct {
	prober *check.Prober
	runner *check.Runner
	probes chan struct{}

	order sync.Mutex // held while a check is changed, and while what looks found is taken in; taken before mu

	mu     sync.Mutex // guards the following
	checks map[string]store.Check
	states map[string]map[string]store.CheckTarget // by id of the check, by target: newer than what is stored
	agreed map[string]map[string]time.Time         // by id and target: when the last look began that found it in the state that it has
	groups []namedSet
	saved  time.Time
}

func newWatching(c *Core) *watching {
	w := &watching{probes: make(chan struct{}, maxProbes), checks: map[string]store.Check{}, states: map[string]map[string]store.CheckTarget{}, agreed: map[string]map[string]time.Time{}}
	w.prober = check.New(check.Options{Dir: c.home, Agent: "Termic/" + c.version,
		Refused: func(a netip.AddrPort) string {
			if sandbox.OwnAddress(c.ownAddresses(), a) {
				return "it is a port of Termic itself"
			}
			return ""
		},
		Environ: func(ctx context.Context) []string {
			return shellenv.Build(shellenv.Options{Base: c.environment(ctx), Uncaged: true})
		}})
	clock := check.Clock{Wall: c.clock.wall}
	if _, err := c.clock.boot(); err == nil {
		clock.Now = func() time.Duration { d, _ := c.clock.boot(); return d } // it could tell a moment ago
	}
	w.runner = check.NewRunner(w.prober, clock, func(o []check.Outcome) { c.looked(context.WithoutCancel(c.ctx), o) })
	return w
}

// makeChecks makes the checks until the app ends, and stores then what is not stored yet.
func (c *Core) makeChecks() {
	c.netgroupsChanged(c.ctx)
	c.checksChanged(c.ctx)
	c.watching.runner.Run(c.ctx)
	c.watching.order.Lock()
	defer c.watching.order.Unlock()
	c.saveLooks(context.WithoutCancel(c.ctx))
}

// checksChanged reads the checks again and has them made.
func (c *Core) checksChanged(ctx context.Context) {
	w := c.watching
	w.order.Lock()
	defer w.order.Unlock()
	list, err := c.store.Checks(ctx)
	if err != nil {
		if c.ctx.Err() == nil { // at the end of the app nobody needs them
			c.log.Error("the checks could not be read", "err", err)
		}
		return
	}
	checks, watches := map[string]store.Check{}, []check.Watch{}
	for _, k := range list {
		s, err := specOf(k)
		if err != nil {
			c.log.Error("a stored check cannot be read, so it is not made", "name", k.Name, "err", err)
			continue
		}
		checks[k.ID] = k
		if k.Enabled {
			watches = append(watches, check.Watch{ID: k.ID, Spec: s})
		}
	}
	w.mu.Lock()
	w.checks = checks
	w.mu.Unlock()
	w.runner.Set(watches)
	c.beacon.change()
}

// drop forgets what is known of a check beyond what is stored.
func (w *watching) drop(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.states, id)
	delete(w.agreed, id)
}

// agrees takes in how a target stands after a look, and returns when the last look before it began that found the target as it was;
// zero where that was before the app was started.
func (w *watching) agrees(id string, o check.Outcome, is store.CheckTarget) (before time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if before = w.agreed[id][o.Target]; o.Up != (is.State == store.TargetUp) {
		return before // it is let pass
	}
	if w.agreed[id] == nil {
		w.agreed[id] = map[string]time.Time{}
	}
	w.agreed[id][o.Target] = o.Ran.Add(-o.Duration)
	return before
}

// now is the newest that is known of the targets of a check, in their order.
func (w *watching) now(k store.Check) []store.CheckTarget {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := slices.Clone(k.Targets)
	for i, t := range out {
		if newer, ok := w.states[k.ID][t.Target]; ok {
			out[i] = newer
		}
	}
	return out
}

// checksDown is how many checks are down that somebody wants to know of: switched on, and not snoozed.
func (c *Core) checksDown() (n int) {
	w, now := c.watching, c.clock.wall()
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, k := range w.checks {
		down := slices.ContainsFunc(k.Targets, func(t store.CheckTarget) bool {
			if newer, ok := w.states[id][t.Target]; ok {
				t = newer
			}
			return t.State == store.TargetDown
		})
		if down && k.Enabled && !k.Snoozed.After(now) {
			n++
		}
	}
	return n
}

// looked takes in what looks found: it keeps the states, and tells of each flip.
func (c *Core) looked(ctx context.Context, found []check.Outcome) {
	w := c.watching
	w.order.Lock()
	defer w.order.Unlock()
	var flips []store.Event
	changed := false
	for _, o := range found {
		w.mu.Lock()
		k, known := w.checks[o.ID]
		w.mu.Unlock()
		if !known {
			continue
		}
		s, err := specOf(k)
		at := slices.IndexFunc(k.Targets, func(t store.CheckTarget) bool { return t.Target == o.Target })
		if err != nil || at < 0 {
			continue // it was changed while this look was under way
		}
		was := w.now(k)[at]
		is := after(was, o, s.Retries)
		is.Netgroup = w.netgroupOf(o.Addr)
		changed = changed || is.State != was.State
		before := w.agrees(k.ID, o, is)
		if is.State != was.State && was.State != "" && !k.Snoozed.After(c.clock.wall()) {
			flips = append(flips, c.flip(ctx, k, o, is, before))
		}
		w.mu.Lock()
		if w.states[k.ID] == nil {
			w.states[k.ID] = map[string]store.CheckTarget{}
		}
		w.states[k.ID][o.Target] = is
		w.mu.Unlock()
	}
	for _, e := range flips { // before the state is stored: a flip that the app dies in is told again, and not forgotten
		c.happened(ctx, e)
	}
	if changed || time.Since(w.saved) > savedAfter {
		c.saveLooks(ctx)
	}
	if changed {
		c.beacon.change()
	}
}

// after is how a target stands after a look. One that fails no more often in a row than the check lets pass stays what it was.
func after(was store.CheckTarget, o check.Outcome, retries int) store.CheckTarget {
	is := store.CheckTarget{Target: o.Target, State: was.State, Since: was.Since, Ran: o.Ran, Duration: o.Duration, Detail: o.Detail}
	switch {
	case o.Up:
		is.State = store.TargetUp
	case o.Failed > retries:
		is.State = store.TargetDown
	}
	if is.State != was.State {
		is.Since = o.Ran
	}
	return is
}

// flip is the event of a target that changed its state. before is when the last look began that found the other one.
func (c *Core) flip(ctx context.Context, k store.Check, o check.Outcome, is store.CheckTarget, before time.Time) store.Event {
	return store.Event{Kind: store.EventCheckFlip, Subject: k.Name, Time: o.Ran, Cages: c.cagesAt(ctx, o.Tried, before), Facts: map[string]any{
		"target": o.Target, "up": o.Up, "duration_ms": o.Duration.Milliseconds(), "netgroup": is.Netgroup, "detail": is.Detail}}
}

// cagesAt are the ids of the caged tasks that may have answered at any of some addresses since a time, or not answered any more: on this
// machine, those whose ports they are, and each one whose cage has no network of its own, since it may listen on any port that is free.
// Whether their programs still run does not count: what a look found they may have brought about and ended. Of a time before the app was
// started, all that is known are the modes of the tasks.
func (c *Core) cagesAt(ctx context.Context, tried []netip.AddrPort, since time.Time) []string {
	ports := map[int]bool{}
	for _, a := range tried {
		if onThisMachine(a.Addr()) {
			ports[int(a.Port())] = true
		}
	}
	if len(ports) == 0 {
		return nil
	}
	out := c.walledNow(ports) // first: who ends meanwhile is among those that ended
	out = append(out, c.walled.answeredAt(ports, since)...)
	tasks, err := c.store.Tasks(ctx, store.TaskFilter{})
	if err != nil {
		c.log.Error("whose ports a check looked at could not be told", "err", err)
	}
	for _, t := range tasks {
		if caged(t) && ownsPort(t.Port, ports) || since.IsZero() && sandbox.Mode(t.Sandbox) == sandbox.EnforceFs {
			out = append(out, t.ID)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// onThisMachine reports whether an address is one of this machine; where that cannot be told, it is.
func onThisMachine(a netip.Addr) bool {
	if a.IsLoopback() || a.IsUnspecified() {
		return true
	}
	addrs, err := net.InterfaceAddrs()
	return err != nil || slices.ContainsFunc(addrs, func(i net.Addr) bool {
		p, err := netip.ParsePrefix(i.String())
		return err == nil && p.Addr().Unmap() == a.WithZone("")
	})
}

// saveLooks stores what is known of the targets. The caller holds order.
func (c *Core) saveLooks(ctx context.Context) {
	w := c.watching
	w.mu.Lock()
	states := maps.Clone(w.states)
	w.mu.Unlock()
	if len(states) == 0 {
		return
	}
	err := c.store.Write(ctx, func(tx *store.Tx) error {
		for id, targets := range states {
			for _, t := range targets {
				if err := tx.SetTarget(ctx, id, t); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		c.log.Error("how the checks stand could not be stored", "err", err)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, targets := range states { // stored, and read from there from now on
		if k, ok := w.checks[id]; ok {
			k.Targets = slices.Clone(k.Targets)
			for i, t := range k.Targets {
				if newer, ok := targets[t.Target]; ok {
					k.Targets[i] = newer
				}
			}
			w.checks[id] = k
		}
		delete(w.states, id)
	}
	w.saved = time.Now()
}

// probeAll looks at some targets at once, each within the timeout of the check.
func (c *Core) probeAll(ctx context.Context, s check.Spec, targets []string) (api.CheckProbeResult, error) {
	out := api.CheckProbeResult{Results: make([]api.ProbeResult, len(targets))}
	var wg sync.WaitGroup
	for i, t := range targets {
		wg.Go(func() {
			select {
			case c.watching.probes <- struct{}{}:
				defer func() { <-c.watching.probes }()
			case <-ctx.Done():
				return
			}
			r := c.watching.prober.Look(ctx, s, t)
			out.Results[i] = api.ProbeResult{Target: t, Up: r.Up, DurationMs: r.Duration.Milliseconds(), Netgroup: c.watching.netgroupOf(r.Addr), Detail: r.Detail}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return api.CheckProbeResult{}, fmt.Errorf("look at a check: %w", err)
	}
	return out, nil
}
