package shellenv

import "os/exec"

// Windows has no login shell: there is nothing to start and nothing to end but the command itself.
func ownGroup(*exec.Cmd) {}

func endGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
