package cli

import (
	"errors"
	"os"

	"golang.org/x/term"

	"termic/internal/fault"
)

// errWoken ends a read that wake interrupted.
var errWoken = errors.New("woken")

// isTerminal reports whether a standard stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// openTTY takes the terminal that both standard streams must be.
func openTTY(in, out any) (*tty, error) {
	if !isTerminal(in) || !isTerminal(out) {
		return nil, fault.New(fault.Unsupported, "attach joins two terminals, and this is not one").
			WithHint("`termic logs` prints output, and `termic send` delivers a prompt.")
	}
	return newTTY(in.(*os.File), out.(*os.File))
}

// raw passes every key on, Ctrl-C as well, until the returned function puts the terminal back.
func (t *tty) raw() (restore func() error, err error) {
	fd := int(t.in.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return nil, err
	}
	return func() error { return term.Restore(fd, before) }, nil
}

// size tells the cells of the terminal; 0 when it has no size.
func (t *tty) size() (cols, rows uint16) {
	w, h, err := term.GetSize(int(t.out.Fd()))
	if err != nil || w <= 0 || h <= 0 || w > 0xffff || h > 0xffff {
		return 0, 0
	}
	return uint16(w), uint16(h)
}
