package ptyhost

import (
	"log/slog"
	"os"
	"time"
)

// Limits. They bound what one terminal may hold.
const (
	RingBytes       = 256 << 10               // bytes of output that Log can return
	HighWater       = 256 << 10               // largest AttachOptions.Window: unacknowledged bytes at which a viewer is full
	FrameBytes      = 64 << 10                // most data of one output frame
	FrameDelay      = 4 * time.Millisecond    // least time between two output frames that are not full
	FloodDelay      = 12 * time.Millisecond   // the same behind a frame of at least FloodBytes: each frame wakes two processes
	FloodBytes      = 4 << 10                 // more than a person types or an agent draws at once
	WriteQueueBytes = 4 << 20                 // input that may wait for a program that does not read
	WriteQueueLen   = 1024                    // writes that may wait
	DefaultGrace    = 1500 * time.Millisecond // time between TERM and KILL: long enough for an agent to save its transcript
	StallLimit      = 5 * time.Second         // a viewer that acknowledges nothing for so long no longer slows the program down
	DefaultLines    = 2000                    // lines of history of the screen
	MaxLines        = 50000
	MinCols         = 2 // a wide character needs two
	MaxCols         = 1000
	MaxRows         = 500
	MaxCells        = 1 << 17 // columns times rows
	MaxTitle        = 512     // bytes of a title that are kept
)

// MarkerName is the environment variable that ptyhost adds to every program: its value is the id of the terminal. A
// process that leaves the session, even by a double fork, is recognised by it.
const MarkerName = "TERMIC_TERMINAL_ID"

// Size is the size of a terminal in character cells.
type Size struct{ Cols, Rows uint16 }

// DefaultSize is used when a Spec names no size.
var DefaultSize = Size{Cols: 80, Rows: 24}

// Options are the settings of a Host. The zero value works.
type Options struct {
	Log *slog.Logger // nil: nothing is logged. Never gets what a program printed or what was typed
	// Grace is the time between TERM and KILL when a program has ended by itself and left processes behind, and in
	// Close. Zero means DefaultGrace.
	Grace time.Duration
	// Stall is how long a viewer may acknowledge nothing before it no longer slows the program down. Zero means
	// StallLimit.
	Stall time.Duration
}

// Spec says what to start.
type Spec struct {
	ID   string   // unique among the live terminals of a Host; also the value of the MarkerName variable
	Argv []string // program and arguments; a program without a slash is looked up in the PATH of Env
	Dir  string   // working directory; must exist
	Env  []string // whole environment, NAME=value; nothing is inherited. Of a name set twice the last counts
	Size Size     // zero means DefaultSize; set before the program starts, so its first byte is drawn for it
	// Tap is called from the reader goroutine, in order, for every chunk that was read, before viewers see it. It must
	// not block and must not keep the slice. May be nil.
	Tap func(chunk []byte)
	// OnExit is called once, after Tap has seen the last byte and before Done is closed. It must not wait for Done and
	// not call End or Host.Close. May be nil.
	OnExit func(ExitStatus)
	// ScrollbackLines is the history of the screen; zero means DefaultLines, more than MaxLines means MaxLines.
	ScrollbackLines int
	// Start starts the program in the host's stead, on a pseudo-terminal of its own: in a cage. It gets the path that
	// Argv[0] was found at and this Spec with its defaults filled in. Nil: the program is a child of the app.
	Start func(path string, s Spec) (Started, error)
}

// Started is a program that a Spec's Start has started. The host owns all of it from there on.
type Started struct {
	PTY *os.File // non-blocking
	Pid int      // of the program as this process sees it; it leads a session
	// First is the process with which everything ends that Start has started, such as the first one of a cage; 0: Pid. It may
	// be stopped, or go on for another reason, when the program is gone already.
	First int
	// Wait returns when the program has ended and nothing that it started is left. It is called once. The cause of its
	// answer is CauseExit, CauseSignal or CauseLost.
	Wait func() ExitStatus
	// End ends the program and everything that it started, at once, and may be called any number of times.
	End func()
}

// Causes of an exit.
const (
	CauseExit   = "exit"   // the program returned; Code holds its status
	CauseSignal = "signal" // a signal ended it; Signal names it
	CauseEnded  = "ended"  // End or Close was asked for before it ended; Code and Signal say how it went
	CauseLost   = "lost"   // its status could not be read
)

// ExitStatus says how a program ended.
type ExitStatus struct {
	Code   int    // exit status; -1 when a signal ended it
	Signal string // "SIGKILL", ...; empty when it returned by itself
	Cause  string // one of the Cause constants; empty while it runs
}

// ScreenText is what a terminal shows, as text.
type ScreenText struct {
	Lines            []string // one per row, trailing blanks cut; untrusted text
	CursorX, CursorY int      // from zero
	Title            string   // untrusted text, at most MaxTitle bytes, without control characters
	AltScreen        bool
	BracketedPaste   bool // the program asked for pastes to be bracketed (DECSET 2004)
	CursorVisible    bool
	Size             Size
	Seq              uint64 // bytes that the screen has taken in
}

// Proc identifies a process beyond the reuse of its number.
type Proc struct {
	Pid   int
	Name  string // as the kernel tells it, cut to 15 bytes on Linux; empty when unknown
	Start uint64 // start time in clock ticks since boot on Linux, in microseconds since 1970 on macOS; 0 when unknown
}

// Remnant is what must be stored of a running terminal, so that its processes can be found after the app was killed.
type Remnant struct {
	ID             string // of the terminal
	Pid, Pgid, Sid int    // of its first process; equal, since every terminal is a session of its own
	Start          uint64 // as in Proc
	Boot           string // identity of this boot of the machine; empty when unknown
}

// FrameKind says what a Frame holds.
type FrameKind uint8

// Kinds of frames.
const (
	// FrameSnapshot redraws everything: Data starts with a full reset and holds no query.
	FrameSnapshot FrameKind = iota + 1
	// FrameReplay is output that was printed before this viewer was there. Mute is set on it.
	FrameReplay
	FrameOutput // live output
	FrameResize // the terminal has Size from here on
	FrameExit   // the last frame: the program ended with Exit
)

// String names the kind for logs and wire formats.
func (k FrameKind) String() string {
	switch k {
	case FrameSnapshot:
		return "snapshot"
	case FrameReplay:
		return "replay"
	case FrameOutput:
		return "output"
	case FrameResize:
		return "resize"
	case FrameExit:
		return "exit"
	}
	return "unknown"
}

// Frame is one step of what a viewer draws.
type Frame struct {
	Kind FrameKind
	Seq  uint64     // bytes printed up to the end of this frame; what to give to Ack once it is drawn
	Data []byte     // snapshot, replay and output; owned by the receiver
	Size Size       // snapshot and resize
	Exit ExitStatus // exit
	// Mute says that queries in Data are answered elsewhere: a viewer must discard what its emulator answers while it
	// parses this frame.
	Mute bool
}

// Pressure says what happens to a viewer that does not keep up.
type Pressure uint8

const (
	// PauseReader lets the program wait while this viewer has a full window: for the viewer that a person looks at.
	// After Options.Stall without an Ack the program runs on, and the viewer gets a snapshot once it has caught up.
	PauseReader Pressure = iota
	// Lag lets the program run and detaches this viewer, reason ReasonLagged, when it falls behind the ring.
	Lag
)

// AttachOptions say how a viewer joins.
type AttachOptions struct {
	// Since asks to go on after that Seq. When the ring no longer holds what follows, or the Seq was never reached, the
	// viewer starts with a snapshot. Nil: snapshot.
	Since *uint64
	// AnswersQueries says that the viewer is a full terminal emulator whose answers are written back. Of several such
	// viewers the first one answers; the frames of the others have Mute set.
	AnswersQueries bool
	// Window is the most unacknowledged bytes, bounded to 4 KiB ... HighWater; zero means as many as the viewer draws within
	// PaceTarget.
	Window   int
	Pressure Pressure
	// History asks for snapshots with all lines above the screen that fit into 1 MiB, instead of the newest thousand: for a viewer
	// that keeps them.
	History bool
	// Hidden attaches without bytes, as after Hide.
	Hidden bool
}

// Reasons of a detachment. A caller of Detach may use words of its own.
const (
	ReasonLagged = "lagged" // fell behind the ring
	ReasonExit   = "exit"   // the program ended and the exit frame was delivered
	ReasonClosed = "closed" // the terminal was forgotten or the host closed
)
