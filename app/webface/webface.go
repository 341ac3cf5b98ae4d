package webface

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"termic/internal/api"
	"termic/internal/core"
	"termic/internal/fault"
)

// Limits of what the page may send. A prompt is at most 900 KiB on every face and grows when it is written as JSON.
const (
	maxCall  = 6 << 20
	maxInput = 1 << 20
	maxSmall = 64 << 10 // a line for each of some hundred terminals
)

// eventPause is how long changes gather before the page hears of them. Under a burst the page redraws at most about
// sixteen times a second; a single change is told after this long.
const eventPause = 60 * time.Millisecond

// Backend is what the page may reach: the dispatcher as the owner on the window's face.
type Backend interface {
	// Call runs a verb and returns the JSON of its result.
	Call(ctx context.Context, verb string, params json.RawMessage) (json.RawMessage, error)
	// Attach joins the terminal that raw names, with the size of the page's own screen.
	Attach(ctx context.Context, raw json.RawMessage, cols, rows uint16) (Terminal, error)
	// Watch returns the current revision and a channel that closes at the next one.
	Watch() (rev uint64, changed <-chan struct{})
}

// Terminal is one attachment. Next returns io.EOF when it ended.
type Terminal interface {
	Result() api.AttachResult
	Next(ctx context.Context) (core.Frame, error)
	Write(ctx context.Context, p []byte) error
	Resize(cols, rows uint16) error
	Ack(seq uint64)
	Hide()
	Show()
	Follow(follows bool)
	Close(reason string)
}

// Options change how a Face serves.
type Options struct {
	// OnePage ends the streams of an earlier page as soon as a new one asks for events. The window's asset server
	// does not tell when a page went away, so a reload would leave its terminals attached for ever.
	OnePage bool
	Log     *slog.Logger // nil: nothing is logged
}

// Face serves the page. Its goroutines are those of the HTTP server that calls it; Close ends every stream and waits
// for them.
type Face struct {
	back Backend
	opts Options
	mux  *http.ServeMux

	ctx  context.Context // ends with Close
	stop context.CancelFunc
	busy sync.WaitGroup // streams under way

	mu    sync.Mutex       // guards the following
	pages map[string]*page // by the name that each page gave itself
	down  bool
}

// New makes a face over a backend. The caller must Close it.
func New(back Backend, opts Options) *Face {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	f := &Face{back: back, opts: opts, mux: http.NewServeMux(), pages: map[string]*page{}}
	f.ctx, f.stop = context.WithCancel(context.Background())
	f.mux.HandleFunc("POST "+Prefix+"call", f.call)
	f.mux.HandleFunc("GET "+Prefix+"events", f.events)
	f.mux.HandleFunc("GET "+Prefix+"term/out", f.termOut)
	f.mux.HandleFunc("POST "+Prefix+"term/{page}/{channel}/attach", f.termAttach)
	f.mux.HandleFunc("POST "+Prefix+"term/{page}/{channel}/in", f.termIn)
	f.mux.HandleFunc("POST "+Prefix+"term/{page}/tell", f.termTell)
	return f
}

// ServeHTTP answers the routes of this package and 404 for everything else.
func (f *Face) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	f.mux.ServeHTTP(w, r)
}

// closeLimit bounds the wait for streams at the end. A web view takes what is written to it out of a pipe, and one whose
// window or process is gone takes nothing any more: the write then never ends, and nor would the app.
const closeLimit = 2 * time.Second

// Close ends all streams, detaches all terminals and waits for both, for no longer than two seconds: what is still on its
// way to a page then stays under way until the program ends.
func (f *Face) Close() {
	f.mu.Lock()
	f.down = true
	f.mu.Unlock()
	f.stop()
	over := make(chan struct{})
	go func() {
		f.busy.Wait()
		close(over)
	}()
	timer := time.NewTimer(closeLimit)
	defer timer.Stop()
	select {
	case <-over:
	case <-timer.C:
		f.opts.Log.Warn("a page takes nothing any more, so a stream to it is given up")
	}
}

type callRequest struct {
	Verb   string          `json:"verb"`
	Params json.RawMessage `json:"params"`
}

type callAnswer struct {
	OK    bool            `json:"ok"`
	Data  json.RawMessage `json:"data,omitempty"`
	Error *callError      `json:"error,omitempty"`
}

type callError struct {
	Code    fault.Code     `json:"code"`
	Message string         `json:"message"`
	Hint    string         `json:"hint,omitempty"`
	Data    map[string]any `json:"data,omitempty"`
}

// call runs one verb. The answer is always 200: how the call went is in the body, so that the page has one way to read
// a failure.
func (f *Face) call(w http.ResponseWriter, r *http.Request) {
	var req callRequest
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxCall))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&req); err != nil {
		writeCall(w, nil, fault.Wrap(err, fault.InvalidArgument, "The window sent a call that could not be read"))
		return
	}
	ctx, stop := f.within(r.Context())
	defer stop()
	data, err := f.back.Call(ctx, req.Verb, req.Params)
	writeCall(w, data, err)
}

func writeCall(w http.ResponseWriter, data json.RawMessage, err error) {
	answer := callAnswer{OK: err == nil, Data: data}
	if err != nil {
		fe := fault.From(err)
		answer.Data, answer.Error = nil, &callError{Code: fe.Code, Message: fe.Message, Hint: fe.Hint, Data: fe.Data}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // a page that went away needs no answer
}

// within joins a request's context with the face's own life.
func (f *Face) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	unhook := context.AfterFunc(f.ctx, cancel)
	return ctx, func() { unhook(); cancel() }
}

// readSmall decodes a small JSON body.
func readSmall(w http.ResponseWriter, r *http.Request, into any) error {
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxSmall)).Decode(into)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
