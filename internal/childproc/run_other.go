//go:build !unix

package childproc

import "os/exec"

// isolate leaves the child as it is: there are no process groups here, and exec ends the child itself.
func isolate(*exec.Cmd) (killGroup func()) { return func() {} }
