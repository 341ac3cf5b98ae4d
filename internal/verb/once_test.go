package verb

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
)

// onceVerbs are the verbs that take a key, by hand: those that make something, or ask for approval, and would do so twice.
var onceVerbs = strings.Fields(`task_new task_race task_send task_tab task_apply task_archive task_tab_close project_remove`)

// TestOnceVerbs: these have a key and no others; they are jobs, since the job is what a repeat is answered from.
func TestOnceVerbs(t *testing.T) {
	for _, v := range All() {
		_, has := reflect.New(v.params).Elem().Interface().(interface{ Key() string })
		if want := slices.Contains(onceVerbs, v.Name); has != want || has && !v.Job {
			t.Errorf("%s takes a key: %v, want %v; is a job: %v", v.Name, has, want, v.Job)
		}
		if v.Job && v.On(grant.MCP) && !v.Effect.Idempotent && !has {
			t.Errorf("a repeat of %s does it twice", v.Name)
		}
	}
}

// TestOnce: a repeat gives the same answer and does nothing; with other arguments it is refused in words; and the key is that of one
// token on one face.
func TestOnce(t *testing.T) {
	c := newCourt(t)
	task := c.tree("one")
	tab, err := c.store.Tabs(t.Context(), task.ID)
	check(t, err)
	for _, s := range []struct {
		verb   string
		caller grant.Caller
		params map[string]any
		other  map[string]any
		count  func() int
	}{
		{"task_new", c.asks, map[string]any{"name": "n", "project": "B", "base": "main"}, map[string]any{"name": "m", "project": "B", "base": "main"}, func() int {
			list, err := c.store.Tasks(t.Context(), store.TaskFilter{All: true})
			check(t, err)
			return len(list)
		}},
		{"task_archive", c.asks, map[string]any{"task": "one", "discard": true}, map[string]any{"task": "one", "discard": true, "deleteBranch": true}, func() int {
			n, err := c.store.PendingApprovals(t.Context())
			check(t, err)
			return n
		}},
		{"task_tab_close", owner, map[string]any{"task": "one", "tab": tab[0].ID, "allowDefault": true}, map[string]any{"task": "one", "tab": "2"}, func() int { return len(c.jobs("task_tab_close")) }},
		{"task_apply", owner, map[string]any{"task": "one"}, map[string]any{"task": "n"}, func() int { return len(c.jobs("task_apply")) }},
	} {
		with := func(params map[string]any, key string) map[string]any {
			out := map[string]any{"idempotency_key": key}
			for k, v := range params {
				out[k] = v
			}
			return out
		}
		first, f := c.call(t, s.caller, s.verb, with(s.params, "k"))
		if f != nil {
			t.Fatalf("%s: %v", s.verb, f)
		}
		n := s.count()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				again, f := c.call(t, s.caller, s.verb, with(s.params, "k"))
				if f != nil || again != first {
					t.Errorf("%s again: %v\n%s\nfirst:\n%s", s.verb, f, again, first)
				}
			})
		}
		wg.Wait()
		if s.count() != n {
			t.Errorf("%s was done again", s.verb)
		}
		if _, f := c.call(t, s.caller, s.verb, with(s.other, "k")); f == nil || f.Code != fault.Conflict && f.Code != fault.NotFound {
			t.Errorf("%s with other arguments: %v", s.verb, f)
		}
	}
}

func (c *court) jobs(verb string) []store.Job {
	list, err := c.store.Jobs(c.t.Context(), store.JobFilter{Verb: verb})
	check(c.t, err)
	return list
}

// TestOnceIsOfOneToken: a token that has the name of an earlier one does not get its answers, nor does one that was narrowed.
func TestOnceIsOfOneToken(t *testing.T) {
	c := newCourt(t)
	params := map[string]any{"name": "n", "project": "B", "base": "main", "idempotency_key": "k"}
	first := do[api.TaskNewResult](t, c.world, c.asks, "task_new", params).Task.ID
	do[api.TokenResult](t, c.world, owner, "token_set", map[string]any{"name": "asks", "projects": []string{"A"}})
	if out, f := c.call(t, c.caller("asks"), "task_new", params); f == nil || strings.Contains(out, first) || strings.Contains(words(t, f), first) {
		t.Errorf("a narrowed token: %s, %v", out, f)
	}
	check(t, c.store.Write(t.Context(), func(tx *store.Tx) error { return tx.DeleteToken(t.Context(), "asks") }))
	namesake := c.token("asks", grant.Operator)
	if out, f := c.call(t, namesake, "task_new", params); strings.Contains(out, first) || f == nil || f.Code != fault.Conflict || strings.Contains(f.Message, "key") {
		t.Errorf("a namesake: %s, %v", out, f)
	}
}

// TestOnceAfterARefusal: a call that was refused made nothing, so its key is free.
func TestOnceAfterARefusal(t *testing.T) {
	c := newCourt(t)
	c.tree("one")
	c.write(c.repo, "own.txt", "x")
	params := map[string]any{"task": "one", "idempotency_key": "k"}
	if _, f := c.call(t, owner, "task_apply", params); f == nil || f.Code != fault.Conflict {
		t.Fatalf("%v", f)
	}
	c.git(c.repo, "clean", "-q", "-f")
	out, f := c.call(t, owner, "task_apply", params)
	var r api.TaskApplyResult
	if f != nil || json.Unmarshal([]byte(out), &r) != nil || r.TrackedFiles != 1 {
		t.Errorf("%s, %v", out, f)
	}
}

// TestOnceOfAnApproval: the repeat of a call that waits is answered with the same approval as it is by then.
func TestOnceOfAnApproval(t *testing.T) {
	c := newCourt(t)
	c.tree("one")
	ask := map[string]any{"task": "one", "idempotency_key": "k"}
	r := c.raise("task_apply", ask)
	if _, f := c.decide(c.says, r.Approval.ID, "approve"); f != nil {
		t.Fatal(f)
	}
	if again := c.raise("task_apply", ask); again.Job != r.Job || again.Approval.ID != r.Approval.ID || again.Approval.State != "approved" {
		t.Errorf("%+v", again)
	}
}
