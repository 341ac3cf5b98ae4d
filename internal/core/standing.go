package core

import (
	"context"
	"errors"
	"slices"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
)

// outside is the principal of whoever has the file token of the MCP endpoint.
const outside = "outside"

// goneError says that a rule may not act any more, since its creator may not; the rule stops for good then.
type goneError struct{ why *fault.Error }

func (e *goneError) Error() string { return e.why.Error() }
func (e *goneError) Unwrap() error { return e.why }

func gone(format string, args ...any) error {
	return &goneError{fault.New(fault.Forbidden, format, args...).WithHint("Make the rule again as somebody who may do that.")}
}

// creatorOf is what is kept of whoever makes a rule.
func creatorOf(caller grant.Caller) store.Creator {
	return store.Creator{Principal: caller.Principal, Class: string(caller.Class), Token: caller.Token, Task: caller.Task,
		Projects: slices.Clone(caller.Projects), Everywhere: caller.Everywhere, Face: string(caller.Face)}
}

// standing is the one function that says what the creator of a rule may do now, as a caller on a face. Nothing that was true when
// the rule was made is taken for granted; and what its creator got since is not the rule's, since nobody gave it that.
func (c *Core) standing(ctx context.Context, by store.Creator, face grant.Face) (grant.Caller, error) {
	switch {
	case by.Principal == "owner" && grant.Class(by.Class) == grant.Owner:
		return grant.OwnerOn(face), nil
	case by.Token != "":
		return c.standingOfToken(ctx, by, face)
	case by.Task != "":
		return c.standingOfTask(ctx, by, face)
	case by.Principal == outside && grant.Class(by.Class) == grant.Full:
		if !c.settings.Get().MCP.Enabled {
			return grant.Caller{}, gone("The MCP endpoint was switched off, by whose token the rule was made")
		}
		return grant.Caller{Principal: outside, Class: grant.Full, Face: face}, nil
	}
	return grant.Caller{}, gone("It is not known what %s may do", by.Principal)
}

// standingOfToken is that of a named token, by its id: another token of the same name is another one.
func (c *Core) standingOfToken(ctx context.Context, by store.Creator, face grant.Face) (grant.Caller, error) {
	now, found, err := c.callerOfToken(ctx, by.Token, face)
	switch {
	case err != nil:
		return grant.Caller{}, err
	case !found:
		return grant.Caller{}, gone("The token of %s was revoked", by.Principal)
	case now.Class != grant.Operator:
		return grant.Caller{}, gone("The token of %s has the scope %s now", by.Principal, now.Class)
	case by.Everywhere && !now.Everywhere,
		!by.Everywhere && !now.Everywhere && slices.ContainsFunc(by.Projects, func(p string) bool { return !slices.Contains(now.Projects, p) }):
		return grant.Caller{}, gone("The token of %s reaches fewer projects than when the rule was made", by.Principal)
	}
	now.Everywhere, now.Projects = by.Everywhere, slices.Clone(by.Projects)
	return now, nil
}

// callerOfToken is who calls with a named token now, whatever its name is.
func (c *Core) callerOfToken(ctx context.Context, id string, face grant.Face) (grant.Caller, bool, error) {
	t, found, err := c.tokenByID(ctx, id)
	return grantOf(t).Grant.Caller(face), found, err
}

// standingOfTask is that of a task whose agent was in no cage.
func (c *Core) standingOfTask(ctx context.Context, by store.Creator, face grant.Face) (grant.Caller, error) {
	t, err := c.store.Task(ctx, by.Task)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return grant.Caller{}, gone("The task whose agent made the rule does not exist any more")
	case err != nil:
		return grant.Caller{}, err
	case t.Archived() || t.State == api.TaskArchived:
		return grant.Caller{}, gone("The task %q, whose agent made the rule, was archived", t.Name)
	case t.Sandbox != uncaged:
		return grant.Caller{}, gone("The task %q, whose agent made the rule, is in a cage now", t.Name)
	}
	if t, _, err = c.tightened(ctx, t); err != nil {
		return grant.Caller{}, err
	}
	if t.Sandbox != uncaged || grant.Class(by.Class) != grant.Full {
		return grant.Caller{}, gone("The task %q, whose agent made the rule, is in a cage now", t.Name)
	}
	return grant.Caller{Principal: taskPrefix + t.ID, Class: grant.Full, Task: t.ID, Face: face}, nil
}

// ofSameMaker reports whether a caller made a rule: by the id of its token or task, or as the owner. Names do not count.
func ofSameMaker(caller grant.Caller, by store.Creator) bool {
	return strings.EqualFold(caller.Principal, by.Principal) && caller.Token == by.Token && caller.Task == by.Task
}

// mayChange refuses to change a rule to whoever did not make it, but for the owner: a rule acts as its creator, so whoever else
// wrote into it would act as somebody that he is not.
func mayChange(caller grant.Caller, r store.Rule) error {
	if caller.Class == grant.Owner || ofSameMaker(caller, r.Creator) {
		return nil
	}
	return fault.New(fault.Forbidden, "%q was made by %s, as whom it acts", r.Name, r.Creator.Principal).WithHint("Whoever made it can change it, and so can the owner.")
}

// knowsRule reports whether a caller is told of a rule. A token for some projects is told of its own: others may name what is hidden
// from it.
func knowsRule(caller grant.Caller, r store.Rule) bool {
	return !bounded(caller) || ofSameMaker(caller, r.Creator)
}

// reviewRules stops each rule whose creator may not do any more what it was made with. It is called by whatever takes something
// away, before that is answered, so that what is given back later revives nothing.
func (c *Core) reviewRules(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	known := map[string]error{} // one creator may have made thousands
	return c.stopRules(ctx, func(r store.Rule, face grant.Face) (string, error) {
		key := hashOf(r.Creator)
		err, looked := known[key]
		if !looked {
			_, err = c.standing(ctx, r.Creator, face)
			known[key] = err
		}
		if g, is := errors.AsType[*goneError](err); is {
			return g.why.Message + ".", nil
		}
		return "", err
	})
}

// reviewed is reviewRules for an act that is done, whatever becomes of the rules: each firing asks again anyway.
func (c *Core) reviewed(ctx context.Context) {
	if err := c.reviewRules(ctx); err != nil {
		c.log.Error("it could not be looked at which rules may still act", "err", err)
	}
}

// stopRulesOf stops the rules of those that are chosen, whatever they may do otherwise.
func (c *Core) stopRulesOf(ctx context.Context, why string, chosen func(store.Creator) bool) error {
	return c.stopRules(context.WithoutCancel(ctx), func(r store.Rule, _ grant.Face) (string, error) {
		if chosen(r.Creator) {
			return why, nil
		}
		return "", nil
	})
}

// stopping is a rule that stops, and why.
type stopping struct {
	rule store.Rule
	face grant.Face
	why  string
}

// stopRules stops the rules for which there is a reason.
func (c *Core) stopRules(ctx context.Context, reason func(store.Rule, grant.Face) (string, error)) error {
	triggers, err := c.store.Triggers(ctx)
	if err != nil {
		return err
	}
	schedules, err := c.store.Schedules(ctx)
	if err != nil {
		return err
	}
	var all []stopping
	look := func(r store.Rule, face grant.Face) {
		if r.Stopped != "" {
			return
		}
		why, rerr := reason(r, face)
		if err = errors.Join(err, rerr); why != "" {
			all = append(all, stopping{r, face, why})
		}
	}
	for _, t := range triggers {
		look(t.Rule, grant.Trigger)
	}
	for _, s := range schedules {
		look(s.Rule, grant.Schedule)
	}
	return errors.Join(err, c.stopThese(ctx, all...))
}

// stopThese makes durable that rules stopped, all of them at once, and tells the owner.
func (c *Core) stopThese(ctx context.Context, all ...stopping) error {
	if len(all) == 0 {
		return nil
	}
	err := c.store.Write(ctx, func(tx *store.Tx) error {
		for _, s := range all {
			stop := tx.StopTrigger
			if s.face == grant.Schedule {
				stop = tx.StopSchedule
			}
			if err := stop(ctx, s.rule.ID, s.why); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range all {
		c.log.Warn("a rule stopped", "kind", s.face, "rule", s.rule.Name, "creator", s.rule.Creator.Principal, "why", s.why)
	}
	more := ""
	if n := len(all) - 1; n > 0 {
		more = ", and " + countOf(n, "other rule") + ","
	}
	c.notice("The %s %q%s stopped. %s", all[0].face, all[0].rule.Name, more, all[0].why)
	poke(c.rules.dues)
	c.beacon.change()
	return nil
}
