package inside

import (
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"termic/sandbox/cage/wire"
)

// build is the second part: the first process of the new namespaces, with all capabilities in them and in nothing else.
func build(c *socket) error {
	m, _, err := c.receiver.Receive()
	if err != nil {
		return failed(wire.StepSpec, "", err)
	}
	s, ok := m.(*wire.Setup)
	if !ok {
		return failed(wire.StepSpec, "", fmt.Errorf("expected a setup, got %T", m))
	}
	if err := checkSetup(s); err != nil {
		return err
	}
	if s.PidMax > 0 && !PidMaxIsOurs() {
		s.PidMax = 0
	}
	self, err := openSelf()
	if err != nil {
		return failed(wire.StepSelfExec, "", err)
	}
	umask := unix.Umask(0o022)
	// A keyring of its own, so that not even the id of the user's is known here.
	_, _ = unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0)

	var fds []int
	if s.Net {
		if err := loopback(); err != nil {
			return err
		}
		if fds, err = listen(s.Ports); err != nil {
			return err
		}
	}
	b, err := buildRoot(s)
	if err != nil {
		return err
	}
	tty := -1
	if s.Terminal {
		master, slave, err := openTerminal(s.Cols, s.Rows)
		if err != nil {
			return err
		}
		fds, tty = append(fds, master), slave
	}
	if err := bound(s); err != nil {
		return err
	}
	built := &wire.Built{PidMax: s.PidMax > 0}
	var watch int
	if built.Landlock, watch, err = wall(b, self); err != nil {
		return err
	}
	if watch >= 0 {
		fds, built.Watched = append(fds, watch), true
	}
	if err := c.send(built, fds...); err != nil {
		return err
	}
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
	unix.Umask(umask)
	return again(c, s, self, tty)
}

// openSelf opens the helper's own program, out of the way of the descriptors that have fixed numbers.
func openSelf() (int, error) {
	fd, err := unix.Open("/proc/self/exe", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fd)
	return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, firstFreeFD)
}

// wall gives up everything, in the order in which each step still may be made. watch is the listener of a watch, or -1: a
// machine that has none still has a cage.
func wall(b *builder, self int) (abi, watch int, err error) {
	if err := dropCapabilities(); err != nil {
		return 0, -1, err
	}
	if !weakened(b.s, wire.WeakLandlock) {
		if abi, err = restrictFiles(b, self, os.Getuid() == 0); err != nil {
			return 0, -1, err
		}
	}
	watch = -1
	if b.s.Watch != wire.WatchNothing {
		if fd, err := installWatch(b.s.Watch == wire.WatchAll); err == nil {
			watch = fd
		}
	}
	if !weakened(b.s, wire.WeakSeccomp) {
		if err := installFilter(filter()); err != nil {
			return 0, -1, failed(wire.StepSeccomp, "", err)
		}
	}
	return abi, watch, nil
}

// noCore is the limit with which the kernel makes no core of a program that crashes. Many systems hand cores to a program of
// theirs that runs as root outside, on bytes of the crashed program's choice. A limit of 0 does not keep the kernel from
// that, and 1 byte does (core(5): fs/coredump.c takes it for a wish to have none). Where the limit was 0 before, nobody
// without privileges can raise it, and it stays.
const noCore = 1

// bound sets the limits of each process, for this one and all that come from it.
func bound(s *wire.Setup) error {
	for _, l := range []struct {
		resource int
		value    int64
	}{{unix.RLIMIT_NPROC, s.NumProcs}, {unix.RLIMIT_DATA, s.Data}, {unix.RLIMIT_NOFILE, s.OpenFiles}, {unix.RLIMIT_CORE, noCore}} {
		if l.value <= 0 {
			continue
		}
		var now unix.Rlimit
		if err := unix.Getrlimit(l.resource, &now); err != nil {
			return failed(wire.StepSpec, "", err)
		}
		value := min(uint64(l.value), now.Max)
		// Through syscall: it is to know that this is wanted, and not to restore what was there before at an execution.
		if err := syscall.Setrlimit(l.resource, &syscall.Rlimit{Cur: value, Max: value}); err != nil {
			return failed(wire.StepSpec, "", err)
		}
	}
	return nil
}

// again executes this program once more. Only the thread that calls it is behind the walls; the execution ends all others,
// and every thread that comes after inherits from this one. Without it a debugger in the cage would reach threads of the
// first process that hold every capability.
func again(c *socket, s *wire.Setup, self, tty int) error {
	if tty >= 0 {
		if tty == ttyFD {
			_, err := unix.FcntlInt(ttyFD, unix.F_SETFD, 0)
			if err != nil {
				return failed(wire.StepSelfExec, "", err)
			}
		} else if err := unix.Dup3(tty, ttyFD, 0); err != nil {
			return failed(wire.StepSelfExec, "", err)
		}
	} else {
		_ = unix.Close(ttyFD)
	}
	if weakened(s, wire.WeakSelfExec) {
		return run(c)
	}
	if _, err := unix.FcntlInt(controlFD, unix.F_SETFD, 0); err != nil {
		return failed(wire.StepSelfExec, "", err)
	}
	// By its descriptor, since its path is not in the new root. syscall.Exec waits for threads that are being made, and gives
	// back the soft limit of open files that the runtime raised.
	err := syscall.Exec("/proc/self/fd/"+strconv.Itoa(self), []string{os.Args[0], Args[0], Args[1], partRun}, os.Environ())
	return failed(wire.StepSelfExec, "", err)
}
