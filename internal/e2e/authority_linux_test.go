package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/internal/api"
)

// refusalOf is what a tool call was refused with.
func (a answer) refusalOf(t *testing.T) (code, words string) {
	t.Helper()
	var frame struct {
		Result struct {
			StructuredContent struct{ Code, Message, Hint string }
			IsError           bool
		}
	}
	if err := json.Unmarshal([]byte(a.Body), &frame); err != nil || !frame.Result.IsError {
		t.Fatalf("it was not refused: %+v", a)
	}
	c := frame.Result.StructuredContent
	return c.Code, c.Message + " " + c.Hint
}

// TestWorkedExampleInCages is the first paper's example with real cages, tokens and doors: A1 may act on [A], B1 on [B, C],
// and both know the id of a task in C.
func TestWorkedExampleInCages(t *testing.T) {
	r := newRig(t)
	call[api.MCPResult](r, "mcp_enable", nil)
	r.addProject() // project A
	for _, name := range []string{"B", "C"} {
		root := filepath.Join(r.home, "src", name)
		must(t, os.MkdirAll(root, 0o755))
		r.git(root, "init", "-q", "-b", "main")
		r.git(root, "-c", "user.name=a", "-c", "user.email=a@example.invalid", "commit", "-q", "--allow-empty", "-m", "first")
		call[api.ProjectAddResult](r, "project_add", map[string]any{"path": root, "name": name})
	}
	a1 := r.cageTask("A1", "enforce", map[string]any{"mcp": true})
	b1 := r.cageTask("B1", "enforce", map[string]any{"mcp": true, "project": "B", "projects": []string{"B", "C"}})
	c1 := r.cageTask("C1", "enforce", map[string]any{"project": "C"})
	wide := r.cageTask("C2", "enforce-fs", map[string]any{"project": "C"})
	open := call[api.TaskNewResult](r, "task_new", map[string]any{"name": "C3", "project": "C", "agent": "osc7501", "sandbox": "off"})
	r.live(open.Task.ID)

	send := func(from *walled, to string) answer {
		return from.tool("task_send", map[string]any{"task": to, "prompt": "#write sent.txt hello"})
	}
	const absent = "01HZZZZZZZZZZZZZZZZZZZZZZZ"
	none := send(a1, absent)
	for what, c := range map[string]struct {
		from *walled
		to   string
	}{"A1 to C1": {a1, c1.id}, "A1 to B1": {a1, b1.id}, "B1 to A1": {b1, a1.id}, "B1 to the wider C2": {b1, wide.id}, "B1 to the uncaged C3": {b1, open.Task.ID}} {
		if got := send(c.from, c.to); strings.ReplaceAll(got.Body, c.to, "X") != strings.ReplaceAll(none.Body, absent, "X") {
			t.Errorf("%s: %s\nwhat does not exist: %s", what, got.Body, none.Body)
		}
	}
	if got := send(b1, c1.id); string(got.result()) != `{"mode":"accepted"}` {
		t.Fatalf("B1 to C1: %+v", got)
	}
	r.until(c1.id, "the prompt of B1", func(api.TaskDetail) bool {
		b, err := os.ReadFile(filepath.Join(c1.path, "sent.txt"))
		return err == nil && string(b) == "hello\n"
	})
	// A child in C has B1's cage and no more; and A1 cannot have one there.
	if code, words := a1.tool("task_new", map[string]any{"name": "x", "project": "C"}).refusalOf(t); code != "not_found" || strings.Contains(words, "B") {
		t.Errorf("A1 creates in C: %s %s", code, words)
	}
	made := struct{ Task api.TaskSummary }{}
	child := b1.tool("task_new", map[string]any{"name": "worker", "project": "C"})
	if must(t, json.Unmarshal(child.result(), &made)); made.Task.Sandbox != "enforce" || made.Task.Project != "C" {
		t.Fatalf("B1 creates in C: %+v", child)
	}
	worker := r.cageOf(made.Task.ID)
	if out := worker.run("cat '" + filepath.Join(r.home, "src", "B", ".git", "config") + "' 2>&1"); strings.Contains(out, "[core]") {
		t.Errorf("the worker reads project B: %s", out)
	}
	// An edit of the worker's cage ends its agent, and from then on B1 cannot start it.
	call[api.TaskSandboxResult](r, "task_sandbox", map[string]any{"task": worker.id, "mode": "enforce-fs"})
	if code, words := b1.tool("task_tab", map[string]any{"task": "worker"}).refusalOf(t); code != "forbidden" || !strings.Contains(words, "mode") {
		t.Errorf("B1 starts a wider worker: %s %s", code, words)
	}
	// An edit of B1's own takes its token: the next call, from a fresh terminal, has the new list.
	call[api.TaskSandboxResult](r, "task_sandbox", map[string]any{"task": b1.id, "projects": []string{"B"}})
	call[api.TaskTabResult](r, "task_tab", map[string]any{"task": b1.id})
	if got := send(r.cageOf(b1.id), c1.id); strings.ReplaceAll(got.Body, c1.id, "X") != strings.ReplaceAll(none.Body, absent, "X") {
		t.Errorf("B1 without C: %s", got.Body)
	}
}

// TestSetupOfACagedChild: the setup script that the owner agreed to runs for a child of a caged agent in the child's cage.
func TestSetupOfACagedChild(t *testing.T) {
	r := newRig(t)
	call[api.MCPResult](r, "mcp_enable", nil)
	secret := filepath.Join(r.home, "secret")
	must(t, os.WriteFile(secret, []byte("kept"), 0o600))
	boss := r.cageTask("boss", "enforce", map[string]any{"mcp": true})
	must(t, os.WriteFile(filepath.Join(r.repo, ".termic.yaml"), []byte("scripts:\n  setup: |\n    cat '"+secret+"' > setup.txt\n    echo x > '"+
		filepath.Join(r.home, "escaped")+"'\n    env >> setup.txt\n    echo done >> setup.txt\n"), 0o600))
	shown := call[api.ProjectConsentResult](r, "project_consent", map[string]any{"name": "repo"})
	call[api.ProjectConsentResult](r, "project_consent", map[string]any{"name": "repo", "digest": shown.Repo.Digest})
	made := struct{ Task api.TaskSummary }{}
	child := boss.tool("task_new", map[string]any{"name": "kid"})
	if must(t, json.Unmarshal(child.result(), &made)); made.Task.ID == "" {
		t.Fatalf("%+v", child)
	}
	d := r.live(made.Task.ID)
	var text string
	r.until(made.Task.ID, "the setup script", func(api.TaskDetail) bool {
		b, _ := os.ReadFile(filepath.Join(d.Path, "setup.txt"))
		text = string(b)
		return strings.HasSuffix(text, "done\n")
	})
	if _, err := os.Stat(filepath.Join(r.home, "escaped")); err == nil || strings.Contains(text, "kept") || strings.Contains(text, "TERMIC_MCP_TOKEN") ||
		!strings.Contains(text, "TERMIC_SANDBOX_MODE=enforce") {
		t.Errorf("the script was outside the cage: %s", text)
	}
	// The same script of a task that the owner creates is the owner's, and runs as theirs.
	mine := r.newTask("mine", "osc7501", "")
	r.until(mine.Task.ID, "the owner's setup script", func(api.TaskDetail) bool { _, err := os.Stat(filepath.Join(r.home, "escaped")); return err == nil })
}
