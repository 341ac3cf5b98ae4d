package cage

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"termic/internal/fault"
	"termic/sandbox/cage/inside"
	"termic/sandbox/cage/wire"
)

const (
	defaultTimeout = 20 * time.Second // from the first process to the executed program
	drainTimeout   = 2 * time.Second  // for a helper that failed to end
	fsLandlock     = 6                // ABI that keeps abstract sockets and signals of the host away
	lowestPort     = 1024             // those below are privileged, and the cage has no privilege
)

// Start builds a cage and starts the program in it. An error is a fault with cause and fix, and then nothing is left
// running. The context bounds the start alone.
func Start(ctx context.Context, spec Spec) (*Cage, error) {
	if err := checkSpec(&spec); err != nil {
		return nil, err
	}
	weaken(&spec)
	c := &Cage{ownNet: spec.Net && !leavesOut(spec, wire.WeakNet), dials: map[uint64]chan<- dialed{}, listeners: map[int]net.Listener{}, done: make(chan struct{})}
	s := &starting{Cage: c, spec: spec, ctx: ctx}
	err := s.launch()
	if err == nil {
		release := c.conn.until(ctx, spec.StartTimeout)
		if err = s.converse(); err == nil {
			release()
			if ctx.Err() != nil { // its end may have set the deadline already
				err = context.Cause(ctx)
			}
		}
	}
	if err != nil {
		s.abandon()
		switch {
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, fault.Wrap(err, fault.Unavailable, "The cage was not ready within %s", spec.StartTimeout).WithHint("Try again; the machine may be under load.")
		}
		return nil, wordsFor(err)
	}
	go c.attend()
	return c, nil
}

// Vanished tells whether a start failed because something that was to be hidden was not there at that moment.
func Vanished(err error) bool {
	f, ok := errors.AsType[*wire.Failed](err)
	return ok && f.Step == wire.StepCover && f.Errno == int(unix.ENOENT)
}

// starting is a cage on its way.
type starting struct {
	*Cage
	spec Spec
	ctx  context.Context

	enter *exec.Cmd
	setup *wire.Setup
	built *wire.Built
}

// launch starts the helper where its limits hold. It waits there for the first message.
func (s *starting) launch() error {
	path, name := s.spec.HelperPath, "termic-cage"
	if path == "" {
		if !canBeChild.Load() {
			return fault.New(fault.Unsupported, "The helper of cages, termic-cage, is not beside this program").WithHint("Install Termic again, with termic-cage beside the app.")
		}
		path = "/proc/self/exe" // still there when the file was replaced
	}
	conn, theirs, err := newLink()
	if err != nil {
		return fmt.Errorf("make a socket pair: %w", err)
	}
	defer theirs.Close()
	s.conn = conn
	s.enter = &exec.Cmd{Path: path, Args: append([]string{name}, inside.EnterArgs(s.ownNet)...), Env: helperEnv[:], Dir: "/",
		ExtraFiles: []*os.File{theirs}, SysProcAttr: &syscall.SysProcAttr{Setsid: true}} // a Ctrl-C for the app is not for its cages
	if err := s.enter.Start(); err != nil {
		s.enter = nil
		return fault.Wrap(err, fault.Unavailable, "The helper of the cage, %s, cannot be started", path).WithHint("Install Termic again, with termic-cage beside the app.")
	}
	s.bounds = newBounds(s.spec.Limits, s.enter.Process.Pid)
	return nil
}

// helperEnv is the whole environment of a helper. One processor keeps it small: it mostly waits. The runtime need not look for a
// cgroup that bounds processors.
var helperEnv = [...]string{"GOMAXPROCS=1", "GODEBUG=containermaxprocs=0,updatemaxprocs=0"}

// converse goes from the first message to the executed program.
func (s *starting) converse() error {
	s.setup = s.message()
	if err := s.conn.send(s.setup); err != nil && !gone(err) {
		return err // a helper that is gone has said why
	}
	fds, err := s.awaitBuilt()
	if err != nil {
		return err
	}
	_ = s.enter.Wait() // it ended after it told us of the first process
	if err := s.take(fds); err != nil {
		return err
	}
	stdio, release, err := s.stdio()
	if err != nil {
		return err
	}
	defer release()
	if err := s.conn.send(&wire.Run{Argv: s.spec.Argv, Env: s.spec.Env, Dir: s.spec.Dir}, stdio...); err != nil && !gone(err) {
		return err
	}
	m, fds, err := s.conn.receive()
	if err != nil {
		return fmt.Errorf("the cage's helper ended before the program started: %w", err)
	}
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
	switch m := m.(type) {
	case *wire.Started:
		s.program = m.Pid
		s.holds = s.enforcement()
		return nil
	case *wire.Failed:
		return m
	}
	return fmt.Errorf("the cage's helper sent %T where its start was due", m)
}

// awaitBuilt waits until the walls stand. The two processes that say so are not ordered.
func (s *starting) awaitBuilt() ([]int, error) {
	var fds []int
	for s.first == nil || s.built == nil {
		m, got, err := s.conn.receive()
		if err != nil {
			closeAll(fds)
			return nil, fmt.Errorf("the cage's helper ended early: %w", err)
		}
		fds = append(fds, got...)
		switch m := m.(type) {
		case *wire.Entered:
			err = s.meet(m.Pid)
		case *wire.Built:
			s.built = m
		case *wire.Failed:
			err = m
		default:
			err = fmt.Errorf("the cage's helper sent %T too early", m)
		}
		if err != nil {
			closeAll(fds)
			return nil, err
		}
	}
	return fds, nil
}

// meet takes the first process of the cage, a child of ours that its maker told us of.
func (s *starting) meet(pid int) (err error) {
	s.first, err = os.FindProcess(pid)
	return err
}

// take makes listeners and terminal of the descriptors that came with Built. Each has one owner from here on.
func (s *starting) take(fds []int) error {
	want := len(s.setup.Ports)
	if s.setup.Terminal {
		want++
	}
	if s.built.Watched {
		want++
	}
	if len(fds) != want {
		closeAll(fds)
		return fmt.Errorf("the cage's helper sent %d descriptors instead of %d", len(fds), want)
	}
	if s.built.Watched { // at once: the helper opens something next
		last := len(fds) - 1
		s.watcher = newWatcher(fds[last], s.spec.Watch.On, judgeBy(s.spec.View, s.ownNet))
		fds = fds[:last]
	}
	for i, port := range s.setup.Ports {
		f := os.NewFile(uintptr(fds[i]), "cage-listener")
		l, err := net.FileListener(f)
		_ = f.Close() // net.FileListener works on a copy
		if err != nil {
			closeAll(fds[i+1:])
			return fmt.Errorf("take the listener on port %d: %w", port, err)
		}
		s.listeners[port] = l
	}
	if s.setup.Terminal {
		fd := fds[len(fds)-1]
		if err := unix.SetNonblock(fd, true); err != nil {
			closeAll(fds[len(fds)-1:])
			return err
		}
		s.terminal = os.NewFile(uintptr(fd), "/dev/ptmx")
	}
	return nil
}

// stdio gives the descriptors of the program when it has no terminal.
func (s *starting) stdio() (fds []int, release func(), err error) {
	if s.setup.Terminal {
		return nil, func() {}, nil
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range s.spec.Stdio {
		if f == nil {
			f = null
		}
		raw, err := f.SyscallConn()
		if err == nil {
			err = raw.Control(func(fd uintptr) { fds = append(fds, int(fd)) }) // not f.Fd(), which would make it blocking
		}
		if err != nil {
			_ = null.Close()
			return nil, nil, fmt.Errorf("use a descriptor of the caller: %w", err)
		}
	}
	return fds, func() { _ = null.Close() }, nil
}

// abandon ends what was begun. It reads on until the helper is gone, to learn of a first process that it had made.
func (s *starting) abandon() {
	if s.enter != nil {
		_ = s.conn.conn.SetDeadline(time.Now().Add(drainTimeout))
		_ = s.conn.conn.CloseWrite()
		for {
			m, fds, err := s.conn.receive()
			closeAll(fds)
			if err != nil {
				break
			}
			if e, ok := m.(*wire.Entered); ok && s.first == nil {
				_ = s.meet(e.Pid)
			}
		}
		_ = s.enter.Process.Kill()
		_ = s.enter.Wait()
	}
	if s.first != nil {
		_ = s.first.Kill()
		_, _ = s.first.Wait()
	}
	if s.conn != nil {
		s.conn.close()
	}
	if s.terminal != nil {
		_ = s.terminal.Close()
	}
	for _, l := range s.listeners {
		_ = l.Close()
	}
	if s.watcher != nil {
		s.watcher.wait()
	}
	s.bounds.remove()
}

// gone tells whether a send failed because nobody is there.
func gone(err error) bool { return errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) }

func closeAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

// message is the request for the cage.
func (s *starting) message() *wire.Setup {
	v := s.spec.View
	m := &wire.Setup{Covers: v.Covers, Pins: v.Pins, TmpBytes: v.TmpBytes, Net: s.ownNet, Ports: s.spec.Ports, Weak: uint64(s.spec.weak)}
	for _, g := range v.Mounts {
		m.Mounts = append(m.Mounts, wire.Mount{Source: g.Source, Target: g.Target, Write: g.Write, Plain: g.Plain, Dev: g.Dev, Ino: g.Ino})
	}
	for _, l := range v.Links {
		m.Links = append(m.Links, wire.Link{Path: l.Path, To: l.To})
	}
	if !s.spec.Net {
		m.NeedLandlock = fsLandlock
	}
	if w := s.spec.Watch; w != nil && w.On != nil {
		m.Watch = byte(w.What)
	}
	if t := s.spec.Terminal; t != nil {
		m.Terminal, m.Cols, m.Rows = true, t.Cols, t.Rows
	}
	s.bounds.ask(m)
	return m
}

// leavesOut tells whether a test build leaves a layer out.
func leavesOut(spec Spec, layer uint64) bool { return uint64(spec.weak)&layer != 0 }

// checkSpec refuses what cannot be meant, and fills in defaults.
func checkSpec(s *Spec) error {
	bad := func(format string, args ...any) error { return fault.New(fault.InvalidArgument, format, args...) }
	if len(s.Argv) == 0 || s.Argv[0] == "" {
		return bad("There is no program to start")
	}
	for _, t := range slices.Concat(s.Argv, s.Env) {
		if strings.ContainsRune(t, 0) {
			return bad("An argument or variable of the program holds a zero byte")
		}
	}
	if !filepath.IsAbs(s.Dir) {
		return bad("The working folder of a cage must be an absolute path")
	}
	if len(s.Ports) > 0 && !s.Net {
		return bad("A cage on the host's network has no ports of its own")
	}
	if len(s.Ports) >= wire.MaxFDs {
		return bad("A cage has at most %d ports", wire.MaxFDs-1)
	}
	for i, p := range s.Ports {
		if p < lowestPort || p > 65535 || slices.Contains(s.Ports[:i], p) {
			return bad("Port %d cannot be listened on in a cage", p)
		}
	}
	s.View.Mounts = slices.Clone(s.View.Mounts)
	for i := range s.View.Mounts {
		if m := &s.View.Mounts[i]; m.Target == "" {
			m.Target = m.Source
		}
	}
	if s.HelperPath == "" {
		s.HelperPath = ownHelper()
	}
	if s.StartTimeout <= 0 {
		s.StartTimeout = defaultTimeout
	}
	return nil
}

// enforcement says what holds, from what was asked for and what the helper reported.
func (s *starting) enforcement() Enforcement {
	has := func(layer uint64) bool { return !leavesOut(s.spec, layer) }
	e := Enforcement{Namespaces: []string{"user", "mount", "pid", "ipc", "uts"}, View: has(wire.WeakView), Landlock: s.built.Landlock,
		Seccomp: has(wire.WeakSeccomp), SelfExec: has(wire.WeakSelfExec), Root: os.Getuid() == 0, Helper: s.enter.Path}
	if s.ownNet {
		e.Namespaces = append(e.Namespaces, "net")
	}
	e.Watched = s.built.Watched
	e.Processes, e.Memory, e.OpenFiles = s.bounds.report(s.built.PidMax)
	return e
}
