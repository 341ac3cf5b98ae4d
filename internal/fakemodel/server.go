package fakemodel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// maxBody bounds a request, in bytes. Real ones with all tools are about 200 KiB.
const maxBody = 64 << 20

// Options say how to serve. The zero value serves on a free port.
type Options struct {
	// Addr is where to listen; it must be on loopback. Empty = a free port of 127.0.0.1.
	Addr string
	// Log gets one JSON object per line for every request. It may be nil.
	Log io.Writer
}

// Server is a running fake model. Start starts its one goroutine and those of net/http; Close stops them and waits. All
// methods may be called from any goroutine.
type Server struct {
	url  string
	http *http.Server
	done chan struct{} // closed when the serving goroutine has ended
	stop context.CancelFunc

	mu       sync.Mutex // guards the following
	log      io.Writer
	logErr   error
	requests []Request
	changed  chan struct{} // closed at the next request or end of one
	released map[string]bool
	count    int // of the ids that were given out
}

// Start begins to serve. It refuses an address that is not on loopback.
func Start(o Options) (*Server, error) {
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	host, _, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return nil, fmt.Errorf("fake model: address: %w", err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("fake model: %q is not a loopback address", host)
	}
	l, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return nil, fmt.Errorf("fake model: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{url: "http://" + l.Addr().String(), done: make(chan struct{}), stop: stop, log: o.Log,
		changed: make(chan struct{}), released: map[string]bool{}}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 30 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(l) // always http.ErrServerClosed, or the listener is gone, which every client tells
	}()
	return s, nil
}

// URL is the base of the server, without a path or a slash at its end. An Anthropic client is given it as it is, an
// OpenAI one with "/v1" added.
func (s *Server) URL() string { return s.url }

// Close cuts all requests off and ends. It reports a log that could not be written.
func (s *Server) Close() error {
	s.stop()
	err := s.http.Close()
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(err, s.logErr)
}

// Release lets all requests that are held under that name go on, those that come later too.
func (s *Server) Release(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released[name] = true
	s.bump()
}

// bump wakes those who watch. It needs s.mu.
func (s *Server) bump() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// id makes an id that was never given out before.
func (s *Server) id(prefix string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	return fmt.Sprintf("%s_fake%06d", prefix, s.count)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "the request could not be read", http.StatusBadRequest)
		return
	}
	n := s.record(r, raw)
	defer s.finish(n)
	post, path := r.Method == http.MethodPost, strings.TrimRight(r.URL.Path, "/")
	switch {
	case post && strings.HasSuffix(path, "/messages/count_tokens"):
		writeJSON(w, http.StatusOK, map[string]int{"input_tokens": 10})
	case post && strings.HasSuffix(path, "/messages"):
		s.anthropic(w, r, raw)
	case post && strings.HasSuffix(path, "/responses"):
		s.openai(w, r, raw)
	case r.Method == http.MethodGet && strings.HasSuffix(path, "/models"):
		// Both APIs' list, and codex's own: it keeps its built-in catalogue when it is given an empty one.
		writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{}, "models": []any{}, "has_more": false})
	case r.Method == http.MethodHead:
		w.WriteHeader(http.StatusOK)
	default:
		writeError(w, http.StatusNotFound, "the fake model has no such route")
	}
}

// wait holds an answer. It reports whether the request goes on; when not, it has been answered or is gone. beat is
// called now and then so that the client does not give up.
func (s *Server) wait(ctx context.Context, h hold, beat func()) bool {
	sleep := time.NewTimer(h.sleep)
	defer sleep.Stop()
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	slept := false
	for {
		s.mu.Lock()
		held, changed := false, s.changed
		for _, name := range h.until {
			held = held || !s.released[name]
		}
		s.mu.Unlock()
		if slept && !held {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-sleep.C:
			slept = true
		case <-changed:
		case <-tick.C:
			beat()
		}
	}
}

// beatEvery is the pace of the signs of life in a held stream.
const beatEvery = 500 * time.Millisecond

// stream writes server-sent events.
type stream struct {
	w http.ResponseWriter
}

func newStream(w http.ResponseWriter) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	return &stream{w: w}
}

// event writes one event. A client that is gone shows in the context of its request.
func (s *stream) event(kind string, data map[string]any) {
	data["type"] = kind
	b, err := json.Marshal(data)
	if err != nil {
		panic("fakemodel: an event does not encode: " + err.Error())
	}
	fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", kind, b)
	s.flush()
}

// comment writes a sign of life that is no event.
func (s *stream) comment() {
	fmt.Fprint(s.w, ": still here\n\n")
	s.flush()
}

func (s *stream) flush() {
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) // a client that is gone needs no answer
}

// writeError answers in the one form that clients of both APIs read.
func writeError(w http.ResponseWriter, status int, message string) {
	kind := "api_error"
	switch status {
	case http.StatusNotFound:
		kind = "not_found_error"
	case http.StatusBadRequest:
		kind = "invalid_request_error"
	case http.StatusTooManyRequests:
		kind = "rate_limit_error"
	}
	writeJSON(w, status, map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}})
}

// pieces cuts a text as a model would stream it.
func pieces(text string) []string {
	const size = 24 // runes
	var out []string
	r := []rune(text)
	for len(r) > size {
		out, r = append(out, string(r[:size])), r[size:]
	}
	return append(out, string(r))
}
