package attack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Signals, one per probe, so that the judge can tell from the victim's pending set which of them arrived. The victim
// blocks them all.
const (
	SigKill   = 40
	SigThread = 41
	SigQueue  = 42
	SigPidfd  = 43
	SigIO     = 44
)

// procProbes try on processes outside.
func procProbes() map[string]probe {
	m := map[string]probe{
		"proc/environ":      procFile("environ"),
		"proc/cmdline":      procFile("cmdline"),
		"proc/environ-scan": scans("environ"),
		"proc/cmdline-scan": scans("cmdline"),
		"proc/maps":         func(g *Ground, _ string) (string, error) { return opensProc(g.foreign, g.Victim, "maps") },
		"proc/mem":          func(g *Ground, _ string) (string, error) { return readMemory(g, g.Victim) },
		"proc/fd":           procFile("fd/" + strconv.Itoa(VictimFD)),
		"proc/cwd":          procFile("cwd/secret"),
		"proc/exe":          func(g *Ground, _ string) (string, error) { return opensProc(g.foreign, g.Victim, "exe") },
		"proc/vm-readv":     func(g *Ground, _ string) (string, error) { return vmRead(g, g.Victim) },
		"proc/vm-writev":    func(g *Ground, _ string) (string, error) { return vmWrite(g, g.Victim) },
		"proc/ptrace":       func(g *Ground, _ string) (string, error) { return attach(g, g.Victim, unix.PTRACE_ATTACH) },
		"proc/ptrace-seize": func(g *Ground, _ string) (string, error) { return attach(g, g.Victim, unix.PTRACE_SEIZE) },
		"proc/pidfd-open":   procPidfdOpen,
		"proc/pidfd-getfd":  func(g *Ground, _ string) (string, error) { return pidfdGet(g, g.Victim, VictimFD) },
		"proc/kill":         victim(func(g *Ground) error { return unix.Kill(g.Victim, SigKill) }),
		"proc/tgkill":       victim(func(g *Ground) error { return unix.Tgkill(g.Victim, g.Victim, SigThread) }),
		"proc/sigqueue":     victim(func(g *Ground) error { return sigqueue(g.Victim, SigQueue) }),
		"proc/pidfd-signal": procPidfdSignal,
		"proc/sigio":        victim(func(g *Ground) error { return sigio(g.Victim) }),
		"proc/prlimit":      procPrlimit,
		"proc/setpriority":  doneTo(func(g *Ground) error { return unix.Setpriority(unix.PRIO_PROCESS, g.Victim, 5) }),
		"proc/affinity":     procAffinity,
		"proc/kcmp":         procKcmp,
		"proc/loginuid":     procNumbers,
		"env/secrets": func(*Ground, string) (string, error) {
			return strings.Join(os.Environ(), "\n"), nil
		},
		"ipc/shm": ipcShm,
		"ipc/msg": ipcMsg,
	}
	return m
}

// victim tries something whose effect only the judge sees.
func victim(f func(*Ground) error) probe {
	return func(g *Ground, _ string) (string, error) {
		if err := g.foreign(g.Victim); err != nil {
			return "", err
		}
		return "", f(g)
	}
}

// doneTo tries something whose success is the evidence.
func doneTo(f func(*Ground) error) probe {
	return func(g *Ground, name string) (string, error) {
		if _, err := victim(f)(g, name); err != nil {
			return "", err
		}
		return did("the call succeeded"), nil
	}
}

func procFile(rel string) probe {
	return func(g *Ground, _ string) (string, error) { return read(fmt.Sprintf("/proc/%d/%s", g.Victim, rel)) }
}

func scans(file string) probe {
	return func(*Ground, string) (string, error) {
		return anyProcess(func(pid int) (string, error) {
			got, err := read(fmt.Sprintf("/proc/%d/%s", pid, file))
			if i := strings.Index(got, EnvSecret); i >= 0 {
				return got[i:], nil
			}
			if i := strings.Index(got, VictimTag); i >= 0 {
				return got[i:], nil
			}
			return "", err
		})
	}
}

func opensProc(check func(int) error, pid int, file string) (string, error) {
	if err := check(pid); err != nil {
		return "", err
	}
	got, err := read(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil || got == "" {
		return "", errors.Join(err, errNot)
	}
	return did("read %d bytes of %s", len(got), file), nil
}

// environAt is where a process's environment lies in its memory. Zero when the kernel does not tell.
func environAt(pid int) uint64 {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	f := strings.Fields(rest)
	if len(f) < 48 {
		return 0
	}
	n, _ := strconv.ParseUint(f[47], 10, 64) // field 50, env_start
	return n
}

// guess is an address that a static program has mapped.
const guess = 0x400000

func readMemory(g *Ground, pid int) (string, error) {
	if err := g.foreign(pid); err != nil {
		return "", err
	}
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/mem", pid), unix.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	buf := make([]byte, 1024)
	at := environAt(pid)
	if at == 0 {
		at = guess
	}
	n, err := unix.Pread(fd, buf, int64(at))
	if err != nil || n == 0 {
		return "", errors.Join(err, errNot)
	}
	return did("read %d bytes: ", n) + string(buf[:n]), nil
}

func vmRead(g *Ground, pid int) (string, error) {
	if err := g.foreign(pid); err != nil {
		return "", err
	}
	buf := make([]byte, 1024)
	at := environAt(pid)
	if at == 0 {
		at = guess
	}
	local := []unix.Iovec{{Base: &buf[0], Len: uint64(len(buf))}}
	n, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: 512}}, 0)
	if err != nil {
		return reached(err, unix.EFAULT)
	}
	return did("read %d bytes", n), nil
}

func vmWrite(g *Ground, pid int) (string, error) {
	if err := g.foreign(pid); err != nil {
		return "", err
	}
	buf := []byte("T")
	at := environAt(pid)
	if at == 0 {
		at = guess
	}
	n, err := unix.ProcessVMWritev(pid, []unix.Iovec{{Base: &buf[0], Len: 1}}, []unix.RemoteIovec{{Base: uintptr(at), Len: 1}}, 0)
	if err != nil {
		return reached(err, unix.EFAULT)
	}
	return did("wrote %d bytes", n), nil
}

func attach(g *Ground, pid int, request uintptr) (string, error) {
	if err := g.foreign(pid); err != nil {
		return "", err
	}
	runtime.LockOSThread()
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, request, uintptr(pid), 0, 0, 0, 0)
	if errno != 0 {
		return "", errno
	}
	if request == unix.PTRACE_ATTACH {
		var ws unix.WaitStatus
		_, _ = unix.Wait4(pid, &ws, unix.WALL, nil)
		_ = unix.PtraceDetach(pid)
	}
	return did("attached"), nil // the end of this process lets go of the other
}

func procPidfdOpen(g *Ground, _ string) (string, error) {
	if err := g.foreign(g.Victim); err != nil {
		return "", err
	}
	_, err := unix.PidfdOpen(g.Victim, 0)
	return done(err)
}

func pidfdGet(g *Ground, pid, fd int) (string, error) {
	if err := g.foreign(pid); err != nil {
		return "", err
	}
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return "", err
	}
	got, err := unix.PidfdGetfd(pidfd, fd, 0)
	if err != nil {
		return reached(err, unix.EBADF)
	}
	buf := make([]byte, 200)
	n, _ := unix.Pread(got, buf, 0)
	return did("took a descriptor: ") + string(buf[:max(n, 0)]), nil
}

func procPidfdSignal(g *Ground, _ string) (string, error) {
	fd, err := unix.PidfdOpen(g.Victim, 0)
	if err != nil {
		return "", err
	}
	return "", unix.PidfdSendSignal(fd, unix.Signal(SigPidfd), nil, 0)
}

func sigqueue(pid, sig int) error {
	var info [128]byte
	binary.NativeEndian.PutUint32(info[0:], uint32(sig))
	binary.NativeEndian.PutUint32(info[8:], uint32(0xffffffff)) // SI_QUEUE
	_, _, errno := unix.Syscall(unix.SYS_RT_SIGQUEUEINFO, uintptr(pid), uintptr(sig), ptr(&info))
	return fromErrno(errno)
}

// sigio has the kernel signal the owner of a socket when something arrives on it.
func sigio(pid int) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	if _, err := unix.FcntlInt(uintptr(pair[0]), unix.F_SETOWN, pid); err != nil {
		return err
	}
	if _, err := unix.FcntlInt(uintptr(pair[0]), unix.F_SETSIG, SigIO); err != nil {
		return err
	}
	if _, err := unix.FcntlInt(uintptr(pair[0]), unix.F_SETFL, unix.O_ASYNC); err != nil {
		return err
	}
	_, err = unix.Write(pair[1], []byte("x"))
	return err
}

func procPrlimit(g *Ground, _ string) (string, error) {
	if err := g.foreign(g.Victim); err != nil {
		return "", err
	}
	var old unix.Rlimit
	return done(unix.Prlimit(g.Victim, unix.RLIMIT_CORE, nil, &old))
}

func procAffinity(g *Ground, _ string) (string, error) {
	if err := g.foreign(g.Victim); err != nil {
		return "", err
	}
	var set unix.CPUSet
	set.Set(0)
	return done(unix.SchedSetaffinity(g.Victim, &set))
}

func procKcmp(g *Ground, _ string) (string, error) {
	if err := g.foreign(g.Victim); err != nil {
		return "", err
	}
	_, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(os.Getpid()), uintptr(g.Victim), 1, 0, 0, 0)
	return done(fromErrno(errno))
}

// procNumbers tells whether the number of this process is the host's: NSpid then holds one number alone, and the
// victim's is known to the kernel.
func procNumbers(g *Ground, _ string) (string, error) {
	if err := g.foreign(g.Victim); err != nil {
		return "", err
	}
	pgid, err := unix.Getpgid(g.Victim)
	if err != nil {
		return "", err
	}
	return did("process %d is in group %d", g.Victim, pgid), nil
}

func ipcShm(g *Ground, _ string) (string, error) {
	id, _, errno := unix.Syscall(unix.SYS_SHMGET, uintptr(g.ShmKey), 0, 0)
	if errno != 0 {
		return "", errno
	}
	data, err := unix.SysvShmAttach(int(id), 0, unix.SHM_RDONLY)
	if err != nil {
		return "", err
	}
	return string(data[:min(len(data), 200)]), nil
}

func ipcMsg(g *Ground, _ string) (string, error) {
	id, _, errno := unix.Syscall(unix.SYS_MSGGET, uintptr(g.MsgKey), 0, 0)
	if errno != 0 {
		return "", errno
	}
	var msg struct {
		kind int64
		text [256]byte
	}
	n, _, errno := unix.Syscall6(unix.SYS_MSGRCV, id, uintptr(unsafe.Pointer(&msg)), 256, 0, unix.IPC_NOWAIT, 0)
	if errno != 0 {
		return "", errno
	}
	return string(msg.text[:n]), nil
}
