package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
)

// fakeWindowHost takes in one window at a time, as the app does.
type fakeWindowHost struct {
	mu       sync.Mutex // guards the following
	raise    func() bool
	released chan struct{} // closed when the window is let go
	rev      uint64
	changed  chan struct{}
}

func newWindowHost() *fakeWindowHost {
	return &fakeWindowHost{changed: make(chan struct{}), released: make(chan struct{})}
}

func (h *fakeWindowHost) options(o *Options) {
	o.Watch = func() (uint64, <-chan struct{}) {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.rev, h.changed
	}
	o.Window = func(raise func() bool) (func(), error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.raise != nil {
			return nil, fault.New(fault.Conflict, "There is a window already")
		}
		h.raise = raise
		return func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.raise = nil
			close(h.released)
		}, nil
	}
}

func (h *fakeWindowHost) change() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rev++
	close(h.changed)
	h.changed = make(chan struct{})
}

func openFeed(t *testing.T, r *rig) *Feed {
	t.Helper()
	f, err := OpenFeed(t.Context(), r.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func TestAWindowIsToldWhatChangesAndCallsAsTheOwnerOnTheWindow(t *testing.T) {
	h, b := newWindowHost(), &fakeBackend{}
	r := start(t, b, h.options)
	h.change()
	f := openFeed(t, r)
	if f.Rev() != 1 {
		t.Errorf("it began with revision %d", f.Rev())
	}
	h.change()
	if n, err := f.Next(); err != nil || n != (News{Rev: 2}) {
		t.Errorf("got %+v, %v", n, err)
	}
	h.mu.Lock()
	raise := h.raise
	h.mu.Unlock()
	for range 2 { // asked twice before it heard, it comes forward once
		if !raise() {
			t.Error("the window was not asked to come forward")
		}
	}
	if n, err := f.Next(); err != nil || n != (News{Raise: true}) {
		t.Errorf("got %+v, %v", n, err)
	}
	for range 3 {
		if data, err := f.Call(t.Context(), "window_state", json.RawMessage(`{"a":1}`)); err != nil || string(data) != `{"echo":{"a":1}}` {
			t.Errorf("got %s, %v", data, err)
		}
	}
	if _, err := r.dial(t).Call(t.Context(), "list", nil, nil); err != nil {
		t.Error(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	window, cli := grant.OwnerOn(grant.Window), grant.OwnerOn(grant.CLI)
	for i, want := range []grant.Caller{window, window, window, cli} {
		if got := b.callers[i]; got.Face != want.Face || got.Class != want.Class || got.Principal != want.Principal {
			t.Errorf("call %d came from %+v", i, got)
		}
	}
}

func TestThereIsOneWindowAndItsTicketEndsWithIt(t *testing.T) {
	h := newWindowHost()
	r := start(t, &fakeBackend{}, h.options)
	f := openFeed(t, r)
	if _, err := OpenFeed(t.Context(), r.addr); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("a second window: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	within(t, "the window to be let go", h.released)
	if _, err := f.Call(t.Context(), "list", nil); fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("the ticket of a window that left still calls: %v", err)
	}
	again := newWindowHost()
	h.mu.Lock()
	h.released = again.released
	h.mu.Unlock()
	if _, err := openFeed(t, r).Call(t.Context(), "list", nil); err != nil {
		t.Errorf("a window that comes after: %v", err)
	}
}

func TestAWindowIsRefused(t *testing.T) {
	h := newWindowHost()
	r := start(t, &fakeBackend{}, h.options)
	r.off.Store(true)
	if _, err := OpenFeed(t.Context(), r.addr); fault.From(err).Data["reason"] != ReasonDisabled {
		t.Errorf("with the command line switched off: %v", err)
	}
	r.off.Store(false)
	f := openFeed(t, r)
	r.off.Store(true)
	if _, err := f.Call(t.Context(), "settings_set", nil); err != nil {
		t.Errorf("a window that is there cannot switch the command line on again: %v", err)
	}
	r.off.Store(false)
	c := r.dial(t)
	for _, guess := range []string{"", "x", strings.Repeat("0", 64)} {
		c.token = guess
		if _, err := c.Call(t.Context(), "list", nil, nil); fault.CodeOf(err) != fault.Forbidden {
			t.Errorf("the token %q: %v", guess, err)
		}
	}
	own := start(t, &fakeBackend{})
	if _, err := OpenFeed(t.Context(), own.addr); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("an app with a window of its own: %v", err)
	}
}

func TestAWindowHearsThatTheAppEnds(t *testing.T) {
	h := newWindowHost()
	r := start(t, &fakeBackend{}, h.options)
	f := openFeed(t, r)
	ended := make(chan error, 1)
	go func() {
		_, err := f.Next()
		ended <- err
	}()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
	if _, err := f.Call(t.Context(), "list", nil); !errors.Is(err, ErrNotRunning) {
		t.Errorf("a call after that: %v", err)
	}
}

func TestAWindowGetsAnswersThatNoLineOfTheCommandLineHolds(t *testing.T) {
	h := newWindowHost()
	big := json.RawMessage(`"` + strings.Repeat("x", 4*MaxLine) + `"`)
	r := start(t, &fakeBackend{call: func(context.Context, string, json.RawMessage, func(api.Event)) (json.RawMessage, error) {
		return big, nil
	}}, h.options)
	f := openFeed(t, r)
	if data, err := f.Call(t.Context(), "task_diff", nil); err != nil || !bytes.Equal(data, big) {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if _, err := r.dial(t).Call(t.Context(), "task_diff", nil, nil); fault.CodeOf(err) != fault.Internal {
		t.Errorf("the command line: %v", err)
	}
}

func TestAWindowHidesShowsAndLearnsThatKeysWereTaken(t *testing.T) {
	h, term := newWindowHost(), newFakeTerminal()
	term.block, term.heard = make(chan struct{}), make(chan struct{})
	as := AttachAs{Cols: 80, Rows: 24, Resizes: true, AnswersQueries: true, History: true, ConfirmsInput: true}
	r := start(t, &fakeBackend{attach: func(_ json.RawMessage, got AttachAs) (Attachment, error) {
		if got != as {
			t.Errorf("attached as %+v", got)
		}
		return term, nil
	}}, h.options)
	s, err := openFeed(t, r).Attach(t.Context(), json.RawMessage(`{"task":"fix"}`), as)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := s.Next(); err != nil || f.Kind != FrameReady {
		t.Fatalf("%+v, %v", f, err)
	}
	for _, do := range []func() error{s.Hide, s.Show, func() error { return s.Follow(true) }, func() error { return s.Follow(false) },
		func() error { return s.Send([]byte("keys")) }, func() error { return s.Ack(77) }} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	// The program does not take its keys, and yet it is heard how far the output was shown.
	within(t, "the acknowledgement", term.heard)
	term.mu.Lock()
	if term.acked[0] != 77 || strings.Join(term.looks, " ") != "hide show follow true follow false" || term.typed.Len() != 0 {
		t.Errorf("acked %v, %v, typed %q", term.acked, term.looks, term.typed.String())
	}
	term.mu.Unlock()
	close(term.block)
	if f, err := s.Next(); err != nil || f.Kind != FrameTook {
		t.Fatalf("%+v, %v", f, err)
	}
	term.mu.Lock()
	typed := term.typed.String()
	term.mu.Unlock()
	if typed != "keys" {
		t.Errorf("typed %q", typed)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestALinkIsHandedOverWithTheTokenAndWithoutTheSwitch(t *testing.T) {
	var links []string
	r := start(t, &fakeBackend{}, func(o *Options) {
		o.Raise = func(_ context.Context, link string) error { links = append(links, link); return nil }
	})
	r.off.Store(true)
	if ok, err := Raise(t.Context(), r.addr, "termic://new?name=x"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if ok, err := Raise(t.Context(), r.addr, ""); !ok || err != nil {
		t.Fatal(ok, err)
	}
	c, err := connect(t.Context(), r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Call(t.Context(), verbRaise, json.RawMessage(`{"link":"termic://new"}`), nil); fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("a link without the token: %v", err)
	}
	if len(links) != 2 || links[0] != "termic://new?name=x" || links[1] != "" {
		t.Errorf("handed over %q", links)
	}
}
