package ptyhost

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"

	"termic/internal/fault"
)

// Host owns all terminals of the app. Each terminal has three goroutines, which end with it: the reader, the writer and
// the reaper; Close waits for them.
type Host struct {
	opts  Options
	shown atomic.Int32 // viewers of all terminals that are not hidden

	mu    sync.Mutex // guards the following
	terms map[string]*Terminal
	// leaving tells when nothing is left of forgotten terminals, for those of which something was.
	leaving map[string]<-chan struct{}
	closed  bool
	starts  sync.WaitGroup // starts under way: Close waits for them before it looks at terms
}

// New makes a Host without terminals.
func New(opts Options) *Host {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Grace <= 0 {
		opts.Grace = DefaultGrace
	}
	if opts.Stall <= 0 {
		opts.Stall = StallLimit
	}
	return &Host{opts: opts, terms: make(map[string]*Terminal), leaving: make(map[string]<-chan struct{})}
}

// Start runs a program in a new terminal. An id may be used again once its program has ended.
//
// Errors are faults: InvalidArgument for a bad Spec, NotFound when the program or the directory is not there,
// Forbidden when it may not be run, Conflict when the id is in use, Unavailable after Close or when the machine has no
// room for it, Unsupported on Windows.
func (h *Host) Start(spec Spec) (*Terminal, error) {
	path, err := prepare(&spec)
	if err != nil {
		return nil, err
	}
	gone, err := h.reserve(spec.ID)
	if err != nil {
		return nil, err
	}
	defer h.starts.Done()
	if gone != nil {
		// What an old program left behind is ended by the mark that the new one will carry too. It takes the grace and the
		// time of a KILL at most.
		<-gone
	}
	t, err := h.launch(spec, path)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil {
		delete(h.terms, spec.ID)
		return nil, err
	}
	h.terms[spec.ID] = t
	return t, nil
}

// reserve takes the id, so that nobody else starts with it, and registers with starts.
// It returns what is closed when nothing is left of the terminal that had the id before; nil for none.
func (h *Host) reserve(id string) (gone <-chan struct{}, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, fault.New(fault.Unavailable, "Termic is closing, so nothing new is started")
	}
	old, ok := h.terms[id]
	if ok && (old == nil || !old.ended()) {
		return nil, fault.New(fault.Conflict, "This terminal is running already")
	}
	gone = h.leaving[id]
	delete(h.leaving, id)
	if ok {
		old.forget()
		gone = old.gone
	}
	h.terms[id] = nil
	h.starts.Add(1)
	return gone, nil
}

// Get returns the terminal with that id, running or ended, until it is forgotten.
func (h *Host) Get(id string) (*Terminal, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.terms[id]
	return t, t != nil
}

// Live returns the running terminals, in no order.
func (h *Host) Live() []*Terminal {
	h.mu.Lock()
	defer h.mu.Unlock()
	var live []*Terminal
	for _, t := range h.terms {
		if t != nil && !t.ended() {
			live = append(live, t)
		}
	}
	return live
}

// Forget drops an ended terminal with its ring and screen and detaches its viewers. A running one stays, and Forget
// reports false.
func (h *Host) Forget(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	t, ok := h.terms[id]
	if !ok || t == nil || !t.ended() {
		return false
	}
	t.forget()
	delete(h.terms, id)
	maps.DeleteFunc(h.leaving, func(_ string, gone <-chan struct{}) bool {
		select {
		case <-gone:
			return true
		default:
			return false
		}
	})
	h.leaving[id] = t.gone
	return true
}

// Close ends all terminals and waits until they are gone or ctx ends. Nothing starts after Close was called.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.starts.Wait() // bounded: a start forks and returns

	h.mu.Lock()
	terms := make([]*Terminal, 0, len(h.terms))
	for _, t := range h.terms {
		if t != nil {
			terms = append(terms, t)
		}
	}
	h.mu.Unlock()
	errs := make([]error, len(terms))
	var wg sync.WaitGroup
	for i, t := range terms {
		wg.Go(func() { errs[i] = t.End(ctx, h.opts.Grace) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
