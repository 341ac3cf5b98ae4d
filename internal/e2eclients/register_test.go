//go:build clients

package e2eclients

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/fakemodel"
	"termic/internal/tomledit"
)

// oddFolder is a data folder whose name no careless quoting survives. It is short, as a path of a socket has to be.
const oddFolder = `d o'b "$x" é数`

// loginShell makes the rig's user one who has both clients in their PATH, with homes of their own: their login shell says
// so, which is where the app learns it, once.
func (r *rig) loginShell() {
	r.t.Helper()
	r.file(filepath.Join(r.home, ".profile"), fmt.Sprintf("export PATH='%s':\"$PATH\" CLAUDE_CONFIG_DIR='%s' CODEX_HOME='%s'\nexport %s\n",
		filepath.Dir(clients[0].command), filepath.Join(r.home, "claude"), filepath.Join(r.home, "codex"),
		"DISABLE_AUTOUPDATER=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"))
}

// configFile is where a client keeps what it knows of servers.
func (r *rig) configFile(c client) string {
	return filepath.Join(r.home, c.id, map[string]string{"claude": ".claude.json", "codex": "config.toml"}[c.id])
}

func (r *rig) read(path string) string {
	r.t.Helper()
	b, err := os.ReadFile(path)
	r.must(err)
	return string(b)
}

// personRun starts a client as its person does, with nothing said of Termic, gives it one prompt and returns what it
// printed. It is safe for another goroutine: what fails is in the error.
func (r *rig) personRun(c client, prompt string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var cmd *exec.Cmd
	switch c.id {
	case "claude":
		cmd = exec.CommandContext(ctx, c.command, "-p", prompt, "--allowedTools", "mcp__termic__*")
	case "codex":
		cmd = exec.CommandContext(ctx, c.command, "exec", "--skip-git-repo-check", prompt)
	}
	cmd.Env = []string{"CLAUDE_CONFIG_DIR=" + filepath.Join(r.home, "claude"), "ANTHROPIC_BASE_URL=" + r.model.URL(), "ANTHROPIC_API_KEY=" + key,
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CODEX_HOME=" + filepath.Join(r.home, "codex"), "FAKE_MODEL_KEY=dummy",
		"HOME=" + r.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm", "NO_PROXY=127.0.0.1,localhost"}
	cmd.Dir = r.repo
	cmd.WaitDelay = patience / 10
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%s: %w\n%s", c.id, err, out)
	}
	return string(out), nil
}

// register registers a client and fails unless it would then connect.
func (r *rig) register(c client, act string, more map[string]any) api.ClientWriteResult {
	r.t.Helper()
	p := map[string]any{"client": c.id}
	for k, v := range more {
		p[k] = v
	}
	w := call[api.ClientWriteResult](r, "client_register", p)
	if w.Act != act || !w.Client.OK || w.Verify == nil || !w.Verify.OK {
		r.t.Fatalf("registered, wanted %s: %+v verified %+v", act, w, w.Verify)
	}
	return w
}

func (r *rig) client(c client) api.ClientState {
	r.t.Helper()
	all := call[api.ClientListResult](r, "client_list", nil).Clients
	return all[slices.IndexFunc(all, func(s api.ClientState) bool { return s.ID == c.id })]
}

// called are the calls that came from outside so far, oldest first.
func (r *rig) called() []string {
	r.t.Helper()
	var out []string
	for _, row := range call[api.LedgerResult](r, "ledger", nil).Rows {
		if row.Face == "mcp" {
			out = append(out, row.Principal+" "+row.Verb+" "+row.Outcome)
		}
	}
	slices.Sort(out)
	return out
}

// nowhere fails if a token is in any file of the test's other than those that are to hold it.
func (r *rig) nowhere(token string) {
	r.t.Helper()
	r.must(filepath.WalkDir(r.root, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Base(path) == "mcp-token" {
			return nil // a client that runs makes and removes files
		}
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), token) {
			r.t.Errorf("the token is in %s", path)
		}
		return nil
	}))
}

// meaning is a client's configuration without our entry and the keys that the client counts and remembers in by itself.
func (r *rig) meaning(c client, text string) map[string]any {
	r.t.Helper()
	out := map[string]any{}
	if c.id == "codex" {
		m, err := tomledit.Decode([]byte(text))
		r.must(err)
		return m
	}
	r.must(json.Unmarshal([]byte(text), &out))
	return out
}

// wantKept fails unless everything that was in a client's configuration means the same in what it is now, and nothing of
// ours is left in it.
func (r *rig) wantKept(c client, before, after string) {
	r.t.Helper()
	was, now := r.meaning(c, before), r.meaning(c, after)
	for name, value := range was {
		if !keeps(now[name], value) {
			r.t.Errorf("%s of %s was %v and became %v", name, c.id, value, now[name])
		}
	}
	for _, ours := range []string{"mcp-token", "headersHelper", "http_headers_helper", "mcp_2026_07_28", "X-Termic"} {
		if strings.Contains(after, ours) {
			r.t.Errorf("%s is left in\n%s", ours, after)
		}
	}
	var added []string
	for name := range now {
		if _, ok := was[name]; !ok {
			added = append(added, name)
		}
	}
	slices.Sort(added)
	r.t.Logf("%s itself added %q", c.id, added)
}

// keeps reports whether a value still holds all of another. A client adds to tables of its own, such as its projects.
func keeps(now, was any) bool {
	a, ok1 := now.(map[string]any)
	b, ok2 := was.(map[string]any)
	if !ok1 || !ok2 {
		return tomledit.Equal(now, was)
	}
	for name, value := range b {
		if !keeps(a[name], value) {
			return false
		}
	}
	return true
}

// One registration, made once, and then: a session of the client's calls a tool, the token is replaced, the same session
// calls another, the app starts again, and the same session calls a third. The data folder's name is an odd one. After a
// move to another port the registration is told to be stale, is repaired, and works. Unregistered, the client's
// configuration means what it meant.
func TestRegisteredClientGoesOn(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		r := newRig(t, options{data: oddFolder, person: true})
		r.withOthers(c)
		s := call[api.MCPResult](r, "mcp_enable", nil)
		_, err := r.personRun(c, "SAY hello") // what the client changes in its file at its first start is not ours
		r.must(err)
		before := r.read(r.configFile(c))
		r.register(c, "add", nil)
		r.nowhere(strings.TrimSpace(r.read(s.TokenFile)))

		type end struct {
			out string
			err error
		}
		done := make(chan end, 1)
		go func() {
			out, err := r.personRun(c, `CALL mcp__termic__project_list {}
HOLD rotated
CALL mcp__termic__task_agents {}
HOLD restarted
CALL mcp__termic__task_list {}
SAY seen: {{result}}`)
			done <- end{out, err}
		}()
		r.asked("the first result", func(q fakemodel.Request) bool { return len(q.Results) == 1 })
		call[api.MCPResult](r, "mcp_rotate", nil)
		r.nowhere(strings.TrimSpace(r.read(s.TokenFile)))
		r.model.Release("rotated")
		r.asked("the second result", func(q fakemodel.Request) bool { return len(q.Results) == 2 })
		r.must(r.app.Close())
		r.start()
		r.model.Release("restarted")
		e := <-done
		if e.err != nil {
			t.Fatal(e.err)
		}
		if !strings.Contains(e.out, `{"tasks":[]`) {
			t.Errorf("%s printed %q", c.id, e.out)
		}
		if got, want := r.called(), []string{"outside project_list ok", "outside task_agents ok", "outside task_list ok"}; !slices.Equal(got, want) {
			t.Errorf("called %q, want %q\nthe model saw %q", got, want, r.last().Results)
		}

		call[api.MCPResult](r, "mcp_enable", map[string]any{"newPort": true})
		st := r.client(c)
		if st.OK || len(st.Stale) != 1 || !strings.Contains(st.Stale[0], "The endpoint is at port") {
			t.Errorf("after a move: %+v", st)
		}
		v := call[api.ClientReport](r, "client_verify", map[string]any{"client": c.id})
		t.Logf("verify says %q %q, list says %q", v.Summary, v.Hint, st.Stale)
		if v.OK || !strings.Contains(v.Summary, "the entry says") || v.Hint == "" {
			t.Errorf("verify after a move: %+v", v)
		}
		r.register(c, "repair", nil)
		out, err := r.personRun(c, "CALL mcp__termic__project_list {}\nSAY again: {{result}}")
		if err != nil || !strings.Contains(out, `{"projects":[{`) {
			t.Errorf("after the repair %s printed %q, %v", c.id, out, err)
		}

		call[api.ClientWriteResult](r, "client_unregister", map[string]any{"client": c.id})
		r.wantKept(c, before, r.read(r.configFile(c)))
		if st := r.client(c); st.Registered {
			t.Errorf("after unregistering: %+v", st)
		}
		if out, err := r.personRun(c, "SAY without: {{result}}"); err != nil || len(r.tools("termic")) != 0 {
			t.Errorf("unregistered, %s printed %q, %v, and has %q", c.id, out, err, r.tools("termic"))
		}
	})
}

// tools are those on offer to the model in its newest conversation that have a word in their names.
func (r *rig) tools(word string) []string {
	r.t.Helper()
	return slices.DeleteFunc(slices.Clone(r.last().Tools), func(name string) bool { return !strings.Contains(name, word) })
}

// withOthers fills a client's configuration with what else a person has in it.
func (r *rig) withOthers(c client) {
	r.t.Helper()
	file := r.configFile(c)
	text := r.read(file)
	if c.id == "codex" {
		r.file(file, "# mine, to be kept\n"+text+"\n[mcp_servers.\"other one\"] # off\ncommand = \"true\"\nenabled = false")
		return
	}
	m := r.meaning(c, text)
	m["mine"] = []any{"kept", 1.5, nil}
	m["mcpServers"] = map[string]any{"other": map[string]any{"type": "stdio", "command": "/bin/false", "args": []any{"a b"}}}
	raw, err := json.Marshal(m)
	r.must(err)
	r.file(file, string(raw))
}

// Codex's file, which only we write while no Codex runs, is the same to the byte after a registration, a look, a repair
// and the removal. The copies beside it are for their owner alone.
func TestCodexFileComesBackToTheByte(t *testing.T) {
	c := clients[slices.IndexFunc(clients, func(c client) bool { return c.id == "codex" })]
	for name, text := range map[string]string{
		"plain": "%s", "windows": "\ufeff# mine\r\n%s\r\n[tui]\r\nx = 1\r\n", "switch": "%s[features]\nother = true # kept\nmcp_2026_07_28 = false # off\n",
		"inline": "features = { other = true }\n%s", "no newline": "%s\n[mcp_servers.x]\ncommand = \"y\"",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, options{data: oddFolder, person: true})
			call[api.MCPResult](r, "mcp_enable", nil)
			file := r.configFile(c)
			before := fmt.Sprintf(text, r.read(file))
			r.file(file, before)
			w := r.register(c, "add", nil)
			if out := r.codexReads(c); !strings.Contains(out, `"http_headers_helper": "<redacted>"`) || !strings.Contains(out, `"tool_timeout_sec": 600`) {
				t.Errorf("codex reads %s", out)
			}
			if st, err := os.Stat(w.Backup); err != nil || st.Mode().Perm() != 0o600 || r.read(w.Backup) != before {
				t.Errorf("the copy %q: %v, %v", w.Backup, st, err)
			}
			call[api.MCPResult](r, "mcp_enable", map[string]any{"newPort": true})
			r.register(c, "repair", nil)
			call[api.ClientWriteResult](r, "client_unregister", map[string]any{"client": c.id})
			if after := r.read(file); after != before {
				t.Errorf("it was\n%q and is\n%q", before, after)
			}
		})
	}
}

// codexReads is what codex says of our entry. It reads the file and connects to nothing.
func (r *rig) codexReads(c client) string {
	r.t.Helper()
	out, err := r.codex(c, "mcp", "get", "termic", "--json")
	if err != nil {
		r.t.Fatalf("codex mcp get: %v\n%s", err, out)
	}
	return out
}

// An entry of the same name in a narrower scope, made by the client's own command or by a file of the project, is told.
func TestShadowsAreTold(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		r := newRig(t, options{person: true})
		call[api.MCPResult](r, "mcp_enable", nil)
		r.register(c, "add", nil)
		want := []string{"project"}
		switch c.id {
		case "claude":
			for _, scope := range []string{"local", "project"} {
				cmd := exec.CommandContext(t.Context(), c.command, "mcp", "add-json", "termic", `{"type":"http","url":"http://127.0.0.1:1/mcp"}`, "--scope", scope)
				cmd.Dir = r.repo
				cmd.Env = []string{"HOME=" + r.home, "PATH=" + os.Getenv("PATH"), "CLAUDE_CONFIG_DIR=" + filepath.Join(r.home, "claude"), "DISABLE_AUTOUPDATER=1"}
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("claude mcp add-json --scope %s: %v\n%s", scope, err, out)
				}
			}
			want = []string{"local", "project"}
		case "codex":
			r.must(os.MkdirAll(filepath.Join(r.repo, ".codex"), 0o700))
			r.file(filepath.Join(r.repo, ".codex", "config.toml"), "[mcp_servers.termic]\nurl = \"http://127.0.0.1:1/mcp\"\n")
		}
		st := r.client(c)
		var scopes []string
		for _, s := range st.Shadows {
			scopes = append(scopes, s.Scope)
			t.Logf("%s", s.Words)
			if !strings.Contains(s.Words, r.repo) {
				t.Errorf("%+v does not say where", s)
			}
		}
		if slices.Sort(scopes); !slices.Equal(scopes, want) || st.OK {
			t.Errorf("%s is told of %q, want %q, ok %v", c.id, scopes, want, st.OK)
		}
		v := call[api.ClientReport](r, "client_verify", map[string]any{"client": c.id})
		if !v.OK || len(v.Notes) != len(want) {
			t.Errorf("verify: %+v", v)
		}
	})
}
