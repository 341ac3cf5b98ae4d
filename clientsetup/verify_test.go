package clientsetup

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// endpoint answers as ours does, or in some other way.
type endpoint struct {
	*httptest.Server
	calls  atomic.Int32
	listed chan struct{}                                   // gets a value when the tools were listed
	answer func(w http.ResponseWriter, method string) bool // true: it has answered
}

func (r *rig) endpoint() *endpoint {
	e := &endpoint{listed: make(chan struct{}, 1)}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		e.calls.Add(1)
		var body struct {
			JSONRPC, Method string
			ID              json.RawMessage
			Params          struct {
				Meta map[string]any `json:"_meta"`
			}
		}
		text, _ := io.ReadAll(req.Body)
		h := req.Header
		if json.Unmarshal(text, &body) != nil || req.URL.Path != "/mcp" || h.Get("MCP-Protocol-Version") != Revision || h.Get("Mcp-Method") != body.Method ||
			h.Get("Content-Type") != "application/json" || !strings.Contains(h.Get("Accept"), "text/event-stream") || h.Get("Origin") != "" ||
			body.Params.Meta["io.modelcontextprotocol/protocolVersion"] != Revision || body.Params.Meta["io.modelcontextprotocol/clientCapabilities"] == nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if e.answer != nil && e.answer(w, body.Method) {
			return
		}
		if h.Get(TokenHeader) != someToken && h.Get("Authorization") != "Bearer "+someToken {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		const meta = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"termic","version":"1.2.3"}}`
		switch body.Method {
		case "server/discover":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private",%s}}`, body.ID, meta)
		case "tools/list":
			select {
			case e.listed <- struct{}{}:
			default:
			}
			const schema = `"inputSchema":{"type":"object"}`
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","tools":[{"name":"a",%s},{"name":"b",%s}],"ttlMs":0,"cacheScope":"private",%s}}`, body.ID, schema, schema, meta)
		}
	}))
	r.Cleanup(e.Close)
	r.entry.URL = e.URL + "/mcp"
	r.put(r.entry.TokenFile, someToken+"\n")
	return e
}

func (r *rig) verify(id string) Report {
	r.Helper()
	rep, err := r.place.Verify(context.Background(), id, r.entry)
	r.must(err)
	return rep
}

// wantBad checks that Verify failed in one step with these words.
func (r *rig) wantBad(rep Report, step string, words ...string) {
	r.Helper()
	last := rep.Steps[len(rep.Steps)-1]
	if rep.OK || last.OK || last.Name != step || rep.Summary != last.Words {
		r.Errorf("%+v", rep)
	}
	for _, w := range words {
		if !strings.Contains(rep.Summary+" "+rep.Hint, w) {
			r.Errorf("no %q in %q, %q", w, rep.Summary, rep.Hint)
		}
	}
}

func TestVerifyEachWayOfReadingTheToken(t *testing.T) {
	for _, id := range []string{"codex", "claude", "opencode", "windsurf"} {
		r := newClaude(t)
		r.endpoint()
		r.wantBad(r.verify(id), "entry", "has no entry")
		r.register(id)
		rep := r.verify(id)
		if !rep.OK || rep.Tools != 2 || rep.Server != "Termic 1.2.3" || !strings.Contains(rep.Summary, "2 tools") || len(rep.Steps) != 4 {
			t.Errorf("%s: %+v", id, rep)
		}
	}
}

// A proxy for everything must not get the token. The standard one spares loopback anyway; ours does not ask.
func TestVerifyAsksNoProxy(t *testing.T) {
	if tr, ok := loopbackClient().Transport.(*http.Transport); !ok || tr.Proxy != nil {
		t.Error("there is a proxy")
	}
	r := newRig(t)
	r.endpoint()
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
		r.place.Environ = append(r.place.Environ, name+"=http://127.0.0.1:9")
	}
	r.register("codex")
	if rep := r.verify("codex"); !rep.OK {
		t.Errorf("%+v", rep)
	}
}

func TestVerifySaysWhatIsWrong(t *testing.T) {
	r := newRig(t)
	e := r.endpoint()
	r.register("codex")
	have := r.entry

	r.entry.URL = "http://127.0.0.1:1/mcp"
	r.wantBad(r.verify("codex"), "entry", "port 1", "Register again")
	r.entry = have
	r.entry.TokenFile = "/elsewhere/mcp-token"
	r.wantBad(r.verify("codex"), "entry", "another data folder")
	if e.calls.Load() != 0 {
		t.Error("a token went to an address that is not ours any more")
	}
	r.entry = have

	r.must(os.Remove(r.entry.TokenFile))
	r.wantBad(r.verify("codex"), "command", "ended with 1", "no token in "+r.entry.TokenFile, "Start Termic")
	r.put(r.entry.TokenFile, strings.Repeat("f", 64))
	r.wantBad(r.verify("codex"), "discover", "401")
	r.put(r.entry.TokenFile, someToken)

	for _, tt := range []struct {
		status int
		body   string
		step   string
		words  []string
	}{
		{400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no","data":{"supported":["2025-11-25"]}}}`, "discover", []string{"2025-11-25", Revision}},
		{200, `{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2099-01-01"],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"termic"}}}}`, "discover", []string{"2099-01-01"}},
		{200, `{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"other\u001b[31m"}}}}`, "discover", []string{"another server, other"}},
		{200, `<html>`, "discover", []string{"not Termic (status 200)"}},
		{404, ``, "discover", []string{"not Termic (status 404)"}},
		{302, ``, "discover", []string{"not Termic (status 302)"}},
		{400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"bad\nthing"}}`, "discover", []string{"-32600", "bad thing"}},
		{200, strings.Repeat(" ", maxAnswer) + "{}", "discover", []string{"not Termic"}},
	} {
		e.answer = func(w http.ResponseWriter, _ string) bool {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, tt.body)
			return true
		}
		rep := r.verify("codex")
		r.wantBad(rep, tt.step, tt.words...)
		if strings.ContainsAny(rep.Summary, "\x1b\n") {
			t.Errorf("%q", rep.Summary)
		}
	}
	e.answer = func(w http.ResponseWriter, method string) bool {
		if method == "tools/list" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		return method == "tools/list"
	}
	r.wantBad(r.verify("codex"), "list", "status 500")

	e.Close()
	r.wantBad(r.verify("codex"), "connect", "Nothing answers", "not running")
}

func TestVerifyOfSomethingThatAcceptsAndIsSilent(t *testing.T) {
	r := newRig(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	r.must(err)
	t.Cleanup(func() { _ = l.Close() })
	r.entry.URL = "http://" + l.Addr().String() + "/mcp"
	r.put(r.entry.TokenFile, someToken)
	r.register("codex")
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		if c, err := l.Accept(); err == nil {
			cancel()
			_ = c.Close()
		}
	}()
	rep, err := r.place.Verify(ctx, "codex", r.entry)
	if err == nil {
		t.Error("a call that was stopped has no error")
	}
	r.wantBad(rep, "connect", "does not answer")
}

// The command sees what the client gives it, no more.
func TestVerifyRunsTheCommandAsTheClientDoes(t *testing.T) {
	for id, want := range map[string][2]string{"codex": {"", "/home"}, "claude": {"yes termic ", "/home"}} {
		r := newClaude(t)
		r.endpoint()
		out := filepath.Join(r.place.Home, "seen")
		binary := filepath.Join(r.bin, "termic")
		r.must(os.WriteFile(binary, []byte("#!/bin/sh\n{ echo \"$MINE $CLAUDE_CODE_MCP_SERVER_NAME $TERMIC_DATA_DIR\"; pwd; } >'"+out+"'\necho '{\""+TokenHeader+"\":\""+someToken+"\"}'\n"), 0o755))
		r.place.Environ = append(r.place.Environ, "MINE=yes")
		url := r.entry.URL
		var err error
		r.entry, err = r.entry.ByTermic(binary)
		r.must(err)
		r.entry.URL = url
		r.register(id)
		if rep := r.verify(id); !rep.OK {
			t.Errorf("%s: %+v", id, rep)
		}
		lines := strings.Split(strings.TrimSpace(r.get(out)), "\n")
		if got := strings.TrimSpace(lines[0]); got != strings.TrimSpace(want[0]+r.entry.Folder) || !strings.HasSuffix(lines[1], want[1]) {
			t.Errorf("%s: %q", id, lines)
		}
	}
}

func TestVerifyOfCommandsThatMisbehave(t *testing.T) {
	r := newRig(t)
	r.endpoint()
	binary := filepath.Join(r.bin, "termic")
	var err error
	url := r.entry.URL
	r.entry, err = r.entry.ByTermic(binary)
	r.must(err)
	r.entry.URL = url
	for text, words := range map[string]string{
		"echo '{}'": "no JSON object", "echo '{\"a\":1}'": "no JSON object", "echo x": "no JSON object", "": "no JSON object",
		"echo \"$(printf '\\033')[31mbad\" >&2; exit 7": "ended with 7: [31mbad", "exit 3": "ended with 3: it said nothing", "kill -9 $$": "ended with",
	} {
		r.must(os.WriteFile(binary, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
		r.register("codex")
		r.wantBad(r.verify("codex"), "command", words)
	}
}

func TestVerifyNotesWhatWinsElsewhere(t *testing.T) {
	r := newClaude(t)
	r.endpoint()
	r.register("claude")
	r.put(r.state(), strings.Replace(r.get(r.state()), `"numStartups":7`, `"projects":{"/p":{"mcpServers":{"termic":{}}}}`, 1))
	if rep := r.verify("claude"); !rep.OK || len(rep.Notes) != 1 || !strings.Contains(rep.Notes[0], "/p") {
		t.Errorf("%+v", rep)
	}
	r.put(r.state(), `{"mcpServers":{"termic":{"command":"x"}}}`)
	r.wantBad(r.verify("claude"), "entry", "not Termic's")
	r.put(r.state(), `{`)
	r.wantBad(r.verify("claude"), "entry", "does not parse")
}
