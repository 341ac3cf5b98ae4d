package sandbox

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"termic/sandbox/cage"
)

// insideEnv makes this test program do something in a cage: "serve PORT" answers each connection with a line, "dial PORT" says what it is
// told there.
const insideEnv = "SANDBOX_TEST_INSIDE"

// beInside is what the program does in a cage; it does not return then.
func beInside() {
	what, port, ok := strings.Cut(os.Getenv(insideEnv), " ")
	if !ok {
		return
	}
	address := net.JoinHostPort("127.0.0.1", port)
	if what == "dial" {
		c, err := net.Dial("tcp", address)
		if err != nil {
			os.Stdout.WriteString("refused\n")
			os.Exit(1)
		}
		_, _ = io.Copy(os.Stdout, c)
		os.Exit(0)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		os.Exit(1)
	}
	os.Stdout.WriteString("ready\n")
	for {
		c, err := l.Accept()
		if err != nil {
			os.Exit(1)
		}
		_, _ = c.Write([]byte("from inside\n"))
		_ = c.Close()
	}
}

// self is this program where a cage can read it.
func (h *house) self() string {
	h.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	text, err := os.ReadFile(exe)
	to := h.home + "/tools/bin/self"
	if err == nil {
		err = os.WriteFile(to, text, 0o755)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return to
}

// starts provisions a program and returns what it says, line by line.
func (h *house) starts(p Policy, l Launch) (*Provisioned, *bufio.Reader) {
	h.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = r.Close() })
	l.Dir, l.Env, l.Stdio = h.wt, append(h.gitEnv(), append(l.Env, "HOME="+h.home)...), [3]*os.File{nil, w, w}
	pr, err := Provision(h.t.Context(), p, l)
	_ = w.Close()
	if err != nil {
		h.t.Fatalf("provision: %v", err)
	}
	h.t.Cleanup(func() { pr.Kill(); pr.Wait() })
	return pr, bufio.NewReader(r)
}

// TestDoorsOfACage: the endpoint's door is there with the box and in no cage without it, and what listens on a port inside is reached from
// outside through the cage alone.
func TestDoorsOfACage(t *testing.T) {
	needCage(t)
	h := newHouse(t)
	self := h.self()
	for _, mcp := range []bool{true, false} {
		p := h.compose(func(w *Wish) { w.MCP, w.Ports = mcp, []int{4100} })
		if !slices.Equal(p.Inbound(), []int{4100}) {
			t.Errorf("inbound: %v", p.Inbound())
		}
		pr, said := h.starts(p, Launch{Argv: []string{self}, Env: []string{insideEnv + "=dial 7777"}})
		door := pr.EndpointDoor()
		if (door != nil) != mcp {
			t.Fatalf("the box is %v, the door %v", mcp, door)
		}
		want := "refused\n"
		if mcp {
			want = "the endpoint\n"
			c, err := door.Accept()
			if err != nil {
				t.Fatal(err)
			}
			_, _ = c.Write([]byte(want))
			_ = c.Close()
		}
		if got, err := said.ReadString('\n'); got != want {
			t.Errorf("with the box %v it is told %q, %v", mcp, got, err)
		}
		if exit := pr.Wait(); (exit.Code == 0) != mcp {
			t.Errorf("%+v", exit)
		}
	}
	pr, said := h.starts(h.compose(func(w *Wish) { w.Ports = []int{4100} }), Launch{Argv: []string{self}, Env: []string{insideEnv + "=serve 4100"}})
	if got, err := said.ReadString('\n'); got != "ready\n" {
		t.Fatalf("%q, %v", got, err)
	}
	c, err := pr.Dial(t.Context(), 4100)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(c); string(text) != "from inside\n" {
		t.Errorf("%q, %v", text, err)
	}
	_ = c.Close()
	if c, err := net.DialTimeout("tcp", "127.0.0.1:4100", time.Second); err == nil {
		_ = c.Close()
		t.Error("the port is open outside, too")
	}
	if _, err := pr.Dial(t.Context(), 4101); err == nil {
		t.Error("a port on which nobody listens was reached")
	}
}

// TestSignalsAndEnds: a signal reaches the program by name, a kill reaches everything, and a wait returns for both.
func TestSignalsAndEnds(t *testing.T) {
	needCage(t)
	h := newHouse(t)
	p := h.compose()
	pr, said := h.starts(p, Launch{Argv: []string{"/bin/sh", "-c", `trap "echo heard; exit 9" USR1; echo ready; while :; do sleep 0.05; done`}})
	if got, err := said.ReadString('\n'); got != "ready\n" {
		t.Fatalf("%q, %v", got, err)
	}
	if pr.First() <= 1 || pr.Pid() != pr.First() || pr.Terminal() != nil || !pr.Policy().Capability().Equal(p.Capability()) {
		t.Errorf("first %d, program %d, terminal %v", pr.First(), pr.Pid(), pr.Terminal())
	}
	if err := pr.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(said); !strings.Contains(string(got), "heard\n") { // the shell may tell of its children, which hear it too
		t.Errorf("%q, %v", got, err)
	}
	if exit := pr.Wait(); exit.Code != 9 || exit.Signal != "" {
		t.Errorf("%+v", exit)
	}
	view := h.data + "/views/1"
	if _, err := os.Lstat(view); err == nil {
		t.Error("the view of the repository is left")
	}

	pr, said = h.starts(p, Launch{Argv: []string{"/bin/sh", "-c", `trap "" TERM; (sleep 1000 &); echo ready; while :; do sleep 0.05; done`}, Terminal: nil})
	if got, err := said.ReadString('\n'); got != "ready\n" {
		t.Fatalf("%q, %v", got, err)
	}
	first := pr.First()
	pr.Kill()
	pr.Kill() // again does nothing
	if exit := pr.Wait(); SignalName(exit.Signal) != "SIGKILL" {
		t.Errorf("%+v", exit)
	}
	if err := unix.Kill(first, 0); err == nil {
		t.Error("its first process is still there")
	}
	if got := SignalName("not a signal"); got != "not a signal" {
		t.Errorf("%q", got)
	}
}

// TestAProgramOnItsTerminal: the pid of a program on a terminal is that of its session, which is not the cage's first process.
func TestAProgramOnItsTerminal(t *testing.T) {
	needCage(t)
	h := newHouse(t)
	pr, _ := h.starts(h.compose(), Launch{Argv: []string{"/bin/sh", "-c", `echo "pid is $$"; read x`}, Terminal: &cage.Size{Cols: 80, Rows: 24}})
	if said, err := bufio.NewReader(pr.Terminal()).ReadString('\n'); !strings.HasPrefix(said, "pid is ") {
		t.Fatalf("%q, %v", said, err)
	}
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pr.Pid()), "cmdline"))
	if pr.Pid() == pr.First() || err != nil || !strings.HasPrefix(string(status), "/bin/sh\x00") {
		t.Errorf("pid %d of %q, first %d: %v", pr.Pid(), status, pr.First(), err)
	}
}

// TestWhatHoldsIsTold: the report names the walls of the mode, and every limit or that there is none.
func TestWhatHoldsIsTold(t *testing.T) {
	needCage(t)
	h := newHouse(t)
	for _, mode := range []Mode{Enforce, EnforceFs} {
		if mode == EnforceFs && !cage.Probe(t.Context(), "").EnforceFs {
			t.Log("NOT TESTED: this machine has no enforce-fs")
			continue
		}
		pr, _ := h.starts(h.compose(func(w *Wish) { w.Mode = mode }), Launch{Argv: []string{"/bin/true"}, Limits: cage.Limits{Memory: 512 << 20, OpenFiles: 333}})
		e := pr.Holds()
		if e.Mode != mode || e.System != "namespaces" || e.AsRoot != (os.Getuid() == 0) || !slices.Contains(e.Walls, "mounts") || !slices.Contains(e.Walls, "seccomp") {
			t.Errorf("%s: %+v", mode, e)
		}
		if own := slices.Contains(e.Walls, "network namespace"); own != (mode == Enforce) {
			t.Errorf("%s: a network of its own: %v", mode, own)
		}
		landlock := slices.ContainsFunc(e.Walls, func(w string) bool { return strings.HasPrefix(w, "landlock ") })
		missing := slices.ContainsFunc(e.Notes, func(n string) bool { return strings.Contains(n, "no Landlock") })
		if landlock == missing {
			t.Errorf("%s: Landlock holds: %v, is missing: %v", mode, landlock, missing)
		}
		for _, want := range []string{"memory: 512 MiB by ", "open files: 333 by "} {
			if !slices.ContainsFunc(e.Limits, func(l string) bool { return strings.HasPrefix(l, want) }) {
				t.Errorf("%s: no %q in %q", mode, want, e.Limits)
			}
		}
		if len(e.Limits) != 3 {
			t.Errorf("%s: %q", mode, e.Limits)
		}
		pr.Wait()
	}
}

// TestNoCageForAnOpenMode: what shall have no cage gets none by this way, and nothing is started.
func TestNoCageForAnOpenMode(t *testing.T) {
	for _, mode := range []Mode{Off, Monitor} {
		p, err := Compose(Wish{Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		if pr, err := Provision(context.Background(), p, Launch{Argv: []string{"/bin/true"}}); err == nil {
			pr.Kill()
			t.Errorf("%s: a cage was built", mode)
		}
	}
}

// TestWatchedByAPolicy: a program without a cage does what it wants, and what a cage of the policy would refuse is told as refused.
func TestWatchedByAPolicy(t *testing.T) {
	needCage(t)
	h := newHouse(t)
	h.file(h.home+"/code/secret/key", "KEY")
	for _, reads := range []bool{false, true} {
		var mu sync.Mutex
		refused := map[string]bool{}
		m, err := h.compose(layer(Layer{Read: []string{"$HOME/code"}, Deny: []string{"$HOME/code/secret"}, Owner: true})).Watch(t.TempDir(), "", reads, func(a Act) {
			mu.Lock()
			defer mu.Unlock()
			refused[a.Path] = refused[a.Path] || a.Refused
		})
		if err != nil {
			t.Fatal(err)
		}
		script := "cat " + h.home + "/code/secret/key; echo x >" + h.home + "/code/outside; echo x >" + h.wt + "/own"
		argv := append(m.Prefix(), "/bin/sh", "-c", script)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = append(h.gitEnv(), "HOME="+h.home)
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != "KEY" {
			t.Fatalf("reads %v: %q, %v", reads, out, err)
		}
		<-m.Begun()
		m.Close()
		mu.Lock()
		for path, want := range map[string]bool{h.home + "/code/secret/key": reads, h.home + "/code/outside": true, h.wt + "/own": false} {
			if refused[path] != want {
				t.Errorf("reads %v: %s is told as refused: %v, want %v", reads, path, refused[path], want)
			}
		}
		mu.Unlock()
		if text, err := os.ReadFile(h.home + "/code/outside"); string(text) != "x\n" {
			t.Errorf("it was stopped: %q, %v", text, err)
		}
	}
}
