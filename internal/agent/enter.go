package agent

import (
	"context"
	"errors"
	"time"
)

// beforeEnter waits until the text has settled in the field and makes sure that an Enter would send it and do nothing
// else.
func (w *typist) beforeEnter(ctx context.Context) error {
	gap := PlainGap
	if w.mode.paste {
		gap = PasteGap
	}
	begin := w.clock.Now()
	for {
		g := w.d.glance()
		now := w.clock.Now()
		// A spinner never rests; the gap alone must do then.
		at := later(w.at.Add(gap), earlier(g.last.Add(EchoQuiet), begin.Add(EchoQuiet+PlainGap)))
		if !now.Before(at) {
			return w.steadyFit(ctx)
		}
		if w.exited() {
			return w.failure(ErrExited, "")
		}
		if err := w.pause(ctx, g, at); err != nil {
			return err
		}
	}
}

// tornFor is how long a reason that was read from the screen must hold: a look can fall into the middle of a redraw.
const tornFor = 500 * time.Millisecond

// steadyFit is fit, asked until the answer is good or has been bad for a while.
func (w *typist) steadyFit(ctx context.Context) error {
	until := w.clock.Now().Add(tornFor)
	for {
		g := w.d.glance()
		err := w.fit(g)
		if err == nil || errors.Is(err, ErrExited) || !w.clock.Now().Before(until) {
			return err
		}
		if err := w.pause(ctx, g, until); err != nil {
			return err
		}
	}
}

// fit reports why an Enter must not be pressed now, if there is a reason.
func (w *typist) fit(g glance) error {
	if w.exited() {
		return w.failure(ErrExited, "")
	}
	if w.modesNow(g) != w.mode {
		return w.failure(ErrChanged, "")
	}
	if g.st.Work == NeedsInput && g.st.Source == SourceStatus {
		return w.failure(ErrNeedsInput, g.st.Detail)
	}
	s := w.t.Screen()
	if row, ok := w.asks(s); ok {
		return w.failure(ErrNeedsInput, row)
	}
	if f, ok := w.k.composer(s); w.knows() && w.seen && (!ok || f.empty) {
		return w.failure(ErrChanged, "")
	}
	return nil
}

// enter presses Enter once and watches what comes of it. False means that the text still stands in the field.
func (w *typist) enter(ctx context.Context) (taken bool, err error) {
	before := w.t.Screen()
	from := w.d.glance()
	w.d.Submitted(w.o.PromptID)
	w.rec.Enters++
	if err := w.write(ctx, "\r"); err != nil {
		return false, err
	}
	w.rec.At = w.clock.Now()
	until := w.rec.At.Add(ConfirmWait)
	for {
		g := w.d.glance()
		now := w.clock.Now()
		if w.worked(from, g) {
			w.rec.Mode = Confirmed
			if g.st.Work == NeedsInput {
				w.rec.Question = g.st.Detail
			}
			return true, nil
		}
		s := w.t.Screen()
		v := w.look(s, before, from, g, now)
		switch {
		case v.taken:
			w.rec.Mode, w.rec.Question = v.mode, v.question
			return true, nil
		case v.stuck:
			return false, nil
		case w.exited():
			return false, w.failure(ErrExited, "")
		}
		if !now.Before(until) {
			if f, ok := w.k.composer(s); ok && !f.empty {
				return false, w.failure(ErrNotTaken, "") // the Enter did something else to the text
			}
			w.rec.Mode = Unconfirmed
			return true, nil
		}
		if err := w.pause(ctx, g, earlier(until, v.again)); err != nil {
			return false, err
		}
	}
}

// worked reports a sign of the agent itself, newer than the Enter. Mere output is none.
func (w *typist) worked(from, g glance) bool {
	if g.status.at.After(from.status.at) {
		switch g.status.state {
		case "working", "blocked", "done":
			return true
		}
	}
	switch g.st.Work {
	case Working:
		return g.st.WorkSeq > from.st.WorkSeq && g.st.Source > SourceScreen
	case NeedsInput:
		return g.st.Source > SourceScreen && g.st.PromptWorked
	case Done:
		return g.st.DoneSeq > from.st.DoneSeq && g.st.Source > SourceScreen
	}
	return false
}

// sight is what the screen says after an Enter.
type sight struct {
	taken, stuck bool
	mode         ReceiptMode
	question     string
	again        time.Time // when to look again though nothing changes
}

// look judges the screen after an Enter, for agents that have not spoken yet.
func (w *typist) look(s, before Screen, from, g glance, now time.Time) sight {
	if row, ok := w.asks(s); ok && now.Sub(w.rec.At) >= SilentWait {
		// The field gave way to a question: the text was taken.
		return sight{taken: true, mode: Accepted, question: row}
	}
	stuckAt := w.rec.At.Add(StuckAfter)
	if !w.knows() {
		return w.lookBlind(s, before, from, g, now)
	}
	f, there := w.k.composer(s)
	if there && f.empty {
		// Signs of work follow soon; without them the empty field must do.
		at := w.rec.At.Add(SilentWait)
		if g.st.Capable {
			at = w.rec.At.Add(AcceptAfter)
		}
		if !now.Before(at) {
			return sight{taken: true, mode: Accepted}
		}
		return sight{again: at}
	}
	if there && !now.Before(stuckAt) {
		// Stuck is a field that is as it was before the Enter, in the same place: anything else may be its quote.
		was, ok := w.k.composer(before)
		return sight{stuck: ok && was == f, again: stuckAt.Add(ConfirmWait)}
	}
	if now.Before(stuckAt) {
		return sight{again: earlier(stuckAt, later(now.Add(time.Millisecond), w.rec.At.Add(SilentWait)))}
	}
	return sight{again: w.rec.At.Add(ConfirmWait)}
}

// lookBlind is look for a program whose field is not known. The text is stuck only when nothing at all has changed.
func (w *typist) lookBlind(s, before Screen, from, g glance, now time.Time) sight {
	if g.st.Capable {
		stuckAt := w.rec.At.Add(StuckAfter)
		if now.Before(stuckAt) {
			return sight{again: stuckAt}
		}
		return sight{stuck: w.seen && g.chunks == from.chunks && s.hash() == before.hash(), again: w.rec.At.Add(ConfirmWait)}
	}
	at := w.rec.At.Add(SilentWait)
	if now.Before(at) {
		return sight{again: at}
	}
	if g.chunks != from.chunks {
		return sight{taken: true, mode: Unconfirmed}
	}
	if w.seen && s.hash() == before.hash() && !now.Before(w.rec.At.Add(StuckAfter)) {
		return sight{stuck: true}
	}
	return sight{again: later(w.rec.At.Add(StuckAfter), now.Add(time.Millisecond))}
}
