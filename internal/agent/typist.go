package agent

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// typist is one delivery under way. It belongs to the goroutine of Deliver.
type typist struct {
	t     Terminal
	k     Kind
	d     *Detector
	o     DeliverOptions
	clock Clock
	body  string // what is typed
	mark  mark   // what is looked for on the screen
	ink   string // of the text

	rec   Receipt
	typed bool
	at    time.Time // of the last byte of text
	base  Screen    // before the text
	mode  modes     // under which the text was typed
	seen  bool      // the echo was seen
}

// modes tell one program and page of a terminal from another.
type modes struct {
	paste, alt bool
	foreground int
}

// glance is what the Detector knows at one moment.
type glance struct {
	started, first, last time.Time
	chunks               uint64
	paste, alt           bool
	st                   State
	status               report
	news                 <-chan struct{} // closed at the next output or change
}

func (d *Detector) glance() glance {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.wake == nil {
		d.wake = make(chan struct{})
	}
	return glance{started: d.started, first: d.first, last: d.last, chunks: d.chunks, paste: d.paste, alt: d.alt,
		st: d.st, status: d.status, news: d.wake}
}

// exited reports that the program is gone.
func (w *typist) exited() bool {
	select {
	case <-w.t.Done():
		return true
	default:
		return false
	}
}

// lookGap is the least time between two looks at the screen: a program that floods its terminal shall not be read at
// every chunk.
const lookGap = 10 * time.Millisecond

// pause waits for news, for the moment, or for the end of the program, whatever comes first, and a little after news.
func (w *typist) pause(ctx context.Context, g glance, until time.Time) error {
	news := g.news
	for _, span := range [...]time.Duration{lookGap, until.Sub(w.clock.Now()) - lookGap} {
		rang := make(chan struct{})
		stop := w.clock.AfterFunc(max(span, 0), func() { close(rang) })
		var early <-chan struct{}
		if span != lookGap {
			early = news
		}
		select {
		case <-early:
		case <-rang:
		case <-w.t.Done():
		case <-ctx.Done():
			stop()
			return w.failure(ctx.Err(), "")
		}
		stop()
	}
	return nil
}

func (w *typist) modesNow(g glance) modes {
	m := modes{paste: g.paste, alt: g.alt}
	if f, ok := w.t.(Foregrounder); ok {
		m.foreground = f.Foreground()
	}
	return m
}

// knows reports whether the screen of this kind tells that it can be typed into.
func (w *typist) knows() bool { return len(w.k.Hints.Composer) > 0 }

// ready waits until text can be typed. fresh says that the program was just started.
func (w *typist) ready(ctx context.Context, fresh bool) error {
	begin := w.clock.Now()
	var shown, dialog time.Time // since when the composer, or a dialog, is there without a break
	for {
		g := w.d.glance()
		if w.exited() {
			return w.failure(ErrExited, "")
		}
		now := w.clock.Now()
		if g.st.Work == NeedsInput && g.st.Source == SourceStatus {
			return w.failure(ErrNeedsInput, g.st.Detail)
		}
		s := w.t.Screen()
		row, asks := w.k.dialog(s)
		f, there := w.k.composer(s)
		dialog, shown = since(dialog, asks, now), since(shown, there, now)
		var at time.Time
		var err error
		switch {
		case asks:
			// Menus are painted in pieces, and some go away by themselves.
			if at = dialog.Add(DialogQuiet); !now.Before(at) {
				return w.failure(ErrNeedsInput, row)
			}
			err = w.pause(ctx, g, at)
		default:
			at, err = w.readyAt(moment{now: now, begin: begin, shown: shown, fresh: fresh, s: s, f: f, g: g})
			if err == nil && !now.Before(at) {
				return nil
			}
			if err == nil {
				err = w.pause(ctx, g, at)
			}
		}
		if err != nil {
			return err
		}
	}
}

// since keeps the moment from which on something is there without a break; zero = it is not.
func since(at time.Time, there bool, now time.Time) time.Time {
	switch {
	case !there:
		return time.Time{}
	case at.IsZero():
		return now
	}
	return at
}

// moment is what readyAt judges.
type moment struct {
	now, begin, shown time.Time
	fresh             bool
	s                 Screen
	f                 field
	g                 glance
}

// readyAt is the moment from which text can be typed if nothing changes until then.
func (w *typist) readyAt(m moment) (time.Time, error) {
	g := m.g
	quiet, patience := RestQuiet, RestWait
	if m.fresh {
		quiet, patience = StartQuiet, ReadyWait
	}
	still := g.last.Add(quiet)
	giveUp := m.begin.Add(patience)
	switch {
	case w.knows() && !m.shown.IsZero():
		return w.readyField(m)
	case w.knows() || len(w.k.Hints.Ready) > 0 && !w.readyRow(m.s):
		if !m.now.Before(giveUp) {
			return time.Time{}, w.failure(ErrNotReady, "")
		}
		return giveUp, nil
	case len(w.k.Hints.Ready) > 0:
		return still, nil
	case g.first.IsZero():
		return g.started.Add(StartBlank), nil
	case m.fresh:
		return earlier(later(still, g.started.Add(StartFloor)), g.first.Add(StartPainted)), nil
	}
	return earlier(still, m.begin.Add(StartPainted)), nil
}

// readyRow reports that a row says that the program is ready.
func (w *typist) readyRow(s Screen) bool {
	for _, row := range s.Lines {
		if anyMatch(w.k.Hints.Ready, row) {
			return true
		}
	}
	return false
}

// readyField is readyAt while the input field is on the screen. A field that stays is ready even if the rest of the
// screen never rests.
func (w *typist) readyField(m moment) (time.Time, error) {
	if !m.f.empty {
		at := m.begin.Add(EchoWait)
		if !m.now.Before(at) {
			return time.Time{}, w.failure(ErrOccupied, "")
		}
		return at, nil
	}
	switch {
	case !m.fresh || m.g.status.seen:
		return later(m.shown.Add(RestQuiet), earlier(m.g.last.Add(RestQuiet), m.shown.Add(StartQuiet))), nil
	case w.k.Signals.Reports:
		// It paints its field first and reports when it has started.
		return m.shown.Add(StartPainted), nil
	}
	return earlier(later(m.g.last.Add(StartQuiet), m.shown.Add(RestQuiet)), m.shown.Add(StartFloor)), nil
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// write hands bytes to the program, within a bound.
func (w *typist) write(ctx context.Context, p string) error {
	ctx, cancel := context.WithTimeout(ctx, writeWait)
	defer cancel()
	if err := w.t.Write(ctx, []byte(p)); err != nil {
		if w.exited() {
			return w.failure(ErrExited, "")
		}
		return w.failure(fmt.Errorf("%w: %w", ErrNotTaken, err), "")
	}
	return nil
}

// typeText types the text until it stands in the field.
func (w *typist) typeText(ctx context.Context) error {
	for {
		g := w.d.glance()
		w.mode = w.modesNow(g)
		w.base = w.t.Screen()
		if l, ok := w.t.(LineReader); ok && !w.mode.paste && strings.Contains(w.body, "\n") {
			if lines, known := l.ReadsLines(); known && lines {
				return w.failure(ErrLines, "")
			}
		}
		text := w.body
		if w.mode.paste {
			text = ""
			for _, p := range w.k.pieces(w.body) {
				text += "\x1b[200~" + p + "\x1b[201~"
			}
		}
		w.rec.Bracketed = w.mode.paste
		w.rec.Pastes++
		w.typed = true
		if err := w.write(ctx, text); err != nil {
			return err
		}
		w.at = w.clock.Now()
		here, err := w.echo(ctx)
		if err != nil || here {
			return err
		}
		lost, err := w.provenLost(ctx)
		if err != nil {
			return err
		}
		if !lost {
			return nil // it came late
		}
		w.typed = false
		if w.rec.Pastes >= MaxPastes {
			return w.failure(ErrNotTaken, "")
		}
	}
}

// echo waits for the text on the screen. False without an error means that the field is there and empty, so that the
// text may be lost.
func (w *typist) echo(ctx context.Context) (bool, error) {
	until := w.at.Add(EchoWait + time.Duration(len(w.body)/echoRate)*time.Second + time.Duration(len(w.k.pieces(w.body))-1)*pieceRate)
	for {
		g := w.d.glance()
		if w.exited() {
			return false, w.failure(ErrExited, "")
		}
		s := w.t.Screen()
		if w.shows(s) {
			w.rec.EchoSeen, w.seen = true, true
			return true, nil
		}
		again := until
		if now := w.clock.Now(); !now.Before(until) {
			again = until.Add(tornFor)
			here, err := w.noEcho(s)
			if err == nil || !now.Before(again) {
				return here, err
			}
		}
		if err := w.pause(ctx, g, again); err != nil {
			return false, err
		}
	}
}

// asks is Kind.dialog for a delivery under way: rows of our own text do not make a dialog. Where the field is known it
// tells the two apart; elsewhere a typed list of numbered points looks like a menu.
func (w *typist) asks(s Screen) (string, bool) {
	row, ok := w.k.dialog(s)
	if !ok || !w.typed || w.knows() {
		return row, ok
	}
	var rest []string
	for _, r := range s.tail(dialogRows) {
		if own := ink(strings.TrimLeft(r, " │┃|❯›▶→➤►●>*")); own == "" || !strings.Contains(w.ink, own) {
			rest = append(rest, r)
		}
	}
	return w.k.dialogIn(rest)
}

// noEcho decides what a text that cannot be seen means.
func (w *typist) noEcho(s Screen) (bool, error) {
	if row, ok := w.asks(s); ok {
		return false, w.failure(ErrNeedsInput, row)
	}
	f, there := w.k.composer(s)
	switch {
	case there && f.empty:
		return false, nil
	case there:
		return true, nil // the agent shows the text in a form of its own
	case w.knows():
		return false, w.failure(ErrNotTaken, "")
	}
	return true, nil // a program that does not echo; nothing more can be known
}

// shows reports whether the text, or a stand-in for a long one, is on the screen and was not before.
func (w *typist) shows(s Screen) bool {
	if f, ok := w.k.composer(s); ok {
		texts, standIns := w.mark.count(f.text)
		if texts+standIns > 0 || w.mark.none() && !f.empty {
			return true
		}
		if f.empty {
			return false
		}
	}
	if w.mark.none() {
		return s.hash() != w.base.hash()
	}
	now, nowIns := w.mark.count(strings.Join(s.Lines, "\n"))
	was, wasIns := w.mark.count(strings.Join(w.base.Lines, "\n"))
	return now > was || nowIns > wasIns
}
