package agent

import (
	"sync"
	"testing"
	"time"
)

// fakeClock is a Clock that stands still until it is moved.
type fakeClock struct {
	mu     sync.Mutex // guards the following
	now    time.Time
	timers map[*fakeTimer]bool
	fired  int // timers that ever fired: wake-ups
}

type fakeTimer struct {
	at time.Time
	f  func()
}

func newFakeClock() *fakeClock {
	return &fakeClock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), timers: map[*fakeTimer]bool{}}
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &fakeTimer{at: c.now.Add(d), f: f}
	c.timers[t] = true
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		there := c.timers[t]
		delete(c.timers, t)
		return there
	}
}

// advance moves on, firing what is due on the way, in order.
func (c *fakeClock) advance(d time.Duration) {
	end := c.Now().Add(d)
	for {
		c.mu.Lock()
		var next *fakeTimer
		for t := range c.timers {
			if !t.at.After(end) && (next == nil || t.at.Before(next.at)) {
				next = t
			}
		}
		if next == nil {
			c.now = end
			c.mu.Unlock()
			return
		}
		delete(c.timers, next)
		if next.at.After(c.now) {
			c.now = next.at
		}
		c.fired++
		c.mu.Unlock()
		next.f()
	}
}

func (c *fakeClock) waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.timers)
}

func TestFakeClock(t *testing.T) {
	c := newFakeClock()
	var got []int
	c.AfterFunc(2*time.Second, func() { got = append(got, 2) })
	c.AfterFunc(time.Second, func() { got = append(got, 1) })
	c.AfterFunc(time.Minute, func() { got = append(got, 3) })()
	c.advance(time.Hour)
	if len(got) != 2 || got[0] != 1 {
		t.Errorf("%v", got)
	}
}
