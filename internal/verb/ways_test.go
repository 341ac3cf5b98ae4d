package verb

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
)

// noVerb reports whether a refusal says that there is no such verb.
func noVerb(err error) bool {
	f := fault.From(err)
	return f != nil && f.Code == fault.NotFound && strings.HasPrefix(f.Message, "There is no verb")
}

// TestNoOtherWayIn: what is prepared for an approval, and what a rule is to call, is looked at as strictly as a call: each verb, class and
// face that may not is told that there is no such verb, and no other is.
func TestNoOtherWayIn(t *testing.T) {
	r := newRig(t)
	bad := json.RawMessage(`{"bad":1}`)
	faces := []grant.Face{grant.Window, grant.CLI, grant.MCP, grant.Web, grant.API, grant.Trigger, grant.Schedule}
	classes := []grant.Class{grant.Owner, grant.Full, grant.Scoped, grant.ReadOnly, grant.Operator, grant.Approve, ""}
	prepared, checked := 0, 0
	for _, v := range All() {
		for _, face := range faces {
			for _, class := range classes {
				c := grant.Caller{Principal: "client:x", Face: face, Class: class, Everywhere: true}
				may := v.On(face) && v.For(class)
				waits := class == grant.Operator && v.Effect.Kind == Destroys
				_, err := r.Prepare(t.Context(), c, v.Name, bad)
				if noVerb(err) == (may && waits) {
					t.Errorf("prepare %s as %q on %s: %v", v.Name, class, face, err)
				}
				byRule := face == grant.Trigger || face == grant.Schedule
				_, err = r.Check(t.Context(), c, v.Name, bad)
				if noVerb(err) == (may && byRule && !waits) {
					t.Errorf("check %s as %q on %s: %v", v.Name, class, face, err)
				}
				if _, err = r.Act(t.Context(), c, v.Name, bad); noVerb(err) == (may && byRule) {
					t.Errorf("act %s as %q on %s: %v", v.Name, class, face, err)
				}
				if may && waits {
					prepared++
				}
				if may && byRule {
					checked++
				}
			}
		}
	}
	if prepared == 0 || checked == 0 {
		t.Errorf("%d could be prepared, %d checked: nothing was shown", prepared, checked)
	}
	operator, rule := grant.Caller{Face: grant.MCP, Class: grant.Operator, Everywhere: true}, grant.Caller{Face: grant.Trigger, Class: grant.Owner}
	if _, err := r.Prepare(t.Context(), operator, "no_such_verb", nil); !noVerb(err) {
		t.Errorf("prepare: %v", err)
	}
	if _, err := r.Check(t.Context(), rule, "no_such_verb", nil); !noVerb(err) {
		t.Errorf("check: %v", err)
	}
	if _, err := r.Act(t.Context(), rule, strings.Repeat("x", 80), nil); !noVerb(err) || strings.Contains(fault.From(err).Message, strings.Repeat("x", 65)) {
		t.Errorf("act: %v", err)
	}
}

// TestTheCurrentFolder: it names a task only for verbs that say so and only where no task is named, and only the one verb that can do
// without a task goes on without.
func TestTheCurrentFolder(t *testing.T) {
	w := newWorld(t)
	tree, elsewhere := filepath.Join(w.dir, "tree", "one"), filepath.Join(w.dir, "elsewhere")
	check(t, os.MkdirAll(filepath.Join(tree, "sub"), 0o755))
	check(t, os.MkdirAll(elsewhere, 0o755))
	task, _ := w.task(t, w.a, "one", func(v *store.Task) { v.Path = tree })
	for _, c := range []struct {
		verb   string
		params map[string]any
		want   string // of the target, or a code
	}{
		{"path", map[string]any{"cwd": filepath.Join(tree, "sub")}, task.ID},
		{"path", map[string]any{"cwd": elsewhere}, "not_found"},
		{"path", map[string]any{}, "invalid_argument"},
		{"path", map[string]any{"task": "missing", "cwd": tree}, "not_found"},
		{"task_status", map[string]any{"cwd": tree}, task.ID},
		{"task_status", map[string]any{"cwd": elsewhere}, "not_found"},
		{"task_open", map[string]any{"cwd": tree}, task.ID},
		{"task_open", map[string]any{"cwd": elsewhere}, ""},
		{"task_open", map[string]any{}, ""},
		{"task_open", map[string]any{"task": "one"}, task.ID},
		{"task_open", map[string]any{"task": "missing"}, "not_found"},
		{"task_open", map[string]any{"task": "missing", "cwd": tree}, "not_found"},
		{"task_open", map[string]any{"project": "A"}, "invalid_argument"},
		{"task_open", map[string]any{"project": "A", "cwd": elsewhere}, "invalid_argument"},
	} {
		_, f := w.call(t, owner, c.verb, c.params)
		rows := w.ledger(t)
		last := rows[len(rows)-1]
		if f != nil && string(f.Code) != c.want || f == nil && last.Target != c.want {
			t.Errorf("%s %v: %v, target %q; want %q", c.verb, c.params, f, last.Target, c.want)
		}
	}
}

// TestAskedRowsNameTheirTarget: whoever reads the ledger sees what a write was about before it ended.
func TestAskedRowsNameTheirTarget(t *testing.T) {
	w := newWorld(t)
	task, _ := w.task(t, w.a, "one", nil)
	if _, f := w.call(t, owner, "task_rename", map[string]any{"task": "one", "name": "two"}); f != nil {
		t.Fatal(f)
	}
	rows := w.ledger(t)
	if len(rows) != 2 {
		t.Fatalf("%+v", rows)
	}
	for i, phase := range []string{"asked", "done"} {
		if rows[i].Phase != phase || rows[i].Target != task.ID {
			t.Errorf("%+v, want %s of %s", rows[i], phase, task.ID)
		}
	}
}

// TestANewTaskIsTheTargetOfItsRow: what a call is about is known only when it was made.
func TestANewTaskIsTheTargetOfItsRow(t *testing.T) {
	w := newWorld(t)
	out, f := w.call(t, owner, "task_new", map[string]any{"name": "fresh", "project": "A", "agent": "mine", "sandbox": "off"})
	if f != nil {
		t.Fatal(f)
	}
	var result struct{ Task struct{ ID string } }
	check(t, json.Unmarshal([]byte(out), &result))
	w.settle(t)
	for _, x := range w.ledger(t) {
		if want := map[string]string{"done": result.Task.ID}[x.Phase]; x.Verb == "task_new" && x.Target != want {
			t.Errorf("%+v, want the target %q", x, want)
		}
	}
}

// TestRefusedBeforeTheVerb: what a presenter stopped is one row for all of it, without a word of what was asked for.
func TestRefusedBeforeTheVerb(t *testing.T) {
	r := newRig(t)
	for _, times := range []int{1, 2, 300} {
		r.Refused(t.Context(), full, fault.New(fault.InvalidArgument, "The body is bad"), times)
	}
	want := row{"done", "outside", "mcp", "unknown", "", "invalid_argument", ""}
	for i, shape := range []string{"", "times:2", "times:300"} {
		if want.Shape = shape; r.ledger(t)[i] != want {
			t.Errorf("%+v, want %+v", r.ledger(t)[i], want)
		}
	}
}

// TestAJobOutlivesItsCaller: whoever asked for a task and went away while it was made finds in the job what was made.
func TestAJobOutlivesItsCaller(t *testing.T) {
	w := newWorld(t)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	var created string
	raw := json.RawMessage(`{"name":"fresh","project":"A","agent":"mine","sandbox":"off","wait":true}`)
	_, err := w.Call(ctx, owner, "task_new", raw, func(e api.Event) {
		if e.Task != nil && created == "" {
			created = e.Task.ID
			leave()
		}
	})
	if err == nil || created == "" {
		t.Fatalf("task %q, %v", created, err)
	}
	w.settle(t)
	jobs := do[api.JobListResult](t, w, owner, "job_list", map[string]any{}).Jobs
	if len(jobs) != 1 || jobs[0].TaskID != created {
		t.Fatalf("%+v", jobs)
	}
	job := do[api.JobResult](t, w, owner, "job_get", map[string]any{"job": jobs[0].ID}).Job
	kept, err := json.Marshal(job.Result)
	check(t, err)
	var result api.TaskNewResult
	if err := json.Unmarshal(kept, &result); err != nil || result.Task.ID != created || result.Job != job.ID {
		t.Errorf("the job keeps %s, %v; want the task %s", kept, err, created)
	}
}
