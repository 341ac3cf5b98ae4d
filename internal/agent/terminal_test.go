//go:build unix

package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"go.uber.org/goleak"
)

// fakeBin is the built fake agent.
var fakeBin string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "fakeagent")
	if err != nil {
		panic(err)
	}
	fakeBin = filepath.Join(dir, "fakeagent")
	if out, err := exec.Command("go", "build", "-o", fakeBin, "termic/internal/fakeagent").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "the fake agent does not build: %v\n%s", err, out)
		os.Exit(1)
	}
	flag.Parse()
	flag.Set("test.parallel", "12") // the tests wait for terminals, not for processors
	code := m.Run()
	os.RemoveAll(dir)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// realTerm is a Terminal with a real PTY, a real program and an emulator that answers its queries. Its goroutines (the
// reader, the writer, the drain of the emulator's answers, the waiter) end with the program and are waited for by close.
type realTerm struct {
	id   string
	cmd  *exec.Cmd
	ptmx *os.File
	det  *Detector
	in   chan []byte
	done chan struct{}
	all  sync.WaitGroup

	mu     sync.Mutex // guards the following
	emu    *vt.Emulator
	hidden bool
	paste  bool
	title  string
	raw    []byte // all output
	sent   []byte // all input by Write
}

// startTerm runs a program in a terminal of 100x32.
func startTerm(t testing.TB, k Kind, argv, env []string, dir string) *realTerm {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "COLORTERM=truecolor", "TERM_PROGRAM=termic", "LANG=C.UTF-8"}, env...)
	ptmx, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 32, Cols: 100})
	if err != nil {
		t.Fatal(err)
	}
	r := &realTerm{id: t.Name(), cmd: cmd, ptmx: ptmx, in: make(chan []byte, 64), done: make(chan struct{}), emu: vt.NewEmulator(100, 32)}
	r.emu.SetCallbacks(vt.Callbacks{CursorVisibility: func(v bool) { r.hidden = !v }, Title: func(s string) { r.title = s }})
	r.det = NewDetector(DetectorOptions{Kind: k, Screen: r.Screen, Reply: func(p []byte) { r.reply(p) }})
	r.all.Go(r.readLoop)
	r.all.Go(r.writeLoop)
	r.all.Go(r.drain)
	t.Cleanup(func() { r.close(t) })
	return r
}

// startFake runs the fake agent.
func startFake(t testing.TB, k Kind, log string, args ...string) *realTerm {
	t.Helper()
	dir := t.TempDir()
	return startTerm(t, k, append([]string{fakeBin}, args...), []string{"FAKEAGENT_LOG=" + log, "FAKEAGENT_HOME=" + dir, "HOME=" + dir}, dir)
}

// oscFilter keeps operating system commands from the emulator, which takes a byte 0x9C inside a character of a title
// for the end of the title and prints the rest.
type oscFilter struct{ esc, osc bool }

func (f *oscFilter) strip(b []byte) []byte {
	out := make([]byte, 0, len(b)+1)
	for _, c := range b {
		switch {
		case f.osc:
			f.osc = c != 0x07 && !(f.esc && c == '\\')
			f.esc = f.osc && c == 0x1B
		case f.esc && c == ']':
			f.esc, f.osc = false, true
		case f.esc:
			f.esc = false
			out = append(out, 0x1B, c)
		case c == 0x1B:
			f.esc = true
		default:
			out = append(out, c)
		}
	}
	return out
}

func (r *realTerm) readLoop() {
	scan := NewParser(func(s Signal) {
		if s.Kind == SigPaste {
			r.paste = s.On
		}
	})
	var noOSC oscFilter
	buf := make([]byte, 32<<10)
	for {
		n, err := r.ptmx.Read(buf)
		if n > 0 {
			r.det.Feed(buf[:n])
			r.mu.Lock()
			scan.Feed(buf[:n])
			r.raw = append(r.raw, buf[:n]...)
			r.emu.Write(noOSC.strip(buf[:n]))
			r.mu.Unlock()
		}
		if err != nil {
			break
		}
	}
	r.cmd.Wait()
	r.det.Exited()
	close(r.done)
	r.emu.InputPipe().Write([]byte{0}) // ends drain; the emulator's own Close races with its Read
}

// writeLoop writes what is queued; replies go through it so that the reader never blocks.
func (r *realTerm) writeLoop() {
	for {
		select {
		case p := <-r.in:
			for len(p) > 0 {
				n, err := r.ptmx.Write(p)
				if err != nil {
					return
				}
				p = p[n:]
			}
		case <-r.done:
			return
		}
	}
}

func (r *realTerm) drain() {
	buf := make([]byte, 1024)
	for {
		n, err := r.emu.Read(buf)
		if n > 0 && buf[n-1] == 0 {
			return
		}
		if n > 0 {
			r.reply(append([]byte(nil), buf[:n]...))
		}
		if err != nil {
			return
		}
	}
}

func (r *realTerm) reply(p []byte) {
	select {
	case r.in <- p:
	case <-r.done:
	}
}

func (r *realTerm) ID() string            { return r.id }
func (r *realTerm) Done() <-chan struct{} { return r.done }

func (r *realTerm) Write(ctx context.Context, p []byte) error {
	r.mu.Lock()
	r.sent = append(r.sent, p...)
	r.mu.Unlock()
	select {
	case r.in <- append([]byte(nil), p...):
		return nil
	case <-r.done:
		return os.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *realTerm) Foreground() int {
	pgrp, err := tcgetpgrp(r.ptmx)
	if err != nil {
		return 0
	}
	return pgrp
}

func (r *realTerm) Screen() Screen {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.emu.CursorPosition()
	return Screen{Lines: strings.Split(r.emu.String(), "\n"), CursorX: p.X, CursorY: p.Y, Title: r.title,
		AltScreen: r.emu.IsAltScreen(), BracketedPaste: r.paste, CursorVisible: !r.hidden}
}

// input returns all that was written by Write.
func (r *realTerm) input() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.sent)
}

func (r *realTerm) close(t testing.TB) {
	select {
	case <-r.done:
	default:
		r.cmd.Process.Signal(syscall.SIGTERM)
	}
	select {
	case <-r.done:
	case <-time.After(5 * time.Second):
		t.Errorf("the program does not end on TERM")
		r.cmd.Process.Kill()
		<-r.done
	}
	r.ptmx.Close()
	r.all.Wait()
	if t.Failed() {
		t.Logf("last screen:\n%s", strings.TrimRight(strings.Join(r.Screen().Lines, "\n"), "\n "))
		raw := r.raw
		if len(raw) > 600 {
			raw = raw[len(raw)-600:]
		}
		t.Logf("last output: %q", raw)
		t.Logf("state: %+v", r.det.State())
	}
}

// waitFor waits for a condition over the detector and the screen, awake at every change.
func (r *realTerm) waitFor(t testing.TB, what string, within time.Duration, ok func(State, Screen) bool) {
	t.Helper()
	end := time.After(within)
	for {
		g := r.det.glance()
		if ok(g.st, r.Screen()) {
			return
		}
		select {
		case <-g.news:
		case <-time.After(20 * time.Millisecond): // the screen is fed after the detector
		case <-end:
			t.Fatalf("%s did not come within %v; state %+v", what, within, r.det.State())
		}
	}
}

func (r *realTerm) waitWork(t testing.TB, want Work, within time.Duration) State {
	t.Helper()
	r.waitFor(t, want.String(), within, func(s State, _ Screen) bool { return s.Work == want })
	return r.det.State()
}

// logRow is a line of the fake agent's log.
type logRow struct {
	N      int    `json:"n"`
	Event  string `json:"event"`
	Prompt []byte `json:"prompt"`
}

// readLog reads the fake agent's log.
func readLog(t testing.TB, path string) (prompts []string, events []logRow) {
	t.Helper()
	b, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range bytes.Split(bytes.TrimSpace(b), []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var r logRow
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if r.Event == "" {
			prompts = append(prompts, string(r.Prompt))
		} else {
			events = append(events, r)
		}
	}
	return prompts, events
}

// kindFake is the recipe of the fake agent with an input field like claude's.
func kindFake() Kind {
	return Kind{ID: "fake", Name: "Fake", Command: fakeBin, WorkDone: true,
		Signals: Signals{Idle: res(`^✳`), Busy: res(`^[\x{2800}-\x{28FF}]`), Pending: res(`(?i)waiting for \d+ background agents?`)},
		Hints:   Hints{Framed: true, Composer: claude().Hints.Composer, Modal: res(`(?i)do you trust the`, `(?i)update available`)}}
}

// kindBare is a recipe that knows nothing of its agent.
func kindBare() Kind { return Kind{ID: "bare", Name: "Bare", Command: fakeBin, WorkDone: true} }
