//go:build unix

package childproc

import (
	"os/exec"
	"syscall"
)

// isolate makes the child the leader of its own session, so that it has no terminal to ask questions on and the signals
// at its end reach everything that it started in its group. The returned function ends what is left of the group; it
// is for right after the child was waited for.
func isolate(cmd *exec.Cmd) (killGroup func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	signal := func(s syscall.Signal) error {
		if cmd.Process == nil || cmd.Process.Pid <= 1 {
			return nil // never started; -1 would mean every process there is
		}
		return syscall.Kill(-cmd.Process.Pid, s)
	}
	cmd.Cancel = func() error { return signal(syscall.SIGTERM) }
	return func() { _ = signal(syscall.SIGKILL) }
}
