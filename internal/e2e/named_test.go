package e2e

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"termic/internal/api"
)

// named makes a token with a scope and is its client.
func (r *rig) named(name, scope string) outside {
	r.t.Helper()
	made := call[api.TokenResult](r, "token_new", map[string]any{"name": name, "scope": scope}).Token
	value, err := os.ReadFile(made.File)
	must(r.t, err)
	r.secrets.plant("the token "+name, string(value))
	return outside{r.t, made.URL, strings.TrimSpace(string(value))}
}

// TestNamedTokenEndsAWait: a wait of a named token ends with the reason when the token is narrowed and when it is revoked, and
// the next call has what the owner said last.
func TestNamedTokenEndsAWait(t *testing.T) {
	r := newRig(t)
	r.outside()
	n := r.newTask("Waits", "osc7501", "")
	call[api.TaskSendResult](r, "task_send", map[string]any{"task": n.Task.ID, "prompt": "#work 5m"})
	r.until(n.Task.ID, "working", func(d api.TaskDetail) bool { return d.WorkState == api.WorkWorking })
	o := r.named("ci", "operator")
	for _, change := range []struct {
		verb   string
		params map[string]any
	}{
		{"token_set", map[string]any{"name": "ci", "scope": "readonly"}},
		{"token_revoke", map[string]any{"name": "ci"}},
	} {
		ended := make(chan toolResult, 1)
		go func() {
			res, err := o.tool(context.Background(), "task_wait", map[string]any{"task": n.Task.ID, "timeoutMs": 300_000})
			if err != nil {
				t.Errorf("the wait: %v", err)
			}
			ended <- res
		}()
		time.Sleep(time.Second) // a read has no row before it ends, so nothing tells that the call is under way
		call[map[string]any](r, change.verb, change.params)
		select {
		case res := <-ended:
			if !res.IsError || !strings.Contains(string(res.StructuredContent), "taken back") {
				t.Errorf("%s: the wait ended with %s", change.verb, res.StructuredContent)
			}
		case <-time.After(15 * time.Second):
			t.Fatalf("%s: the wait goes on", change.verb)
		}
		_, err := o.tool(t.Context(), "task_rename", map[string]any{"task": n.Task.ID, "name": "renamed"})
		if err == nil {
			t.Errorf("%s: it still writes", change.verb)
		}
		_, err = o.tool(t.Context(), "task_list", map[string]any{})
		switch revoked := change.verb == "token_revoke"; {
		case revoked && (err == nil || err.Error() != "status 401"), !revoked && err != nil:
			t.Errorf("%s: the next read: %v", change.verb, err)
		}
	}
}
