package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/control"
	"termic/internal/datadir"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/secret"
	"termic/mcp"
)

const patience = 30 * time.Second

// profile is an app on a private data folder.
type profile struct {
	t   *testing.T
	dir string
	app *App
	log *syncBuffer
}

func newProfile(t *testing.T) *profile {
	t.Helper()
	home := t.TempDir()
	p := &profile{t: t, dir: filepath.Join(home, "d"), log: &syncBuffer{}}
	for k, v := range map[string]string{"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, ".config"), "XDG_DATA_HOME": filepath.Join(home, ".data"),
		datadir.EnvVar: p.dir, "SHELL": "/bin/sh", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": filepath.Join(home, ".gitconfig")} {
		t.Setenv(k, v)
	}
	check(t, os.MkdirAll(p.dir, 0o700))
	p.start()
	t.Cleanup(p.stop)
	return p
}

func (p *profile) start() {
	p.t.Helper()
	a, err := Open(context.Background(), Options{Version: "test", Face: "serve", Getenv: os.Getenv, Environ: os.Environ(), LogTo: p.log, LogLevel: "debug"})
	check(p.t, err)
	p.app = a
}

func (p *profile) stop() {
	if p.app == nil {
		return
	}
	if err := p.app.Close(); err != nil {
		p.t.Errorf("close: %v", err)
	}
	p.app = nil
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// try calls a verb as the owner.
func (p *profile) try(verb string, params any) (api.MCPResult, error) {
	raw, err := json.Marshal(params)
	check(p.t, err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var out api.MCPResult
	data, err := p.app.Dispatcher.Call(ctx, grant.OwnerOn(grant.CLI), verb, raw, nil)
	if err == nil {
		check(p.t, json.Unmarshal(data, &out))
	}
	return out, err
}

func (p *profile) call(verb string) api.MCPResult {
	p.t.Helper()
	out, err := p.try(verb, map[string]any{})
	check(p.t, err)
	return out
}

func (p *profile) file(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, name))
	check(p.t, err)
	return strings.TrimSpace(string(b))
}

func (p *profile) absent(name string) {
	p.t.Helper()
	if _, err := os.Lstat(filepath.Join(p.dir, name)); !errors.Is(err, fs.ErrNotExist) {
		p.t.Errorf("%s is there: %v", name, err)
	}
}

// asks sends a tools/call of a harmless tool and returns the status; 0 when nobody answers.
func asks(t *testing.T, url, token string) int {
	t.Helper()
	status, _ := toolCall(t, url, token, "project_list", `{}`)
	return status
}

// toolCall calls a tool on a connection of its own.
func toolCall(t *testing.T, url, token, tool, args string) (int, string) {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{}}}}`,
		tool, args, mcp.Revision)
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	check(t, err)
	for k, v := range map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json", "MCP-Protocol-Version": mcp.Revision,
		"Mcp-Method": "tools/call", "Mcp-Name": tool} {
		req.Header.Set(k, v)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	res, err := client.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	b, err := io.ReadAll(res.Body)
	check(t, errors.Join(err, res.Body.Close()))
	return res.StatusCode, string(b)
}

// until waits for a status as wanted: what makes it change runs beside the test.
func (p *profile) until(what string, ok func(api.MCPResult) bool) api.MCPResult {
	p.t.Helper()
	for deadline := time.After(patience); ; {
		_, changed := p.app.Core.Watch()
		s := p.call("mcp_status")
		if ok(s) {
			return s
		}
		select {
		case <-changed:
		case <-deadline:
			p.t.Fatalf("not %s: %+v\n%s", what, s, p.log)
		}
	}
}

// TestEndpointLifecycle follows the address and the token through everything that may happen to them.
func TestEndpointLifecycle(t *testing.T) {
	p := newProfile(t)
	if s := p.call("mcp_status"); s != (api.MCPResult{}) {
		t.Fatalf("at first: %+v", s)
	}
	p.absent(datadir.MCPTokenFile)
	p.absent(datadir.MCPPortFile)

	on := p.call("mcp_enable")
	first := p.file(datadir.MCPTokenFile)
	if !on.Enabled || on.URL != "http://127.0.0.1:"+p.file(datadir.MCPPortFile)+"/mcp" || on.TokenFile != filepath.Join(p.app.dir.Path, datadir.MCPTokenFile) || on.Error != "" || len(first) != 64 {
		t.Fatalf("enabled: %+v", on)
	}
	for _, name := range []string{datadir.MCPTokenFile, datadir.MCPPortFile} {
		st, err := os.Lstat(filepath.Join(p.dir, name))
		check(t, err)
		if st.Mode() != 0o600 {
			t.Errorf("%s has mode %v", name, st.Mode())
		}
	}
	if got := asks(t, on.URL, first); got != 200 {
		t.Fatalf("a right token: %d", got)
	}
	if again := p.call("mcp_enable"); again != on || p.file(datadir.MCPTokenFile) != first {
		t.Errorf("enabled again: %+v", again)
	}

	// A renewed token makes the old one worthless at once, and a descriptor on the old file shows nothing new.
	old, err := os.Open(filepath.Join(p.dir, datadir.MCPTokenFile))
	check(t, err)
	if s := p.call("mcp_rotate"); s != on {
		t.Errorf("rotated: %+v", s)
	}
	second := p.file(datadir.MCPTokenFile)
	b, err := io.ReadAll(old)
	check(t, errors.Join(err, old.Close()))
	if second == first || strings.TrimSpace(string(b)) != first || asks(t, on.URL, first) != 401 || asks(t, on.URL, second) != 200 {
		t.Error("rotation did not replace the token")
	}
	if s := p.call("mcp_status"); s.Denied != 1 {
		t.Errorf("%d were denied, want 1", s.Denied)
	}

	// Off: nobody answers, the token is gone, the port is remembered.
	if s := p.call("mcp_disable"); s.Enabled || s.URL != "" || s.TokenFile != "" || s.Port != on.Port {
		t.Errorf("disabled: %+v", s)
	}
	p.absent(datadir.MCPTokenFile)
	if asks(t, on.URL, second) != 0 {
		t.Error("a disabled endpoint answers")
	}
	if _, err := p.try("mcp_rotate", map[string]any{}); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("rotate while it is off: %v", err)
	}
	if s := p.call("mcp_enable"); s.URL != on.URL {
		t.Errorf("the address was %s and is %s", on.URL, s.URL)
	}
	third := p.file(datadir.MCPTokenFile)
	if third == second || asks(t, on.URL, second) != 401 || asks(t, on.URL, third) != 200 {
		t.Error("a new bind did not make a new token")
	}

	// Over a restart: the same address, another token, and none in between.
	p.stop()
	p.absent(datadir.MCPTokenFile)
	p.start()
	s := p.call("mcp_status")
	fourth := p.file(datadir.MCPTokenFile)
	if s.URL != on.URL || fourth == third || asks(t, on.URL, third) != 401 || asks(t, on.URL, fourth) != 200 {
		t.Errorf("after a restart: %+v", s)
	}
	for _, token := range []string{first, second, third, fourth} {
		if strings.Contains(p.log.String(), token) {
			t.Error("a token is in the log")
		}
	}
}

// TestEndpointFollowsTheFile: the setting works from the file too, while the app runs.
func TestEndpointFollowsTheFile(t *testing.T) {
	p := newProfile(t)
	write := func(text string) {
		check(t, os.WriteFile(filepath.Join(p.dir, datadir.SettingsFile), []byte(text), 0o600))
	}
	write("[mcp]\nenabled = true\n")
	s := p.until("on", func(s api.MCPResult) bool { return s.URL != "" })
	token := p.file(datadir.MCPTokenFile)
	write("[mcp]\nenabled = true # still\n[terminal]\nfont_size = 20\n")
	check(t, p.app.settings.Reload())
	if asks(t, s.URL, token) != 200 {
		t.Error("another setting disturbed the endpoint")
	}
	write("[mcp]\nenabled = false\n")
	p.until("off", func(s api.MCPResult) bool { return !s.Enabled })
	p.absent(datadir.MCPTokenFile)

	// A file that does not parse keeps what is in force, and nothing is written into it.
	write("[mcp\n")
	if err := p.app.settings.Reload(); err == nil {
		t.Fatal("the file parses")
	}
	if _, err := p.try("mcp_enable", map[string]any{}); fault.CodeOf(err) != fault.Conflict || p.file(datadir.SettingsFile) != "[mcp" {
		t.Errorf("enabled over a broken file: %v", err)
	}
	if s := p.call("mcp_status"); s.Enabled {
		t.Errorf("%+v", s)
	}
}

// TestTakenPort: when another program has the port, nothing is served, nothing is advertised, and no other port is taken
// until the owner says so.
func TestTakenPort(t *testing.T) {
	p := newProfile(t)
	on := p.call("mcp_enable")
	p.call("mcp_disable")
	thief, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(on.Port))
	check(t, err)
	defer thief.Close()
	taken := func(s api.MCPResult) {
		t.Helper()
		if !s.Enabled || s.URL != "" || s.TokenFile != "" || s.Port != on.Port || !strings.Contains(s.Error, strconv.Itoa(on.Port)) || !strings.Contains(s.Hint, "--new-port") {
			t.Errorf("taken: %+v", s)
		}
		p.absent(datadir.MCPTokenFile)
		if p.file(datadir.MCPPortFile) != strconv.Itoa(on.Port) {
			t.Errorf("the remembered port is %s", p.file(datadir.MCPPortFile))
		}
	}
	taken(p.call("mcp_enable"))
	p.stop()
	// What a killed app leaves behind is taken away, also when it cannot serve again.
	check(t, os.WriteFile(filepath.Join(p.dir, datadir.MCPTokenFile), []byte(secret.Mint().Reveal()), 0o600))
	p.start()
	taken(p.call("mcp_status"))
	state, err := p.app.Dispatcher.Call(t.Context(), grant.OwnerOn(grant.Window), "window_state", nil, nil)
	check(t, err)
	doctor, err := p.app.Dispatcher.Call(t.Context(), grant.OwnerOn(grant.CLI), "doctor", nil, nil)
	check(t, err)
	for name, text := range map[string][]byte{"window_state": state, "doctor": doctor} {
		if !bytes.Contains(text, fmt.Appendf(nil, "Port %d is taken", on.Port)) {
			t.Errorf("%s does not tell: %s", name, text)
		}
	}

	moved, err := p.try("mcp_enable", map[string]any{"newPort": true})
	check(t, err)
	if moved.URL == "" || moved.Port == on.Port || moved.Error != "" || p.file(datadir.MCPPortFile) != strconv.Itoa(moved.Port) || asks(t, moved.URL, p.file(datadir.MCPTokenFile)) != 200 {
		t.Errorf("on a new port: %+v", moved)
	}
	check(t, thief.Close())
	p.stop()
	p.start()
	if s := p.call("mcp_status"); s.Port != moved.Port {
		t.Errorf("after a restart: %+v", s)
	}
}

// TestFreedPort: a port that is free again serves as soon as the owner asks.
func TestFreedPort(t *testing.T) {
	p := newProfile(t)
	on := p.call("mcp_enable")
	p.call("mcp_disable")
	thief, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(on.Port))
	check(t, err)
	if s := p.call("mcp_enable"); s.Error == "" {
		t.Errorf("%+v", s)
	}
	check(t, thief.Close())
	if s := p.call("mcp_enable"); s.URL != on.URL || s.Error != "" {
		t.Errorf("%+v", s)
	}
}

// TestDisableIsFinal: word of an older setting that comes late does not bring the endpoint back.
func TestDisableIsFinal(t *testing.T) {
	p := newProfile(t)
	for i := range 60 {
		check(t, p.app.endpoint.Enable(t.Context(), false)) // with nothing between them: the word of the first is still under way
		check(t, p.app.endpoint.Disable(t.Context()))
		for until := time.Now().Add(3 * time.Millisecond); time.Now().Before(until); {
			if _, err := os.Lstat(filepath.Join(p.dir, datadir.MCPTokenFile)); err == nil || p.app.endpoint.Status().Enabled {
				t.Fatalf("round %d: the endpoint is back after it was disabled: %+v", i, p.app.endpoint.Status())
			}
		}
	}
}

// TestLeftovers: files that a killed app or somebody's hand left do not mislead.
func TestLeftovers(t *testing.T) {
	p := newProfile(t)
	p.stop()
	for name, text := range map[string]string{datadir.MCPTokenFile: "old", datadir.MCPPortFile: "no port"} {
		check(t, os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644))
	}
	p.start()
	p.absent(datadir.MCPTokenFile)
	s := p.call("mcp_enable")
	if s.URL == "" || p.file(datadir.MCPPortFile) != strconv.Itoa(s.Port) {
		t.Errorf("%+v", s)
	}
	p.call("mcp_disable")
	// A link in the token's place is replaced, not followed.
	aside := filepath.Join(t.TempDir(), "aside")
	check(t, os.WriteFile(aside, []byte("mine"), 0o644))
	check(t, os.Symlink(aside, filepath.Join(p.dir, datadir.MCPTokenFile)))
	p.call("mcp_enable")
	b, err := os.ReadFile(aside)
	check(t, err)
	st, err := os.Lstat(filepath.Join(p.dir, datadir.MCPTokenFile))
	check(t, err)
	if string(b) != "mine" || st.Mode() != 0o600 {
		t.Errorf("the link led to %q, the token file has mode %v", b, st.Mode())
	}
	// A folder in the way: the token cannot be written, so nothing is served.
	p.call("mcp_disable")
	check(t, os.MkdirAll(filepath.Join(p.dir, datadir.MCPTokenFile, "x"), 0o700))
	if s := p.call("mcp_enable"); s.URL != "" || !strings.Contains(s.Error, "could not be written") || p.app.endpoint.tokens.Len() != 0 {
		t.Errorf("without a token file: %+v", s)
	}
	check(t, os.RemoveAll(filepath.Join(p.dir, datadir.MCPTokenFile)))
}

// TestEachCredentialOpensItsOwn: the token of the socket is nothing to the endpoint and the reverse, and neither is in
// this process's environment, arguments or log.
func TestEachCredentialOpensItsOwn(t *testing.T) {
	p := newProfile(t)
	s := p.call("mcp_enable")
	cli, file := p.file(datadir.CLITokenFile), p.file(datadir.MCPTokenFile)
	ask[api.TokenResult](p, "token_new", map[string]any{"name": "ci"})
	named := p.tokenFile("ci")
	if got := asks(t, s.URL, cli); got != 401 {
		t.Errorf("the CLI's token on the endpoint: %d", got)
	}
	addr := control.AddressIn(p.dir)
	client, err := control.Dial(t.Context(), addr)
	check(t, err)
	if _, err := client.Call(t.Context(), "task_list", json.RawMessage(`{}`), nil); err != nil {
		t.Errorf("the CLI's token on the socket: %v", err)
	}
	check(t, client.Close())
	for _, other := range []string{datadir.MCPTokenFile, datadir.TokensDir + "/ci"} {
		addr.Token = filepath.Join(p.dir, other)
		client, err = control.Dial(t.Context(), addr)
		check(t, err)
		if _, err := client.Call(t.Context(), "task_list", json.RawMessage(`{}`), nil); fault.CodeOf(err) != fault.Forbidden {
			t.Errorf("the token in %s on the socket: %v", other, err)
		}
		check(t, client.Close())
	}
	for where, text := range map[string]string{"environment": strings.Join(os.Environ(), "\n"), "arguments": strings.Join(os.Args, "\n"), "log": p.log.String()} {
		if strings.Contains(text, cli) || strings.Contains(text, file) || strings.Contains(text, named) {
			t.Errorf("a token is in the %s", where)
		}
	}
	check(t, filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == datadir.CLITokenFile || d.Name() == datadir.MCPTokenFile || path == filepath.Join(p.dir, datadir.TokensDir, "ci") {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(file)) || bytes.Contains(b, []byte(cli)) || bytes.Contains(b, []byte(named)) {
			t.Errorf("a token is in %s", path)
		}
		return err
	}))
}

// TestBlockedWindow: while the window's loop hangs, and calls that need it hang with it, the endpoint goes on.
func TestBlockedWindow(t *testing.T) {
	p := newProfile(t)
	s := p.call("mcp_enable")
	token := p.file(datadir.MCPTokenFile)
	hangs, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	p.app.OnRaise(func() bool {
		once.Do(func() { close(hangs) })
		<-release
		return true
	})
	var stuck sync.WaitGroup
	stuck.Go(func() { p.app.Raise() })
	<-hangs
	for range 4 { // so do calls of the window and of MCP that want it
		stuck.Go(func() {
			_, _ = p.app.Dispatcher.Call(context.Background(), grant.OwnerOn(grant.Window), "task_open", json.RawMessage(`{}`), nil) // it is let go below
		})
		stuck.Go(func() { toolCall(t, s.URL, token, "task_open", `{}`) })
	}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		start := time.Now()
		if got := asks(t, s.URL, token); got != 200 || time.Since(start) > 5*time.Second {
			t.Errorf("status %d after %v", got, time.Since(start))
		}
		time.Sleep(100 * time.Millisecond)
	}
	close(release)
	stuck.Wait()
}

// syncBuffer is a log that may be read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
