package core

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
	"termic/sandbox"
)

// ByRule reports whether rules, which are triggers and schedules, may call a verb: the two by which agents are given work. What
// reads would tell nobody anything, and what changes or ends things is for somebody who looks.
func ByRule(verb string) bool { return verb == "task_new" || verb == "task_send" }

// Acted is what came of a call that a rule made.
type Acted struct {
	Task string // that it made or sent to, as far as its caller may know
	Job  string
}

// ruleTimeout is how long one call of a rule may take. Neither verb waits for an agent's work.
const ruleTimeout = 2 * time.Minute

// placeholder is what stands in a name as if something was to be filled in.
var placeholder = regexp.MustCompile(`\{\w+\}`)

// actionOf makes an action of its arguments, on top of what it was. Nothing is asked yet of whether it may be done.
func actionOf(p api.RuleWork, was store.Action) (store.Action, error) {
	old := api.TaskNewParams{}
	oldSend := api.TaskSendParams{}
	out := store.Action{Verb: orElse(p.Do, was.Verb), Facts: (was.Facts || p.WithFacts) && !p.NoFacts}
	if p.Do == "" || p.Do == was.Verb { // otherwise nothing of what it was is of use
		if err := errors.Join(readParams(was.Params, &old), readParams(was.Params, &oldSend)); err != nil {
			return out, err
		}
	}
	wrong := func(name, verb string) error {
		if name == "taskName" {
			name += " (--task-name)"
		}
		return fault.New(fault.InvalidArgument, "%s is for %s alone, and the rule does %s", name, verb, out.Verb).WithHint("Leave it out, or let the rule do %q.", verb)
	}
	var params map[string]any
	switch out.Verb {
	case "task_new":
		if p.Task != "" {
			return out, wrong("task", "task_send")
		}
		params = map[string]any{"name": orElse(p.TaskName, old.Name), "project": orElse(p.Into, old.Project), "agent": orElse(p.Agent, old.Agent),
			"base": orElse(p.Base, old.Base), "sandbox": orElse(p.Sandbox, old.Sandbox), "prompt": orElse(p.Prompt, old.Prompt)}
		if params["name"] == "" || params["project"] == "" {
			return out, fault.New(fault.InvalidArgument, "A rule that makes tasks needs the project and a name for them").
				WithHint("Give into and taskName (--task-name); {date} and {time} in the name are filled in.")
		}
		if p.TaskName != "" {
			if odd := placeholder.FindString(strings.NewReplacer("{date}", "", "{time}", "").Replace(p.TaskName)); odd != "" {
				return out, fault.New(fault.InvalidArgument, "Nothing is filled in for %s in the name of a task", odd).WithHint("{date} and {time} are.")
			}
		}
	case "task_send":
		for name, given := range map[string]string{"taskName": p.TaskName, "into": p.Into, "agent": p.Agent, "base": p.Base, "sandbox": p.Sandbox} {
			if given != "" {
				return out, wrong(name, "task_new")
			}
		}
		params = map[string]any{"task": orElse(p.Task, oldSend.Task), "prompt": orElse(p.Prompt, oldSend.Prompt)}
		if params["task"] == "" || params["prompt"] == "" {
			return out, fault.New(fault.InvalidArgument, "A rule that sends a prompt needs the task and the prompt").
				WithHint("Give task and prompt.")
		}
	default:
		return out, fault.New(fault.InvalidArgument, "What shall follow?").WithHint(`Give do: "task_new" or "task_send".`)
	}
	for name, value := range params {
		if value == "" {
			delete(params, name)
		}
	}
	if out.Facts && params["prompt"] == nil {
		return out, fault.New(fault.InvalidArgument, "What is known of the event is told in a prompt, and there is none")
	}
	raw, err := json.Marshal(params)
	out.Params = raw
	return out, err
}

func readParams(raw json.RawMessage, to any) error {
	if len(raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw, to)
}

// checkAction refuses an action that its maker may not call as things are, as if the call came now.
func (c *Core) checkAction(ctx context.Context, actor Actor, caller grant.Caller, a store.Action) error {
	raw, err := filled(a, store.Event{}, c.clock.wall())
	if err == nil {
		_, err = c.checkCall(ctx, actor, caller, a.Verb, raw)
	}
	return err
}

// checkCall asks whether a call would be let through, and returns the task that it is about.
func (c *Core) checkCall(ctx context.Context, actor Actor, caller grant.Caller, verb string, raw json.RawMessage) (task string, err error) {
	if actor == nil {
		return "", fault.New(fault.Unavailable, "Nothing can be carried out here")
	}
	p, err := actor.Check(ctx, caller, verb, raw)
	if err != nil {
		return "", err
	}
	if params, is := p.Params.(api.TaskNewParams); is && !confined(caller) { // those of caged agents were planned already
		_, err = c.planNew(ctx, &Call{Verb: verb, Caller: caller}, params)
	}
	return p.Task, err
}

// filled is the call of an action for an event: its name and its prompt are made.
func filled(a store.Action, e store.Event, now time.Time) (json.RawMessage, error) {
	params := map[string]string{}
	if err := json.Unmarshal(a.Params, &params); err != nil {
		return nil, err
	}
	if a.Verb == "task_new" {
		params["name"] = strings.NewReplacer("{date}", now.Format("2006-01-02"), "{time}", now.Format("150405")).Replace(params["name"])
	}
	if a.Facts && e.ID != "" {
		params["prompt"] += "\n\n" + fenced(e)
	}
	return json.Marshal(params)
}

// actFor calls what a rule does in answer to an event, as its creator may do now, and as each cage from which the event came.
func (c *Core) actFor(ctx context.Context, actor Actor, r store.Rule, face grant.Face, e store.Event) (Acted, error) {
	creator, err := c.standing(ctx, r.Creator, face)
	if err != nil {
		return Acted{}, err
	}
	if face == grant.Trigger && !reachesEvent(r.Creator, e) { // a schedule is its own event
		return Acted{}, fault.New(fault.Forbidden, "%s does not reach what happened", r.Creator.Principal)
	}
	raw, err := filled(r.Action, e, c.clock.wall())
	if err != nil {
		return Acted{}, err
	}
	target, err := c.checkCall(ctx, actor, creator, r.Action.Verb, raw)
	if err != nil || len(e.Cages) == 0 {
		return c.actAs(ctx, actor, creator, r.Action.Verb, raw, err)
	}
	if raw, err = forCage(r.Action.Verb, raw, target, len(e.Cages)); err != nil {
		return Acted{}, err
	}
	callers, err := c.cagedCallers(ctx, e, creator)
	if err != nil {
		return Acted{}, err
	}
	for _, caller := range callers { // each of them may have brought it about, so none of them may gain by it
		if _, err := c.checkCall(ctx, actor, caller, r.Action.Verb, raw); err != nil {
			return Acted{}, fault.Wrap(err, fault.CodeOf(err), "It may act only as the caged agent of the task %s could, from which the event may come: %s", caller.Task, fault.From(err).Message)
		}
	}
	acted, err := c.actAs(ctx, actor, c.tightest(callers), r.Action.Verb, raw, nil)
	acted.Task = orElse(acted.Task, target)
	return acted, err
}

// tightest is the one of some callers that can do no more than each of the others; the first where there is none. What waits in a queue is
// compared once more with whoever sent it, and what is within that one is within all.
func (c *Core) tightest(callers []grant.Caller) grant.Caller {
	for _, one := range callers {
		mine, ok := c.cages.Live(one.Terminal)
		wider := func(other grant.Caller) bool {
			theirs, ok := c.cages.Live(other.Terminal)
			return !ok || sandbox.Within(mine, theirs) != nil
		}
		if ok && !slices.ContainsFunc(callers, wider) {
			return one
		}
	}
	return callers[0]
}

func (c *Core) actAs(ctx context.Context, actor Actor, caller grant.Caller, verb string, raw json.RawMessage, err error) (Acted, error) {
	if err != nil {
		return Acted{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, ruleTimeout)
	defer cancel()
	return actor.Act(ctx, caller, verb, raw)
}

// forCage makes a call into one that a caged agent can make: a task is named by its id, since names are resolved among what a caller
// sees; and what a caged agent cannot choose may not be chosen.
func forCage(verb string, raw json.RawMessage, target string, cages int) (json.RawMessage, error) {
	params := map[string]string{}
	if err := json.Unmarshal(raw, &params); err != nil {
		return nil, err
	}
	if verb == "task_send" {
		params["task"] = target
		return json.Marshal(params)
	}
	switch {
	case cages > 1:
		return nil, fault.New(fault.Forbidden, "The event may come from any of %d caged tasks, and a new task has the cage of one", cages)
	case params["sandbox"] != "":
		return nil, fault.New(fault.Forbidden, "The event comes from a caged task, and a task that follows from it has that cage and no other").
			WithHint("Leave the sandbox out of the rule.")
	}
	return raw, nil
}

// cagedCallers are the agents of the cages from which an event may have come, as they are now, each as it would call itself over
// MCP. What the creator does not reach, they do not reach here.
func (c *Core) cagedCallers(ctx context.Context, e store.Event, creator grant.Caller) ([]grant.Caller, error) {
	var out []grant.Caller
	for _, id := range e.Cages {
		t, err := c.store.Task(ctx, id)
		if fault.CodeOf(err) == fault.NotFound || err == nil && t.Archived() {
			return nil, fault.New(fault.Forbidden, "The caged task %s, from which the event may come, does not exist any more", id)
		}
		if err == nil {
			t, _, err = c.tightened(ctx, t)
		}
		if err != nil {
			return nil, err
		}
		mine, err := c.agentsInCage(ctx, t, creator)
		if err != nil {
			return nil, err
		}
		out = append(out, mine...)
	}
	return out, nil
}

func (c *Core) agentsInCage(ctx context.Context, t store.Task, creator grant.Caller) ([]grant.Caller, error) {
	if t.Sandbox == uncaged { // what it may do now says nothing about what brought the event about
		return nil, fault.New(fault.Forbidden, "The task %q was in a cage when the event came from it, and is in none now", t.Name)
	}
	var projects []string // without the box a caged agent drives nothing but itself
	if t.MCP && c.settings.Get().MCP.Enabled {
		projects = keep(projectsOf(t), func(p string) bool { return !bounded(creator) || slices.Contains(creator.Projects, p) })
	}
	tabs, err := c.store.Tabs(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	var out []grant.Caller
	for _, tab := range agentTabs(tabs) {
		if live, ok := c.cages.Live(tab.ID); ok && live.Known() {
			out = append(out, grant.Caller{Principal: taskPrefix + t.ID, Class: grant.Scoped, Face: creator.Face, Task: t.ID, Terminal: tab.ID, Projects: projects})
		}
	}
	if len(out) == 0 {
		return nil, fault.New(fault.Forbidden, "No agent of the caged task %q runs, from which the event may come, so nothing can act as it", t.Name)
	}
	return out, nil
}

// reachesEvent reports whether the creator of a rule may know of an event. A token for some projects knows what happened there.
func reachesEvent(by store.Creator, e store.Event) bool {
	if !grant.Class(by.Class).Named() || by.Everywhere {
		return true
	}
	return e.Project != "" && slices.Contains(by.Projects, e.Project)
}
