package verb

import (
	"encoding/json"
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/ids"
	"termic/internal/store"
)

// TestApproval: what an operator asks for and what destroys waits, with what would be lost, and changes nothing. Whoever may decide
// it has it done; the answer of the asker's job is that of the call.
func TestApproval(t *testing.T) {
	c := newCourt(t)
	task := c.tree("one")
	r := c.raise("task_apply", map[string]any{"task": "one"})
	a := r.Approval
	if a.State != "pending" || a.Job != r.Job || a.Verb != "task_apply" || a.Principal != "client:asks" || a.Face != "mcp" || a.TaskID != task.ID || a.Task != "one" || a.Project != "A" ||
		a.Created != "2026-01-02T03:04:05Z" || a.Expires != "2026-01-02T04:04:05Z" || a.Plan == nil || a.Plan.Apply == nil || a.Plan.Apply.Total != 2 || a.Plan.Apply.Modified != 1 || a.Plan.Apply.Added != 1 {
		t.Errorf("%+v", a)
	}
	if c.applied() || !c.there(task) {
		t.Fatal("it was done")
	}
	if j := c.job(r.Job); j.State != api.JobWaiting || j.Approval != a.ID || j.Ended != "" {
		t.Errorf("%+v", j)
	}
	list := do[api.ApprovalListResult](t, c.world, c.says, "approval_list", map[string]any{})
	if len(list.Approvals) != 1 || list.Approvals[0].ID != a.ID || list.Approvals[0].Plan != nil {
		t.Errorf("%+v", list)
	}
	if s := do[api.WindowState](t, c.world, grant.OwnerOn(grant.Window), "window_state", map[string]any{}); s.Approvals != 1 {
		t.Errorf("the window counts %d", s.Approvals)
	}
	out, f := c.decide(c.says, a.ID, "approve")
	if f != nil || out.Outcome != "ok" || out.Approval.State != "approved" || out.Approval.DecidedBy != "client:says" || out.Approval.DecidedOn != "mcp" || out.Approval.Reason != "as I say" {
		t.Fatalf("%+v, %v", out, f)
	}
	if !c.applied() {
		t.Error("it was not done")
	}
	j := c.job(r.Job)
	if j.State != api.JobDone || j.Outcome != "ok" || j.Principal != "client:asks" || j.Result.(map[string]any)["tracked_files"] != 1.0 {
		t.Errorf("%+v", j)
	}
	if _, f := c.decide(c.says, a.ID, "approve"); f == nil || f.Code != fault.Conflict {
		t.Errorf("decided twice: %v", f)
	}
	if _, f := c.decide(owner, a.ID, "deny"); f == nil || f.Code != fault.Conflict {
		t.Errorf("denied afterwards: %v", f)
	}
	var ledger []string
	for _, l := range c.ledger(t) {
		if strings.HasPrefix(l.Verb, "approval_") && l.Verb != "approval_get" && l.Verb != "approval_list" || l.Verb == "task_apply" {
			ledger = append(ledger, l.Phase+" "+l.Principal+" "+l.Verb+" "+l.Outcome)
		}
	}
	want := []string{"asked client:asks task_apply ", "done client:asks approval_raise pending", "done client:asks task_apply pending", "asked client:says approval_decide ",
		"done client:says approval_end approved", "asked client:asks task_apply ", "done client:asks task_apply ok", "done client:says approval_decide ok",
		"asked client:says approval_decide ", "done client:says approval_decide conflict", "asked owner approval_decide ", "done owner approval_decide conflict"}
	if got := strings.Join(ledger, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the ledger:\n%s", got)
	}
}

// TestApprovalOfEveryVerb: each verb that destroys and that operators have asks, is done when it is approved, and not when it is
// denied. A verb that is not here fails.
func TestApprovalOfEveryVerb(t *testing.T) {
	how := map[string]struct {
		params  map[string]any
		refused map[string]any // refused at once, as the call itself would be
		done    func(*court, store.Task) bool
	}{
		"task_apply":     {params: map[string]any{"task": "one"}, done: func(c *court, _ store.Task) bool { return c.applied() }},
		"task_archive":   {map[string]any{"task": "one", "discard": true, "deleteBranch": true}, map[string]any{"task": "one"}, func(c *court, task store.Task) bool { return !c.there(task) }},
		"project_remove": {map[string]any{"name": "A", "discard": true}, map[string]any{"name": "A"}, func(c *court, task store.Task) bool { return !c.there(task) }},
		"task_tab_close": {map[string]any{"task": "one", "tab": "1", "allowDefault": true}, map[string]any{"task": "one", "tab": "1"}, func(c *court, task store.Task) bool {
			tabs, err := c.store.Tabs(c.t.Context(), task.ID)
			check(c.t, err)
			return len(tabs) == 0
		}},
	}
	for _, v := range All() {
		if !v.Waits(grant.Operator) || !v.For(grant.Operator) {
			continue
		}
		h, ok := how[v.Name]
		if !ok {
			t.Errorf("nothing is said of %s", v.Name)
			continue
		}
		for _, decision := range []string{"approve", "deny"} {
			t.Run(v.Name+" "+decision, func(t *testing.T) {
				c := newCourt(t)
				task := c.tree("one")
				if h.refused != nil {
					if _, f := c.call(t, c.asks, v.Name, h.refused); f == nil || f.Code != fault.NeedsConsent {
						t.Errorf("without consent: %v", f)
					}
				}
				r := c.raise(v.Name, h.params)
				if h.done(c, task) {
					t.Fatal("done without approval")
				}
				raw, err := json.Marshal(r)
				check(t, err)
				if strings.Contains(string(raw), "secret-of-the-task") || !strings.Contains(r.Approval.Summary, map[bool]string{true: `"A"`, false: `"one"`}[v.Name == "project_remove"]) {
					t.Errorf("%s", raw)
				}
				out, f := c.decide(owner, r.Approval.ID, decision)
				if f != nil || h.done(c, task) != (decision == "approve") {
					t.Fatalf("%+v, %v, done: %v", out, f, h.done(c, task))
				}
				j := c.job(r.Job)
				if decision == "deny" && (j.State != api.JobFailed || j.Outcome != "forbidden" || j.Message != "Denied by owner: as I say" || out.Outcome != "denied") ||
					decision == "approve" && (j.State != api.JobDone || out.Outcome != "ok") {
					t.Errorf("%+v, %+v", j, out)
				}
			})
		}
	}
}

// TestFourEyes: of every pair of principals, only the owner and approve tokens decide, never who asked, nor a token that has its
// name, and only within their projects; to others the approval does not exist.
func TestFourEyes(t *testing.T) {
	c := newCourt(t)
	c.tree("one")
	deciders := map[string]grant.Caller{
		"owner": owner, "window": grant.OwnerOn(grant.Window), "full": full, "approve": c.says, "approve a": c.token("a", grant.Approve, c.a), "approve b": c.token("b", grant.Approve, c.b),
		"operator": c.token("operator", grant.Operator), "readonly": c.token("readonly", grant.ReadOnly), "asker": c.asks,
		"scoped":           {Principal: "task:x", Class: grant.Scoped, Face: grant.MCP, Task: "x", Projects: []string{c.a.ID}},
		"asker as approve": {Principal: c.asks.Principal, Token: c.asks.Token, Class: grant.Approve, Everywhere: true, Face: grant.MCP},
		"namesake":         {Principal: "client:ASKS", Token: ids.New(), Class: grant.Approve, Everywhere: true, Face: grant.MCP},
		"renamed asker":    {Principal: "client:else", Token: c.asks.Token, Class: grant.Approve, Everywhere: true, Face: grant.MCP},
	}
	want := map[string]string{"owner": "", "window": "", "approve": "", "approve a": "", "approve b": "not_found", "full": "none", "operator": "none", "readonly": "none", "asker": "none", "scoped": "none",
		"asker as approve": "forbidden", "namesake": "forbidden", "renamed asker": "forbidden"}
	for name, by := range deciders {
		r := c.raise("task_archive", map[string]any{"task": "one", "discard": true})
		_, f := c.decide(by, r.Approval.ID, "deny")
		got := ""
		if f != nil {
			got = string(f.Code)
			if strings.HasPrefix(f.Message, "There is no verb") {
				got = "none"
			}
		}
		if got != want[name] {
			t.Errorf("%s: %q, want %q (%v)", name, got, want[name], f)
		}
		pending := c.state(r.Approval.ID) == "pending"
		if pending != (want[name] != "") {
			t.Errorf("%s: still pending: %v", name, pending)
		}
		if name == "approve b" {
			missing := missingID()
			_, none := c.decide(by, missing, "deny")
			if same(t, f, r.Approval.ID) != same(t, none, missing) || len(do[api.ApprovalListResult](t, c.world, by, "approval_list", map[string]any{"state": "all"}).Approvals) != 0 {
				t.Errorf("it knows of what it does not reach: %v", f)
			}
		}
		if pending {
			if _, f := c.decide(owner, r.Approval.ID, "deny"); f != nil {
				t.Fatal(f)
			}
		}
	}
}
