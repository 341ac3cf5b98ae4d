//go:build unix

package agent

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// send delivers one prompt within a bound.
func send(t testing.TB, r *realTerm, k Kind, text string, o DeliverOptions) (Receipt, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	o.Detector = r.det
	return Deliver(ctx, r, k, text, o)
}

// mustSend delivers one prompt or fails.
func mustSend(t testing.TB, r *realTerm, k Kind, text string, o DeliverOptions) Receipt {
	t.Helper()
	rec, err := send(t, r, k, text, o)
	if err != nil {
		t.Fatalf("Deliver(%.60q): %v", text, err)
	}
	return rec
}

// wantPrompts compares what the agent received.
func wantPrompts(t testing.TB, log string, want ...string) {
	t.Helper()
	got, _ := readLog(t, log)
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("the agent received %d prompts\n%.300q\nwant %d\n%.300q", len(got), got, len(want), want)
	}
}

// T1: an Enter right after a paste is swallowed by some agents.
func TestT1EnterAfterPasteWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, window string
		enters       int
	}{{"within our gap", "120ms", 1}, {"longer than our gap: the Enter alone is repeated", "1s", 2}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			log := filepath.Join(t.TempDir(), "log")
			k := kindFake()
			r := startFake(t, k, log, "--manner", "osc7501,cr-window", "--window", c.window)
			rec := mustSend(t, r, k, "hello there", DeliverOptions{Fresh: true, PromptID: "p1"})
			if rec.Mode != Confirmed || rec.Enters != c.enters || rec.Pastes != 1 || !rec.EchoSeen {
				t.Errorf("receipt %+v, want confirmed after %d Enter", rec, c.enters)
			}
			wantPrompts(t, log, "hello there")
		})
	}
}

// T2 and T3: a prompt of several lines is one prompt, and it is sent, not only pasted.
func TestT2T3SeveralLinesAreOnePrompt(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	k := kindFake()
	r := startFake(t, k, log, "--manner", "title")
	text := "first line\nsecond line\n\n\tthird line"
	rec := mustSend(t, r, k, text, DeliverOptions{Fresh: true})
	if !rec.Bracketed || !strings.Contains(r.input(), "\x1b[201~") || strings.Contains(r.input(), "\r\x1b[201~") {
		t.Errorf("receipt %+v, input %q: want brackets, and the Enter behind them", rec, r.input())
	}
	wantPrompts(t, log, text)
}

// T5: an Enter in the same read as text is lost by some agents.
func TestT5EnterIsAWriteOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, manner := range []string{"osc7501,reads-bursts", "osc7501,reads-bursts,linemode"} {
		t.Run(manner, func(t *testing.T) {
			t.Parallel()
			log := filepath.Join(t.TempDir(), "log")
			k := kindFake()
			r := startFake(t, k, log, "--manner", manner)
			if rec := mustSend(t, r, k, "burst", DeliverOptions{Fresh: true}); rec.Enters != 1 {
				t.Errorf("receipt %+v, want one Enter", rec)
			}
			wantPrompts(t, log, "burst")
		})
	}
}

// T8: some agents throw away what is typed in their first seconds, with or without their field on the screen.
func TestT8FirstPasteIsDropped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		manner string
		kind   Kind
		delay  string
		pastes int
	}{
		{"osc7501,drop-first-paste", kindFake(), "4s", 1},
		{"title,drop-first-paste", kindFake(), "4s", 1},
		{"title,deaf", kindFake(), "5s", 2},
		{"report,deaf", kindFake(), "5s", 2},
	} {
		t.Run(c.manner, func(t *testing.T) {
			t.Parallel()
			log := filepath.Join(t.TempDir(), "log")
			r := startFake(t, c.kind, log, "--manner", c.manner, "--delay", c.delay)
			rec := mustSend(t, r, c.kind, "do not lose me.", DeliverOptions{Fresh: true})
			if rec.Pastes != c.pastes || rec.Mode != Confirmed {
				t.Errorf("receipt %+v, want %d pastes", rec, c.pastes)
			}
			wantPrompts(t, log, "do not lose me.")
		})
	}
}

// T9: nothing is typed into a login banner.
func TestT9NothingIsTypedIntoABanner(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	k := kindFake()
	r := startFake(t, k, log, "--manner", "osc7501,banner-delay", "--delay", "4s")
	mustSend(t, r, k, "after the banner", DeliverOptions{Fresh: true})
	wantPrompts(t, log, "after the banner")
	if _, events := readLog(t, log); len(events) != 0 {
		t.Errorf("bytes came before the field: %+v", events)
	}
}

// T10: no byte goes into a dialog, known or not, and it is named.
func TestT10DialogTakesNoByte(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, manner string
		kind         Kind
		row          string
	}{
		{"update menu", "osc7501,modal", kindFake(), "Update available"},
		{"update menu of an unknown agent", "modal", kindBare(), "Update now"},
		{"trust question, cursor on No", "osc7501,trust", kindFake(), "Do you trust"},
		{"trust question of an unknown agent", "title,trust", kindBare(), "No, exit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			log := filepath.Join(t.TempDir(), "log")
			r := startFake(t, c.kind, log, "--manner", c.manner)
			_, err := send(t, r, c.kind, "eat this", DeliverOptions{Fresh: true})
			var de *DeliveryError
			if !errors.Is(err, ErrNeedsInput) || !errors.As(err, &de) || de.Typed || !strings.Contains(de.Row, c.row) {
				t.Fatalf("error %v (%+v), want ErrNeedsInput for %q", err, de, c.row)
			}
			if in := r.input(); in != "" {
				t.Errorf("typed %q into a dialog", in)
			}
			// The person answers; then the same prompt goes through.
			r.Write(context.Background(), []byte("2"))
			mustSend(t, r, c.kind, "eat this", DeliverOptions{})
			wantPrompts(t, log, "eat this")
			if _, events := readLog(t, log); len(events) != 1 {
				t.Errorf("events %+v, want the person's answer alone", events)
			}
		})
	}
}

// A dialog that answers the first prompt is not answered by the next one.
func TestDialogInAnswerToAPrompt(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	k := kindFake()
	r := startFake(t, k, log, "--manner", "title,trust-after")
	rec := mustSend(t, r, k, "first", DeliverOptions{Fresh: true})
	if rec.Question == "" {
		t.Errorf("receipt %+v, want the question", rec)
	}
	if st := r.waitWork(t, NeedsInput, 5*time.Second); st.Source != SourceScreen {
		t.Errorf("state %+v", st)
	}
	if _, err := send(t, r, k, "second", DeliverOptions{}); !errors.Is(err, ErrNeedsInput) {
		t.Errorf("error %v, want ErrNeedsInput", err)
	}
	if _, events := readLog(t, log); len(events) != 0 {
		t.Errorf("the dialog was answered: %+v", events)
	}
	wantPrompts(t, log, "first")
}

// T12: a prompt cannot leave its brackets and press keys.
func TestT12PromptCannotPressKeys(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	k := kindFake()
	r := startFake(t, k, log, "--manner", "osc7501")
	mustSend(t, r, k, "a\x1b[201~\rrm x\r\x03\u009b201~\x7f end", DeliverOptions{Fresh: true})
	wantPrompts(t, log, "a[201~\nrm x\n201~ end")
}

// T13: a prompt that looks like a command of the agent arrives as text, unless a command is wanted.
func TestT13CommandsArriveAsText(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	k := kindFake()
	k.Special = "/!#@"
	r := startFake(t, k, log, "--manner", "osc7501,commands")
	var want []string
	for _, text := range []string{"!touch pwned", "/clear", "#note", "@file", "plain / ! # @"} {
		rec := mustSend(t, r, k, text, DeliverOptions{Fresh: true})
		if guarded := text[0] != 'p'; rec.Guarded != guarded {
			t.Errorf("%q: guarded %v", text, rec.Guarded)
		}
		if text[0] != 'p' {
			text = " " + text
		}
		want = append(want, text)
		r.waitWork(t, Done, 5*time.Second)
	}
	wantPrompts(t, log, want...)
	mustSend(t, r, k, "/clear", DeliverOptions{Command: true})
	if _, events := readLog(t, log); len(events) != 1 || events[0].Event != "command" {
		t.Errorf("events %+v, want the one command that was asked for", events)
	}
}

// No Enter goes to a program that took the place of the agent.
func TestNoEnterIntoAnotherProgram(t *testing.T) {
	t.Parallel()
	for manner, reason := range map[string]error{"osc7501,becomes-shell": ErrChanged, "osc7501,exits": ErrExited} {
		t.Run(manner, func(t *testing.T) {
			t.Parallel()
			log := filepath.Join(t.TempDir(), "log")
			k := kindFake()
			r := startFake(t, k, log, "--manner", manner)
			_, err := send(t, r, k, "rm -rf /", DeliverOptions{Fresh: true})
			if !errors.Is(err, reason) && !errors.Is(err, ErrNotTaken) {
				t.Errorf("error %v, want %v", err, reason)
			}
			if strings.Contains(r.input(), "\r") {
				t.Errorf("an Enter was pressed: %q", r.input())
			}
			var de *DeliveryError
			if !errors.As(err, &de) || !de.Typed || de.Enters != 0 {
				t.Errorf("error %+v, want one that says that text was typed", de)
			}
		})
	}
}

// A draft of a person in the field is not merged with a prompt.
func TestDraftIsNotMerged(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	k := kindFake()
	r := startFake(t, k, log, "--manner", "osc7501")
	r.waitWork(t, Idle, 5*time.Second)
	r.Write(context.Background(), []byte("half a thou"))
	r.waitFor(t, "the draft", 5*time.Second, func(_ State, s Screen) bool { f, ok := k.composer(s); return ok && f.text == "half a thou" })
	if _, err := send(t, r, k, "ours", DeliverOptions{}); !errors.Is(err, ErrOccupied) {
		t.Fatalf("error %v, want ErrOccupied", err)
	}
	r.Write(context.Background(), []byte("ght\r"))
	r.waitFor(t, "the end of the draft's turn", 5*time.Second, func(_ State, s Screen) bool { f, ok := k.composer(s); return ok && f.empty })
	mustSend(t, r, k, "ours", DeliverOptions{})
	wantPrompts(t, log, "half a thought", "ours")
}

// A program that gives no sign at all is typed into, and the receipt says that it is not known.
func TestSilentProgramIsUnconfirmed(t *testing.T) {
	t.Parallel()
	for _, manner := range []string{"silent", "linemode", "cooked", "ticking"} {
		t.Run(manner, func(t *testing.T) {
			t.Parallel()
			log := filepath.Join(t.TempDir(), "log")
			k := kindBare()
			r := startFake(t, k, log, "--manner", manner)
			rec := mustSend(t, r, k, "anybody there?", DeliverOptions{Fresh: true})
			if rec.Mode != Unconfirmed || !rec.EchoSeen || rec.Enters != 1 {
				t.Errorf("receipt %+v, want unconfirmed after one Enter", rec)
			}
			wantPrompts(t, log, "anybody there?")
		})
	}
}

// A text of several lines is refused for a program that reads lines, rather than sent as several.
func TestLinesAreNotSplit(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	k := kindBare()
	r := startFake(t, k, log, "--manner", "cooked")
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, err := Deliver(ctx, lineTerm{r}, k, "one\ntwo", DeliverOptions{Detector: r.det, Fresh: true})
	if !errors.Is(err, ErrLines) || r.input() != "" {
		t.Errorf("error %v, input %q, want ErrLines and no byte", err, r.input())
	}
}

type lineTerm struct{ *realTerm }

func (lineTerm) ReadsLines() (bool, bool) { return true, true }

// A prompt of the greatest size arrives whole; one byte more is refused.
func TestLongPrompt(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	k := kindFake()
	r := startFake(t, k, log, "--manner", "osc7501")
	text := strings.Repeat("0123456789abcde\n", MaxPrompt/16)
	mustSend(t, r, k, text, DeliverOptions{Fresh: true})
	wantPrompts(t, log, text)
	if _, err := send(t, r, k, text+"x", DeliverOptions{}); err == nil || len(r.input()) > len(text)+64 {
		t.Errorf("a prompt over the limit: error %v", err)
	}
}

// Two deliveries at once reach the agent one after the other.
func TestOneDeliveryAtATime(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	k := kindFake()
	r := startFake(t, k, log, "--manner", "osc7501")
	errs := make(chan error, 4)
	for i := range 4 {
		go func() { _, err := send(t, r, k, fmt.Sprintf("parallel %d", i), DeliverOptions{}); errs <- err }()
	}
	for range 4 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	got, _ := readLog(t, log)
	seen := map[string]int{}
	for _, p := range got {
		seen[p]++
	}
	for i := range 4 {
		if p := fmt.Sprintf("parallel %d", i); seen[p] != 1 {
			t.Errorf("%q came %d times: %q", p, seen[p], got)
		}
	}
}

// A delivery that is cancelled tells whether text may stand in the field.
func TestCancelledDelivery(t *testing.T) {
	t.Parallel()
	k := kindFake()
	r := startFake(t, k, filepath.Join(t.TempDir(), "log"), "--manner", "drop-first-paste", "--delay", "1h")
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	_, err := Deliver(ctx, r, k, "never", DeliverOptions{Detector: r.det, Fresh: true})
	var de *DeliveryError
	if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &de) || de.Typed || r.input() != "" {
		t.Errorf("error %v (%+v), input %q", err, de, r.input())
	}
}
