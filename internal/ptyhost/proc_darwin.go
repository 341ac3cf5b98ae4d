package ptyhost

import (
	"bytes"
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// This file is the macOS half of process look-up. macOS has no pidfd: between a look at a process and a signal to it its
// number could change hands, within microseconds; its start time is compared right before.

// prepareTTY makes erasing in line mode work on characters instead of bytes.
func prepareTTY(fd int) {
	if t, err := unix.IoctlGetTermios(fd, unix.TIOCGETA); err == nil {
		t.Iflag |= unix.IUTF8
		_ = unix.IoctlSetTermios(fd, unix.TIOCSETA, t)
	}
}

func fromKinfo(k *unix.KinfoProc) process {
	const zombie = 5 // SZOMB
	pid := int(k.Proc.P_pid)
	sid, err := unix.Getsid(pid)
	if err != nil {
		sid = 0
	}
	start := k.Proc.P_starttime
	return process{pid: pid, name: unix.ByteSliceToString(k.Proc.P_comm[:]), dead: k.Proc.P_stat == zombie,
		ppid: int(k.Eproc.Ppid), pgid: int(k.Eproc.Pgid), sid: sid,
		start: uint64(start.Sec)*1e6 + uint64(start.Usec)}
}

// readProcess tells about one process.
func readProcess(pid int) (process, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return process{}, false
	}
	return fromKinfo(k), true
}

// listProcesses tells about all processes of this user.
func listProcesses() ([]process, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Geteuid())
	if err != nil {
		return nil, err
	}
	out := make([]process, 0, len(list))
	for i := range list {
		out = append(out, fromKinfo(&list[i]))
	}
	return out, nil
}

// environment returns the variables that a process of this user was started with. kern.procargs2 holds the number of
// arguments, the path, padding, the arguments and the variables.
func environment(pid int) ([]string, bool) {
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(raw) < 4 {
		return nil, false
	}
	argc := int(binary.NativeEndian.Uint32(raw))
	_, rest, ok := bytes.Cut(raw[4:], []byte{0})
	if !ok {
		return nil, false
	}
	parts := strings.Split(strings.TrimLeft(string(rest), "\x00"), "\x00")
	if argc < 0 || argc > len(parts) {
		return nil, false
	}
	return parts[argc:], true
}

// ignores cannot be told cheaply on macOS: a shell that ignores TERM is ended by KILL after the grace, so that an agent
// that saves its work on TERM is not hung up meanwhile.
func ignores(int) (term, hup bool) { return false, false }

// bootID identifies this boot of the machine.
func bootID() string {
	t, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return ""
	}
	return strconv.FormatInt(t.Sec, 10)
}

// handle signals one process.
type handle struct{ process }

func openProcess(p process) (handle, bool) {
	now, ok := readProcess(p.pid)
	return handle{p}, ok && now.start == p.start
}

func (h handle) signal(s syscall.Signal) {
	if now, ok := readProcess(h.pid); ok && now.start == h.start {
		_ = unix.Kill(h.pid, s)
	}
}

func (h handle) close() {}
