package attack

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nsProbes make and enter namespaces.
func nsProbes() map[string]probe {
	return map[string]probe{
		"ns/unshare-user":   unshares(unix.CLONE_NEWUSER),
		"ns/unshare-mount":  unshares(unix.CLONE_NEWNS),
		"ns/unshare-net":    unshares(unix.CLONE_NEWNET),
		"ns/unshare-pid":    unshares(unix.CLONE_NEWPID),
		"ns/unshare-ipc":    unshares(unix.CLONE_NEWIPC),
		"ns/unshare-uts":    unshares(unix.CLONE_NEWUTS),
		"ns/unshare-cgroup": unshares(unix.CLONE_NEWCGROUP),
		"ns/unshare-time":   unshares(unix.CLONE_NEWTIME),
		"ns/clone-user": func(*Ground, string) (string, error) {
			return spawn(&syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER})
		},
		"ns/clone3-user": nsClone3,
		"ns/setns-net": func(g *Ground, _ string) (string, error) {
			return enter(g, fmt.Sprintf("/proc/%d/ns/net", g.Victim), unix.CLONE_NEWNET)
		},
		"ns/setns-mnt": func(g *Ground, _ string) (string, error) {
			return enter(g, fmt.Sprintf("/proc/%d/ns/mnt", g.Victim), unix.CLONE_NEWNS)
		},
		"ns/setns-pidfd": nsPidfd,
		"ns/setns-init": func(g *Ground, _ string) (string, error) {
			return enter(g, fmt.Sprintf("/proc/%d/ns/net", g.PidOne), unix.CLONE_NEWNET)
		},
		"ns/raise-limit": func(*Ground, string) (string, error) {
			return openOnly("/proc/sys/user/max_user_namespaces", unix.O_WRONLY)
		},
	}
}

// unshares makes a namespace, directly and inside a user namespace.
func unshares(flag uintptr) probe {
	return func(*Ground, string) (string, error) {
		return first(
			func() (string, error) { return unshared(flag) },
			func() (string, error) { return unshared(flag | unix.CLONE_NEWUSER) },
		)
	}
}

// unshared starts a program that needs no threads: after a process namespace was unshared, none can be made.
func unshared(flags uintptr) (string, error) {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: flags}
	return done(cmd.Run())
}

// spawn starts this program with attributes and tells that it ran.
func spawn(attr *syscall.SysProcAttr) (string, error) {
	cmd := exec.Command(self())
	cmd.Env = append(os.Environ(), EnvRole+"=ok")
	cmd.SysProcAttr = attr
	data, err := cmd.Output()
	return string(data), err
}

func nsClone3(*Ground, string) (string, error) {
	args := struct{ flags, pidfd, childTID, parentTID, exitSignal, stack, stackSize, tls uint64 }{
		flags: unix.CLONE_NEWUSER, exitSignal: uint64(unix.SIGCHLD),
	}
	pid, _, errno := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
	if errno != 0 {
		return "", errno
	}
	if pid == 0 {
		for {
			unix.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
		}
	}
	var ws unix.WaitStatus
	_, _ = unix.Wait4(int(pid), &ws, 0, nil)
	return did("cloned"), nil
}

// enter joins a namespace on a thread that shares nothing with others and is thrown away.
func enter(g *Ground, path string, kind int) (string, error) {
	if err := g.foreign(g.Victim); err != nil {
		return "", err
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	return setns(fd, kind)
}

func setns(fd, kind int) (string, error) {
	runtime.LockOSThread()
	_ = unix.Unshare(unix.CLONE_FS)
	return done(unix.Setns(fd, kind))
}

func nsPidfd(g *Ground, _ string) (string, error) {
	if err := g.foreign(g.Victim); err != nil {
		return "", err
	}
	fd, err := unix.PidfdOpen(g.Victim, 0)
	if err != nil {
		return "", err
	}
	return setns(fd, unix.CLONE_NEWNET|unix.CLONE_NEWUTS)
}

// inNamespace runs the inner part of a probe where it may do as it likes: in namespaces of its own when they can be
// had, which is what an attacker would do and what keeps the machine whole, and otherwise right here.
func inNamespace(g *Ground, name string) (string, error) {
	attr := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID}
	if os.Getuid() != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	cmd := exec.Command(self())
	cmd.Env = append(os.Environ(), EnvRole+"=inner", EnvProbe+"="+name)
	cmd.SysProcAttr = attr
	if data, err := cmd.Output(); err == nil {
		for line := range strings.Lines(string(data)) {
			if r, ok := ParseReport(line); ok {
				return r.Got, errors.New("in a namespace: " + r.Err)
			}
		}
	}
	return inners()[name](g, name, false)
}

// inner is the role of the process that inNamespace starts.
func inner(g *Ground, name string) {
	_ = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	got, err := inners()[name](g, name, true)
	r := Report{Name: name, Got: got}
	if err != nil {
		r.Err = err.Error()
	}
	printReport(os.Stdout, r)
}
