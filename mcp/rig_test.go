package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"termic/internal/api"
	"termic/internal/core"
	"termic/internal/grant"
	"termic/internal/inlet"
	"termic/internal/ptyhost"
	"termic/internal/secret"
	"termic/internal/shellenv"
	"termic/internal/store"
	"termic/internal/verb"
	"termic/internal/worktree"
	"termic/settings"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds what is waited for; nothing here measures a time by it.
const patience = 30 * time.Second

// rig is a server on loopback with its tokens.
type rig struct {
	*Server
	t       testing.TB
	host    string // its address, as Host has it
	tokens  *grant.Registry
	full    secret.String
	scoped  secret.String
	log     *logLines
	refused *refusedCalls
	offers  atomic.Bool // resources
}

// newRig serves a backend; nil for the real dispatcher over a real core on a private profile.
func newRig(t testing.TB, backend Backend, limits Limits) *rig {
	t.Helper()
	r := &rig{t: t, tokens: grant.NewRegistry(), log: &logLines{}}
	log := slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if backend == nil {
		backend = newDispatcher(t, log)
	}
	r.refused = &refusedCalls{Backend: backend}
	r.full, r.scoped = r.mint(grant.Grant{Principal: "outside", Class: grant.Full}), r.mint(grant.Grant{Principal: "task:x", Class: grant.Scoped, Task: "x"})
	r.Server = New(Options{Backend: r.refused, Version: "1.2.3", Log: log, Limits: limits, Authorize: r.tokens.Lookup, Resources: r.offers.Load})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	r.host = l.Addr().String()
	served := make(chan error, 1)
	go func() { served <- r.Serve(l) }()
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return r
}

func (r *rig) mint(g grant.Grant) secret.String {
	token, err := r.tokens.Mint(g)
	check(r.t, err)
	return token
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newDispatcher is the real way in, over a real core.
func newDispatcher(t testing.TB, log *slog.Logger) *verb.Dispatcher {
	t.Helper()
	dir := t.TempDir()
	env := []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "SHELL=/bin/sh", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + filepath.Join(dir, "gitconfig")}
	file, err := settings.Open(filepath.Join(dir, "settings.toml"), settings.Options{Home: dir, Log: log})
	check(t, err)
	t.Cleanup(func() { check(t, file.Close()) })
	state, err := store.Open(t.Context(), filepath.Join(dir, "termic.db"), store.Options{Log: log})
	check(t, err)
	t.Cleanup(func() { check(t, state.Close()) })
	git, err := worktree.New(worktree.Options{Log: log, Env: env})
	check(t, err)
	c, err := core.New(t.Context(), core.Options{Store: state, Settings: file, Git: git, Host: ptyhost.New(ptyhost.Options{Log: log}),
		Shell: shellenv.NewProber(env), Log: log, Home: dir, Version: "test"})
	check(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		check(t, c.Close(ctx))
	})
	return verb.NewDispatcher(c, log)
}

// backendFunc is a backend that answers by a function and records no refusals.
type backendFunc func(ctx context.Context, caller grant.Caller, verb string, params json.RawMessage) (json.RawMessage, error)

func (f backendFunc) Call(ctx context.Context, caller grant.Caller, verb string, params json.RawMessage, _ func(api.Event)) (json.RawMessage, error) {
	return f(ctx, caller, verb, params)
}
func (backendFunc) Refused(context.Context, grant.Caller, error, int) {}

// ok answers every call at once.
var ok = backendFunc(func(context.Context, grant.Caller, string, json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage(`{"ok":true}`), nil
})

// refusedCalls remembers what the ledger is told.
type refusedCalls struct {
	Backend
	mu   sync.Mutex
	rows []string
}

func (b *refusedCalls) Refused(ctx context.Context, caller grant.Caller, err error, times int) {
	b.mu.Lock()
	b.rows = append(b.rows, fmt.Sprintf("%s %s x%d", caller.Principal, err, times))
	b.mu.Unlock()
	b.Backend.Refused(ctx, caller, err, times)
}

func (b *refusedCalls) told() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.rows...)
}

// logLines is a log that may be read while it is written.
type logLines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// meta is the `_meta` that every request needs.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// request is a good request for a method; name is that of a tool, empty for other methods.
func (r *rig) request(method, name, params string) *http.Request {
	r.t.Helper()
	if name != "" {
		params = `"name":` + string(inlet.JSON(name)) + `,` + params
	}
	if params != "" && !strings.HasSuffix(params, ",") {
		params += ","
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%s,"params":{%s%s}}`, inlet.JSON(method), params, meta)
	req, err := http.NewRequest(http.MethodPost, "http://"+r.host+Path, strings.NewReader(body))
	check(r.t, err)
	req.Header.Set("Authorization", "Bearer "+r.full.Reveal())
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set(headerVersion, Revision)
	req.Header.Set(headerMethod, method)
	if name != "" {
		req.Header.Set(headerName, name)
	}
	return req
}

// answered is a response that was read to its end.
type answered struct {
	status int
	header http.Header
	body   string
}

// code is the JSON-RPC error code; 0 for none.
func (a answered) code() int {
	var frame struct {
		Error struct{ Code int }
	}
	_ = json.Unmarshal([]byte(a.body), &frame) // a body without a frame has no code
	return frame.Error.Code
}

// client makes a connection for each request, so that nothing but the answer is shared.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, Proxy: nil}, Timeout: patience}

func (r *rig) do(req *http.Request) answered {
	r.t.Helper()
	res, err := client.Do(req)
	check(r.t, err)
	return read(r.t, res)
}

func read(t testing.TB, res *http.Response) answered {
	t.Helper()
	body, err := io.ReadAll(res.Body)
	check(t, err)
	check(t, res.Body.Close())
	for name := range res.Header {
		if strings.HasPrefix(name, "Access-Control-") || strings.HasPrefix(name, "Mcp-Session") {
			t.Errorf("the answer has %s", name)
		}
	}
	if res.Close { // the client took the header away
		res.Header.Set("Connection", "close")
	}
	return answered{res.StatusCode, res.Header, string(body)}
}

// dial opens a bare connection, which ends with the test.
func (r *rig) dial() net.Conn {
	r.t.Helper()
	c, err := net.Dial("tcp", r.host)
	check(r.t, err)
	check(r.t, c.SetDeadline(time.Now().Add(patience)))
	r.t.Cleanup(func() { _ = c.Close() }) // most tests have closed it
	return c
}

// send writes text to a connection, with the line ends of HTTP in its head.
func (r *rig) send(c net.Conn, text string) {
	r.t.Helper()
	_, err := io.WriteString(c, text)
	check(r.t, err)
}

// receive reads one response from a connection.
func (r *rig) receive(c net.Conn) answered {
	r.t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	check(r.t, err)
	return read(r.t, res)
}
