package control

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"termic/internal/fault"
	"termic/internal/secret"
)

// Options say what a server serves. Dir, Backend, Enabled and Log are required.
type Options struct {
	Dir     string // data folder, whose lock the caller holds
	Backend Backend
	// Enabled tells whether the command line is switched on; it is asked for every request.
	Enabled func() bool
	// Raise brings the window to the front, and hands it a link where one is given; nil when there is none.
	Raise func(ctx context.Context, link string) error
	// Window takes in a window that another process shows: raise asks it to come forward, until release was called. nil
	// where there can be none.
	Window func(raise func() bool) (release func(), err error)
	// Watch tells when something changed that the window shows. It goes with Window.
	Watch   func() (rev uint64, changed <-chan struct{})
	Version string
	Log     *slog.Logger
	Limits  Limits // zero fields take their defaults
}

// Limits bound what clients can take. Tests shorten them.
type Limits struct {
	Connections int           // at the same time; 64
	Read        time.Duration // from the first moment to the whole request; 30 s
	Write       time.Duration // of one message, except on attached terminals; 10 s
	Heartbeat   time.Duration // between signs of life while a call runs; 10 s
}

func (l Limits) withDefaults() Limits {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	if l.Connections == 0 {
		l.Connections = 64
	}
	set(&l.Read, 30*time.Second)
	set(&l.Write, 10*time.Second)
	set(&l.Heartbeat, 10*time.Second)
	return l
}

// acceptPause is how long the server waits after an accept that failed, such as for want of descriptors.
const acceptPause = 100 * time.Millisecond

// closeGrace is how long a reply under way may take while the server closes.
const closeGrace = time.Second

// errClosing is the cause of calls that end because the app ends.
var errClosing = errors.New("the app is ending")

// Server serves the socket. It owns one goroutine that accepts and, for each connection, those of conn; ctx stops them
// all, wg waits for them, and Close does both.
type Server struct {
	Options
	token    secret.String
	listener *net.UnixListener
	made     []ownFile
	ctx      context.Context
	stop     context.CancelCauseFunc
	wg       sync.WaitGroup
	slots    chan struct{} // one for each connection
	ticket   ticket        // of the window that another process shows

	closeOnce sync.Once
	closeErr  error
}

// Listen binds the socket, then writes the token file, then serves until Close.
func Listen(ctx context.Context, o Options) (*Server, error) {
	o.Limits = o.Limits.withDefaults()
	addr := AddressIn(o.Dir)
	l, err := bind(ctx, addr.Socket)
	if err != nil {
		return nil, err
	}
	s := &Server{Options: o, token: secret.Mint(), listener: l, slots: make(chan struct{}, o.Limits.Connections)}
	if err := s.publish(addr); err != nil {
		return nil, errors.Join(err, l.Close(), s.removeFiles())
	}
	s.ctx, s.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	s.wg.Go(s.accept)
	return s, nil
}

// publish writes the token and remembers which files are ours.
func (s *Server) publish(addr Address) error {
	sock, err := own(addr.Socket)
	if err != nil {
		return err
	}
	s.made = append(s.made, sock)
	if err := writeToken(addr.Token, s.token); err != nil {
		return fault.Wrap(err, fault.Unavailable, "The token of the command line could not be written to %s", addr.Token)
	}
	tok, err := own(addr.Token)
	if err != nil {
		return err
	}
	s.made = append(s.made, tok)
	return nil
}

// Close ends every call, waits for what it owns and removes the files it made. A reply that is being written has a
// second to get out. Calling it again gives the first answer.
func (s *Server) Close() error {
	s.closeOnce.Do(func() {
		s.stop(errClosing)
		err := s.listener.Close()
		s.wg.Wait()
		s.closeErr = errors.Join(err, s.removeFiles())
	})
	return s.closeErr
}

func (s *Server) removeFiles() error {
	var errs []error
	for _, f := range s.made {
		errs = append(errs, f.remove())
	}
	return errors.Join(errs...)
}

// accept takes connections until the listener closes. The peer is checked before anything is read or written.
func (s *Server) accept() {
	for {
		c, err := s.listener.AcceptUnix()
		if s.ctx.Err() != nil {
			if err == nil {
				_ = c.Close() // nobody waits for what it would say
			}
			return
		}
		if err != nil {
			s.Log.Warn("control socket: accept failed", "err", err)
			select {
			case <-time.After(acceptPause):
			case <-s.ctx.Done():
			}
			continue
		}
		s.admit(c)
	}
}

func (s *Server) admit(c *net.UnixConn) {
	uid, err := peerUID(c)
	if err != nil || uid != os.Geteuid() {
		s.Log.Warn("control socket: a process of another user was turned away", "uid", uid, "err", err)
		_ = c.Close() // it was told nothing, so there is nothing to lose
		return
	}
	select {
	case s.slots <- struct{}{}:
	default:
		s.turnAway(c)
		return
	}
	s.wg.Go(func() {
		defer func() { <-s.slots }()
		s.serve(c)
	})
}

// turnAway tells a client that there is no room. The message fits the empty buffer of a fresh connection, so this does
// not block.
func (s *Server) turnAway(c *net.UnixConn) {
	w := &lineWriter{conn: c, timeout: acceptPause}
	err := fault.New(fault.Unavailable, "The app already serves %d connections of the command line", s.Limits.Connections).
		WithHint("Try again when some of them ended.")
	if werr := w.write(reply{Error: wireOf(err)}); werr != nil {
		s.Log.Debug("control socket: refusal not written", "err", werr)
	}
	_ = c.Close()
}
