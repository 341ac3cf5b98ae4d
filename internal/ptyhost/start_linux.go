package ptyhost

import (
	"math"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// forkExec starts a program on the terminal tty, as the leader of a new session, with descriptors 0, 1 and 2 alone.
//
// What others leave open without CLOEXEC (a C library, a toolkit) must not reach the child, and marking it in the whole
// process could take it away from a child that somebody else is starting. So the fork happens on a thread with a table
// of descriptors of its own, in which everything is marked. The thread ends with its goroutine, and its table with it.
func forkExec(path string, argv, env []string, dir string, tty int) (pid int, err error) {
	type result struct {
		pid int
		err error
	}
	out := make(chan result, 1)
	go func() {
		runtime.LockOSThread() // not unlocked: a thread that is locked at the end of its goroutine ends too
		if unix.Gettid() == unix.Getpid() {
			// The main thread never ends, so its table must stay the common one. While it is held here, the fork runs
			// on another.
			pid, err := forkExec(path, argv, env, dir, tty)
			runtime.UnlockOSThread()
			out <- result{pid, err}
			return
		}
		pid, err := forkExecAlone(path, argv, env, dir, tty)
		out <- result{pid, err}
	}()
	r := <-out
	return r.pid, r.err
}

// forkExecAlone is forkExec on a thread that is about to end.
func forkExecAlone(path string, argv, env []string, dir string, tty int) (int, error) {
	if err := unix.Unshare(unix.CLONE_FILES); err != nil {
		return 0, os.NewSyscallError("unshare", err)
	}
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		if err := markOneByOne(); err != nil { // before Linux 5.11
			return 0, err
		}
	}
	fd := uintptr(tty)
	return syscall.ForkExec(path, argv, &syscall.ProcAttr{Dir: dir, Env: env, Files: []uintptr{fd, fd, fd},
		Sys: &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}})
}

// markOneByOne sets CLOEXEC on every descriptor of this thread above 2.
func markOneByOne() error {
	entries, err := os.ReadDir("/proc/thread-self/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
	return nil
}

// forked is a started program. It is awaited through a pidfd, which costs no thread.
type forked struct {
	pid   int
	pidfd *os.File // nil when the kernel has none
}

func newForked(pid int) *forked {
	f := &forked{pid: pid}
	if fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK); err == nil {
		f.pidfd = os.NewFile(uintptr(fd), "pidfd")
	}
	return f
}

// wait returns when the program ended. It stays a zombie until release, so that its number is not given to another
// process while its session is rounded up.
func (f *forked) wait() ExitStatus {
	var info unix.Siginfo
	options := unix.WEXITED | unix.WNOWAIT
	if f.pidfd != nil {
		if conn, err := f.pidfd.SyscallConn(); err == nil {
			_ = conn.Read(func(uintptr) bool {
				info = unix.Siginfo{}
				err := ignoreEINTR(func() error { return unix.Waitid(unix.P_PID, f.pid, &info, options|unix.WNOHANG, nil) })
				return err != nil || info.Signo != 0
			})
		}
	}
	if info.Signo == 0 {
		_ = ignoreEINTR(func() error { return unix.Waitid(unix.P_PID, f.pid, &info, options, nil) })
	}
	return exitStatus(&info)
}

// release lets go of the process id.
func (f *forked) release() {
	_ = ignoreEINTR(func() error {
		_, err := unix.Wait4(f.pid, nil, 0, nil)
		return err
	})
	if f.pidfd != nil {
		_ = f.pidfd.Close()
	}
}
