//go:build unix

package cli

import (
	"errors"
	"io"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// tty is the person's terminal. A read of it can be ended by wake, which a plain read of standard input cannot.
type tty struct {
	in, out      *os.File
	wakeR, wakeW *os.File
}

func newTTY(in, out *os.File) (*tty, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &tty{in: in, out: out, wakeR: r, wakeW: w}, nil
}

// read waits for keys, or for wake.
func (t *tty) read(buf []byte) (int, error) {
	fds := []unix.PollFd{{Fd: int32(t.in.Fd()), Events: unix.POLLIN}, {Fd: int32(t.wakeR.Fd()), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, -1)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, err
		case fds[1].Revents != 0:
			return 0, errWoken
		}
		n, err := unix.Read(int(t.in.Fd()), buf)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			continue
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// wake ends the read under way and every later one.
func (t *tty) wake() error { return t.wakeW.Close() }

// close releases what newTTY took; the terminal itself stays open.
func (t *tty) close() {
	_ = t.wakeW.Close() // closed by wake already, unless nothing was read
	_ = t.wakeR.Close() // nothing was written to it
}

// sizeChanges tells when the terminal may have another size, until stop.
func sizeChanges() (changed <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, unix.SIGWINCH)
	return c, func() { signal.Stop(c) }
}
