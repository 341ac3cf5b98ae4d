package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
)

// event waits for an event of a kind, with all that followed from it.
func (r *rig) event(kind string, is func(api.Happening) bool) api.EventExplainResult {
	r.t.Helper()
	until := time.Now().Add(60 * time.Second)
	for time.Now().Before(until) {
		for _, e := range call[api.EventListResult](r, "event_list", map[string]any{"kind": kind}).Events {
			if !is(e) {
				continue
			}
			told := call[api.EventExplainResult](r, "event_explain", map[string]any{"event": e.ID})
			if !slices.ContainsFunc(told.Rules, func(x api.Explained) bool {
				return x.Firing != nil && (x.Firing.Outcome == "waiting" || x.Firing.Outcome == "acting")
			}) {
				return told
			}
		}
		time.Sleep(100 * time.Millisecond) // what is waited for comes by itself
	}
	r.t.Fatalf("no such event of the kind %s", kind)
	return api.EventExplainResult{}
}

// TestSettlingOfACage: a real agent in a real cage settles and moves its branch. What the owner's triggers make of that reaches a task
// within its cage, and none that is wider.
func TestSettlingOfACage(t *testing.T) {
	r := newRig(t)
	call[api.MCPResult](r, "mcp_enable", nil)
	r.addProject()
	open := r.newTask("Open", "osc7501", "")
	r.live(open.Task.ID)
	wide := r.cageTask("Wide", "enforce-fs", nil)
	same := r.cageTask("Same", "enforce", nil)
	from := r.cageTask("From", "enforce", map[string]any{"mcp": true})
	for name, task := range map[string]string{"open": open.Task.ID, "wide": wide.id, "same": same.id} {
		call[api.TriggerResult](r, "trigger_add", map[string]any{"name": name, "kind": "task_settled", "subject": "From", "do": "task_send", "task": task, "prompt": "#write reached.txt hello"})
		call[api.TriggerResult](r, "trigger_add", map[string]any{"name": "moved " + name, "kind": "branch_moved", "subject": "*/from", "do": "task_send", "task": task, "prompt": "#write moved.txt hello"})
	}
	call[api.TriggerResult](r, "trigger_add", map[string]any{"name": "elsewhere", "kind": "task_settled", "subject": "From", "do": "task_new", "into": "repo", "taskName": "loose", "sandbox": "off"})
	call[api.TriggerResult](r, "trigger_add", map[string]any{"name": "child", "kind": "task_settled", "subject": "From", "do": "task_new", "into": "repo", "taskName": "child"})
	call[api.TaskSendResult](r, "task_send", map[string]any{"task": from.id, "prompt": "#write own.txt hello"})

	told := r.event("task_settled", func(e api.Happening) bool { return e.TaskID == from.id })
	if !slices.Equal(told.Event.Cages, []string{from.id}) {
		t.Errorf("cages: %v", told.Event.Cages)
	}
	outcomes := map[string]string{}
	for _, x := range told.Rules {
		if x.Matched {
			outcomes[x.Rule] = x.Firing.Outcome
		}
	}
	for rule, want := range map[string]string{"open": "refused", "wide": "refused", "same": "done", "elsewhere": "refused", "child": "done"} {
		if outcomes[rule] != want {
			t.Errorf("%s: %s, want %s: %+v", rule, outcomes[rule], want, told.Rules)
		}
	}
	r.until(same.id, "the prompt of the trigger", func(api.TaskDetail) bool {
		b, err := os.ReadFile(filepath.Join(same.path, "reached.txt"))
		return err == nil && string(b) == "hello\n"
	})
	for _, path := range []string{r.live(open.Task.ID).Path, wide.path} {
		if _, err := os.Stat(filepath.Join(path, "reached.txt")); err == nil {
			t.Errorf("%s was reached", path)
		}
	}
	children := 0
	for _, task := range call[api.TaskListResult](r, "task_list", map[string]any{}).Tasks {
		if task.Name == "child" {
			if children++; task.Sandbox != "enforce" || task.ParentID != from.id {
				t.Errorf("the child: %+v", task)
			}
		}
		if task.Name == "loose" {
			t.Errorf("a task in no cage: %+v", task)
		}
	}
	if children != 1 {
		t.Errorf("%d children", children)
	}

	// The branch is moved from outside, while cages run that could have done it: nothing wider than each of them is reached.
	time.Sleep(6 * time.Second) // until the branches were looked at once
	r.git(from.path, "-c", "user.name=a", "-c", "user.email=a@example.invalid", "commit", "-q", "--allow-empty", "-m", "moved")
	told = r.event("branch_moved", func(e api.Happening) bool { return strings.HasSuffix(e.Subject, "/from") })
	if !slices.Contains(told.Event.Cages, from.id) || !slices.Contains(told.Event.Cages, wide.id) || told.Event.TaskID != from.id {
		t.Errorf("%+v", told.Event)
	}
	for _, x := range told.Rules {
		if x.Matched && (x.Rule == "moved open" || x.Rule == "moved wide") && x.Firing.Outcome != "refused" {
			t.Errorf("%s: %+v", x.Rule, x.Firing)
		}
	}
}

// TestCircleOfAgentsThatEnd: agents that move their branch and end themselves before anybody looks make no circle that goes on.
func TestCircleOfAgentsThatEnd(t *testing.T) {
	r := newRig(t)
	r.addProject()
	const commit = "#run gone sleep 7; git -c user.name=a -c user.email=a@example.invalid commit -q --allow-empty -m moved && kill -9 $PPID"
	call[api.TriggerResult](r, "trigger_add", map[string]any{"name": "on and on", "kind": "branch_moved", "subject": "*/c-*", "do": "task_new",
		"into": "repo", "taskName": "c-{time}", "agent": "osc7501", "sandbox": "off", "prompt": commit})
	made := r.newTask("c-0", "osc7501", "")
	r.live(made.Task.ID)
	time.Sleep(6 * time.Second) // until the branches were looked at once
	call[api.TaskSendResult](r, "task_send", map[string]any{"task": made.Task.ID, "prompt": commit})
	last := r.event("branch_moved", func(e api.Happening) bool { return e.Depth >= 3 })
	for _, x := range last.Rules {
		if x.Matched && x.Firing.Outcome != "held" {
			t.Errorf("%+v", x.Firing)
		}
	}
}

// TestBranchOfAProjectBeside: a worktree that is a project of its own has the branches of the repository that it belongs to, and a caged
// agent there can move them, also one that ends itself right after.
func TestBranchOfAProjectBeside(t *testing.T) {
	r := newRig(t)
	r.addProject()
	beside := filepath.Join(r.home, "src", "beside")
	r.git(r.repo, "worktree", "add", "-q", beside, "-b", "beside")
	call[api.ProjectAddResult](r, "project_add", map[string]any{"path": beside, "name": "beside"})
	open := call[api.TaskNewResult](r, "task_new", map[string]any{"name": "open", "project": "beside", "agent": "osc7501", "sandbox": "off"})
	r.live(open.Task.ID)
	c := r.cageTask("mover", "enforce", nil)
	call[api.TriggerResult](r, "trigger_add", map[string]any{"name": "moved", "kind": "branch_moved", "subject": "beside", "do": "task_send", "task": open.Task.ID, "prompt": "#write moved.txt hello"})
	time.Sleep(6 * time.Second) // until the branches were looked at once
	call[api.TaskSendResult](r, "task_send", map[string]any{"task": c.id, "prompt": "#run gone git update-ref refs/heads/beside $(git -c user.name=a -c user.email=a@example.invalid commit-tree -m moved HEAD^{tree}) && kill -9 $PPID"})
	told := r.event("branch_moved", func(e api.Happening) bool { return e.Subject == "beside" })
	if !slices.Equal(told.Event.Cages, []string{c.id}) {
		t.Errorf("%+v", told.Event)
	}
	for _, x := range told.Rules {
		if x.Matched && x.Firing.Outcome != "refused" {
			t.Errorf("%+v", x.Firing)
		}
	}
}

// TestBranchOfAProjectThatIsGranted: a caged agent that may change the folder of another project can move the branches there.
func TestBranchOfAProjectThatIsGranted(t *testing.T) {
	r := newRig(t)
	r.addProject()
	other := filepath.Join(r.home, "src", "other")
	must(t, os.MkdirAll(other, 0o755))
	r.git(other, "init", "-q", "-b", "main")
	r.git(other, "-c", "user.name=a", "-c", "user.email=a@example.invalid", "commit", "-q", "--allow-empty", "-m", "first")
	call[api.ProjectAddResult](r, "project_add", map[string]any{"path": other, "name": "other"})
	open := call[api.TaskNewResult](r, "task_new", map[string]any{"name": "open", "project": "other", "agent": "osc7501", "sandbox": "off"})
	r.live(open.Task.ID)
	c := r.cageTask("writer", "enforce", nil)
	stranger := r.cageTask("stranger", "enforce", nil)
	call[api.SandboxAllowResult](r, "sandbox_allow", map[string]any{"task": c.id, "write": other})
	call[json.RawMessage](r, "task_stop", map[string]any{"task": c.id})
	call[api.TaskTabResult](r, "task_tab", map[string]any{"task": c.id, "restart": r.tabOf(c.id)})
	c = r.cageOf(c.id)
	call[api.TriggerResult](r, "trigger_add", map[string]any{"name": "moved", "kind": "branch_moved", "subject": "main", "project": "other", "do": "task_send", "task": open.Task.ID, "prompt": "#write moved.txt hello"})
	time.Sleep(6 * time.Second) // until the branches were looked at once
	if out := c.run("git -C " + other + " -c user.name=a -c user.email=a@example.invalid commit -q --allow-empty -m moved"); !strings.Contains(out, "exit 0") {
		t.Fatal(out)
	}
	told := r.event("branch_moved", func(e api.Happening) bool { return e.Subject == "main" })
	if !slices.Equal(told.Event.Cages, []string{c.id}) {
		t.Errorf("%+v, the other cage is %s", told.Event, stranger.id)
	}
	for _, x := range told.Rules {
		if x.Matched && x.Firing.Outcome != "refused" {
			t.Errorf("%+v", x.Firing)
		}
	}
}

// TestNameThatACageTakes: a caged agent names its children as it likes. A rule that names a task never means one of them, neither when the
// task that it meant is archived, nor as a second one of that name; by its id it does.
func TestNameThatACageTakes(t *testing.T) {
	r := newRig(t)
	call[api.MCPResult](r, "mcp_enable", nil)
	r.addProject()
	meant := r.newTask("reviewer", "osc7501", "")
	r.live(meant.Task.ID)
	call[api.ScheduleResult](r, "schedule_add", map[string]any{"name": "plan", "every": "24h", "do": "task_send", "task": "reviewer", "prompt": "#write reached.txt the plan"})
	call[api.TaskArchiveResult](r, "task_archive", map[string]any{"task": meant.Task.ID})
	boss := r.cageTask("boss", "enforce", map[string]any{"mcp": true})
	child := struct{ Task api.TaskSummary }{}
	must(t, json.Unmarshal(boss.tool("task_new", map[string]any{"name": "reviewer"}).result(), &child))
	taken := r.cageOf(child.Task.ID)
	ran := call[api.ScheduleRunResult](r, "schedule_run_now", map[string]any{"name": "plan"})
	if f := ran.Firing; f.Outcome != "refused" || f.TaskID != "" || !strings.Contains(f.Detail, "caged agent made") {
		t.Errorf("%+v", f)
	}
	rule := map[string]any{"name": "by name", "every": "24h", "do": "task_send", "task": "repo/reviewer", "prompt": "#write reached.txt the plan"}
	if _, err := try[api.ScheduleResult](r, "schedule_add", rule); fault.CodeOf(err) != fault.NotFound || !strings.Contains(fault.From(err).Hint, taken.id) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(taken.path, "reached.txt")); err == nil {
		t.Error("the child was given what was for another")
	}
	root := filepath.Join(r.home, "src", "other")
	must(t, os.MkdirAll(root, 0o755))
	r.git(root, "init", "-q", "-b", "main")
	r.git(root, "-c", "user.name=a", "-c", "user.email=a@example.invalid", "commit", "-q", "--allow-empty", "-m", "first")
	call[api.ProjectAddResult](r, "project_add", map[string]any{"path": root, "name": "other"})
	call[api.TaskNewResult](r, "task_new", map[string]any{"name": "reviewer", "project": "other", "agent": "osc7501", "sandbox": "off"})
	if ran = call[api.ScheduleRunResult](r, "schedule_run_now", map[string]any{"name": "plan"}); ran.Firing.Outcome != "done" || ran.Firing.TaskID == taken.id {
		t.Errorf("a child of the same name: %+v", ran.Firing)
	}
	rule["name"], rule["task"] = "by id", taken.id
	call[api.ScheduleResult](r, "schedule_add", rule)
	if ran = call[api.ScheduleRunResult](r, "schedule_run_now", map[string]any{"name": "by id"}); ran.Firing.Outcome != "done" || ran.Firing.TaskID != taken.id {
		t.Errorf("by its id: %+v", ran.Firing)
	}
}

// TestRulesOfTheFileToken: what was made by the token of the endpoint stops when the owner replaces that, or switches the endpoint off; a
// restart alone changes nothing.
func TestRulesOfTheFileToken(t *testing.T) {
	r := newRig(t)
	r.addProject()
	call[map[string]any](r, "settings_set", map[string]any{"key": "mcp.toolsets", "value": `["operations"]`})
	task := r.newTask("Target", "osc7501", "")
	r.live(task.Task.ID)
	add := func(o outside, name string) {
		t.Helper()
		res, err := o.tool(t.Context(), "schedule_add", map[string]any{"name": name, "every": "24h", "do": "task_send", "task": task.Task.ID, "prompt": "x"})
		must(t, err)
		if res.IsError {
			t.Fatalf("%s", res.StructuredContent)
		}
	}
	stopped := func(name string) string {
		for _, s := range call[api.ScheduleListResult](r, "schedule_list", map[string]any{}).Schedules {
			if s.Name == name {
				if s.Creator != "outside" {
					t.Errorf("%+v", s)
				}
				return s.Stopped
			}
		}
		t.Fatalf("there is no %s", name)
		return ""
	}
	add(r.outside(), "one")
	r.stop()
	r.start()
	if why := stopped("one"); why != "" {
		t.Errorf("after a restart: %s", why)
	}
	call[map[string]any](r, "mcp_rotate", map[string]any{})
	if why := stopped("one"); !strings.Contains(why, "replaced") {
		t.Errorf("after a new token: %q", why)
	}
	add(r.outside(), "two")
	call[map[string]any](r, "mcp_disable", map[string]any{})
	call[map[string]any](r, "mcp_enable", map[string]any{})
	if why := stopped("two"); !strings.Contains(why, "switched off") {
		t.Errorf("after the endpoint was off: %q", why)
	}
}

// TestRulesOfANamedToken: over MCP, a trigger of a named token acts as that, sees nothing of the owner's, and ends with it.
func TestRulesOfANamedToken(t *testing.T) {
	r := newRig(t)
	r.addProject()
	r.outside()
	task := r.newTask("Target", "osc7501", "")
	r.live(task.Task.ID)
	ci := r.named("ci", "operator")
	for name, args := range map[string]map[string]any{
		"trigger_add":  {"name": "again", "kind": "task_settled", "subject": "Worker", "facts": []string{"outcome=done"}, "do": "task_send", "task": task.Task.ID, "prompt": "#write after.txt hello"},
		"schedule_add": {"name": "work", "every": "24h", "do": "task_new", "into": "repo", "taskName": "Worker", "agent": "osc7501", "prompt": "#write one.txt hello"},
	} {
		res, err := ci.tool(t.Context(), name, args)
		must(t, err)
		if res.IsError {
			t.Fatalf("%s: %s", name, res.StructuredContent)
		}
	}
	res, err := ci.tool(t.Context(), "schedule_run_now", map[string]any{"name": "work"})
	must(t, err)
	if res.IsError || !strings.Contains(string(res.StructuredContent), `"outcome":"done"`) {
		t.Fatalf("%s", res.StructuredContent)
	}
	told := r.event("task_settled", func(e api.Happening) bool { return e.Subject == "Worker" && e.Acted > 0 })
	if len(told.Rules) != 1 || told.Rules[0].Firing.Outcome != "done" || told.Event.Depth != 1 {
		t.Errorf("%+v", told)
	}
	if job := r.job(told.Rules[0].Firing.Job); job.Principal != "client:ci" || job.Face != "trigger" {
		t.Errorf("%+v", job)
	}
	r.until(task.Task.ID, "the prompt of the trigger", func(d api.TaskDetail) bool {
		_, err := os.Stat(filepath.Join(d.Path, "after.txt"))
		return err == nil
	})
	call[map[string]any](r, "token_revoke", map[string]any{"name": "ci"})
	for _, x := range call[api.TriggerListResult](r, "trigger_list", map[string]any{}).Triggers {
		if !strings.Contains(x.Stopped, "revoked") {
			t.Errorf("%s goes on: %+v", x.Name, x)
		}
	}
	for _, x := range call[api.ScheduleListResult](r, "schedule_list", map[string]any{}).Schedules {
		if !strings.Contains(x.Stopped, "revoked") || len(x.Next) != 0 {
			t.Errorf("%s goes on: %+v", x.Name, x)
		}
	}
}

// TestCircleEnds: two triggers that set each other off come to an end by themselves, and say why.
func TestCircleEnds(t *testing.T) {
	r := newRig(t)
	r.addProject()
	ids := map[string]string{}
	for _, name := range []string{"Ping", "Pong"} {
		n := r.newTask(name, "osc7501", "")
		r.live(n.Task.ID)
		ids[name] = n.Task.ID
	}
	for from, to := range map[string]string{"Ping": "Pong", "Pong": "Ping"} {
		call[api.TriggerResult](r, "trigger_add", map[string]any{"name": from + " sets off " + to, "kind": "task_settled", "subject": from, "do": "task_send", "task": ids[to], "prompt": "your turn"})
	}
	call[api.TaskSendResult](r, "task_send", map[string]any{"task": ids["Ping"], "prompt": "begin"})
	last := r.event("task_settled", func(e api.Happening) bool { return e.Depth >= 3 || e.Unacted > 0 })
	held := false
	for _, x := range last.Rules {
		held = held || x.Firing != nil && x.Firing.Outcome == "held" && x.Firing.Detail != ""
	}
	if !held {
		t.Errorf("%+v", last)
	}
	time.Sleep(12 * time.Second) // longer than the gap between two firings
	if events := call[api.EventListResult](r, "event_list", map[string]any{"kind": "task_settled"}).Events; len(events) > 8 {
		t.Errorf("it goes on: %d settlings", len(events))
	}
}
