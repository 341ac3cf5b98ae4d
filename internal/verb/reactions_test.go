package verb

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/core"
	"termic/internal/grant"
	"termic/internal/store"
	"termic/sandbox"
)

// kinds are all kinds of event.
var kinds = []string{store.EventCheckFlip, store.EventTaskSettled, store.EventBranchMoved, store.EventScheduleFired, store.EventWebhook}

// happen lets an event be, and gives what followed from it once everything has.
func (w *world) happen(t *testing.T, e store.Event) (store.Event, []store.Firing) {
	t.Helper()
	e, err := w.core.TestOnlyHappened(t.Context(), e)
	check(t, err)
	return e, w.firings(t, e.ID)
}

// firings waits until nothing more follows from an event.
func (w *world) firings(t *testing.T, event string) []store.Firing {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		_, changed := w.core.Watch()
		list, err := w.store.FiringsOf(ctx, event)
		check(t, err)
		open := false
		for _, f := range list {
			open = open || f.Outcome == store.FiringWaiting || f.Outcome == store.FiringActing
		}
		if !open {
			return list
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("a firing does not end: %+v", list)
		}
	}
}

// trigger makes one that must be taken.
func (w *world) trigger(t *testing.T, c grant.Caller, params map[string]any) api.Trigger {
	t.Helper()
	return do[api.TriggerResult](t, w, c, "trigger_add", params).Trigger
}

func (w *world) prompts(t *testing.T, tab store.Tab) []store.Prompt {
	t.Helper()
	list, err := w.store.Prompts(t.Context(), tab.ID)
	check(t, err)
	return list
}

func creating(t *store.Task) { t.State = api.TaskCreating }

// operatorToken mints a token in the store, as token_new does for a web without a face.
func (w *world) operatorToken(t *testing.T, name string, projects ...store.Project) (store.Token, grant.Caller) {
	t.Helper()
	params := map[string]any{"name": name, "scope": "operator"}
	var names []string
	for _, p := range projects {
		names = append(names, p.Name)
	}
	if names != nil {
		params["projects"] = names
	}
	do[api.TokenResult](t, w, owner, "token_new", params)
	token, err := w.store.Token(t.Context(), name)
	check(t, err)
	return token, grant.Grant{Principal: "client:" + name, Token: token.ID, Class: grant.Operator, Projects: token.Projects, Everywhere: token.Everywhere}.Caller(grant.MCP)
}

// TestTriggerActsAsItsCreator: what follows is a call like any other, as whoever made the trigger, and told in ledger and job.
func TestTriggerActsAsItsCreator(t *testing.T) {
	w := newWorld(t)
	_, ci := w.operatorToken(t, "ci")
	_, tab := w.task(t, w.a, "target", creating)
	w.trigger(t, ci, map[string]any{"name": "next", "kind": "task_settled", "subject": "fix-*", "facts": []string{"outcome=done"}, "do": "task_send", "task": "target", "prompt": "go on"})
	for _, c := range []struct {
		why string
		e   store.Event
	}{
		{"another kind", store.Event{Kind: store.EventWebhook, Subject: "fix-1", Facts: map[string]any{"outcome": "done"}}},
		{"another subject", store.Event{Kind: store.EventTaskSettled, Subject: "other", Facts: map[string]any{"outcome": "done"}}},
		{"another fact", store.Event{Kind: store.EventTaskSettled, Subject: "fix-1", Facts: map[string]any{"outcome": "needs_input"}}},
		{"no fact", store.Event{Kind: store.EventTaskSettled, Subject: "fix-1"}},
	} {
		e, fired := w.happen(t, c.e)
		if len(fired) != 0 {
			t.Errorf("%s: %+v", c.why, fired)
		}
		why := do[api.EventExplainResult](t, w, ci, "event_explain", map[string]any{"event": e.ID}).Rules
		if len(why) != 1 || why[0].Matched || why[0].Why == "" {
			t.Errorf("%s: %+v", c.why, why)
		}
	}
	before := len(w.ledger(t))
	e, fired := w.happen(t, store.Event{Kind: store.EventTaskSettled, Subject: "fix-1", Facts: map[string]any{"outcome": "done", "detail": "IGNORE ALL"}})
	if len(fired) != 1 || fired[0].Outcome != store.FiringDone || fired[0].Task != tab.TaskID || fired[0].Job == "" {
		t.Fatalf("%+v", fired)
	}
	if got := w.prompts(t, tab); len(got) != 1 || got[0].Text != "go on" || got[0].Job != fired[0].Job {
		t.Errorf("%+v", got)
	}
	rows := w.ledger(t)[before:]
	job := do[api.JobResult](t, w, owner, "job_get", map[string]any{"job": fired[0].Job}).Job
	if job.Principal != "client:ci" || job.Face != "trigger" || job.Verb != "task_send" {
		t.Errorf("%+v", job)
	}
	if len(rows) != 2 || rows[0].Principal != "client:ci" || rows[0].Face != "trigger" || rows[1].Outcome != "ok" {
		t.Errorf("%+v", rows)
	}
	explained := do[api.EventExplainResult](t, w, ci, "event_explain", map[string]any{"event": e.ID})
	if len(explained.Rules) != 1 || !explained.Rules[0].Matched || explained.Rules[0].Firing.Outcome != "done" || explained.Event.Acted != 1 {
		t.Errorf("%+v", explained)
	}
}

// TestCagedEventsStayInTheCage: from an event that a caged task may have brought about nothing follows that this task could not do by
// itself, whoever made the trigger, for each kind of event.
func TestCagedEventsStayInTheCage(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			like := w.capability(t, cage{mode: sandbox.Enforce, project: w.a, projects: []string{w.a.ID}, agents: []string{"mine"}, mcp: true})
			w.cages.like = like
			from, tab := w.task(t, w.a, "from", func(t *store.Task) { t.MCP = true; t.MCPAgents = []string{"mine"} })
			w.cages.set(tab, like, like)
			targets := map[string]sandbox.Capability{"off": sandbox.Unbounded(sandbox.Off), "monitored": sandbox.Unbounded(sandbox.Monitor),
				"files": w.capability(t, cage{mode: sandbox.EnforceFs, project: w.a}), "reads": w.capability(t, cage{mode: sandbox.Enforce, project: w.a, read: []string{"one"}}),
				"hosts": w.capability(t, cage{mode: sandbox.Enforce, project: w.a, hosts: []string{"example.com"}}), "within": w.capability(t, cage{mode: sandbox.Enforce, project: w.a})}
			tabs := map[string]store.Tab{}
			for name, c := range targets {
				_, tabs[name] = w.task(t, w.a, name, nil)
				w.cages.set(tabs[name], c, c)
				w.trigger(t, owner, map[string]any{"name": name, "kind": kind, "do": "task_send", "task": name, "prompt": "hello"})
			}
			_, tabs["foreign"] = w.task(t, w.b, "foreign", nil)
			w.trigger(t, owner, map[string]any{"name": "foreign", "kind": kind, "do": "task_send", "task": "B/foreign", "prompt": "hello"})
			w.trigger(t, owner, map[string]any{"name": "new", "kind": kind, "do": "task_new", "into": "A", "taskName": "child", "prompt": "hello"})
			w.trigger(t, owner, map[string]any{"name": "new elsewhere", "kind": kind, "do": "task_new", "into": "B", "taskName": "child", "prompt": "hello"})
			w.trigger(t, owner, map[string]any{"name": "new uncaged", "kind": kind, "do": "task_new", "into": "A", "taskName": "child2", "sandbox": "off"})
			w.trigger(t, owner, map[string]any{"name": "another agent", "kind": kind, "do": "task_new", "into": "A", "taskName": "child3", "agent": "other"})
			_, fired := w.happen(t, store.Event{Kind: kind, Subject: "x", Task: from.ID, Project: w.a.ID, Cages: []string{from.ID}})
			if len(fired) != 11 {
				t.Fatalf("%d followed", len(fired))
			}
			for _, f := range fired {
				may := f.RuleName == "within" || f.RuleName == "new"
				if (f.Outcome == store.FiringDone) != may || !may && (f.Outcome != store.FiringRefused || f.Detail == "") {
					t.Errorf("%s: %s %s", f.RuleName, f.Outcome, f.Detail)
				}
			}
			for name, tab := range tabs {
				got := w.prompts(t, tab)
				if name == "within" && (len(got) != 1 || got[0].FromTask != from.ID || got[0].Capability == "") || name != "within" && len(got) != 0 {
					t.Errorf("%s: %+v", name, got)
				}
			}
			w.settle(t)
			tasks, err := w.store.Tasks(t.Context(), store.TaskFilter{ParentID: from.ID})
			check(t, err)
			if len(tasks) != 1 || tasks[0].Sandbox != "enforce" || !tasks[0].FromCage || tasks[0].Depth != 1 {
				t.Errorf("children: %+v", tasks)
			}
		})
	}
}

// TestCageWithoutAnAgent: nothing acts as a caged task of which nobody runs; one without the box drives itself alone.
func TestCageWithoutAnAgent(t *testing.T) {
	w := newWorld(t)
	like := w.capability(t, cage{mode: sandbox.Enforce, project: w.a, projects: []string{w.a.ID}, agents: []string{"mine"}})
	w.cages.like = like
	from, tab := w.task(t, w.a, "from", creating)
	_, other := w.task(t, w.a, "other", nil)
	w.cages.set(other, like, like)
	w.trigger(t, owner, map[string]any{"name": "self", "kind": "webhook", "do": "task_send", "task": "from", "prompt": "again"})
	w.trigger(t, owner, map[string]any{"name": "other", "kind": "webhook", "do": "task_send", "task": "other", "prompt": "again"})
	w.trigger(t, owner, map[string]any{"name": "new", "kind": "webhook", "do": "task_new", "into": "A", "taskName": "child"})
	outcomes := func(subject string) map[string]string {
		out := map[string]string{}
		_, fired := w.happen(t, store.Event{Kind: store.EventWebhook, Subject: subject, Cages: []string{from.ID}})
		for _, f := range fired {
			out[f.RuleName] = f.Outcome
		}
		return out
	}
	if got := outcomes("none runs"); got["self"] != "refused" || got["other"] != "refused" || got["new"] != "refused" {
		t.Errorf("none runs: %v", got)
	}
	w.cages.set(tab, like, like)
	if got := outcomes("without the box"); got["self"] != "done" || got["other"] != "refused" || got["new"] != "refused" {
		t.Errorf("without the box: %v", got)
	}
	_, err := w.store.UpdateTask(t.Context(), from.ID, func(t *store.Task) error { t.Sandbox = "off"; return nil })
	check(t, err)
	if got := outcomes("uncaged since"); got["self"] != "refused" {
		t.Errorf("uncaged since: %v", got)
	}
	_, err = w.store.UpdateTask(t.Context(), from.ID, func(t *store.Task) error { t.Sandbox = "enforce"; t.ArchivedAt = t.Created; return nil })
	check(t, err)
	if got := outcomes("archived"); got["other"] != "refused" || got["new"] != "refused" {
		t.Errorf("archived: %v", got)
	}
}

// TestTwoCages: what either of two may have brought about must be within both.
func TestTwoCages(t *testing.T) {
	w := newWorld(t)
	wide := w.capability(t, cage{mode: sandbox.Enforce, project: w.a, projects: []string{w.a.ID}, agents: []string{"mine"}, mcp: true, read: []string{"one", "two"}})
	narrow := w.capability(t, cage{mode: sandbox.Enforce, project: w.a, projects: []string{w.a.ID}, agents: []string{"mine"}, mcp: true})
	boxed := func(t *store.Task) { t.MCP = true }
	one, tab1 := w.task(t, w.a, "one", boxed)
	two, tab2 := w.task(t, w.a, "two", boxed)
	w.cages.set(tab1, wide, wide)
	w.cages.set(tab2, narrow, narrow)
	var receives store.Tab
	for name, c := range map[string]sandbox.Capability{"wide": w.capability(t, cage{mode: sandbox.Enforce, project: w.a, read: []string{"one"}}), "narrow": w.capability(t, cage{mode: sandbox.Enforce, project: w.a})} {
		_, tab := w.task(t, w.a, name, nil)
		w.cages.set(tab, c, c)
		if name == "narrow" {
			receives = tab
		}
		w.trigger(t, owner, map[string]any{"name": name, "kind": "branch_moved", "do": "task_send", "task": name, "prompt": "x"})
	}
	w.trigger(t, owner, map[string]any{"name": "new", "kind": "branch_moved", "do": "task_new", "into": "A", "taskName": "child"})
	for i, c := range []struct {
		cages []string
		want  string
	}{{[]string{one.ID}, "narrow=done new=done wide=done"}, {[]string{one.ID, two.ID}, "narrow=done new=refused wide=refused"}, {[]string{two.ID, one.ID}, "narrow=done new=refused wide=refused"}} {
		w.cages.like = wide
		_, fired := w.happen(t, store.Event{Kind: store.EventBranchMoved, Subject: string(rune('a' + i)), Project: w.a.ID, Cages: c.cages})
		got := map[string]string{}
		for _, f := range fired {
			got[f.RuleName] = f.Outcome
		}
		if s := "narrow=" + got["narrow"] + " new=" + got["new"] + " wide=" + got["wide"]; s != c.want {
			t.Errorf("%d cages: %s, want %s: %+v", len(c.cages), s, c.want, fired)
		}
		// It is sent as the tighter of the two, which is what it is compared with when it is typed.
		if got := w.prompts(t, receives); len(got) != i+1 || len(c.cages) > 1 && got[i].FromTask != two.ID {
			t.Errorf("%d cages: %+v", len(c.cages), got)
		}
	}
}

// TestRulesEndWithTheirCreator: a token that is revoked, or may do less, stops its triggers, in words and for good; that a token has its
// name, or may do more again, revives nothing.
func TestRulesEndWithTheirCreator(t *testing.T) {
	take := map[string]func(t *testing.T, w *world){
		"revoked": func(t *testing.T, w *world) {
			do[api.TokenRevokeResult](t, w, owner, "token_revoke", map[string]any{"name": "ci"})
			w.operatorToken(t, "ci")
		},
		"readonly": func(t *testing.T, w *world) { w.setToken(t, "scope", "readonly"); w.setToken(t, "scope", "operator") },
		"approve":  func(t *testing.T, w *world) { w.setToken(t, "scope", "approve"); w.setToken(t, "scope", "operator") },
		"narrowed": func(t *testing.T, w *world) {
			w.setToken(t, "projects", []string{"A"})
			w.setToken(t, "allProjects", true)
		},
	}
	for why, take := range take {
		t.Run(why, func(t *testing.T) {
			dir := t.TempDir()
			w := openWorld(t, dir)
			_, ci := w.operatorToken(t, "ci")
			_, tab := w.task(t, w.a, "target", creating)
			w.trigger(t, ci, map[string]any{"name": "mine", "kind": "webhook", "do": "task_send", "task": "target", "prompt": "x"})
			w.trigger(t, owner, map[string]any{"name": "owners", "kind": "webhook", "do": "task_send", "task": "target", "prompt": "y"})
			take(t, w)
			for _, r := range do[api.TriggerListResult](t, w, owner, "trigger_list", map[string]any{}).Triggers {
				if (r.Stopped != "") != (r.Name == "mine") {
					t.Errorf("%s: %q", r.Name, r.Stopped)
				}
			}
			e, fired := w.happen(t, store.Event{Kind: store.EventWebhook, Subject: "x"})
			if len(fired) != 1 || fired[0].RuleName != "owners" || len(w.prompts(t, tab)) != 1 {
				t.Errorf("%+v", fired)
			}
			for _, r := range do[api.EventExplainResult](t, w, owner, "event_explain", map[string]any{"event": e.ID}).Rules {
				if r.Rule == "mine" && !strings.Contains(r.Why, "stopped") {
					t.Errorf("%+v", r)
				}
			}
			if _, f := w.call(t, owner, "trigger_update", map[string]any{"name": "mine", "enable": true}); (f == nil) != (why != "revoked") {
				t.Errorf("the owner switches it on again: %v", f)
			}
		})
	}
}

func (w *world) setToken(t *testing.T, what string, value any) {
	t.Helper()
	do[api.TokenResult](t, w, owner, "token_set", map[string]any{"name": "ci", what: value})
}

// TestRuleOfATask: the rule of an uncaged agent ends with its task's freedom.
func TestRuleOfATask(t *testing.T) {
	w := newWorld(t)
	me, _ := w.task(t, w.a, "me", func(t *store.Task) { t.Sandbox = "off" })
	caller := grant.Grant{Principal: "task:" + me.ID, Class: grant.Full, Task: me.ID}.Caller(grant.MCP)
	_, tab := w.task(t, w.a, "target", creating)
	for _, name := range []string{"one", "two"} {
		w.trigger(t, caller, map[string]any{"name": name, "kind": "webhook", "subject": name, "do": "task_send", "task": "target", "prompt": "x"})
	}
	if _, fired := w.happen(t, store.Event{Kind: store.EventWebhook, Subject: "one"}); len(fired) != 1 || fired[0].Outcome != "done" || len(w.prompts(t, tab)) != 1 {
		t.Fatalf("%+v", fired)
	}
	_, err := w.store.UpdateTask(t.Context(), me.ID, func(t *store.Task) error { t.Sandbox = "monitor"; return nil })
	check(t, err)
	if _, fired := w.happen(t, store.Event{Kind: store.EventWebhook, Subject: "two"}); len(fired) != 1 || fired[0].Outcome != "refused" || len(w.prompts(t, tab)) != 1 {
		t.Errorf("%+v", fired)
	}
	for _, r := range do[api.TriggerListResult](t, w, owner, "trigger_list", map[string]any{}).Triggers {
		if r.Name == "two" && r.Stopped == "" {
			t.Errorf("%s goes on", r.Name)
		}
	}
}

// TestTokensForSomeProjects: such a token is told of, and its triggers follow, what happens in its projects alone; and it knows of no
// rules but its own.
func TestTokensForSomeProjects(t *testing.T) {
	w := newWorld(t)
	_, one := w.operatorToken(t, "one", w.a)
	w.task(t, w.a, "target", creating)
	w.task(t, w.b, "hidden", creating)
	if _, f := w.call(t, one, "trigger_add", map[string]any{"name": "x", "kind": "webhook", "do": "task_send", "task": "hidden", "prompt": "x"}); f == nil || f.Code != "not_found" {
		t.Errorf("a task out of reach: %v", f)
	}
	if _, f := w.call(t, one, "trigger_add", map[string]any{"name": "x", "kind": "webhook", "do": "task_new", "into": "B", "taskName": "x"}); f == nil || f.Code != "not_found" {
		t.Errorf("a project out of reach: %v", f)
	}
	w.trigger(t, one, map[string]any{"name": "mine", "kind": "webhook", "do": "task_send", "task": "target", "prompt": "x", "withFacts": true})
	w.trigger(t, owner, map[string]any{"name": "owners", "kind": "webhook", "do": "task_send", "task": "hidden", "prompt": "x"})
	var ids []string
	for i, p := range []string{w.a.ID, w.b.ID, ""} {
		e, fired := w.happen(t, store.Event{Kind: store.EventWebhook, Subject: string(rune('a' + i)), Project: p})
		ids = append(ids, e.ID)
		if n := len(fired); n != 2 && p == w.a.ID || n != 1 && p != w.a.ID {
			t.Errorf("project %d: %+v", i, fired)
		}
		_, f := w.call(t, one, "event_explain", map[string]any{"event": e.ID})
		if (f == nil) != (p == w.a.ID) {
			t.Errorf("explained %d: %v", i, f)
		}
	}
	list := do[api.EventListResult](t, w, one, "event_list", map[string]any{}).Events
	if len(list) != 1 || list[0].ID != ids[0] {
		t.Errorf("%+v", list)
	}
	if rules := do[api.TriggerListResult](t, w, one, "trigger_list", map[string]any{}).Triggers; len(rules) != 1 || rules[0].Name != "mine" {
		t.Errorf("%+v", rules)
	}
	if rules := do[api.EventExplainResult](t, w, one, "event_explain", map[string]any{"event": ids[0]}).Rules; len(rules) != 1 || rules[0].Rule != "mine" {
		t.Errorf("%+v", rules)
	}
	_, hidden := w.call(t, one, "trigger_delete", map[string]any{"name": "owners"})
	_, missing := w.call(t, one, "trigger_delete", map[string]any{"name": "nosuch"})
	if same(t, hidden, "owners") != same(t, missing, "nosuch") {
		t.Errorf("%v, %v", hidden, missing)
	}
}

// TestOthersRulesAreNotTheirs: a rule acts as its creator, so nobody else but the owner writes into it, and nobody gets by a rule what its
// class has not.
func TestOthersRulesAreNotTheirs(t *testing.T) {
	w := newWorld(t)
	_, ci := w.operatorToken(t, "ci")
	w.task(t, w.a, "target", creating)
	w.trigger(t, owner, map[string]any{"name": "owners", "kind": "webhook", "do": "task_send", "task": "target", "prompt": "x"})
	w.trigger(t, ci, map[string]any{"name": "cis", "kind": "webhook", "do": "task_send", "task": "target", "prompt": "x"})
	for _, verb := range []string{"trigger_update", "trigger_delete"} {
		if _, f := w.call(t, ci, verb, map[string]any{"name": "owners"}); f == nil || f.Code != "forbidden" {
			t.Errorf("%s: %v", verb, f)
		}
		if _, f := w.call(t, full, verb, map[string]any{"name": "cis"}); f == nil || f.Code != "forbidden" {
			t.Errorf("%s by the file token: %v", verb, f)
		}
	}
	if _, f := w.call(t, ci, "trigger_add", map[string]any{"name": "x", "kind": "webhook", "do": "task_new", "into": "A", "taskName": "x", "sandbox": "off"}); f == nil || f.Code != "invalid_argument" {
		t.Errorf("an operator chooses a cage: %v", f)
	}
	// The owner may write into it, and it goes on as its creator: a cage that an operator cannot choose is refused.
	if _, f := w.call(t, owner, "trigger_update", map[string]any{"name": "cis", "do": "task_new", "into": "A", "taskName": "x", "sandbox": "off"}); f == nil {
		t.Error("the trigger of an operator chooses a cage")
	}
	if r := do[api.TriggerResult](t, w, owner, "trigger_update", map[string]any{"name": "cis", "prompt": "y"}).Trigger; r.Creator != "client:ci" || r.Prompt != "y" || r.Task != "target" {
		t.Errorf("%+v", r)
	}
	for _, verb := range []string{"task_archive", "project_remove", "trigger_add", "mcp_enable"} {
		if _, f := w.call(t, grant.OwnerOn(grant.Trigger), verb, map[string]any{}); f == nil || !strings.HasPrefix(f.Message, "There is no verb") {
			t.Errorf("a rule calls %s: %v", verb, f)
		}
	}
	for _, param := range []string{"yolo", "noAgent", "open"} {
		if _, f := w.call(t, grant.OwnerOn(grant.Schedule), "task_new", map[string]any{"name": "x", "project": "A", param: true}); f == nil || f.Code != "invalid_argument" {
			t.Errorf("a rule gives %s: %v", param, f)
		}
	}
}

// TestRunawayRulesAreHeld: a trigger fires once in ten seconds for a subject and a hundred times a day, and chains end.
func TestRunawayRulesAreHeld(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	w := openWorld(t, t.TempDir(), core.Clock{Wall: func() time.Time { return now }})
	_, tab := w.task(t, w.a, "target", creating)
	w.trigger(t, owner, map[string]any{"name": "r", "kind": "webhook", "do": "task_send", "task": "target", "prompt": "x"})
	outcome := func(subject string, depth int) string {
		t.Helper()
		_, fired := w.happen(t, store.Event{Kind: store.EventWebhook, Subject: subject, Depth: depth})
		if len(fired) != 1 || (fired[0].Outcome == store.FiringHeld) != (fired[0].Detail != "") {
			t.Fatalf("%+v", fired)
		}
		return fired[0].Outcome
	}
	if got := []string{outcome("a", 0), outcome("a", 0), outcome("b", core.MaxChain-1), outcome("c", core.MaxChain)}; strings.Join(got, " ") != "done held done held" {
		t.Errorf("%v", got)
	}
	now = now.Add(core.RuleGap + time.Second)
	if got := outcome("a", 0); got != "done" {
		t.Errorf("ten seconds later: %s", got)
	}
	for range core.RuleDay - 3 {
		now = now.Add(core.RuleGap + time.Second)
		if got := outcome("a", 0); got != "done" {
			t.Fatalf("%s after %d", got, len(w.prompts(t, tab)))
		}
	}
	now = now.Add(time.Minute)
	if got := outcome("z", 0); got != "held" {
		t.Errorf("the %dth of a day: %s", core.RuleDay+1, got)
	}
	now = now.Add(25 * time.Hour)
	if got := outcome("z", 0); got != "done" {
		t.Errorf("a day later: %s", got)
	}
}

// TestFiringsOfAKilledApp never act again, and are told.
func TestFiringsOfAKilledApp(t *testing.T) {
	dir := t.TempDir()
	var event store.Event
	var rule api.Trigger
	var tab store.Tab
	t.Run("before", func(t *testing.T) {
		w := openWorld(t, dir)
		_, tab = w.task(t, w.a, "target", creating)
		rule = w.trigger(t, owner, map[string]any{"name": "r", "kind": "webhook", "do": "task_send", "task": "target", "prompt": "x"})
		event, _ = w.happen(t, store.Event{Kind: store.EventCheckFlip, Subject: "x"})
	})
	state, err := store.Open(t.Context(), filepath.Join(dir, "termic.db"), store.Options{Log: slog.New(slog.DiscardHandler)})
	check(t, err)
	for _, outcome := range []string{store.FiringWaiting, store.FiringActing} { // as a kill leaves them
		check(t, state.Write(t.Context(), func(tx *store.Tx) error {
			_, err := tx.AddFiring(t.Context(), store.Firing{Event: event.ID, Rule: rule.ID, RuleName: "r", Verb: "task_send", Outcome: outcome})
			return err
		}))
	}
	check(t, state.Close())
	w := openWorld(t, dir)
	var got []string
	for _, f := range w.firings(t, event.ID) {
		got = append(got, f.Outcome)
	}
	if strings.Join(got, " ") != "missed unknown" || len(w.prompts(t, tab)) != 0 {
		t.Errorf("%v, %+v", got, w.prompts(t, tab))
	}
	shown := do[api.WindowState](t, w, grant.OwnerOn(grant.Window), "window_state", map[string]any{})
	if !strings.Contains(strings.Join(shown.Notices, " "), "event list") {
		t.Errorf("notices: %q", shown.Notices)
	}
}
