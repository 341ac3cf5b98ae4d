// Package sdktest lets the official Go SDK's client and the published schema judge the MCP endpoint. It is a module of
// its own, so that neither is a dependency of the product.
//
// It promises that the client negotiates the one revision without falling back, and lists and calls tools; and, where
// TERMIC_MCP_SCHEMA names the protocol's schema file, that every kind of answer fits it. It does not cover what tools do.
package sdktest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"termic/app"
	"termic/internal/api"
	"termic/internal/grant"
	"termic/internal/verb"
	"termic/mcp"
)

const patience = time.Minute

// endpoint is a whole app on a private profile, with its endpoint on.
type endpoint struct {
	url, token string
	app        *app.App
}

func start(t *testing.T) endpoint {
	t.Helper()
	home := t.TempDir()
	for k, v := range map[string]string{"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, ".config"), "XDG_DATA_HOME": filepath.Join(home, ".data"),
		"TERMIC_DATA_DIR": filepath.Join(home, "d"), "SHELL": "/bin/sh", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": filepath.Join(home, ".gitconfig")} {
		t.Setenv(k, v)
	}
	a, err := app.Open(t.Context(), app.Options{Version: "1.2.3", Face: "serve", Getenv: os.Getenv, Environ: os.Environ(), LogTo: io.Discard})
	must(t, err)
	t.Cleanup(func() { must(t, a.Close()) })
	raw, err := a.Dispatcher.Call(t.Context(), grant.OwnerOn(grant.CLI), "mcp_enable", nil, nil)
	must(t, err)
	var s api.MCPResult
	must(t, json.Unmarshal(raw, &s))
	token, err := os.ReadFile(s.TokenFile)
	must(t, err)
	return endpoint{s.URL, strings.TrimSpace(string(token)), a}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wire adds the token and writes down every request and answer.
type wire struct {
	token string
	mu    sync.Mutex
	seen  []string // METHOD rpc-method status
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+w.token)
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		w.mu.Lock()
		w.seen = append(w.seen, r.Method+" "+r.Header.Get("Mcp-Method")+" "+res.Status[:3])
		w.mu.Unlock()
	}
	return res, err
}

// connect negotiates as the SDK does.
func connect(t *testing.T, e endpoint, w *wire) (*sdk.ClientSession, error) {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	return client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: e.url, HTTPClient: &http.Client{Transport: w, Timeout: patience},
		MaxRetries: -1, DisableStandaloneSSE: true}, &sdk.ClientSessionOptions{ProtocolVersion: mcp.Revision})
}

// TestGoSDK: discover, list and call, in the one revision. The client falls back to an older one silently, so the
// negotiated revision is looked at, and so is every request.
func TestGoSDK(t *testing.T) {
	e := start(t)
	w := &wire{token: e.token}
	session, err := connect(t, e, w)
	must(t, err)
	defer session.Close()
	init := session.InitializeResult()
	if init == nil || init.ProtocolVersion != mcp.Revision || init.Capabilities == nil || init.Capabilities.Tools == nil || init.Capabilities.Tools.ListChanged || init.Instructions == "" {
		t.Fatalf("negotiated %+v", init)
	}
	list, err := session.ListTools(t.Context(), nil)
	must(t, err)
	want := 0
	for _, v := range verb.All() {
		if v.On(grant.MCP) && grant.Full.Covers(v.Class) && v.Toolset == "" { // the others are switched on in the settings
			want++
		}
	}
	if len(list.Tools) != want || list.NextCursor != "" {
		t.Errorf("%d tools, want %d; cursor %q", len(list.Tools), want, list.NextCursor)
	}
	for _, tool := range list.Tools {
		if a := tool.Annotations; a == nil || a.DestructiveHint == nil || a.OpenWorldHint == nil {
			t.Errorf("%s: annotations %+v", tool.Name, a)
		}
	}
	res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "project_list", Arguments: map[string]any{}})
	must(t, err)
	got, err := json.Marshal(res.StructuredContent)
	must(t, err)
	if res.IsError || string(got) != `{"projects":[]}` {
		t.Errorf("called: %+v %s", res, got)
	}
	res, err = session.CallTool(t.Context(), &sdk.CallToolParams{Name: "task_status", Arguments: map[string]any{"task": "x"}})
	must(t, err)
	if !res.IsError {
		t.Errorf("a refusal: %+v", res)
	}
	if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "no_such_tool", Arguments: map[string]any{}}); err == nil {
		t.Error("an unknown tool was called")
	}
	for _, line := range w.seen {
		if !strings.HasPrefix(line, "POST server/discover 200") && !strings.HasPrefix(line, "POST tools/") {
			t.Errorf("on the wire: %s", line)
		}
	}
}

// TestGoSDKWithoutToken: the client is told 401 for its discovery and for what it falls back to, and gives up.
func TestGoSDKWithoutToken(t *testing.T) {
	e := start(t)
	w := &wire{token: "wrong"}
	if session, err := connect(t, e, w); err == nil {
		t.Errorf("connected: %+v", session.InitializeResult())
	}
	for _, line := range w.seen {
		if !strings.HasSuffix(line, " 401") {
			t.Errorf("on the wire: %s", line)
		}
	}
}

// TestOldRevisionOfTheSDK: a client that asks for an older revision learns which one is spoken.
func TestOldRevisionOfTheSDK(t *testing.T) {
	e := start(t)
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	_, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: e.url, HTTPClient: &http.Client{Transport: &wire{token: e.token}}, MaxRetries: -1, DisableStandaloneSSE: true},
		&sdk.ClientSessionOptions{ProtocolVersion: "2025-06-18"})
	if err == nil || !strings.Contains(err.Error(), mcp.Revision) {
		t.Errorf("error %v", err)
	}
}

// TestSchema holds every kind of answer against the published schema.
func TestSchema(t *testing.T) {
	path := os.Getenv("TERMIC_MCP_SCHEMA")
	if path == "" {
		t.Skip("NOT TESTED: TERMIC_MCP_SCHEMA does not name the protocol's schema.json")
	}
	text, err := os.ReadFile(path)
	must(t, err)
	var whole struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	must(t, json.Unmarshal(text, &whole))
	for _, def := range []string{"DiscoverResult", "ListToolsResult", "CallToolResult", "JSONRPCErrorResponse", "HeaderMismatchError", "UnsupportedProtocolVersionError"} {
		if resolved(t, text, def).Validate(map[string]any{"other": 1}) == nil {
			t.Fatalf("%s takes anything, so it proves nothing", def)
		}
	}
	e := start(t)
	for _, c := range []struct{ def, method, params, header, body string }{
		{def: "DiscoverResult", method: "server/discover"},
		{def: "ListToolsResult", method: "tools/list"},
		{def: "CallToolResult", method: "tools/call", params: `"name":"project_list",`},
		{def: "CallToolResult", method: "tools/call", params: `"name":"task_status","arguments":{"task":"x"},`},
		{def: "JSONRPCErrorResponse", method: "tools/call", params: `"name":"nope",`},
		{def: "JSONRPCErrorResponse", method: "ping"},
		{def: "JSONRPCErrorResponse", body: `{`},
		{def: "JSONRPCErrorResponse", body: `[]`},
		{def: "HeaderMismatchError", method: "tools/list", header: "Mcp-Method"},
		{def: "UnsupportedProtocolVersionError", body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`, header: "Mcp-Protocol-Version"},
		{def: "MethodNotFoundError", method: "ping"},
		{def: "InvalidParamsError", method: "tools/call", params: `"name":"nope",`},
		{def: "ParseError", body: `{`},
		{def: "InvalidRequestError", body: `[]`},
	} {
		if whole.Defs[c.def] == nil {
			t.Errorf("the schema has no %s", c.def)
			continue
		}
		frame := e.ask(t, c.method, c.params, c.header, c.body)
		var parts struct{ Result, Error json.RawMessage }
		must(t, json.Unmarshal(frame, &parts))
		instance := frame
		switch {
		case strings.HasSuffix(c.def, "Result"):
			instance = parts.Result
		case strings.HasSuffix(c.def, "Error") && isErrorObject(whole.Defs[c.def]):
			instance = parts.Error
		}
		var v any
		must(t, json.Unmarshal(instance, &v))
		if err := resolved(t, text, c.def).Validate(v); err != nil {
			t.Errorf("%s: %v\n%s", c.def, err, frame)
		}
	}
}

// isErrorObject reports whether a definition is the error itself, not the response around it.
func isErrorObject(def json.RawMessage) bool {
	return !bytes.Contains(def, []byte(`"jsonrpc"`)) && !bytes.Contains(def, []byte(`"error"`))
}

// resolved is one definition of the schema, with the others within its reach.
func resolved(t *testing.T, text []byte, def string) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	must(t, json.Unmarshal(text, &s))
	s.Ref = "#/$defs/" + def
	r, err := s.Resolve(nil)
	must(t, err)
	return r
}

// ask sends a request with everything it needs but the header that is left out; body replaces the whole one.
func (e endpoint) ask(t *testing.T, method, params, without, body string) []byte {
	t.Helper()
	if body == "" {
		body = `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + mcp.Revision + `","io.modelcontextprotocol/clientCapabilities":{}}}}`
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, strings.NewReader(body))
	must(t, err)
	name, _, _ := strings.Cut(strings.TrimPrefix(params, `"name":"`), `"`)
	for k, v := range map[string]string{"Authorization": "Bearer " + e.token, "Content-Type": "application/json", "Mcp-Protocol-Version": mcp.Revision, "Mcp-Method": method, "Mcp-Name": name} {
		if k != without && v != "" {
			req.Header.Set(k, v)
		}
	}
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	out, err := io.ReadAll(res.Body)
	must(t, err)
	must(t, res.Body.Close())
	return out
}
