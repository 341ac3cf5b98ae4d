package ptyhost

import (
	"context"
	"time"
)

// Host owns all terminals of the app.
type Host struct{}

// New makes a Host without terminals.
func New(Options) *Host { panic("ptyhost: being written") }

// Start runs a program in a new terminal.
//
// Errors are faults: InvalidArgument for a bad Spec, NotFound when the program or the directory is not there,
// Forbidden when it may not be run, Conflict when the id is in use, Unavailable after Close, Unsupported on Windows.
func (h *Host) Start(Spec) (*Terminal, error) { panic("ptyhost: being written") }

// Get returns the terminal with that id, running or ended, until it is forgotten.
func (h *Host) Get(id string) (*Terminal, bool) { panic("ptyhost: being written") }

// Forget drops an ended terminal with its ring and screen. A running one stays, and Forget reports false.
func (h *Host) Forget(id string) bool { panic("ptyhost: being written") }

// Live returns the running terminals.
func (h *Host) Live() []*Terminal { panic("ptyhost: being written") }

// Close ends all terminals and waits until they are gone or ctx ends. Nothing starts after Close was called.
func (h *Host) Close(context.Context) error { panic("ptyhost: being written") }

// Terminal is one program in its pseudo-terminal.
type Terminal struct{}

// ID returns the id of the Spec.
func (t *Terminal) ID() string { panic("ptyhost: being written") }

// Pid returns the process id of the program, which is also its session id.
func (t *Terminal) Pid() int { panic("ptyhost: being written") }

// Started returns the start time of the program, as in Proc.
func (t *Terminal) Started() uint64 { panic("ptyhost: being written") }

// Spec returns what was started. Slices are shared and must not be changed.
func (t *Terminal) Spec() Spec { panic("ptyhost: being written") }

// Write types p. Writes are delivered in the order of their calls, each whole. It returns when the kernel took all
// bytes, or with an error that wraps a WriteError, which says how many were taken.
func (t *Terminal) Write(ctx context.Context, p []byte) error { panic("ptyhost: being written") }

// Resize sets the size and reports whether it changed.
func (t *Terminal) Resize(Size) (bool, error) { panic("ptyhost: being written") }

// Size returns the present size.
func (t *Terminal) Size() Size { panic("ptyhost: being written") }

// Attach joins a viewer.
func (t *Terminal) Attach(AttachOptions) (*Attachment, error) { panic("ptyhost: being written") }

// Log returns the last bytes that were printed, at most max of them (0: all that the ring holds), the Seq at which
// they start, and how many were ever printed.
func (t *Terminal) Log(max int) (data []byte, from, total uint64) { panic("ptyhost: being written") }

// Screen returns what is shown now.
func (t *Terminal) Screen() ScreenText { panic("ptyhost: being written") }

// Snapshot returns escape sequences that draw the whole state on a fresh terminal of the same size.
func (t *Terminal) Snapshot() (seq uint64, ansi []byte) { panic("ptyhost: being written") }

// Done is closed when the program has ended and its last byte was taken in.
func (t *Terminal) Done() <-chan struct{} { panic("ptyhost: being written") }

// Exit returns how it ended; the zero value while it runs.
func (t *Terminal) Exit() ExitStatus { panic("ptyhost: being written") }

// End ends the whole session: TERM, then KILL after grace (zero: DefaultGrace). It returns when nothing is left.
func (t *Terminal) End(ctx context.Context, grace time.Duration) error {
	panic("ptyhost: being written")
}

// Foreground returns the process that has the terminal: the leader of the foreground process group.
func (t *Terminal) Foreground() (Proc, error) { panic("ptyhost: being written") }

// Remnant returns what to store, so that EndRemnants can find this terminal after the app was killed.
func (t *Terminal) Remnant() Remnant { panic("ptyhost: being written") }

// EndRemnants ends what terminals of a killed app left behind. A process is signalled only when it belongs to a
// session whose first process still has the recorded start time and boot, or when its environment holds one of
// markers ("TERMIC_TASK_ID=01J...") or the MarkerName of a remnant, and it runs as the same user. It returns how many
// processes were ended.
func EndRemnants(ctx context.Context, remnants []Remnant, markers []string, grace time.Duration) (ended int, err error) {
	panic("ptyhost: being written")
}

// Attachment is one viewer of a terminal.
type Attachment struct{}

// Next waits for the next frame. It must be called by one goroutine at a time. After the viewer was detached it
// returns ErrDetached; see Reason.
func (a *Attachment) Next(context.Context) (Frame, error) { panic("ptyhost: being written") }

// Ack tells that everything up to seq was drawn.
func (a *Attachment) Ack(seq uint64) { panic("ptyhost: being written") }

// Hide stops the bytes. A hidden viewer neither slows the program down nor answers queries.
func (a *Attachment) Hide() { panic("ptyhost: being written") }

// Show resumes the bytes with a snapshot.
func (a *Attachment) Show() { panic("ptyhost: being written") }

// Detach ends the viewer. The first reason counts.
func (a *Attachment) Detach(reason string) { panic("ptyhost: being written") }

// Reason returns why it was detached, empty while attached.
func (a *Attachment) Reason() string { panic("ptyhost: being written") }
