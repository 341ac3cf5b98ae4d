package webface

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	"termic/internal/api"
	"termic/internal/fault"
)

// attachment is one terminal that a page holds open, on a channel of its outlet.
type attachment struct {
	channel uint32
	term    Terminal
	keys    *typist
	stop    context.CancelFunc // ends it
}

type endFrame struct {
	Reason string     `json:"reason"`
	Exit   *api.Exit  `json:"exit,omitempty"`
	Error  *callError `json:"error,omitempty"`
}

type attachRequest struct {
	Task string `json:"task"`
	Tab  string `json:"tab"`
	Cols int    `json:"cols"`
	Rows int    `json:"rows"`
}

// termAttach joins a terminal to the page's stream, on a channel that the page has not used yet. A terminal that cannot be
// attached gives a channel of one frame that says why, so that the page has one way to read a failure.
func (f *Face) termAttach(w http.ResponseWriter, r *http.Request) {
	var p attachRequest
	channel, err := strconv.ParseUint(r.PathValue("channel"), 10, 32)
	err = errors.Join(err, readSmall(w, r, &p))
	if err = errors.Join(err, checkSize(p.Cols, p.Rows)); err != nil {
		http.Error(w, "what to attach is not understood", http.StatusBadRequest)
		return
	}
	o := f.outletOf(r)
	if o == nil || !o.take(uint32(channel)) {
		http.Error(w, "no such stream", http.StatusGone)
		return
	}
	f.attach(o, uint32(channel), p)
	w.WriteHeader(http.StatusNoContent)
}

// attach joins the terminal and starts what moves its bytes. The outlet counts one goroutine for it already.
func (f *Face) attach(o *outlet, channel uint32, p attachRequest) {
	ctx, stop := context.WithCancel(o.ctx)
	where, _ := json.Marshal(map[string]string{"task": p.Task, "tab": p.Tab})
	term, err := f.back.Attach(ctx, where, uint16(p.Cols), uint16(p.Rows))
	if err != nil {
		defer o.busy.Done()
		defer o.leave(channel)
		defer stop()
		fe := fault.From(err)
		_ = o.json(channel, KindEnd, 0, endFrame{Reason: "refused", Error: &callError{Code: fe.Code, Message: fe.Message, Hint: fe.Hint}})
		return
	}
	a := &attachment{channel: channel, term: term, keys: newTypist(), stop: stop}
	o.mu.Lock()
	o.terms[channel] = a
	o.mu.Unlock()
	o.busy.Go(func() { a.keys.run(ctx, term) })
	go func() {
		defer o.busy.Done()
		defer func() {
			stop()
			o.leave(channel)
			term.Close("detached")
		}()
		if err := a.pump(ctx, o); err != nil && ctx.Err() == nil {
			f.opts.Log.Debug("a terminal's stream broke", "channel", channel, "err", err)
		}
	}()
}

// pump sends a terminal's frames until it ends, then says why.
func (a *attachment) pump(ctx context.Context, o *outlet) error {
	if err := o.json(a.channel, KindHello, 0, a.term.Result()); err != nil {
		return err
	}
	for {
		frame, err := a.term.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			result := a.term.Result()
			return o.json(a.channel, KindEnd, 0, endFrame{Reason: result.Reason, Exit: result.Exit})
		case err != nil:
			return err
		}
		if err := o.frame(a.channel, frame); err != nil {
			return err
		}
	}
}

// termIn takes bytes for the program of one terminal.
func (f *Face) termIn(w http.ResponseWriter, r *http.Request) {
	channel, err := strconv.ParseUint(r.PathValue("channel"), 10, 32)
	if err != nil {
		http.Error(w, "no such terminal", http.StatusBadRequest)
		return
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxInput))
	if err != nil {
		http.Error(w, "too much at once", http.StatusBadRequest)
		return
	}
	var a *attachment
	if o := f.outletOf(r); o != nil {
		a = o.attachment(uint32(channel))
	}
	if a == nil { // what was typed must not get lost silently
		http.Error(w, "no such terminal", http.StatusGone)
		return
	}
	switch err := a.keys.put(data); {
	case errors.Is(err, errNoRoom):
		http.Error(w, "the program does not read: try again", http.StatusServiceUnavailable)
	case err != nil:
		http.Error(w, "the program has ended", http.StatusGone)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// told is what a page says of one of its terminals: what has changed since it said something last.
type told struct {
	Channel uint32  `json:"ch"`
	Ack     *uint64 `json:"ack"`
	Cols    int     `json:"cols"`
	Rows    int     `json:"rows"`
	Hidden  *bool   `json:"hidden"`
	Follows *bool   `json:"follows"`
	Close   bool    `json:"close"`
}

// termTell takes what the page says of its terminals. It says it in one request at a time, so that nothing overtakes. A
// terminal may end while the page still tells it something.
func (f *Face) termTell(w http.ResponseWriter, r *http.Request) {
	var list []told
	if err := readSmall(w, r, &list); err != nil {
		http.Error(w, "what is told is not understood", http.StatusBadRequest)
		return
	}
	o := f.outletOf(r)
	for _, t := range list {
		if o == nil {
			break
		}
		a := o.attachment(t.Channel)
		if a == nil {
			continue
		}
		if err := a.hear(t); err != nil {
			f.opts.Log.Debug("a terminal did not take what it was told", "channel", t.Channel, "err", err)
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

func (a *attachment) hear(t told) error {
	if t.Close {
		a.stop()
		return nil
	}
	var err error
	if t.Cols != 0 || t.Rows != 0 {
		if err = checkSize(t.Cols, t.Rows); err == nil {
			err = a.term.Resize(uint16(t.Cols), uint16(t.Rows))
		}
	}
	if t.Ack != nil {
		a.term.Ack(*t.Ack)
	}
	if t.Follows != nil {
		a.term.Follow(*t.Follows)
	}
	if t.Hidden != nil && *t.Hidden {
		a.term.Hide()
	} else if t.Hidden != nil {
		a.term.Show()
	}
	return err
}

// Bounds of a terminal's size, in cells; a wide character needs two columns. The terminal has the last word.
const minCols, minRows, maxCells = 2, 1, 1000

// checkSize refuses sizes that no terminal has: a page that measures before it has a layout asks for nonsense.
func checkSize(cols, rows int) error {
	if min(cols-minCols, rows-minRows) < 0 || max(cols, rows) > maxCells {
		return fault.New(fault.InvalidArgument, "A terminal cannot have %d columns and %d rows", cols, rows)
	}
	return nil
}

// outletOf is the stream of the page that a request names; nil when it has none.
func (f *Face) outletOf(r *http.Request) *outlet {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.pages[r.PathValue("page")]; p != nil {
		return p.out
	}
	return nil
}
