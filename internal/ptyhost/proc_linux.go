package ptyhost

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// prepareTTY makes erasing in line mode work on characters instead of bytes.
func prepareTTY(fd int) {
	if t, err := unix.IoctlGetTermios(fd, unix.TCGETS); err == nil {
		t.Iflag |= unix.IUTF8
		_ = unix.IoctlSetTermios(fd, unix.TCSETS, t)
	}
}

// exitStatus reads a siginfo of SIGCHLD. The fields behind the first three are a union that x/sys does not name: pid, uid
// and status, 32 bits each, begin at byte 16 on 64-bit machines and at byte 12 on others.
func exitStatus(info *unix.Siginfo) ExitStatus {
	const exited = 1 // CLD_EXITED
	if info.Signo == 0 {
		return ExitStatus{Code: -1, Cause: CauseLost}
	}
	offset := uintptr(12)
	if unsafe.Sizeof(uintptr(0)) == 8 {
		offset = 16
	}
	status := *(*int32)(unsafe.Add(unsafe.Pointer(info), offset+8))
	if info.Code == exited {
		return ExitStatus{Code: int(status), Cause: CauseExit}
	}
	return ExitStatus{Code: -1, Signal: unix.SignalName(syscall.Signal(status)), Cause: CauseSignal}
}

// readProcess tells about one process.
func readProcess(pid int) (process, bool) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	// The name stands in parentheses and may hold any byte: the last parenthesis ends it.
	open, end := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	if open < 0 || end < open {
		return process{}, false
	}
	fields := strings.Fields(string(raw[end+1:]))
	if len(fields) < 20 {
		return process{}, false
	}
	num := func(i int) int { n, _ := strconv.Atoi(fields[i]); return n }
	start, err := strconv.ParseUint(fields[19], 10, 64)
	// A program whose first thread has ended while others run looks like a zombie, too; the number of threads tells.
	dead := fields[0] == "X" || fields[0] == "Z" && num(17) <= 1
	return process{pid: pid, name: string(raw[open+1 : end]), dead: dead,
		ppid: num(1), pgid: num(2), sid: num(3), start: start}, err == nil
}

// listProcesses tells about all processes that can be seen.
func listProcesses() ([]process, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	out := make([]process, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := readProcess(pid); ok {
				out = append(out, p)
			}
		}
	}
	return out, nil
}

// environment returns the variables that a process of this user was started with.
func environment(pid int) ([]string, bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	info, err := os.Stat(dir)
	if err != nil {
		return nil, false
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return nil, false
	}
	raw, err := os.ReadFile(dir + "/environ")
	if err != nil || len(raw) == 0 {
		raw, err = threadEnvironment(dir + "/task")
	}
	if err != nil {
		return nil, false
	}
	return strings.Split(string(raw), "\x00"), true
}

// threadEnvironment reads the environment by another thread than the first, which may have ended: it shows none then.
func threadEnvironment(dir string) ([]byte, error) {
	threads, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, thread := range threads {
		if raw, err := os.ReadFile(dir + "/" + thread.Name() + "/environ"); err == nil && len(raw) > 0 {
			return raw, nil
		}
	}
	return nil, nil
}

// ignores reports which of TERM and HUP a process ignores: an interactive shell ignores TERM.
func ignores(pid int) (term, hup bool) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return false, false
	}
	_, rest, ok := strings.Cut(string(raw), "\nSigIgn:")
	if !ok {
		return false, false
	}
	line, _, _ := strings.Cut(rest, "\n")
	mask, err := strconv.ParseUint(strings.TrimSpace(line), 16, 64)
	if err != nil {
		return false, false
	}
	bit := func(s syscall.Signal) bool { return mask>>(s-1)&1 != 0 }
	return bit(syscall.SIGTERM), bit(syscall.SIGHUP)
}

// bootID identifies this boot of the machine.
func bootID() string {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// handle signals one process, and never another one that got its number later.
type handle struct {
	pid   int
	pidfd int // -1 when the kernel has none
}

func openProcess(p process) (handle, bool) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err == unix.ESRCH {
		return handle{}, false
	}
	if err != nil {
		fd = -1
	}
	h := handle{pid: p.pid, pidfd: fd}
	// The number may have changed hands before the pidfd was opened; it cannot afterwards.
	if now, ok := readProcess(p.pid); !ok || now.start != p.start {
		h.close()
		return handle{}, false
	}
	return h, true
}

func (h handle) signal(s syscall.Signal) {
	if h.pidfd >= 0 {
		_ = unix.PidfdSendSignal(h.pidfd, s, nil, 0)
		return
	}
	_ = unix.Kill(h.pid, s)
}

func (h handle) close() {
	if h.pidfd >= 0 {
		_ = unix.Close(h.pidfd)
	}
}
