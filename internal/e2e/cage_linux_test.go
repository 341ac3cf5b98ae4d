package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"termic/internal/api"
	"termic/internal/core"
	"termic/internal/fault"
	"termic/internal/grant"
)

// cage is a caged task, driven through its agent's prompts.
type walled struct {
	r    *rig
	id   string
	path string
	n    int
}

// cageTask creates a task in a mode, and waits for its agent. A machine that cannot cage skips loudly.
func (r *rig) cageTask(name, mode string, more map[string]any) *walled {
	r.t.Helper()
	r.addProject()
	p := map[string]any{"name": name, "project": "repo", "agent": "osc7501", "sandbox": mode}
	for k, v := range more {
		p[k] = v
	}
	_, err := try[api.TaskNewResult](r, "task_new", p)
	if fault.CodeOf(err) == fault.Unsupported {
		f := fault.From(err)
		r.t.Skipf("NOT TESTED: this machine cannot cage a task: %s %s", f.Message, f.Hint)
	}
	must(r.t, err)
	for _, t := range call[api.TaskListResult](r, "task_list", nil).Tasks {
		if t.Name == name {
			return r.cageOf(t.ID)
		}
	}
	r.t.Fatalf("no task %s", name)
	return nil
}

func (r *rig) cageOf(id string) *walled {
	r.t.Helper()
	d := r.live(id)
	return &walled{r: r, id: id, path: d.Path}
}

// do sends a directive and returns the file that it leaves.
func (c *walled) do(directive, rest string) string {
	c.r.t.Helper()
	c.n++
	file := fmt.Sprintf("out-%d", c.n)
	call[api.TaskSendResult](c.r, "task_send", map[string]any{"task": c.id, "prompt": directive + " " + file + " " + rest})
	deadline := time.Now().Add(90 * time.Second)
	for {
		b, err := os.ReadFile(filepath.Join(c.path, file))
		if err == nil {
			must(c.r.t, os.Remove(filepath.Join(c.path, file)))
			return string(b)
		}
		if time.Now().After(deadline) {
			c.r.t.Fatalf("%s %s left nothing: %v\nlog:\n%s\nstatus: %+v", directive, rest, err, c.r.tail(),
				call[api.TaskStatusResult](c.r, "task_status", map[string]any{"task": c.id}).Task)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// run runs a shell command inside.
func (c *walled) run(command string) string {
	c.r.t.Helper()
	return c.do("#run", command)
}

// answer is what a tool call inside got.
type answer struct {
	Status int
	Body   string
	Error  string
}

// result is the structured content of a call that succeeded; nil otherwise.
func (a answer) result() json.RawMessage {
	var frame struct {
		Result struct {
			StructuredContent json.RawMessage
			IsError           bool
		}
	}
	if json.Unmarshal([]byte(a.Body), &frame) != nil || frame.Result.IsError {
		return nil
	}
	return frame.Result.StructuredContent
}

// tool calls a tool from inside; "" lists them.
func (c *walled) tool(name string, args map[string]any) answer {
	c.r.t.Helper()
	raw, err := json.Marshal(args)
	must(c.r.t, err)
	var a answer
	must(c.r.t, json.Unmarshal([]byte(c.do("#tool", name+" "+string(raw))), &a))
	return a
}

// TestCagedOrchestrator is the promise of the product: a caged agent creates a caged worker through its one port and its
// one token, prompts it, waits, and reads what it did. It can do nothing else.
func TestCagedOrchestrator(t *testing.T) {
	r := newRig(t)
	endpoint := call[api.MCPResult](r, "mcp_enable", nil)
	other, err := net.Listen("tcp", "127.0.0.1:0") // another port of loopback, where a server answers
	must(t, err)
	go func() { _ = http.Serve(other, http.NotFoundHandler()) }() // ends with the listener
	t.Cleanup(func() { _ = other.Close() })
	secret := filepath.Join(r.home, "secret")
	must(t, os.WriteFile(secret, []byte("kept"), 0o600))
	stranger := r.newTask("stranger", "osc7501", "")

	boss := r.cageTask("boss", "enforce", map[string]any{"mcp": true})
	child := struct{ Task api.TaskSummary }{}
	made := boss.tool("task_new", map[string]any{"name": "worker", "prompt": "#write made.txt by the worker"})
	if must(t, json.Unmarshal(made.result(), &child)); child.Task.ID == "" {
		t.Fatalf("task_new: %+v", made)
	}
	if child.Task.Sandbox != "enforce" {
		t.Errorf("the child is in mode %s", child.Task.Sandbox)
	}
	waited := boss.tool("task_wait", map[string]any{"task": child.Task.ID})
	if !strings.Contains(string(waited.result()), `"done"`) {
		t.Errorf("task_wait: %+v", waited)
	}
	worker := r.cageOf(child.Task.ID)
	if b, err := os.ReadFile(filepath.Join(worker.path, "made.txt")); err != nil || string(b) != "by the worker\n" {
		t.Errorf("the worker wrote %q, %v", b, err)
	}
	if a := boss.tool("task_send", map[string]any{"task": "worker", "prompt": "#say all is well", "wait": true}); !strings.Contains(string(a.result()), `"done"`) {
		t.Errorf("task_send: %+v", a)
	}
	if a := boss.tool("task_log", map[string]any{"task": "worker", "plain": true}); !strings.Contains(string(a.result()), "all is well") {
		t.Errorf("task_log: %+v", a)
	}
	if a := boss.tool("task_diff", map[string]any{"task": "worker", "full": true}); !strings.Contains(string(a.result()), "by the worker") {
		t.Errorf("task_diff: %+v", a)
	}
	for name, args := range map[string]map[string]any{
		"task_list": {}, "task_archive": {"task": "worker"}, "task_apply": {"task": "worker"}, "project_add": {"path": r.repo}, "mcp_rotate": {}, "settings_set": {"key": "mcp.enabled", "value": "false"},
	} {
		if a := boss.tool(name, args); a.result() != nil || a.Status != 200 || !strings.Contains(a.Body, "-32602") {
			t.Errorf("%s: %+v", name, a)
		}
	}
	hidden := boss.tool("task_status", map[string]any{"task": stranger.Task.ID})
	absent := boss.tool("task_status", map[string]any{"task": "01HZZZZZZZZZZZZZZZZZZZZZZZ"})
	if hidden.result() != nil || strings.ReplaceAll(hidden.Body, stranger.Task.ID, "X") != strings.ReplaceAll(absent.Body, "01HZZZZZZZZZZZZZZZZZZZZZZZ", "X") {
		t.Errorf("hidden and absent differ:\n%s\n%s", hidden.Body, absent.Body)
	}
	if a := boss.tool("task_send", map[string]any{"task": stranger.Task.ID, "prompt": "#write pwned.txt x"}); a.result() != nil {
		t.Errorf("an uncaged task took a prompt: %+v", a)
	}

	token, err := os.ReadFile(endpoint.TokenFile)
	must(t, err)
	full, port := strings.TrimSpace(string(token)), strconv.Itoa(endpoint.Port)
	for name, c := range map[string]struct{ command, never string }{
		"the user's files":     {"cat '" + secret + "'", "kept"},
		"the token file":       {"cat '" + endpoint.TokenFile + "'", full},
		"the full token":       {"env; cat /proc/*/environ", full},
		"the data folder":      {"ls '" + r.data + "'", "termic.db"},
		"the control socket":   {"ls -la '" + r.data + "/termic.sock'", "srw"},
		"another loopback":     {"(exec 3<>/dev/tcp/127.0.0.1/" + strconv.Itoa(other.Addr().(*net.TCPAddr).Port) + ") && echo reached", "\nreached"},
		"another's token":      {"cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -q '^TERMIC_TASK_ID=" + stranger.Task.ID + "' && echo found", "\nfound"},
		"the main checkout":    {"echo x > '" + r.repo + "/pwned' && echo wrote", "wrote"},
		"git's settings":       {"echo x >> '" + r.repo + "/.git/config' && echo wrote", "wrote"},
		"git's hooks":          {"echo x > '" + r.repo + "/.git/hooks/post-commit' && echo wrote", "wrote"},
		"the worktree pointer": {"echo gitdir: /tmp > .git && echo wrote", "wrote"},
	} {
		if out := boss.run("bash -c \"" + strings.ReplaceAll(c.command, `"`, `\"`) + "\" 2>&1 || sh -c \"" + strings.ReplaceAll(c.command, `"`, `\"`) + "\" 2>&1"); strings.Contains(out, c.never) {
			t.Errorf("%s: %s", name, out)
		}
	}
	// What it is for still works: git in the tree, and the endpoint by its own port.
	if out := boss.run("git -c user.name=a -c user.email=a@example.invalid commit -q --allow-empty -m inside && git stash list && git branch side && git status --short && git gc --auto"); !strings.Contains(out, "exit 0") {
		t.Errorf("git inside: %s", out)
	}
	if out := boss.run("echo $TERMIC_MCP_URL $TERMIC_SANDBOX_MODE"); !strings.Contains(out, ":"+port+"/mcp enforce") {
		t.Errorf("the environment: %s", out)
	}
	// A terminal that the user ends takes its token with it.
	call[api.TaskStopResult](r, "task_stop", map[string]any{"task": boss.id})
	if rows := call[api.LedgerResult](r, "ledger", map[string]any{"limit": 200}).Rows; !ledgered(rows, "task:"+boss.id, "task_new") {
		t.Error("the ledger does not tell who created the worker")
	}
}

func ledgered(rows []api.LedgerRow, principal, verb string) bool {
	for _, r := range rows {
		if r.Principal == principal && r.Verb == verb {
			return true
		}
	}
	return false
}

// TestCageWithoutTheBox: without the box there is no token, and in a network of its own no port either. Files only leaves
// the network as it is; there the missing token is the gate.
func TestCageWithoutTheBox(t *testing.T) {
	r := newRig(t)
	endpoint := call[api.MCPResult](r, "mcp_enable", nil)
	for _, mode := range []string{"enforce", "enforce-fs"} {
		c := r.cageTask("no box "+mode, mode, nil)
		if out := c.run("env"); strings.Contains(out, "TERMIC_MCP") {
			t.Errorf("%s: %s", mode, out)
		}
		out := c.run(fmt.Sprintf("bash -c 'exec 3<>/dev/tcp/127.0.0.1/%d && echo connected'", endpoint.Port))
		if strings.Contains(out, "\nconnected") || strings.HasPrefix(out, "connected") != (mode == "enforce-fs") {
			t.Errorf("%s: the port: %s", mode, out)
		}
	}
}

// ownPorts makes a caged task whose port no other program of this machine has: tests that run beside this one have apps of
// their own, which give out the same ports.
func (r *rig) ownPorts(mode string) (*walled, api.TaskDetail) {
	r.t.Helper()
	for i := range 20 {
		c := r.cageTask(fmt.Sprintf("server %d", i), mode, nil)
		if !strings.Contains(r.log.String(), "not reachable from outside\" task="+c.id) {
			return c, r.live(c.id)
		}
	}
	r.t.Fatal("other programs have the ports of twenty tasks")
	return nil, api.TaskDetail{}
}

// TestCagedServerIsReachable: a server that a caged agent starts on a port of its task opens in the user's browser.
func TestCagedServerIsReachable(t *testing.T) {
	r := newRig(t)
	c, d := r.ownPorts("enforce")
	if out := c.run("command -v python3"); !strings.Contains(out, "exit 0") {
		t.Skip("NOT TESTED: there is no python3 to serve with")
	}
	c.run("echo hello from inside > index.html; (setsid python3 -m http.server $TERMIC_PORT --bind 127.0.0.1 >/dev/null 2>&1 &) ; for i in $(seq 100); do sleep 0.3; python3 -c \"import urllib.request as u,os; u.urlopen('http://127.0.0.1:'+os.environ['TERMIC_PORT'])\" 2>/dev/null && break; done")
	res, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/index.html", d.Port))
	must(t, err)
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("status %d", res.StatusCode)
	}
	call[api.TaskStopResult](r, "task_stop", map[string]any{"task": c.id})
	if _, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/", d.Port)); err == nil {
		t.Error("the port is open after the cage has gone")
	}
}

// TestDiffDoesNotLeaveTheTree: the app looks at a tree while its agent changes it. A folder that turns into a link in the
// middle of the look must not show what lies behind the link: the agent itself may ask for the diff.
func TestDiffDoesNotLeaveTheTree(t *testing.T) {
	r := newRig(t)
	c := r.cageTask("swapper", "enforce", nil)
	keys := filepath.Join(r.home, "keys")
	must(t, os.MkdirAll(keys, 0o700))
	must(t, os.WriteFile(filepath.Join(keys, "id"), []byte("the private key\n"), 0o600))
	c.run("mkdir d && echo tracked > d/id && git add d && git -c user.name=a -c user.email=a@example.invalid commit -qm d && " +
		"(setsid sh -c 'while [ ! -e stop ]; do mv d e; ln -s \"" + keys + "\" d; rm d; mv e d; done' >/dev/null 2>&1 &)")
	for range 8 {
		out, err := try[json.RawMessage](r, "task_diff", map[string]any{"task": c.id, "full": true})
		if strings.Contains(string(out), "private key") {
			t.Fatalf("the diff left the tree: %s", out)
		}
		if err != nil && fault.CodeOf(err) == fault.Internal {
			t.Errorf("task_diff: %v", err)
		}
	}
	must(t, os.WriteFile(filepath.Join(c.path, "stop"), nil, 0o600))
	// The cage can put no pipe into the place of git's own files; one that stands there all the same holds nothing up.
	if out := c.run("mkfifo \"$(git rev-parse --git-dir)/locked\""); strings.Contains(out, "exit 0") {
		t.Errorf("a pipe in git's folder: %s", out)
	}
	index := strings.TrimSpace(r.git(c.path, "rev-parse", "--path-format=absolute", "--git-dir")) + "/index"
	must(t, os.Remove(index))
	must(t, unix.Mkfifo(index, 0o600))
	if f := refused(r, fault.Conflict, "task_diff", map[string]any{"task": c.id}); !strings.Contains(f.Message, "index") {
		t.Errorf("a pipe in place of the index: %v", f)
	}
	call[json.RawMessage](r, "task_status", map[string]any{"task": c.id})
}

// TestRefusalsAreShown: what a cage refuses is told to its owner: a host, a connection past the proxy, a write.
func TestRefusalsAreShown(t *testing.T) {
	r := newRig(t)
	c := r.cageTask("tries", "enforce", nil)
	c.run("curl -s -m 5 https://refused.example/ ; python3 -c \"import socket; socket.create_connection(('192.0.2.7', 80), 2)\"; echo x > /usr/refused; echo x > '" + r.home + "/../outside'")
	d := r.until(c.id, "told of its refusals", func(d api.TaskDetail) bool {
		seen := map[string]bool{}
		for _, v := range d.Denials {
			seen[v.Kind+" "+v.Target] = true
		}
		return (seen["host refused.example:443"] || seen["host 192.0.2.7:80"]) && seen["write /usr/refused"]
	})
	for _, v := range d.Denials {
		if v.Count < 1 || v.Last == "" || v.Would {
			t.Errorf("%+v", v)
		}
	}
}

// TestMonitorRecordsAndBlocksNothing: what a cage would refuse passes and is recorded; deep also what goes past the proxy.
func TestMonitorRecordsAndBlocksNothing(t *testing.T) {
	for _, deep := range []bool{false, true} {
		t.Run(fmt.Sprintf("deep=%v", deep), func(t *testing.T) {
			r := newRig(t)
			call[json.RawMessage](r, "settings_set", map[string]any{"key": "sandbox.deep_monitor", "value": strconv.FormatBool(deep)})
			l, err := net.Listen("tcp", "127.0.0.2:0")
			must(t, err)
			served := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("served")) })}
			go func() { _ = served.Serve(l) }()
			t.Cleanup(func() { _ = served.Close() })
			c := r.cageTask("watched", "monitor", nil)
			written := filepath.Join(r.home, "written")
			out := c.run("curl -s http://" + l.Addr().String() + "/; echo x > '" + written + "' && cat '" + written + "'; timeout 2 bash -c 'exec 3<>/dev/tcp/192.0.2.7/80'; env | grep TERMIC_MCP")
			if !strings.Contains(out, "servedx\n") || strings.Contains(out, "TERMIC_MCP") {
				t.Errorf("something was blocked: %s", out)
			}
			want := "host " + l.Addr().String()
			if deep {
				want = "host 192.0.2.7:80"
			}
			r.until(c.id, "recorded: "+want, func(d api.TaskDetail) bool {
				for _, v := range d.Denials {
					if v.Would && v.Kind+" "+v.Target == want {
						return true
					}
				}
				return false
			})
		})
	}
}

// TestReplacedPinEndsTheCage: the kernel unpins a file that somebody outside replaces. The agent is ended before it can use
// that for long, and its person is told.
func TestReplacedPinEndsTheCage(t *testing.T) {
	r := newRig(t)
	c := r.cageTask("pinned", "enforce", nil)
	pointer := filepath.Join(c.path, ".git")
	text, err := os.ReadFile(pointer)
	must(t, err)
	must(t, os.WriteFile(pointer+".new", text, 0o600))
	must(t, os.Rename(pointer+".new", pointer))
	r.until(c.id, "ended", func(d api.TaskDetail) bool { return !d.Tabs[0].Live })
	state, err := r.app.Dispatcher.Call(t.Context(), grant.OwnerOn(grant.Window), "window_state", json.RawMessage("{}"), nil)
	must(t, err)
	if !strings.Contains(string(state), "replaced outside") {
		t.Errorf("nobody is told: %s", state)
	}
}

// TestMemoryOfACage lets a program in a cage take more memory than the person allows: it is refused, and the cage goes on.
func TestMemoryOfACage(t *testing.T) {
	r := newRig(t)
	call[struct{}](r, "settings_set", map[string]any{"key": "sandbox.memory_mib", "value": "400"})
	c := r.cageTask("hungry", "enforce", nil)
	whole := func(mib int) bool { // tail keeps all that it was asked for
		return strings.Contains(c.run(fmt.Sprintf("head -c %dM /dev/zero | tail -c %dM | wc -c", mib, mib)), strconv.Itoa(mib<<20))
	}
	for _, want := range []struct {
		mib  int
		kept bool
	}{{50, true}, {900, false}, {50, true}} {
		if got := whole(want.mib); got != want.kept {
			t.Errorf("%d MiB within 400 were kept: %t", want.mib, got)
		}
	}
}

// TestCagedShell opens a shell for the person inside the cage of a task: it sees what the agent sees and no more, ends when
// the cage is changed, and a task without a cage has none to open.
func TestCagedShell(t *testing.T) {
	r := newRig(t)
	secret := filepath.Join(r.home, "secret")
	must(t, os.WriteFile(secret, []byte("kept"), 0o600))
	c := r.cageTask("boxed", "enforce", nil)
	warned := call[api.TaskTabResult](r, "task_tab", map[string]any{"task": c.id, "kind": "terminal"})
	if len(warned.Warnings) != 1 || !strings.Contains(warned.Warnings[0], "--kind caged-shell") {
		t.Errorf("a terminal without the cage says %q", warned.Warnings)
	}
	made := call[api.TaskTabResult](r, "task_tab", map[string]any{"task": c.id, "kind": "caged-shell"})
	if again := call[api.TaskTabResult](r, "task_tab", map[string]any{"task": c.id, "kind": "caged-shell"}); again.TabID != made.TabID || len(made.Warnings) > 0 {
		t.Errorf("asked twice: %+v and %+v", made, again)
	}
	look := fmt.Sprintf(`{ echo "prompt=$PS1"; cat '%s'; pwd; ls /proc | grep -c '^[0-9]'; echo "token=$TERMIC_MCP_TOKEN"; touch '%s/planted'; t=$(mktemp) && echo x >"$t" && echo "temp=$t ${TMPDIR-unset} $(TMPDIR= mktemp -d)"; } 2>&1`, secret, r.home)
	got := r.inShell(c.id, made.TabID, look, filepath.Join(c.path, "seen"))
	if !strings.Contains(got, "temp=/tmp/") || !strings.Contains(got, " /tmp /tmp/") {
		t.Errorf("there are no temporary files in the cage:\n%s", got)
	}
	if strings.Contains(got, "kept") || !strings.Contains(got, "prompt=(cage) $") || !strings.Contains(got, c.path) || !strings.Contains(got, "token=\n") && !strings.Contains(got+"\n", "token=\n") {
		t.Errorf("the shell saw:\n%s", got)
	}
	if _, err := os.Lstat(filepath.Join(r.home, "planted")); !os.IsNotExist(err) {
		t.Errorf("the shell wrote outside: %v", err)
	}
	call[api.TaskSandboxResult](r, "task_sandbox", map[string]any{"task": c.id, "mode": "off", "acceptFiles": true})
	for _, tab := range call[api.TaskStatusResult](r, "task_status", map[string]any{"task": c.id}).Task.Tabs {
		if tab.ID == made.TabID && tab.Live {
			t.Error("the shell outlived its cage")
		}
	}
	for _, params := range []map[string]any{{"task": c.id, "kind": "caged-shell"}, {"task": c.id, "restart": made.TabID}} {
		if _, err := try[api.TaskTabResult](r, "task_tab", params); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("%v without a cage: %v", params, err)
		}
	}
}

// TestSSHAgentByConsent: the user's real ssh agent is out of reach of a cage until its owner lists it, and then it answers.
func TestSSHAgentByConsent(t *testing.T) {
	agent, err1 := exec.LookPath("ssh-agent")
	_, err2 := exec.LookPath("ssh-add")
	if err1 != nil || err2 != nil {
		t.Skip("NOT TESTED: ssh-agent and ssh-add are not installed")
	}
	dir, err := os.MkdirTemp("", "sa") // the path of a socket is short
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "agent")
	cmd := exec.Command(agent, "-D", "-a", socket)
	must(t, cmd.Start())
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) { // no event tells of a socket
		if _, err := os.Lstat(socket); err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	r := newRig(t)
	r.stop()
	r.env["SSH_AUTH_SOCK"] = socket
	r.start()
	for _, mode := range []string{"enforce", "enforce-fs"} {
		c := r.cageTask("keys "+mode, mode, nil)
		if got := c.run(`echo "at=$SSH_AUTH_SOCK"; SSH_AUTH_SOCK=` + socket + ` ssh-add -l 2>&1`); !strings.Contains(got, "at=\n") || strings.Contains(got, "no identities") {
			t.Errorf("%s, not listed:\n%s", mode, got)
		}
		call[api.SandboxAllowResult](r, "sandbox_allow", map[string]any{"task": c.id, "write": "$SSH_AUTH_SOCK"})
		call[json.RawMessage](r, "task_stop", map[string]any{"task": c.id})
		call[api.TaskTabResult](r, "task_tab", map[string]any{"task": c.id, "restart": r.tabOf(c.id)})
		c = r.cageOf(c.id)
		if got := c.run("ssh-add -l 2>&1"); !strings.Contains(got, "no identities") {
			t.Errorf("%s, listed:\n%s", mode, got)
		}
	}
}

// tabOf is the first tab of a task, whether its program runs or not.
func (r *rig) tabOf(id string) string {
	r.t.Helper()
	return call[api.TaskStatusResult](r, "task_status", map[string]any{"task": id}).Task.Tabs[0].ID
}

// TestFileOfTheCagesIsPinned: an agent that is caged in the main checkout cannot take away the file that cages of the project
// are made from.
func TestFileOfTheCagesIsPinned(t *testing.T) {
	r := newRig(t)
	r.write(".termic.yaml", "sandbox: {mode: enforce-fs}\n")
	r.git(r.repo, "add", "-A")
	r.git(r.repo, "commit", "-qm", "tight")
	c := r.cageTask("inside", "enforce-fs", map[string]any{"mode": "main"})
	c.run("rm -f .termic.yaml; echo 'sandbox: {mode: \"off\"}' > .termic.yaml; mv .termic.yaml away")
	if b, err := os.ReadFile(filepath.Join(r.repo, ".termic.yaml")); err != nil || !strings.Contains(string(b), "enforce-fs") {
		t.Errorf("the file is %q, %v", b, err)
	}
}

// TestTabsOfAnAgentAreBounded: an agent cannot open tab after tab, each with a cage and limits of its own.
func TestTabsOfAnAgentAreBounded(t *testing.T) {
	r := newRig(t)
	call[api.MCPResult](r, "mcp_enable", nil)
	c := r.cageTask("many", "enforce", map[string]any{"mcp": true})
	opened := 0
	for range core.MaxTabs + 2 {
		if a := c.tool("task_tab", map[string]any{"task": c.id, "agentId": "osc7501"}); a.result() != nil {
			opened++
		} else if !strings.Contains(a.Body, "tabs already") {
			t.Fatalf("it says %s", a.Body)
		}
	}
	if opened != core.MaxTabs-1 { // its own is one
		t.Errorf("%d tabs were opened", opened)
	}
}

// TestUncagedChildIsLost: a task that an agent created while it had no cage is none of its tasks once it has one.
func TestUncagedChildIsLost(t *testing.T) {
	r := newRig(t)
	call[api.MCPResult](r, "mcp_enable", nil)
	r.addProject()
	n := r.newTask("parent", "osc7501", "")
	parent := r.cageOf(n.Task.ID)
	made := parent.tool("task_new", map[string]any{"name": "free", "project": "repo", "agent": "osc7501"})
	child := struct{ Task api.TaskSummary }{}
	if must(t, json.Unmarshal(made.result(), &child)); child.Task.ID == "" {
		t.Fatalf("task_new: %+v", made)
	}
	r.live(child.Task.ID)
	_, err := try[api.TaskSandboxResult](r, "task_sandbox", map[string]any{"task": n.Task.ID, "mode": "enforce", "mcp": true})
	if fault.CodeOf(err) == fault.Unsupported {
		t.Skipf("NOT TESTED: this machine cannot cage a task: %v", err)
	}
	must(t, err)
	call[api.TaskTabResult](r, "task_tab", map[string]any{"task": n.Task.ID, "restart": r.tabOf(n.Task.ID)})
	parent = r.cageOf(n.Task.ID)
	lost := func(state string) {
		t.Helper()
		for tool, args := range map[string]map[string]any{"task_status": {}, "task_log": {}, "task_diff": {}, "task_tab_close": {"tab": "1", "allowDefault": true}} {
			args["task"] = child.Task.ID
			if a := parent.tool(tool, args); a.result() != nil {
				t.Errorf("%s of the child %s: %+v", tool, state, a)
			}
		}
	}
	lost("without a cage")
	// Nor is it the parent's once it has the same cage: what was said and made there was not.
	call[api.TaskSandboxResult](r, "task_sandbox", map[string]any{"task": child.Task.ID, "mode": "enforce", "mcp": true})
	call[api.TaskTabResult](r, "task_tab", map[string]any{"task": child.Task.ID, "restart": r.tabOf(child.Task.ID)})
	r.live(child.Task.ID)
	lost("in the same cage")
	if !r.live(child.Task.ID).Tabs[0].Live {
		t.Error("the child was ended")
	}
}
