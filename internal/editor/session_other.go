//go:build !unix

package editor

import "os/exec"

func ownSession(*exec.Cmd) {}
