package control

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
)

// errClientLeft is the cause of calls that end because their client hung up.
var errClientLeft = errors.New("the client hung up")

// conn is one connection. The goroutine of Server.serve owns it; it starts one that reads, and one that tells
// heartbeats while a call runs. ctx stops both, serve waits for both before it returns.
type conn struct {
	*Server
	ctx   context.Context
	leave context.CancelCauseFunc // cancels what runs for the client
	net   *net.UnixConn
	out   *lineWriter
	lines chan []byte // from the reader; closed when it ends
	bad   error       // why the reader ended, when the client is owed an answer; read after lines is closed
}

// serve answers one request after another until the client leaves or the server closes.
func (s *Server) serve(nc *net.UnixConn) {
	ctx, cancel := context.WithCancelCause(s.ctx)
	c := &conn{Server: s, ctx: ctx, leave: cancel, net: nc, lines: make(chan []byte),
		out: &lineWriter{conn: nc, timeout: s.Limits.Write}}
	unblock := context.AfterFunc(s.ctx, func() {
		_ = nc.SetReadDeadline(time.Unix(1, 0)) // a connection that is closed already needs no deadline
		_ = nc.SetWriteDeadline(time.Now().Add(closeGrace))
	})
	defer unblock()
	c.deadline(s.Limits.Read)
	var reader sync.WaitGroup
	reader.Go(c.read)
	defer func() {
		cancel(nil)
		_ = nc.Close() // every reply was written or failed before
		reader.Wait()
	}()
	for {
		line, ok := c.next()
		if !ok {
			return
		}
		if !c.answer(line) {
			return
		}
		c.deadline(s.Limits.Read)
	}
}

// deadline limits how long the whole next request may take to come; 0: for ever.
func (c *conn) deadline(d time.Duration) {
	at := time.Time{}
	if d > 0 {
		at = time.Now().Add(d)
	}
	_ = c.net.SetReadDeadline(at) // fails only on a closed connection, which the next read tells
}

// read hands over lines until the client leaves or misbehaves, and then cancels what runs for it.
func (c *conn) read() {
	defer close(c.lines)
	in := newLineReader(c.net)
	for {
		line, err := in.next()
		if err != nil {
			c.bad = owed(err)
			c.leave(errClientLeft)
			return
		}
		select {
		case c.lines <- line:
		case <-c.ctx.Done():
			return
		}
	}
}

// owed returns what a client must be told whose reading failed; nil when it is gone.
func owed(err error) error {
	var ne net.Error
	switch {
	case errors.Is(err, errLineTooLong):
		return fault.New(fault.InvalidArgument, "The request is longer than %d bytes", MaxLine)
	case errors.As(err, &ne) && ne.Timeout():
		return fault.New(fault.InvalidArgument, "The request did not come in time")
	}
	return nil
}

// next waits for a request. A client that is owed a refusal gets it here.
func (c *conn) next() ([]byte, bool) {
	select {
	case line, ok := <-c.lines:
		if !ok && c.bad != nil && c.Server.ctx.Err() == nil {
			c.tell(reply{Error: wireOf(c.bad)})
		}
		return line, ok
	case <-c.Server.ctx.Done():
		return nil, false
	}
}

// answer serves one request and reports whether the connection goes on.
func (c *conn) answer(line []byte) bool {
	c.deadline(0)
	req, err := parseRequest(line)
	if err != nil {
		c.tell(reply{ID: req.ID, Error: wireOf(err)})
		return false
	}
	if req.Verb == verbAttach || req.Verb == verbWindow {
		caller, err := c.caller(req)
		if err != nil {
			return c.tell(reply{ID: req.ID, Error: wireOf(err)})
		}
		if req.Verb == verbWindow {
			c.window(req)
		} else {
			c.attach(req, caller)
		}
		return false
	}
	data, err := c.call(req)
	if err != nil {
		return c.tell(reply{ID: req.ID, Error: wireOf(err)})
	}
	return c.tellResult(req, data)
}

// caller turns what a request holds into who asks: the ticket makes the owner on the window, the token the owner on the
// command line, where that is switched on.
func (c *conn) caller(req Request) (grant.Caller, error) {
	if c.ticket.is(req.Token) {
		c.out.roomy(MaxWindowLine)
		return grant.OwnerOn(grant.Window), nil
	}
	return grant.OwnerOn(grant.CLI), c.allowed(req)
}

// allowed decides whether a request may go on to the dispatcher: first the switch, then the token.
func (c *conn) allowed(req Request) error {
	if !c.Enabled() {
		return fault.New(fault.Forbidden, "The command line is switched off").WithData("reason", ReasonDisabled).
			WithHint("Switch it on in the settings of the app.")
	}
	if !c.token.Equal(req.Token) {
		return errWrongToken()
	}
	return nil
}

func errWrongToken() error {
	return fault.New(fault.Forbidden, "The token is not the one of this app").
		WithHint("The app may have been started again; run the command once more.")
}

// call runs one verb under heartbeats.
func (c *conn) call(req Request) (json.RawMessage, error) {
	switch req.Verb {
	case verbHello:
		return json.Marshal(Hello{App: "termic", Version: c.Version, Protocol: Protocol})
	case verbRaise:
		return c.raise(req)
	}
	caller, err := c.caller(req)
	if err != nil {
		return nil, err
	}
	stop := c.heartbeats(req.ID)
	defer stop()
	return c.guarded(req, caller)
}

// guarded turns a panic below into an internal error: one broken call must not end everybody's terminals.
func (c *conn) guarded(req Request, caller grant.Caller) (data json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.Log.Error("control call panicked", "verb", req.Verb, "panic", p, "stack", string(debug.Stack()))
			data, err = nil, fault.New(fault.Internal, "Something went wrong inside Termic")
		}
	}()
	return c.Backend.Call(c.ctx, caller, req.Verb, req.Params, func(e api.Event) {
		c.tell(eventLine{ID: req.ID, Stream: true, Event: e})
	})
}

// raise brings the window forward for anybody of this user. What fills in a dialog there needs the token, but not the
// switch of the command line: it is the desktop that hands a link over.
func (c *conn) raise(req Request) (json.RawMessage, error) {
	if c.Raise == nil {
		return json.RawMessage(`{"raised":false}`), nil
	}
	var p raiseParams
	if req.Params != nil && json.Unmarshal(req.Params, &p) != nil {
		return nil, fault.New(fault.InvalidArgument, "The request has a link that is no text")
	}
	if p.Link != "" && !c.token.Equal(req.Token) {
		return nil, errWrongToken()
	}
	if err := c.Raise(c.ctx, p.Link); err != nil {
		return nil, err
	}
	return json.RawMessage(`{"raised":true}`), nil
}

// heartbeats tells signs of life until the returned function was called.
func (c *conn) heartbeats(id string) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(c.Limits.Heartbeat)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				c.tell(eventLine{ID: id, Stream: true, Event: api.Event{Event: "heartbeat"}})
			case <-done:
				return
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}

// tell sends one message. When that fails the client is gone, and what runs for it is cancelled. It reports whether the
// connection is whole.
func (c *conn) tell(v any) bool {
	err := c.out.write(v)
	switch {
	case err == nil:
		return true
	case errors.Is(err, errLineTooLong):
		c.Log.Warn("control socket: an event is too long for a line and was left out")
		return true
	case !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.ErrClosedPipe):
		c.Log.Debug("control socket: client lost", "err", err)
	}
	c.hangUp()
	return false
}

// hangUp ends the connection after a failure to write.
func (c *conn) hangUp() {
	c.leave(errClientLeft)
	_ = c.net.Close() // it is broken already
}

// tellResult sends the reply. A result that no line holds becomes a refusal: a broken line would be worse.
func (c *conn) tellResult(req Request, data json.RawMessage) bool {
	err := c.out.write(reply{ID: req.ID, OK: true, Data: data})
	if err == nil {
		return true
	}
	if errors.Is(err, errLineTooLong) {
		c.Log.Error("control socket: a result is too long for a line", "verb", req.Verb, "bytes", len(data))
		return c.tell(reply{ID: req.ID, Error: wireOf(fault.New(fault.Internal, "The answer is %d bytes long, more than one message holds", len(data)).
			WithHint("Ask for less: a flag of this verb may limit it."))})
	}
	if !json.Valid(data) {
		c.Log.Error("control socket: a result is not JSON", "verb", req.Verb)
		return c.tell(reply{ID: req.ID, Error: wireOf(fault.New(fault.Internal, "Something went wrong inside Termic"))})
	}
	c.hangUp()
	return false
}
