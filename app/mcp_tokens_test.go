package app

import (
	"context"
	"encoding/json"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/control"
	"termic/internal/core"
	"termic/internal/datadir"
	"termic/internal/fault"
	"termic/internal/grant"
)

// ask calls a verb as the owner and reads its result.
func ask[T any](p *profile, name string, params map[string]any) T {
	p.t.Helper()
	raw, err := json.Marshal(params)
	check(p.t, err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	data, err := p.app.Dispatcher.Call(ctx, grant.OwnerOn(grant.CLI), name, raw, nil)
	if err != nil {
		p.t.Fatalf("%s %v: %v\n%s", name, params, err, p.log)
	}
	var out T
	check(p.t, json.Unmarshal(data, &out))
	return out
}

// mint makes a ticket for a terminal that there is not.
func (p *profile) mint(g grant.Grant) core.Ticket {
	p.t.Helper()
	ticket, err := p.app.endpoint.Mint(p.t.Context(), g)
	check(p.t, err)
	return ticket
}

// TestTickets follows the tokens of terminals through everything that may happen to the endpoint: none while it does not
// serve, none that is older than the bind, and a replaced token of the file leaves them alone.
func TestTickets(t *testing.T) {
	p := newProfile(t)
	e := p.app.endpoint
	full := grant.Grant{Principal: "task:x", Class: grant.Full, Task: "x", Terminal: "t"}
	if got := p.mint(full); got.Bind != 0 || got.URL != "" || !got.Token.Empty() || got.Revoke != nil || e.Bind() != 0 || e.tokens.Len() != 0 {
		t.Errorf("while it is off: %+v", got)
	}
	on := p.call("mcp_enable")
	first := p.mint(full)
	if first.URL != on.URL || first.Port != on.Port || first.Bind != 1 || e.Bind() != 1 {
		t.Fatalf("%+v on %+v", first, on)
	}
	opens := func(when string, want map[*core.Ticket]bool) {
		t.Helper()
		for ticket, good := range want {
			if got := asks(t, on.URL, ticket.Token.Reveal()); (got == 200) != good {
				t.Errorf("%s: the token of bind %d gives %d", when, ticket.Bind, got)
			}
		}
	}
	opens("at first", map[*core.Ticket]bool{&first: true})
	p.call("mcp_rotate")
	opens("after a rotation", map[*core.Ticket]bool{&first: true})
	p.call("mcp_disable")
	if e.Bind() != 0 || e.tokens.Len() != 0 {
		t.Errorf("off: bind %d, %d tokens", e.Bind(), e.tokens.Len())
	}
	p.call("mcp_enable")
	second := p.mint(full)
	opens("after a new bind", map[*core.Ticket]bool{&first: false, &second: true})
	if second.Bind != 2 {
		t.Errorf("bind %d", second.Bind)
	}
	third := p.mint(grant.Grant{Principal: "task:y", Class: grant.Full, Task: "y"})
	second.Revoke()
	second.Revoke()
	opens("after a revocation", map[*core.Ticket]bool{&second: false, &third: true})
	e.Revoke(func(g grant.Grant) bool { return g.Task == "y" })
	opens("after another", map[*core.Ticket]bool{&third: false})
	if _, err := e.Mint(t.Context(), grant.Grant{Principal: "task:x", Class: grant.Owner, Task: "x"}); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("a token of the owner's class: %v", err)
	}
	for _, ticket := range []core.Ticket{first, second, third} {
		if strings.Contains(p.log.String(), ticket.Token.Reveal()) {
			t.Error("a token is in the log")
		}
	}
}

// TestDoor: a door opens for its own token, closes with the endpoint or by itself, and is refused while nothing serves.
func TestDoor(t *testing.T) {
	p := newProfile(t)
	e := p.app.endpoint
	open := func() (string, func(), error) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		check(t, err)
		shut, err := e.OpenDoor(l, "d")
		return "http://" + l.Addr().String() + "/mcp", shut, err
	}
	if url, shut, err := open(); fault.CodeOf(err) != fault.Conflict || shut != nil || asks(t, url, "x") != 0 {
		t.Errorf("while it is off: %v", err)
	}
	on := p.call("mcp_enable")
	ticket := p.mint(grant.Grant{Principal: "task:x", Class: grant.Full, Task: "x", Door: "d"})
	url, shut, err := open()
	check(t, err)
	file := p.file(datadir.MCPTokenFile)
	for _, c := range []struct {
		url, token string
		want       int
	}{{url, ticket.Token.Reveal(), 200}, {on.URL, ticket.Token.Reveal(), 401}, {url, file, 401}, {on.URL, file, 200}} {
		if got := asks(t, c.url, c.token); got != c.want {
			t.Errorf("%s: %d, want %d", c.url, got, c.want)
		}
	}
	shut()
	if got := asks(t, url, ticket.Token.Reveal()); got != 0 {
		t.Errorf("a closed door: %d", got)
	}
	url, _, err = open()
	check(t, err)
	p.call("mcp_disable")
	if got := asks(t, url, ticket.Token.Reveal()); got != 0 {
		t.Errorf("the door of a closed endpoint: %d", got)
	}
	if strings.Contains(p.log.String(), "level=ERROR") {
		t.Errorf("the log has errors:\n%s", p.log)
	}
}

// dumpAgents are terminals that write down what they were started with.
const dumpAgents = `
[mcp]
enabled = true
[[agents]]
id = "dumper"
command = "/bin/sh"
args = ["-c", 'tr "\000" "\n" < /proc/self/cmdline > "$HOME/args-$TERMIC_TASK"; env > "$HOME/env-$TERMIC_TASK.tmp"; mv "$HOME/env-$TERMIC_TASK.tmp" "$HOME/env-$TERMIC_TASK"; exec cat', "sh"]
mcp_args = ["--mcp", "{MCP_URL}"]
mcp_connect = "always"
`

// TestTokenCustody: a running agent and a shell of two tasks each hold a token of their own, which tells who they are.
// No other token is with them, and theirs are nowhere else: not in the app's environment and arguments, not in its log,
// not in a file of the profile, not in the other task, not in an argument.
func TestTokenCustody(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the agent of this test reads /proc")
	}
	p := newProfile(t)
	p.stop()
	check(t, os.WriteFile(filepath.Join(p.dir, datadir.SettingsFile), []byte(dumpAgents), 0o600))
	p.start()
	home := filepath.Dir(p.dir)
	repo := filepath.Join(home, "folder")
	check(t, os.MkdirAll(repo, 0o700))
	ask[api.ProjectAddResult](p, "project_add", map[string]any{"path": repo, "name": "folder", "nonGit": true})
	read := func(name string) string {
		for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
			if b, err := os.ReadFile(filepath.Join(home, name)); err == nil {
				return string(b)
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s was not written\n%s", name, p.log)
			}
		}
	}
	url := p.call("mcp_status").URL
	tokens := map[string]string{} // token -> id of its task
	texts := map[string]string{}
	for _, name := range []string{"one", "two"} {
		id := ask[api.TaskNewResult](p, "task_new", map[string]any{"name": name, "project": "folder", "agent": "dumper", "mode": "main"}).Task.ID
		env, args := read("env-"+name), read("args-"+name)
		tab := ask[api.TaskTabResult](p, "task_tab", map[string]any{"task": id, "kind": "shell"})
		raw, err := json.Marshal(map[string]any{"task": id, "tab": tab.TabID})
		check(t, err)
		a, err := p.app.Dispatcher.Attach(t.Context(), grant.OwnerOn(grant.CLI), raw, core.AttachAs{})
		check(t, err)
		check(t, a.Write(t.Context(), []byte("env > ~/shell.tmp; mv ~/shell.tmp ~/shell-"+name+"\r")))
		shell := read("shell-" + name)
		a.Close("detached")
		if !strings.Contains(args, "--mcp\n"+url+"\n") {
			t.Errorf("%s was not connected: %q", name, args)
		}
		texts["arguments of "+name] = args
		for kind, text := range map[string]string{"agent": env, "shell": shell} {
			token := value(text, "TERMIC_MCP_TOKEN")
			if value(text, "TERMIC_MCP_URL") != url || len(token) != 64 || tokens[token] != "" {
				t.Fatalf("%s of %s: %q at %q", kind, name, token, value(text, "TERMIC_MCP_URL"))
			}
			tokens[token] = id
			texts[kind+" of "+name] = text
		}
	}
	for token, id := range tokens {
		status, _ := toolCall(t, url, token, "task_status", `{"task":"`+id+`"}`)
		if status != 200 {
			t.Errorf("a token of %s: %d", id, status)
		}
	}
	rows := ask[api.LedgerResult](p, "ledger", map[string]any{}).Rows
	by := map[string]int{}
	for _, row := range rows {
		if row.Verb == "task_status" && row.Face == "mcp" {
			if row.Principal != "task:"+row.Target {
				t.Errorf("row %+v", row)
			}
			by[row.Target]++
		}
	}
	if len(by) != 2 {
		t.Errorf("the ledger knows %v", by)
	}
	ledger, err := json.Marshal(rows)
	check(t, err)
	texts["the ledger"], texts["the log"] = string(ledger), p.log.String()
	for _, name := range []string{"environ", "cmdline"} {
		b, err := os.ReadFile("/proc/self/" + name)
		check(t, err)
		texts["the app's "+name] = string(b)
	}
	texts["the app's environment"] = strings.Join(os.Environ(), "\n")
	check(t, filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() != datadir.CLITokenFile && d.Name() != datadir.MCPTokenFile {
			var b []byte
			b, err = os.ReadFile(path)
			texts["the file "+d.Name()] = string(b)
		}
		return err
	}))
	for where, text := range texts {
		for secret, what := range map[string]string{p.file(datadir.MCPTokenFile): "the file's token", p.file(datadir.CLITokenFile): "the CLI's token"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s is in %s", what, where)
			}
		}
		for token := range tokens {
			own := strings.Contains(where, " of ") && value(text, "TERMIC_MCP_TOKEN") == token
			if n := strings.Count(text, token); n != map[bool]int{true: 1}[own] {
				t.Errorf("a terminal's token stands %d times in %s", n, where)
			}
		}
	}
	// On the control socket they are nothing.
	addr := control.AddressIn(p.dir)
	addr.Token = filepath.Join(home, "stolen")
	for token := range tokens {
		check(t, os.WriteFile(addr.Token, []byte(token+"\n"), 0o600))
		client, err := control.Dial(t.Context(), addr)
		check(t, err)
		if _, err := client.Call(t.Context(), "task_list", json.RawMessage(`{}`), nil); fault.CodeOf(err) != fault.Forbidden {
			t.Errorf("a terminal's token on the socket: %v", err)
		}
		check(t, client.Close())
	}
	// The end of a task is the end of its tokens, and of no others.
	var gone string
	for _, id := range tokens {
		gone = id
	}
	ask[api.TaskArchiveResult](p, "task_archive", map[string]any{"task": gone, "discard": true})
	for token, id := range tokens {
		want := map[bool]int{true: 401, false: 200}[id == gone]
		if got := asks(t, url, token); got != want {
			t.Errorf("after the archive of one: a token of %s gives %d", map[bool]string{true: "that", false: "another"}[id == gone], got)
		}
	}
	// So is the end of the app, for whatever outlives it.
	p.stop()
	p.start()
	p.until("on", func(s api.MCPResult) bool { return s.URL != "" })
	for token := range tokens {
		if got := asks(t, url, token); got != 401 {
			t.Errorf("after a restart of the app: %d", got)
		}
	}
}

// value is that of a variable in the output of env.
func value(text, name string) string {
	for _, line := range strings.Split(text, "\n") {
		if v, ok := strings.CutPrefix(line, name+"="); ok {
			return v
		}
	}
	return ""
}
