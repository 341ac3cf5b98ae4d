package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"termic/app/webface"
	"termic/internal/api"
	"termic/internal/cli"
	"termic/internal/control"
	"termic/internal/datadir"
	"termic/internal/grant"
	"termic/internal/verb"
	"termic/mcp"
)

// seen is one call as the dispatcher got it.
type seen struct {
	caller grant.Caller
	verb   string
	params string
}

// faces are the three ways in, all of them real, before one dispatcher.
type faces struct {
	t      *testing.T
	dir    string // of the socket
	page   *httptest.Server
	mcpURL string
	token  string

	mu    sync.Mutex // guards the following
	calls []seen
}

func newFaces(t *testing.T) *faces {
	t.Helper()
	f := &faces{t: t}
	r := newRig(t)
	d, c := r.app.Dispatcher, r.app.Core
	d.TestOnlySpy(func(c grant.Caller, verb string, params json.RawMessage) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.calls = append(f.calls, seen{c, verb, string(params)})
	})
	log := slog.New(slog.DiscardHandler)
	var err error
	f.dir, err = os.MkdirTemp("", "faces") // the path of a socket must be short
	must(t, err)
	socket, err := control.Listen(t.Context(), control.Options{Dir: f.dir, Backend: overSocket{d}, Version: "1", Log: log, Enabled: func() bool { return true }})
	must(t, err)
	t.Cleanup(func() {
		must(t, socket.Close())
		must(t, os.RemoveAll(f.dir))
	})
	window := webface.New(webface.ForOwner(d, c), webface.Options{Log: log})
	f.page = httptest.NewServer(window)
	t.Cleanup(func() { window.Close(); f.page.Close() })
	tokens := grant.NewRegistry()
	token, err := tokens.Mint(grant.Grant{Principal: "outside", Class: grant.Full})
	must(t, err)
	f.token = token.Reveal()
	server := mcp.New(mcp.Options{Backend: d, Log: log, Authorize: tokens.Lookup})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	f.mcpURL = "http://" + l.Addr().String() + mcp.Path
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() { must(t, server.Close()); must(t, <-served) })
	return f
}

type overSocket struct{ d *verb.Dispatcher }

func (b overSocket) Call(ctx context.Context, c grant.Caller, name string, params json.RawMessage, emit func(api.Event)) (json.RawMessage, error) {
	return b.d.Call(ctx, c, name, params, emit)
}
func (b overSocket) Attach(context.Context, grant.Caller, json.RawMessage, control.AttachAs) (control.Attachment, error) {
	return nil, io.ErrUnexpectedEOF // no test attaches
}

// cli runs the command line as a person would, in a folder that is no task's.
func (f *faces) cli(words ...string) []byte {
	f.t.Helper()
	var out, errs bytes.Buffer
	env := map[string]string{datadir.EnvVar: f.dir}
	cli.Run(f.t.Context(), cli.Env{Args: append([]string{"--json"}, words...), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Getenv: func(k string) string { return env[k] }, Dir: filepath.Join(f.dir, "nowhere"), Version: "1"})
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// post sends JSON and returns the body of the answer.
func (f *faces) post(url string, body any, header map[string]string) []byte {
	f.t.Helper()
	raw, err := json.Marshal(body)
	must(f.t, err)
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(raw))
	must(f.t, err)
	req.Header.Set("Content-Type", "application/json")
	for k, v := range header {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	must(f.t, err)
	out, err := io.ReadAll(res.Body)
	must(f.t, err)
	must(f.t, res.Body.Close())
	return out
}

// window calls as the page does.
func (f *faces) window(verb string, params any) []byte {
	var answer struct{ Data, Error json.RawMessage }
	must(f.t, json.Unmarshal(f.post(f.page.URL+webface.Prefix+"call", map[string]any{"verb": verb, "params": params}, nil), &answer))
	return append(answer.Data, answer.Error...)
}

// mcp calls a tool as a client does, and returns what a model is given.
func (f *faces) mcp(verb string, params any) []byte {
	body := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": verb, "arguments": params,
		"_meta": map[string]any{"io.modelcontextprotocol/protocolVersion": mcp.Revision, "io.modelcontextprotocol/clientCapabilities": map[string]any{}}}}
	var frame struct {
		Result struct{ StructuredContent json.RawMessage }
	}
	must(f.t, json.Unmarshal(f.post(f.mcpURL, body, map[string]string{"Authorization": "Bearer " + f.token, "MCP-Protocol-Version": mcp.Revision,
		"Mcp-Method": "tools/call", "Mcp-Name": verb}), &frame))
	return frame.Result.StructuredContent
}

// TestOneCallOnEveryFace: the window, the command line and MCP give the dispatcher the same verb and the same
// parameters, each with its own caller, and pass on the same bytes of a result.
func TestOneCallOnEveryFace(t *testing.T) {
	f := newFaces(t)
	for _, c := range []struct {
		cli    string
		verb   string
		params map[string]any
	}{
		{"list --project web -q", "task_list", map[string]any{"project": "web", "quiet": true}},
		{"status fix --project web", "task_status", map[string]any{"task": "fix", "project": "web"}},
		{"new fix --project web -p hello --agent claude --base main --mode worktree --wait --timeout 1m30s --idempotency-key k", "task_new",
			map[string]any{"name": "fix", "project": "web", "prompt": "hello", "agent": "claude", "base": "main", "mode": "worktree", "wait": true, "timeoutMs": 90000, "idempotency_key": "k"}},
		{"send fix run the tests --tab 2", "task_send", map[string]any{"task": "fix", "prompt": "run the tests", "tab": "2"}},
		{"wait fix --timeout 5", "task_wait", map[string]any{"task": "fix", "timeoutMs": 5000}},
		{"result fix", "task_result", map[string]any{"task": "fix"}},
		{"logs fix --last-bytes 10 --plain", "task_log", map[string]any{"task": "fix", "lastBytes": 10, "plain": true}},
		{"diff fix --full", "task_diff", map[string]any{"task": "fix", "full": true}},
		{"open fix", "task_open", map[string]any{"task": "fix"}},
		{"rename fix --name fox", "task_rename", map[string]any{"task": "fix", "name": "fox"}},
		{"apply fix -y", "task_apply", map[string]any{"task": "fix"}},
		{"archive fix --discard --delete-branch -y", "task_archive", map[string]any{"task": "fix", "discard": true, "deleteBranch": true}},
		{"tab fix --kind agent --agent codex -p hi", "task_tab", map[string]any{"task": "fix", "kind": "agent", "agentId": "codex", "prompt": "hi"}},
		{"tab close fix --tab 2 -y", "task_tab_close", map[string]any{"task": "fix", "tab": "2", "allowDefault": true}},
		{"agents", "task_agents", map[string]any{}},
		{"prompts", "prompts", map[string]any{}},
		{"project list", "project_list", map[string]any{}},
		{"project add /no/such/folder --non-git", "project_add", map[string]any{"path": "/no/such/folder", "nonGit": true}},
		{"project remove web --discard -y", "project_remove", map[string]any{"name": "web", "discard": true}},
	} {
		f.mu.Lock()
		f.calls = nil
		f.mu.Unlock()
		results := [][]byte{f.cli(strings.Fields(c.cli)...), f.window(c.verb, c.params), f.mcp(c.verb, c.params)}
		if len(f.calls) != 3 {
			t.Errorf("%s: the dispatcher saw %d calls: %v", c.verb, len(f.calls), f.calls)
			continue
		}
		for i, want := range []grant.Caller{grant.OwnerOn(grant.CLI), grant.OwnerOn(grant.Window), {Principal: "outside", Face: grant.MCP, Class: grant.Full}} {
			var params map[string]any
			must(t, json.Unmarshal([]byte(f.calls[i].params), &params))
			delete(params, "cwd") // only the command line has a current folder
			var wanted map[string]any
			raw, err := json.Marshal(c.params)
			must(t, err)
			must(t, json.Unmarshal(raw, &wanted))
			if !reflect.DeepEqual(f.calls[i].caller, want) || f.calls[i].verb != c.verb || !reflect.DeepEqual(params, wanted) {
				t.Errorf("%s on %s: %+v", c.verb, want.Face, f.calls[i])
			}
		}
		ok := !bytes.Contains(results[1], []byte(`"code"`))
		if ok && (!bytes.Equal(results[0], results[1]) || !bytes.Equal(results[1], results[2])) || results[2] == nil {
			t.Errorf("%s:\nCLI    %s\nwindow %s\nMCP    %s", c.verb, results[0], results[1], results[2])
		}
	}
}
