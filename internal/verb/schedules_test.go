package verb

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/core"
	"termic/internal/store"
)

// fakeTime is a clock on a wall, the time since boot, and timers, which stand still while the machine sleeps.
type fakeTime struct {
	mu    sync.Mutex
	wall  time.Time
	boot  time.Duration
	awake time.Duration
	rings chan time.Time
	at    time.Duration // awake, when it rings; 0 for no timer
	armed chan struct{} // holds one: a timer was set
	wakes int
}

func newTime(wall string) *fakeTime {
	at, err := time.Parse(time.RFC3339, wall)
	if err != nil {
		panic(err)
	}
	return &fakeTime{wall: at, boot: time.Hour, armed: make(chan struct{}, 1)}
}

func (f *fakeTime) clock() core.Clock {
	return core.Clock{
		Wall: func() time.Time { f.mu.Lock(); defer f.mu.Unlock(); return f.wall },
		Boot: func() (time.Duration, error) { f.mu.Lock(); defer f.mu.Unlock(); return f.boot, nil },
		Timer: func(d time.Duration) (<-chan time.Time, func() bool) {
			f.mu.Lock()
			defer f.mu.Unlock()
			rings := make(chan time.Time, 1)
			f.rings, f.at = rings, f.awake+d
			select {
			case f.armed <- struct{}{}:
			default:
			}
			return rings, func() bool {
				f.mu.Lock()
				defer f.mu.Unlock()
				if f.rings == rings {
					f.rings, f.at = nil, 0
				}
				return true
			}
		},
	}
}

// passes lets time pass, as it does while the machine is awake.
func (f *fakeTime) passes(t *testing.T, d time.Duration) {
	t.Helper()
	f.mu.Lock()
	end := f.awake + d
	f.mu.Unlock()
	for {
		f.mu.Lock()
		step := end - f.awake
		ring := f.rings != nil && f.at <= end
		if ring {
			step = max(f.at-f.awake, 0)
		}
		f.awake, f.boot, f.wall = f.awake+step, f.boot+step, f.wall.Add(step)
		rings := f.rings
		if ring {
			select {
			case <-f.armed:
			default:
			}
			f.rings, f.at = nil, 0
			f.wakes++
		}
		f.mu.Unlock()
		if !ring {
			return
		}
		rings <- time.Time{}
		f.waits(t)
	}
}

// waits until a timer is set again.
func (f *fakeTime) waits(t *testing.T) {
	t.Helper()
	select {
	case <-f.armed:
	case <-time.After(30 * time.Second):
		t.Fatal("no timer is set")
	}
}

// sleeps is the lid closed: no timer moves.
func (f *fakeTime) sleeps(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.boot, f.wall = f.boot+d, f.wall.Add(d)
}

// set is somebody who sets the clock on the wall.
func (f *fakeTime) set(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wall = f.wall.Add(d)
}

// scheduled is a world with a schedule that sends a prompt.
func scheduled(t *testing.T, f *fakeTime, params map[string]any) (*world, store.Tab) {
	t.Helper()
	w := openWorld(t, t.TempDir(), f.clock())
	_, tab := w.task(t, w.a, "target", creating)
	for k, v := range map[string]any{"name": "s", "do": "task_send", "task": "target", "prompt": "x", "overlap": true} {
		if _, given := params[k]; !given {
			params[k] = v
		}
	}
	do[api.ScheduleResult](t, w, owner, "schedule_add", params)
	f.waits(t)
	return w, tab
}

// ran is how many runs there were, and what the newest firing of the schedule says; once nothing is under way.
func (w *world) ran(t *testing.T) (int, *api.Firing) {
	t.Helper()
	events, err := w.store.Events(t.Context(), store.EventFilter{Kind: store.EventScheduleFired, Limit: 1000})
	check(t, err)
	for _, e := range events {
		w.firings(t, e.ID)
	}
	return len(events), do[api.ScheduleListResult](t, w, owner, "schedule_list", map[string]any{}).Schedules[0].Last
}

func TestScheduleRuns(t *testing.T) {
	f := newTime("2026-11-30T08:50:00Z")
	w, tab := scheduled(t, f, map[string]any{"cron": "0 9 * * mon-fri", "zone": "Europe/Berlin"})
	s := do[api.ScheduleListResult](t, w, owner, "schedule_list", map[string]any{}).Schedules[0]
	if fmt.Sprint(s.Next) != "[2026-12-01T09:00:00+01:00 2026-12-02T09:00:00+01:00 2026-12-03T09:00:00+01:00]" {
		t.Errorf("next: %v", s.Next)
	}
	f.passes(t, 23*time.Hour)
	if n, _ := w.ran(t); n != 0 {
		t.Errorf("%d runs before the time", n)
	}
	f.passes(t, 15*time.Minute)
	n, last := w.ran(t)
	if n != 1 || last == nil || last.Outcome != "done" || last.Job == "" || len(w.prompts(t, tab)) != 1 {
		t.Fatalf("%d runs, %+v", n, last)
	}
	job := do[api.JobResult](t, w, owner, "job_get", map[string]any{"job": last.Job}).Job
	if job.Face != "schedule" || job.Principal != "owner" {
		t.Errorf("%+v", job)
	}
	f.passes(t, 7*24*time.Hour) // Wednesday to Friday, Monday and Tuesday
	if n, _ := w.ran(t); n != 6 {
		t.Errorf("%d runs after a week", n)
	}
	do[api.ScheduleResult](t, w, owner, "schedule_update", map[string]any{"name": "s", "disable": true})
	f.passes(t, 7*24*time.Hour)
	if n, _ := w.ran(t); n != 6 {
		t.Errorf("%d runs while it is off", n)
	}
}

// TestSuspendAndClockJumps: none of them makes a schedule run twice for one time, or once for each time that was missed.
func TestSuspendAndClockJumps(t *testing.T) {
	hourly := func() map[string]any { return map[string]any{"cron": "0 * * * *", "zone": "UTC"} }
	every := func() map[string]any { return map[string]any{"every": "10m"} }
	once := func(p map[string]any) map[string]any { p["missed"] = "once"; return p }
	for _, c := range []struct {
		name   string
		params map[string]any
		happen func(f *fakeTime, t *testing.T)
		runs   int
		last   string
	}{
		{"cron, awake", hourly(), func(f *fakeTime, t *testing.T) { f.passes(t, 5*time.Hour) }, 5, "done"},
		{"cron, asleep", hourly(), func(f *fakeTime, t *testing.T) { f.sleeps(5 * time.Hour); f.passes(t, 2*time.Minute) }, 0, "skipped"},
		{"cron, asleep, once", once(hourly()), func(f *fakeTime, t *testing.T) { f.sleeps(5 * time.Hour); f.passes(t, 2*time.Minute) }, 1, "done"},
		{"cron, asleep, goes on", once(hourly()), func(f *fakeTime, t *testing.T) { f.sleeps(5 * time.Hour); f.passes(t, 2*time.Hour) }, 3, "done"},
		{"cron, set forward", hourly(), func(f *fakeTime, t *testing.T) { f.set(5 * time.Hour); f.passes(t, 2*time.Minute) }, 0, "skipped"},
		{"cron, set forward, once", once(hourly()), func(f *fakeTime, t *testing.T) { f.set(5 * time.Hour); f.passes(t, 2*time.Minute) }, 1, "done"},
		{"cron, set forward a year", once(hourly()), func(f *fakeTime, t *testing.T) { f.set(365 * 24 * time.Hour); f.passes(t, 2*time.Minute) }, 1, "done"},
		{"cron, set back after a run", hourly(), func(f *fakeTime, t *testing.T) {
			f.passes(t, 61*time.Minute)
			f.set(-30 * time.Minute)
			f.passes(t, 40*time.Minute)
		}, 1, "done"},
		{"cron, set back and forth", hourly(), func(f *fakeTime, t *testing.T) {
			f.passes(t, 61*time.Minute)
			for range 10 {
				f.set(-3 * time.Minute)
				f.passes(t, time.Minute)
				f.set(3 * time.Minute)
				f.passes(t, time.Minute)
			}
		}, 1, "done"},
		{"cron, a year ahead for a moment", once(hourly()), func(f *fakeTime, t *testing.T) {
			f.set(365 * 24 * time.Hour)
			f.passes(t, 2*time.Minute)
			f.set(-365 * 24 * time.Hour)
			f.passes(t, 3*time.Hour)
		}, 4, "done"},
		{"every, awake", every(), func(f *fakeTime, t *testing.T) { f.passes(t, 65*time.Minute) }, 6, "done"},
		{"every, asleep", every(), func(f *fakeTime, t *testing.T) { f.sleeps(5 * time.Hour); f.passes(t, 2*time.Minute) }, 0, "skipped"},
		{"every, asleep, once", once(every()), func(f *fakeTime, t *testing.T) { f.sleeps(5 * time.Hour); f.passes(t, 2*time.Minute) }, 1, "done"},
		{"every, set back", every(), func(f *fakeTime, t *testing.T) {
			f.passes(t, 11*time.Minute)
			f.set(-3 * time.Hour)
			f.passes(t, 20*time.Minute)
		}, 3, "done"},
		{"every, set forward", every(), func(f *fakeTime, t *testing.T) { f.set(3 * time.Hour); f.passes(t, 21*time.Minute) }, 2, "done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newTime("2026-11-30T08:30:00Z")
			w, tab := scheduled(t, f, c.params)
			c.happen(f, t)
			n, last := w.ran(t)
			if n != c.runs || last == nil || last.Outcome != c.last || len(w.prompts(t, tab)) != c.runs {
				t.Errorf("%d runs, want %d; the last firing: %+v", n, c.runs, last)
			}
		})
	}
}

// TestScheduleAfterARestart: what was taken before the end of the app is not taken again, and what passed meanwhile is missed.
func TestScheduleAfterARestart(t *testing.T) {
	dir, f := t.TempDir(), newTime("2026-11-30T08:30:00Z")
	t.Run("before", func(t *testing.T) {
		w := openWorld(t, dir, f.clock())
		w.task(t, w.a, "target", creating)
		do[api.ScheduleResult](t, w, owner, "schedule_add", map[string]any{"name": "s", "cron": "0 * * * *", "zone": "UTC", "do": "task_send", "task": "target", "prompt": "x", "overlap": true})
		f.waits(t)
		f.passes(t, 31*time.Minute)
		if n, last := w.ran(t); n != 1 || last.Outcome != "done" {
			t.Errorf("%d %+v", n, last)
		}
	})
	t.Run("at once", func(t *testing.T) {
		w := openWorld(t, dir, f.clock())
		f.waits(t)
		f.passes(t, time.Minute)
		if n, _ := w.ran(t); n != 1 {
			t.Errorf("%d runs", n)
		}
	})
	f.sleeps(48 * time.Hour)
	w := openWorld(t, dir, f.clock())
	f.waits(t)
	f.passes(t, time.Minute)
	if n, last := w.ran(t); n != 1 || last.Outcome != "skipped" || last.Detail == "" {
		t.Errorf("%d %+v", n, last)
	}
	f.passes(t, time.Hour)
	if n, last := w.ran(t); n != 2 || last.Outcome != "done" {
		t.Errorf("%d %+v", n, last)
	}
}

// TestManySchedulesWakeSeldom: ten thousand of them are looked at when one is due, and once a minute beside that.
func TestManySchedulesWakeSeldom(t *testing.T) {
	f := newTime("2026-11-30T08:30:00Z")
	w := openWorld(t, t.TempDir(), f.clock())
	check(t, w.store.Write(t.Context(), func(tx *store.Tx) error {
		for i := range store.MaxRules - 1 {
			_, err := tx.AddSchedule(t.Context(), store.Schedule{Rule: store.Rule{Name: fmt.Sprint("s", i), Enabled: true, Creator: store.Creator{Principal: "owner", Class: "owner"},
				Action: store.Action{Verb: "task_send", Params: []byte(`{"task":"none","prompt":"x"}`)}},
				When: store.When{Cron: fmt.Sprintf("%d %d 24 12 *", i%60, i%24), Zone: "Europe/Berlin", Missed: "skip"}, LastDue: f.wall})
			if err != nil {
				return err
			}
		}
		return nil
	}))
	w.task(t, w.a, "target", creating)
	do[api.ScheduleResult](t, w, owner, "schedule_add", map[string]any{"name": "one", "cron": "0 * * * *", "do": "task_send", "task": "target", "prompt": "x", "overlap": true})
	f.waits(t)
	f.wakes = 0
	f.passes(t, 6*time.Hour)
	if n, _ := w.ran(t); n != 6 {
		t.Errorf("%d runs", n)
	}
	if most := 6*60 + 6 + 1; f.wakes > most {
		t.Errorf("%d wakes in six hours, at most %d are needed", f.wakes, most)
	}
	if _, fault := w.call(t, owner, "schedule_add", map[string]any{"name": "more", "every": "1h", "do": "task_send", "task": "target", "prompt": "x"}); fault == nil || fault.Code != "conflict" {
		t.Errorf("one more: %v", fault)
	}
}

// TestScheduleRunNow acts as the creator, and not for one that stopped.
func TestScheduleRunNow(t *testing.T) {
	f := newTime("2026-11-30T08:30:00Z")
	w, tab := scheduled(t, f, map[string]any{"every": "24h"})
	if r := do[api.ScheduleRunResult](t, w, owner, "schedule_run_now", map[string]any{"name": "s"}); r.Firing.Outcome != "done" || len(w.prompts(t, tab)) != 1 {
		t.Errorf("%+v", r)
	}
	_, ci := w.operatorToken(t, "ci")
	if _, fault := w.call(t, ci, "schedule_run_now", map[string]any{"name": "s"}); fault == nil || fault.Code != "forbidden" {
		t.Errorf("somebody else's: %v", fault)
	}
	do[api.ScheduleResult](t, w, ci, "schedule_add", map[string]any{"name": "cis", "every": "1h", "do": "task_send", "task": "target", "prompt": "y"})
	do[api.TokenRevokeResult](t, w, owner, "token_revoke", map[string]any{"name": "ci"})
	if _, fault := w.call(t, owner, "schedule_run_now", map[string]any{"name": "cis"}); fault == nil || fault.Code != "conflict" || len(w.prompts(t, tab)) != 1 {
		t.Errorf("one that stopped: %v", fault)
	}
}

// TestScheduleOfATokenForSomeProjects runs, and its event is one of the project in which it does something.
func TestScheduleOfATokenForSomeProjects(t *testing.T) {
	w := newWorld(t)
	_, one := w.operatorToken(t, "one", w.a)
	_, other := w.operatorToken(t, "other", w.b)
	_, tab := w.task(t, w.a, "target", creating)
	for i, work := range []map[string]any{{"do": "task_send", "task": "target", "prompt": "x"}, {"do": "task_new", "into": "A", "taskName": "made"}} {
		name := fmt.Sprint("s", i)
		work["name"], work["every"] = name, "24h"
		do[api.ScheduleResult](t, w, one, "schedule_add", work)
		r := do[api.ScheduleRunResult](t, w, one, "schedule_run_now", map[string]any{"name": name})
		if r.Firing.Outcome != "done" {
			t.Errorf("%s: %+v", name, r.Firing)
		}
		if _, f := w.call(t, one, "event_explain", map[string]any{"event": r.Firing.Event}); f != nil {
			t.Errorf("%s does not see its own event: %v", name, f)
		}
		if _, f := w.call(t, other, "event_explain", map[string]any{"event": r.Firing.Event}); f == nil {
			t.Errorf("%s is told to a token of another project", name)
		}
	}
	if len(w.prompts(t, tab)) != 1 {
		t.Error("nothing was sent")
	}
}

func TestScheduleArguments(t *testing.T) {
	w := newWorld(t)
	w.task(t, w.a, "target", creating)
	for why, more := range map[string]map[string]any{
		"no time": {}, "both": {"cron": "@daily", "every": "1h"}, "too often": {"every": "1s"}, "no cron": {"cron": "every day"}, "no zone": {"cron": "@daily", "zone": "Mars"},
		"never": {"cron": "0 0 30 2 *"}, "a zone for an interval": {"every": "1h", "zone": "UTC"}, "jitter": {"every": "1h", "jitter": "13h"}, "no task": {"every": "1h", "task": "none"},
		"an id": {"every": "1h", "name": missingID()}, "new without a name": {"every": "1h", "do": "task_new", "task": "", "into": "A"}, "no agent": {"every": "1h", "do": "task_new", "task": "", "into": "A", "taskName": "x", "agent": "none"},
		"facts without a prompt": {"every": "1h", "do": "task_new", "task": "", "prompt": "", "into": "A", "taskName": "x", "withFacts": true}, "task of new": {"every": "1h", "do": "task_new", "into": "A", "taskName": "x"},
	} {
		params := map[string]any{"name": "s", "do": "task_send", "task": "target", "prompt": "x"}
		for k, v := range more {
			params[k] = v
		}
		if _, f := w.call(t, owner, "schedule_add", params); f == nil || f.Message == "" || f.Code != "invalid_argument" && f.Code != "not_found" {
			t.Errorf("%s: %v", why, f)
		}
	}
}
