//go:build clients

package e2eclients

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/fakemodel"
)

// broken puts an entry of the same name into a client's own settings, with an old token in it, and with a header command
// that fails as it would in a cage: the file with the token cannot be read there.
func (r *rig) broken(c client, endpoint string) {
	r.t.Helper()
	switch c.id {
	case "claude":
		path := filepath.Join(r.home, "claude", ".claude.json")
		raw, err := os.ReadFile(path)
		r.must(err)
		var conf map[string]any
		r.must(json.Unmarshal(raw, &conf))
		conf["mcpServers"] = map[string]any{"termic": map[string]any{"type": "http", "url": endpoint, "headersHelper": "cat /no/such/token", "headers": map[string]string{"X-Termic-Token": "old"}}}
		raw, err = json.Marshal(conf)
		r.must(err)
		r.file(path, string(raw))
	case "codex":
		path := filepath.Join(r.home, "codex", "config.toml")
		text, err := os.ReadFile(path)
		r.must(err)
		r.file(path, string(text)+fmt.Sprintf("[mcp_servers.termic]\nurl = %q\nhttp_headers_helper = \"cat /no/such/token\"\nhttp_headers = { X-Termic-Token = \"old\" }\n", endpoint))
	}
}

// ownArgs are what a person may have written as arguments of the clients, in the place of ours. The first lets claude use
// the tools without asking; the second leaves out what the recipe of codex says about its background server, and says the
// opposite.
var ownArgs = map[string][]string{"claude": {"--allowedTools", "mcp__termic__*"}, "codex": {"-c", "features.daemon_auto_start=true"}}

// Two tasks of one client at once are each connected without any set-up, in the place of a broken entry of the same name,
// and each is itself: the ledger names the task that called, and a task that asks about the other is told apart from it.
func TestTasksPresentTheirOwnToken(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		r := newRig(t, options{connect: true, args: ownArgs})
		s := call[api.MCPResult](r, "mcp_enable", nil)
		r.broken(c, s.URL)
		names := []string{"Left", "Right"}
		ids := map[string]string{}
		// Both are up, and have connected, before either calls a tool: the second must not go through the first.
		for _, name := range names {
			call[api.TaskNewResult](r, "task_new", map[string]any{"name": name, "project": "repo", "agent": c.id, "prompt": "HOLD both\nCALL mcp__termic__task_status {\"task\":\"" + name + "\"}\nSAY " + name + " saw {{result}}"})
		}
		for _, name := range names {
			r.asked(name, func(q fakemodel.Request) bool { return strings.Contains(q.Prompt(), "SAY "+name) })
			ids[name] = r.idOf(name)
		}
		tokens := r.tokens()
		if len(tokens) != len(names) {
			t.Errorf("the running clients hold %d tokens", len(tokens))
		}
		r.model.Release("both")
		for _, name := range names {
			w := call[api.TaskWaitResult](r, "task_wait", map[string]any{"task": ids[name], "timeoutMs": patience.Milliseconds()})
			if w.Outcome != api.OutcomeDone {
				t.Fatalf("%s: %+v\n%s", name, w, r.screen(ids[name]))
			}
			if got := r.result(ids[name]); !strings.HasPrefix(got, name+" saw ") || !strings.Contains(got, ids[name]) {
				t.Errorf("result of %s: %q", name, got)
			}
		}
		called := map[string][]string{}
		for _, row := range call[api.LedgerResult](r, "ledger", nil).Rows {
			if row.Face == "mcp" {
				called[row.Principal] = append(called[row.Principal], row.Verb+" "+row.Target+" "+row.Outcome)
			}
		}
		for _, name := range names {
			if got := called["task:"+ids[name]]; !slices.Contains(got, "task_status "+ids[name]+" ok") || len(got) != 1 {
				t.Errorf("%s called %q", name, got)
			}
		}
		if len(called) != 2 {
			t.Errorf("the endpoint was called by %v", called)
		}
		r.unwritten(c, s.URL)
		for _, text := range append(processesWith(r.root), r.log.String()) {
			for token := range tokens {
				if strings.Contains(text, token) {
					t.Errorf("a token is in an argument or the log: %.300q", text)
				}
			}
		}
	})
}

// tokens are those that the programs of the test's folder hold in their environments.
func (r *rig) tokens() map[string]bool {
	out := map[string]bool{}
	environs, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is well-formed
	for _, path := range environs {
		env, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(env), r.root) {
			continue // gone, or another user's
		}
		for _, line := range strings.Split(string(env), "\x00") {
			if token, ok := strings.CutPrefix(line, "TERMIC_MCP_TOKEN="); ok {
				out[token] = true
			}
		}
	}
	return out
}

// unwritten fails if the spawn has left anything about the endpoint in the client's own settings, beside what broken put
// there.
func (r *rig) unwritten(c client, endpoint string) {
	r.t.Helper()
	file := map[string]string{"claude": ".claude.json", "codex": "config.toml"}[c.id]
	text, err := os.ReadFile(filepath.Join(r.home, c.id, file))
	r.must(err)
	if n := strings.Count(string(text), endpoint); n != 1 || strings.Contains(string(text), "TERMIC_MCP") || strings.Count(string(text), "cat /no/such/token") != 1 {
		r.t.Errorf("%s now holds\n%s", file, text)
	}
}

// While the endpoint does not serve, an agent starts as it always did, and knows nothing of it.
func TestNothingToConnectTo(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		r := newRig(t, options{connect: true})
		n := r.newTask("Alone", c, "SAY hello")
		r.wantDone("first", n.Wait)
		if lines := strings.Join(processesWith(r.root), "\n"); len(r.tokens()) != 0 || !strings.Contains(lines, c.command) || strings.Contains(lines, "mcp_servers") || strings.Contains(lines, "--mcp-config") {
			t.Errorf("it was told: %s", lines)
		}
	})
}

// Codex starts a background server for every task of one CODEX_HOME, and what it is told of the first goes for the
// second. A person who connects it by an entry of their own, with arguments of their own, still sees each task be itself:
// what keeps that server away is not among what they can replace.
func TestCodexServerIsNotShared(t *testing.T) {
	i := slices.IndexFunc(clients, func(c client) bool { return c.id == "codex" })
	c := clients[i]
	r := newRig(t, options{args: map[string][]string{"codex": {}}})
	s := call[api.MCPResult](r, "mcp_enable", nil)
	path := filepath.Join(r.home, "codex", "config.toml")
	text, err := os.ReadFile(path)
	r.must(err)
	r.file(path, string(text)+fmt.Sprintf("[features]\nmcp_2026_07_28 = true\ndaemon_auto_start = true\n[mcp_servers.termic]\nurl = %q\nenv_http_headers = { X-Termic-Token = \"TERMIC_MCP_TOKEN\" }\n", s.URL))
	names := []string{"Left", "Right"}
	ids := map[string]string{}
	for _, name := range names {
		ids[name] = r.newTask(name, c, "").Task.ID
		r.until(ids[name], "up", func(d api.TaskDetail) bool { return len(d.Tabs) > 0 && d.Tabs[0].Live })
		r.showing(ids[name], "›") // its field: the server is up now, if there is one
	}
	for _, name := range names {
		r.wantDone(name, r.send(ids[name], "CALL mcp__termic__task_status {\"task\":\""+name+"\"}\nSAY saw {{result}}", nil).Wait)
	}
	for _, row := range call[api.LedgerResult](r, "ledger", nil).Rows {
		if row.Face == "mcp" && (row.Principal != "task:"+row.Target || row.Outcome != "ok") {
			t.Errorf("task %s called as %s: %s", row.Target, row.Principal, row.Outcome)
		}
	}
	if left := strings.Join(processesWith(r.root), "\n"); strings.Contains(left, "app-server") {
		t.Errorf("a background server runs:\n%s", left)
	}
}
