//go:build clients

package e2eclients

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"termic/internal/api"
	"termic/internal/fakemodel"
	"termic/mcp"
)

// helper is the shell command that gives a client the token when it connects. The path is that of a test, and holds no
// quotes. claude runs its helper again after a 401 only if the header is Authorization; with another it looks for OAuth
// and gives up. codex runs it again for either, and older ones refuse Authorization.
func helper(c client, tokenFile string) string {
	header := map[string]string{"claude": `"Authorization":"Bearer %s"`, "codex": `"X-Termic-Token":"%s"`}[c.id]
	return fmt.Sprintf(`printf '{%s}' "$(cat '%s')"`, header, tokenFile)
}

// outsideRun runs a client without Termic around it, as a person's own program that is connected to the endpoint, gives
// it one prompt and returns what it printed.
func (r *rig) outsideRun(c client, endpoint, tokenFile, prompt string) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var cmd *exec.Cmd
	switch c.id {
	case "claude":
		config := filepath.Join(r.root, "mcp.json")
		raw, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"termic": map[string]any{"type": "http", "url": endpoint, "headersHelper": helper(c, tokenFile)}}})
		r.must(err)
		r.file(config, string(raw))
		cmd = exec.CommandContext(ctx, c.command, "-p", prompt, "--strict-mcp-config", "--mcp-config", config, "--allowedTools", "mcp__termic__*")
		cmd.Env = []string{"CLAUDE_CONFIG_DIR=" + filepath.Join(r.home, "claude"), "ANTHROPIC_BASE_URL=" + r.model.URL(), "ANTHROPIC_API_KEY=" + key,
			"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
	case "codex":
		conf, err := os.ReadFile(filepath.Join(r.home, "codex", "config.toml"))
		r.must(err)
		if !strings.Contains(string(conf), "[mcp_servers.termic]") {
			r.file(filepath.Join(r.home, "codex", "config.toml"), string(conf)+fmt.Sprintf("[features]\nmcp_2026_07_28 = true\n[mcp_servers.termic]\nurl = %q\nhttp_headers_helper = %q\n", endpoint, helper(c, tokenFile)))
		}
		cmd = exec.CommandContext(ctx, c.command, "exec", "--skip-git-repo-check", prompt)
		cmd.Env = []string{"CODEX_HOME=" + filepath.Join(r.home, "codex"), "FAKE_MODEL_KEY=dummy"}
	}
	cmd.Dir = r.repo
	cmd.Env = append(cmd.Env, "HOME="+r.home, "PATH="+os.Getenv("PATH"), "TERM=xterm", "NO_PROXY=127.0.0.1,localhost")
	cmd.WaitDelay = patience / 10
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s: %v\n%s", c.id, err, out)
	}
	return string(out)
}

// A person's own client discovers the endpoint, lists its tools and calls one, and its model is given the data of the
// result. The order of its requests and the revision are looked at on the wire.
func TestOutsideClients(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		r := newRig(t, options{})
		s := call[api.MCPResult](r, "mcp_enable", nil)
		w := r.watch(s.URL)
		out := r.outsideRun(c, w.url, s.TokenFile, "CALL mcp__termic__project_list {}\nSAY seen: {{result}}")
		want := call[json.RawMessage](r, "project_list", nil)
		t.Logf("%s printed %.300q\non the wire %q", c.id, out, w.lines())
		last := r.last()
		if len(last.Results) == 0 || !strings.Contains(last.Results[len(last.Results)-1], string(want)) {
			t.Errorf("the model was given %q, which lacks the data %s", last.Results, want)
		}
		for _, method := range []string{"server/discover", "tools/list", "tools/call"} {
			if !slices.Contains(w.lines(), "POST "+mcp.Path+" "+method+" "+mcp.Revision+" 200") {
				t.Errorf("on the wire is no good %s", method)
			}
		}
		for _, line := range w.lines() {
			if !strings.HasSuffix(line, " 200") || strings.Contains(line, "initialize") {
				t.Errorf("on the wire: %s", line)
			}
		}
		t.Logf("%s reads %d bytes of tools, about %d tokens", c.id, w.listed, w.listed/4)
	})
}

// A model that asks for it drives a task from outside: the client's tool calls make the task, wait for it and read it.
func TestOutsideClientsDriveATask(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		r := newRig(t, options{})
		if c.id == "codex" { // it asks a person for every tool that changes something, and here is none
			conf := filepath.Join(r.home, "codex", "config.toml")
			text, err := os.ReadFile(conf)
			r.must(err)
			s := call[api.MCPResult](r, "mcp_enable", nil)
			r.file(conf, string(text)+fmt.Sprintf("[features]\nmcp_2026_07_28 = true\n[mcp_servers.termic]\nurl = %q\nhttp_headers_helper = %q\ndefault_tools_approval_mode = \"approve\"\n", s.URL, helper(c, s.TokenFile)))
		}
		s := call[api.MCPResult](r, "mcp_enable", nil)
		out := r.outsideRun(c, s.URL, s.TokenFile, `CALL mcp__termic__task_new {"name":"Inner","project":"repo","agent":"`+c.id+`","prompt":"SAY the inner answer"}
CALL mcp__termic__task_wait {"task":"Inner","timeoutMs":60000}
CALL mcp__termic__task_result {"task":"Inner"}
SAY it said {{result}}`)
		if !strings.Contains(out, "the inner answer") {
			t.Errorf("%s printed %q", c.id, out)
		}
		if got := r.result("Inner"); got != "the inner answer" {
			t.Errorf("the task says %q", got)
		}
		rows := call[api.LedgerResult](r, "ledger", nil).Rows
		if !slices.ContainsFunc(rows, func(row api.LedgerRow) bool {
			return row.Face == "mcp" && row.Principal == "outside" && row.Verb == "task_new" && row.Outcome == "ok"
		}) {
			t.Errorf("the ledger: %+v", rows)
		}
	})
}

// A token that was replaced while a client runs is read again: the first 401 is not the end.
func TestOutsideClientsAfterRotation(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		r := newRig(t, options{})
		s := call[api.MCPResult](r, "mcp_enable", nil)
		w := r.watch(s.URL)
		done := make(chan string, 1)
		go func() {
			done <- r.outsideRun(c, w.url, s.TokenFile, "CALL mcp__termic__project_list {}\nHOLD rotated\nCALL mcp__termic__task_agents {}\nSAY seen: {{result}}")
		}()
		r.asked("the first call's result", func(q fakemodel.Request) bool { return len(q.Results) == 1 })
		call[api.MCPResult](r, "mcp_rotate", nil)
		r.model.Release("rotated")
		out := <-done
		if !strings.Contains(out, `"agents"`) || !slices.ContainsFunc(w.lines(), func(l string) bool { return strings.HasSuffix(l, " 401") }) {
			t.Errorf("%s printed %q\non the wire %q", c.id, out, w.lines())
		}
	})
}

// watched is a proxy in front of the endpoint that writes down what goes through.
type watched struct {
	url    string
	listed int // bytes of the newest list of tools
	mu     sync.Mutex
	seen   []string
}

// watch notes what passes on its way to the endpoint.
func (r *rig) watch(endpoint string) *watched {
	r.t.Helper()
	w := &watched{}
	w.url = r.between(endpoint, func(*httputil.ProxyRequest) {}, func(res *http.Response) {
		w.mu.Lock()
		defer w.mu.Unlock()
		q := res.Request
		w.seen = append(w.seen, strings.Join([]string{q.Method, q.URL.Path, q.Header.Get("Mcp-Method"), q.Header.Get("Mcp-Protocol-Version"), res.Status[:3]}, " "))
		if q.Header.Get("Mcp-Method") == "tools/list" {
			w.listed = int(res.ContentLength)
		}
	})
	return w
}

func (w *watched) lines() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.seen)
}
