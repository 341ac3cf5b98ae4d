package e2e

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termic/app"
	"termic/internal/api"
	"termic/internal/fault"
)

// TestCagesBehindAFlip: what a caged task can bring about is told as such: on a port of its own, and on any port of this machine
// where its cage has no network of its own.
func TestCagesBehindAFlip(t *testing.T) {
	r := newRig(t)
	c, d := r.ownPorts("enforce")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	other := l.Addr().String()
	must(t, l.Close())
	call[api.CheckResult](r, "check_add", map[string]any{"name": "theirs", "kind": "http", "targets": []string{fmt.Sprintf("http://localhost:%d/", d.Port)}, "everyMs": 10000})
	call[api.CheckResult](r, "check_add", map[string]any{"name": "other", "kind": "tcp", "targets": []string{other}, "everyMs": 10000})
	r.check("theirs", api.CheckDown)
	r.check("other", api.CheckDown)
	if out := c.run("command -v python3"); !strings.Contains(out, "exit 0") {
		t.Skip("NOT TESTED: there is no python3 to serve with")
	}
	c.run("(setsid python3 -m http.server $TERMIC_PORT --bind 127.0.0.1 >/dev/null 2>&1 &) ; sleep 1")
	l, err = net.Listen("tcp", other)
	must(t, err)
	r.check("theirs", api.CheckUp)
	r.check("other", api.CheckUp)
	if got := r.flipped("theirs", 1); len(got) != 1 || !slices.Equal(got[0].Cages, []string{c.id}) {
		t.Errorf("on a port of the task: %+v", got)
	}
	if got := r.flipped("other", 1); len(got) != 1 || len(got[0].Cages) != 0 {
		t.Errorf("on a port of nobody's: %+v", got)
	}
	wide := r.cageTask("wide", "enforce-fs", nil)
	must(t, l.Close())
	r.check("other", api.CheckDown)
	if got := r.flipped("other", 2); len(got) != 2 || !slices.Equal(got[0].Cages, []string{wide.id}) {
		t.Errorf("beside a cage without a network of its own: %+v", got)
	}
}

// TestFlipByACageThatIsGone: an agent that brought a port up, or answered on it, and is gone by the time that the flip is told, is still
// whom it came from. Otherwise an agent would only have to end itself for the owner's trigger to act as the owner.
func TestFlipByACageThatIsGone(t *testing.T) {
	r := newRig(t)
	wide := r.cageTask("wide", "enforce-fs", nil)
	open := r.newTask("Open", "osc7501", "")
	r.live(open.Task.ID)
	if out := wide.run("command -v python3"); !strings.Contains(out, "exit 0") {
		t.Skip("NOT TESTED: there is no python3 to serve with")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	at := l.Addr().(*net.TCPAddr)
	must(t, l.Close())
	call[api.TriggerResult](r, "trigger_add", map[string]any{"name": "loose", "kind": "check_flip", "do": "task_send", "task": open.Task.ID, "prompt": "#write reached.txt hello"})
	call[api.CheckResult](r, "check_add", map[string]any{"name": "port", "kind": "tcp", "targets": []string{at.String()}, "everyMs": 10000})
	r.check("port", api.CheckDown)
	// One answer, and then nothing of the agent is left.
	serve := "import socket,os,signal; s=socket.socket(); s.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEADDR,1); s.bind((\"127.0.0.1\",%d)); s.listen(); s.accept(); os.kill(os.getppid(),signal.SIGKILL)"
	call[api.TaskSendResult](r, "task_send", map[string]any{"task": wide.id, "prompt": "#run gone exec python3 -c '" + fmt.Sprintf(serve, at.Port) + "'"})
	for _, state := range []string{api.CheckUp, api.CheckDown} {
		r.check("port", state)
	}
	for _, e := range r.flipped("port", 2) {
		if !slices.Equal(e.Cages, []string{wide.id}) {
			t.Errorf("by a cage that is gone: %+v", e)
		}
		told := r.event("check_flip", func(h api.Happening) bool { return h.ID == e.ID })
		for _, x := range told.Rules {
			if x.Matched && x.Firing.Outcome != "refused" {
				t.Errorf("%+v", x.Firing)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(r.live(open.Task.ID).Path, "reached.txt")); err == nil {
		t.Error("an agent in no cage was reached")
	}
}

// TestNetgroupsOfACage: a real cage's proxy decides by netgroups as they were at its start, a change says who keeps the old ones, and
// what is in use can neither be deleted nor, by anybody but the owner, changed.
func TestNetgroupsOfACage(t *testing.T) {
	r := newRig(t)
	r.addProject()
	call[api.NetgroupResult](r, "netgroup_add", map[string]any{"name": "lab", "members": []string{"203.0.113.0/24", "!203.0.113.9"}})
	call[api.NetgroupResult](r, "netgroup_add", map[string]any{"name": "never", "members": []string{"192.0.2.0/24"}})
	refused(r, fault.NotFound, "project_settings", map[string]any{"name": "repo", "hosts": []string{"@lap"}})
	refused(r, fault.InvalidArgument, "project_settings", map[string]any{"name": "repo", "hosts": []string{"@lab+private"}})
	call[api.ProjectSettingsResult](r, "project_settings", map[string]any{"name": "repo", "hosts": []string{"@lab", "!@never", "192.0.2.7"}})
	c := r.cageTask("boxed", "enforce", nil)
	if out := c.run("command -v curl"); !strings.Contains(out, "exit 0") {
		t.Skip("NOT TESTED: there is no curl to ask with")
	}
	ask := func(c *walled, host string) string { return c.run("curl -s -m 15 http://" + host + "/") }
	for host, want := range map[string]string{"203.0.113.9": "sandbox blocked", "198.51.100.1": "sandbox blocked", "192.0.2.7": "takes that address out"} {
		if out := ask(c, host); !strings.Contains(out, want) {
			t.Errorf("%s: %s", host, out)
		}
	}
	if out := ask(c, "203.0.113.5"); strings.Contains(out, "sandbox blocked") {
		t.Errorf("an address of the netgroup: %s", out)
	}
	f := refused(r, fault.Conflict, "netgroup_delete", map[string]any{"name": "lab"})
	if !strings.Contains(f.Hint, "project repo") {
		t.Errorf("it does not say who uses it: %s", f.Hint)
	}
	call[api.MCPResult](r, "mcp_enable", nil)
	res, err := r.named("ops", "operator").tool(t.Context(), "netgroup_update", map[string]any{"name": "lab", "members": []string{"0.0.0.0/0"}})
	if err != nil || !res.IsError || !strings.Contains(fmt.Sprint(res), "owner") {
		t.Errorf("an operator widened a cage: %+v, %v", res, err)
	}
	got := call[api.NetgroupResult](r, "netgroup_update", map[string]any{"name": "lab", "members": []string{"198.51.100.0/24"}})
	if !strings.Contains(got.Kept, "1 running agent") {
		t.Errorf("%+v", got)
	}
	if out := ask(c, "198.51.100.1"); !strings.Contains(out, "sandbox blocked") {
		t.Errorf("a running cage was changed: %s", out)
	}
	if sb := call[api.TaskSandboxResult](r, "task_sandbox", map[string]any{"task": c.id}); !sb.Restart {
		t.Errorf("it does not say that a start would change it: %+v", sb)
	}
	next := r.cageTask("next", "enforce", nil)
	if out := ask(next, "203.0.113.5"); !strings.Contains(out, "sandbox blocked") {
		t.Errorf("a new cage has the old addresses: %s", out)
	}
}

// TestACageDoesNotReachTheBrowserFace: whatever its list of hosts says.
func TestACageDoesNotReachTheBrowserFace(t *testing.T) {
	r := newRig(t)
	u, err := url.Parse(r.web(app.WebOptions{}).url)
	must(t, err)
	r.addProject()
	call[api.ProjectSettingsResult](r, "project_settings", map[string]any{"name": "repo", "hosts": []string{"*+private", "localhost:" + u.Port() + "+private"}})
	c := r.cageTask("boxed", "enforce", nil)
	if out := c.run("command -v curl"); !strings.Contains(out, "exit 0") {
		t.Skip("NOT TESTED: there is no curl to ask with")
	}
	for _, host := range []string{"localhost", "127.0.0.1", "0.0.0.0"} {
		if out := c.run("curl -s -m 15 --noproxy '' -x \"$HTTP_PROXY\" http://" + host + ":" + u.Port() + "/"); !strings.Contains(out, "is a port of Termic itself") {
			t.Errorf("%s: %s", host, out)
		}
	}
}
