package cage

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"termic/internal/fault"
	"termic/sandbox/cage/inside"
	"termic/sandbox/cage/wire"
)

// BeChild runs the helper of a cage if the program was started as one, and then does not return. Call it before anything
// else in main, and in TestMain of tests that start cages.
func BeChild() {
	canBeChild.Store(true)
	inside.Main()
}

// canBeChild is set once the running program has shown that it can be its own helper. Another one would run itself instead,
// without end.
var canBeChild atomic.Bool

// Cage is a running cage.
//
// One goroutine, attend, belongs to it: it reads what the helper says and waits for the first process. It ends when that
// process is gone, which Kill and the end of the program bring about, and Wait waits for it. The goroutine holds the
// socket: as long as the cage lives, no part of it is collected.
type Cage struct {
	conn      *link
	first     *os.Process
	program   int
	terminal  *os.File
	listeners map[int]net.Listener
	ownNet    bool
	bounds    *bounds
	watcher   *watcher // nil = nothing is watched
	holds     Enforcement

	done chan struct{}
	exit Exit // final once done is closed

	mu    sync.Mutex // guards the following
	dials map[uint64]chan<- dialed
	next  uint64
}

// dialed is the answer to one Dial.
type dialed struct {
	fd  int
	err error
}

// Terminal is the master of the program's pseudo-terminal, or nil. It does not block in the kernel, so that closing it ends a
// read. The caller owns it and closes it; what the program wrote can still be read after the end of the cage.
func (c *Cage) Terminal() *os.File { return c.terminal }

// Listener is the listener on a port of Spec.Ports, or nil. Every connection that it accepts comes from this cage. It is
// closed at the end of the cage.
func (c *Cage) Listener(port int) net.Listener {
	if l, ok := c.listeners[port]; ok {
		return l
	}
	return nil
}

// Pid is the first process of the cage, as the host counts.
func (c *Cage) Pid() int { return c.first.Pid }

// ProgramPid is the program, as the cage counts.
func (c *Cage) ProgramPid() int { return c.program }

// Enforcement says which walls stand and which limits hold.
func (c *Cage) Enforcement() Enforcement { return c.holds }

// Unseen counts events that were lost because Watch.On was slow.
func (c *Cage) Unseen() uint64 {
	if c.watcher == nil {
		return 0
	}
	return c.watcher.unseen.Load()
}

// Done is closed when no process of the cage is left.
func (c *Cage) Done() <-chan struct{} { return c.done }

// Wait waits until no process of the cage is left, and says how the program ended.
func (c *Cage) Wait() Exit {
	<-c.done
	return c.exit
}

// Signal sends a signal to every process of the cage but the first. A cage that ended is no error.
func (c *Cage) Signal(sig syscall.Signal) error {
	err := c.conn.send(&wire.Signal{Number: int(sig)})
	select {
	case <-c.done:
		return nil
	default:
	}
	if errors.Is(err, net.ErrClosed) || errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) {
		return nil
	}
	return err
}

// Kill ends every process of the cage at once and returns without waiting for that.
func (c *Cage) Kill() { c.conn.close() }

// Dial connects to a port of the cage's loopback, of IPv4 first and then of IPv6. In a cage without a network of its own that
// is the host's.
func (c *Cage) Dial(ctx context.Context, port int) (net.Conn, error) {
	if !c.ownNet {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", net.JoinHostPort("localhost", itoa(port)))
	}
	conn, err := c.dial(ctx, port, false)
	if errors.Is(err, unix.ECONNREFUSED) {
		if six, err6 := c.dial(ctx, port, true); err6 == nil {
			return six, nil
		}
	}
	return conn, err
}

func (c *Cage) dial(ctx context.Context, port int, six bool) (net.Conn, error) {
	answer := make(chan dialed, 1)
	c.mu.Lock()
	c.next++
	id := c.next
	c.dials[id] = answer
	c.mu.Unlock()
	drop := func() {
		c.mu.Lock()
		_, waiting := c.dials[id]
		delete(c.dials, id)
		c.mu.Unlock()
		if !waiting { // it was answered in between
			if a := <-answer; a.err == nil {
				_ = unix.Close(a.fd)
			}
		}
	}
	if err := c.conn.send(&wire.Dial{ID: id, Port: port, Six: six}); err != nil {
		drop()
		return nil, dialError(port, err)
	}
	select {
	case a := <-answer:
		if a.err != nil {
			return nil, dialError(port, a.err)
		}
		return finish(ctx, a.fd, port)
	case <-ctx.Done():
		drop()
		return nil, dialError(port, context.Cause(ctx))
	case <-c.done:
		drop()
		return nil, dialError(port, net.ErrClosed)
	}
}

// finish waits for the end of a connect that was begun inside.
func finish(ctx context.Context, fd, port int) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "cage")
	defer f.Close() // net.FileConn works on a copy
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, dialError(port, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = f.SetWriteDeadline(time.Unix(1, 0)) })
	defer stop()
	refused := syscall.Errno(0)
	err = raw.Write(func(fd uintptr) bool { // called at once, and again whenever the socket became writable
		if _, err := unix.Getpeername(int(fd)); err == nil {
			return true
		}
		if no, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ERROR); err != nil || no != 0 {
			refused = syscall.Errno(no)
			return true
		}
		return false
	})
	switch {
	case ctx.Err() != nil:
		return nil, dialError(port, context.Cause(ctx))
	case err != nil:
		return nil, dialError(port, err)
	case refused != 0:
		return nil, dialError(port, refused)
	}
	return net.FileConn(f)
}

func dialError(port int, err error) error {
	return &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}, Err: err}
}

// attend reads until the first process is gone.
func (c *Cage) attend() {
	defer close(c.done)
	exit := Exit{Code: -1, Signal: syscall.SIGKILL.String()}
	for {
		m, fds, err := c.conn.receive()
		if err != nil {
			break
		}
		switch m := m.(type) {
		case *wire.Exited:
			exit = Exit{Code: m.Code}
			if m.Signal != 0 {
				exit = Exit{Code: -1, Signal: syscall.Signal(m.Signal).String()}
			}
		case *wire.Dialed:
			fds = c.answer(m, fds)
		}
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
	}
	c.conn.close()
	_ = c.first.Kill() // it ends by itself; a stopped one does not
	_, _ = c.first.Wait()
	for _, l := range c.listeners {
		_ = l.Close()
	}
	if c.watcher != nil {
		c.watcher.wait()
	}
	c.bounds.remove()
	c.exit = exit
}

// answer hands a socket to who waits for it, and returns the descriptors that nobody took.
func (c *Cage) answer(m *wire.Dialed, fds []int) []int {
	c.mu.Lock()
	to, ok := c.dials[m.ID]
	delete(c.dials, m.ID)
	c.mu.Unlock()
	switch {
	case !ok:
		return fds
	case m.Errno != 0:
		to <- dialed{err: syscall.Errno(m.Errno)}
		return fds
	case len(fds) == 0:
		to <- dialed{err: errors.New("the cage's helper sent no socket")}
		return nil
	}
	to <- dialed{fd: fds[0]}
	return fds[1:]
}

// wordsFor turns a failure of a start into one with a cause and a fix.
func wordsFor(err error) error {
	var f *wire.Failed
	if errors.As(err, &f) {
		return explain(f, readFacts())
	}
	return fault.From(err)
}
