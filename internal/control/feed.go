package control

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"termic/internal/fault"
)

// Feed is the connection of a window to the app that another process serves. It says when something changed, and what it
// was given lets the window call verbs and attach terminals as the owner on the window. One goroutine calls Next; the
// others may be called from any. It starts no goroutine that outlives a call.
type Feed struct {
	addr   Address
	c      *Client
	id     string
	ticket string
	first  News
}

// News is one thing that a window is told.
type News struct {
	Rev   uint64 // the revision of what the window shows, where it moved; else 0
	Raise bool   // the window should come forward
}

// OpenFeed joins the app as its window. fault.Conflict says that it has a window already.
func OpenFeed(ctx context.Context, a Address) (*Feed, error) {
	c, err := Dial(ctx, a)
	if err != nil {
		return nil, err
	}
	f := &Feed{addr: a, c: c}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() }) // its failure changes nothing: what is read next fails either way
	defer stop()
	if f.id, err = c.send(Request{Verb: verbWindow}); err == nil {
		err = f.begin()
	}
	if err != nil {
		_ = c.Close() // the first error is the one to tell
		return nil, err
	}
	return f, nil
}

// begin reads the first line, which has the ticket.
func (f *Feed) begin() error {
	raw, line, err := f.c.receive(f.id)
	if err != nil {
		return err
	}
	var w windowLine
	if err := json.Unmarshal(raw, &w); err != nil || !line.Stream || w.Ticket == "" {
		return lost(errors.Join(err, errors.New("the app gave no ticket")))
	}
	f.ticket, f.first = w.Ticket, News{Rev: w.Rev}
	return nil
}

// Hello is what the app said of itself.
func (f *Feed) Hello() Hello { return f.c.Hello() }

// Rev is the revision with which the feed began.
func (f *Feed) Rev() uint64 { return f.first.Rev }

// Next waits for news. io.EOF says that the app ended; ErrLost is in the chain when it went away without a word.
func (f *Feed) Next() (News, error) {
	for {
		raw, line, err := f.c.receive(f.id)
		switch {
		case err != nil:
			return News{}, err
		case !line.Stream:
			return News{}, io.EOF
		}
		var w windowLine
		if err := json.Unmarshal(raw, &w); err != nil {
			return News{}, lost(err)
		}
		switch w.Event {
		case "rev":
			return News{Rev: w.Rev}, nil
		case "raise":
			return News{Raise: true}, nil
		}
	}
}

// Call runs a verb as the owner on the window, on a connection of its own. It ends with ctx.
func (f *Feed) Call(ctx context.Context, verb string, params json.RawMessage) (json.RawMessage, error) {
	c, err := f.dial(ctx)
	if err != nil {
		return nil, err
	}
	data, err := c.Call(ctx, verb, params, nil)
	if cerr := c.Close(); err == nil && cerr != nil {
		return nil, fault.Wrap(cerr, fault.Internal, "The connection to the app could not be closed")
	}
	return data, err
}

// Attach joins a terminal on a connection of its own, which ends with ctx.
func (f *Feed) Attach(ctx context.Context, params json.RawMessage, as AttachAs) (*Stream, error) {
	c, err := f.dial(ctx)
	if err != nil {
		return nil, err
	}
	s, err := c.Attach(ctx, params, as)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return s, nil
}

// dial opens a connection that has the ticket. Which protocol the app speaks is known.
func (f *Feed) dial(ctx context.Context) (*Client, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	c, err := connect(ctx, f.addr)
	if err != nil {
		return nil, err
	}
	c.token, c.in.limit = f.ticket, MaxWindowLine
	return c, nil
}

// Close leaves. The app goes on.
func (f *Feed) Close() error { return f.c.Close() }
