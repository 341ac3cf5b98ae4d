package core

import (
	"context"
	"encoding/json"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
)

// maxMatchFacts is how many facts one trigger may ask for.
const maxMatchFacts = 16

// TriggerList is the verb trigger_list.
func (c *Core) TriggerList(ctx context.Context, call *Call, p api.TriggerListParams) (api.TriggerListResult, error) {
	list, err := c.store.Triggers(ctx)
	if err != nil {
		return api.TriggerListResult{}, err
	}
	last, err := c.store.LastFirings(ctx)
	list, total := pageOf(call.Caller, list, p.RulePage, func(t store.Trigger) store.Rule { return t.Rule })
	out := api.TriggerListResult{Triggers: make([]api.Trigger, len(list)), Total: int64(total)}
	for i, t := range list {
		out.Triggers[i] = viewTrigger(t, last)
	}
	return out, err
}

// Bounds of one page of a list of rules.
const (
	rulesUsual = 100
	rulesMost  = 1000
)

// pageOf is the piece of a list of rules that a caller asks for, of those that it knows, and how many these are.
func pageOf[T any](caller grant.Caller, list []T, p api.RulePage, rule func(T) store.Rule) (page []T, total int) {
	limit := min(p.Limit, rulesMost)
	if limit == 0 {
		limit = rulesUsual
	}
	for _, v := range list {
		r := rule(v)
		if !knowsRule(caller, r) {
			continue
		}
		if total++; strings.ToLower(r.Name) > strings.ToLower(p.After) && len(page) < int(limit) {
			page = append(page, v)
		}
	}
	return page, total
}

// TriggerAdd is the verb trigger_add. What the trigger is to do is asked for as if it were done now.
func (c *Core) TriggerAdd(ctx context.Context, call *Call, p api.TriggerAddParams) (api.TriggerResult, error) {
	if err := checkRuleName("trigger", p.Name); err != nil {
		return api.TriggerResult{}, err
	}
	t := store.Trigger{Rule: store.Rule{Name: p.Name, Enabled: true, Creator: creatorOf(call.Caller)}}
	err := c.matchOf(ctx, call.Caller, &t, p.TriggerMatch)
	if err == nil {
		t.Action, err = actionOf(p.RuleWork, store.Action{})
	}
	if err != nil {
		return api.TriggerResult{}, err
	}
	release, err := c.holdTokens(ctx) // nothing is taken from its maker between this look and the row
	if err != nil {
		return api.TriggerResult{}, err
	}
	defer release()
	if err := c.mayMake(ctx, call, t.Rule, grant.Trigger); err != nil {
		return api.TriggerResult{}, err
	}
	err = c.store.Write(ctx, func(tx *store.Tx) (err error) {
		t, err = tx.AddTrigger(ctx, t)
		return err
	})
	return c.shownTrigger(ctx, t, err)
}

// mayMake refuses a rule that could do nothing as things are.
func (c *Core) mayMake(ctx context.Context, call *Call, r store.Rule, face grant.Face) error {
	creator, err := c.standing(ctx, r.Creator, face)
	if err != nil {
		return err
	}
	return c.checkAction(ctx, call.Actor, creator, r.Action)
}

// TriggerUpdate is the verb trigger_update. The trigger goes on acting as whoever made it.
func (c *Core) TriggerUpdate(ctx context.Context, call *Call, p api.TriggerUpdateParams) (api.TriggerResult, error) {
	t, err := c.triggerOf(ctx, call.Caller, p.Name)
	if err != nil {
		return api.TriggerResult{}, err
	}
	if reflect.DeepEqual(p, api.TriggerUpdateParams{Name: p.Name}) {
		return api.TriggerResult{}, nothingToChange("what it follows, what it does, enable or disable")
	}
	if err := c.matchOf(ctx, call.Caller, &t, p.TriggerMatch); err != nil {
		return api.TriggerResult{}, err
	}
	if p.AnySubject {
		t.Match.Subject = ""
	}
	if p.AnyProject {
		t.Match.Project = ""
	}
	if p.AnyFacts {
		t.Match.Facts = nil
	}
	if t.Action, err = actionOf(p.RuleWork, t.Action); err != nil {
		return api.TriggerResult{}, err
	}
	release, err := c.holdTokens(ctx)
	if err != nil {
		return api.TriggerResult{}, err
	}
	defer release()
	onOff(&t.Rule, p.Enable, p.Disable)
	if t.Enabled && t.Stopped == "" {
		if err := c.mayMake(ctx, call, t.Rule, grant.Trigger); err != nil {
			return api.TriggerResult{}, err
		}
	}
	err = c.store.Write(ctx, func(tx *store.Tx) (err error) {
		t, err = tx.UpdateTrigger(ctx, t.ID, func(now *store.Trigger) error {
			if now.Stopped != "" && !p.Enable {
				t.Stopped = now.Stopped // it stopped a moment ago
			}
			now.Kind, now.Match, now.Action, now.Enabled, now.Stopped = t.Kind, t.Match, t.Action, t.Enabled, t.Stopped
			return nil
		})
		return err
	})
	return c.shownTrigger(ctx, t, err)
}

// onOff switches a rule. One that stopped goes on when it is switched on, where its creator may do what it does.
func onOff(r *store.Rule, on, off bool) {
	switch {
	case on:
		r.Enabled, r.Stopped = true, ""
	case off:
		r.Enabled = false
	}
}

// TriggerDelete is the verb trigger_delete.
func (c *Core) TriggerDelete(ctx context.Context, call *Call, p api.TriggerDeleteParams) (api.TriggerDeleteResult, error) {
	t, err := c.triggerOf(ctx, call.Caller, p.Name)
	if err == nil {
		err = c.store.Write(ctx, func(tx *store.Tx) error { return tx.DeleteTrigger(ctx, t.ID) })
	}
	if err != nil {
		return api.TriggerDeleteResult{}, err
	}
	c.beacon.change()
	return api.TriggerDeleteResult{Name: t.Name}, nil
}

// triggerOf finds a trigger that a caller may change.
func (c *Core) triggerOf(ctx context.Context, caller grant.Caller, name string) (store.Trigger, error) {
	t, err := c.store.Trigger(ctx, name)
	if fault.CodeOf(err) == fault.NotFound || err == nil && !knowsRule(caller, t.Rule) {
		list, lerr := c.store.Triggers(ctx)
		if lerr != nil {
			return t, lerr
		}
		names := []string{}
		for _, o := range list {
			if knowsRule(caller, o.Rule) && len(names) < maxNamesTold {
				names = append(names, o.Name)
			}
		}
		return t, fault.New(fault.NotFound, "There is no trigger %q", name).WithHint("%s", listed("There are", names)).OrNear(name, names)
	}
	if err != nil {
		return t, err
	}
	return t, mayChange(caller, t.Rule)
}

// eventFacts are the facts that events of each kind may have, as docs/reactions.md tells them; those of a webhook have the fields of
// its body, too.
var eventFacts = map[string][]string{
	store.EventCheckFlip:     {"target", "up", "duration_ms", "netgroup", "detail"},
	store.EventTaskSettled:   {"outcome", "agent", "tab", "detail"},
	store.EventBranchMoved:   {"branch", "old", "new", "base", "gone"},
	store.EventScheduleFired: {"due", "missed", "by_hand"},
	store.EventWebhook:       {"body", "body.FIELD", "bytes", "truncated", "binary"},
}

// matchOf reads which events a trigger follows, on top of what it was.
func (c *Core) matchOf(ctx context.Context, caller grant.Caller, t *store.Trigger, p api.TriggerMatch) error {
	if t.Kind = orElse(p.Kind, t.Kind); t.Kind == "" {
		return fault.New(fault.InvalidArgument, "Which events does the trigger follow?").WithHint("Give kind (--on): check_flip, task_settled, branch_moved, schedule_fired or webhook.")
	}
	if p.Subject != "" {
		if _, err := path.Match(p.Subject, ""); err != nil || len(p.Subject) > store.MaxName {
			return fault.New(fault.InvalidArgument, "%q is no pattern", p.Subject).WithHint("Write a name, with * for any characters but a slash, ? for one, and [a-z] for one of some.")
		}
		t.Match.Subject = p.Subject
	}
	if p.Project != "" {
		project, err := c.resolveProject(ctx, caller, p.Project)
		if err != nil {
			return err
		}
		t.Match.Project = project.ID
	}
	if len(p.Facts) > maxMatchFacts {
		return fault.New(fault.InvalidArgument, "A trigger may ask for %d facts, not for %d", maxMatchFacts, len(p.Facts))
	}
	if given(p.Facts) {
		t.Match.Facts = map[string]string{}
	}
	for _, fact := range p.Facts {
		name, value, ok := strings.Cut(fact, "=")
		if !ok || name == "" {
			return fault.New(fault.InvalidArgument, "%q is no fact", fact).WithHint("Write it like outcome=done.")
		}
		if known := eventFacts[t.Kind]; !slices.Contains(known, name) && !(t.Kind == store.EventWebhook && strings.HasPrefix(name, "body.")) {
			return fault.New(fault.InvalidArgument, "Events of the kind %s have no fact %q, so that nothing would ever follow", t.Kind, name).
				WithHint("They have: %s.", strings.Join(known, ", ")).OrNear(name, known)
		}
		t.Match.Facts[name] = value
	}
	return nil
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

func (c *Core) shownTrigger(ctx context.Context, t store.Trigger, err error) (api.TriggerResult, error) {
	if err != nil {
		return api.TriggerResult{}, err
	}
	c.beacon.change()
	last, err := c.store.LastFirings(ctx)
	return api.TriggerResult{Trigger: viewTrigger(t, last)}, err
}

func viewTrigger(t store.Trigger, last map[string]store.Firing) api.Trigger {
	v := api.Trigger{RuleView: viewRule(t.Rule, last), Kind: t.Kind, Subject: t.Match.Subject, ProjectID: t.Match.Project, Facts: []string{}}
	for _, name := range sortedKeys(t.Match.Facts) {
		v.Facts = append(v.Facts, name+"="+t.Match.Facts[name])
	}
	return v
}

// viewRule is what is shown of a rule.
func viewRule(r store.Rule, last map[string]store.Firing) api.RuleView {
	var p map[string]string
	_ = json.Unmarshal(r.Action.Params, &p) // it was made by actionOf; what cannot be read is shown as nothing
	v := api.RuleView{ID: r.ID, Name: r.Name, Do: r.Action.Verb, Task: p["task"], Into: p["project"], TaskName: p["name"], Agent: p["agent"], Base: p["base"],
		Sandbox: p["sandbox"], Prompt: p["prompt"], WithFacts: r.Action.Facts, Creator: r.Creator.Principal, Enabled: r.Enabled, Stopped: r.Stopped,
		Created: stamp(r.Created), Updated: stamp(r.Updated)}
	if f, ok := last[r.ID]; ok {
		shown := viewFiring(f)
		v.Last = &shown
	}
	return v
}
