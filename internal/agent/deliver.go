package agent

import (
	"context"
	"errors"
	"time"

	"termic/internal/fault"
)

// The constants of delivery.
const (
	// StartFloor is the least age of a program into which text is typed when nothing on its screen says that it is
	// ready: agents paint before they read.
	StartFloor = 3 * time.Second
	// StartQuiet is the silence that a program that was just started must keep before text is typed.
	StartQuiet = 1200 * time.Millisecond
	// StartPainted is how long after its first output a program without a known composer is typed into although it is
	// never quiet.
	StartPainted = 8 * time.Second
	// StartBlank is the same for one that never printed anything.
	StartBlank = 20 * time.Second
	// RestQuiet is the silence wanted of a program that runs for a while: enough to let a redraw end.
	RestQuiet = 150 * time.Millisecond
	// ReadyWait is how long a known composer is waited for in a program that was just started. With the rest of a
	// delivery it stays under DeliveryTimeout.
	ReadyWait = 60 * time.Second
	// RestWait is the same for one that runs for a while.
	RestWait = 20 * time.Second
	// EchoWait is how long the typed text is waited for on the screen.
	EchoWait = 5 * time.Second
	// echoRate is how many bytes of text are granted another second of EchoWait: terminals take input in small pieces.
	echoRate = 64 << 10
	// PasteGap is the least time between a bracketed paste and its Enter. codex took an Enter within 120 ms of input
	// for a line break.
	PasteGap = 250 * time.Millisecond
	// PlainGap is the same for text without brackets: 90 ms were too short for copilot, which joins bursts to pastes.
	PlainGap = 450 * time.Millisecond
	// EchoQuiet is the silence after the echo before the Enter.
	EchoQuiet = 150 * time.Millisecond
	// ConfirmWait is how long a sign that the prompt was taken is waited for. claude needs up to 1.3 s on its first
	// turn on an idle machine.
	ConfirmWait = 6 * time.Second
	// StuckAfter is how long the text must still stand in the field after an Enter for that Enter to be lost.
	StuckAfter = 4 * time.Second
	// AcceptAfter is how long a sign of work is waited for once the Enter has emptied the field, which is proof enough
	// that the prompt was taken. claude needed up to 2.5 s on a loaded machine.
	AcceptAfter = 2500 * time.Millisecond
	// SilentWait is how long any output after the Enter is waited for from a program that gives no signs.
	SilentWait = 1500 * time.Millisecond
	// MaxEnters and MaxPastes bound the attempts.
	MaxEnters = 3
	MaxPastes = 3
	// writeWait bounds one write to a program that does not read.
	writeWait = 30 * time.Second
)

// Reasons for which a prompt was not delivered. They are in the chain of every error that Deliver returns; test them
// with errors.Is.
var (
	ErrNeedsInput = errors.New("a dialog is on the screen")              // answer it first
	ErrExited     = errors.New("the program has exited")                 //
	ErrChanged    = errors.New("another program has taken the terminal") // or the agent left the mode in which the text was typed
	ErrNotReady   = errors.New("the input field did not appear")         //
	ErrOccupied   = errors.New("the input field holds other text")       // somebody's draft: it would be merged
	ErrNotTaken   = errors.New("the text was not taken")                 // it never appeared, or its Enter was ignored
	ErrLines      = errors.New("the program reads single lines")         // several lines would be several prompts
)

// DeliveryError says how far a failed delivery came. It is in the chain of the fault.Error that Deliver returns.
type DeliveryError struct {
	Reason error  // one of the Err values above, or the error of the context
	Typed  bool   // text may stand in the input field: sending again could merge the two
	Enters int    // how often Enter was pressed
	Row    string // of the screen: the dialog, for ErrNeedsInput; untrusted
}

func (e *DeliveryError) Error() string { return "deliver: " + e.Reason.Error() }

// Unwrap returns the reason.
func (e *DeliveryError) Unwrap() error { return e.Reason }

// ReceiptMode says how sure it is that a prompt was taken.
type ReceiptMode string

// The modes of a Receipt, surest first.
const (
	Confirmed   ReceiptMode = "confirmed"   // the agent was seen to begin work, to ask, or to be done, after the Enter
	Accepted    ReceiptMode = "accepted"    // the input field was emptied by the Enter
	Unconfirmed ReceiptMode = "unconfirmed" // typed into a program that gives no signs
)

// Receipt says how a prompt was delivered.
type Receipt struct {
	Mode      ReceiptMode
	Enters    int  // Enters that were pressed
	Pastes    int  // times that the text was typed; more than one only where it was proven to be lost
	EchoSeen  bool // the text, or the agent's stand-in for a long one, was seen in the terminal before the Enter
	Bracketed bool
	Guarded   bool // a guard was put before the text (Kind.Guarded)
	At        time.Time
	Question  string // row of a dialog that came up in answer; empty = none. Untrusted
}

// DeliverOptions say how to deliver. Detector is required and must be the one that is fed this terminal's output.
type DeliverOptions struct {
	Detector *Detector
	PromptID string
	Fresh    bool // the program was just started for this prompt
	Command  bool // the first character may make it a command of the agent: no guard
	// Hold keeps all other writers (a person at the keyboard) out of the terminal between the first byte and the last
	// Enter. It may be nil, and may give nil.
	Hold  func() (release func())
	Clock Clock // nil = SystemClock
}

// Deliver brings one prompt to an agent: it waits until the program can take it, types the text, sees it appear, and
// presses Enter. It returns when the prompt was seen to be taken, or could not be, and holds these:
//
//   - No byte is typed while a dialog is up, and no Enter is pressed unless the text was typed into the program and mode
//     that are still there. An Enter is repeated only while the text still stands in the field; the text is typed again
//     only when the field is empty and the program was proven to have read all that was typed.
//   - The program receives Clean(text) (with a guard, see Guarded) once, or an error tells how far it came.
//   - One delivery at a time per Detector; others wait for it.
//
// The error is a fault.Error (Unavailable, Conflict, Unsupported, InvalidArgument) with a DeliveryError in its chain,
// except for a text that Clean refuses.
func Deliver(ctx context.Context, t Terminal, k Kind, text string, o DeliverOptions) (Receipt, error) {
	body, err := Clean(text)
	if err != nil {
		return Receipt{}, err
	}
	w := &typist{t: t, k: k, d: o.Detector, o: o, clock: o.Clock, body: body, mark: markOf(body), ink: ink(body)}
	if w.clock == nil {
		w.clock = SystemClock{}
	}
	if !o.Command {
		w.body = k.Guarded(body)
		w.rec.Guarded = w.body != body
	}
	select {
	case w.d.delivery <- struct{}{}:
		defer func() { <-w.d.delivery }()
	case <-ctx.Done():
		return Receipt{}, w.failure(ctx.Err(), "")
	}
	return w.run(ctx)
}

// run is the whole of a delivery.
func (w *typist) run(ctx context.Context) (Receipt, error) {
	if err := w.ready(ctx, w.o.Fresh && w.d.State().Submits == 0); err != nil {
		return Receipt{}, err
	}
	if w.o.Hold != nil {
		if release := w.o.Hold(); release != nil {
			defer release()
		}
	}
	// Holding may have taken time in which a person typed or a dialog came.
	if err := w.ready(ctx, false); err != nil {
		return Receipt{}, err
	}
	if err := w.typeText(ctx); err != nil {
		return Receipt{}, err
	}
	for w.rec.Enters < MaxEnters {
		if err := w.beforeEnter(ctx); err != nil {
			return Receipt{}, err
		}
		taken, err := w.enter(ctx)
		if err != nil {
			return Receipt{}, err
		}
		if taken {
			return w.rec, nil
		}
	}
	return Receipt{}, w.failure(ErrNotTaken, "")
}

// failure makes the error of a delivery that stopped here.
func (w *typist) failure(reason error, row string) error {
	e := &DeliveryError{Reason: reason, Typed: w.typed, Enters: w.rec.Enters, Row: row}
	name := w.k.Name
	switch {
	case errors.Is(reason, ErrNeedsInput):
		f := fault.Wrap(e, fault.Conflict, "%s shows a dialog that a person must answer first", name).
			WithHint("Open its terminal, answer, and send the prompt again.")
		return f.WithData("dialog", row)
	case errors.Is(reason, ErrExited):
		return fault.Wrap(e, fault.Unavailable, "%s ended before it took the prompt", name).WithHint("Its last output is in task_log.")
	case errors.Is(reason, ErrChanged):
		return fault.Wrap(e, fault.Conflict, "Another program took over the terminal of %s while the prompt was typed; it was not sent", name).
			WithHint("Open its terminal: the text may stand there.")
	case errors.Is(reason, ErrNotReady):
		return fault.Wrap(e, fault.Unavailable, "%s did not show its input field, so nothing was typed", name).WithHint("Open its terminal to see what it is doing.")
	case errors.Is(reason, ErrOccupied):
		return fault.Wrap(e, fault.Conflict, "The input field of %s holds text that was not sent", name).WithHint("Send or clear it in its terminal first.")
	case errors.Is(reason, ErrLines):
		return fault.Wrap(e, fault.Unsupported, "%s reads single lines, so a prompt of several lines would arrive as several", name).WithHint("Send it as one line.")
	case errors.Is(reason, ErrNotTaken):
		return fault.Wrap(e, fault.Unavailable, "%s did not take the prompt", name).WithHint("Open its terminal: the text may stand in its input field.")
	}
	return fault.Wrap(e, fault.Unavailable, "The prompt for %s was stopped before it was sent", name)
}
