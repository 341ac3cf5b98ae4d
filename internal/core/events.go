package core

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sync"
	"time"

	"termic/internal/grant"
	"termic/internal/store"
)

// Bounds of what follows by itself, so that no circle of events and tasks runs away. A circle of two rules goes on for as long as
// agents work, which costs money: a hundred times a day is more than anybody means, and ten seconds is less than any agent needs.
const (
	RuleGap  = 10 * time.Second // between two firings of a trigger for the same subject
	RuleDay  = 100              // firings of a trigger in 24 hours
	MaxChain = 3                // firings that lead to one another
)

// rules is what acts by itself: it carries out firings, and waits for dues. Its zero value does nothing until StartRules.
type rules struct {
	mu    sync.Mutex // guards the following
	actor Actor
	kick  chan struct{} // holds one: there may be firings that wait
	dues  chan struct{} // holds one: schedules were changed
}

func newRules() *rules {
	return &rules{kick: make(chan struct{}, 1), dues: make(chan struct{}, 1)}
}

func (r *rules) who() Actor {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.actor
}

func poke(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default: // it will look anyway
	}
}

// StartRules lets triggers and schedules act, through the one way in. Whoever puts the app together calls it once; Close ends it.
func (c *Core) StartRules(ctx context.Context, actor Actor) error {
	c.rules.mu.Lock()
	c.rules.actor = actor
	c.rules.mu.Unlock()
	if err := c.reviewRules(ctx); err != nil {
		return err
	}
	c.spawn(c.runFirings)
	c.spawn(c.runSchedules)
	c.spawn(c.watchBranches)
	return nil
}

// firingsAtStart tells of firings that the end of the app cut short. None of them acts again: whether it has acted, nobody can say.
func (c *Core) firingsAtStart(ctx context.Context) error {
	var missed, unknown int64
	err := c.store.Write(ctx, func(tx *store.Tx) (err error) {
		missed, unknown, err = tx.InterruptFirings(ctx)
		return err
	})
	if missed+unknown > 0 {
		c.notice("Termic was ended while %s under way. What they were to do may be undone; `termic event list` shows them.", wasWere(int(missed+unknown), "trigger or schedule"))
	}
	return err
}

// happened keeps an event, with the firings of the triggers that follow it, and lets them act. What it is about has happened already,
// so it cannot fail: an event that could not be kept is told in the log, and nothing follows from it.
func (c *Core) happened(ctx context.Context, e store.Event) {
	if _, err := c.tell(ctx, e); err != nil {
		c.log.Error("an event could not be kept, so nothing follows from it", "kind", e.Kind, "err", err)
	}
}

// tell is happened for those who want to know.
func (c *Core) tell(ctx context.Context, e store.Event) (store.Event, error) {
	ctx = context.WithoutCancel(ctx)
	err := c.store.Write(ctx, func(tx *store.Tx) (err error) {
		e, err = c.keepEvent(ctx, tx, e)
		return err
	})
	if err == nil {
		poke(c.rules.kick)
		c.beacon.change()
	}
	return e, err
}

// TestOnlyHappened is for tests, which have no other way to let an event come from a cage that they made up.
func (c *Core) TestOnlyHappened(ctx context.Context, e store.Event) (store.Event, error) {
	return c.tell(ctx, e)
}

// keepEvent stores an event, and what is to follow from it: so nothing that matched is forgotten when the app dies now.
func (c *Core) keepEvent(ctx context.Context, tx *store.Tx, e store.Event) (store.Event, error) {
	if e.Time.IsZero() {
		e.Time = c.clock.wall()
	}
	e, err := tx.AddEvent(ctx, e)
	if err != nil {
		return e, err
	}
	triggers, err := tx.TriggersOf(ctx, e.Kind)
	if err != nil {
		return e, err
	}
	for _, t := range triggers {
		if why := mismatch(t, e); why != "" {
			continue
		}
		f := store.Firing{Event: e.ID, Rule: t.ID, RuleName: t.Name, Verb: t.Action.Verb, Outcome: store.FiringWaiting, Time: e.Time}
		if f.Detail, err = tooMuch(ctx, tx, t, e); err != nil {
			return e, err
		}
		if f.Detail != "" {
			f.Outcome = store.FiringHeld
		}
		if _, err := tx.AddFiring(ctx, f); err != nil {
			return e, err
		}
	}
	return e, nil
}

// mismatch says why a trigger does not follow an event; empty where it does.
func mismatch(t store.Trigger, e store.Event) string {
	switch matched, err := path.Match(t.Match.Subject, e.Subject); {
	case t.Kind != e.Kind:
		return "It follows events of the kind " + t.Kind + "."
	case !t.Enabled:
		return "It is switched off."
	case t.Stopped != "":
		return "It stopped. " + t.Stopped
	case t.Match.Subject != "" && (err != nil || !matched):
		return fmt.Sprintf("The subject is not like %q.", t.Match.Subject)
	case t.Match.Project != "" && t.Match.Project != e.Project:
		return "It follows what happens in another project."
	case !reachesEvent(t.Creator, e):
		return "The token of " + t.Creator.Principal + " does not reach what happened."
	}
	for _, name := range sortedKeys(t.Match.Facts) {
		have, there := e.Facts[name]
		if !there {
			return fmt.Sprintf("The event says nothing of %q.", name)
		}
		if want := t.Match.Facts[name]; fmt.Sprint(have) != want {
			return fmt.Sprintf("%s is not %s.", name, want)
		}
	}
	return ""
}

// tooMuch says why a trigger that follows an event does nothing all the same; empty where it acts.
func tooMuch(ctx context.Context, tx *store.Tx, t store.Trigger, e store.Event) (string, error) {
	if e.Depth >= MaxChain {
		return fmt.Sprintf("%d firings led to this event, one by way of the other, and a circle ends there.", e.Depth), nil
	}
	n, _, err := tx.ActedSince(ctx, t.ID, "", e.Time.Add(-24*time.Hour))
	if err != nil || n >= RuleDay {
		return fmt.Sprintf("It fired %d times within 24 hours, the most that a trigger may.", n), err
	}
	if n, _, err = tx.ActedSince(ctx, t.ID, e.Subject, e.Time.Add(-RuleGap)); err != nil || n > 0 {
		return fmt.Sprintf("It fired for the same subject less than %d s before.", int(RuleGap/time.Second)), err
	}
	return "", nil
}

// firingsAtOnce is how many firings act at the same time. A prompt may take half a minute until it is typed.
const firingsAtOnce = 8

// runFirings lets firings act that wait, in the order of what happened. It ends with Core.
func (c *Core) runFirings() {
	room := make(chan struct{}, firingsAtOnce)
	for {
		list, err := c.store.WaitingFirings(c.ctx, 64)
		if err != nil {
			if c.ctx.Err() != nil {
				return
			}
			c.log.Error("firings could not be read", "err", err)
		}
		for _, f := range list {
			select {
			case room <- struct{}{}:
			case <-c.ctx.Done():
				return
			}
			if err := c.claimFiring(f); err != nil {
				<-room
				c.log.Error("a firing could not be taken", "rule", f.RuleName, "err", err)
				continue
			}
			if !c.spawn(func() { defer func() { <-room }(); c.fire(f) }) {
				return
			}
		}
		if len(list) == 64 && err == nil {
			continue
		}
		select {
		case <-c.rules.kick:
		case <-c.ctx.Done():
			return
		}
	}
}

// claimFiring makes durable that a firing acts from now on, so that it never does twice.
func (c *Core) claimFiring(f store.Firing) error {
	ctx := context.WithoutCancel(c.ctx)
	f.Outcome = store.FiringActing
	return c.store.Write(ctx, func(tx *store.Tx) error { return tx.SetFiring(ctx, store.FiringWaiting, f) })
}

// fire lets one firing act, of a trigger or of a schedule.
func (c *Core) fire(f store.Firing) {
	e, err := c.store.Event(c.ctx, f.Event)
	if err != nil {
		c.carry(f, store.Rule{}, grant.Trigger, e, err)
		return
	}
	s, err := c.store.Schedule(c.ctx, f.Rule)
	if err == nil && s.ID == f.Rule {
		if s.Stopped != "" || !s.Enabled && e.Facts["by_hand"] == nil {
			err = errNoRule
		} else if e.Facts["by_hand"] == nil {
			err = c.stillWorks(c.ctx, s, f)
		}
		c.carry(f, s.Rule, grant.Schedule, e, err)
		return
	}
	t, err := c.store.Trigger(c.ctx, f.Rule)
	if err == nil && (t.ID != f.Rule || !t.Enabled || t.Stopped != "") {
		err = errNoRule
	}
	c.carry(f, t.Rule, grant.Trigger, e, err)
}

// carry calls what a rule does and writes down what came of it.
func (c *Core) carry(f store.Firing, r store.Rule, face grant.Face, e store.Event, err error) {
	ctx := withFiring(c.ctx, f.Seq)
	var acted Acted
	if err == nil {
		acted, err = c.actFor(ctx, c.rules.who(), r, face, e)
	}
	if g, is := errors.AsType[*goneError](err); is {
		if serr := c.stopThese(context.WithoutCancel(ctx), stopping{r, face, g.why.Message + "."}); serr != nil {
			c.log.Error("a rule could not be stopped", "rule", r.Name, "err", serr)
		}
	}
	f.Outcome, f.Task, f.Job = store.FiringDone, acted.Task, acted.Job
	switch {
	case errors.Is(err, errOverlap):
		f.Outcome, f.Detail = store.FiringSkipped, "What the one before began still goes on."
	case err != nil:
		f.Outcome, f.Detail = outcomeOfFiring(err), sentence(err)
	}
	done := context.WithoutCancel(ctx)
	if serr := c.store.Write(done, func(tx *store.Tx) error { return tx.SetFiring(done, store.FiringActing, f) }); serr != nil {
		c.log.Error("what came of a firing could not be kept", "rule", f.RuleName, "err", serr)
	}
	c.beacon.change()
}
