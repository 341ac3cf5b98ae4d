package inlet

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"time"
)

// Limits of the back-off. Only failing answers wait; a right token is never slowed.
const (
	FailStep    = 100 * time.Millisecond // for each failure in a row after the first
	FailMost    = 2 * time.Second
	FailAsleep  = 8 // answers that wait at the same time; others are given at once
	failLogEach = 10 * time.Second
)

// maxSources is how many senders are told apart at the same time.
const maxSources = 4096

// Backoff slows down whoever guesses tokens. It has a counter for each sender that can be told from others, or one for all.
type Backoff struct {
	log    *slog.Logger
	name   string
	source func(from string) string

	mu     sync.Mutex     // guards the following
	row    map[string]int // failures in a row, by source
	asleep int            // answers that wait
	total  uint64
	logged time.Time // of the last line
	quiet  uint64    // failures since then
}

// NewBackoff makes counters at zero. Lines of the log begin with name. source makes of the address of a sender what is counted
// together; nil counts all senders together, where they cannot be told apart.
func NewBackoff(log *slog.Logger, name string, source func(from string) string) *Backoff {
	if source == nil {
		source = func(string) string { return "" }
	}
	return &Backoff{log: log, name: name, source: source, row: map[string]int{}}
}

// Host is the source of a sender that has an address of its own: the address without the port, and of IPv6 the network that one
// customer has.
func Host(from string) string {
	ap, err := netip.ParseAddrPort(from)
	if err != nil {
		return from
	}
	a := ap.Addr().Unmap().WithZone("")
	if a.Is4() {
		return a.String()
	}
	p, _ := a.Prefix(64) // every IPv6 address has that many bits
	return p.String()
}

// Fail counts a failure and says how long its answer has to wait: not at all for the first one after a success or a new
// token, whose sender may just hold an old token, nor when too many wait already. Who is told to wait calls Woke
// afterwards. from is told to the log and to nobody else.
func (b *Backoff) Fail(from string) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	who := b.source(from)
	wait := min(time.Duration(b.row[who])*FailStep, FailMost)
	if _, known := b.row[who]; !known && len(b.row) >= maxSources {
		for other := range b.row {
			delete(b.row, other) // any: whoever comes from so many places is not slowed by one of them
			break
		}
	}
	b.row[who]++
	b.total++
	b.quiet++
	if now := time.Now(); now.Sub(b.logged) >= failLogEach {
		b.log.Warn(b.name+": requests without a right token were refused", "count", b.quiet, "last_from", from)
		b.logged, b.quiet = now, 0
	}
	if wait == 0 || b.asleep >= FailAsleep {
		return 0
	}
	b.asleep++
	return wait
}

// Woke ends a wait that Fail asked for.
func (b *Backoff) Woke() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asleep--
}

// Clear forgets the failures of a source: a right token came from there, or there is a new one.
func (b *Backoff) Clear(from string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.row, b.source(from))
}

// Count is how many failures there ever were.
func (b *Backoff) Count() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.total
}

// Asleep is how many answers wait now.
func (b *Backoff) Asleep() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asleep
}

// Pause waits for a time or the end of a context.
func Pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
