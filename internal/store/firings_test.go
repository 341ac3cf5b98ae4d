package store

import (
	"errors"
	"testing"
	"time"
)

// TestDepthIsThatOfTheEvents: what a firing brings about is one deeper than the event that it followed, by the job of the prompt, by the
// task that it made, and for a while by whatever the agent of that asks of others.
func TestDepthIsThatOfTheEvents(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	written(t, s.Write(ctx, func(tx *Tx) error {
		first, err := tx.AddEvent(ctx, Event{Kind: EventScheduleFired, Subject: "s"})
		if err != nil {
			return err
		}
		second, err := tx.AddEvent(ctx, Event{Kind: EventTaskSettled, Subject: "t", Depth: 1})
		if err != nil {
			return err
		}
		for _, f := range []Firing{{Event: first.ID, Rule: "r", Verb: "task_new", Outcome: FiringDone, Task: "made", Job: "j1", Time: now},
			{Event: second.ID, Rule: "q", Verb: "task_send", Outcome: FiringDone, Task: "made", Job: "j2", Time: now.Add(-2 * time.Hour)},
			{Event: second.ID, Rule: "p", Verb: "task_send", Outcome: FiringRefused, Task: "other", Job: "j3", Time: now}} {
			if _, err := tx.AddFiring(ctx, f); err != nil {
				return err
			}
		}
		return nil
	}))
	for _, c := range []struct {
		task, job string
		want      int
	}{{"made", "j1", 1}, {"made", "j2", 2}, {"made", "", 1}, {"made", "by hand", 0}, {"another", "", 0}} {
		if got, err := s.DepthOf(ctx, c.task, c.job); err != nil || got != c.want {
			t.Errorf("%+v: %d, %v", c, got, err)
		}
	}
	for task, want := range map[string]int{"made": 1, "other": 0, "another": 0} {
		if got, err := s.DepthAround(ctx, task, now.Add(-time.Hour)); err != nil || got != want {
			t.Errorf("around %s: %d, %v", task, got, err)
		}
	}
}

// TestEventsAreBoundedAndToldOnce: a flood drives out the oldest at once, and what may come once alone comes once.
func TestEventsAreBoundedAndToldOnce(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	written(t, s.Write(ctx, func(tx *Tx) error {
		for range MaxEvents + 2*eventsBetween {
			if _, err := tx.AddEvent(ctx, Event{Kind: EventWebhook, Subject: "x"}); err != nil {
				return err
			}
		}
		return nil
	}))
	var n int
	written(t, s.pool.QueryRowContext(ctx, `SELECT COUNT(*) FROM events`).Scan(&n))
	if n > MaxEvents+eventsBetween {
		t.Errorf("%d events are kept", n)
	}
	once := func() error {
		return s.Write(ctx, func(tx *Tx) error {
			_, err := tx.AddEvent(ctx, Event{Kind: EventWebhook, Subject: "x", Once: "one"})
			return err
		})
	}
	written(t, once())
	if err := once(); !errors.Is(err, ErrRepeated) {
		t.Errorf("the second time: %v", err)
	}
	if e, err := s.EventOnce(ctx, "one"); err != nil || e.Subject != "x" {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestFloodForgetsNoBound: a flood of events drives out neither what a rule did within the day, nor how deep it was in a circle, nor what
// waits to act, nor that a request came.
func TestFloodForgetsNoBound(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	now := s.o.Now()
	var signed, led Event
	written(t, s.Write(ctx, func(tx *Tx) (err error) {
		if signed, err = tx.AddEvent(ctx, Event{Kind: EventWebhook, Subject: "x", Once: "one"}); err != nil {
			return err
		}
		if led, err = tx.AddEvent(ctx, Event{Kind: EventTaskSettled, Subject: "t", Depth: 2}); err != nil {
			return err
		}
		for _, outcome := range []string{FiringDone, FiringFailed, FiringUnknown, FiringWaiting} {
			if _, err := tx.AddFiring(ctx, Firing{Event: led.ID, Rule: "r", Verb: "task_send", Outcome: outcome, Job: "j", Time: now}); err != nil {
				return err
			}
		}
		if _, err := tx.AddFiring(ctx, Firing{Event: led.ID, Rule: "r", Verb: "task_send", Outcome: FiringDone, Time: now.Add(-26 * time.Hour)}); err != nil {
			return err
		}
		for range MaxEvents + 2*eventsBetween {
			e, err := tx.AddEvent(ctx, Event{Kind: EventTaskSettled, Subject: "t"})
			if err != nil {
				return err
			}
			if _, err := tx.AddFiring(ctx, Firing{Event: e.ID, Rule: "r", Verb: "task_send", Outcome: FiringHeld, Time: now}); err != nil {
				return err
			}
		}
		return nil
	}))
	if n, _, err := s.ActedSince(ctx, "r", "", now.Add(-24*time.Hour)); err != nil || n != 4 {
		t.Errorf("it acted %d times, %v", n, err)
	}
	if n, _, err := s.ActedSince(ctx, "r", "t", now.Add(-48*time.Hour)); err != nil || n != 4 {
		t.Errorf("for one subject %d times, %v; what is older than a day may go", n, err)
	}
	if depth, err := s.DepthOf(ctx, "", "j"); err != nil || depth != 3 {
		t.Errorf("it is %d deep, %v", depth, err)
	}
	if list, err := s.WaitingFirings(ctx, 10); err != nil || len(list) != 1 || list[0].Event != led.ID {
		t.Errorf("%+v, %v", list, err)
	}
	if e, err := s.EventOnce(ctx, "one"); err != nil || e.ID != signed.ID {
		t.Errorf("the request: %+v, %v", e, err)
	}
	for _, table := range []string{"events", "firings"} {
		var n int
		written(t, s.pool.QueryRowContext(ctx, `SELECT COUNT(*) FROM `+table).Scan(&n))
		if n > MaxEvents+eventsBetween+10 {
			t.Errorf("%d %s are kept", n, table)
		}
	}
}

func written(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
