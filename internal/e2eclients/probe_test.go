//go:build clients

package e2eclients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"termic/clientsetup"
	"termic/internal/api"
	"termic/internal/fakemodel"
)

// probedPage is the page whose table TestProbe writes, if TERMIC_PROBE_WRITE is set: `make probe-clients` does that.
const probedPage = "../../docs/clients.md"

// TestProbe looks at what each client that is here sends: those of the other tests, and whichever is in the PATH. It goes
// by our registration where there is one, and else by an entry as a person would write it.
func TestProbe(t *testing.T) {
	var rows []Row
	for _, p := range []struct {
		id  string
		run func(r *rig, program string, e *ear)
	}{{"claude", probeRegistered}, {"codex", probeRegistered}, {"gemini", probeGemini}, {"opencode", probeOpencode}} {
		program, err := exec.LookPath(p.id)
		if i := slices.IndexFunc(clients, func(c client) bool { return c.id == p.id }); i >= 0 {
			program, err = clients[i].command, nil
		}
		if err != nil {
			t.Logf("%s is not here: its row stays as it is", p.id)
			continue
		}
		t.Run(p.id, func(t *testing.T) {
			about, err := clientsetup.Find(p.id)
			if err != nil {
				t.Fatal(err)
			}
			r := newRig(t, options{person: true})
			s := call[api.MCPResult](r, "mcp_enable", nil)
			e := r.listen(s.URL)
			p.run(r, program, e)
			seen := e.heard()
			t.Logf("%s sent %+v", about.Name, seen)
			rows = append(rows, RowOf(about.Name, r.versionOf(program), time.Now().UTC().Format(time.DateOnly), clientsetup.Revision, seen))
			t.Logf("%+v", rows[len(rows)-1])
			if (rows[len(rows)-1].Button == "yes") != (about.Support.From != "") {
				t.Errorf("whether %s is offered a button no longer agrees with what it does: offered from version %q on", about.Name, about.Support.From)
			}
		})
	}
	if os.Getenv("TERMIC_PROBE_WRITE") == "" {
		return
	}
	page, err := os.ReadFile(probedPage)
	if err != nil {
		t.Fatal(err)
	}
	text, err := Rewrite(string(page), rows)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(probedPage, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

var versionText = regexp.MustCompile(`\d+(\.\d+)+`)

func (r *rig) versionOf(program string) string {
	r.t.Helper()
	out, err := r.personOf(program, "--version")
	r.must(err)
	return versionText.FindString(out)
}

// personOf runs a program with a home of its own and the loopback alone.
func (r *rig) personOf(program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = r.repo
	cmd.Env = []string{"HOME=" + r.home, "PATH=" + os.Getenv("PATH"), "TERM=dumb", "XDG_CONFIG_HOME=" + filepath.Join(r.home, ".config"),
		"XDG_DATA_HOME=" + filepath.Join(r.home, ".local/share"), "XDG_CACHE_HOME=" + filepath.Join(r.home, ".cache"),
		"XDG_STATE_HOME=" + filepath.Join(r.home, ".local/state"), "CLAUDE_CONFIG_DIR=" + filepath.Join(r.home, "claude"),
		"CODEX_HOME=" + filepath.Join(r.home, "codex"), "DISABLE_AUTOUPDATER=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "GEMINI_API_KEY=none",
		"HTTP_PROXY=http://127.0.0.1:1", "HTTPS_PROXY=http://127.0.0.1:1", "NO_PROXY=127.0.0.1,localhost"}
	cmd.WaitDelay = patience / 10
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %q: %w\n%s", filepath.Base(program), args, err, out)
	}
	return string(out), err
}

// probeRegistered registers, leads the entry past the ear, and has a session call a tool before and after the token
// changes.
func probeRegistered(r *rig, program string, e *ear) {
	r.t.Helper()
	c := client{id: filepath.Base(program), command: program}
	r.register(c, "add", nil)
	file := r.configFile(c)
	r.file(file, strings.ReplaceAll(r.read(file), e.target, e.url))
	type end struct {
		out string
		err error
	}
	done := make(chan end, 1)
	go func() {
		out, err := r.personRun(c, "CALL mcp__termic__project_list {}\nHOLD rotated\nCALL mcp__termic__task_agents {}\nSAY seen: {{result}}")
		done <- end{out, err}
	}()
	r.asked("the first result", func(q fakemodel.Request) bool { return len(q.Results) == 1 })
	call[api.MCPResult](r, "mcp_rotate", nil)
	r.model.Release("rotated")
	if got := <-done; got.err != nil {
		r.t.Error(got.err)
	}
}

// probeGemini has it connect by an entry with the token of the moment: it knows no other way.
func probeGemini(r *rig, program string, e *ear) {
	r.t.Helper()
	s := call[api.MCPResult](r, "mcp_status", nil)
	r.must(os.MkdirAll(filepath.Join(r.home, ".gemini"), 0o700))
	raw, err := json.Marshal(map[string]any{"security": map[string]any{"folderTrust": map[string]any{"enabled": false}}, "mcpServers": map[string]any{"termic": map[string]any{
		"type": "http", "url": e.url, "headers": map[string]string{clientsetup.TokenHeader: strings.TrimSpace(r.read(s.TokenFile))}}}})
	r.must(err)
	r.file(filepath.Join(r.home, ".gemini", "settings.json"), string(raw))
	out, err := r.personOf(program, "mcp", "list")
	r.t.Logf("gemini mcp list: %v %s", err, out)
}

// probeOpencode has it connect by the entry that is written for whoever wants it anyway.
func probeOpencode(r *rig, program string, e *ear) {
	r.t.Helper()
	w := call[api.ClientWriteResult](r, "client_register", map[string]any{"client": "opencode", "anyway": true})
	r.file(w.File, strings.ReplaceAll(r.read(w.File), e.target, e.url))
	out, err := r.personOf(program, "mcp", "list")
	r.t.Logf("opencode mcp list: %v %s", err, out)
}

// ear is a proxy in front of the endpoint that keeps of each request what an Exchange has, and nothing else.
type ear struct {
	url    string // what is listened at
	target string // what is behind
	mu     sync.Mutex
	seen   []Exchange
}

func (r *rig) listen(endpoint string) *ear {
	r.t.Helper()
	e := &ear{target: endpoint}
	type heard struct{}
	e.url = r.between(endpoint, func(p *httputil.ProxyRequest) {
		x, body := exchangeOf(p.In)
		p.Out.Body, p.Out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		p.Out = p.Out.WithContext(context.WithValue(p.Out.Context(), heard{}, x))
	}, func(res *http.Response) {
		if x, ok := res.Request.Context().Value(heard{}).(Exchange); ok {
			x.Status = res.StatusCode
			e.mu.Lock()
			defer e.mu.Unlock()
			e.seen = append(e.seen, x)
		}
	})
	return e
}

// between puts a proxy in front of the endpoint, which ends with the test, and returns its address. The endpoint wants its
// own name as Host, which the proxy gives it.
func (r *rig) between(endpoint string, asked func(*httputil.ProxyRequest), answered func(*http.Response)) string {
	r.t.Helper()
	target, err := url.Parse(endpoint)
	r.must(err)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(&url.URL{Scheme: "http", Host: target.Host})
			p.Out.Host = target.Host
			asked(p)
		},
		ModifyResponse: func(res *http.Response) error { answered(res); return nil },
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	r.must(err)
	server := &http.Server{Handler: proxy}
	go func() { _ = server.Serve(l) }() // ends with Close below
	r.t.Cleanup(func() { _ = server.Close() })
	return "http://" + l.Addr().String() + target.Path
}

// exchangeOf takes out of a request what is kept of it, and returns its body for the endpoint.
func exchangeOf(q *http.Request) (Exchange, []byte) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, q.Body, 1<<20))
	if err != nil {
		body = nil
	}
	var m struct {
		Method string `json:"method"`
		Params struct {
			ProtocolVersion string `json:"protocolVersion"`
		} `json:"params"`
	}
	_ = json.Unmarshal(body, &m) // what is no message has no method
	x := Exchange{Method: m.Method, Revision: q.Header.Get("Mcp-Protocol-Version")}
	if x.Revision == "" {
		x.Revision = m.Params.ProtocolVersion
	}
	for _, name := range []string{"Authorization", clientsetup.TokenHeader} {
		if q.Header.Get(name) != "" {
			x.Token = name
		}
	}
	return x, body
}

func (e *ear) heard() []Exchange {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.seen)
}
