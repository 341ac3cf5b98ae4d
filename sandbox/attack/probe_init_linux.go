package attack

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// initProbes try on the cage's own first process: whoever owns it owns the cage.
func initProbes() map[string]probe {
	return map[string]probe{
		"init/environ": func(g *Ground, _ string) (string, error) { return opensProc(g.foreign, g.PidOne, "environ") },
		"init/maps":    func(g *Ground, _ string) (string, error) { return opensProc(g.foreign, g.PidOne, "maps") },
		"init/mem":     func(g *Ground, _ string) (string, error) { return readMemory(g, g.PidOne) },
		"init/fd":      initFD,
		"init/vm-readv": func(g *Ground, _ string) (string, error) {
			return vmRead(g, g.PidOne)
		},
		"init/vm-writev":    func(g *Ground, _ string) (string, error) { return vmWrite(g, g.PidOne) },
		"init/ptrace":       func(g *Ground, _ string) (string, error) { return initThreads(g, unix.PTRACE_ATTACH) },
		"init/ptrace-seize": func(g *Ground, _ string) (string, error) { return initThreads(g, unix.PTRACE_SEIZE) },
		"init/pidfd-getfd":  initPidfd,
		"init/kill":         initKill,
	}
}

// initThreads attaches to any thread of it: in a program of many threads one may be locked less than the others.
func initThreads(g *Ground, request uintptr) (string, error) {
	if err := g.foreign(g.PidOne); err != nil {
		return "", err
	}
	tids := []int{g.PidOne}
	if entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", g.PidOne)); err == nil {
		for _, e := range entries {
			var tid int
			if _, err := fmt.Sscan(e.Name(), &tid); err == nil && tid != g.PidOne {
				tids = append(tids, tid)
			}
		}
	}
	err := errNot
	for _, tid := range tids {
		_, _, errno := unix.Syscall6(unix.SYS_PTRACE, request, uintptr(tid), 0, 0, 0, 0)
		if errno == 0 {
			return did("attached to thread %d", tid), nil
		}
		err = errno
	}
	return "", err
}

func initFD(g *Ground, _ string) (string, error) {
	err := errNot
	for fd := range 12 {
		var target string
		if target, err = os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", g.PidOne, fd)); err == nil {
			return did("descriptor %d is %s", fd, target), nil
		}
	}
	return "", err
}

func initPidfd(g *Ground, _ string) (string, error) {
	err := errNot
	for fd := range 12 {
		var got string
		if got, err = pidfdGet(g, g.PidOne, fd); err == nil && strings.Contains(got, "took") {
			return got, nil
		}
	}
	return "", err
}

func initKill(g *Ground, _ string) (string, error) {
	if err := unix.Kill(g.PidOne, unix.SIGKILL); err != nil {
		return "", err
	}
	for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", g.PidOne))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return did("it is gone"), nil
		}
	}
	return "", errors.New("it lives on")
}
