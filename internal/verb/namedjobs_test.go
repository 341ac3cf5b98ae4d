package verb

import (
	"encoding/json"
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/grant"
	"termic/internal/store"
	"termic/sandbox"
)

// TestJobsTellNothingOfOthers: the job of somebody else's call, about a task that a token reaches, has neither the result that
// the other was given nor the id of a task that the token does not reach.
func TestJobsTellNothingOfOthers(t *testing.T) {
	w := newWorld(t)
	like := w.capability(t, cage{mode: sandbox.Enforce, project: w.b, projects: []string{w.a.ID, w.b.ID}, agents: []string{"mine"}, mcp: true})
	w.cages.like = like
	parent, ptab := w.task(t, w.b, "hidden-parent", nil)
	w.cages.set(ptab, like, like)
	w.runs(t, ptab)
	child, _ := w.task(t, w.a, "child", func(t *store.Task) { t.ParentID = parent.ID })
	// The owner renames it, and the hidden parent opens a tab in it.
	renamed := do[api.TaskRenameResult](t, w, owner, "task_rename", map[string]any{"task": child.ID, "name": "kid"}).Job
	if _, f := w.call(t, callerOf(parent, ptab, w.a, w.b), "task_tab", map[string]any{"task": child.ID}); f != nil {
		t.Log("the tab does not start:", f) // its job is there all the same
	}
	_, err := w.store.UpdateProject(t.Context(), w.a.ID, func(p *store.Project) error { p.MCPProjects = []string{w.a.ID, w.b.ID}; return nil })
	check(t, err)
	_, err = w.store.UpdateProject(t.Context(), w.b.ID, func(p *store.Project) error { p.Name = "hidden-project"; return nil })
	check(t, err)
	seen := 0
	for _, class := range []grant.Class{grant.ReadOnly, grant.Operator, grant.Approve} {
		one := grant.Grant{Principal: "client:one", Class: class, Projects: []string{w.a.ID}}.Caller(grant.MCP)
		for _, j := range do[api.JobListResult](t, w, one, "job_list", map[string]any{}).Jobs {
			seen++
			for _, verb := range []string{"job_list", "job_get", "job_events", "job_log", "job_wait"} {
				params := map[string]any{"job": j.ID}
				if verb == "job_list" {
					params = map[string]any{}
				}
				result, f := w.call(t, one, verb, params)
				if f != nil {
					result = words(t, f)
				}
				for _, h := range []string{parent.ID, "hidden", w.b.ID, w.b.RootPath} {
					if strings.Contains(result, h) {
						t.Errorf("%s of %s as %s tells %q: %s", verb, j.Verb, class, h, result)
					}
				}
			}
		}
	}
	if seen < 3*2 {
		t.Errorf("only %d jobs are shown, so the test shows little", seen)
	}
	if j := do[api.JobResult](t, w, full, "job_get", map[string]any{"job": renamed}).Job; !strings.Contains(string(encoded(t, j)), parent.ID) {
		t.Errorf("nothing is hidden from the owner, and it is not there: %+v", j)
	}
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	check(t, err)
	return raw
}

// TestJobsOfAName: what a token asked for while it reached more is hidden once it does not, and a new token of an old name
// inherits nothing of the one before it.
func TestJobsOfAName(t *testing.T) {
	w := newWorld(t)
	w.cages.like = w.capability(t, cage{mode: sandbox.Enforce, project: w.a, projects: []string{w.a.ID}, agents: []string{"mine"}})
	foreign, _ := w.task(t, w.b, "foreign", nil)
	var ci store.Token
	add := func(token store.Token) {
		t.Helper()
		check(t, w.store.Write(t.Context(), func(tx *store.Tx) (err error) { ci, err = tx.AddToken(t.Context(), token); return err }))
	}
	add(store.Token{Name: "ci", Scope: "operator", Everywhere: true})
	wide := grant.Grant{Principal: "client:ci", Token: ci.ID, Class: grant.Operator, Everywhere: true}.Caller(grant.MCP)
	job := do[api.TaskRenameResult](t, w, wide, "task_rename", map[string]any{"task": foreign.ID, "name": "secret"}).Job
	if _, f := w.call(t, wide, "task_new", map[string]any{"name": "in\x00valid", "project": "A"}); f == nil {
		t.Fatal("a bad name was taken")
	}
	narrow := grant.Grant{Principal: "client:ci", Token: ci.ID, Class: grant.Operator, Projects: []string{w.a.ID}}.Caller(grant.MCP)
	hidden := func(when string, left int) {
		t.Helper()
		if list := do[api.JobListResult](t, w, narrow, "job_list", map[string]any{}).Jobs; len(list) != left {
			t.Errorf("%s: it knows of %+v", when, list)
		}
		for _, verb := range []string{"job_get", "job_events", "job_log", "job_wait", "job_cancel"} {
			_, f := w.call(t, narrow, verb, map[string]any{"job": job})
			missing := missingID()
			_, none := w.call(t, narrow, verb, map[string]any{"job": missing})
			if f == nil || same(t, f, job) != same(t, none, missing) {
				t.Errorf("%s: %s of a hidden job: %v, of a missing one: %v", when, verb, f, none)
			}
		}
	}
	// What was refused before it was about anything is its own still, while the token is the same.
	hidden("narrowed", 1)
	check(t, w.store.Write(t.Context(), func(tx *store.Tx) error { return tx.DeleteToken(t.Context(), "ci") }))
	add(store.Token{Name: "ci", Scope: "operator", Projects: []string{w.a.ID}})
	narrow.Token = ci.ID
	hidden("made anew", 0)
}
