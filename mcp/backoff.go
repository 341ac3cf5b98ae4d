package mcp

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Limits of the back-off. Only failing answers wait; a right token is never slowed.
const (
	failStep    = 100 * time.Millisecond // for each failure in a row after the first
	failMost    = 2 * time.Second
	failAsleep  = 8 // answers that wait at the same time; others are given at once
	failLogEach = 10 * time.Second
)

// backoff slows down whoever guesses tokens. It has one counter for all: who sends a request on loopback cannot be told.
type backoff struct {
	log *slog.Logger

	mu     sync.Mutex // guards the following
	row    int        // failures in a row
	asleep int        // answers that wait
	total  uint64
	logged time.Time // of the last line
	quiet  uint64    // failures since then
}

// fail counts a failure and says how long its answer has to wait: not at all for the first one after a success or a new
// token, whose sender may just hold an old token, nor when too many wait already. Who is told to wait calls woke
// afterwards. from is told to the log and to nobody else.
func (b *backoff) fail(from string) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	wait := min(time.Duration(b.row)*failStep, failMost)
	b.row++
	b.total++
	b.quiet++
	if now := time.Now(); now.Sub(b.logged) >= failLogEach {
		b.log.Warn("mcp: requests without a right token were refused", "count", b.quiet, "last_from", from)
		b.logged, b.quiet = now, 0
	}
	if wait == 0 || b.asleep >= failAsleep {
		return 0
	}
	b.asleep++
	return wait
}

// woke ends a wait that fail asked for.
func (b *backoff) woke() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asleep--
}

// clear forgets the failures: a right token came, or there is a new one.
func (b *backoff) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.row = 0
}

// count is how many failures there ever were.
func (b *backoff) count() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.total
}

// pause waits for a time or the end of a context.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
