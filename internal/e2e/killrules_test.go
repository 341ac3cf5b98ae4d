package e2e

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/store"
)

// TestKilledWhileRulesAct: the app is killed between a due and what comes of it, again and again. No due acts twice, nothing that acted is
// forgotten, and what was cut short is told.
func TestKilledWhileRulesAct(t *testing.T) {
	r := newRig(t)
	r.addProject()
	for n := range 4 {
		call[api.ScheduleResult](r, "schedule_add", map[string]any{"name": fmt.Sprint("s", n), "every": "5s", "overlap": true, "do": "task_new", "into": "repo",
			"taskName": fmt.Sprint("k", n, " {time}"), "agent": "silent", "sandbox": "off"})
	}
	call[api.TriggerResult](r, "trigger_add", map[string]any{"name": "t", "kind": "schedule_fired", "do": "task_new", "into": "repo", "taskName": "t {time}", "agent": "silent", "sandbox": "off"})
	r.stop()
	k := &killer{rig: r, bin: program(t), rnd: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 7))}
	for n := range 16 {
		if n >= 6 && k.did(store.FiringDone) { // a slow machine needs more of them
			break
		}
		time.Sleep(5 * time.Second) // all are due when it starts
		k.serve()
		time.Sleep(time.Duration(k.rnd.IntN(250*(1+n/6))) * time.Millisecond)
		k.kill()
	}
	k.serve()
	time.Sleep(time.Second) // what waits at the start is told, not done
	k.kill()

	s, err := store.Open(context.Background(), filepath.Join(r.data, "termic.db"), store.Options{Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	defer func() { must(t, s.Close()) }()
	ctx := context.Background()
	events, err := s.Events(ctx, store.EventFilter{Kind: store.EventScheduleFired, Limit: 1000})
	must(t, err)
	firedBy, counts := map[string]string{}, map[string]int{}
	dues := map[string]bool{}
	for _, e := range events {
		due := fmt.Sprint(e.Subject, " at ", e.Facts["due"])
		if dues[due] {
			t.Errorf("%s is told twice", due)
		}
		dues[due] = true
		list, err := s.FiringsOf(ctx, e.ID)
		must(t, err)
		rules := map[string]bool{}
		for _, f := range list {
			if counts[f.Outcome]++; rules[f.Rule] {
				t.Errorf("%s fired twice for %s", f.RuleName, e.ID)
			}
			rules[f.Rule] = true
			if f.Task != "" {
				if firedBy[f.Task] != "" {
					t.Errorf("the task %s was made by two firings", f.Task)
				}
				firedBy[f.Task] = f.RuleName
			}
			if f.Outcome == store.FiringMissed && (f.Task != "" || f.Job != "") {
				t.Errorf("it is told that nothing was done: %+v", f)
			}
		}
	}
	tasks, err := s.Tasks(ctx, store.TaskFilter{All: true})
	must(t, err)
	for _, task := range tasks {
		if firedBy[task.ID] == "" {
			t.Errorf("nobody knows who made the task %q", task.Name)
		}
	}
	t.Logf("%d events, %d tasks, outcomes %v", len(events), len(tasks), counts)
	if len(events) < 12 || counts[store.FiringDone] == 0 {
		t.Error("too little happened between the kills")
	}
	if counts[store.FiringMissed]+counts[store.FiringUnknown] == 0 {
		t.Log("no kill hit a firing this time")
	}
}

// did reports whether a firing ended so. The app must not run.
func (k *killer) did(outcome string) bool {
	k.t.Helper()
	s, err := store.Open(context.Background(), filepath.Join(k.data, "termic.db"), store.Options{Log: slog.New(slog.DiscardHandler)})
	must(k.t, err)
	defer func() { must(k.t, s.Close()) }()
	events, err := s.Events(context.Background(), store.EventFilter{Kind: store.EventScheduleFired, Limit: 1000})
	must(k.t, err)
	for _, e := range events {
		list, err := s.FiringsOf(context.Background(), e.ID)
		must(k.t, err)
		if slices.ContainsFunc(list, func(f store.Firing) bool { return f.Outcome == outcome }) {
			return true
		}
	}
	return false
}
