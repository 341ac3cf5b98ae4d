package agent

import (
	"sync"
	"time"
)

// The constants of detection. Those without another note were found by years of use of such apps.
const (
	// SettleDelay is waited after a title, a progress or a shell mark says "idle": claude flickers between its two
	// glyphs for 1 to 3 s between tools.
	SettleDelay = 5 * time.Second
	// StatusSettle is waited after a status report says "done" when the agent can have work in the background: the row
	// that says so is painted a moment later than the report is sent.
	StatusSettle = 250 * time.Millisecond
	// StickyDone is how long after a done a sign of work by anything but a status report is taken for flicker. When it
	// still holds afterwards, the done was wrong and is revoked.
	StickyDone = 8 * time.Second
	// SampleEvery is the pace of the sampler, which runs only while an agent that says nothing is taken to be working,
	// or while a done is held.
	SampleEvery = 3 * time.Second
	// QuietFor is the silence that the sampler wants before it judges.
	QuietFor = 4 * time.Second
	// SameSamples is how many samples in a row must show the same screen.
	SameSamples = 2
	// HardCeiling is the silence after which the sampler judges whatever the screen shows. It never overrules a sign of
	// work.
	HardCeiling = 90 * time.Second
	// AbsoluteCeiling ends a working state that rests on a title, a progress or a shell mark after that much silence,
	// and a held done after that much holding: either sign may be stuck. A status report is not overruled.
	AbsoluteCeiling = 10 * time.Minute
	// OutputFrom and OutputTo bound the time after a submit in which output of an agent that says nothing means that it
	// works. Earlier output is the echo of what was typed; later output has other causes.
	OutputFrom = 300 * time.Millisecond
	OutputTo   = 5 * time.Second
	// ResumeGap is the least time between two bursts of output that revoke a verdict of the sampler.
	ResumeGap = 300 * time.Millisecond
	// HandsOff is how long after a key or a resize output is taken for its echo, and a bell for an answer to it.
	HandsOff = time.Second
	// DialogQuiet is the silence before the screen of a resting agent is looked at for a dialog. Typical full-screen
	// programs paint in bursts shorter than that.
	DialogQuiet = 1200 * time.Millisecond
	// QuestionWait is how long the words of a question that was reported without them are waited for on the screen. codex
	// paints its dialog right after its report.
	QuestionWait = 2 * time.Second
	// questionEvery is the pace of the looks.
	questionEvery = 200 * time.Millisecond
)

// DetectorOptions say what a Detector needs. Only Kind is required.
type DetectorOptions struct {
	Kind  Kind
	Clock Clock // nil = SystemClock
	// Screen returns the screen as it is. It is called from timers and from Submitted, never from within Feed and never
	// with the Detector's lock held. Without it, dialogs, background work and silence are not looked at.
	Screen func() Screen
	// OnChange is told every new state, in order, one call at a time, never twice the same; states that follow each
	// other faster than it returns are merged (the counters in State tell). It may call the Detector.
	OnChange func(State)
	// Reply sends StatusAnswer to the program. It is called from within Feed and must not block. It must be set on the
	// one side of the terminal that answers queries, and the screen must be fed after the Detector, so that the answer
	// precedes the screen's own answers.
	Reply func([]byte)
}

// Detector tells the work state of one terminal. It is fed the program's output and told of submits; it owns no
// goroutine and holds at most one timer, which exists only while a moment is awaited. All methods may be called from
// any goroutine; Feed must be called in the order of the output.
type Detector struct {
	kind     Kind
	clock    Clock
	screen   func() Screen
	onChange func(State)
	reply    func([]byte)
	delivery chan struct{} // holds a token while a Deliver is under way

	mu     sync.Mutex // guards the following
	parser *Parser
	now    time.Time // of the Feed under way
	st     State
	told   State
	tell   bool // an OnChange is under way
	wake   chan struct{}
	timer  func() bool
	armed  time.Time // when timer fires; zero = no timer
	timers uint64    // timers ever armed: the number of the one that counts

	started, first, last time.Time // creation; first and latest output
	chunks               uint64    // pieces of output so far
	paste, alt           bool      // modes of the program

	status   report
	progress reading
	shell    reading
	title    reading
	lastName string // latest title
	spoke    bool   // some signal was ever given
	talks    bool   // some signal ever said "at work"

	submitAt   time.Time
	submitHash uint64
	typedAt    time.Time // latest key or resize
	typing     pasteScan
	doneAt     time.Time
	heldSince  time.Time
	notice     string

	// Moments that are awaited; zero = none.
	settleAt  time.Time // a verdict falls, unless the agent goes on
	noticeAt  time.Time // notice is judged
	sampleAt  time.Time // the sampler looks
	flickerAt time.Time // signs of work after a done count again
	checkAt   time.Time // the screen is looked at for a dialog

	worded unworded // worded.at: the screen is looked at for the words of a question

	settleBy   Source
	sampleHash uint64
	sampleSame int
	burstAt    time.Time // first output after a verdict of the sampler
	byQuiet    bool      // the state is such a verdict

	trace trace // what was heard and decided last
}

// report is the latest status report.
type report struct {
	state string
	at    time.Time
	seen  bool // reports come, and no clear since
}

// unworded is a question that was reported without its words.
type unworded struct {
	at    time.Time // of the next look at the screen; zero = there is none
	until time.Time // then it is told without words
	why   string
}

// reading is what a weaker source says.
type reading struct {
	busy bool
	at   time.Time
}

// NewDetector returns a Detector for a program that was just started.
func NewDetector(o DetectorOptions) *Detector {
	d := &Detector{kind: o.Kind, clock: o.Clock, screen: o.Screen, onChange: o.OnChange, reply: o.Reply, delivery: make(chan struct{}, 1)}
	if d.clock == nil {
		d.clock = SystemClock{}
	}
	d.started = d.clock.Now()
	d.st = State{Since: d.started, Progress: -1, Capable: o.Kind.Capable()}
	d.told = d.st
	d.parser = NewParser(d.signal)
	return d
}

// State returns what is known now.
func (d *Detector) State() State {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.st
}

// Feed reads the next piece of the program's output. It does not keep p.
func (d *Detector) Feed(p []byte) {
	if len(p) == 0 {
		return
	}
	d.mu.Lock()
	if d.st.Work == Inactive {
		d.mu.Unlock()
		return
	}
	now := d.clock.Now()
	d.now = now
	if d.first.IsZero() {
		d.first = now
	}
	d.last = now
	d.chunks++
	d.parser.Feed(p)
	d.output(now)
	d.finish(now)
}

// Submitted tells that a prompt is about to be sent: call it right before the Enter is written, so that no answer can
// come first. The same non-empty id again (a repeated Enter) only moves the time.
func (d *Detector) Submitted(promptID string) {
	hash := d.look()
	d.mu.Lock()
	if d.st.Work == Inactive {
		d.mu.Unlock()
		return
	}
	now := d.clock.Now()
	if promptID != "" && promptID == d.st.Prompt {
		d.submitAt = now
		d.mu.Unlock()
		return
	}
	d.submit(now, promptID, hash)
	d.finish(now)
}

// look hashes the screen, outside the lock.
func (d *Detector) look() uint64 {
	if d.screen == nil {
		return 0
	}
	return d.screen().hash()
}

// Typed tells what a person typed. An Enter outside a paste counts as a submit by hand.
func (d *Detector) Typed(p []byte) {
	var hash uint64
	d.mu.Lock()
	enter := d.typing.scan(p)
	d.mu.Unlock()
	if enter {
		hash = d.look()
	}
	d.mu.Lock()
	if d.st.Work == Inactive {
		d.mu.Unlock()
		return
	}
	now := d.clock.Now()
	d.typedAt = now
	if enter {
		d.submit(now, "", hash)
	}
	d.finish(now)
}

// Resized tells that the terminal changed its size, so that the redraw is not taken for work.
func (d *Detector) Resized() {
	d.mu.Lock()
	d.typedAt = d.clock.Now()
	d.mu.Unlock()
}

// Exited tells that the program is gone. It ends the Detector: nothing is awaited and no other state follows.
func (d *Detector) Exited() {
	d.mu.Lock()
	if d.st.Work == Inactive {
		d.mu.Unlock()
		return
	}
	now := d.clock.Now()
	d.settleAt, d.noticeAt, d.sampleAt, d.flickerAt, d.checkAt = time.Time{}, time.Time{}, time.Time{}, time.Time{}, time.Time{}
	d.worded = unworded{}
	d.st.Held, d.st.Progress = false, -1
	d.set(now, Inactive, SourceProcess, "", "")
	d.finish(now)
}

// NextDeadline returns the next moment at which something may change without any input; ok is false when nothing is
// awaited. The Detector keeps its own timer for it; Advance is for tests and for callers with a clock of their own.
func (d *Detector) NextDeadline() (at time.Time, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at = d.next()
	return at, !at.IsZero()
}

// Advance does what is due by now.
func (d *Detector) Advance() {
	d.mu.Lock()
	now := d.clock.Now()
	var s *Screen
	if d.screen != nil && d.wantsScreen(now) {
		d.mu.Unlock()
		fresh := d.screen()
		d.mu.Lock()
		now = d.clock.Now()
		s = &fresh
	}
	if d.st.Work != Inactive {
		d.due(now, s)
	}
	d.finish(now)
}

// finish arms the timer, wakes those who watch, and tells a change. It unlocks.
func (d *Detector) finish(now time.Time) {
	d.arm(now)
	if d.wake != nil {
		close(d.wake)
		d.wake = nil
	}
	if d.tell {
		d.mu.Unlock() // the call under way will see the newest state
		return
	}
	d.tell = true
	for d.onChange != nil && d.st != d.told {
		d.told = d.st
		s := d.st
		d.mu.Unlock()
		d.onChange(s)
		d.mu.Lock()
	}
	d.tell = false
	d.mu.Unlock()
}

// arm keeps one timer for the next moment. A timer that fires too early costs one look and is left alone; a stream of
// output therefore does not rewind it at every piece.
func (d *Detector) arm(now time.Time) {
	at := d.next()
	if at.IsZero() {
		if d.timer != nil {
			d.timer()
			d.timer, d.armed = nil, time.Time{}
		}
		return
	}
	if d.timer != nil && !at.Before(d.armed) {
		return
	}
	if d.timer != nil {
		d.timer()
	}
	d.armed = at
	d.timers++
	mine := d.timers
	d.timer = d.clock.AfterFunc(max(at.Sub(now), 0), func() { d.fire(mine) })
}

// fire is the timer; one that was replaced while it fired does nothing.
func (d *Detector) fire(mine uint64) {
	d.mu.Lock()
	if d.timer == nil || mine != d.timers {
		d.mu.Unlock()
		return
	}
	d.timer, d.armed = nil, time.Time{}
	d.mu.Unlock()
	d.Advance()
}

// next returns the earliest awaited moment.
func (d *Detector) next() time.Time {
	var at time.Time
	for _, t := range [...]time.Time{d.settleAt, d.noticeAt, d.sampleAt, d.flickerAt, d.checkAt, d.worded.at, d.ceiling()} {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	return at
}
