package agent

import "context"

// Terminal is one running program behind a PTY. A respawn is another Terminal: nothing here ever writes to a
// successor.
type Terminal interface {
	// ID is unique among all terminals of this run of the app.
	ID() string
	// Write hands p to the program's input, all of it, in order, or returns an error. It may block until the program
	// reads; ctx ends the wait.
	Write(ctx context.Context, p []byte) error
	// Screen returns what a person would see now. It may be called from any goroutine.
	Screen() Screen
	// Done is closed when the program has exited.
	Done() <-chan struct{}
}

// Foregrounder may be implemented by a Terminal that can tell which process group owns its input. A change between the
// text and its Enter stops the Enter. Zero means unknown.
type Foregrounder interface{ Foreground() int }

// LineReader may be implemented by a Terminal that can tell whether its program reads whole lines from the driver
// (canonical mode). Several lines cannot be brought to such a program as one prompt.
type LineReader interface {
	ReadsLines() (lines, known bool)
}

// Screen is what a person would see: the visible rows, top to bottom, without attributes.
type Screen struct {
	Lines            []string // trailing blanks may be cut
	CursorX, CursorY int      // from 0
	Title            string   // as sent; untrusted
	AltScreen        bool
	BracketedPaste   bool // DECSET 2004 is on
	CursorVisible    bool
}
