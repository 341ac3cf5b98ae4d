package attack

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// callProbes try what only an administrator may do. Each call is made so that it would do nothing even if it were
// allowed: with a wrong magic number, a file that is not there, or the value that holds already.
func callProbes() map[string]probe {
	writable := func(paths ...string) probe { return openAny(unix.O_WRONLY, paths...) }
	return map[string]probe{
		"kernel/clock": func(*Ground, string) (string, error) {
			_, err := unix.Adjtimex(&unix.Timex{Modes: 0x100}) // shift the clock by nothing
			return done(err)
		},
		"kernel/iopl": func(*Ground, string) (string, error) {
			if runtime.GOARCH != "amd64" {
				return "", errNot
			}
			runtime.LockOSThread()
			return done(rawCall(172, 3, 0, 0))
		},
		"kernel/reboot": func(*Ground, string) (string, error) {
			return reached(rawCall(unix.SYS_REBOOT, 0, 0, 0), unix.EINVAL)
		},
		"kernel/kexec": func(*Ground, string) (string, error) {
			_, _, errno := unix.Syscall6(unix.SYS_KEXEC_LOAD, 0, 1000, 0, 0, 0, 0)
			return reached(fromErrno(errno), unix.EINVAL)
		},
		"kernel/module": func(*Ground, string) (string, error) {
			return first(
				func() (string, error) {
					return reached(unix.InitModule([]byte("x"), ""), unix.ENOEXEC, unix.EINVAL)
				},
				func() (string, error) {
					return reached(unix.FinitModule(-1, "", 0), unix.EBADF, unix.EINVAL)
				},
				func() (string, error) {
					return reached(unix.DeleteModule("termic_attack_none", unix.O_NONBLOCK), unix.ENOENT)
				})
		},
		"kernel/swapon": func(*Ground, string) (string, error) {
			path := []byte("/termic-attack-none\x00")
			return reached(rawCall(unix.SYS_SWAPON, ptr(&path[0]), 0, 0), unix.ENOENT)
		},
		"kernel/acct": func(*Ground, string) (string, error) {
			return reached(unix.Acct("/termic-attack-none"), unix.ENOENT)
		},
		"kernel/quotactl": func(*Ground, string) (string, error) {
			const syncAll = 0x800001 << 8
			_, _, errno := unix.Syscall6(unix.SYS_QUOTACTL, syncAll, 0, 0, 0, 0, 0)
			return done(fromErrno(errno))
		},
		"kernel/core-pattern":  writable("/proc/sys/kernel/core_pattern"),
		"kernel/sysrq":         writable("/proc/sysrq-trigger"),
		"kernel/sysctl-vm":     writable("/proc/sys/vm/overcommit_memory", "/proc/sys/kernel/panic"),
		"kernel/modprobe-path": writable("/proc/sys/kernel/modprobe"),
		"kernel/uevent-helper": writable("/sys/kernel/uevent_helper"),
		"kernel/oom-score": func(*Ground, string) (string, error) {
			return done(os.WriteFile("/proc/self/oom_score_adj", []byte("-900"), 0))
		},
		"kernel/realtime": func(*Ground, string) (string, error) {
			runtime.LockOSThread()
			prio := int32(1)
			return done(rawCall(unix.SYS_SCHED_SETSCHEDULER, 0, 1, ptr(&prio)))
		},
	}
}

// deviceProbes open devices. None of them is written.
func deviceProbes() map[string]probe {
	return map[string]probe{
		"device/mknod": func(g *Ground, name string) (string, error) {
			if err := unix.Mknod(g.In(name), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 8))); err != nil {
				return "", err
			}
			return openOnly(g.In(name), unix.O_RDONLY)
		},
		"device/mknod-disk": deviceMakeDisk,
		"device/disk": func(*Ground, string) (string, error) {
			name, _, err := disk()
			if err != nil {
				return "", err
			}
			return openOnly("/dev/"+name, unix.O_RDONLY)
		},
		"device/mem":      openAny(unix.O_RDONLY, "/dev/mem", "/dev/port"),
		"device/kmsg":     openAny(unix.O_RDONLY, "/dev/kmsg"),
		"device/loop":     openAny(unix.O_RDONLY, "/dev/loop-control", "/dev/loop0"),
		"device/fuse":     openAny(unix.O_RDWR, "/dev/fuse"),
		"device/kvm":      openAny(unix.O_RDWR, "/dev/kvm"),
		"device/tun":      openAny(unix.O_RDWR, "/dev/net/tun"),
		"device/uinput":   openAny(unix.O_WRONLY, "/dev/uinput", "/dev/vhci", "/dev/uhid"),
		"device/kcore":    openAny(unix.O_RDONLY, "/proc/kcore"),
		"device/mapper":   openAny(unix.O_RDONLY, "/dev/mapper/control", "/dev/btrfs-control"),
		"device/watchdog": openAny(unix.O_RDONLY, "/dev/hwrng", "/dev/cpu_dma_latency"),
	}
}

// disk is the first disk that the kernel tells of.
func disk() (name string, dev int, err error) {
	data, err := os.ReadFile("/proc/partitions")
	if err != nil {
		return "", 0, err
	}
	for line := range strings.Lines(string(data)) {
		var major, minor uint32
		var blocks uint64
		if n, _ := fmt.Sscan(line, &major, &minor, &blocks, &name); n == 4 && !strings.HasPrefix(name, "loop") && !strings.HasPrefix(name, "ram") {
			return name, int(unix.Mkdev(major, minor)), nil
		}
	}
	return "", 0, errNot
}

func deviceMakeDisk(g *Ground, name string) (string, error) {
	_, dev, err := disk()
	if err != nil {
		return "", err
	}
	if err := unix.Mknod(g.In(name), unix.S_IFBLK|0o600, dev); err != nil {
		return "", err
	}
	return openOnly(g.In(name), unix.O_RDONLY)
}

// limitProbes use something up, a little beyond the limit that was set.
func limitProbes() map[string]probe {
	return map[string]probe{"limit/files": limitFiles, "limit/tmp": limitTmp, "limit/memory": limitMemory, "limit/processes": limitProcesses,
		"limit/core": limitCore}
}

// limitCore asks for cores of crashed programs, which a program of the system may take up outside.
func limitCore(*Ground, string) (string, error) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &l); err != nil {
		return "", err
	}
	if l.Max == 0 {
		return "", errNot // nobody here has them
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: 1 << 20, Max: max(l.Max, 1<<20)}); err != nil {
		return "", err
	}
	return did("a core may have a MiB"), nil
}

func limitFiles(g *Ground, _ string) (string, error) {
	if g.MaxFiles == 0 {
		return "", errNot
	}
	for n := range g.MaxFiles + 64 {
		if _, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
			return "", fmt.Errorf("after %d: %w", n, err)
		}
	}
	return did("opened %d", g.MaxFiles+64), nil
}

func limitMemory(g *Ground, _ string) (string, error) {
	if g.MaxMemory == 0 {
		return "", errNot
	}
	const chunk = 8 << 20
	for n := int64(0); n < g.MaxMemory+(32<<20); n += chunk {
		data, err := unix.Mmap(-1, 0, chunk, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return "", fmt.Errorf("after %d MiB: %w", n>>20, err)
		}
		for i := 0; i < chunk; i += 4096 {
			data[i] = 1
		}
	}
	return did("took %d MiB", (g.MaxMemory>>20)+32), nil
}

// limitTmp fills /dev/shm a little beyond the limit of memory, and empties it again.
func limitTmp(g *Ground, name string) (string, error) {
	if g.MaxMemory == 0 {
		return "", errNot
	}
	f, err := os.CreateTemp("/dev/shm", "ta-")
	if err != nil {
		return "", err
	}
	defer func() { _, _ = os.Remove(f.Name()), f.Close() }()
	chunk := make([]byte, 1<<20)
	for n := int64(0); n < g.MaxMemory+(32<<20); n += int64(len(chunk)) {
		if _, err := f.Write(chunk); err != nil {
			return "", fmt.Errorf("after %d MiB: %w", n>>20, err)
		}
	}
	return did("wrote %d MiB", (g.MaxMemory>>20)+32), nil
}

// spareProcs is how many more processes than asked for are let pass before the limit counts as missing: where only the
// range of process numbers can be bounded, the kernel's own 300 come on top.
const spareProcs = 320

// limitProcesses forks without exec: the children do nothing but wait, and are ended afterwards.
func limitProcesses(g *Ground, _ string) (string, error) {
	if g.MaxProcs == 0 {
		return "", errNot
	}
	var pids []int
	defer func() {
		for _, pid := range pids {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		for _, pid := range pids {
			_, _ = unix.Wait4(pid, nil, 0, nil)
		}
	}()
	for n := range g.MaxProcs + spareProcs {
		pid, errno := forkWaiting()
		if errno != 0 {
			return "", fmt.Errorf("after %d: %w", n, errno)
		}
		pids = append(pids, pid)
	}
	return did("forked %d", len(pids)), nil
}

// forkWaiting starts a child that sleeps. In the child nothing of Go may run but raw calls.
//
//go:norace
func forkWaiting() (int, unix.Errno) {
	args := struct{ flags, pidfd, childTID, parentTID, exitSignal, stack, stackSize, tls uint64 }{exitSignal: uint64(unix.SIGCHLD)}
	pid, _, errno := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
	if errno == 0 && pid == 0 {
		for {
			unix.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
		}
	}
	return int(pid), errno
}

var errGone = errors.New("the neighbour is not in sight")
