package ptyhost

import "time"

// Bounds of a window that is sized by time.
const (
	// PaceTarget is how long a byte may be under way from the program to the acknowledgement that it was drawn. What is
	// typed is shown behind all that was printed before it, so that this is what a flood adds to an echo. With less, a page
	// whose pictures take 20 ms each has nothing to draw most of the time.
	PaceTarget  = 60 * time.Millisecond
	LeastWindow = 64 << 10
	MostWindow  = 1 << 20
	firstWindow = 128 << 10
	// paceLeast and paceMost bound one change: a viewer that was held up once recovers soon.
	paceLeast = 0.5
	paceMost  = 1.25
)

// clock remembers when bytes were printed, coarsely: one note for each step of the stream, the newest ones only.
type clock struct {
	notes [MostWindow/clockStep + 16]note // more than are under way
	next  int                             // place of the oldest
}

type note struct {
	seq uint64 // the stream's end at that time
	at  time.Time
}

const clockStep = 8 << 10

// add takes note of the stream's end.
func (c *clock) add(seq uint64, at time.Time) {
	last := c.notes[(c.next+len(c.notes)-1)%len(c.notes)]
	if !last.at.IsZero() && seq-last.seq < clockStep {
		return
	}
	c.notes[c.next] = note{seq, at}
	c.next = (c.next + 1) % len(c.notes)
}

// printed returns when byte seq was printed, at the latest; false when that was too long ago, or is not noted yet.
func (c *clock) printed(seq uint64) (time.Time, bool) {
	for i := range c.notes {
		if n := c.notes[(c.next+i)%len(c.notes)]; n.seq >= seq && !n.at.IsZero() {
			return n.at, i > 0
		}
	}
	return time.Time{}, false
}

// pace sizes the window of a viewer so that what is under way is drawn within PaceTarget: many bytes for a viewer that is
// quick, few for one that is slow, as on a machine with other work.
type pace struct {
	window  uint64
	fixed   bool
	limited bool   // the window held something back since the last change
	from    uint64 // what was printed before it tells of an older window
}

// newPace returns a pace of so many bytes for ever, or, of none, one that is sized by time.
func newPace(window int) pace {
	if window > 0 {
		return pace{window: uint64(clamp(window, 4<<10, HighWater)), fixed: true}
	}
	return pace{window: firstWindow}
}

// heard adjusts the window to an acknowledgement of seq, which was under way for so long; end is the end of the stream. One
// that nothing fills is not made larger.
func (p *pace) heard(seq, end uint64, took time.Duration) {
	if p.fixed || seq < p.from || took <= 0 {
		return
	}
	factor := min(max(float64(PaceTarget)/float64(took), paceLeast), paceMost)
	if factor > 1 && !p.limited {
		return
	}
	p.window = min(max(uint64(float64(p.window)*factor), LeastWindow), MostWindow)
	p.from, p.limited = end, false
}
