package core

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/check"
	"termic/internal/grant"
	"termic/internal/store"
)

// watched adds a check that is switched off, so that only the test looks.
func (r *idRig) watched(name string, retries int64, targets ...string) store.Check {
	r.t.Helper()
	owner := &Call{Caller: grant.OwnerOn(grant.CLI)}
	_, err := r.CheckAdd(r.t.Context(), owner, api.CheckAddParams{Name: name, Kind: "tcp", Targets: targets, CheckTimes: api.CheckTimes{EveryMs: 24 * 3600 * 1000, Retries: retries}})
	must(r.t, err)
	_, err = r.CheckSetEnabled(r.t.Context(), owner, api.CheckSetEnabledParams{Name: name, To: "off"})
	must(r.t, err)
	k, err := r.store.CheckByName(r.t.Context(), name)
	must(r.t, err)
	return k
}

// outcome is what one look found.
func outcome(k store.Check, target string, failed int) check.Outcome {
	return check.Outcome{ID: k.ID, Ran: time.Now(), Failed: failed, Result: check.Result{Target: target, Up: failed == 0, Duration: 3 * time.Millisecond, Detail: "said",
		Addr: netip.MustParseAddr("192.0.2.7"), Tried: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.7:1")}}}
}

func (r *idRig) flipsOf(name string) []store.Event {
	r.t.Helper()
	list, err := r.store.Events(r.t.Context(), store.EventFilter{Kind: store.EventCheckFlip, Limit: 1000})
	must(r.t, err)
	var out []store.Event
	for _, e := range list {
		if e.Subject == name {
			out = append(out, e)
		}
	}
	return out
}

// TestFlips: the first look is none, a change is one, retries hold one back, a snooze keeps quiet and goes on.
func TestFlips(t *testing.T) {
	r := newIDRig(t)
	owner := &Call{Caller: grant.OwnerOn(grant.CLI)}
	_, err := r.NetgroupAdd(t.Context(), owner, api.NetgroupAddParams{Name: "docs", Members: []string{"192.0.2.0/24"}})
	must(t, err)
	k := r.watched("port", 2, "192.0.2.1:1", "192.0.2.1:2")
	steps := []struct {
		failed int
		state  string
		events int
	}{
		{1, "", 0}, {2, "", 0}, {3, "down", 0}, // the first state that is known is no flip
		{0, "up", 1}, {0, "up", 1}, {1, "up", 1}, {2, "up", 1}, {3, "down", 2}, {4, "down", 2}, {0, "up", 3},
	}
	for i, s := range steps {
		r.looked(t.Context(), []check.Outcome{outcome(k, "192.0.2.1:1", s.failed)})
		v, err := r.CheckGet(t.Context(), owner, api.CheckGetParams{Name: "port"})
		must(t, err)
		if got := v.Check.Targets[0]; got.State != orElse(s.state, api.CheckUnknown) || got.Netgroup != "docs" || len(r.flipsOf("port")) != s.events {
			t.Fatalf("step %d: %+v with %d events, want %+v", i, got, len(r.flipsOf("port")), s)
		}
		if v.Check.Targets[1].State != api.CheckUnknown {
			t.Errorf("the other target is %s", v.Check.Targets[1].State)
		}
	}
	facts := r.flipsOf("port")[0].Facts
	for name, want := range map[string]any{"target": "192.0.2.1:1", "up": true, "duration_ms": 3, "netgroup": "docs", "detail": "said"} {
		if fmt.Sprint(facts[name]) != fmt.Sprint(want) {
			t.Errorf("%s is %v, want %v", name, facts[name], want)
		}
	}
	_, err = r.CheckSnooze(t.Context(), owner, api.CheckSnoozeParams{Name: "port", ForMs: 3600_000})
	must(t, err)
	r.looked(t.Context(), []check.Outcome{outcome(k, "192.0.2.1:1", 3)})
	v, err := r.CheckGet(t.Context(), owner, api.CheckGetParams{Name: "port"})
	must(t, err)
	if v.Check.State != api.CheckDown || v.Check.Snoozed == "" || len(r.flipsOf("port")) != 3 {
		t.Errorf("asleep: %+v, %d events", v.Check, len(r.flipsOf("port")))
	}
	_, err = r.CheckSnooze(t.Context(), owner, api.CheckSnoozeParams{Name: "port", End: true})
	must(t, err)
	r.looked(t.Context(), []check.Outcome{outcome(k, "192.0.2.1:1", 0)})
	if len(r.flipsOf("port")) != 4 {
		t.Errorf("awake: %d events", len(r.flipsOf("port")))
	}
}

// TestLooksOfWhatIsGone: what was deleted or changed while a look was under way is not told of, and a change keeps the states of the
// targets that stay.
func TestLooksOfWhatIsGone(t *testing.T) {
	r := newIDRig(t)
	owner := &Call{Caller: grant.OwnerOn(grant.CLI)}
	k := r.watched("port", 0, "192.0.2.1:1", "192.0.2.1:2")
	r.looked(t.Context(), []check.Outcome{outcome(k, "192.0.2.1:1", 0), outcome(k, "192.0.2.1:2", 0)})
	_, err := r.CheckUpdate(t.Context(), owner, api.CheckUpdateParams{Name: "port", Targets: []string{"192.0.2.1:3", "192.0.2.1:1"}})
	must(t, err)
	r.looked(t.Context(), []check.Outcome{outcome(k, "192.0.2.1:2", 1)})
	v, err := r.CheckGet(t.Context(), owner, api.CheckGetParams{Name: "port"})
	must(t, err)
	if len(v.Check.Targets) != 2 || v.Check.Targets[0].State != api.CheckUnknown || v.Check.Targets[1].State != api.CheckUp || v.Check.State != api.CheckUnknown {
		t.Errorf("%+v", v.Check)
	}
	_, err = r.CheckDelete(t.Context(), owner, api.CheckDeleteParams{Name: "PORT"})
	must(t, err)
	r.looked(t.Context(), []check.Outcome{outcome(k, "192.0.2.1:1", 1)})
	if len(r.flipsOf("port")) != 0 {
		t.Errorf("%+v", r.flipsOf("port"))
	}
}

// TestWritesOfLooksAreGrouped: a thousand looks that find the same as before are not a write each.
func TestWritesOfLooksAreGrouped(t *testing.T) {
	r := newIDRig(t)
	k := r.watched("port", 0, "192.0.2.1:1")
	r.looked(t.Context(), []check.Outcome{outcome(k, "192.0.2.1:1", 0)})
	kept, err := r.store.CheckByName(t.Context(), "port")
	must(t, err)
	if kept.Targets[0].State != store.TargetUp {
		t.Errorf("a state that is new is stored at once, not %+v", kept.Targets[0])
	}
	for range 1000 {
		r.looked(t.Context(), []check.Outcome{outcome(k, "192.0.2.1:1", 0)})
	}
	now, err := r.store.CheckByName(t.Context(), "port")
	must(t, err)
	v, err := r.CheckGet(t.Context(), &Call{Caller: grant.OwnerOn(grant.CLI)}, api.CheckGetParams{Name: "port"})
	must(t, err)
	if !now.Targets[0].Ran.Equal(kept.Targets[0].Ran) {
		t.Error("each look was written")
	}
	if v.Check.Targets[0].Ran == "" {
		t.Error("the newest look is not told")
	}
}

// TestNarrowestNetgroup: of several netgroups, the one with the narrowest network is named, of equals the first by name.
func TestNarrowestNetgroup(t *testing.T) {
	r := newIDRig(t)
	owner := &Call{Caller: grant.OwnerOn(grant.CLI)}
	for name, members := range map[string][]string{"wide": {"10.0.0.0/8"}, "narrow": {"10.1.0.0/16", "!10.1.2.0/24"}, "beta": {"10.9.0.0/16"}, "alpha": {"10.9.0.0/16"}} {
		_, err := r.NetgroupAdd(t.Context(), owner, api.NetgroupAddParams{Name: name, Members: members})
		must(t, err)
	}
	for addr, want := range map[string]string{"10.1.1.1": "narrow", "10.1.2.1": "wide", "10.9.0.1": "alpha", "192.0.2.1": ""} {
		if got := r.watching.netgroupOf(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s is in %q, want %q", addr, got, want)
		}
	}
}
