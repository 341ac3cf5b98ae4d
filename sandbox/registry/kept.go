package registry

import (
	"context"
	"time"
)

// Preset is the word that stands for the registries in a list of hosts.
const Preset = "@registries"

// keptFor is how long a reading is good. Mirrors change with a setting of the person's, seldom; who has just changed one
// asks for a fresh reading by Forget.
const keptFor = 15 * time.Minute

// Kept reads the indexes when they are first wanted and keeps them for a while, since asking the tools takes seconds.
// It has no goroutine of its own. Make it with Keep.
type Kept struct {
	read func(context.Context) []Index
	now  func() time.Time
	turn chan struct{} // holds one token; who has it may touch what follows
	at   time.Time     // of the last reading; zero when there is none that counts
	got  []Index
}

// Keep makes a Kept. Options are asked for at each reading, since the user's environment may have changed.
func Keep(options func() Options) *Kept {
	k := &Kept{read: func(ctx context.Context) []Index { return Read(ctx, options()) }, now: time.Now, turn: make(chan struct{}, 1)}
	k.turn <- struct{}{}
	return k
}

// Indexes returns the last reading, or makes one. Callers that come meanwhile wait for it. The error is that of the
// context alone; what a tool does not say is in its Index.
func (k *Kept) Indexes(ctx context.Context) ([]Index, error) {
	if err := k.take(ctx); err != nil {
		return nil, err
	}
	defer k.give()
	if k.got != nil && !k.at.IsZero() && k.now().Sub(k.at) < keptFor {
		return k.got, nil
	}
	got := k.read(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx) // it was cut short, and is not worth keeping
	}
	k.merge(got)
	k.at = k.now()
	return k.got, nil
}

// Forget makes the next call of Indexes read anew.
func (k *Kept) Forget(ctx context.Context) error {
	if err := k.take(ctx); err != nil {
		return err
	}
	k.at = time.Time{}
	k.give()
	return nil
}

// merge takes a new reading over. A tool that says nothing now, because the network is away or the machine is busy,
// keeps what it said before; a tool that is gone or was set otherwise has said something, or never had.
func (k *Kept) merge(got []Index) {
	for i, next := range got {
		if len(next.Rules) > 0 {
			continue
		}
		for _, last := range k.got {
			if last.Tool == next.Tool && len(last.Rules) > 0 {
				last.Note = next.Note
				got[i] = last
			}
		}
	}
	k.got = got
}

func (k *Kept) take(ctx context.Context) error {
	select {
	case <-k.turn:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (k *Kept) give() { k.turn <- struct{}{} }
