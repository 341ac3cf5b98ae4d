package core

import "sync"

// beacon tells any number of waiters that something changed, without a queue: each change closes the channel that
// waiters hold and puts a fresh one in its place, so nobody can miss one or be waited for.
type beacon struct {
	mu  sync.Mutex // guards the following
	rev uint64
	ch  chan struct{}
}

func newBeacon() *beacon { return &beacon{ch: make(chan struct{})} }

// watch returns the current revision and a channel that closes at the next change after it.
func (b *beacon) watch() (uint64, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rev, b.ch
}

func (b *beacon) change() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rev++
	close(b.ch)
	b.ch = make(chan struct{})
}

// Watch returns the revision of everything that window_state shows, and a channel that closes when it moves on.
func (c *Core) Watch() (rev uint64, changed <-chan struct{}) { return c.beacon.watch() }
