//go:build !windows

package ptyhost

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// A viewer that is hidden and shown again keeps what it has, as long as only little came and the size is the same: a person
// who looks at another tab for a moment finds this one as it was.
func TestAShortAbsenceBringsNoSnapshot(t *testing.T) {
	term := start(t, testHost(t), shellSpec(t, `echo one; read x; printf 'two\033[c\n'; read x; echo "[$x]"; read x`))
	x := newXterm(t, term, AttachOptions{AnswersQueries: true})
	defer x.a.Detach("test")
	x.until("one")
	x.kinds = nil
	x.a.Hide()
	if err := term.Write(context.Background(), []byte("\n")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, term, "two")
	x.a.Show()
	x.until("two")
	if !slices.Equal(x.kinds, []FrameKind{FrameReplay}) {
		t.Errorf("shown again with %v", x.kinds)
	}
	// The query was answered while nobody looked, and not once more.
	if err := term.Write(context.Background(), []byte("\n")); err != nil {
		t.Fatal(err)
	}
	x.until("]")
	if lines := strings.Join(x.s.text().Lines, "\n"); strings.Contains(lines, "X") {
		t.Errorf("answered twice: %q", lines)
	}
	x.kinds = nil
	x.a.Hide()
	if _, err := term.Resize(Size{100, 30}); err != nil {
		t.Fatal(err)
	}
	if _, err := term.Resize(DefaultSize); err != nil {
		t.Fatal(err)
	}
	x.a.Show()
	if f, _ := x.step(true); f.Kind != FrameSnapshot {
		t.Errorf("after it had another size: %v", f.Kind)
	}
}

// Viewers acknowledge in steps. One that was silent for too long and then caught up to within a step goes on.
func TestAStalledViewerNeedNotAcknowledgeTheLastByte(t *testing.T) {
	h := New(Options{Stall: 100 * time.Millisecond, Grace: 100 * time.Millisecond})
	t.Cleanup(func() { h.Close(context.Background()) })
	term := start(t, h, shellSpec(t, "head -c 1000000 /dev/zero | tr '\\0' z; echo; echo end; read x"))
	x := newXterm(t, term, AttachOptions{})
	defer x.a.Detach("test")
	var last uint64
	for last < firstWindow {
		f, ok := x.step(false)
		if !ok {
			t.Fatal("detached")
		}
		last = f.Seq
	}
	waitFor(t, term, "end") // it was let go of, and the program ran on
	x.a.Ack(last - 16<<10)  // the step of the page
	x.until("end")
}

// What a program says last is there when somebody looks: nobody looked when it ended.
func TestTheEndIsSeenByAHiddenViewer(t *testing.T) {
	term := start(t, testHost(t), shellSpec(t, "echo one; read x; echo last words"))
	x := newXterm(t, term, AttachOptions{AnswersQueries: true})
	x.until("one")
	x.a.Hide()
	if err := term.Write(context.Background(), []byte("\n")); err != nil {
		t.Fatal(err)
	}
	x.untilExit()
	if lines := strings.Join(x.s.text().Lines, "\n"); !strings.Contains(lines, "last words") || x.kinds[len(x.kinds)-1] != FrameExit {
		t.Errorf("shows %q, after %v", lines, x.kinds)
	}
}

// A flood that nobody sees leaves the processor to the terminal that somebody looks at, and takes all of it when nobody looks
// at any.
func TestAnUnseenFloodYields(t *testing.T) {
	h := testHost(t)
	flood := shellSpec(t, "exec yes flooding")
	flood.ID += "flood"
	term := start(t, h, flood)
	rate := func() uint64 {
		_, _, before := term.Log(1)
		time.Sleep(400 * time.Millisecond)
		_, _, after := term.Log(1)
		return after - before
	}
	seen := start(t, h, shellSpec(t, "echo one; read x"))
	x := newXterm(t, seen, AttachOptions{})
	x.until("one")
	// A reader that other programs keep from the processor has less to give up: so it is tried again.
	less := func(rest func()) (ok bool) {
		var paced, alone uint64
		for range 8 {
			x.a.Show()
			paced = rate()
			rest()
			if alone = rate(); paced > 0 && paced <= alone*2/3 {
				return true
			}
		}
		t.Errorf("%d bytes while another is seen, %d while it is not", paced, alone)
		return false
	}
	if less(x.a.Hide) {
		less(func() {
			x.a.Detach("test")
			x = newXterm(t, seen, AttachOptions{Hidden: true})
		})
	}
	x.a.Detach("test")
	if n := h.shown.Load(); n != 0 {
		t.Errorf("%d viewers are counted, there is none", n)
	}
}

// The law of hiding: however often and long a viewer is hidden, and whatever size its terminal gets meanwhile, what it shows
// at the end is what the terminal shows.
func TestHiddenViewerLaw(t *testing.T) {
	kinds := map[FrameKind]int{}
	for seed := range uint64(8) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		spec := shellSpec(t, `i=0; while [ $i -lt 300 ]; do printf '\033[3%dmline %d \033[0m世界 e\xcc\x81\n' $((i%8)) $i; i=$((i+1)); done; read x`)
		spec.ID += fmt.Sprint(seed)
		term := start(t, testHost(t), spec)
		x := newXterm(t, term, AttachOptions{Window: 4096})
		for range 60 {
			for range rnd.IntN(4) {
				ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
				f, err := x.a.Next(ctx)
				cancel()
				if err != nil {
					continue
				}
				kinds[f.Kind]++
				if f.Kind == FrameSnapshot || f.Kind == FrameResize {
					x.s.resize(f.Size)
				}
				x.s.write(f.Data)
				x.a.Ack(f.Seq)
			}
			x.a.Hide()
			time.Sleep(time.Duration(rnd.IntN(600)) * time.Microsecond) // so that something is printed meanwhile, or nothing
			if rnd.IntN(5) == 0 {
				if _, err := term.Resize(Size{uint16(60 + rnd.IntN(40)), uint16(20 + rnd.IntN(10))}); err != nil {
					t.Fatal(err)
				}
			}
			x.a.Show()
		}
		if err := term.Write(context.Background(), []byte("\n")); err != nil {
			t.Fatal(err)
		}
		x.untilExit()
		got, want := x.s.text(), term.Screen()
		if !slices.Equal(got.Lines, want.Lines) || got.CursorX != want.CursorX || got.CursorY != want.CursorY {
			t.Fatalf("seed %d: shows\n%s\nwant\n%s", seed, strings.Join(got.Lines, "\n"), strings.Join(want.Lines, "\n"))
		}
	}
	if kinds[FrameSnapshot] == 0 || kinds[FrameReplay] == 0 {
		t.Errorf("the ways back were not all gone: %v", kinds)
	}
}
