package attack

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// victims are processes outside. They end with the test.
type victims struct {
	victim, spare *exec.Cmd
	tty           int // master of somebody else's terminal, non-blocking
}

func (h *host) start() *victims {
	v := &victims{victim: h.victim(), spare: h.victim()}
	h.g.Victim, h.g.PidOne = v.victim.Process.Pid, v.spare.Process.Pid
	master, slave, err := pty.Open()
	h.fatal(err)
	v.tty = int(master.Fd())
	h.fatal(unix.SetNonblock(v.tty, true)) // after Fd, which makes it blocking
	h.t.Cleanup(func() { _, _ = master.Close(), slave.Close() })
	h.g.Pty = slave.Name()
	return v
}

// victim starts a shell that waits, with the secret in its environment, its arguments and a descriptor, and with the
// probes' signals blocked, so that those that arrive stay to be seen.
func (h *host) victim() *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", "read x", VictimTag, h.secret)
	cmd.Env = []string{"PATH=/usr/bin:/bin", EnvSecret + "=" + h.secret}
	cmd.Dir = h.g.Spot("proc/cwd")
	in, err := cmd.StdinPipe()
	h.fatal(err)
	null, err := os.Open(os.DevNull)
	h.fatal(err)
	file, err := os.Open(h.g.Secret("proc/fd"))
	h.fatal(err)
	cmd.ExtraFiles = []*os.File{null, null, file}

	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var set, old unix.Sigset_t
	for _, sig := range []uint{SigKill, SigThread, SigQueue, SigPidfd, SigIO} {
		set.Val[0] |= 1 << (sig - 1)
	}
	h.fatal(unix.PthreadSigmask(unix.SIG_BLOCK, &set, &old))
	err = cmd.Start()
	h.fatal(unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil))
	h.fatal(err)
	_, _ = null.Close(), file.Close()
	h.t.Cleanup(func() { _, _, _ = in.Close(), cmd.Process.Kill(), cmd.Wait() })
	return cmd
}

// pending tells whether a signal arrived at the victim.
func (v *victims) pending(sig int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.victim.Process.Pid))
	if err != nil {
		return true // it is gone, which nothing but a probe can have done
	}
	for line := range strings.Lines(string(data)) {
		for _, field := range []string{"SigPnd:", "ShdPnd:"} {
			if rest, ok := strings.CutPrefix(line, field); ok {
				set, err := strconv.ParseUint(strings.TrimSpace(rest), 16, 64)
				if err == nil && set&(1<<(sig-1)) != 0 {
					return true
				}
			}
		}
	}
	return false
}

// typed tells whether somebody wrote a text on the other terminal.
func (v *victims) typed(text string) bool {
	buf := make([]byte, 4096)
	n, err := unix.Read(v.tty, buf)
	if err != nil {
		return false
	}
	return strings.Contains(string(buf[:max(n, 0)]), text)
}

// A check looks, outside, at what became of a try.
type check func(h *host, r Report) bool

// checks are the looks outside, by probe. Where there is none, what the program brings is judged.
func checks() map[string]check {
	m := map[string]check{
		"meta/chmod": func(h *host, r Report) bool {
			return statOf(h.g.Secret(r.Name)).Mode&0o777 == 0o604
		},
		"meta/utimes":   func(h *host, r Report) bool { return statOf(h.g.Secret(r.Name)).Mtim.Sec == 12345 },
		"meta/truncate": func(h *host, r Report) bool { return statOf(h.g.Secret(r.Name)).Size == 0 },
		"meta/xattr-set": func(h *host, r Report) bool {
			buf := make([]byte, 64)
			n, err := unix.Getxattr(h.g.Secret(r.Name), "user.planted", buf)
			return err == nil && n > 0
		},
		"write/overwrite": contains(func(g Ground) string { return g.Secret("write/overwrite") }, planted),
		"write/unlink":    func(h *host, r Report) bool { return !exists(h.g.Secret(r.Name)) },
		"write/rename-out": func(h *host, r Report) bool {
			return holds(h.g.Secret(r.Name), planted)
		},
		"write/exchange":       func(h *host, r Report) bool { return holds(h.g.Secret(r.Name), planted) },
		"write/reopen":         contains(func(g Ground) string { return filepath.Join(g.Tool, "bin/reopened") }, planted),
		"write/tool":           contains(func(g Ground) string { return filepath.Join(g.Tool, "bin/node") }, planted),
		"write/main-checkout":  contains(func(g Ground) string { return filepath.Join(g.Repo, "planted") }, planted),
		"write/other-worktree": contains(func(g Ground) string { return filepath.Join(g.Other, "planted") }, planted),
		"write/data-dir":       contains(func(g Ground) string { return filepath.Join(g.DataDir, "planted") }, planted),
		"write/token":          contains(func(g Ground) string { return g.Token }, planted),
		"write/alias":          contains(func(g Ground) string { return g.Secret("write/alias") }, planted),
		"write/home":           contains(func(g Ground) string { return filepath.Join(g.Home, "new-file") }, planted),
		"wide/write":           contains(func(g Ground) string { return g.Token }, planted),
		"neighbour/home":       contains(func(g Ground) string { return g.OtherHome + "/planted" }, planted),
		"tty/other":            func(h *host, r Report) bool { return h.procs.typed(r.Name) },
	}
	for _, name := range []string{"write/mkdir", "write/symlink", "write/fifo", "write/bind-socket", "write/tmpfile-link"} {
		m[name] = func(h *host, r Report) bool { return exists(filepath.Join(h.g.Spot(r.Name), planted[:7])) }
	}
	for name, path := range Planted() {
		m[name] = contains(func(g Ground) string { return filepath.Join(g.Home, path) }, planted)
	}
	for name, sig := range map[string]int{"proc/kill": SigKill, "proc/tgkill": SigThread, "proc/sigqueue": SigQueue,
		"proc/pidfd-signal": SigPidfd, "proc/sigio": SigIO} {
		m[name] = func(h *host, _ Report) bool { return h.procs.pending(sig) }
	}
	for name, c := range gitChecks() {
		m[name] = c
	}
	return m
}

// gotOut is the verdict on one report.
func (h *host) gotOut(r Report) Verdict {
	if strings.Contains(r.Got, h.secret) || strings.HasPrefix(r.Got, "did: ") || h.net.arrived(r.Name) || h.net.arrived(flat(r.Name)) {
		return Out
	}
	if c := checks()[r.Name]; c != nil && c(h, r) {
		return Out
	}
	return Held
}

func statOf(path string) (st unix.Stat_t) {
	_ = unix.Lstat(path, &st) // a missing file has no mode, no time, no size
	if st.Ino == 0 {
		st.Size = -1
	}
	return st
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }

func holds(path, text string) bool {
	data, err := os.ReadFile(path)
	return err == nil && strings.Contains(string(data), text)
}

func contains(at func(Ground) string, text string) check {
	return func(h *host, _ Report) bool { return holds(at(h.g), text) }
}
