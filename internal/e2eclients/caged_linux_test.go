//go:build clients

package e2eclients

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/fault"
)

// A real client in a cage, with no set-up at all: it reads its tools, creates a caged worker of its own kind, sends to it,
// waits and reads the result. Everything else is refused. The model is at an address that its own rule allows, since the
// loopback of a cage is its own.
func TestCagedClientsDriveCagedTasks(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		r := newRig(t, options{model: "127.0.0.2:0"})
		s := call[api.MCPResult](r, "mcp_enable", nil)
		r.broken(c, s.URL)
		model, err := url.Parse(r.model.URL())
		r.must(err)
		call[json.RawMessage](r, "project_settings", map[string]any{"name": "repo", "hosts": []string{model.Host}})
		n, err := try[api.TaskNewResult](r, "task_new", map[string]any{"name": "Boss", "project": "repo", "agent": c.id, "sandbox": "enforce", "mcp": true,
			"wait": true, "timeoutMs": patience.Milliseconds(), "prompt": `CALL mcp__termic__task_new {"name":"Worker","prompt":"SAY the worker's answer"}
CALL mcp__termic__task_wait {"task":"Worker","timeoutMs":50000}
CALL mcp__termic__task_send {"task":"Worker","prompt":"SAY the second answer","wait":true,"timeoutMs":50000}
CALL mcp__termic__task_result {"task":"Worker"}
SAY it said {{result}}`})
		if fault.CodeOf(err) == fault.Unsupported {
			t.Skipf("NOT TESTED: this machine cannot cage a task: %v", err)
		}
		r.must(err)
		r.wantDone("boss", n.Wait)
		if got := r.result(n.Task.ID); !strings.Contains(got, "the second answer") {
			t.Errorf("the boss says %q\n%s", got, r.screen(n.Task.ID))
		}
		worker := call[api.TaskStatusResult](r, "task_status", map[string]any{"task": "Worker"}).Task
		if worker.Sandbox != "enforce" || worker.Cage == nil || len(worker.Cage.Hosts) != 1 {
			t.Errorf("the worker: %+v", worker)
		}
		for _, refused := range []string{"mcp__termic__task_list {}", `mcp__termic__task_archive {"task":"Worker"}`} {
			sent := r.send(n.Task.ID, "CALL "+refused+"\nSAY then {{result}}", map[string]any{"wait": true, "timeoutMs": patience.Milliseconds()})
			r.wantDone(refused, sent.Wait)
		}
		for _, row := range call[api.LedgerResult](r, "ledger", nil).Rows {
			if row.Face == "mcp" && row.Principal == "task:"+n.Task.ID && (row.Verb == "task_list" || row.Verb == "task_archive") && row.Outcome == "ok" {
				t.Errorf("a refused tool ran: %+v", row)
			}
		}
		raw, err := json.Marshal(call[api.TaskStatusResult](r, "task_status", map[string]any{"task": n.Task.ID}).Task.Denials)
		r.must(err)
		t.Logf("%s asked for hosts that its cage refused: %s", c.id, raw)
	})
}
