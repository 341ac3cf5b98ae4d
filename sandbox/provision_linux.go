package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"termic/sandbox/cage"
	"termic/sandbox/proxy"
)

// proxyEnd bounds the wait for the connections of a proxy whose cage is gone: there is nobody on the other side.
const proxyEnd = 2 * time.Second

// Provisioned is a cage that stands, with the program running in it. Its proxy's goroutine ends with the cage, and Wait
// waits for it.
type Provisioned struct {
	policy Policy
	cage   *cage.Cage
	proxy  *proxy.Proxy // nil without a network of its own
	served sync.WaitGroup
}

// Provision builds the cage of a policy and starts the program in it. It fails closed: either everything that the policy
// promises stands, or nothing was started.
func Provision(ctx context.Context, p Policy, l Launch) (*Provisioned, error) {
	if !p.Caged() {
		return nil, fmt.Errorf("provision: mode %q has no cage", p.mode)
	}
	if err := p.Prepare(); err != nil {
		return nil, err
	}
	spec := cage.Spec{Argv: l.Argv, Env: p.GitEnvironment(p.environment(l.Env)), Dir: l.Dir, Net: p.OwnNetwork(), Ports: p.Doors(),
		Terminal: l.Terminal, Stdio: l.Stdio, Limits: l.Limits, HelperPath: l.Helper}
	if l.OnAct != nil {
		spec.Watch = &cage.Watch{What: cage.WatchWrites, On: l.OnAct}
		if l.Reads {
			spec.Watch.What = cage.WatchAll
		}
	}
	c, p, err := p.start(ctx, spec)
	if err != nil {
		return nil, errors.Join(err, p.Remove())
	}
	pr := &Provisioned{policy: p, cage: c}
	if p.OwnNetwork() && p.proxy != 0 {
		listener := c.Listener(p.proxy)
		if listener == nil {
			c.Kill()
			return nil, errors.New("provision: the cage has no door for its proxy")
		}
		pr.proxy = proxy.New(proxy.Options{Rules: p.Hosts(), Nets: p.Nets(), Refused: p.Refused(), Mode: proxy.Enforce, OnDecision: l.OnDecision, Own: l.Own, Upstream: l.Upstream, Log: l.Log})
		pr.served.Go(func() { _ = pr.proxy.Serve(listener) }) // ends with Close, or with the cage
	}
	return pr, nil
}

// startTries bounds how often a start is tried anew because something that was to be hidden has gone meanwhile.
const startTries = 8

// start starts the cage of p, and returns p as it was started. Sockets of outside processes and temporary files of /etc
// come and go: one that is gone has nothing to hide, and the cage, which hides only what is there, is started without it.
func (p Policy) start(ctx context.Context, spec cage.Spec) (*cage.Cage, Policy, error) {
	gone := func(path string) bool {
		_, err := os.Lstat(path)
		return errors.Is(err, fs.ErrNotExist)
	}
	for try := 1; ; try++ {
		p.sockets = slices.DeleteFunc(slices.Clone(p.sockets), gone)
		spec.View = p.cageView()
		spec.View.TmpBytes = tmpBytes(spec.Limits.Memory)
		c, err := cage.Start(ctx, spec)
		// What was missing may be there again by now, and may go again.
		if err == nil || !cage.Vanished(err) && !slices.ContainsFunc(p.sockets, gone) || try == startTries {
			return c, p, err
		}
	}
}

// Policy is what was provisioned.
func (pr *Provisioned) Policy() Policy { return pr.policy }

// Terminal is the master of the cage's pseudo-terminal, non-blocking. The caller owns it.
func (pr *Provisioned) Terminal() *os.File { return pr.cage.Terminal() }

// First is the first process of the cage, as this process sees it: all others end with it.
func (pr *Provisioned) First() int { return pr.cage.Pid() }

// Pid is that of the program as this process sees it: the kernel tells it of the session on its terminal. Without a
// terminal it is that of the cage's first process.
func (pr *Provisioned) Pid() int {
	t := pr.cage.Terminal()
	if t == nil {
		return pr.cage.Pid()
	}
	conn, err := t.SyscallConn()
	if err != nil {
		return pr.cage.Pid()
	}
	pid := pr.cage.Pid()
	_ = conn.Control(func(fd uintptr) {
		if sid, err := unix.IoctlGetInt(int(fd), unix.TIOCGSID); err == nil && sid > 0 {
			pid = sid
		}
	})
	return pid
}

// EndpointDoor is the listener of the MCP endpoint inside the cage; nil without the box.
func (pr *Provisioned) EndpointDoor() net.Listener {
	if !pr.policy.mcp || !pr.policy.OwnNetwork() {
		return nil
	}
	return pr.cage.Listener(pr.policy.mcpPort)
}

// Dial connects to a port that a program in the cage listens on.
func (pr *Provisioned) Dial(ctx context.Context, port int) (net.Conn, error) {
	return pr.cage.Dial(ctx, port)
}

// Signal sends a signal to the program's session.
func (pr *Provisioned) Signal(s syscall.Signal) error { return pr.cage.Signal(s) }

// Kill ends everything in the cage at once.
func (pr *Provisioned) Kill() { pr.cage.Kill() }

// Wait returns when the program has ended and nothing of the cage and its proxy is left.
func (pr *Provisioned) Wait() cage.Exit {
	exit := pr.cage.Wait()
	if pr.proxy != nil {
		ctx, cancel := context.WithTimeout(context.Background(), proxyEnd)
		defer cancel()
		_ = pr.proxy.Close(ctx) // whoever was connected is gone
		pr.served.Wait()
	}
	_ = pr.policy.Remove() // what is left of it is in the task's own folder
	return exit
}

// Holds is what really holds, as the cage found it.
func (pr *Provisioned) Holds() Enforcement {
	e := pr.cage.Enforcement()
	out := Enforcement{Mode: pr.policy.mode, System: "namespaces", AsRoot: e.Root, Walls: []string{"mounts"}}
	if pr.policy.OwnNetwork() {
		out.Walls = append(out.Walls, "network namespace")
	}
	if e.Landlock > 0 {
		out.Walls = append(out.Walls, "landlock "+strconv.Itoa(e.Landlock))
	} else {
		out.Notes = append(out.Notes, "This kernel has no Landlock, so the second wall around files is missing.")
	}
	if e.Seccomp {
		out.Walls = append(out.Walls, "seccomp")
	}
	for _, l := range []struct {
		name  string
		limit cage.Limit
		per   int64 // what one of its unit is
		unit  string
	}{{"processes", e.Processes, 1, ""}, {"memory", e.Memory, 1 << 20, " MiB"}, {"open files", e.OpenFiles, 1, ""}} {
		if l.limit.Value > 0 {
			out.Limits = append(out.Limits, fmt.Sprintf("%s: %d%s by %s", l.name, l.limit.Value/l.per, l.unit, l.limit.By))
		} else {
			out.Limits = append(out.Limits, l.name+": not limited")
		}
		if l.limit.Note != "" {
			out.Notes = append(out.Notes, "The limit on "+l.name+": "+strings.ToLower(l.limit.Note[:1])+l.limit.Note[1:])
		}
	}
	if e.Root {
		out.Notes = append(out.Notes, "Termic runs as root, so what the agent writes in its folders belongs to root.")
	}
	return out
}

// SignalName is the kernel's name of a signal that an Exit tells in words: SIGKILL for "killed".
func SignalName(words string) string {
	for n := syscall.Signal(1); n < 65; n++ {
		if n.String() == words {
			return unix.SignalName(n)
		}
	}
	return words
}
