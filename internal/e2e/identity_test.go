package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/core"
	"termic/internal/fault"
	"termic/internal/grant"
)

// inShell types a line into a terminal tab, waits until it has written the file, and returns what that holds.
func (r *rig) inShell(task, tab, line, file string) string {
	r.t.Helper()
	raw, err := json.Marshal(map[string]any{"task": task, "tab": tab})
	must(r.t, err)
	a, err := r.app.Dispatcher.Attach(context.Background(), grant.OwnerOn(grant.CLI), raw, core.AttachAs{})
	must(r.t, err)
	defer a.Close("detached")
	must(r.t, a.Write(context.Background(), []byte(line+" > '"+file+".tmp' && mv '"+file+".tmp' '"+file+"'\r")))
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) { // no event tells of a file
		if b, err := os.ReadFile(file); err == nil {
			return strings.TrimSpace(string(b))
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%s was not written", file)
		}
	}
}

// TestRevokedTokenEndsAWait: what a terminal asked for ends with the terminal. Its wait is answered with the reason, and
// its token opens nothing afterwards, while the one of another terminal of the same task goes on.
func TestRevokedTokenEndsAWait(t *testing.T) {
	r := newRig(t)
	o := r.outside()
	n := r.newTask("Waits", "osc7501", "")
	call[api.TaskSendResult](r, "task_send", map[string]any{"task": n.Task.ID, "prompt": "#work 5m"})
	r.until(n.Task.ID, "working", func(d api.TaskDetail) bool { return d.WorkState == api.WorkWorking })
	var shells []outside
	var tabs []string
	for i := range 2 {
		tab := call[api.TaskTabResult](r, "task_tab", map[string]any{"task": n.Task.ID, "kind": "terminal"}).TabID
		token := r.inShell(n.Task.ID, tab, `echo "$TERMIC_MCP_TOKEN"`, filepath.Join(r.home, "token"+tab))
		if len(token) != 64 || i == 1 && token == shells[0].token {
			t.Fatalf("the token of shell %d is %q", i, token)
		}
		shells, tabs = append(shells, outside{t, o.url, token}), append(tabs, tab)
	}
	ended := make(chan toolResult, 1)
	go func() {
		res, err := shells[0].tool(context.Background(), "task_wait", map[string]any{"task": n.Task.ID, "timeoutMs": 300_000})
		if err != nil {
			t.Errorf("the wait: %v", err)
		}
		ended <- res
	}()
	// A read has no row before it ends, so that the call is under way shows only by its not being over.
	select {
	case res := <-ended:
		t.Fatalf("the wait is over: %s", res.StructuredContent)
	case <-time.After(200 * time.Millisecond):
	}
	call[api.TaskTabCloseResult](r, "task_tab_close", map[string]any{"task": n.Task.ID, "tab": tabs[0]})
	res := <-ended
	if !res.IsError || !strings.Contains(string(res.StructuredContent), `"code":"`+string(fault.Forbidden)+`"`) {
		t.Errorf("the wait was answered with %s", res.StructuredContent)
	}
	req, err := http.NewRequest(http.MethodPost, o.url, nil)
	must(t, err)
	req.Header.Set("X-Termic-Token", shells[0].token)
	gone, err := http.DefaultClient.Do(req)
	must(t, err)
	must(t, gone.Body.Close())
	if gone.StatusCode != http.StatusUnauthorized {
		t.Errorf("the token of a closed tab: %s", gone.Status)
	}
	if got := use[api.TaskStatusResult](shells[1], "task_status", map[string]any{"task": n.Task.ID}); got.Task.WorkState != api.WorkWorking {
		t.Errorf("another terminal sees %+v", got.Task)
	}
	rows := call[api.LedgerResult](r, "ledger", map[string]any{"task": n.Task.ID}).Rows
	var waits int
	for _, row := range rows {
		if row.Verb == "task_wait" && row.Principal == "task:"+n.Task.ID && row.Outcome == string(fault.Forbidden) {
			waits++
		}
	}
	if waits != 1 {
		t.Errorf("the ledger has %d of the wait: %+v", waits, rows)
	}
}
