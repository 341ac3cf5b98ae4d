package e2e

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"termic/internal/api"
	"termic/internal/fault"
)

// typedIn are the prompts that the agents of a task were given, in its cage and in none, and how often.
func (r *rig) typedIn(task string) (caged, free map[string]int) {
	r.t.Helper()
	read := func(path string) map[string]int {
		out := map[string]int{}
		f, err := os.Open(path)
		if os.IsNotExist(err) {
			return out
		}
		must(r.t, err)
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			var row struct{ Event, Prompt string }
			must(r.t, json.Unmarshal(s.Bytes(), &row))
			if b, err := base64.StdEncoding.DecodeString(row.Prompt); err == nil && row.Event == "" {
				out[string(b)]++
			}
		}
		return out
	}
	return read(filepath.Join(r.data, "homes", task, filepath.Base(r.logOf("osc7501")))), read(r.logOf("osc7501"))
}

// TestKilledWithPromptsOfACage kills the app with SIGKILL while prompts of a caged agent wait, for itself and for a task that it
// made. Afterwards each of them is typed once into an agent that is as tight, and never into one that is not.
func TestKilledWithPromptsOfACage(t *testing.T) {
	for what, after := range map[string]string{"as tight": "sandbox:\n  mode: enforce\n", "files alone": "sandbox:\n  mode: enforce-fs\n", "no cage": ""} {
		t.Run(what, func(t *testing.T) { killedWithPrompts(t, after, what == "as tight") })
	}
}

func killedWithPrompts(t *testing.T, after string, same bool) {
	r := newRig(t)
	r.stop()
	k := &killer{rig: r, bin: program(t)}
	k.serve()
	t.Cleanup(func() { _, _ = k.cmd.Process.Kill(), k.cmd.Wait() }) // the last one, however the test ends
	ask := func(verb string, params map[string]any, out any) error {
		t.Helper()
		return k.ask(t.Context(), verb, params, out)
	}
	var none json.RawMessage
	until := func(task, what string, ok func(api.TaskDetail) bool) {
		t.Helper()
		k.detail(task, what, ok)
	}
	must(t, ask("mcp_enable", map[string]any{}, &none))
	must(t, ask("project_add", map[string]any{"path": r.repo, "name": "repo"}, &none))
	var made api.TaskNewResult
	must(t, ask("task_new", map[string]any{"name": "boss", "project": "repo", "agent": "osc7501"}, &made))
	boss := made.Task.ID
	live := func(d api.TaskDetail) bool { return d.State == api.TaskLive && len(d.Tabs) > 0 && d.Tabs[0].Live }
	until(boss, "live", live)
	must(t, ask("task_sandbox", map[string]any{"task": boss, "mcp": true}, &none))
	must(t, ask("task_stop", map[string]any{"task": boss}, &none))
	// The cage is that of a file, so that nothing but the file changes while the app is gone.
	yaml := filepath.Join(r.repo, ".termic.yaml")
	must(t, os.WriteFile(yaml, []byte("sandbox:\n  mode: enforce\n"), 0o600))
	if err := ask("task_tab", map[string]any{"task": boss}, &none); fault.CodeOf(err) == fault.Unsupported {
		t.Skipf("NOT TESTED: this machine cannot cage a task: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	until(boss, "live", live)
	const many = 6
	own := func(i int) string { return fmt.Sprintf("#say own %d", i) }
	all := ""
	for i := range many + 1 {
		prompt := own(i - 1)
		if i == 0 {
			prompt = "#work 300s" // the others wait for it, until the kill
		}
		raw, err := json.Marshal(map[string]any{"task": boss, "prompt": prompt})
		must(t, err)
		all += "#tool sent task_send " + string(raw) + "\n"
	}
	must(t, ask("task_send", map[string]any{"task": boss, "prompt": all + "#work 1s"}, &none))
	until(boss, "full of prompts", func(d api.TaskDetail) bool {
		caged, _ := r.typedIn(boss)
		return d.Queued == many && d.WorkState == api.WorkWorking && len(caged) == 2
	})
	k.kill()
	must(t, os.WriteFile(yaml, []byte(after), 0o600))
	k.serve()
	until(boss, "ended", func(d api.TaskDetail) bool { return !d.Tabs[0].Live })
	if caged, _ := r.typedIn(boss); len(caged) != 2 {
		t.Fatalf("before the kill %v was typed", caged)
	}
	if err := ask("task_tab", map[string]any{"task": boss}, &none); fault.CodeOf(err) == fault.Unsupported {
		t.Skipf("NOT TESTED: this machine cannot cage files alone: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	until(boss, "rid of its prompts", func(d api.TaskDetail) bool { return d.Queued == 0 })
	caged, free := r.typedIn(boss)
	for i := range many {
		text := own(i)
		if n := caged[text]; n > 1 || same != (n == 1) {
			t.Errorf("%q was typed into a cage %d times", text, n)
		}
		if free[text] > 0 {
			t.Errorf("%q was typed into an agent without a cage", text)
		}
	}
}
