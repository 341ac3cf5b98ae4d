//go:build linux || darwin

package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"termic/internal/api"
	"termic/internal/control"
	"termic/internal/fault"
)

// terminal is a task's terminal that a test drives.
type terminal struct {
	frames chan control.Frame
	closed chan struct{}

	mu     sync.Mutex
	once   sync.Once
	reason string
	typed  bytes.Buffer
	sizes  [][2]uint16
	acked  uint64
	heard  chan struct{} // told after each change
}

func newTerminal() *terminal {
	return &terminal{frames: make(chan control.Frame, 16), closed: make(chan struct{}), heard: make(chan struct{}, 1)}
}

func (f *terminal) note(change func()) {
	f.mu.Lock()
	change()
	f.mu.Unlock()
	select {
	case f.heard <- struct{}{}:
	default:
	}
}

// until waits for the terminal to be as wanted.
func (f *terminal) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	limit := time.After(10 * time.Second)
	for {
		f.mu.Lock()
		good := ok()
		f.mu.Unlock()
		if good {
			return
		}
		select {
		case <-f.heard:
		case <-limit:
			t.Fatalf("%s did not happen within 10 s", what)
		}
	}
}

func (f *terminal) Result() api.AttachResult { return api.AttachResult{TaskID: "01A", TabID: "T1"} }

func (f *terminal) Next(ctx context.Context) (control.Frame, error) {
	select {
	case fr := <-f.frames:
		return fr, nil
	case <-f.closed:
		return control.Frame{}, io.EOF
	case <-ctx.Done():
		return control.Frame{}, context.Cause(ctx)
	}
}

func (f *terminal) Write(_ context.Context, keys []byte) error {
	f.note(func() { f.typed.Write(keys) })
	return nil
}

func (f *terminal) Resize(cols, rows uint16) error {
	f.note(func() { f.sizes = append(f.sizes, [2]uint16{cols, rows}) })
	return nil
}

func (f *terminal) Ack(seq uint64) { f.note(func() { f.acked = seq }) }
func (f *terminal) Hide()          {}
func (f *terminal) Show()          {}
func (f *terminal) Follow(bool)    {}

func (f *terminal) Close(reason string) {
	f.once.Do(func() {
		f.note(func() { f.reason = reason })
		close(f.closed)
	})
}

func (f *terminal) Reason() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reason
}

// seat is a person's terminal: a pty whose far end the test reads and types at.
type seat struct {
	t    *testing.T
	far  *os.File
	near *os.File

	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func newSeat(t *testing.T) *seat {
	t.Helper()
	far, near, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	s := &seat{t: t, far: far, near: near, more: make(chan struct{}, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for {
			n, err := far.Read(buf)
			s.mu.Lock()
			s.text.Write(buf[:n])
			s.mu.Unlock()
			select {
			case s.more <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = near.Close()
		_ = far.Close()
		<-done
	})
	if err := pty.Setsize(near, &pty.Winsize{Cols: 132, Rows: 40}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *seat) see(want string) {
	s.t.Helper()
	limit := time.After(10 * time.Second)
	for {
		s.mu.Lock()
		got := s.text.String()
		s.mu.Unlock()
		if strings.Contains(got, want) {
			return
		}
		select {
		case <-s.more:
		case <-limit:
			s.t.Fatalf("%q was not seen in %q", want, got)
		}
	}
}

func (s *seat) press(keys string) {
	s.t.Helper()
	if _, err := s.far.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

func (s *seat) modes() unix.Termios {
	s.t.Helper()
	m, err := unix.IoctlGetTermios(int(s.near.Fd()), ioctlGetTermios)
	if err != nil {
		s.t.Fatal(err)
	}
	return *m
}

// attached is one run of `termic attach`.
type attached struct {
	*seat
	*terminal
	app    *app
	as     control.AttachAs
	done   chan int
	errors *bytes.Buffer
	before unix.Termios
}

func attach(t *testing.T, ctx context.Context, args ...string) *attached {
	t.Helper()
	a := &attached{seat: newSeat(t), terminal: newTerminal(), done: make(chan int, 1), errors: &bytes.Buffer{}}
	a.app = startApp(t, nil)
	a.app.attach = func(as control.AttachAs) (control.Attachment, error) { a.as = as; return a.terminal, nil }
	a.before = a.modes()
	go func() {
		a.done <- Run(ctx, Env{Args: append([]string{"attach", "fix"}, args...), Stdin: a.near, Stdout: a.near, Stderr: a.errors, Dir: "/d",
			Getenv: func(k string) string { return map[string]string{"TERMIC_DATA_DIR": a.app.dir}[k] }})
	}()
	a.frames <- control.Frame{Kind: control.FrameSnapshot, Data: []byte("\x1bc\x1b[?1049hSCREEN"), Seq: 7}
	a.see("SCREEN")
	return a
}

// ends waits for the run's exit code and wants this terminal to be as it was before.
func (a *attached) ends(want int, said string) {
	t := a.seat.t
	t.Helper()
	select {
	case got := <-a.done:
		if got != want || !strings.Contains(a.errors.String(), said) {
			t.Errorf("exit %d, want %d; said %q", got, want, a.errors)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("attach does not end")
	}
	if after := a.modes(); after != a.before {
		t.Errorf("the terminal was left with\n%+v, it had\n%+v", after, a.before)
	}
	a.see("\x1b[?1049l") // the other screen was left
}

// TestAttach walks through a whole stay: output without questions, every key, resizing, detaching.
func TestAttach(t *testing.T) {
	a := attach(t, t.Context(), "--resize")
	if a.as != (control.AttachAs{Cols: 132, Rows: 40, Resizes: true}) { // P4: the real size, before the first byte
		t.Errorf("attached as %+v", a.as)
	}
	if len(a.app.calls) != 1 || a.app.calls[0].params != `{"resize":true,"task":"fix"}` {
		t.Errorf("asked with %v", a.app.calls)
	}
	a.until(t, "the first ack", func() bool { return a.acked == 7 })
	if a.modes() == a.before {
		t.Error("the terminal is not in raw mode")
	}
	a.frames <- control.Frame{Kind: control.FrameOutput, Data: []byte("ask\x1b[6n me"), Seq: 20}
	a.see("ask me")
	a.until(t, "the second ack", func() bool { return a.acked == 20 })

	a.press("ls\r\x03\x1a\x04\x1b[A") // P24: Ctrl-C, Ctrl-Z and Ctrl-D are the program's
	a.until(t, "the keys", func() bool { return a.typed.String() == "ls\r\x03\x1a\x04\x1b[A" })

	if err := pty.Setsize(a.near, &pty.Winsize{Cols: 100, Rows: 30}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(unix.Getpid(), unix.SIGWINCH); err != nil { // the kernel tells only the foreground group
		t.Fatal(err)
	}
	a.until(t, "the new size", func() bool { return len(a.sizes) > 0 && a.sizes[len(a.sizes)-1] == [2]uint16{100, 30} })

	a.press("x\x1cnever")
	a.ends(fault.ExitOK, "[termic: detached")
	if got := a.typed.String(); strings.Contains(got, "never") || !strings.HasSuffix(got, "x") {
		t.Errorf("the program got %q", got)
	}
}

func TestAttachEnds(t *testing.T) {
	for reason, want := range map[string]int{"exited": fault.ExitClosed, "archived": fault.ExitClosed, "closed": fault.ExitClosed,
		"stopped": fault.ExitClosed, "lagged": fault.ExitLost} {
		t.Run(reason, func(t *testing.T) {
			a := attach(t, t.Context())
			a.terminal.Close(reason)
			a.ends(want, "[termic: ")
		})
	}
}

// TestAttachPutsTheTerminalBack however it ends.
func TestAttachPutsTheTerminalBack(t *testing.T) {
	t.Run("the app ends", func(t *testing.T) {
		a := attach(t, t.Context())
		if err := a.app.server.Close(); err != nil {
			t.Fatal(err)
		}
		a.ends(fault.ExitOK, "[termic: detached")
	})
	t.Run("a signal", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		a := attach(t, ctx)
		cancel(errors.New("terminated"))
		a.ends(exitInterrupted, "stopped watching")
	})
}

func TestAttachWithOtherKeys(t *testing.T) {
	a := attach(t, t.Context(), "--detach-keys", "ctrl-p,ctrl-q")
	a.press("\x1c\x10a")
	a.until(t, "the keys", func() bool { return a.typed.String() == "\x1c\x10a" })
	a.press("\x10")
	a.press("\x11")
	a.ends(fault.ExitOK, "detached")
}

func TestAttachRefusals(t *testing.T) {
	if got := says(t, "{}").run(t, nil, "", "attach", "fix"); got.exit != fault.ExitError || !strings.Contains(got.errors, "termic logs") {
		t.Errorf("without a terminal: %+v", got)
	}
	if got := alone(t, nil, "attach", "fix", "--detach-keys", "f13"); got.exit != fault.ExitError || !strings.Contains(got.errors, "f13") {
		t.Errorf("odd keys: %+v", got)
	}
	s := newSeat(t)
	a := startApp(t, nil)
	a.attach = func(control.AttachAs) (control.Attachment, error) { return nil, newFault(fault.Conflict) }
	before := s.modes()
	var errs bytes.Buffer
	code := Run(t.Context(), Env{Args: []string{"attach", "fix"}, Stdin: s.near, Stdout: s.near, Stderr: &errs,
		Getenv: func(k string) string { return map[string]string{"TERMIC_DATA_DIR": a.dir}[k] }})
	if code != fault.ExitError || !strings.Contains(errs.String(), "It went wrong") || s.modes() != before {
		t.Errorf("refused: exit %d, %q", code, &errs)
	}
}

// TestQuestionsOnATerminal: verbs that destroy ask, and only a yes goes on.
func TestQuestionsOnATerminal(t *testing.T) {
	for answer, goesOn := range map[string]bool{"y\n": true, "Yes\n": true, "n\n": false, "\n": false, "yy\n": false, "\x04": false} {
		s := newSeat(t)
		a := says(t, `{"task_id":"1","name":"fix","project":"p"}`)
		var errs bytes.Buffer
		s.press(answer)
		code := Run(t.Context(), Env{Args: []string{"archive", "fi\x1bx"}, Stdin: s.near, Stdout: io.Discard, Stderr: &errs,
			Getenv: func(k string) string { return map[string]string{"TERMIC_DATA_DIR": a.dir}[k] }})
		if (code == 0) != goesOn || (len(a.calls) == 1) != goesOn {
			t.Errorf("%q: exit %d, %d calls, %q", answer, code, len(a.calls), &errs)
		}
		if !strings.HasPrefix(errs.String(), "Archive task fi␛x? Its terminals end and its worktree is removed. [y/N] ") {
			t.Errorf("asked %q", &errs)
		}
	}
}

// TestLogsOnATerminalArePlain: what a program printed does not act on the terminal of who reads it.
func TestLogsOnATerminalArePlain(t *testing.T) {
	s := newSeat(t)
	a := says(t, `{"data":"safe\u001b]52;c;ZXZpbA==\u0007\n"}`)
	code := Run(t.Context(), Env{Args: []string{"logs", "fix"}, Stdin: s.near, Stdout: s.near, Stderr: io.Discard,
		Getenv: func(k string) string { return map[string]string{"TERMIC_DATA_DIR": a.dir}[k] }})
	s.see("safe␛]52;c;ZXZpbA==␇")
	if code != 0 || a.calls[0].params != `{"plain":true,"task":"fix"}` {
		t.Errorf("exit %d, asked with %v", code, a.calls)
	}
}
