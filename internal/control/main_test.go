package control

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeBackend answers with what a test puts in.
type fakeBackend struct {
	call   func(ctx context.Context, verb string, params json.RawMessage, emit func(api.Event)) (json.RawMessage, error)
	attach func(params json.RawMessage, as AttachAs) (Attachment, error)

	mu      sync.Mutex
	callers []grant.Caller
	verbs   []string
}

func (b *fakeBackend) Call(ctx context.Context, caller grant.Caller, verb string, params json.RawMessage, emit func(api.Event)) (json.RawMessage, error) {
	b.mu.Lock()
	b.callers, b.verbs = append(b.callers, caller), append(b.verbs, verb)
	b.mu.Unlock()
	if b.call == nil {
		return json.RawMessage(`{"echo":` + string(orEmpty(params)) + `}`), nil
	}
	return b.call(ctx, verb, params, emit)
}

func (b *fakeBackend) seen() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.verbs...)
}

func orEmpty(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("{}")
	}
	return raw
}

func (b *fakeBackend) Attach(_ context.Context, _ grant.Caller, params json.RawMessage, as AttachAs) (Attachment, error) {
	if b.attach == nil {
		return nil, fault.New(fault.NotFound, "There is no such terminal")
	}
	return b.attach(params, as)
}

// rig is a running server and how to reach it.
type rig struct {
	*Server
	addr    Address
	backend *fakeBackend
	off     atomic.Bool // the command line is switched off
}

// shortDir is a folder whose path leaves room for a socket's name; t.TempDir holds the test's name.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ctl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func start(t *testing.T, b *fakeBackend, change ...func(*Options)) *rig {
	t.Helper()
	r := &rig{backend: b}
	dir := shortDir(t)
	o := Options{Dir: dir, Backend: b, Version: "1.2.3", Log: quiet(),
		Enabled: func() bool { return !r.off.Load() }}
	for _, f := range change {
		f(&o)
	}
	s, err := Listen(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	r.Server, r.addr = s, AddressIn(o.Dir)
	return r
}

func (r *rig) dial(t *testing.T) *Client {
	t.Helper()
	c, err := Dial(t.Context(), r.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// wire is a connection without a client's manners.
type wire struct {
	t *testing.T
	*net.UnixConn
	in *lineReader
}

func (r *rig) wire(t *testing.T) *wire {
	t.Helper()
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: r.addr.Socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return &wire{t, c, newLineReader(c)}
}

func (w *wire) send(text string) {
	w.t.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		w.t.Fatal(err)
	}
}

// line reads one message; io.EOF when the server hung up.
func (w *wire) line() (anyLine, error) {
	raw, err := w.in.next()
	if err != nil {
		return anyLine{}, err
	}
	var l anyLine
	if err := json.Unmarshal(raw, &l); err != nil {
		w.t.Fatalf("the server wrote a broken line %q: %v", raw, err)
	}
	return l, nil
}

// refused reads one message and wants a refusal with a code, after which the server hangs up when gone is set.
func (w *wire) refused(code fault.Code, gone bool) anyLine {
	w.t.Helper()
	l, err := w.line()
	if err != nil {
		w.t.Fatalf("no answer: %v", err)
	}
	if l.Error == nil || l.Error.Code != code {
		w.t.Fatalf("answer %+v, want code %s", l, code)
	}
	if gone {
		if l, err := w.line(); err == nil {
			w.t.Fatalf("after the refusal came %+v", l)
		}
	}
	return l
}

func (r *rig) token(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(r.Dir, "cli-token"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b[:len(b)-1])
}

func within(t *testing.T, what string, ch <-chan struct{}) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(10 * time.Second):
		t.Fatalf("%s did not happen within 10 s", what)
	}
}

var errTest = errors.New("a cause that must stay in the log")

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }
