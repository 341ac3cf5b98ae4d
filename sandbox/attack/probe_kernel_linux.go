package attack

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernelProbes try what the kernel keeps apart from files and sockets.
func kernelProbes() map[string]probe {
	return map[string]probe{
		"kernel/add-key": func(*Ground, string) (string, error) {
			_, err := unix.AddKey("user", "termic-attack", []byte("x"), unix.KEY_SPEC_PROCESS_KEYRING)
			return done(err)
		},
		"kernel/keyctl": func(*Ground, string) (string, error) {
			_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, true)
			return done(err)
		},
		"kernel/request-key": func(*Ground, string) (string, error) {
			_, err := unix.RequestKey("user", "termic-attack-none", "", 0)
			return reached(err, unix.ENOKEY)
		},
		"kernel/io-uring":      func(*Ground, string) (string, error) { _, err := newRing(); return done(err) },
		"kernel/io-uring-read": ringRead,
		"kernel/bpf":           kernelBPF,
		"kernel/perf":          kernelPerf,
		"kernel/userfaultfd": func(*Ground, string) (string, error) {
			_, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, 1, 0, 0) // user mode only: what users may have
			return done(fromErrno(errno))
		},
		"kernel/i386":         func(*Ground, string) (string, error) { return kernelI386() },
		"kernel/i386-unshare": func(*Ground, string) (string, error) { return i386Unshare() },
		"kernel/x32":          kernelX32,
		"kernel/personality":  kernelPersonality,
		"kernel/syslog": func(*Ground, string) (string, error) {
			_, err := unix.Klogctl(10, nil) // size of the buffer: the mildest of its requests that reads
			if err != nil {
				return "", err
			}
			_, err = unix.Klogctl(3, make([]byte, 64))
			return done(err)
		},
		"kernel/new-privs": func(*Ground, string) (string, error) {
			v, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
			return unless(v != 0, err, "no_new_privs is set")
		},
		"kernel/no-filter": func(*Ground, string) (string, error) {
			v, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
			return unless(v != 0, err, "a filter is set")
		},
		"kernel/caps":          kernelCaps,
		"kernel/caps-bounding": func(*Ground, string) (string, error) { return capSet("CapBnd") },
		"kernel/caps-userns":   kernelCapsUser,
		"kernel/setuid-file":   kernelSetuidFile,
		"kernel/file-caps":     kernelFileCaps,
		"kernel/setuid":        onThread(func() error { return rawCall(unix.SYS_SETRESUID, 1501, 1501, 1501) }),
		"kernel/setgroups":     onThread(func() error { g := [1]uint32{1501}; return rawCall(unix.SYS_SETGROUPS, 1, ptr(&g), 0) }),
		"kernel/rlimit":        kernelRlimit,
		"kernel/sethostname": func(*Ground, string) (string, error) {
			name, err := os.Hostname()
			if err != nil {
				return "", err
			}
			return done(unix.Sethostname([]byte(name)))
		},
	}
}

// unless is evidence when a condition does not hold.
func unless(is bool, err error, what string) (string, error) {
	if err != nil || is {
		return "", errors.Join(err, errors.New(what))
	}
	return did("not so: %s", what), nil
}

func rawCall(nr, a, b, c uintptr) error {
	_, _, errno := unix.RawSyscall(nr, a, b, c)
	return fromErrno(errno)
}

// onThread tries something that changes this thread alone.
func onThread(f func() error) probe {
	return func(*Ground, string) (string, error) {
		runtime.LockOSThread()
		return done(f())
	}
}

func kernelBPF(*Ground, string) (string, error) {
	attr := struct{ kind, key, value, entries, flags, pad uint32 }{2, 4, 4, 1, 0, 0} // an array
	_, _, errno := unix.Syscall(unix.SYS_BPF, 0, ptr(&attr), unsafe.Sizeof(attr))
	return done(fromErrno(errno))
}

func kernelPerf(*Ground, string) (string, error) {
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_TASK_CLOCK, Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv}
	attr.Size = uint32(unsafe.Sizeof(attr))
	_, err := unix.PerfEventOpen(&attr, 0, -1, -1, 0)
	return done(err)
}

// kernelX32 asks for the process number by the number that it has in the x32 ABI.
func kernelX32(*Ground, string) (string, error) {
	if runtime.GOARCH != "amd64" {
		return "", errNot
	}
	pid, _, errno := unix.RawSyscall(unix.SYS_GETPID|0x40000000, 0, 0, 0)
	if errno != 0 || int(pid) != os.Getpid() {
		return "", fmt.Errorf("%d: %w", pid, errno)
	}
	return did("it answered"), nil
}

func kernelPersonality(*Ground, string) (string, error) {
	_, _, errno := unix.RawSyscall(unix.SYS_PERSONALITY, 0x0040000, 0, 0)
	return done(fromErrno(errno))
}

func capSet(which string) (string, error) {
	data, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, which+":"); ok {
			set, err := strconv.ParseUint(strings.TrimSpace(rest), 16, 64)
			return unless(set == 0, err, which+" is empty")
		}
	}
	return "", errNot
}

// kernelCaps looks whether there are any, and asks for them back.
func kernelCaps(*Ground, string) (string, error) {
	runtime.LockOSThread()
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	data := [2]unix.CapUserData{{Effective: 1 << unix.CAP_CHOWN, Permitted: 1 << unix.CAP_CHOWN}}
	return first(
		func() (string, error) { return capSet("CapEff") },
		func() (string, error) { return capSet("CapPrm") },
		func() (string, error) { return done(unix.Capset(&hdr, &data[0])) },
		func() (string, error) {
			return done(unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, unix.CAP_CHOWN, 0, 0))
		},
	)
}

func kernelCapsUser(*Ground, string) (string, error) {
	return spawn(&syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
	})
}

// kernelSetuidFile runs a program whose file is another user's, with the bit.
func kernelSetuidFile(g *Ground, _ string) (string, error) {
	said, err := askWhoami(g.Setuid)
	return unless(strings.Contains(said, fmt.Sprintf("uid %d,", os.Getuid())), err, "it ran as "+said)
}

// kernelFileCaps runs a program whose file has a capability.
func kernelFileCaps(g *Ground, _ string) (string, error) {
	said, err := askWhoami(g.FileCaps)
	return unless(strings.Contains(said, "without capabilities"), err, "it ran as "+said)
}

func askWhoami(path string) (string, error) {
	if path == "" {
		return "", errNot
	}
	cmd := exec.Command(path)
	cmd.Env = []string{EnvRole + "=whoami", EnvGround + "={}"}
	data, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, data)
	}
	return strings.TrimSpace(string(data)), nil
}

// whoami tells what this process may.
func whoami() {
	caps := "with capabilities"
	if got, _ := capSet("CapEff"); got == "" {
		caps = "without capabilities"
	}
	fmt.Printf("uid %d, gid %d, %s\n", os.Geteuid(), os.Getegid(), caps)
}

func kernelRlimit(*Ground, string) (string, error) {
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_RTPRIO, &lim); err != nil {
		return "", err
	}
	return done(unix.Setrlimit(unix.RLIMIT_RTPRIO, &unix.Rlimit{Cur: lim.Max + 1, Max: lim.Max + 1}))
}

// ringRead asks for a file through a ring; the ring alone is enough to go around a filter of system calls.
func ringRead(g *Ground, name string) (string, error) {
	r, err := newRing()
	if err != nil {
		return "", err
	}
	return r.read(g.Secret(name))
}
