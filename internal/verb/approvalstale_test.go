package verb

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/core"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
)

// TestStaleApproval: whatever changes between the question and the decision, nothing is done, and the approval and its job say why.
func TestStaleApproval(t *testing.T) {
	arch := map[string]any{"task": "one", "discard": true}
	for _, s := range []struct {
		name   string
		verb   string
		params map[string]any
		change func(*court, store.Task)
		code   fault.Code
	}{
		{"the worktree changed", "task_apply", map[string]any{"task": "one"}, func(c *court, k store.Task) { c.write(k.Path, "a.txt", "other\n") }, fault.Conflict},
		{"a new file", "task_apply", map[string]any{"task": "one"}, func(c *court, k store.Task) { c.write(k.Path, "more.txt", "x") }, fault.Conflict},
		{"the task committed", "task_apply", map[string]any{"task": "one"}, func(c *court, k store.Task) { c.git(k.Path, "commit", "-q", "-am", "x") }, fault.Conflict},
		{"the base moved", "task_apply", map[string]any{"task": "one"}, func(c *court, k store.Task) { c.git(c.repo, "commit", "-q", "--allow-empty", "-m", "x") }, fault.Conflict},
		{"the main checkout is dirty", "task_apply", map[string]any{"task": "one"}, func(c *court, k store.Task) { c.write(c.repo, "own.txt", "x") }, fault.Conflict},
		{"it was applied before", "task_apply", map[string]any{"task": "one"}, func(c *court, k store.Task) {
			_, err := c.store.UpdateTask(c.t.Context(), k.ID, func(t *store.Task) error { t.AppliedTree = c.git(c.repo, "rev-parse", "HEAD^{tree}"); return nil })
			check(c.t, err)
		}, fault.Conflict},
		{"an untracked file changed", "task_archive", arch, func(c *court, k store.Task) { c.write(k.Path, "new-one.txt", "secret-of-the-tsak\n") }, fault.Conflict},
		{"a commit", "task_archive", arch, func(c *court, k store.Task) { c.git(k.Path, "commit", "-q", "-am", "x") }, fault.Conflict},
		{"a prompt waits", "task_archive", arch, func(c *court, k store.Task) {
			tabs, err := c.store.Tabs(c.t.Context(), k.ID)
			check(c.t, err)
			_, err = c.store.EnqueuePrompt(c.t.Context(), store.Prompt{TabID: tabs[0].ID, Text: "x"})
			check(c.t, err)
		}, fault.Conflict},
		{"it was renamed", "task_archive", arch, func(c *court, k store.Task) {
			do[api.TaskRenameResult](c.t, c.world, owner, "task_rename", map[string]any{"task": k.ID, "name": "two"})
		}, fault.Conflict},
		{"another has its name", "task_archive", arch, func(c *court, k store.Task) {
			do[api.TaskRenameResult](c.t, c.world, owner, "task_rename", map[string]any{"task": k.ID, "name": "two"})
			c.tree("one-more")
			do[api.TaskRenameResult](c.t, c.world, owner, "task_rename", map[string]any{"task": "one-more", "name": "one"})
		}, fault.Conflict},
		{"a tab was named", "task_tab_close", map[string]any{"task": "one", "tab": "1", "allowDefault": true}, func(c *court, k store.Task) {
			tabs, err := c.store.Tabs(c.t.Context(), k.ID)
			check(c.t, err)
			_, err = c.store.UpdateTab(c.t.Context(), tabs[0].ID, func(t *store.Tab) error { t.Name = "other"; return nil })
			check(c.t, err)
		}, fault.Conflict},
		{"another task came", "project_remove", map[string]any{"name": "A", "discard": true}, func(c *court, k store.Task) { c.tree("two") }, fault.Conflict},
		{"one of its trees changed", "project_remove", map[string]any{"name": "A", "discard": true}, func(c *court, k store.Task) { c.write(k.Path, "a.txt", "other\n") }, fault.Conflict},
		{"who asked was revoked", "task_archive", arch, func(c *court, k store.Task) {
			do[api.TokenRevokeResult](c.t, c.world, owner, "token_revoke", map[string]any{"name": "asks"})
		}, fault.Conflict},
		{"who asked was made anew", "task_archive", arch, func(c *court, k store.Task) {
			check(c.t, c.store.Write(c.t.Context(), func(tx *store.Tx) error { return tx.DeleteToken(c.t.Context(), "asks") }))
			c.token("asks", grant.Operator)
		}, fault.Forbidden},
		{"who asked reads alone", "task_archive", arch, func(c *court, k store.Task) {
			do[api.TokenResult](c.t, c.world, owner, "token_set", map[string]any{"name": "asks", "scope": "readonly"})
		}, fault.Forbidden},
		{"who asked reaches another project", "task_archive", arch, func(c *court, k store.Task) {
			do[api.TokenResult](c.t, c.world, owner, "token_set", map[string]any{"name": "asks", "projects": []string{"B"}})
		}, fault.Forbidden},
	} {
		t.Run(s.name, func(t *testing.T) {
			c := newCourt(t)
			task := c.tree("one")
			r := c.raise(s.verb, s.params)
			s.change(c, task)
			before := c.git(c.repo, "status", "--porcelain")
			out, f := c.decide(c.says, r.Approval.ID, "approve")
			if f == nil || f.Code != s.code {
				t.Fatalf("%+v, %v", out, f)
			}
			if c.git(c.repo, "status", "--porcelain") != before || !c.there(task) {
				t.Error("it was done")
			}
			if tabs, err := c.store.Tabs(t.Context(), task.ID); err != nil || len(tabs) != 1 {
				t.Errorf("its tabs: %v, %v", tabs, err)
			}
			if j := c.job(r.Job); c.state(r.Approval.ID) != "stale" || j.State != api.JobFailed || j.Message == "" {
				t.Errorf("%s, %+v", c.state(r.Approval.ID), j)
			}
			if _, f := c.decide(owner, r.Approval.ID, "approve"); f == nil || f.Code != fault.Conflict {
				t.Errorf("again: %v", f)
			}
		})
	}
}

// TestArgumentsAreBound: an approval whose stored arguments are others than those that were shown is carried out by nobody.
func TestArgumentsAreBound(t *testing.T) {
	c := newCourt(t)
	task := c.tree("one")
	r := c.raise("task_archive", map[string]any{"task": "one", "discard": true})
	db, err := sql.Open("sqlite", filepath.Join(c.dir, "termic.db"))
	check(t, err)
	defer db.Close()
	_, err = db.Exec(`UPDATE approvals SET arguments = '{"task":"one","discard":true,"deleteBranch":true}' WHERE id = ?`, r.Approval.ID)
	check(t, err)
	if out, f := c.decide(c.says, r.Approval.ID, "approve"); f == nil || f.Code != fault.Conflict || !c.there(task) || c.state(r.Approval.ID) != "stale" {
		t.Errorf("%+v, %v", out, f)
	}
}

// TestApprovalsRunOut: by the wall clock and by the time since boot, whichever comes first; setting the clock back or sleeping prolongs
// nothing; and a start of the app ends them.
func TestApprovalsRunOut(t *testing.T) {
	for name, s := range map[string]struct {
		wall, boot time.Duration
		over       bool
	}{
		"almost":                {core.ApprovalLife - time.Second, core.ApprovalLife - time.Second, false},
		"an hour":               {core.ApprovalLife, core.ApprovalLife, true},
		"suspended":             {time.Minute, core.ApprovalLife, true}, // the wall clock was set back meanwhile
		"the clock set back":    {-24 * time.Hour, core.ApprovalLife, true},
		"the clock set forward": {core.ApprovalLife, time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCourt(t)
			task := c.tree("one")
			r := c.raise("task_archive", map[string]any{"task": "one", "discard": true})
			c.clock.add(s.wall, s.boot)
			out, f := c.decide(c.says, r.Approval.ID, "approve")
			if s.over != (f != nil) || s.over != c.there(task) {
				t.Fatalf("%+v, %v", out, f)
			}
			if !s.over {
				return
			}
			if j := c.job(r.Job); f.Code != fault.Conflict || c.state(r.Approval.ID) != "expired" || j.State != api.JobFailed || j.Message != "Nobody decided in time" {
				t.Errorf("%v, %s, %+v", f, c.state(r.Approval.ID), j)
			}
		})
	}
	// What nobody looks at runs out too, and is in the ledger.
	c := newCourt(t)
	c.tree("one")
	c.raise("task_archive", map[string]any{"task": "one", "discard": true})
	c.clock.add(0, core.ApprovalLife)
	if list := do[api.ApprovalListResult](t, c.world, owner, "approval_list", map[string]any{}).Approvals; len(list) != 0 {
		t.Errorf("%+v", list)
	}
	if rows := c.ledger(t); !strings.Contains(strings.Join(func() (out []string) {
		for _, l := range rows {
			out = append(out, l.Principal+" "+l.Verb+" "+l.Outcome)
		}
		return out
	}(), "\n"), "termic approval_end expired") {
		t.Errorf("the ledger does not say so: %+v", rows)
	}
}

// TestApprovalsAfterAStart: what waited when the app ended is stale, and its job interrupted.
func TestApprovalsAfterAStart(t *testing.T) {
	dir, k := t.TempDir(), newClock()
	var r api.RaisedResult
	var task store.Task
	t.Run("first", func(t *testing.T) {
		c := openCourt(t, dir, k)
		task = c.tree("one")
		r = c.raise("task_archive", map[string]any{"task": "one", "discard": true})
	})
	c := openCourt(t, dir, k)
	c.says = c.caller("says")
	if out, f := c.decide(c.says, r.Approval.ID, "approve"); f == nil || f.Code != fault.Conflict || !c.there(task) {
		t.Errorf("%+v, %v", out, f)
	}
	if j := c.job(r.Job); c.state(r.Approval.ID) != "stale" || j.State != api.JobInterrupted {
		t.Errorf("%s, %+v", c.state(r.Approval.ID), j)
	}
}

// TestTwoDeciders: of many who decide at once one decides, and it is done once.
func TestTwoDeciders(t *testing.T) {
	c := newCourt(t)
	c.tree("one")
	r := c.raise("task_apply", map[string]any{"task": "one"})
	var wg sync.WaitGroup
	results := make([]string, 8)
	for i := range results {
		by, decision := c.says, "approve"
		if i%2 == 1 {
			by = owner
		}
		if i%3 == 2 {
			decision = "deny"
		}
		wg.Go(func() {
			out, f := c.decide(by, r.Approval.ID, decision)
			if f == nil {
				results[i] = out.Outcome
			} else {
				results[i] = string(f.Code)
			}
		})
	}
	wg.Wait()
	won := ""
	for _, got := range results {
		if got == "conflict" {
			continue
		}
		if won != "" {
			t.Fatalf("two decided: %v", results)
		}
		won = got
	}
	if won == "" || c.applied() != (won == "ok") {
		t.Errorf("%v, applied: %v", results, c.applied())
	}
}

// TestDecisionRacesAChange: whenever the worktree changes, what arrives is what was shown, or nothing.
func TestDecisionRacesAChange(t *testing.T) {
	for round := range 6 {
		c := newCourt(t)
		task := c.tree("one")
		r := c.raise("task_apply", map[string]any{"task": "one"})
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			<-time.After(time.Duration(round*15) * time.Millisecond) // at another moment in each round
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					_ = os.WriteFile(filepath.Join(task.Path, "new-one.txt"), []byte("another text "+strings.Repeat("x", i%7)), 0o600)
				}
			}
		})
		_, f := c.decide(c.says, r.Approval.ID, "approve")
		close(stop)
		wg.Wait()
		got, err := os.ReadFile(filepath.Join(c.repo, "new-one.txt"))
		if f == nil && c.state(r.Approval.ID) == "approved" && c.job(r.Job).State == api.JobDone {
			if string(got) != "secret-of-the-task\n" {
				t.Errorf("round %d: what arrived was not shown: %q, %v", round, got, err)
			}
		} else if err == nil || c.applied() {
			t.Errorf("round %d: refused (%v), and %q arrived: %s", round, f, got, c.git(c.repo, "status", "--porcelain"))
		}
	}
}

// TestApprovalsAreBounded: a token has so many waiting and no more, the very same is not asked twice, and a job that is cancelled takes
// its question back.
func TestApprovalsAreBounded(t *testing.T) {
	c := newCourt(t)
	c.tree("one")
	ask := map[string]any{"task": "one", "discard": true}
	r := c.raise("task_archive", ask)
	if _, f := c.call(t, c.asks, "task_archive", ask); f == nil || f.Code != fault.Conflict || f.Data["job"] != r.Job {
		t.Errorf("asked twice: %v", f)
	}
	if j := do[api.JobResult](t, c.world, c.asks, "job_cancel", map[string]any{"job": r.Job}).Job; j.State != api.JobCancelled || c.state(r.Approval.ID) != "withdrawn" {
		t.Errorf("%+v, %s", j, c.state(r.Approval.ID))
	}
	if _, f := c.decide(owner, r.Approval.ID, "approve"); f == nil || f.Code != fault.Conflict {
		t.Errorf("withdrawn: %v", f)
	}
	for i := range store.MaxPendingOfToken {
		task, _ := c.task(t, c.a, "t"+string(rune('a'+i)), func(t *store.Task) { t.IsMain = true; t.Path = c.repo })
		c.raise("task_archive", map[string]any{"task": task.ID})
	}
	if _, f := c.call(t, c.asks, "task_archive", ask); f == nil || f.Code != fault.Conflict || !strings.Contains(f.Message, "16") {
		t.Errorf("one more: %v", f)
	}
	other := c.token("other", grant.Operator)
	if _, f := c.call(t, other, "task_archive", ask); f != nil {
		t.Errorf("another token: %v", f)
	}
}

// TestDeciderIsLookedAtAgain: a decision of a token that was narrowed or revoked after its call was let in is none.
func TestDeciderIsLookedAtAgain(t *testing.T) {
	for name, change := range map[string]map[string]any{"token_set": {"name": "says", "scope": "readonly"}, "token_revoke": {"name": "says"}} {
		c := newCourt(t)
		task := c.tree("one")
		r := c.raise("task_archive", map[string]any{"task": "one", "discard": true})
		if _, f := c.call(t, owner, name, change); f != nil {
			t.Fatal(f)
		}
		for _, decision := range []string{"approve", "deny"} {
			if out, f := c.decide(c.says, r.Approval.ID, decision); f == nil || f.Code != fault.Forbidden || !c.there(task) || c.state(r.Approval.ID) != "pending" {
				t.Errorf("%s, %s: %+v, %v, %s", name, decision, out, f, c.state(r.Approval.ID))
			}
		}
	}
}
