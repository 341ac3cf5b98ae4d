package core

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
	"termic/internal/when"
)

const (
	// lateGrace is how late a due may be found before it counts as missed: a loaded machine is late, a suspended one more so.
	lateGrace = 2 * time.Minute
	// longestSleep is after how long the clocks are looked at when nothing is due. A timer stands still while the machine sleeps, and
	// does not hear of a clock that was set.
	longestSleep = time.Minute
	// farAhead is how far in the future the last due of a schedule may be before the clock must have been wrong then.
	farAhead = 25 * time.Hour
	// maxMissed is up to how many missed dues are counted.
	maxMissed = 1000
)

// due is a schedule that waits. Those of cron wait for a time on the wall, and the others for so much time to have passed.
type due struct {
	s    store.Schedule
	cron *when.Cron
	at   time.Time     // of cron: the due itself, and
	go_  time.Time     // when it acts: with its jitter
	boot time.Duration // of the others: when it acts, since the machine was booted
}

// dueHeap has the earliest first.
type dueHeap struct {
	list []*due
	less func(a, b *due) bool
}

func (h *dueHeap) Len() int           { return len(h.list) }
func (h *dueHeap) Less(i, j int) bool { return h.less(h.list[i], h.list[j]) }
func (h *dueHeap) Swap(i, j int)      { h.list[i], h.list[j] = h.list[j], h.list[i] }
func (h *dueHeap) Push(x any)         { h.list = append(h.list, x.(*due)) }
func (h *dueHeap) Pop() any {
	last := h.list[len(h.list)-1]
	h.list = h.list[:len(h.list)-1]
	return last
}

func (h *dueHeap) first() *due {
	if len(h.list) == 0 {
		return nil
	}
	return h.list[0]
}

// timetable is everything that waits for its time. One goroutine works with it, which is asked by others what comes next.
type timetable struct {
	mu    sync.Mutex // guards the following
	crons dueHeap
	every dueHeap
	wall  time.Time // when it was looked at last
	wakes int       // times that it was looked at because time had passed
}

func newTimetable() *timetable {
	return &timetable{crons: dueHeap{less: func(a, b *due) bool { return a.go_.Before(b.go_) }}, every: dueHeap{less: func(a, b *due) bool { return a.boot < b.boot }}}
}

// bootNow is the time that intervals are measured in: it goes on in suspend and is not set. Where a machine cannot tell it, the wall
// stands in.
func (c *Core) bootNow() time.Duration {
	if now, err := c.clock.boot(); err == nil {
		return now
	}
	return time.Duration(c.clock.wall().UnixNano())
}

// runSchedules waits for dues and hands them on. It has one timer, for the earliest. It ends with Core.
func (c *Core) runSchedules() {
	if err := c.loadSchedules(c.ctx); err != nil && c.ctx.Err() == nil {
		c.log.Error("schedules could not be read", "err", err)
	}
	for {
		sleep, any := c.timetable.sleep(c.clock.wall(), c.bootNow())
		var rings <-chan time.Time
		stop := func() bool { return true }
		if any {
			rings, stop = c.clock.timer(sleep)
		}
		select {
		case <-c.ctx.Done():
			stop()
			return
		case <-c.rules.dues:
			stop()
			if err := c.loadSchedules(c.ctx); err != nil && c.ctx.Err() == nil {
				c.log.Error("schedules could not be read", "err", err)
			}
		case <-rings:
			c.lookAtTime(c.ctx)
		}
	}
}

// sleep is how long nothing is due; false where nothing ever is.
func (t *timetable) sleep(wall time.Time, boot time.Duration) (time.Duration, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d, any := longestSleep, false
	if f := t.crons.first(); f != nil {
		d, any = min(d, f.go_.Sub(wall)), true
	}
	if f := t.every.first(); f != nil {
		d, any = min(d, f.boot-boot), true
	}
	return max(d, time.Millisecond), any
}

// loadSchedules makes the timetable anew from what is stored.
func (c *Core) loadSchedules(ctx context.Context) error {
	list, err := c.store.Schedules(ctx)
	if err != nil {
		return err
	}
	t := c.timetable
	t.mu.Lock()
	defer t.mu.Unlock()
	t.crons.list, t.every.list, t.wall = nil, nil, c.clock.wall()
	for _, s := range list {
		if !s.Enabled || s.Stopped != "" {
			continue
		}
		if d := c.dueOf(s); d != nil {
			t.add(d)
		}
	}
	heap.Init(&t.crons)
	heap.Init(&t.every)
	return nil
}

// add puts a due in without order.
func (t *timetable) add(d *due) {
	if d.cron != nil {
		t.crons.list = append(t.crons.list, d)
	} else {
		t.every.list = append(t.every.list, d)
	}
}

// dueOf is the next due of a schedule after the last that was taken; nil where there is none.
func (c *Core) dueOf(s store.Schedule) *due {
	d, now := &due{s: s}, c.clock.wall()
	if s.When.Cron == "" {
		left := min(s.LastDue.Add(s.When.Every).Sub(now), s.When.Every)
		d.boot = c.bootNow() + left + jitterOf(s, s.LastDue)
		return d
	}
	var err error
	if d.cron, err = when.ParseCron(s.When.Cron, s.When.Zone); err != nil {
		c.log.Error("the time of a schedule cannot be read any more", "schedule", s.Name, "err", err)
		return nil
	}
	after := s.LastDue
	if after.After(now.Add(farAhead)) {
		after = now // the clock was wrong then
	}
	return d.next(after)
}

// next makes it the first due of cron after a moment.
func (d *due) next(after time.Time) *due {
	if d.at = d.cron.Next(after); d.at.IsZero() {
		return nil
	}
	d.go_ = d.at.Add(jitterOf(d.s, d.at))
	return d
}

// jitterOf is by how much one due of a schedule is put off: always the same for the same due, so that a start of the app in between
// changes nothing.
func jitterOf(s store.Schedule, at time.Time) time.Duration {
	if s.When.Jitter <= 0 {
		return 0
	}
	h := fnv.New64a()
	fmt.Fprint(h, s.ID, at.UnixNano())
	return time.Duration(h.Sum64() % uint64(s.When.Jitter))
}

// lookAtTime takes what is due now.
func (c *Core) lookAtTime(ctx context.Context) {
	t, now, boot := c.timetable, c.clock.wall(), c.bootNow()
	t.mu.Lock()
	t.wakes++
	wrong := now.Before(t.wall.Add(-farAhead)) // the clock was set back by days: dues may be waited for that far
	t.wall = now
	var ready []*due
	for f := t.crons.first(); f != nil && !f.go_.After(now); f = t.crons.first() {
		ready = append(ready, heap.Pop(&t.crons).(*due))
	}
	for f := t.every.first(); f != nil && f.boot <= boot; f = t.every.first() {
		ready = append(ready, heap.Pop(&t.every).(*due))
	}
	t.mu.Unlock()
	again := wrong
	for _, d := range ready {
		if err := c.take(ctx, d, now, boot); err != nil && ctx.Err() == nil {
			again = again || fault.CodeOf(err) == fault.Conflict || fault.CodeOf(err) == fault.NotFound // it was changed a moment ago
			if !again {
				c.log.Error("a due could not be taken", "schedule", d.s.Name, "err", err)
			}
		}
		t.mu.Lock()
		if d.cron != nil {
			heap.Push(&t.crons, d)
		} else {
			heap.Push(&t.every, d)
		}
		t.mu.Unlock()
	}
	if again {
		if err := c.loadSchedules(ctx); err != nil && ctx.Err() == nil {
			c.log.Error("schedules could not be read", "err", err)
		}
	}
	if len(ready) > 0 {
		poke(c.rules.kick)
		c.beacon.change()
	}
}

// take makes durable that a due was taken, with what is to come of it, and finds the next one. Should the app die after that, it is told
// at the next start that nothing came of it; it never comes twice.
func (c *Core) take(ctx context.Context, d *due, now time.Time, boot time.Duration) error {
	last, taken, missed := d.s.LastDue, now, 0
	if d.cron != nil {
		taken = d.at
		if now.Sub(d.go_) > lateGrace {
			missed = 1
			for next := d.cron.Next(taken); missed < maxMissed && !next.IsZero() && !next.After(now); next = d.cron.Next(taken) {
				taken, missed = next, missed+1
			}
			if missed == maxMissed {
				taken = now
			}
		}
	} else if late := boot - d.boot; late > lateGrace {
		missed = int(min(late/d.s.When.Every+1, maxMissed))
	}
	if !taken.After(last) && !last.After(now.Add(farAhead)) {
		taken = last.Add(1) // the clock was set back; an interval goes on all the same
	}
	skip, project := missed > 0 && d.s.When.Missed != store.MissedOnce, c.projectOf(ctx, d.s)
	err := c.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		if err := tx.TakeDue(ctx, d.s.ID, last, taken, !skip); err != nil {
			return err
		}
		return c.scheduleFired(ctx, tx, d.s, project, taken, missed, skip)
	})
	if err == nil || fault.CodeOf(err) == fault.Conflict {
		d.s.LastDue = taken
	}
	if d.cron == nil {
		d.boot = boot + d.s.When.Every + jitterOf(d.s, taken)
		return err
	}
	after := taken
	if err != nil {
		after = now // it is tried again with the next
	}
	if d.next(after) == nil {
		d.go_ = now.Add(100 * 365 * 24 * time.Hour)
	}
	return err
}

// scheduleFired keeps the event of a due and the firing that follows, or why none does.
func (c *Core) scheduleFired(ctx context.Context, tx *store.Tx, s store.Schedule, project string, at time.Time, missed int, skip bool) error {
	facts := map[string]any{"due": stamp(at)}
	if missed > 0 {
		facts["missed"] = missed
	}
	f := store.Firing{Rule: s.ID, Time: c.clock.wall(), RuleName: s.Name, Verb: s.Action.Verb, Outcome: store.FiringWaiting}
	if skip {
		f.Outcome, f.Detail = store.FiringSkipped, countOf(missed, "due")+" passed while Termic did not run or the machine slept."
	} else {
		e, err := c.keepEvent(ctx, tx, store.Event{Kind: store.EventScheduleFired, Subject: s.Name, Project: project, Facts: facts})
		if err != nil {
			return err
		}
		f.Event = e.ID
	}
	_, err := tx.AddFiring(ctx, f)
	return err
}

// projectOf is the project in which a schedule does something, as far as can be told: then those who may know of the project may know
// that it ran.
func (c *Core) projectOf(ctx context.Context, s store.Schedule) string {
	creator, err := c.standing(ctx, s.Creator, grant.Schedule)
	if err != nil {
		return ""
	}
	does := viewRule(s.Rule, nil)
	if does.Into != "" {
		p, err := c.resolveProject(ctx, creator, does.Into)
		if err != nil {
			return ""
		}
		return p.ID
	}
	id, err := c.ResolveTask(ctx, creator, api.TaskRef{Task: does.Task}, does.Do)
	if err != nil {
		return ""
	}
	t, err := c.store.Task(ctx, id)
	if err != nil {
		return ""
	}
	return t.ProjectID
}

// stillWorks refuses a due while what the one before began goes on.
func (c *Core) stillWorks(ctx context.Context, s store.Schedule, f store.Firing) error {
	if s.When.Overlap {
		return nil
	}
	before, err := c.store.FiringBefore(ctx, s.ID, f.Seq)
	if fault.CodeOf(err) == fault.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if job, err := c.store.Job(ctx, before.Job); err == nil && job.State == store.JobRunning {
		return errOverlap
	}
	if before.Task == "" || before.Verb != "task_new" {
		return nil
	}
	for _, l := range c.liveTabs(before.Task) {
		if state, _ := l.workState(); state == "working" {
			return errOverlap
		}
	}
	return nil
}

var errOverlap = errors.New("what the due before began still goes on")

// nextDues is when the schedules act next that wait for so much time to have passed, by id.
func (c *Core) nextDues() map[string]time.Time {
	t, wall, boot := c.timetable, c.clock.wall(), c.bootNow()
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make(map[string]time.Time, len(t.every.list))
	for _, d := range t.every.list {
		out[d.s.ID] = wall.Add(d.boot - boot)
	}
	return out
}
