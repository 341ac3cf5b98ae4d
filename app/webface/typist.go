package webface

import (
	"context"
	"errors"
	"sync"
)

// maxWaiting is how many bytes may wait for a program that does not read. A piece that the page sends is smaller.
const maxWaiting = 1 << 20

var (
	errNoRoom = errors.New("too much waits for the program already")
	errEnded  = errors.New("the program takes nothing any more")
)

// typist types what the page sends, in order, so that the page's request need not wait for a program that does not read:
// such requests would use up the few connections that a browser has.
type typist struct {
	mu    sync.Mutex // guards the following
	text  []byte     // waits
	wake  chan struct{}
	ended bool
}

func newTypist() *typist { return &typist{wake: make(chan struct{}, 1)} }

// put queues p whole or not at all.
func (t *typist) put(p []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ended:
		return errEnded
	case len(t.text) > 0 && len(t.text)+len(p) > maxWaiting:
		return errNoRoom
	}
	t.text = append(t.text, p...)
	select {
	case t.wake <- struct{}{}:
	default:
	}
	return nil
}

// run types until ctx ends or the program takes nothing more.
func (t *typist) run(ctx context.Context, term Terminal) {
	defer func() {
		t.mu.Lock()
		t.ended, t.text = true, nil
		t.mu.Unlock()
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
		}
		t.mu.Lock()
		text := t.text
		t.text = nil
		t.mu.Unlock()
		if len(text) == 0 {
			continue
		}
		if err := term.Write(ctx, text); err != nil {
			return
		}
	}
}
