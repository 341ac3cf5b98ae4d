//go:build !windows

package ptyhost

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// xterm is a viewer as the window has one: an emulator that is fed with frames and answers queries.
type xterm struct {
	t     testing.TB
	term  *Terminal
	a     *Attachment
	s     *screen
	kinds []FrameKind
	raw   []byte // data of replay and output frames
}

func newXterm(t testing.TB, term *Terminal, opts AttachOptions) *xterm {
	t.Helper()
	a, err := term.Attach(opts)
	if err != nil {
		t.Fatal(err)
	}
	return &xterm{t: t, term: term, a: a, s: newScreen(DefaultSize, 100, slog.New(slog.DiscardHandler))}
}

// step takes one frame in; ok is false after the last.
func (x *xterm) step(ack bool) (f Frame, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	f, err := x.a.Next(ctx)
	if errors.Is(err, ErrDetached) {
		return f, false
	}
	if err != nil {
		x.t.Fatalf("no frame: %v", err)
	}
	x.kinds = append(x.kinds, f.Kind)
	switch f.Kind {
	case FrameSnapshot, FrameResize:
		x.s.resize(f.Size)
	case FrameReplay, FrameOutput:
		x.raw = append(x.raw, f.Data...)
	}
	_, reply, _ := x.s.write(f.Data)
	if len(reply) > 0 && !f.Mute {
		// As the window: what the emulator says goes back as typed.
		if err := x.term.Write(ctx, append([]byte("X"), reply...)); err != nil && !errors.Is(err, ErrExited) {
			x.t.Error(err)
		}
	}
	if ack {
		x.a.Ack(f.Seq)
	}
	return f, true
}

// until steps until the emulator shows text.
func (x *xterm) until(text string) {
	x.t.Helper()
	for !strings.Contains(strings.Join(x.s.text().Lines, "\n"), text) {
		if _, ok := x.step(true); !ok {
			x.t.Fatalf("detached (%s) before %q; shows %q", x.a.Reason(), text, x.s.text().Lines)
		}
	}
}

func (x *xterm) untilExit() {
	for {
		if f, ok := x.step(true); !ok || f.Kind == FrameExit {
			return
		}
	}
}

// P8: what was printed before anybody listened is not lost, and comes in order.
func TestP8LateAttach(t *testing.T) {
	term := start(t, testHost(t), shellSpec(t, "printf A; sleep .01; printf B; read x"))
	waitFor(t, term, "AB")
	zero := uint64(0)
	x := newXterm(t, term, AttachOptions{Since: &zero})
	defer x.a.Detach("test")
	x.until("AB")
	if string(x.raw) != "AB" || !slices.Contains(x.kinds, FrameReplay) || slices.Contains(x.kinds, FrameSnapshot) {
		t.Errorf("got %q in %v", x.raw, x.kinds)
	}
	y := newXterm(t, term, AttachOptions{})
	defer y.a.Detach("test")
	y.until("AB")
	if y.kinds[0] != FrameSnapshot {
		t.Errorf("kinds %v", y.kinds)
	}
}

// Output of a program that ends at once reaches a viewer, and the exit comes after it, once.
func TestExitComesLast(t *testing.T) {
	for _, size := range []int{0, 64, 200 << 10, 3 << 20} {
		spec := childSpec(t, "print", fmt.Sprint(size))
		spec.ID += fmt.Sprint(size)
		term := start(t, testHost(t), spec)
		zero := uint64(0)
		x := newXterm(t, term, AttachOptions{Since: &zero})
		x.untilExit()
		if n := len(strings.ReplaceAll(string(x.raw), "\r", "")); n != size {
			t.Errorf("size %d: got %d bytes in %d frames", size, n, len(x.kinds))
		}
		if x.kinds[len(x.kinds)-1] != FrameExit || x.a.Reason() != ReasonExit {
			t.Errorf("size %d: ended with %v, %q", size, x.kinds[len(x.kinds)-1], x.a.Reason())
		}
		if _, err := x.a.Next(context.Background()); !errors.Is(err, ErrDetached) {
			t.Errorf("after the exit: %v", err)
		}
	}
}

// A viewer that left at a Seq gets what it missed, byte for byte; one that missed too much gets a snapshot.
func TestResumeBySeq(t *testing.T) {
	term := start(t, testHost(t), shellSpec(t, "echo one; read x; echo two; read x; head -c 1500000 /dev/zero | tr '\\0' z; echo; echo three; read x"))
	zero := uint64(0)
	x := newXterm(t, term, AttachOptions{Since: &zero})
	x.until("one")
	at := uint64(len(x.raw))
	x.a.Detach("lost connection")
	if x.a.Reason() != "lost connection" {
		t.Errorf("reason %q", x.a.Reason())
	}
	if err := term.Write(context.Background(), []byte("\n")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, term, "two")
	y := newXterm(t, term, AttachOptions{Since: &at})
	y.s = x.s
	y.until("two")
	all, _, _ := term.Log(0)
	if got := string(x.raw) + string(y.raw); got != string(all) {
		t.Errorf("got %q, printed %q", got, all)
	}
	y.a.Detach("again")
	if err := term.Write(context.Background(), []byte("\n")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, term, "three")
	future := uint64(1 << 60)
	for _, since := range []*uint64{&at, &future} {
		z := newXterm(t, term, AttachOptions{Since: since})
		z.until("three")
		if z.kinds[0] != FrameSnapshot {
			t.Errorf("since %d: %v", *since, z.kinds)
		}
		z.a.Detach("test")
	}
}

// The first byte goes out at once; a flood goes out in full frames.
func TestCoalescing(t *testing.T) {
	term := start(t, testHost(t), shellSpec(t, "stty -echo; echo ready; read x; printf a; read x; head -c 1000000 /dev/zero; read x"))
	x := newXterm(t, term, AttachOptions{})
	defer x.a.Detach("test")
	x.until("ready")
	time.Sleep(2 * FrameDelay) // the pause after which an edge is leading
	if err := term.Write(context.Background(), []byte("\n")); err != nil {
		t.Fatal(err)
	}
	for x.s.text().Lines[1] != "a" {
		x.step(true)
	}
	began := len(x.kinds)
	got := len(x.raw)
	if err := term.Write(context.Background(), []byte("\n")); err != nil {
		t.Fatal(err)
	}
	for len(x.raw)-got < 1000000 {
		f, _ := x.step(true)
		if len(f.Data) > FrameBytes {
			t.Fatalf("frame of %d bytes", len(f.Data))
		}
	}
	if frames := len(x.kinds) - began; frames > 1000000/2000 {
		t.Errorf("%d frames for a megabyte", frames)
	}
}

// P9: a flood waits for its viewer, takes no memory, and is stopped by Ctrl-C within a second.
func TestP9Flood(t *testing.T) {
	term := start(t, testHost(t), childSpec(t, "flood"))
	x := newXterm(t, term, AttachOptions{AnswersQueries: true})
	defer x.a.Detach("test")
	for range 50 {
		x.step(true)
	}
	// The viewer goes silent: the program has to wait, and soon.
	var last uint64
	for range 20 {
		_, _, total := term.Log(1)
		if total == last {
			break
		}
		last = total
		time.Sleep(50 * time.Millisecond)
	}
	_, _, before := term.Log(1)
	time.Sleep(200 * time.Millisecond)
	_, _, after := term.Log(1)
	if before != after || after > x.a.acked+MostWindow+readBytes {
		t.Errorf("the flood goes on: %d, %d; acknowledged %d", before, after, x.a.acked)
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 64<<20 {
		t.Errorf("%d MiB", m.HeapAlloc>>20)
	}
	began := time.Now()
	if err := term.Write(context.Background(), []byte{3}); err != nil {
		t.Fatal(err)
	}
	got := waitDone(t, term)
	if took := time.Since(began); got.Signal != "SIGINT" || took > time.Second {
		t.Errorf("exit %+v after %v", got, took)
	}
	x.untilExit()
	if fmt.Sprint(x.s.text().Lines) != fmt.Sprint(term.Screen().Lines) {
		t.Error("the viewer shows something else")
	}
}

// A viewer that is dead does not hold a program for ever; once it is back, it gets a snapshot.
func TestStalledViewer(t *testing.T) {
	h := New(Options{Stall: 100 * time.Millisecond, Grace: 100 * time.Millisecond})
	defer h.Close(context.Background())
	term := start(t, h, childSpec(t, "print", "3000000"))
	zero := uint64(0)
	x := newXterm(t, term, AttachOptions{Since: &zero})
	var f Frame
	for f.Kind != FrameReplay && f.Kind != FrameOutput {
		f, _ = x.step(false)
	}
	waitDone(t, term)
	x.untilExit()
	if !slices.Contains(x.kinds, FrameSnapshot) {
		t.Errorf("kinds %v", x.kinds)
	}
	if got, want := x.s.text().Lines, term.Screen().Lines; !slices.Equal(got, want) {
		t.Errorf("shows %q, want %q", got, want)
	}
}

// A viewer that may lag is let go of, and does not slow the program down.
func TestLag(t *testing.T) {
	term := start(t, testHost(t), childSpec(t, "print", "3000000"))
	a, err := term.Attach(AttachOptions{Pressure: Lag})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for {
		f, err := a.Next(ctx)
		if errors.Is(err, ErrDetached) {
			break
		}
		if err != nil || f.Kind == FrameExit {
			t.Fatalf("%v, %v", f.Kind, err)
		}
	}
	if a.Reason() != ReasonLagged {
		t.Errorf("reason %q", a.Reason())
	}
	waitDone(t, term)
}

// A hidden viewer gets no bytes and slows nothing down; shown again, it gets the whole screen.
func TestHideAndShow(t *testing.T) {
	term := start(t, testHost(t), shellSpec(t, "echo one; read x; head -c 2000000 /dev/zero | tr '\\0' z; echo; echo two; read x"))
	x := newXterm(t, term, AttachOptions{AnswersQueries: true})
	defer x.a.Detach("test")
	x.until("one")
	x.a.Hide()
	if err := term.Write(context.Background(), []byte("\n")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, term, "two")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if f, err := x.a.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("hidden, but got %v, %v", f.Kind, err)
	}
	x.a.Show()
	f, _ := x.step(true)
	if f.Kind != FrameSnapshot {
		t.Errorf("shown with %v", f.Kind)
	}
	if got, want := x.s.text().Lines, term.Screen().Lines; !slices.Equal(got, want) {
		t.Errorf("shows %q, want %q", got, want)
	}
}

func TestResizeIsAFrame(t *testing.T) {
	term := start(t, testHost(t), shellSpec(t, "echo one; read x"))
	x := newXterm(t, term, AttachOptions{})
	y := newXterm(t, term, AttachOptions{Pressure: Lag})
	x.until("one")
	y.until("one")
	if _, err := term.Resize(Size{100, 30}); err != nil {
		t.Fatal(err)
	}
	for _, v := range []*xterm{x, y} {
		f, _ := v.step(true)
		for f.Kind == FrameOutput {
			f, _ = v.step(true)
		}
		if f.Kind != FrameResize || f.Size != (Size{100, 30}) {
			t.Errorf("got %v %v", f.Kind, f.Size)
		}
		v.a.Detach("test")
	}
}

// Exactly one side answers a query. The viewer of these tests marks its answers with an X.
func TestQueriesAreAnsweredOnce(t *testing.T) {
	ask := func(query, until string) Spec { return childSpec(t, "ask", query, until) }
	t.Run("no viewer", func(t *testing.T) {
		spec := ask("\x1b[c\x1b[6n", "R")
		term := start(t, testHost(t), spec)
		if out := waitFor(t, term, "got"); !strings.Contains(out, `got "\x1b[?1;2c\x1b[1;1R"`) {
			t.Errorf("%q", out)
		}
	})
	t.Run("viewer", func(t *testing.T) {
		spec := ask("\x1b]7501;?\x07\x1b[c", "c")
		spec.Argv = append([]string{"/bin/sh", "-c", `read x; exec "$@"`, "sh"}, spec.Argv...)
		term := start(t, testHost(t), spec)
		x := newXterm(t, term, AttachOptions{AnswersQueries: true})
		y := newXterm(t, term, AttachOptions{AnswersQueries: true, Pressure: Lag}) // comes second: stays mute
		x.step(true)
		y.step(true)
		if err := term.Write(context.Background(), []byte("\n")); err != nil {
			t.Fatal(err)
		}
		go y.untilExit()
		x.untilExit()
		data, _, _ := term.Log(0)
		if !strings.Contains(string(data), `got "\x1b]7501;?\x1b\\X\x1b[?1;2c"`) {
			t.Errorf("%q", data)
		}
	})
	t.Run("viewer leaves before it sees the query", func(t *testing.T) {
		spec := ask("\x1b[c", "c")
		term := start(t, testHost(t), spec)
		x := newXterm(t, term, AttachOptions{AnswersQueries: true})
		waitFor(t, term, "\x1b[c")
		x.a.Detach("closed")
		if out := waitFor(t, term, "got"); !strings.Contains(out, `got "\x1b[?1;2c"`) {
			t.Errorf("%q", out)
		}
	})
	t.Run("hidden viewer", func(t *testing.T) {
		spec := ask("\x1b[c", "c")
		spec.Argv = append([]string{"/bin/sh", "-c", `read x; exec "$@"`, "sh"}, spec.Argv...)
		term := start(t, testHost(t), spec)
		x := newXterm(t, term, AttachOptions{AnswersQueries: true})
		x.step(true)
		x.a.Hide()
		if err := term.Write(context.Background(), []byte("\n")); err != nil {
			t.Fatal(err)
		}
		if out := waitFor(t, term, "got"); !strings.Contains(out, `got "\x1b[?1;2c"`) {
			t.Errorf("%q", out)
		}
		x.untilExit()
	})
	t.Run("replay", func(t *testing.T) {
		spec := ask("\x1b[c", "c")
		term := start(t, testHost(t), spec)
		waitFor(t, term, "got")
		zero := uint64(0)
		x := newXterm(t, term, AttachOptions{Since: &zero, AnswersQueries: true})
		x.untilExit() // an answer to the replay would be echoed
		if data, _, _ := term.Log(0); strings.Contains(string(data), "X") {
			t.Errorf("%q", data)
		}
	})
}

// P5: a family of emojis is two columns wide, on the screen and in the answer to a query.
func TestP5ZWJ(t *testing.T) {
	term := start(t, testHost(t), childSpec(t, "ask", "👩‍👩‍👧X\x1b[6n", "R"))
	if out := waitFor(t, term, "got"); !strings.Contains(out, `got "\x1b[1;4R"`) {
		t.Errorf("%q", out)
	}
}

// The law of viewers: whatever a viewer does, acknowledging, dawdling, hiding, leaving and coming back by Seq, what it
// shows at the end is what the terminal shows.
func TestViewerLaw(t *testing.T) {
	for seed := range uint64(6) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		script := `i=0; while [ $i -lt 400 ]; do printf '\033[3%dmline %d \033[0m世界 e\xcc\x81\n' $((i%8)) $i; i=$((i+1)); [ $((i%40)) = 0 ] && printf '\033[2;5r\033[4;1Hregion\n\n\033[r\033[20;1H'; done; read x`
		spec := shellSpec(t, script)
		spec.ID += fmt.Sprint(seed)
		term := start(t, testHost(t), spec)
		x := newXterm(t, term, AttachOptions{Window: 4096})
		seq, sized := uint64(0), true // of two sizes that follow each other at once, a viewer hears of the second
		for range 200 {
			switch rnd.IntN(9) {
			case 8:
				x.a.Follow(rnd.IntN(3) > 0)
			case 0:
				x.a.Hide()
				x.a.Show()
			case 1:
				if !sized { // it would be given the new size where it left, and not where that was set
					continue
				}
				x.a.Detach("away")
				since := seq
				s := x.s
				x = newXterm(t, term, AttachOptions{Since: &since, Window: 4096})
				x.s = s
			case 2:
				if !sized {
					continue
				}
				sized = false
				if _, err := term.Resize(Size{uint16(60 + rnd.IntN(40)), uint16(20 + rnd.IntN(10))}); err != nil {
					t.Fatal(err)
				}
			default:
				ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
				f, err := x.a.Next(ctx)
				cancel()
				if err != nil {
					x.a.Ack(seq)
					continue
				}
				if f.Kind == FrameSnapshot || f.Kind == FrameResize {
					sized = true
					x.s.resize(f.Size)
				}
				x.s.write(f.Data)
				seq = f.Seq
				if rnd.IntN(3) > 0 {
					x.a.Ack(seq)
				}
			}
		}
		x.a.Ack(seq)
		if err := term.Write(context.Background(), []byte("\n")); err != nil {
			t.Fatal(err)
		}
		x.untilExit()
		got, want := x.s.text(), term.Screen()
		if !slices.Equal(got.Lines, want.Lines) || got.CursorX != want.CursorX || got.CursorY != want.CursorY {
			t.Fatalf("seed %d: shows\n%s\nwant\n%s", seed, strings.Join(got.Lines, "\n"), strings.Join(want.Lines, "\n"))
		}
	}
}

func TestAttachAfterForget(t *testing.T) {
	h := testHost(t)
	term := start(t, h, shellSpec(t, "true"))
	waitDone(t, term)
	late := newXterm(t, term, AttachOptions{})
	f, _ := late.step(true)
	if f.Kind != FrameSnapshot {
		t.Errorf("an ended terminal is seen by %v", f.Kind)
	}
	hidden := newXterm(t, term, AttachOptions{Hidden: true})
	hidden.untilExit()
	if !slices.Equal(hidden.kinds, []FrameKind{FrameSnapshot, FrameExit}) {
		t.Errorf("a hidden viewer of an ended terminal gets %v", hidden.kinds)
	}
	h.Forget(term.ID())
	if late.a.Reason() != ReasonClosed {
		t.Errorf("reason %q", late.a.Reason())
	}
	if _, err := term.Attach(AttachOptions{}); !errors.Is(err, ErrDetached) {
		t.Errorf("attached to a forgotten terminal: %v", err)
	}
	if _, err := os.Stat("/proc"); err == nil && alive(term.Pid()) {
		t.Error("it runs")
	}
}
