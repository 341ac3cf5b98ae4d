package verb

import (
	"database/sql"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/core"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/ids"
	"termic/internal/store"
)

// clock is a clock that a test sets: that on the wall, and the time since boot.
type clock struct {
	mu   sync.Mutex
	wall time.Time
	boot time.Duration
}

func newClock() *clock {
	return &clock{wall: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), boot: time.Hour}
}

func (k *clock) add(wall, boot time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.wall, k.boot = k.wall.Add(wall), k.boot+boot
}

func (k *clock) of() core.Clock {
	return core.Clock{
		Wall: func() time.Time { k.mu.Lock(); defer k.mu.Unlock(); return k.wall },
		Boot: func() (time.Duration, error) { k.mu.Lock(); defer k.mu.Unlock(); return k.boot, nil },
	}
}

// court is a world with a project in which worktrees can be made, and clients that ask and decide.
type court struct {
	*world
	t     *testing.T
	clock *clock
	repo  string
	asks  grant.Caller // an operator for every project
	says  grant.Caller // an approve token for every project
}

func newCourt(t *testing.T) *court {
	t.Helper()
	return openCourt(t, t.TempDir(), newClock())
}

func openCourt(t *testing.T, dir string, k *clock) *court {
	t.Helper()
	c := &court{world: openWorld(t, dir, k.of()), t: t, clock: k}
	c.repo = c.a.RootPath
	if st, err := os.Stat(filepath.Join(c.repo, ".git/worktrees")); err == nil && !st.IsDir() {
		check(t, os.Remove(filepath.Join(c.repo, ".git/worktrees")))
		c.write(c.repo, "a.txt", "a\n")
		c.git(c.repo, "add", "-A")
		c.git(c.repo, "commit", "-q", "-m", "second")
		c.asks, c.says = c.token("asks", grant.Operator), c.token("says", grant.Approve)
	}
	return c
}

func (c *court) git(dir string, args ...string) string {
	c.t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...).CombinedOutput()
	if err != nil {
		c.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (c *court) write(dir, name, text string) {
	c.t.Helper()
	check(c.t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

// token stores a named token and gives its caller, as its bearer would.
func (c *court) token(name string, scope grant.Class, projects ...store.Project) grant.Caller {
	c.t.Helper()
	v := store.Token{Name: name, Scope: string(scope), Everywhere: len(projects) == 0}
	for _, p := range projects {
		v.Projects = append(v.Projects, p.ID)
	}
	check(c.t, c.store.Write(c.t.Context(), func(tx *store.Tx) (err error) { v, err = tx.AddToken(c.t.Context(), v); return err }))
	return c.caller(name)
}

// caller is what a token gives now.
func (c *court) caller(name string) grant.Caller {
	c.t.Helper()
	list, err := c.core.NamedGrants(c.t.Context())
	check(c.t, err)
	for _, g := range list {
		if g.Name == name {
			return g.Grant.Caller(grant.MCP)
		}
	}
	c.t.Fatalf("no token %s", name)
	return grant.Caller{}
}

// tree makes a task with a worktree of its own, with one changed and one new file.
func (c *court) tree(name string) store.Task {
	c.t.Helper()
	path := filepath.Join(c.dir, "trees", name)
	c.git(c.repo, "worktree", "add", "-q", "-b", "b-"+name, path)
	task, _ := c.task(c.t, c.a, name, func(t *store.Task) {
		t.Path, t.Branch, t.BaseRef, t.BaseCommit, t.Sandbox = path, "b-"+name, "main", c.git(c.repo, "rev-parse", "main"), "off"
	})
	c.write(path, "a.txt", "changed by "+name+"\n")
	c.write(path, "new-"+name+".txt", "secret-of-the-task\n")
	return task
}

func (c *court) raise(verb string, params map[string]any) api.RaisedResult {
	c.t.Helper()
	return do[api.RaisedResult](c.t, c.world, c.asks, verb, params)
}

func (c *court) decide(by grant.Caller, id, decision string) (api.ApprovalDecideResult, *fault.Error) {
	c.t.Helper()
	raw, f := c.call(c.t, by, "approval_decide", map[string]any{"approval": id, "decision": decision, "reason": "as I say"})
	var out api.ApprovalDecideResult
	if f == nil {
		check(c.t, json.Unmarshal([]byte(raw), &out))
	}
	return out, f
}

func (c *court) job(id string) api.Job {
	c.t.Helper()
	return do[api.JobResult](c.t, c.world, owner, "job_get", map[string]any{"job": id}).Job
}

func (c *court) state(id string) string {
	c.t.Helper()
	return do[api.ApprovalResult](c.t, c.world, owner, "approval_get", map[string]any{"approval": id}).Approval.State
}

func (c *court) applied() bool {
	c.t.Helper()
	return c.git(c.repo, "status", "--porcelain") != ""
}

func (c *court) there(task store.Task) bool {
	c.t.Helper()
	t, err := c.store.Task(c.t.Context(), task.ID)
	check(c.t, err)
	_, err = os.Stat(task.Path)
	return err == nil && !t.Archived()
}

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
