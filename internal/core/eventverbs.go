package core

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
)

// EventList is the verb event_list.
func (c *Core) EventList(ctx context.Context, call *Call, p api.EventListParams) (api.EventListResult, error) {
	f := store.EventFilter{Kind: p.Kind, Before: p.Before, Limit: int(min(p.Limit, store.MaxEventPage)), Within: eventReach(call.Caller)}
	var err error
	if f.Since, err = c.sinceOf(p.Since); err != nil {
		return api.EventListResult{}, err
	}
	if p.Project != "" {
		project, err := c.resolveProject(ctx, call.Caller, p.Project)
		if err != nil {
			return api.EventListResult{}, err
		}
		f.Project = project.ID
	}
	list, err := c.store.Events(ctx, f)
	if err != nil {
		return api.EventListResult{}, err
	}
	ids := make([]string, len(list))
	for i, e := range list {
		ids[i] = e.ID
	}
	mine, err := c.rulesKnownTo(ctx, call.Caller)
	if err != nil {
		return api.EventListResult{}, err
	}
	followed, err := c.store.FollowedFrom(ctx, ids, mine)
	out := make([]api.Happening, len(list))
	for i, e := range list {
		out[i] = viewEvent(e, followed[e.ID], true)
	}
	return api.EventListResult{Events: out}, err
}

// rulesKnownTo are the ids of the rules of which a caller may know; nil for all.
func (c *Core) rulesKnownTo(ctx context.Context, caller grant.Caller) ([]string, error) {
	if !bounded(caller) {
		return nil, nil
	}
	triggers, err := c.store.Triggers(ctx)
	if err != nil {
		return nil, err
	}
	schedules, err := c.store.Schedules(ctx)
	mine := []string{}
	for _, t := range triggers {
		if knowsRule(caller, t.Rule) {
			mine = append(mine, t.ID)
		}
	}
	for _, s := range schedules {
		if knowsRule(caller, s.Rule) {
			mine = append(mine, s.ID)
		}
	}
	return mine, err
}

// sinceOf reads a time, or how long ago it was.
func (c *Core) sinceOf(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return c.clock.wall().Add(-ago), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fault.New(fault.InvalidArgument, "%q is no time", text).WithHint("Write it like 2026-11-30T18:00:00Z, or how long ago it was, like 2h.")
	}
	return at, nil
}

// eventReach are the projects whose events a caller may know of; nil for all events.
func eventReach(caller grant.Caller) []string {
	if !bounded(caller) {
		return nil
	}
	return append([]string{}, caller.Projects...)
}

// maxFactShown is how many bytes of one text are shown in a list.
const maxFactShown = 200

func viewEvent(e store.Event, followed [2]int, short bool) api.Happening {
	v := api.Happening{ID: e.ID, Seq: e.Seq, Time: stamp(e.Time), Kind: e.Kind, Subject: e.Subject, TaskID: e.Task, ProjectID: e.Project, Cages: e.Cages,
		Depth: int64(e.Depth), Acted: int64(followed[0]), Unacted: int64(followed[1])}
	facts := maps.Clone(e.Facts)
	for name, value := range facts {
		if text, is := value.(string); is && short && len(text) > maxFactShown {
			facts[name], v.FactsCut = strings.ToValidUTF8(text[:maxFactShown], "")+"…", true
		}
	}
	v.Facts = facts
	return v
}

// EventExplain is the verb event_explain: what each trigger made of an event, and why.
func (c *Core) EventExplain(ctx context.Context, call *Call, p api.EventParams) (api.EventExplainResult, error) {
	e, err := c.store.Event(ctx, strings.ToUpper(p.Event))
	reach := eventReach(call.Caller)
	if fault.CodeOf(err) == fault.NotFound || err == nil && reach != nil && !slices.Contains(reach, e.Project) {
		err = fault.New(fault.NotFound, "There is no event %q", p.Event).WithHint("event_list shows those of the last %d days. Steps of jobs have ids of their own: job_events shows them.", int(store.KeepEvents.Hours()/24))
	}
	if err != nil {
		return api.EventExplainResult{}, err
	}
	firings, err := c.store.FiringsOf(ctx, e.ID)
	if err != nil {
		return api.EventExplainResult{}, err
	}
	triggers, err := c.store.Triggers(ctx)
	if err != nil {
		return api.EventExplainResult{}, err
	}
	known, err := c.rulesKnownTo(ctx, call.Caller)
	if err != nil {
		return api.EventExplainResult{}, err
	}
	hidden := func(rule string) bool { return known != nil && !slices.Contains(known, rule) }
	out := api.EventExplainResult{Rules: []api.Explained{}}
	fired := map[string]bool{}
	var followed [2]int
	for _, f := range firings {
		if hidden(f.Rule) {
			continue
		}
		if fired[f.Rule] = true; slices.Contains([]string{store.FiringWaiting, store.FiringActing, store.FiringDone}, f.Outcome) {
			followed[0]++
		} else {
			followed[1]++
		}
		v := viewFiring(f)
		out.Rules = append(out.Rules, api.Explained{Rule: f.RuleName, RuleID: f.Rule, Matched: true, Firing: &v})
	}
	for _, t := range triggers {
		if !fired[t.ID] && !hidden(t.ID) {
			out.Rules = append(out.Rules, api.Explained{Rule: t.Name, RuleID: t.ID, Why: unmatched(t, e)})
		}
	}
	out.Event = viewEvent(e, followed, false)
	return out, nil
}

// unmatched says why nothing followed from an event by a trigger, as it is now.
func unmatched(t store.Trigger, e store.Event) string {
	if t.Created.After(e.Time) {
		return "It was made after that."
	}
	why := mismatch(t, e)
	switch changed := t.Updated.After(e.Time); {
	case why == "":
		return "It did not match then, and was changed since."
	case changed:
		return why + " It was changed since the event."
	}
	return why
}

func viewFiring(f store.Firing) api.Firing {
	return api.Firing{Time: stamp(f.Time), Outcome: f.Outcome, Detail: f.Detail, Event: f.Event, Verb: f.Verb, TaskID: f.Task, Job: f.Job}
}
