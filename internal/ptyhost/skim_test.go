//go:build !windows

package ptyhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// copies writes a script that prints many lines, and commands to the clipboard between them, each with its number.
func copies(lines, every int) string {
	return fmt.Sprintf(`echo ready; read x; awk 'BEGIN { for (i = 1; i <= %d; i++) { printf "line %%d of a flood that nobody reads\n", i; `+
		`if (i %% %d == 0) printf "\033]52;c;%%d\007", i } }'; printf end; read x; echo over; read x`, lines, every)
}

// told returns what the viewer was told to copy, in order.
func (x *xterm) told(f Frame) (list []string) {
	if f.Kind == FrameOutput && !f.Mute {
		for rest := f.Data; ; {
			_, after, ok := bytes.Cut(rest, []byte("\x1b]52;c;"))
			if !ok {
				return list
			}
			n := bytes.IndexAny(after, "\x07\x1b")
			if n < 0 {
				x.t.Errorf("cut within a command: %q", after)
				return list
			}
			list, rest = append(list, string(after[:n])), after[n:]
		}
	}
	return nil
}

// A viewer that follows the end and is slow sees a flood in pictures, and at the end all that a viewer with patience sees: the
// screen, the history and, once each, the commands between the lines. The program does not wait for it.
func TestSkim(t *testing.T) {
	const lines, every = 200_000, 5_000
	spec := shellSpec(t, copies(lines, every))
	spec.ScrollbackLines = 3000
	term := start(t, testHost(t), spec)
	x := newXterm(t, term, AttachOptions{AnswersQueries: true, History: true, Window: 16 << 10})
	x.s = newScreen(DefaultSize, 3000, x.s.log)
	defer x.a.Detach("test")
	x.a.Follow(true)
	x.until("ready")
	if err := term.Write(context.Background(), []byte("\n")); err != nil {
		t.Fatal(err)
	}
	began := len(x.kinds)
	bytesGot := 0
	var copied []string
	for len(copied) == 0 || copied[len(copied)-1] != fmt.Sprint(lines) || !strings.Contains(strings.Join(x.s.text().Lines, "\n"), "end") {
		f, ok := x.step(true)
		if !ok {
			t.Fatal("detached")
		}
		bytesGot += len(f.Data)
		for _, c := range x.told(f) { // a frame of output may end within a command that the next one has again
			if len(copied) == 0 || copied[len(copied)-1] != c {
				copied = append(copied, c)
			}
		}
		time.Sleep(time.Millisecond)
	}
	if len(copied) != lines/every {
		t.Errorf("copied %d times: %q", len(copied), copied)
	}
	if _, _, total := term.Log(1); uint64(bytesGot) > total/2 {
		t.Errorf("got %d of %d bytes in %d frames", bytesGot, total, len(x.kinds)-began)
	}
	if err := term.Write(context.Background(), []byte("\n")); err != nil {
		t.Fatal(err)
	}
	x.until("over") // it is in step again: the last picture had all of the history
	term.mu.Lock()
	want := slices.Clone(term.screen.emu.history.lines[term.screen.emu.history.head:])
	term.mu.Unlock()
	got := x.s.emu.history.lines[x.s.emu.history.head:]
	if !slices.Equal(got, want) || len(want) != 3000 {
		t.Errorf("%d lines of history, want %d", len(got), len(want))
	}
	if got, want := x.s.text().Lines, term.Screen().Lines; !slices.Equal(got, want) {
		t.Errorf("shows %q, want %q", got, want)
	}
}

// A viewer that draws nothing more holds nobody up while it follows, and holds a flood up once somebody reads in it.
func TestWhoReadsHoldsTheFlood(t *testing.T) {
	term := start(t, testHost(t), childSpec(t, "flood"))
	x := newXterm(t, term, AttachOptions{Window: 16 << 10})
	defer x.a.Detach("test")
	x.a.Follow(true)
	printed := func() uint64 {
		_, _, total := term.Log(1)
		return total
	}
	for slices.Index(x.kinds[min(1, len(x.kinds)):], FrameSnapshot) < 0 { // a picture after the first snapshot
		x.step(true)
	}
	x.step(false)
	was := printed()
	for deadline := time.Now().Add(20 * time.Second); printed() < was+MostWindow*4; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the flood waits for a viewer that follows")
		}
	}
	x.a.Follow(false) // somebody scrolls up
	f, _ := x.step(true)
	for f.Kind != FrameSnapshot {
		f, _ = x.step(true)
	}
	x.raw = nil
	first := f.Seq
	for range 20 {
		if f, _ = x.step(true); f.Kind != FrameOutput {
			t.Fatalf("got a %v", f.Kind)
		}
	}
	if got := uint64(len(x.raw)); got != f.Seq-first {
		t.Errorf("%d bytes of %d", got, f.Seq-first)
	}
	for last := uint64(0); last != printed(); time.Sleep(100 * time.Millisecond) {
		last = printed()
	}
	if p := printed(); p > x.a.acked+16<<10+readBytes {
		t.Errorf("the flood goes on: %d, acknowledged %d", p, x.a.acked)
	}
}

// Queries in what is passed over are answered, and once.
func TestQueriesInAFloodAreAnswered(t *testing.T) {
	term := start(t, testHost(t), shellSpec(t, `stty raw opost -echo; read x; yes 'a line that is passed by' | head -n 100000; printf '\033[c'; `+
		`yes 'another one' | head -n 100000; stty min 0 time 10; dd bs=100 count=2 2>/dev/null | od -An -c; stty sane; echo over; read x`))
	x := newXterm(t, term, AttachOptions{AnswersQueries: true, Window: 16 << 10})
	defer x.a.Detach("test")
	x.a.Follow(true)
	x.step(true)
	if err := term.Write(context.Background(), []byte("\n")); err != nil {
		t.Fatal(err)
	}
	x.until("over")
	if lines := strings.Join(x.s.text().Lines, "\n"); strings.Count(lines, "?") != 1 {
		t.Errorf("answered: %q", lines)
	}
}

// A viewer may hide, look up, leave a picture undrawn or change its size in the midst of a flood: at the end it shows what the
// terminal shows.
func TestSkimLaw(t *testing.T) {
	kinds := map[FrameKind]int{}
	for seed := range uint64(8) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		spec := shellSpec(t, `yes "$(printf '\033[31mred \033[0m世界 e\xcc\x81 and a long line')" | head -n 100000; read x`)
		spec.ID += fmt.Sprint(seed)
		term := start(t, testHost(t), spec)
		x := newXterm(t, term, AttachOptions{Window: 16 << 10, History: true})
		seq, sized := uint64(0), true // of two sizes that follow each other at once, a viewer hears of the second
		for range 150 {
			switch rnd.IntN(12) {
			case 0:
				x.a.Hide()
				x.a.Show()
			case 1, 2:
				x.a.Follow(rnd.IntN(4) > 0)
			case 3:
				if !sized {
					continue
				}
				sized = false
				if _, err := term.Resize(Size{uint16(60 + rnd.IntN(40)), uint16(20 + rnd.IntN(10))}); err != nil {
					t.Fatal(err)
				}
			default:
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rnd.IntN(12))*time.Millisecond)
				f, err := x.a.Next(ctx)
				cancel()
				if errors.Is(err, context.DeadlineExceeded) {
					x.a.Ack(seq)
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				kinds[f.Kind]++
				if f.Kind == FrameSnapshot || f.Kind == FrameResize {
					sized = true
					x.s.resize(f.Size)
				}
				x.s.write(f.Data)
				if seq = f.Seq; rnd.IntN(3) > 0 {
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
			t.Fatalf("seed %d: shows %v\n%s\nwant %v\n%s", seed, got.Size, strings.Join(got.Lines, "\n"), want.Size, strings.Join(want.Lines, "\n"))
		}
	}
	if kinds[FrameSnapshot] < 16 || kinds[FrameOutput] == 0 {
		t.Errorf("not all ways were gone: %v", kinds)
	}
}

// A snapshot that comes in the midst of a command calls it off: ended by the reset, half a text would be copied.
func TestASnapshotCallsOffWhatIsOpen(t *testing.T) {
	s := draw(Size{20, 4}, "\x1b]2;half of a ti")
	s.write(whole(draw(Size{20, 4}, "\x1b]2;whole\x07text")))
	if got := s.text(); got.Title != "whole" || got.Lines[0] != "text" {
		t.Errorf("title %q, lines %q", got.Title, got.Lines)
	}
	s = draw(Size{20, 4}, "")
	if _, _, told := s.write([]byte("\x1b]52;c;aGFs")); len(told) > 0 {
		t.Errorf("told %v", told)
	}
	if _, _, told := s.write(whole(draw(Size{20, 4}, "text"))); len(told) > 0 {
		t.Errorf("half of it was done: %v", told)
	}
}

// Of commands that were passed over the newest are kept, in bounds.
func TestToldIsBounded(t *testing.T) {
	var l told
	for i := range uint64(100) {
		l.add(command{i, bytes.Repeat([]byte{'x'}, 5000)})
	}
	if l.bytes > toldBytes || l.bytes != len(l.since(0)) || l.list[len(l.list)-1].end != 99 {
		t.Errorf("%d bytes in %d", l.bytes, len(l.list))
	}
	if n := len(l.since(97)); n != 10_000 {
		t.Errorf("%d bytes since 97", n)
	}
	l.drop(len(l.list))
	if l.bytes != 0 || l.list != nil {
		t.Errorf("%d bytes left", l.bytes)
	}
}

// A viewer that begins to follow is told of commands that were under way to it when it fell behind.
func TestCommandsUnderWayAreNotLost(t *testing.T) {
	term := start(t, testHost(t), shellSpec(t, `read x; seq 1000; printf '\033]52;c;once\007'; seq 20; read x; seq 300000; printf end; read x`))
	x := newXterm(t, term, AttachOptions{AnswersQueries: true, Window: 16 << 10})
	defer x.a.Detach("test")
	x.step(true)
	for i := range 2 {
		if err := term.Write(context.Background(), []byte("\n")); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			waitFor(t, term, "once") // it was printed; the window of the viewer is less than what comes before it, and it draws nothing
			x.a.Follow(true)
		}
	}
	waitFor(t, term, "end")
	var copied []string
	for len(copied) == 0 || !strings.Contains(strings.Join(x.s.text().Lines, "\n"), "end") {
		f, ok := x.step(true)
		if !ok {
			t.Fatal("detached")
		}
		copied = append(copied, x.told(f)...)
	}
	if !slices.Equal(copied, []string{"once"}) {
		t.Errorf("copied %q", copied)
	}
}
