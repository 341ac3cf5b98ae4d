//go:build !linux

package sandbox

import (
	"context"
	"os"
	"runtime"

	"termic/internal/childproc"
	"termic/internal/fault"
)

// Room refuses every start: there is none on this system.
func (m *Machine) Room([]string, []string) childproc.Starter {
	return func(context.Context, []string, []string, string, [3]*os.File) (childproc.Running, error) {
		return nil, fault.New(fault.Unsupported, "This build cannot cage a program on %s", runtime.GOOS)
	}
}
