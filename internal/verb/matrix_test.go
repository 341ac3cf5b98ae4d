package verb

import (
	"reflect"
	"strings"
	"testing"

	"termic/internal/core"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
	"termic/sandbox"
)

// matrix says what each class gets of each verb, for each target. It is written by hand from the papers and decisions:
//
//	none    the verb does not exist for the caller
//	any     it may call it; there is no target
//	reach   its handler gets to the target
//	hide    the answer is that for what does not exist, byte for byte
//	blind   it is taken, and nothing is told
//
// The columns of a scoped caller are: its own task, its own child, another task of its project, a task of a project that
// it may not act on, and what does not exist. The owner and full callers reach everything that exists. A new verb without
// a row fails.
const matrix = `
verb              owner  full   self   child  sibling foreign missing
task_list         any    any    none   none   none    none    none
task_status       reach  reach  reach  reach  hide    hide    hide
task_new          reach  reach  reach  reach  reach   hide    hide
task_send         reach  reach  reach  reach  blind   hide    hide
task_wait         reach  reach  reach  reach  hide    hide    hide
task_result       reach  reach  reach  reach  hide    hide    hide
task_log          reach  reach  reach  reach  hide    hide    hide
task_diff         reach  reach  reach  reach  hide    hide    hide
task_open         reach  reach  none   none   none    none    none
task_rename       reach  reach  none   none   none    none    none
task_apply        reach  reach  none   none   none    none    none
task_archive      reach  reach  none   none   none    none    none
task_tab          reach  reach  reach  reach  hide    hide    hide
task_tab_close    reach  reach  reach  reach  hide    hide    hide
task_agents       any    any    any    any    any     any     any
prompts           any    any    any    any    any     any     any
project_list      any    any    none   none   none    none    none
project_add       any    any    none   none   none    none    none
project_remove    any    any    none   none   none    none    none
task_restore      reach  none   none   none   none    none    none
task_signals      reach  none   none   none   none    none    none
task_race         any    none   none   none   none    none    none
health            any    any    none   none   none    none    none
job_list          any    any    none   none   none    none    none
job_get           any    any    none   none   none    none    none
job_events        any    any    none   none   none    none    none
job_log           any    any    none   none   none    none    none
job_wait          any    any    none   none   none    none    none
job_cancel        any    any    none   none   none    none    none
approval_list     any    any    none   none   none    none    none
approval_get      any    any    none   none   none    none    none
approval_decide   any    none   none   none   none    none    none
task_plan         reach  reach  none   none   none    none    none
task_drift        reach  reach  none   none   none    none    none
check_list        any    any    none   none   none    none    none
check_get         any    any    none   none   none    none    none
check_add         any    any    none   none   none    none    none
check_update      any    any    none   none   none    none    none
check_set_enabled any    any    none   none   none    none    none
check_delete      any    any    none   none   none    none    none
check_snooze      any    any    none   none   none    none    none
check_probe       any    any    none   none   none    none    none
netgroup_list     any    any    none   none   none    none    none
netgroup_add      any    any    none   none   none    none    none
netgroup_update   any    any    none   none   none    none    none
netgroup_delete   any    any    none   none   none    none    none
event_list        any    any    none   none   none    none    none
event_explain     any    any    none   none   none    none    none
trigger_list      any    any    none   none   none    none    none
trigger_add       any    any    none   none   none    none    none
trigger_update    any    any    none   none   none    none    none
trigger_delete    any    any    none   none   none    none    none
schedule_list     any    any    none   none   none    none    none
schedule_add      any    any    none   none   none    none    none
schedule_update   any    any    none   none   none    none    none
schedule_delete   any    any    none   none   none    none    none
schedule_run_now  any    any    none   none   none    none    none
hook_add          any    none   none   none   none    none    none
hook_list         any    none   none   none   none    none    none
hook_delete       any    none   none   none   none    none    none
secret_list       any    any    none   none   none    none    none
secret_set        any    none   none   none   none    none    none
secret_delete     any    none   none   none   none    none    none
token_new         any    none   none   none   none    none    none
token_list        any    none   none   none   none    none    none
token_set         any    none   none   none   none    none    none
token_revoke      any    none   none   none   none    none    none
task_stop         reach  none   none   none   none    none    none
task_sandbox      reach  none   none   none   none    none    none
sandbox_allow     reach  none   none   none   none    none    none
sandbox_groups    any    none   none   none   none    none    none
client_list       any    none   none   none   none    none    none
client_plan       any    none   none   none   none    none    none
client_register   any    none   none   none   none    none    none
client_unregister any    none   none   none   none    none    none
client_verify     any    none   none   none   none    none    none
project_settings  any    none   none   none   none    none    none
project_refs      any    none   none   none   none    none    none
project_git       any    none   none   none   none    none    none
project_find      any    none   none   none   none    none    none
project_consent   any    none   none   none   none    none    none
attach            reach  none   none   none   none    none    none
task_layout       reach  none   none   none   none    none    none
task_move         reach  none   none   none   none    none    none
task_tab_set      reach  none   none   none   none    none    none
task_tab_reopen   reach  none   none   none   none    none    none
project_move      any    none   none   none   none    none    none
window_set        any    none   none   none   none    none    none
task_drop         reach  none   none   none   none    none    none
window_link       any    none   none   none   none    none    none
path              reach  none   none   none   none    none    none
ledger            any    none   none   none   none    none    none
ledger_export     any    none   none   none   none    none    none
settings_get      any    none   none   none   none    none    none
task_queue        reach  none   none   none   none    none    none
task_stage        reach  none   none   none   none    none    none
task_discard      reach  none   none   none   none    none    none
task_commit       reach  none   none   none   none    none    none
task_edit         reach  none   none   none   none    none    none
settings_set      any    none   none   none   none    none    none
settings_reset    any    none   none   none   none    none    none
theme_list        any    none   none   none   none    none    none
mcp_status        any    none   none   none   none    none    none
mcp_enable        any    none   none   none   none    none    none
mcp_disable       any    none   none   none   none    none    none
mcp_rotate        any    none   none   none   none    none    none
quit              any    none   none   none   none    none    none
doctor            any    none   none   none   none    none    none
update_check      any    none   none   none   none    none    none
window_state      any    none   none   none   none    none    none
version           none   none   none   none   none    none    none
mcp_headers       none   none   none   none   none    none    none
completion        none   none   none   none   none    none    none
help              none   none   none   none   none    none    none
login             none   none   none   none   none    none    none
logout            none   none   none   none   none    none    none
serve             none   none   none   none   none    none    none
`

// columns of the matrix.
const (
	colOwner = iota
	colFull
	colSelf
	colChild
	colSibling
	colForeign
	colMissing
	columns
)

// rest are the arguments that a verb needs beside its target, so that a call gets as far as it may.
var rest = map[string]map[string]any{
	"task_new":          {"name": "x", "base": "main"},
	"task_send":         {"prompt": "hello"},
	"task_wait":         {"timeoutMs": 1},
	"task_rename":       {"name": "renamed"},
	"task_commit":       {"message": "x"},
	"task_tab_close":    {"tab": "no-such-tab"},
	"project_add":       {"path": "/nonexistent"},
	"project_remove":    {"name": "no-such-project"},
	"project_settings":  {"name": "no-such-project"},
	"project_move":      {"name": "no-such-project", "position": 1},
	"task_move":         {"position": 1},
	"task_layout":       {"layout": "{}"},
	"task_tab_set":      {"tab": "no-such-tab"},
	"project_refs":      {"name": "no-such-project"},
	"project_git":       {"name": "no-such-project"},
	"task_race":         {"name": "r", "project": "no-such-project", "agents": []any{"fake", "fake"}, "prompt": "x"},
	"project_consent":   {"name": "no-such-project"},
	"check_get":         {"name": "no-such-check"},
	"check_add":         {"name": "x", "kind": "tcp", "targets": []any{"192.0.2.1:1"}},
	"check_update":      {"name": "no-such-check"},
	"check_set_enabled": {"name": "no-such-check", "to": "on"},
	"check_delete":      {"name": "no-such-check"},
	"check_snooze":      {"name": "no-such-check"},
	"check_probe":       {"name": "no-such-check"},
	"netgroup_add":      {"name": "x", "members": []any{"192.0.2.1"}},
	"netgroup_update":   {"name": "no-such-netgroup"},
	"netgroup_delete":   {"name": "no-such-netgroup"},
	"sandbox_allow":     {"host": "example.com"},
	"client_plan":       {"client": "no-such-client"},
	"client_register":   {"client": "no-such-client"},
	"client_unregister": {"client": "no-such-client"},
	"client_verify":     {"client": "no-such-client"},
	"task_drop":         {"tab": "no-such-tab", "paths": []any{"/"}},
	"window_link":       {"link": "termic://new"},
	"job_get":           {"job": "no-such-job"},
	"job_events":        {"job": "no-such-job"},
	"job_log":           {"job": "no-such-job"},
	"job_wait":          {"job": "no-such-job"},
	"job_cancel":        {"job": "no-such-job"},
	"approval_get":      {"approval": "no-such-approval"},
	"approval_decide":   {"approval": "no-such-approval", "decision": "deny"},
	"event_explain":     {"event": "no-such-event"},
	"trigger_add":       {"name": "x", "kind": "webhook", "do": "task_send", "task": "no-such-task", "prompt": "x"},
	"trigger_update":    {"name": "no-such-trigger"},
	"trigger_delete":    {"name": "no-such-trigger"},
	"schedule_add":      {"name": "x", "every": "1h", "do": "task_send", "task": "no-such-task", "prompt": "x"},
	"schedule_update":   {"name": "no-such-schedule"},
	"schedule_delete":   {"name": "no-such-schedule"},
	"schedule_run_now":  {"name": "no-such-schedule"},
	"hook_add":          {"name": "ci"},
	"hook_delete":       {"name": "no-such-hook"},
	"token_new":         {"name": "ci"},
	"token_set":         {"name": "no-such-token", "scope": "readonly"},
	"token_revoke":      {"name": "no-such-token"},
	"settings_get":      {"key": "git.path"},
	"settings_set":      {"key": "terminal.font_size", "value": "13"},
	"settings_reset":    {"key": "terminal.font_size"},
}

func readMatrix(t *testing.T) map[string][columns]string {
	t.Helper()
	rows := map[string][columns]string{}
	for _, line := range strings.Split(strings.TrimSpace(matrix), "\n")[1:] {
		cells := strings.Fields(line)
		if len(cells) != columns+1 || rows[cells[0]] != [columns]string{} {
			t.Fatalf("row %q", line)
		}
		rows[cells[0]] = [columns]string(cells[1:])
	}
	return rows
}

func TestMatrixIsComplete(t *testing.T) {
	rows := readMatrix(t)
	for _, v := range All() {
		if rows[v.Name] == [columns]string{} {
			t.Errorf("%s has no row in the matrix", v.Name)
		}
		delete(rows, v.Name)
	}
	for name := range rows {
		t.Errorf("the row of %s has no verb", name)
	}
}

// TestMatrix calls every verb as every class for every target.
func TestMatrix(t *testing.T) {
	rows := readMatrix(t)
	shared := newWorld(t)
	for _, v := range All() {
		t.Run(v.Name, func(t *testing.T) {
			w := shared
			if v.Effect.Kind != Reads { // what it changes shall not be in the way of others
				w = newWorld(t)
			}
			matrixRow(t, w, &v, rows[v.Name])
		})
	}
}

func matrixRow(t *testing.T, w *world, v *Verb, want [columns]string) {
	like := w.capability(t, cage{mode: sandbox.Enforce, project: w.a, projects: []string{w.a.ID}, agents: []string{"mine"}, mcp: true})
	self, tab := w.task(t, w.a, "self "+v.Name, nil)
	w.cages.set(tab, like, like)
	w.cages.like = like // whatever is asked about is as tight, so that only the two sets decide
	me := callerOf(self, tab, w.a)
	child, _ := w.task(t, w.a, "child "+v.Name, func(t *store.Task) { t.ParentID = self.ID })
	sibling, _ := w.task(t, w.a, "sibling "+v.Name, nil)
	foreign, _ := w.task(t, w.b, "foreign "+v.Name, nil)
	targets := map[int]store.Task{colSelf: self, colChild: child, colSibling: sibling, colForeign: foreign, colMissing: {ID: missingID()}}
	for col := colOwner; col < columns; col++ {
		caller, target := me, targets[col]
		switch col {
		case colOwner:
			caller, target = grant.OwnerOn(grant.CLI), sibling
			if !v.On(grant.CLI) {
				caller = grant.OwnerOn(grant.Window)
			}
		case colFull:
			caller, target = full, child // the owner may have taken the sibling away by now
		}
		if got := w.outcome(t, v, caller, target); got != want[col] {
			t.Errorf("as %s, column %d: %s, want %s", caller.Class, col, got, want[col])
		}
	}
	for _, c := range []grant.Class{"", "other"} {
		if got := w.outcome(t, v, grant.Caller{Principal: "client:x", Face: grant.MCP, Class: c, Projects: []string{w.a.ID}, Everywhere: true}, child); got != "none" {
			t.Errorf("as %q: %s", c, got)
		}
	}
}

// targets reports whether a verb is about a task, or makes one in a project.
func targets(v *Verb) bool {
	_, is := reflect.New(v.params).Elem().Interface().(targeted)
	return is || v.Name == "task_new"
}

// outcome calls a verb for a target and says which of the words of the matrix the answer is.
func (w *world) outcome(t *testing.T, v *Verb, caller grant.Caller, target store.Task) string {
	t.Helper()
	hasTask := targets(v) && v.Name != "task_new"
	ask := func(target store.Task) (string, *fault.Error, string) {
		params := map[string]any{}
		for k, x := range rest[v.Name] {
			params[k] = x
		}
		asked := target.ID
		if v.Name == "task_new" { // its target is a project
			if asked = target.ProjectID; asked == "" {
				asked = missingID()
			}
			params["project"], params["name"] = asked, "x"+asked+string(caller.Class)+target.Name
		} else if hasTask {
			params["task"] = asked
		}
		if v.Name == "attach" {
			_, err := w.Attach(t.Context(), caller, []byte(`{"task":"`+asked+`"}`), core.AttachAs{})
			return "", fault.From(err), asked
		}
		result, f := w.call(t, caller, v.Name, params)
		return result, f, asked
	}
	before := len(w.ledger(t))
	result, f, asked := ask(target)
	rows := w.ledger(t)[before:]
	if f != nil && strings.HasPrefix(f.Message, "There is no verb") {
		return "none"
	}
	if strings.TrimSpace(result) == `{"mode":"accepted"}` {
		return "blind"
	}
	if !hasTask && v.Name != "task_new" {
		return "any"
	}
	_, missing, missingAsked := ask(store.Task{ID: missingID()})
	if f != nil && same(t, f, asked) == same(t, missing, missingAsked) {
		if caller.Class == grant.Scoped && len(rows) != 1 || rows[0].Target != "" || caller.Class == grant.Scoped && rows[0].Phase != "done" {
			t.Errorf("%s of what is hidden left %+v", v.Name, rows)
		}
		return "hide"
	}
	return "reach"
}
