//go:build !windows

package shellenv

import (
	"os/exec"
	"syscall"
)

// ownGroup starts a command in a session of its own: an interactive shell must not reach for the app's terminal, and
// what it starts can be ended with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// endGroup ends the command and its process group. The command was not awaited yet, so its number is its own.
func endGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
