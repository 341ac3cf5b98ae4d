//go:build linux || darwin

package ptyhost

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestStartElsewhere: a program that somebody else started is a terminal like any other, and is ended as a whole by who
// started it.
func TestStartElsewhere(t *testing.T) {
	h := New(Options{})
	defer h.Close(context.Background())
	var ends atomic.Int32
	spec := Spec{ID: "cage", Argv: []string{"sh", "-c", "echo here; trap '' TERM HUP; cat"}, Dir: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin"},
		Start: func(path string, s Spec) (Started, error) {
			if s.Size != DefaultSize || !strings.HasSuffix(path, "/sh") {
				t.Errorf("started with %s, %+v", path, s.Size)
			}
			pty, c, pid, err := startChild(path, s)
			return Started{PTY: pty, Pid: pid, Wait: func() ExitStatus { s := c.wait(); c.release(); return s },
				End: func() {
					if ends.Add(1) == 1 {
						_ = syscall.Kill(-pid, syscall.SIGKILL)
					}
				}}, err
		}}
	term, err := h.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(strings.Join(term.Screen().Lines, "\n"), "here") {
		time.Sleep(time.Millisecond)
	}
	if fg, err := term.Foreground(); err != nil || fg.Pid == 0 {
		t.Errorf("%+v, %v", fg, err)
	}
	if err := term.End(context.Background(), 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if got := term.Exit(); got.Cause != CauseEnded || ends.Load() == 0 {
		t.Errorf("%+v after %d ends", got, ends.Load())
	}
	if _, err := h.Start(Spec{ID: "refused", Argv: []string{"sh"}, Dir: t.TempDir(), Env: spec.Env,
		Start: func(string, Spec) (Started, error) { return Started{}, errors.New("no cage here") }}); err == nil {
		t.Error("a refused start was a start")
	}
	if len(h.Live()) != 0 {
		t.Error("something lives")
	}
}

// TestNewProgramOutlivesTheOldSweep: what an ended program left behind is ended by its mark, and a new program with the same
// id carries that mark too. It must not be taken for what was left behind.
func TestNewProgramOutlivesTheOldSweep(t *testing.T) {
	h := New(Options{Grace: 300 * time.Millisecond})
	defer h.Close(context.Background())
	spec := Spec{ID: "again", Dir: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin"}}
	for i := range 5 {
		spec.Argv = []string{"sh", "-c", "(trap '' TERM HUP; setsid sleep 60 &) ; exit 0"}
		old, err := h.Start(spec)
		if err != nil {
			t.Fatal(err)
		}
		<-old.Done()
		if i%2 == 0 {
			h.Forget("again")
		}
		spec.Argv = []string{"sleep", "60"}
		next, err := h.Start(spec)
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-next.Done():
			t.Fatalf("round %d: the new program was ended with the old one: %+v", i, next.Exit())
		case <-time.After(500 * time.Millisecond):
		}
		if err := next.End(context.Background(), 0); err != nil {
			t.Fatal(err)
		}
		h.Forget("again")
	}
}
