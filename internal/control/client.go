package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
)

// Why a client could not do its work. They stand in the chain of the fault that is returned.
var (
	ErrNotRunning = errors.New("nobody listens on the control socket")
	ErrLost       = errors.New("the connection to the app was lost")
	ErrVersion    = errors.New("client and app speak different protocols")
)

// dialTimeout bounds connecting and hello: both are answered at once by an app that is alive.
const dialTimeout = 10 * time.Second

// silence is how long an app may say nothing during a call before it counts as lost: six heartbeats.
const silence = time.Minute

// Client is a connection to a running app. One call runs at a time; Close may be called from elsewhere and ends it. It
// starts no goroutine that outlives a call.
type Client struct {
	hello Hello
	token string
	conn  *net.UnixConn
	in    *lineReader
	out   *lineWriter

	mu     sync.Mutex // one call at a time; guards lastID
	lastID int
}

// Dial connects to a running app and compares protocols. Its errors are faults: ErrNotRunning is in the chain when
// nobody is there, ErrVersion when one side must be renewed.
func Dial(ctx context.Context, a Address) (*Client, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	c, err := connect(ctx, a)
	if err != nil {
		return nil, err
	}
	if err := c.greet(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if c.token, err = readToken(a); err != nil {
		_ = c.Close() // the reading error is the one to tell
		return nil, err
	}
	return c, nil
}

func readToken(a Address) (string, error) {
	token, err := os.ReadFile(a.Token)
	if err != nil {
		return "", fault.Wrap(err, fault.Forbidden, "The token of the app cannot be read: %s", a.Token).
			WithHint("It must lie beside the socket and belong to you.")
	}
	return strings.TrimSpace(string(token)), nil
}

// Raise asks a running app to show its window, and reports whether it has one. With a link it needs the token, and the
// window shows what the link asks for, or why that is refused.
func Raise(ctx context.Context, a Address, link string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	c, err := connect(ctx, a)
	if err != nil {
		return false, err
	}
	defer c.Close()
	var params json.RawMessage
	if link != "" {
		if c.token, err = readToken(a); err != nil {
			return false, err
		}
		if params, err = json.Marshal(raiseParams{Link: link}); err != nil {
			return false, err
		}
	}
	data, err := c.Call(ctx, verbRaise, params, nil)
	if err != nil {
		return false, err
	}
	var r struct {
		Raised bool `json:"raised"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return false, lost(err)
	}
	return r.Raised, nil
}

// connect opens the connection and makes sure that its other end is a process of the same user, so that the token is
// not handed to somebody else's socket.
func connect(ctx context.Context, a Address) (*Client, error) {
	var d net.Dialer
	nc, err := d.DialContext(ctx, "unix", a.Socket)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return nil, fault.Wrap(fmt.Errorf("%w: %w", ErrNotRunning, err), fault.Unavailable, "Termic is not running").
			WithHint("Open the app, or run `termic serve`.")
	case err != nil:
		return nil, fault.Wrap(err, fault.Unavailable, "The app cannot be reached at %s", a.Socket)
	}
	conn := nc.(*net.UnixConn)
	if uid, err := peerUID(conn); err != nil || uid != os.Geteuid() {
		_ = conn.Close() // nothing was sent
		return nil, fault.Wrap(err, fault.Forbidden, "The socket %s belongs to another user", a.Socket)
	}
	return &Client{conn: conn, in: newLineReader(conn), out: &lineWriter{conn: conn, timeout: dialTimeout}}, nil
}

// greet asks for the app's version and refuses one that speaks another protocol.
func (c *Client) greet(ctx context.Context) error {
	data, err := c.Call(ctx, verbHello, nil, nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &c.hello); err != nil {
		return lost(err)
	}
	switch p := c.hello.Protocol; {
	case p > Protocol:
		return fault.Wrap(ErrVersion, fault.Unavailable, "The running app (%s) is newer than this command", c.hello.Version).
			WithHint("Run the `termic` that belongs to the app.")
	case p < Protocol:
		return fault.Wrap(ErrVersion, fault.Unavailable, "The running app (%s) is older than this command", c.hello.Version).
			WithHint("End the app and start it again; the new version takes over.")
	}
	return nil
}

// Hello is what the app said of itself.
func (c *Client) Hello() Hello { return c.hello }

// Close ends the connection; a call under way is cancelled on both sides.
func (c *Client) Close() error {
	if err := c.conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Call runs a verb and returns the exact bytes of its result. Each event is given to onEvent (which may be nil) as it
// comes, with the line it came in. When ctx ends the connection is closed, the app cancels the call, and the cause of
// ctx is returned. Other errors are faults; ErrLost is in the chain when the app went away.
func (c *Client) Call(ctx context.Context, verb string, params json.RawMessage, onEvent func(api.Event)) (json.RawMessage, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() }) // its failure changes nothing: the call ends either way
	defer stop()
	data, err := c.call(verb, params, onEvent)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return nil, cause
	}
	return data, err
}

func (c *Client) call(verb string, params json.RawMessage, onEvent func(api.Event)) (json.RawMessage, error) {
	id, err := c.send(Request{Verb: verb, Params: params})
	if err != nil {
		return nil, err
	}
	for {
		raw, line, err := c.receive(id)
		switch {
		case err != nil:
			return nil, err
		case !line.Stream:
			return line.Data, nil
		case onEvent != nil && line.Event != "":
			var e api.Event
			if err := json.Unmarshal(raw, &e); err != nil {
				return nil, lost(err)
			}
			onEvent(e)
		}
	}
}

// send writes a request under a fresh id. A failure to write is not the last word: the app may have said why it hung
// up, so the answer is still read.
func (c *Client) send(r Request) (string, error) {
	c.lastID++
	r.ID, r.Token = strconv.Itoa(c.lastID), c.token
	err := c.out.write(r)
	switch {
	case errors.Is(err, errLineTooLong):
		return "", fault.New(fault.InvalidArgument, "The request is longer than the %d bytes that one message holds", MaxLine).
			WithHint("Write the text to a file in the worktree and ask the agent to read it.")
	case errors.Is(err, net.ErrClosed):
		return "", lost(err)
	}
	return r.ID, nil
}

// receive reads one line about request id. A refusal is returned as the error it carries.
func (c *Client) receive(id string) ([]byte, anyLine, error) {
	var line anyLine
	if err := c.conn.SetReadDeadline(time.Now().Add(silence)); err != nil {
		return nil, line, lost(err)
	}
	raw, err := c.in.next()
	if err != nil {
		return nil, line, lost(err)
	}
	if err := json.Unmarshal(raw, &line); err != nil {
		return nil, line, lost(err)
	}
	if line.Error != nil {
		return nil, line, line.Error.fault()
	}
	if line.ID != id || !line.Stream && !line.OK {
		return nil, line, lost(fmt.Errorf("a line that answers nothing: id %q", line.ID))
	}
	return raw, line, nil
}

func lost(err error) error {
	return fault.Wrap(fmt.Errorf("%w: %w", ErrLost, err), fault.Unavailable, "The connection to the app was lost").
		WithHint("What was asked for may have happened all the same; look before you repeat it.")
}
