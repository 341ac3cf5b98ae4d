package ptyhost

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// forkExec starts a program on the terminal tty, as the leader of a new session. macOS has no table of descriptors per
// thread: what others left open is marked in the whole process right before the fork. A descriptor that another thread
// opens without CLOEXEC in between would be inherited.
func forkExec(path string, argv, env []string, dir string, tty int) (int, error) {
	if entries, err := os.ReadDir("/dev/fd"); err == nil {
		for _, e := range entries {
			if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
				syscall.CloseOnExec(fd)
			}
		}
	}
	fd := uintptr(tty)
	return syscall.ForkExec(path, argv, &syscall.ProcAttr{Dir: dir, Env: env, Files: []uintptr{fd, fd, fd},
		Sys: &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}})
}

// forked is a started program. It is awaited by a thread.
type forked struct{ pid int }

func newForked(pid int) *forked { return &forked{pid} }

func (f *forked) wait() ExitStatus {
	var ws unix.WaitStatus
	err := ignoreEINTR(func() error {
		_, err := unix.Wait4(f.pid, &ws, 0, nil)
		return err
	})
	switch {
	case err != nil:
		return ExitStatus{Code: -1, Cause: CauseLost}
	case ws.Signaled():
		return ExitStatus{Code: -1, Signal: unix.SignalName(ws.Signal()), Cause: CauseSignal}
	}
	return ExitStatus{Code: ws.ExitStatus(), Cause: CauseExit}
}

func (f *forked) release() {}
