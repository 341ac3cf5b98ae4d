package verb

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/grant"
	"termic/internal/store"
	"termic/sandbox"
)

// notJobs are the writes that are no jobs, by hand: they say how something is set up or shown, or are about this app alone.
var notJobs = strings.Fields(`task_open task_edit task_tab_set task_tab_reopen task_move task_queue task_sandbox sandbox_allow project_settings project_refs
	project_consent project_move attach settings_set settings_reset mcp_enable mcp_disable mcp_rotate token_new token_set token_revoke ledger_export client_register
	client_unregister quit task_layout window_set window_link job_cancel approval_decide serve login logout
	trigger_add trigger_update trigger_delete schedule_add schedule_update schedule_delete schedule_run_now hook_add hook_delete
	check_add check_update check_set_enabled check_delete check_snooze netgroup_add netgroup_update netgroup_delete secret_set secret_delete`)

// TestJobsAreTold: every write is a job, or in the list of those that are not; and the result of each job says which it is.
func TestJobsAreTold(t *testing.T) {
	not := map[string]bool{}
	for _, name := range notJobs {
		not[name] = true
	}
	for _, v := range All() {
		writes := v.Effect.Kind != Reads
		if v.Job != (writes && !not[v.Name]) {
			t.Errorf("%s writes: %v, is a job: %v", v.Name, writes, v.Job)
		}
		if !writes && not[v.Name] {
			t.Errorf("%s is in the list and only reads", v.Name)
		}
		if !v.Job {
			continue
		}
		if f, ok := v.Result.FieldByName("Job"); !ok || f.Type.Kind() != reflect.String || f.Tag.Get("json") != "job,omitempty" {
			t.Errorf("the result of %s does not say which job it is", v.Name)
		}
	}
}

// do calls a verb that must succeed.
func do[T any](t *testing.T, w *world, c grant.Caller, verb string, params map[string]any) (out T) {
	t.Helper()
	result, f := w.call(t, c, verb, params)
	if f != nil {
		t.Fatalf("%s %v as %s: %v", verb, params, c.Principal, f)
	}
	check(t, json.Unmarshal([]byte(result), &out))
	return out
}

// TestJobOfACall: a write is one job from its beginning to its end, on every face; what it gave is with it, and a refusal too.
func TestJobOfACall(t *testing.T) {
	w := newWorld(t)
	task, _ := w.task(t, w.a, "one", nil)
	op := grant.Grant{Principal: "client:ci", Class: grant.Operator, Everywhere: true}.Caller(grant.MCP)
	raw, f := w.call(t, op, "task_rename", map[string]any{"task": task.ID, "name": "two"})
	if f != nil {
		t.Fatal(f)
	}
	var renamed api.TaskRenameResult
	check(t, json.Unmarshal([]byte(raw), &renamed))
	job := do[api.JobResult](t, w, op, "job_get", map[string]any{"job": strings.ToLower(renamed.Job)}).Job
	if job.Verb != "task_rename" || job.Principal != "client:ci" || job.Face != "mcp" || job.TaskID != task.ID || job.State != api.JobDone || job.Outcome != "ok" || job.Ended == "" {
		t.Errorf("%+v", job)
	}
	if kept, err := json.Marshal(job.Result); err != nil || !sameJSON(t, kept, []byte(raw)) {
		t.Errorf("the result is %s, was %s", kept, raw)
	}
	events := do[api.JobEventsResult](t, w, op, "job_events", map[string]any{"job": job.ID}).Events
	if len(events) != 2 || events[0].Kind != "asked" || events[0].Text != "asked by client:ci via mcp" || events[1].Kind != "ended" || events[1].Text != "done" {
		t.Errorf("%+v", events)
	}
	if _, f = w.call(t, owner, "task_rename", map[string]any{"task": task.ID, "name": "a\x00b"}); f == nil {
		t.Fatal("a bad name was taken")
	}
	list := do[api.JobListResult](t, w, owner, "job_list", map[string]any{"state": "failed"}).Jobs
	if len(list) != 1 || list[0].Outcome != string(f.Code) || !strings.Contains(list[0].Message, f.Message) || list[0].Principal != "owner" || list[0].Result != nil {
		t.Errorf("the refused one: %+v", list)
	}
	if _, f := w.call(t, op, "job_cancel", map[string]any{"job": job.ID}); f == nil || f.Code != "conflict" {
		t.Errorf("cancelling what has ended: %v", f)
	}
	before := len(do[api.JobListResult](t, w, owner, "job_list", map[string]any{}).Jobs)
	do[api.TaskListResult](t, w, op, "task_list", map[string]any{})
	if n := len(do[api.JobListResult](t, w, owner, "job_list", map[string]any{}).Jobs); n != before {
		t.Error("a read is a job")
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	check(t, json.Unmarshal(a, &x))
	check(t, json.Unmarshal(b, &y))
	return reflect.DeepEqual(x, y)
}

// TestJobsInReach: a token for a project knows of the jobs about it, its tasks, archived ones too, and of its own; of others as
// little as of one that does not exist. A caged agent is told of none.
func TestJobsInReach(t *testing.T) {
	w := newWorld(t)
	like := w.capability(t, cage{mode: sandbox.Enforce, project: w.a, projects: []string{w.a.ID}, agents: []string{"mine"}, mcp: true})
	w.cages.like = like
	mine, tab := w.task(t, w.a, "mine", nil)
	foreign, _ := w.task(t, w.b, "foreign", nil)
	one := grant.Grant{Principal: "client:one", Class: grant.Operator, Projects: []string{w.a.ID}}.Caller(grant.MCP)
	var jobs []string
	for _, target := range []store.Task{mine, foreign} {
		jobs = append(jobs, do[api.TaskRenameResult](t, w, owner, "task_rename", map[string]any{"task": target.ID, "name": "renamed " + target.Name}).Job)
	}
	_, err := w.store.UpdateTask(t.Context(), mine.ID, func(t *store.Task) error { t.ArchivedAt = t.Created; t.State = api.TaskArchived; return nil })
	check(t, err)
	list := do[api.JobListResult](t, w, one, "job_list", map[string]any{}).Jobs
	if len(list) != 1 || list[0].ID != jobs[0] {
		t.Errorf("it knows of %+v", list)
	}
	none := grant.Grant{Principal: "client:none", Class: grant.ReadOnly}.Caller(grant.MCP)
	if list := do[api.JobListResult](t, w, none, "job_list", map[string]any{}).Jobs; len(list) != 0 {
		t.Errorf("a token for nothing knows of %+v", list)
	}
	for _, verb := range []string{"job_get", "job_events", "job_log", "job_wait", "job_cancel"} {
		_, hidden := w.call(t, one, verb, map[string]any{"job": jobs[1]})
		missing := missingID()
		_, none := w.call(t, one, verb, map[string]any{"job": missing})
		if hidden == nil || hidden.Code != "not_found" || same(t, hidden, jobs[1]) != same(t, none, missing) {
			t.Errorf("%s of a hidden job: %v, of a missing one: %v", verb, hidden, none)
		}
		if verb == "job_cancel" {
			continue
		}
		if _, f := w.call(t, one, verb, map[string]any{"job": jobs[0]}); f != nil {
			t.Errorf("%s: %v", verb, f)
		}
	}
	w.cages.set(tab, like, like)
	if _, f := w.call(t, callerOf(mine, tab, w.a), "job_list", map[string]any{}); f == nil || !strings.HasPrefix(f.Message, "There is no verb") {
		t.Errorf("a caged agent lists jobs: %v", f)
	}
}
