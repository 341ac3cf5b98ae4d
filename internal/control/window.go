package control

import (
	"sync"
	"time"

	"termic/internal/fault"
	"termic/internal/secret"
)

// ticket is what a window in another process calls with. Its zero value lets nobody in.
type ticket struct {
	mu   sync.Mutex // guards now
	now  secret.String
	live bool
}

// issue makes a new one, which counts until drop.
func (t *ticket) issue() secret.String {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now, t.live = secret.Mint(), true
	return t.now
}

func (t *ticket) drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now, t.live = secret.String{}, false
}

func (t *ticket) is(guess string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.live && t.now.Equal(guess)
}

// reasonEnded is why a window's connection ended that the app ended.
const reasonEnded = "ended"

// window gives the connection to a window that another process shows: it is told what changed, until either side leaves.
// With the connection the ticket ends.
func (c *conn) window(req Request) {
	if c.Window == nil {
		c.tell(reply{ID: req.ID, Error: wireOf(fault.New(fault.Conflict, "Termic shows a window of its own on this profile"))})
		return
	}
	raised := make(chan struct{}, 1)
	release, err := c.Window(func() bool {
		select {
		case raised <- struct{}{}:
		default: // it is asked already
		}
		return true
	})
	if err != nil {
		c.tell(reply{ID: req.ID, Error: wireOf(err)})
		return
	}
	defer release() // after the ticket is dropped: then another window may come
	defer c.ticket.drop()
	say := func(l windowLine) bool {
		l.ID, l.Stream = req.ID, true
		return c.tell(l)
	}
	rev, changed := c.Watch()
	if !say(windowLine{Event: "window", Ticket: c.ticket.issue().Reveal(), Rev: rev}) {
		return
	}
	tick := time.NewTicker(c.Limits.Heartbeat)
	defer tick.Stop()
	for whole := true; whole; {
		select {
		case <-changed:
			rev, changed = c.Watch()
			whole = say(windowLine{Event: "rev", Rev: rev})
		case <-raised:
			whole = say(windowLine{Event: "raise"})
		case <-tick.C:
			whole = say(windowLine{Event: "heartbeat"})
		case <-c.lines: // it has nothing to say: it left, or misbehaves
			return
		case <-c.Server.ctx.Done():
			c.tell(reply{ID: req.ID, OK: true, Data: []byte(`{"reason":"` + reasonEnded + `"}`)})
			return
		}
	}
}
