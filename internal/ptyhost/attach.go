package ptyhost

import (
	"context"
	"math"
	"time"
)

const never = math.MaxUint64

// Attachment is one viewer of a terminal. It has no goroutine: its owner calls Next in a loop.
type Attachment struct {
	t    *Terminal
	opts AttachOptions
	wake chan struct{} // capacity 1: something changed for Next

	// The following are guarded by t.mu.
	pace       pace
	synced     bool   // what it draws is the state at sent; otherwise it needs a snapshot
	hidden     bool   // gets no bytes
	follows    bool   // shows the end of what is printed: need not see all of a flood
	skims      bool   // is not synced, and gets pictures of a flood
	drawing    bool   // was given such a picture and has not drawn it yet
	due        []byte // what comes behind the picture that it was given last
	kept       bool   // while hidden: what it draws is still the state at sent, at the size that the terminal has
	sent       uint64 // bytes handed out
	acked      uint64
	liveFrom   uint64 // bytes before it are replay
	answerFrom uint64 // it answers queries from there on; never when it does not
	full       bool   // holds the reader until it acknowledged half of its window
	heard      time.Time
	lastFrame  time.Time
	lastBytes  uint64 // that it had
	resized    bool   // a size is to be told
	resizedAt  uint64 // behind that byte
	exitTold   bool
	detached   bool
	reason     string
}

// Attach joins a viewer. It fails only when the host was closed.
func (t *Terminal) Attach(opts AttachOptions) (*Attachment, error) {
	a := &Attachment{t: t, opts: opts, pace: newPace(opts.Window), wake: make(chan struct{}, 1),
		answerFrom: never, hidden: opts.Hidden, heard: time.Now()}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.forgotten {
		return nil, ErrDetached
	}
	if s := opts.Since; s != nil && *s <= t.ring.end && *s >= t.ring.start() && !a.hidden {
		a.synced = true
		a.sent, a.acked, a.liveFrom = *s, *s, t.ring.end
		a.resized, a.resizedAt = true, *s // it may have missed one
		t.claimAnswers(a)
	}
	t.viewers[a] = struct{}{}
	if !a.hidden {
		t.count(1)
	}
	a.signal()
	return a, nil
}

// count takes note of viewers that see the terminal, or do not any more; t.mu must be held.
func (t *Terminal) count(n int) {
	t.shown += n
	t.host.shown.Add(int32(n))
}

func (a *Attachment) signal() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// Next waits for the next frame. It must be called by one goroutine at a time. After the viewer was detached it returns
// ErrDetached; Reason says why. The exit frame is the last one: then the viewer is detached.
func (a *Attachment) Next(ctx context.Context) (Frame, error) {
	for {
		f, wait, err := a.poll(time.Now())
		if err != nil || f.Kind != 0 {
			return f, err
		}
		if err := a.sleep(ctx, wait); err != nil {
			return Frame{}, err
		}
	}
}

// sleep waits for a change, and no longer than wait if that is not zero.
func (a *Attachment) sleep(ctx context.Context, wait time.Duration) error {
	var due <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-due:
	case <-a.wake:
	}
	return nil
}

// poll returns the frame that is due, or how long to wait for one; zero waits for a signal.
func (a *Attachment) poll(now time.Time) (f Frame, wait time.Duration, err error) {
	t := a.t
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case a.detached:
		return Frame{}, 0, ErrDetached
	case a.hidden && !t.exited:
		return Frame{}, 0, nil
	case a.hidden:
		a.reveal() // what a program says last is there when somebody looks
	}
	switch {
	case len(a.due) > 0:
		return a.passedOver(), 0, nil
	case a.skims:
		f, wait = a.skim(now)
		return f, wait, nil
	case !a.synced:
		// It still draws what it was given. Not all of it need be acknowledged ever: viewers may do that in steps.
		if a.sent-a.acked > a.pace.window/2 && !t.exited {
			return Frame{}, 0, nil
		}
		return a.resync(now), 0, nil
	case a.resized && a.sent >= a.resizedAt:
		a.resized = false
		return Frame{Kind: FrameResize, Seq: a.sent, Size: t.size}, 0, nil
	case a.sent == t.ring.end:
		return a.exitFrame(), 0, nil
	}
	return a.output(now)
}

// exitFrame returns the last frame, if it is due; t.mu must be held.
func (a *Attachment) exitFrame() Frame {
	if !a.t.exited || a.exitTold {
		return Frame{}
	}
	a.exitTold = true
	f := Frame{Kind: FrameExit, Seq: a.t.ring.end, Exit: a.t.status}
	a.detachLocked(ReasonExit)
	return f
}

// resync makes the viewer's state that of the screen; t.mu must be held.
func (a *Attachment) resync(now time.Time) Frame {
	t := a.t
	lines := snapshotLines
	if a.opts.History {
		lines = MaxLines
	}
	f := a.picture(lines)
	a.synced, a.full, a.resized, a.skims = true, false, false, false
	a.sent, a.acked, a.liveFrom = t.ring.end, t.ring.end, t.ring.end
	a.heard, a.lastFrame, a.lastBytes = now, now, 0
	t.claimAnswers(a)
	return f
}

// output cuts the next frame out of the ring; t.mu must be held.
func (a *Attachment) output(now time.Time) (f Frame, wait time.Duration, err error) {
	t := a.t
	end := min(t.ring.end, a.acked+a.pace.window)
	if a.resized {
		end = min(end, a.resizedAt)
	}
	if end <= a.sent {
		return Frame{}, 0, nil // the window is full: an Ack will signal
	}
	n := end - a.sent
	delay := FrameDelay
	if a.lastBytes >= FloodBytes {
		delay = FloodDelay
	}
	if since := now.Sub(a.lastFrame); n < FrameBytes && since < delay && !t.exited {
		return Frame{}, delay - since, nil
	}
	n = min(n, FrameBytes)
	kind := FrameOutput
	if a.sent < a.liveFrom {
		kind = FrameReplay
		n = min(n, a.liveFrom-a.sent)
	}
	mute := a.sent < a.answerFrom
	if mute {
		n = min(n, a.answerFrom-a.sent)
	}
	f = Frame{Kind: kind, Data: t.ring.read(a.sent, int(n)), Mute: mute}
	a.sent += n
	f.Seq = a.sent
	a.lastFrame, a.lastBytes = now, n
	if t.answerer == a {
		t.answeredUpTo(a.sent)
	}
	return f, 0, nil
}

// Ack tells that everything up to seq was drawn. A seq that was not handed out yet, or is older than the last, is
// ignored.
func (a *Attachment) Ack(seq uint64) {
	t := a.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if seq > a.sent || seq <= a.acked || a.detached {
		return
	}
	a.acked = seq
	a.drawing = a.drawing && seq < a.sent
	a.heard = time.Now()
	if at, ok := t.clock.printed(seq); ok && seq > a.liveFrom {
		a.pace.heard(seq, t.ring.end, a.heard.Sub(at))
	}
	if a.full && t.ring.end-min(a.acked, t.ring.end) <= a.pace.window*3/4 {
		a.full = false
		t.signalRoom()
	}
	a.signal()
}

// Hide stops the bytes. A hidden viewer neither slows the program down nor answers queries.
func (a *Attachment) Hide() {
	a.t.mu.Lock()
	defer a.t.mu.Unlock()
	if a.detached || a.hidden {
		return
	}
	a.hidden, a.kept = true, a.synced && !a.resized
	a.skims, a.due = false, nil
	a.t.count(-1)
	a.unsync()
}

// Show resumes the bytes: where only little was printed meanwhile with that, otherwise with a snapshot.
func (a *Attachment) Show() {
	a.t.mu.Lock()
	defer a.t.mu.Unlock()
	if a.detached || !a.hidden {
		return
	}
	a.reveal()
	a.signal()
}

// reveal ends being hidden; t.mu must be held. A snapshot would cost the viewer what it alone knows, such as how far a
// person has scrolled.
func (a *Attachment) reveal() {
	t := a.t
	a.hidden = false
	t.count(1)
	if !a.kept || a.sent < t.ring.start() || t.ring.end-a.sent > FrameBytes {
		a.acked = a.sent // what it had is forgotten
		return
	}
	a.synced, a.heard = true, time.Now()
	a.liveFrom = t.ring.end
	t.claimAnswers(a)
}

// unsync says that the viewer will need a snapshot; t.mu must be held. What it was not given is answered here.
func (a *Attachment) unsync() {
	a.synced, a.full = false, false
	a.t.dropAnswers(a)
	a.t.signalRoom()
	a.signal()
}

// Detach ends the viewer. The first reason counts.
func (a *Attachment) Detach(reason string) {
	a.t.mu.Lock()
	defer a.t.mu.Unlock()
	a.detachLocked(reason)
}

// detachLocked is Detach; t.mu must be held.
func (a *Attachment) detachLocked(reason string) {
	if a.detached {
		return
	}
	a.detached, a.reason = true, reason
	if !a.hidden {
		a.t.count(-1)
	}
	delete(a.t.viewers, a)
	a.unsync()
}

// Reason returns why it was detached, empty while attached.
func (a *Attachment) Reason() string {
	a.t.mu.Lock()
	defer a.t.mu.Unlock()
	return a.reason
}
