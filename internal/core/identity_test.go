package core

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/ptyhost"
	"termic/internal/shellenv"
	"termic/internal/store"
	"termic/internal/worktree"
	"termic/settings"
)

const patience = 30 * time.Second

// bound is an endpoint that binds when it is told to, on nothing.
type bound struct {
	tokens *grant.Registry
	tried  chan struct{}

	mu   sync.Mutex // guards the following
	bind uint64
	next uint64
}

func newBound() *bound {
	b := &bound{tokens: grant.NewRegistry(), tried: make(chan struct{})}
	close(b.tried)
	return b
}

const boundURL = "http://127.0.0.1:4711/mcp"

func (b *bound) Status() api.MCPResult              { return api.MCPResult{} }
func (b *bound) Enable(context.Context, bool) error { return nil }
func (b *bound) Disable(context.Context) error      { return nil }
func (b *bound) Rotate(context.Context) error       { return nil }
func (b *bound) SetNamed(NamedGrant) error          { return nil }
func (b *bound) DropNamed(string)                   {}
func (b *bound) NamedFile(string) string            { return "" }
func (b *bound) OpenDoor(l net.Listener, _ string) (func(), error) {
	return nil, errors.Join(errors.New("no doors here"), l.Close())
}

func (b *bound) Bind() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bind
}

func (b *bound) Mint(ctx context.Context, g grant.Grant) (Ticket, error) {
	select {
	case <-b.tried:
	case <-ctx.Done():
		return Ticket{}, context.Cause(ctx)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bind == 0 {
		return Ticket{}, nil
	}
	token, err := b.tokens.Mint(g)
	revoke := b.tokens.Revoker(token)
	return Ticket{URL: boundURL, Port: 4711, Token: token, Bind: b.bind, Revoke: func() { revoke() }}, err
}

func (b *bound) Revoke(chosen func(grant.Grant) bool) { b.tokens.Revoke(chosen) }

// serve binds anew, or not at all, as the app's endpoint does it: what was minted before is revoked first.
func (b *bound) serve(on bool) {
	b.mu.Lock()
	b.bind = 0
	b.mu.Unlock()
	b.tokens.Revoke(func(g grant.Grant) bool { return g.Task != "" })
	if on {
		b.mu.Lock()
		b.next++
		b.bind = b.next
		b.mu.Unlock()
	}
}

// idRig is a core on a private profile, with a project and an endpoint that serves.
type idRig struct {
	*Core
	t        *testing.T
	endpoint *bound
	project  store.Project
	dir      string
}

// agents of the rig: each waits for its end.
const idAgents = `
[[agents]]
id = "talker"
command = "/bin/sh"
args = ["-c", "exec cat", "sh"]
resume_id_args = ["--resume", "{UUID}"]
session_id_args = ["--new", "{UUID}"]
mcp_args = ["--mcp", "{MCP_URL}", "${TERMIC_MCP_TOKEN}"]

[[agents]]
id = "chatty"
command = "/bin/sh"
args = ["-c", "exec cat", "sh"]
resume_id_args = ["--resume", "{UUID}"]
session_id_args = ["--new", "{UUID}"]
mcp_args = ["--mcp", "{MCP_URL}", "${TERMIC_MCP_TOKEN}"]
mcp_connect = "always"

[[agents]]
id = "fickle"
command = "/bin/sh"
args = ["-c", "case \"$*\" in *--resume*) sleep .1; exit 1;; esac; exec cat", "sh"]
resume_id_args = ["--resume", "{UUID}"]
session_id_args = ["--new", "{UUID}"]

[[agents]]
id = "silent"
command = "/bin/cat"

[[agents]]
id = "eager"
command = "/bin/cat"
mcp_args = ["--mcp={MCP_URL}"]
mcp_connect = "always"

[[agents]]
id = "never"
command = "/bin/cat"
mcp_args = ["--mcp={MCP_URL}"]
mcp_connect = "never"
`

func newIDRig(t *testing.T) *idRig {
	t.Helper()
	r := &idRig{t: t, endpoint: newBound(), dir: t.TempDir()}
	r.endpoint.serve(true)
	env := []string{"SHELL=/bin/sh", "HOME=" + r.dir, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + filepath.Join(r.dir, "gitconfig")}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	path := filepath.Join(r.dir, "settings.toml")
	must(t, os.WriteFile(path, []byte(idAgents), 0o600))
	file, err := settings.Open(path, settings.Options{Home: r.dir, Log: log})
	must(t, err)
	t.Cleanup(func() { must(t, file.Close()) })
	state, err := store.Open(t.Context(), filepath.Join(r.dir, "termic.db"), store.Options{Log: log})
	must(t, err)
	t.Cleanup(func() { must(t, state.Close()) })
	git, err := worktree.New(worktree.Options{Log: log, Env: env})
	must(t, err)
	r.Core, err = New(t.Context(), Options{Store: state, Settings: file, Git: git, Host: ptyhost.New(ptyhost.Options{Log: log}),
		Shell: shellenv.NewProber(env), Log: log, Home: r.dir, DataDir: t.TempDir(), Version: "test", Endpoint: r.endpoint})
	must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		must(t, r.Close(ctx))
	})
	r.project, _, err = r.store.AddProject(t.Context(), store.Project{Name: "p", RootPath: r.dir, NonGit: true})
	must(t, err)
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// task makes a row of a task, and of a tab of a kind.
func (r *idRig) task(name, mode string, box bool, kind, agent string) (store.Task, store.Tab) {
	r.t.Helper()
	task, err := r.store.CreateTask(r.t.Context(), store.Task{ProjectID: r.project.ID, Name: name, Path: r.dir, Agent: "talker", State: api.TaskLive,
		IsMain: true, Sandbox: mode, MCP: box})
	must(r.t, err)
	tab := store.Tab{TaskID: task.ID, Kind: kind, Title: name, IsDefault: true}
	switch kind {
	case store.TabAgent:
		tab.Agent = agent
	case store.TabTerminal:
		tab.Command = []string{"/bin/cat"}
	}
	tab, err = r.store.CreateTab(r.t.Context(), tab)
	must(r.t, err)
	return task, tab
}

// envOf reads an environment; a name that stands twice is an error.
func envOf(t *testing.T, env []string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, line := range env {
		name, value, _ := strings.Cut(line, "=")
		if _, twice := out[name]; twice {
			t.Errorf("%s stands twice", name)
		}
		out[name] = value
	}
	return out
}

var modes = []string{"off", "monitor", "enforce-fs", "enforce"}

// TestWhoGetsAToken is the table of modes, kinds of terminal and the box: what stands in the environment is the token of
// exactly that terminal, in nobody else's environment, and in no argument.
func TestWhoGetsAToken(t *testing.T) {
	r := newIDRig(t)
	seen := map[string]string{} // token -> where
	all := map[string]string{}  // where -> environment and arguments
	for _, mode := range modes {
		for _, kind := range []string{store.TabAgent, store.TabShell, store.TabTerminal} {
			for _, box := range []bool{false, true} {
				where := mode + "/" + kind + "/" + map[bool]string{true: "box", false: "no box"}[box]
				task, tab := r.task(strings.ReplaceAll(where, "/", "-"), mode, box, kind, "talker")
				l, spec, err := r.planSpawn(t.Context(), task.ID, tab.ID, startHow{})
				if err != nil {
					t.Errorf("%s: %v", where, err)
					continue
				}
				env := envOf(t, spec.Env)
				all[where] = strings.Join(spec.Env, "\n") + "\n" + strings.Join(spec.Argv, "\n")
				token, has := env[envMCPToken]
				_, url := env[envMCPURL]
				var want grant.Grant
				entitled := true
				switch {
				case mode == "off":
					want = grant.Grant{Principal: "task:" + task.ID, Class: grant.Full, Task: task.ID, Terminal: tab.ID}
				case box && kind == store.TabAgent:
					want = grant.Grant{Principal: "task:" + task.ID, Class: grant.Scoped, Task: task.ID, Terminal: tab.ID, Projects: []string{r.project.ID}}
				default:
					entitled = false
				}
				if has != entitled || url != entitled || l.identity.entitled != entitled {
					t.Errorf("%s: token %v, url %v, want %v", where, has, url, entitled)
					continue
				}
				help := strings.Contains(env["TERMIC_HELP"], envMCPToken)
				if help != entitled || strings.Contains(env["TERMIC_HELP"], "termic help") != (mode == "off") {
					t.Errorf("%s: TERMIC_HELP is %q", where, env["TERMIC_HELP"])
				}
				if !entitled {
					continue
				}
				seen[token] = where
				door := l.identity.door()
				if confined := mode == "enforce" && runtime.GOOS == "linux"; confined != (door != "") {
					t.Errorf("%s: door %q", where, door)
				}
				want.Door = door
				if held, ok := r.endpoint.tokens.Lookup(token, door); !ok || !reflect.DeepEqual(held.Grant, want) || env[envMCPURL] != boundURL {
					t.Errorf("%s: %+v %v at %s, want %+v", where, held, ok, env[envMCPURL], want)
				}
			}
		}
	}
	if len(seen) != 6+3 {
		t.Errorf("%d tokens", len(seen))
	}
	for token, where := range seen {
		for other, text := range all {
			if n := strings.Count(text, token); n != map[bool]int{true: 1, false: 0}[where == other] {
				t.Errorf("the token of %s stands %d times with %s", where, n, other)
			}
		}
		if strings.Contains(strings.Join(os.Environ(), "\n")+strings.Join(os.Args, "\n"), token) {
			t.Errorf("the token of %s is the app's own", where)
		}
	}
}

// TestNoTokenWithoutTheEndpoint: while it does not serve, and in an app without one, nothing is advertised.
func TestNoTokenWithoutTheEndpoint(t *testing.T) {
	r := newIDRig(t)
	r.endpoint.serve(false)
	task, tab := r.task("quiet", "off", true, store.TabAgent, "eager")
	for range 2 {
		l, spec, err := r.planSpawn(t.Context(), task.ID, tab.ID, startHow{})
		must(t, err)
		if text := strings.Join(append(spec.Env, spec.Argv...), "\n"); strings.Contains(text, "MCP") || strings.Contains(text, "mcp") || r.connection(l) != "" {
			t.Errorf("advertised: %s", text)
		}
		r.Core.endpoint = nil
	}
}

// TestProjectsOfAToken: the list of the task, and its own project alone where it has none. A list without its own is
// taken at its word.
func TestProjectsOfAToken(t *testing.T) {
	task := store.Task{ID: "t", ProjectID: "A", Sandbox: "enforce", MCP: true}
	for _, c := range []struct{ list, want []string }{{nil, []string{"A"}}, {[]string{"B", "C"}, []string{"B", "C"}}, {[]string{}, []string{}}} {
		task.MCPProjects = c.list
		if g, ok := entitlement(task, store.Tab{ID: "x", Kind: store.TabAgent}); !ok || !reflect.DeepEqual(g.Projects, c.want) {
			t.Errorf("%v: %+v", c.list, g)
		}
	}
	for _, mode := range []string{"", "none", "OFF"} { // no mode is no cage, and not none either
		task.Sandbox = mode
		if g, ok := entitlement(task, store.Tab{ID: "x", Kind: store.TabShell}); ok || g.Class == grant.Full {
			t.Errorf("mode %q: %+v", mode, g)
		}
	}
}

// TestConnectedByArguments: an agent with a recipe is connected by the arguments of its start, as its switch says.
func TestConnectedByArguments(t *testing.T) {
	r := newIDRig(t)
	for _, c := range []struct {
		agent, mode string
		box, want   bool
	}{
		{"talker", "off", false, false}, {"talker", "off", true, false}, {"talker", "enforce", false, false}, {"talker", "enforce", true, true},
		{"talker", "monitor", true, true}, {"eager", "off", false, true}, {"eager", "enforce", false, false}, {"eager", "enforce", true, true},
		{"never", "off", true, false}, {"never", "enforce", true, false}, {"silent", "enforce", true, false},
	} {
		name := c.agent + "-" + c.mode + map[bool]string{true: "-box", false: ""}[c.box]
		task, tab := r.task(name, c.mode, c.box, store.TabAgent, c.agent)
		_, spec, err := r.planSpawn(t.Context(), task.ID, tab.ID, startHow{})
		must(t, err)
		if got := strings.Contains(strings.Join(spec.Argv, " "), boundURL); got != c.want {
			t.Errorf("%s: %q", name, spec.Argv)
		}
	}
}

// dump starts a tab whose program writes down its environment, and returns that.
func (r *idRig) dump(task store.Task, tab store.Tab) (*liveTab, map[string]string) {
	r.t.Helper()
	l, err := r.startTab(r.t.Context(), task.ID, tab.ID, startHow{})
	must(r.t, err)
	return l, r.dumped(l)
}

// dumped reads what the program of a live tab wrote down.
func (r *idRig) dumped(l *liveTab) map[string]string {
	r.t.Helper()
	path := filepath.Join(r.dir, "dump-"+l.row)
	must(r.t, l.term.Write(r.t.Context(), []byte("env > "+path+".tmp; mv "+path+".tmp "+path+"\r")))
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if b, err := os.ReadFile(path); err == nil {
			return envOf(r.t, strings.Split(strings.TrimSuffix(string(b), "\n"), "\n"))
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("no dump; the screen is %q", l.term.Screen().Lines)
		}
	}
}

func (r *idRig) good(l *liveTab) bool {
	_, ok := r.endpoint.tokens.Lookup(l.identity.ticket.Token.Reveal(), l.identity.door())
	return ok
}

// boxed makes a live tab one of a cage with the MCP box, whatever this machine can cage: what is looked at here is what
// the endpoint means to it.
func boxed(l *liveTab) *liveTab {
	l.identity.grant.Class, l.identity.grant.Projects = grant.Scoped, []string{l.task.ProjectID}
	return l
}

// awaitChange waits for what a goroutine of the core changes.
func (r *idRig) awaitChange(what string, ok func() bool) {
	r.t.Helper()
	for deadline := time.After(patience); ; {
		_, changed := r.beacon.watch()
		if ok() {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			r.t.Fatalf("not %s", what)
		}
	}
}

// TestTokensEndWithTheirTerminal: a real terminal holds its token, and whatever ends the program ends the token: its own
// end, a stop, a closed tab, the archive of its task, the removal of its project or of one that it may act on.
func TestTokensEndWithTheirTerminal(t *testing.T) {
	r := newIDRig(t)
	task, tab := r.task("shell", "off", false, store.TabShell, "")
	l, env := r.dump(task, tab)
	if env[envMCPToken] != l.identity.ticket.Token.Reveal() || env[envMCPURL] != boundURL || !r.good(l) {
		t.Fatalf("the program holds %q at %q", env[envMCPToken], env[envMCPURL])
	}
	if got := r.terminalOf(l.identity.grant.Caller(grant.MCP)); got != l {
		t.Errorf("the caller leads to %v", got)
	}
	if got := r.terminalOf(grant.Caller{Task: "another", Terminal: tab.ID}); got != nil {
		t.Error("another task leads to it too")
	}
	must(t, l.term.Write(t.Context(), []byte("exit\r")))
	<-l.term.Done()
	if r.good(l) || r.terminalOf(l.identity.grant.Caller(grant.MCP)) != nil {
		t.Error("the token outlives its program")
	}
	again, _ := r.dump(task, tab)
	if !r.good(again) || again.identity.ticket.Token == l.identity.ticket.Token {
		t.Error("a program that was started again has an old token")
	}
	for name, end := range map[string]func(store.Task, store.Tab) error{
		"stop": func(task store.Task, _ store.Tab) error {
			_, err := r.TaskStop(t.Context(), &Call{Task: task.ID, Caller: grant.OwnerOn(grant.CLI)}, api.TaskStopParams{})
			return err
		},
		"close": func(task store.Task, tab store.Tab) error {
			_, err := r.TaskTabClose(t.Context(), &Call{Task: task.ID, Caller: grant.OwnerOn(grant.CLI)}, api.TaskTabCloseParams{Tab: tab.ID, AllowDefault: true})
			return err
		},
		"archive": func(task store.Task, _ store.Tab) error {
			_, err := r.archive(t.Context(), &Call{}, task.ID, false, false)
			return err
		},
		"sandbox edit": func(task store.Task, _ store.Tab) error { r.revokeTask(task.ID); return nil },
	} {
		task, tab := r.task(name, "off", false, store.TabShell, "")
		l, err := r.startTab(t.Context(), task.ID, tab.ID, startHow{})
		must(t, err)
		before := r.good(l)
		must(t, end(task, tab))
		if !before || r.good(l) || !r.good(again) {
			t.Errorf("%s: before %v, after %v, another's %v", name, before, r.good(l), r.good(again))
		}
	}
}

// TestTokensEndWithTheirProjects: all tokens of a task that may act on a removed project end together, and no others.
func TestTokensEndWithTheirProjects(t *testing.T) {
	r := newIDRig(t)
	mint := func(task string, projects ...string) Ticket {
		ticket, err := r.endpoint.Mint(t.Context(), grant.Grant{Principal: "task:" + task, Class: grant.Scoped, Task: task, Projects: projects})
		must(t, err)
		return ticket
	}
	tickets := map[string]Ticket{"x1": mint("x", "A", "B"), "x2": mint("x", "A"), "y": mint("y", "C"), "z": mint("z", "B")}
	file, err := r.endpoint.tokens.Mint(grant.Grant{Principal: "outside", Class: grant.Full})
	must(t, err)
	r.revokeProject("B")
	for name, want := range map[string]bool{"x1": false, "x2": false, "y": true, "z": false} {
		if _, ok := r.endpoint.tokens.Lookup(tickets[name].Token.Reveal(), ""); ok != want {
			t.Errorf("%s: %v, want %v", name, ok, want)
		}
	}
	if _, ok := r.endpoint.tokens.Lookup(file.Reveal(), ""); !ok {
		t.Error("the token of the file ended with a project")
	}
	r.revokeTask("") // the file's token belongs to no task
	if _, ok := r.endpoint.tokens.Lookup(file.Reveal(), ""); !ok {
		t.Error("the token of the file ended with no task")
	}
	_, err = r.ProjectRemove(t.Context(), &Call{Caller: grant.OwnerOn(grant.CLI)}, api.ProjectRemoveParams{Name: "p"})
	must(t, err)
}

// TestFailedStartsLeaveNoToken: what could not be started holds nothing.
func TestFailedStartsLeaveNoToken(t *testing.T) {
	r := newIDRig(t)
	task, tab := r.task("gone", "off", false, store.TabTerminal, "")
	tab, err := r.store.UpdateTab(t.Context(), tab.ID, func(t *store.Tab) error { t.Command = []string{filepath.Join(r.dir, "no-such-program")}; return nil })
	must(t, err)
	if _, err := r.startTab(t.Context(), task.ID, tab.ID, startHow{}); err == nil {
		t.Fatal("it started")
	}
	task, tab = r.task("resume", "off", false, store.TabAgent, "silent")
	if _, err := r.startTab(t.Context(), task.ID, tab.ID, startHow{resume: true}); fault.CodeOf(err) != fault.Unsupported {
		t.Fatalf("it resumed nothing: %v", err)
	}
	if n := r.endpoint.tokens.Len(); n != 0 {
		t.Errorf("%d tokens are left", n)
	}
}

// TestRebind: after a new bind a caged agent is ended and started again, with its conversation and a fresh token; what
// runs without a cage goes on, and is shown to need a restart. While nothing serves nothing happens to either.
func TestRebind(t *testing.T) {
	r := newIDRig(t)
	caged, cagedTab := r.task("caged", "off", true, store.TabAgent, "silent")
	plain, plainTab := r.task("plain", "off", true, store.TabAgent, "silent")
	boxless, boxlessTab := r.task("boxless", "off", false, store.TabAgent, "silent")
	start := func(task store.Task, tab store.Tab) *liveTab {
		l, err := r.startTab(t.Context(), task.ID, tab.ID, startHow{})
		must(t, err)
		return l
	}
	old, free, without := boxed(start(caged, cagedTab)), start(plain, plainTab), start(boxless, boxlessTab)
	without.identity.revoke()
	without.identity = identity{}
	shown := func() map[string]string {
		out := map[string]string{}
		for _, l := range r.liveTabs("") {
			out[l.task.Name] = r.viewTab(l.tab, 1).MCP
		}
		return out
	}
	wants := func(when string, want map[string]string) {
		t.Helper()
		if got := shown(); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
	wants("at first", map[string]string{"caged": api.MCPConnected, "plain": api.MCPConnected, "boxless": ""})
	r.endpoint.serve(false)
	r.EndpointChanged()
	wants("while nothing serves", map[string]string{"caged": "", "plain": "", "boxless": ""})
	if r.good(old) || r.good(free) || r.liveOf(old.tab.ID) != old {
		t.Error("the end of the bind left a token, or ended a program")
	}
	r.endpoint.serve(true)
	r.EndpointChanged()
	r.EndpointChanged() // word of it may come twice
	r.awaitChange("started again", func() bool { l := r.liveOf(old.tab.ID); return l != nil && l != old })
	fresh := r.liveOf(old.tab.ID)
	<-old.term.Done()
	if !r.good(fresh) || r.good(old) || fresh.identity.ticket.Bind != r.endpoint.Bind() {
		t.Error("it has no fresh token")
	}
	wants("after the new bind", map[string]string{"caged": api.MCPConnected, "plain": api.MCPRestart, "boxless": ""})
	if r.liveOf(free.tab.ID) != free || r.liveOf(without.tab.ID) != without {
		t.Error("what has no part in it was ended")
	}
	_, err := r.TaskTab(t.Context(), &Call{Task: plain.ID, Caller: grant.OwnerOn(grant.CLI)}, api.TaskTabParams{Restart: plainTab.ID})
	if fault.CodeOf(err) != fault.Conflict || r.liveOf(free.tab.ID) != free {
		t.Errorf("a program that runs is started again: %v", err)
	}
	must(t, r.endTab(t.Context(), free, "stopped"))
	start(plain, plainTab)
	wants("restarted", map[string]string{"caged": api.MCPConnected, "plain": api.MCPConnected, "boxless": ""})
}

// TestRebindResumes: the conversation that a caged agent had goes on after a new bind, with the address in its arguments.
func TestRebindResumes(t *testing.T) {
	r := newIDRig(t)
	task, tab := r.task("talk", "off", true, store.TabAgent, "chatty")
	l, spec, err := r.planSpawn(t.Context(), task.ID, tab.ID, startHow{})
	must(t, err)
	l.identity.revoke()
	if !strings.Contains(strings.Join(spec.Argv, " "), "--mcp "+boundURL+" ${TERMIC_MCP_TOKEN} --new ") {
		t.Errorf("arguments %q", spec.Argv)
	}
	tab, err = r.store.UpdateTab(t.Context(), tab.ID, func(t *store.Tab) error { t.SessionID, t.SessionUsed = "c0ffee", true; return nil })
	must(t, err)
	old, err := r.startTab(t.Context(), task.ID, tab.ID, startHow{resume: true})
	must(t, err)
	boxed(old)
	r.endpoint.serve(true)
	r.EndpointChanged()
	r.awaitChange("started again", func() bool { l := r.liveOf(tab.ID); return l != nil && l != old })
	if got := strings.Join(r.liveOf(tab.ID).term.Spec().Argv, " "); !strings.HasSuffix(got, "--resume c0ffee") {
		t.Errorf("arguments %q", got)
	}
}

// TestStartsWaitForTheFirstBind: a program that is started while the app has not yet tried to serve waits for that, and
// gets its token; one whose caller gives up does not start.
func TestStartsWaitForTheFirstBind(t *testing.T) {
	r := newIDRig(t)
	r.endpoint.tried = make(chan struct{})
	task, tab := r.task("early", "off", false, store.TabTerminal, "")
	gaveUp, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.startTab(gaveUp, task.ID, tab.ID, startHow{}); err == nil {
		t.Error("it started before the bind")
	}
	started := make(chan *liveTab, 1)
	go func() {
		l, err := r.startTab(t.Context(), task.ID, tab.ID, startHow{})
		if err != nil {
			t.Errorf("start: %v", err)
		}
		started <- l
	}()
	select {
	case <-started:
		t.Error("it started before the bind")
	case <-time.After(50 * time.Millisecond): // it can only be too early here, never too late
	}
	close(r.endpoint.tried)
	if l := <-started; l == nil || !r.good(l) {
		t.Error("it has no token")
	}
}
