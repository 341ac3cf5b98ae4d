package core

import (
	"context"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/ids"
	"termic/internal/store"
	"termic/internal/when"
)

// maxJitter is by how much a run may be put off.
const maxJitter = 12 * time.Hour

// runPatience is how long schedule_run_now waits for what comes of it: as long as a prompt may take until it is typed, and a little.
const runPatience = 40 * time.Second

// ScheduleList is the verb schedule_list.
func (c *Core) ScheduleList(ctx context.Context, call *Call, p api.ScheduleListParams) (api.ScheduleListResult, error) {
	list, err := c.store.Schedules(ctx)
	if err != nil {
		return api.ScheduleListResult{}, err
	}
	last, err := c.store.LastFirings(ctx)
	next := c.nextDues()
	list, total := pageOf(call.Caller, list, p.RulePage, func(s store.Schedule) store.Rule { return s.Rule })
	out := api.ScheduleListResult{Schedules: make([]api.Schedule, len(list)), Total: int64(total)}
	for i, s := range list {
		out.Schedules[i] = c.viewSchedule(s, last, next)
	}
	return out, err
}

// ScheduleAdd is the verb schedule_add. What the schedule is to do is asked for as if it were done now.
func (c *Core) ScheduleAdd(ctx context.Context, call *Call, p api.ScheduleAddParams) (api.ScheduleResult, error) {
	if err := checkRuleName("schedule", p.Name); err != nil {
		return api.ScheduleResult{}, err
	}
	s := store.Schedule{Rule: store.Rule{Name: p.Name, Enabled: true, Creator: creatorOf(call.Caller)}, When: store.When{Missed: store.MissedSkip}, LastDue: c.clock.wall()}
	err := whenOf(&s.When, p.ScheduleTime)
	if err == nil {
		s.Action, err = actionOf(p.RuleWork, store.Action{})
	}
	if err != nil {
		return api.ScheduleResult{}, err
	}
	release, err := c.holdTokens(ctx) // nothing is taken from its maker between this look and the row
	if err != nil {
		return api.ScheduleResult{}, err
	}
	defer release()
	if err := c.mayMake(ctx, call, s.Rule, grant.Schedule); err != nil {
		return api.ScheduleResult{}, err
	}
	err = c.store.Write(ctx, func(tx *store.Tx) (err error) {
		s, err = tx.AddSchedule(ctx, s)
		return err
	})
	return c.shownSchedule(ctx, s, err)
}

// ScheduleUpdate is the verb schedule_update. The schedule goes on acting as whoever made it. One whose times are other ones, or that is
// switched on, begins to count now.
func (c *Core) ScheduleUpdate(ctx context.Context, call *Call, p api.ScheduleUpdateParams) (api.ScheduleResult, error) {
	s, err := c.scheduleOf(ctx, call.Caller, p.Name)
	if err != nil {
		return api.ScheduleResult{}, err
	}
	was := s
	if p == (api.ScheduleUpdateParams{Name: p.Name}) {
		return api.ScheduleResult{}, nothingToChange("a time, what it does, enable or disable")
	}
	if err := whenOf(&s.When, p.ScheduleTime); err != nil {
		return api.ScheduleResult{}, err
	}
	if s.Action, err = actionOf(p.RuleWork, s.Action); err != nil {
		return api.ScheduleResult{}, err
	}
	release, err := c.holdTokens(ctx)
	if err != nil {
		return api.ScheduleResult{}, err
	}
	defer release()
	onOff(&s.Rule, p.Enable, p.Disable)
	if s.Enabled && s.Stopped == "" {
		if err := c.mayMake(ctx, call, s.Rule, grant.Schedule); err != nil {
			return api.ScheduleResult{}, err
		}
	}
	anew := s.When != was.When || s.Enabled && (!was.Enabled || was.Stopped != "")
	err = c.store.Write(ctx, func(tx *store.Tx) (err error) {
		s, err = tx.UpdateSchedule(ctx, s.ID, func(now *store.Schedule) error {
			if now.Stopped != "" && !p.Enable {
				s.Stopped = now.Stopped // it stopped a moment ago
			}
			now.When, now.Action, now.Enabled, now.Stopped = s.When, s.Action, s.Enabled, s.Stopped
			if anew {
				now.LastDue = c.clock.wall()
			}
			return nil
		})
		return err
	})
	return c.shownSchedule(ctx, s, err)
}

// ScheduleDelete is the verb schedule_delete.
func (c *Core) ScheduleDelete(ctx context.Context, call *Call, p api.ScheduleParams) (api.ScheduleDeleteResult, error) {
	s, err := c.scheduleOf(ctx, call.Caller, p.Name)
	if err == nil {
		err = c.store.Write(ctx, func(tx *store.Tx) error { return tx.DeleteSchedule(ctx, s.ID) })
	}
	if err != nil {
		return api.ScheduleDeleteResult{}, err
	}
	poke(c.rules.dues)
	c.beacon.change()
	return api.ScheduleDeleteResult{Name: s.Name}, nil
}

// ScheduleRunNow is the verb schedule_run_now: the schedule acts as if it were due, as its creator. Its times stay as they are.
func (c *Core) ScheduleRunNow(ctx context.Context, call *Call, p api.ScheduleParams) (api.ScheduleRunResult, error) {
	s, err := c.scheduleOf(ctx, call.Caller, p.Name)
	if err != nil {
		return api.ScheduleRunResult{}, err
	}
	if s.Stopped != "" {
		return api.ScheduleRunResult{}, fault.New(fault.Conflict, "The schedule %q stopped. %s", s.Name, s.Stopped).WithHint("Switch it on first: `termic schedule update %s --enable`.", shellWord(s.Name))
	}
	var f store.Firing
	project := c.projectOf(ctx, s)
	err = c.store.Write(ctx, func(tx *store.Tx) error {
		e, err := c.keepEvent(ctx, tx, store.Event{Kind: store.EventScheduleFired, Subject: s.Name, Project: project,
			Facts: map[string]any{"by_hand": call.Caller.Principal}})
		if err != nil {
			return err
		}
		f, err = tx.AddFiring(ctx, store.Firing{Event: e.ID, Rule: s.ID, RuleName: s.Name, Verb: s.Action.Verb, Outcome: store.FiringWaiting})
		return err
	})
	if err != nil {
		return api.ScheduleRunResult{}, err
	}
	poke(c.rules.kick)
	f, err = c.awaitFiring(ctx, f)
	return api.ScheduleRunResult{Name: s.Name, Firing: viewFiring(f)}, err
}

// awaitFiring waits until it is known what came of a firing, or patience ends.
func (c *Core) awaitFiring(ctx context.Context, f store.Firing) (store.Firing, error) {
	until := time.Now().Add(runPatience)
	for {
		_, changed := c.beacon.watch()
		now, err := c.store.Firing(ctx, f.Seq)
		if err != nil {
			return f, err
		}
		if f = now; f.Outcome != store.FiringWaiting && f.Outcome != store.FiringActing || !time.Now().Before(until) {
			return f, nil
		}
		if err := c.pause(ctx, changed, until); err != nil {
			return f, err
		}
	}
}

// scheduleOf finds a schedule that a caller may change.
func (c *Core) scheduleOf(ctx context.Context, caller grant.Caller, name string) (store.Schedule, error) {
	s, err := c.store.Schedule(ctx, name)
	if fault.CodeOf(err) == fault.NotFound || err == nil && !knowsRule(caller, s.Rule) {
		list, lerr := c.store.Schedules(ctx)
		if lerr != nil {
			return s, lerr
		}
		names := []string{}
		for _, o := range list {
			if knowsRule(caller, o.Rule) && len(names) < maxNamesTold {
				names = append(names, o.Name)
			}
		}
		return s, fault.New(fault.NotFound, "There is no schedule %q", name).WithHint("%s", listed("There are", names)).OrNear(name, names)
	}
	if err != nil {
		return s, err
	}
	return s, mayChange(caller, s.Rule)
}

// maxNamesTold is how many names a refusal lists.
const maxNamesTold = 50

// checkRuleName refuses a name that could be taken for the id of another rule.
func checkRuleName(what, name string) error {
	if ids.Valid(name) {
		return fault.New(fault.InvalidArgument, "The name %q looks like the id of a %s", name, what)
	}
	return checkName(what, name)
}

// whenOf reads when a schedule is due, on top of what it was.
func whenOf(w *store.When, p api.ScheduleTime) error {
	if p.Cron != "" {
		w.Cron, w.Every = p.Cron, 0
	}
	if p.Every != "" {
		every, err := durationOf("every", p.Every, when.MinEvery, when.MaxEvery)
		if err != nil {
			return err
		}
		w.Cron, w.Zone, w.Every = "", "", every
	}
	if p.Zone != "" {
		w.Zone = p.Zone
	}
	switch {
	case w.Cron == "" && w.Every == 0:
		return fault.New(fault.InvalidArgument, "When is the schedule due?").WithHint("Give cron, such as '0 9 * * mon-fri', or every, such as 30m.")
	case w.Cron != "":
		if _, err := when.ParseCron(w.Cron, w.Zone); err != nil {
			return fault.Wrap(err, fault.InvalidArgument, "The times cannot be read: %s", err).
				WithHint("Five fields: minute, hour, day of the month, month, day of the week, such as '0 9 * * mon-fri'; or @daily and the like. Zones are called like Europe/Berlin.")
		}
	}
	if p.Jitter != "" {
		jitter, err := durationOf("jitter", p.Jitter, 0, maxJitter)
		if err != nil {
			return err
		}
		w.Jitter = jitter
	}
	if period := periodOf(*w, time.Now()); w.Jitter > period {
		return fault.New(fault.InvalidArgument, "A run may be put off by at most the time until the next one, %s, not by %s", period, w.Jitter).
			WithHint("Give a jitter of %s or less; 0s takes it back.", period)
	}
	w.Missed = orElse(p.Missed, w.Missed)
	w.Overlap = (w.Overlap || p.Overlap) && !p.NoOverlap
	return nil
}

// periodDues is over how many dues of cron it is looked how close two of them are: more than a month of hours, and a year of weeks.
const periodDues = 1000

// periodOf is the least time between two runs of a schedule; for cron, of the next periodDues.
func periodOf(w store.When, now time.Time) time.Duration {
	if w.Cron == "" {
		return w.Every
	}
	least := maxJitter
	cron, err := when.ParseCron(w.Cron, w.Zone)
	if err != nil {
		return least // it was parsed a moment ago
	}
	last := cron.Next(now)
	for range periodDues {
		next := cron.Next(last)
		if last.IsZero() || next.IsZero() {
			break
		}
		least, last = min(least, next.Sub(last)), next
	}
	return least
}

// nothingToChange answers an update that names nothing but what it is about.
func nothingToChange(what string) error {
	return fault.New(fault.InvalidArgument, "There is nothing to change").WithHint("Give %s.", what)
}

func durationOf(what, text string, least, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fault.New(fault.InvalidArgument, "%s is no time: %q", what, text).WithHint("Write it like 30s, 10m or 1h30m.")
	}
	if d < least || d > most {
		return 0, fault.New(fault.InvalidArgument, "%s may be from %s to %s, not %s", what, least, most, d)
	}
	return d, nil
}

func (c *Core) shownSchedule(ctx context.Context, s store.Schedule, err error) (api.ScheduleResult, error) {
	if err != nil {
		return api.ScheduleResult{}, err
	}
	poke(c.rules.dues)
	c.beacon.change()
	last, err := c.store.LastFirings(ctx)
	return api.ScheduleResult{Schedule: c.viewSchedule(s, last, nil)}, err
}

// nextShown is how many of the next runs are shown.
const nextShown = 3

// viewSchedule is what is shown of a schedule. next are the dues of the timetable; one that is not in it yet is computed.
func (c *Core) viewSchedule(s store.Schedule, last map[string]store.Firing, next map[string]time.Time) api.Schedule {
	v := api.Schedule{RuleView: viewRule(s.Rule, last), Cron: s.When.Cron, Zone: s.When.Zone, Missed: s.When.Missed, Overlap: s.When.Overlap, Next: []string{}}
	if s.When.Every > 0 {
		v.Every = s.When.Every.String()
	}
	if s.When.Jitter > 0 {
		v.Jitter = s.When.Jitter.String()
	}
	if !s.Enabled || s.Stopped != "" {
		return v
	}
	d := c.dueOf(s)
	if d == nil {
		return v
	}
	if d.cron == nil {
		at, known := next[s.ID]
		if !known {
			at = c.clock.wall().Add(d.boot - c.bootNow())
		}
		for i := range nextShown {
			v.Next = append(v.Next, at.Add(time.Duration(i)*s.When.Every).UTC().Format(time.RFC3339))
		}
		return v
	}
	for range nextShown {
		v.Next = append(v.Next, d.go_.In(d.cron.Zone()).Format(time.RFC3339))
		if d = d.next(d.at); d == nil {
			break
		}
	}
	return v
}
