//go:build linux || darwin

package ptyhost

import (
	"errors"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// startChild opens a pseudo-terminal of the right size and starts the program on it.
func startChild(path string, spec Spec) (*os.File, child, int, error) {
	ptmx, tty, err := openPTY(spec.Size)
	if err != nil {
		return nil, nil, 0, err
	}
	defer tty.Close()
	pid, err := forkExec(path, spec.Argv, spec.Env, spec.Dir, int(tty.Fd()))
	if err != nil {
		_ = ptmx.Close()
		return nil, nil, 0, err
	}
	return ptmx, newForked(pid), pid, nil
}

// openPTY opens both ends. The one that stays with us is non-blocking, so that its readers and writers cost no thread and
// obey deadlines.
func openPTY(size Size) (ptmx, tty *os.File, err error) {
	first, tty, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer first.Close()
	defer func() {
		if err != nil {
			_ = tty.Close()
		}
	}()
	prepareTTY(int(tty.Fd()))
	fd, err := unix.FcntlInt(first.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, nil, os.NewSyscallError("dup", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, nil, os.NewSyscallError("fcntl", err)
	}
	ptmx = os.NewFile(uintptr(fd), "ptmx")
	if err := setSize(ptmx, size); err != nil {
		_ = ptmx.Close()
		return nil, nil, err
	}
	return ptmx, tty, nil
}

func setSize(ptmx *os.File, s Size) error {
	return control(ptmx, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: s.Rows, Col: s.Cols})
	})
}

// foregroundGroup returns the process group that reads from the terminal.
func foregroundGroup(ptmx *os.File) (pgid int, err error) {
	err = control(ptmx, func(fd int) (err error) {
		pgid, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err
	})
	if err == nil && pgid <= 0 {
		err = errors.New("terminal has no foreground process group")
	}
	return pgid, err
}

// control runs f on the descriptor without making it blocking, as File.Fd would.
func control(f *os.File, fn func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := conn.Control(func(fd uintptr) { inner = fn(int(fd)) }); err != nil {
		return err
	}
	return inner
}

func ignoreEINTR(f func() error) error {
	for {
		if err := f(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
