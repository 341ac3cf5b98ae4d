package inside

import (
	"errors"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"termic/sandbox/cage/wire"
)

// Descriptors that the parts hand to one another.
const (
	controlFD = 3
	ttyFD     = 4 // the terminal of the program, in the last part

	firstFreeFD = 10 // those below may be replaced when the last part is executed
)

// Exit codes of the helper. The program's own are told over the socket.
const (
	exitFailed = 125
	exitUsage  = 64
)

// Main runs the helper and does not return, if the arguments ask for it; otherwise it returns false at once. It is to be
// called before anything else.
func Main() bool {
	if len(os.Args) < 4 || os.Args[1] != Args[0] || os.Args[2] != Args[1] {
		return false
	}
	unix.Exit(part(os.Args[3])) // a program of its own from here on, whatever binary it was found in
	return true
}

// part runs one part and returns its exit code.
func part(name string) int {
	switch name {
	case partProbe:
		return 0
	case partWatchWrites, partWatchAll:
		runtime.LockOSThread()
		return watchOutside(name == partWatchAll)
	}
	runtime.LockOSThread() // capabilities, filters and rules are those of a thread until it executes something
	c := newSocket(controlFD)
	var err error
	switch name {
	case partEnter, partEnterFs:
		err = enter(c, name == partEnter)
	case partBuild:
		err = build(c)
	case partRun:
		err = run(c)
	default:
		return exitUsage
	}
	if err != nil {
		tell(c, err)
		return exitFailed
	}
	return 0
}

// tell sends why a part ended. Nobody is left to hear it if that fails.
func tell(c *socket, err error) {
	var f *wire.Failed
	if !errors.As(err, &f) {
		f = failed(wire.StepSpec, "", err)
	}
	_ = c.send(f)
}

// failed describes a step that could not be made.
func failed(step wire.Step, path string, err error) *wire.Failed {
	f := &wire.Failed{Step: step, Path: path, Text: err.Error()}
	var no syscall.Errno
	if errors.As(err, &no) {
		f.Errno = int(no)
	}
	var v *wire.VersionError
	if errors.As(err, &v) {
		f.Step = wire.StepVersion
	}
	return f
}

// enter waits for the first byte of the app's request, which comes when this process is where its limits hold, and starts
// the next part in new namespaces. That part is made a child of the app and not of this process, which then ends: a
// small program forks faster than a large one, and a security module can know it by its path.
func enter(c *socket, net bool) error {
	if err := unix.CloseRange(controlFD+1, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return failed(wire.StepClone, "", err)
	}
	if err := c.await(); err != nil {
		return failed(wire.StepClone, "", err)
	}
	flags := uintptr(unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_PARENT)
	if net {
		flags |= unix.CLONE_NEWNET
	}
	uid, gid := os.Getuid(), os.Getgid()
	pid, err := syscall.ForkExec("/proc/self/exe", []string{os.Args[0], Args[0], Args[1], partBuild}, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{0, 1, 2, controlFD},
		Sys: &syscall.SysProcAttr{
			Cloneflags:  flags,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
			// Another user than root loses its capabilities at an execution unless they are ambient.
			AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_SYS_RESOURCE, unix.CAP_DAC_OVERRIDE},
			Setsid:      true,
		},
	})
	if err != nil {
		return failed(wire.StepClone, "", err)
	}
	return c.send(&wire.Entered{Pid: pid})
}
