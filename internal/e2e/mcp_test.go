package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/mcp"
)

// outside is a client of the MCP endpoint, as a program outside would write one.
type outside struct {
	t     *testing.T
	url   string
	token string
}

// outside switches the endpoint on and reads the token from its file.
func (r *rig) outside() outside {
	r.t.Helper()
	s := call[api.MCPResult](r, "mcp_enable", nil)
	token, err := os.ReadFile(s.TokenFile)
	must(r.t, err)
	r.secrets.plant("the token of the endpoint", string(token))
	return outside{r.t, s.URL, strings.TrimSpace(string(token))}
}

// toolResult is what a tool call gives.
type toolResult struct {
	Content           []struct{ Type, Text string }
	StructuredContent json.RawMessage
	IsError           bool
}

// request is a call of a tool as it goes over the wire.
func (o outside) request(ctx context.Context, name string, args map[string]any) (*http.Request, error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": map[string]any{"name": name, "arguments": args,
		"_meta": map[string]any{"io.modelcontextprotocol/protocolVersion": mcp.Revision, "io.modelcontextprotocol/clientCapabilities": map[string]any{}}}})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.url, strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	for k, v := range map[string]string{"X-Termic-Token": o.token, "Content-Type": "application/json", "MCP-Protocol-Version": mcp.Revision, "Mcp-Method": "tools/call", "Mcp-Name": name} {
		req.Header.Set(k, v)
	}
	return req, nil
}

// tool calls a tool; ctx ends the connection.
func (o outside) tool(ctx context.Context, name string, args map[string]any) (toolResult, error) {
	o.t.Helper()
	req, err := o.request(ctx, name, args)
	must(o.t, err)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return toolResult{}, err
	}
	defer func() { _ = res.Body.Close() }() // read to its end below
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return toolResult{}, err
	}
	if len(text) == 0 {
		return toolResult{}, fmt.Errorf("status %d", res.StatusCode)
	}
	var frame struct {
		Result toolResult
		Error  *struct{ Message string }
	}
	must(o.t, json.Unmarshal(text, &frame))
	if frame.Error != nil {
		return toolResult{}, fmt.Errorf("status %d: %s", res.StatusCode, frame.Error.Message)
	}
	return frame.Result, nil
}

// use calls a tool that must succeed.
func use[T any](o outside, name string, args map[string]any) T {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	res, err := o.tool(ctx, name, args)
	must(o.t, err)
	if res.IsError {
		o.t.Fatalf("%s %v: %s", name, args, res.StructuredContent)
	}
	var out T
	must(o.t, json.Unmarshal(res.StructuredContent, &out))
	return out
}

// TestOutsideClient is the job that the endpoint is for: a client creates a task, prompts it, waits for it and reads
// what it did, and afterwards takes it over and away.
func TestOutsideClient(t *testing.T) {
	r := newRig(t)
	o := r.outside()
	p := use[api.ProjectAddResult](o, "project_add", map[string]any{"path": r.repo})
	before := time.Now()
	n := use[api.TaskNewResult](o, "task_new", map[string]any{"name": "From outside", "project": p.Project.ID, "agent": "osc7501", "prompt": "first prompt, é\nsecond line"})
	if n.Task.ID == "" || time.Since(before) > 20*time.Second {
		t.Errorf("accepted after %v: %+v", time.Since(before), n)
	}
	w := use[api.TaskWaitResult](o, "task_wait", map[string]any{"task": n.Task.ID})
	if w.Outcome != api.OutcomeDone {
		t.Fatalf("wait: %+v", w)
	}
	s := use[api.TaskSendResult](o, "task_send", map[string]any{"task": "from outside", "prompt": "third", "wait": true})
	if s.Wait == nil || s.Wait.Outcome != api.OutcomeDone {
		t.Errorf("send: %+v", s)
	}
	if got := r.received("osc7501"); len(got) != 2 || got[0] != "first prompt, é\nsecond line" || got[1] != "third" {
		t.Errorf("the agent got %q", got)
	}
	status := use[api.TaskStatusResult](o, "task_status", map[string]any{"task": n.Task.ID})
	must(t, os.WriteFile(status.Task.Path+"/new.txt", []byte("made\n"), 0o600))
	d := use[api.TaskDiffResult](o, "task_diff", map[string]any{"task": n.Task.ID, "full": true})
	if d.Untracked != 1 || !strings.Contains(d.Diff, "+made") {
		t.Errorf("diff: %+v", d)
	}
	if l := use[api.TaskLogResult](o, "task_log", map[string]any{"task": n.Task.ID, "plain": true}); l.Data == "" {
		t.Error("the log is empty")
	}
	tab := use[api.TaskTabResult](o, "task_tab", map[string]any{"task": n.Task.ID, "kind": "shell"})
	use[api.TaskTabCloseResult](o, "task_tab_close", map[string]any{"task": n.Task.ID, "tab": tab.TabID})
	// What would be lost is told, and consent is asked for, as everywhere.
	refusal, err := o.tool(t.Context(), "task_archive", map[string]any{"task": n.Task.ID})
	must(t, err)
	if !refusal.IsError || !strings.Contains(string(refusal.StructuredContent), string(fault.NeedsConsent)) {
		t.Errorf("archive: %s", refusal.StructuredContent)
	}
	use[api.TaskApplyResult](o, "task_apply", map[string]any{"task": n.Task.ID})
	if b, err := os.ReadFile(r.repo + "/new.txt"); err != nil || string(b) != "made\n" {
		t.Errorf("applied %q, %v", b, err)
	}
	use[api.TaskArchiveResult](o, "task_archive", map[string]any{"task": n.Task.ID, "discard": true})
	for _, row := range call[api.LedgerResult](r, "ledger", map[string]any{"task": n.Task.ID}).Rows {
		if row.Face == "mcp" && row.Principal != "outside" || strings.Contains(row.Shape, "first prompt") {
			t.Errorf("ledger: %+v", row)
		}
	}
}

// TestOutsideWaits: a wait ends with its own limit, and with its client; what was sent stays sent.
func TestOutsideWaits(t *testing.T) {
	r := newRig(t)
	o := r.outside()
	n := r.newTask("Waits", "osc7501", "")
	start := time.Now()
	w := use[api.TaskSendResult](o, "task_send", map[string]any{"task": n.Task.ID, "prompt": "#work 5m", "wait": true, "timeoutMs": 300}).Wait
	if w == nil || w.Outcome != api.OutcomeTimeout || time.Since(start) > 30*time.Second {
		t.Errorf("after %v: %+v", time.Since(start), w)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := o.tool(ctx, "task_wait", map[string]any{"task": n.Task.ID})
		ended <- err
	}()
	r.until(n.Task.ID, "working", func(d api.TaskDetail) bool { return d.WorkState == api.WorkWorking })
	cancel()
	if err := <-ended; err == nil {
		t.Error("a wait was answered though its client went away")
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) { // the ledger tells nobody
		rows := call[api.LedgerResult](r, "ledger", map[string]any{"task": n.Task.ID}).Rows
		done := false
		for _, row := range rows {
			done = done || row.Verb == "task_wait" && row.Face == "mcp" && row.Outcome == string(fault.Unavailable)
		}
		if done {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the wait goes on: %+v", rows)
		}
	}
	if got := r.received("osc7501"); len(got) != 1 {
		t.Errorf("the agent got %q", got)
	}
}

// TestSlowCreationAnswersAtOnce: clients give a tool call half a minute, and a hook of the user may take longer. The call
// answers while the worktree is still being made, and the prompt arrives once it is.
func TestSlowCreationAnswersAtOnce(t *testing.T) {
	r := newRig(t)
	o := r.outside()
	p := use[api.ProjectAddResult](o, "project_add", map[string]any{"path": r.repo})
	gate := t.TempDir() + "/gate"
	hook := fmt.Sprintf("#!/bin/sh\nuntil [ -e '%s' ]; do sleep 0.05; done\n", gate)
	must(t, os.WriteFile(r.repo+"/.git/hooks/post-checkout", []byte(hook), 0o755))
	n := use[api.TaskNewResult](o, "task_new", map[string]any{"name": "slow", "project": p.Project.ID, "agent": "osc7501", "prompt": "go"})
	// Nothing but this test opens the gate, so an answer that came at all did not wait for the hook.
	s := use[api.TaskStatusResult](o, "task_status", map[string]any{"task": n.Task.ID})
	if s.Task.State != api.TaskCreating {
		t.Errorf("the task is %s before its hook has ended", s.Task.State)
	}
	must(t, os.WriteFile(gate, nil, 0o600))
	if w := use[api.TaskWaitResult](o, "task_wait", map[string]any{"task": n.Task.ID}); w.Outcome != api.OutcomeDone {
		t.Errorf("wait: %+v", w)
	}
	if got := r.received("osc7501"); len(got) != 1 || got[0] != "go" {
		t.Errorf("the agent got %q", got)
	}
}
