package ptyhost

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// viewer plays a page that draws so many bytes a second, and hears of what it drew after a while.
func (p *pace) viewer(rate float64, lag time.Duration, rounds int) (under time.Duration) {
	var end uint64
	for range rounds {
		end += p.window
		p.limited = true
		under = lag + time.Duration(float64(p.window)/rate*float64(time.Second))
		p.heard(end, end, under)
	}
	return under
}

// However quick a viewer is, what is under way is drawn in time, as far as the bounds allow.
func TestPaceBoundsTheWait(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(1e5, 50e6).Draw(t, "bytes a second")
		lag := time.Duration(rapid.IntRange(0, 40).Draw(t, "lag")) * time.Millisecond
		p := newPace(0)
		took := p.viewer(rate, lag, 60)
		switch {
		case p.window < LeastWindow || p.window > MostWindow:
			t.Fatalf("a window of %d bytes", p.window)
		case p.window > LeastWindow && took > PaceTarget*11/10:
			t.Fatalf("%d bytes a second: %d bytes are under way for %v", int(rate), p.window, took)
		case p.window < MostWindow && took < PaceTarget*9/10:
			t.Fatalf("%d bytes a second: only %d bytes, for %v", int(rate), p.window, took)
		}
	})
}

func TestPaceKeepsWhatIsGiven(t *testing.T) {
	p := newPace(20 << 10)
	if p.viewer(1e9, 0, 20); p.window != 20<<10 {
		t.Errorf("a window of %d bytes became %d", 20<<10, p.window)
	}
	// A program that prints little tells nothing of how much could be under way.
	p = newPace(0)
	for seq := uint64(0); seq < 100; seq++ {
		p.heard(seq, seq, time.Millisecond)
	}
	if p.window != firstWindow {
		t.Errorf("it grew to %d without need", p.window)
	}
}

func TestClock(t *testing.T) {
	var c clock
	start := time.Unix(1000, 0)
	if _, ok := c.printed(0); ok {
		t.Error("an empty clock knows a time")
	}
	for i := range 1000 {
		c.add(uint64(i+1)*clockStep, start.Add(time.Duration(i)*time.Millisecond))
		c.add(uint64(i+1)*clockStep+1, start.Add(time.Hour)) // too close to be noted
	}
	if at, ok := c.printed(1000*clockStep - 5); !ok || !at.Equal(start.Add(999*time.Millisecond)) {
		t.Errorf("the newest byte: %v %v", at, ok)
	}
	if at, ok := c.printed(1000*clockStep - MostWindow); !ok || !at.Equal(start.Add((999-MostWindow/clockStep)*time.Millisecond)) {
		t.Errorf("a byte a window ago: %v %v", at.Sub(start), ok)
	}
	if _, ok := c.printed(1); ok {
		t.Error("it knows of the first byte still")
	}
	if _, ok := c.printed(1001 * clockStep); ok {
		t.Error("it knows of a byte to come")
	}
}
