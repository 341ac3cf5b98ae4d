package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
)

// TestPromptOutlivesItsCage: what a caged agent let wait for itself is not typed into the agent that comes after it with a
// looser cage or with none, when its own was that of a .termic.yaml which asks for less now.
func TestPromptOutlivesItsCage(t *testing.T) {
	for what, after := range map[string]string{"no cage": "", "files alone": "sandbox:\n  mode: enforce-fs\n"} {
		t.Run(what, func(t *testing.T) { outlives(t, after) })
	}
}

func outlives(t *testing.T, after string) {
	r := newRig(t)
	call[api.MCPResult](r, "mcp_enable", nil)
	n := r.newTask("boss", "osc7501", "")
	call[api.TaskSandboxResult](r, "task_sandbox", map[string]any{"task": n.Task.ID, "mcp": true})
	call[json.RawMessage](r, "task_stop", map[string]any{"task": n.Task.ID})
	yaml := filepath.Join(r.repo, ".termic.yaml")
	must(t, os.WriteFile(yaml, []byte("sandbox:\n  mode: enforce\n"), 0o600))
	call[json.RawMessage](r, "task_tab", map[string]any{"task": n.Task.ID})
	boss := r.cageOf(n.Task.ID)
	send := func(file, prompt string) string {
		raw, err := json.Marshal(map[string]any{"task": boss.id, "prompt": prompt})
		must(t, err)
		return "#tool " + file + " task_send " + string(raw) + "\n"
	}
	const many = 10 // an agent that cannot take up its conversation takes some with it
	all := send("a", "#work 50s")
	for range many {
		all += send("b", "#run escaped true")
	}
	call[api.TaskSendResult](r, "task_send", map[string]any{"task": boss.id, "prompt": all + "#work 1s"})
	r.until(boss.id, "full of prompts", func(d api.TaskDetail) bool { return d.Queued == many && d.WorkState == api.WorkWorking })
	must(t, os.WriteFile(yaml, []byte(after), 0o600))
	call[json.RawMessage](r, "task_stop", map[string]any{"task": boss.id})
	if _, err := try[json.RawMessage](r, "task_tab", map[string]any{"task": boss.id}); fault.CodeOf(err) == fault.Unsupported {
		t.Skipf("NOT TESTED: this machine cannot cage files alone: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	r.until(boss.id, "rid of its prompts", func(d api.TaskDetail) bool { return d.Queued == 0 })
	time.Sleep(3 * time.Second)
	if _, err := os.Stat(filepath.Join(boss.path, "escaped")); err == nil {
		t.Error("an agent with a looser cage took what a tighter one had sent")
	}
	if got := r.received("osc7501"); len(got) > 0 { // what is received in a cage is not in this log
		t.Errorf("an agent without a cage took %q", got)
	}
}
