package ptyhost

import (
	"context"
	"os"
	"sync"
	"time"

	"termic/internal/fault"
)

// Terminal is one program in its pseudo-terminal. Its reader, writer and reaper are started by Host.Start; they stop
// when the program ends, which End brings about, and gone is closed after the last of them.
type Terminal struct {
	host  *Host
	spec  Spec
	pty   *os.File
	child child
	pid   int
	start uint64 // as in Proc
	in    *input

	done     chan struct{} // the program ended and its last byte was taken in
	gone     chan struct{} // and nothing of it is left: goroutines, descriptors, processes
	over     chan struct{} // the program ended; its last bytes may still be on the way
	read     chan struct{} // the reader is through
	room     chan struct{} // capacity 1: a viewer made room
	wrote    chan struct{} // the writer is through
	endMu    sync.Mutex    // one round-up at a time; guards released
	released bool          // the process id was given back
	resizes  sync.Mutex    // resizes reach the kernel and the screen in the same order
	owed     time.Duration // of the reader alone: how long it is to yield

	mu        sync.Mutex // guards the following
	size      Size
	ring      ring
	clock     clock
	screen    *screen
	told      told
	viewers   map[*Attachment]struct{}
	shown     int // viewers that are not hidden
	answerer  *Attachment
	pending   []unanswered
	asked     bool // End was called
	exited    bool
	forgotten bool
	status    ExitStatus
}

// ID returns the id of the Spec.
func (t *Terminal) ID() string { return t.spec.ID }

// Pid returns the process id of the program, which is also its session id.
func (t *Terminal) Pid() int { return t.pid }

// Started returns the start time of the program, as in Proc.
func (t *Terminal) Started() uint64 { return t.start }

// Spec returns what was started, with its defaults filled in. Slices are shared and must not be changed.
func (t *Terminal) Spec() Spec { return t.spec }

// Write types p. Writes are delivered in the order of their calls, each whole. It returns when the kernel took all
// bytes, or with a WriteError, which says how many were taken. After the program ended that is ErrExited.
func (t *Terminal) Write(ctx context.Context, p []byte) error { return t.in.write(ctx, p) }

// Size returns the present size.
func (t *Terminal) Size() Size {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.size
}

// Resize sets the size and reports whether it changed. A size that it has already is not set again, since that would
// make the program draw everything anew.
func (t *Terminal) Resize(s Size) (bool, error) {
	if err := checkSize(s); err != nil {
		return false, err
	}
	t.resizes.Lock()
	defer t.resizes.Unlock()
	t.mu.Lock()
	same, over := t.size == s, t.exited
	t.mu.Unlock()
	if same || over {
		return false, nil
	}
	if err := setSize(t.pty, s); err != nil {
		return false, fault.Wrap(err, fault.Unavailable, "The terminal could not be resized")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.size = s
	t.screen.resize(s)
	for a := range t.viewers {
		a.resized, a.resizedAt, a.kept = true, t.ring.end, false
		a.signal()
	}
	return true, nil
}

// checkSize refuses sizes that no window has: a hidden one reports a column or none.
func checkSize(s Size) error {
	if s.Cols < MinCols || s.Rows < 1 || s.Cols > MaxCols || s.Rows > MaxRows || int(s.Cols)*int(s.Rows) > MaxCells {
		return fault.New(fault.InvalidArgument, "A terminal cannot have %d columns and %d rows", s.Cols, s.Rows).
			WithHint("Columns go from %d to %d, rows from 1 to %d.", MinCols, MaxCols, MaxRows)
	}
	return nil
}

// Log returns the last bytes that were printed, at most max of them (0: all that the ring holds, RingBytes), the Seq at
// which they start, and how many were ever printed.
func (t *Terminal) Log(max int) (data []byte, from, total uint64) {
	if max <= 0 || max > RingBytes {
		max = RingBytes
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	n := min(max, t.ring.held)
	from = t.ring.end - uint64(n)
	return t.ring.read(from, n), from, t.ring.end
}

// Screen returns what is shown now.
func (t *Terminal) Screen() ScreenText {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.screen.text()
	s.Seq = t.ring.end
	return s
}

// Snapshot returns escape sequences that draw the whole state after seq bytes on a terminal of the same size: history,
// both screens, modes, title, cursor.
func (t *Terminal) Snapshot() (seq uint64, ansi []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	state, rest := t.screen.snapshot(snapshotLines)
	return t.ring.end, append(state, rest...)
}

// Done is closed when the program has ended and its last byte was taken in.
func (t *Terminal) Done() <-chan struct{} { return t.done }

// Exit returns how it ended; the zero value while it runs.
func (t *Terminal) Exit() ExitStatus {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status
}

// Foreground returns the process that has the terminal: the leader of the foreground process group. A shell that waits
// at its prompt is its own foreground.
func (t *Terminal) Foreground() (Proc, error) {
	if t.ended() {
		return Proc{}, fault.New(fault.Unavailable, "The program in this terminal has ended")
	}
	pgid, err := foregroundGroup(t.pty)
	if err != nil {
		return Proc{}, fault.Wrap(err, fault.Unavailable, "The program in this terminal has ended")
	}
	p, ok := readProcess(pgid)
	if !ok { // the leader of the group is gone, its members are not
		return Proc{Pid: pgid}, nil
	}
	return Proc{Pid: pgid, Name: p.name, Start: p.start}, nil
}

// Remnant returns what to store, so that EndRemnants can find this terminal after the app was killed.
func (t *Terminal) Remnant() Remnant {
	r := Remnant{ID: t.spec.ID, Pid: t.pid, Pgid: t.pid, Sid: t.pid, Start: t.start, Boot: bootID()}
	e, ok := t.child.(elsewhere)
	if !ok || e.First == 0 {
		return r
	}
	// It need not lead its session, but is never in ours, where strangers are.
	p, ok := readProcess(e.First)
	if own, mine := readProcess(os.Getpid()); ok && mine && p.sid != own.sid {
		r.Pid, r.Pgid, r.Sid, r.Start = p.pid, p.pgid, p.sid, p.start
	}
	return r
}

// End ends the whole session: TERM, then KILL after grace (zero: DefaultGrace). It returns when nothing is left, or an
// error when ctx ends before that; what was begun goes on only until then. Called on an ended terminal it waits for
// what that left behind.
func (t *Terminal) End(ctx context.Context, grace time.Duration) error {
	if grace <= 0 {
		grace = DefaultGrace
	}
	t.mu.Lock()
	t.asked = true
	t.mu.Unlock()
	if err := t.roundUp(ctx, grace); err != nil {
		return err
	}
	select {
	case <-t.gone:
		return nil
	case <-ctx.Done():
		return fault.Wrap(context.Cause(ctx), fault.Unavailable, "The program in this terminal did not end in time")
	}
}

func (t *Terminal) ended() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// forget detaches all viewers and gives up the ring and the screen. Only for ended terminals.
func (t *Terminal) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forgotten = true
	for a := range t.viewers {
		a.detachLocked(ReasonClosed)
	}
}
