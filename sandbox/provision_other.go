//go:build !linux

package sandbox

import (
	"context"
	"net"
	"os"
	"runtime"
	"syscall"

	"termic/internal/fault"
)

// Provisioned is a cage that stands. There is none on this system.
type Provisioned struct{ policy Policy }

// Provision refuses.
func Provision(context.Context, Policy, Launch) (*Provisioned, error) {
	return nil, fault.New(fault.Unsupported, "This build cannot cage a task on %s", runtime.GOOS)
}

// Policy is what was provisioned.
func (pr *Provisioned) Policy() Policy { return pr.policy }

// Terminal is nil.
func (*Provisioned) Terminal() *os.File { return nil }

// First is the first process of the cage: all others end with it.
func (*Provisioned) First() int { return 0 }

// Pid is 0.
func (*Provisioned) Pid() int { return 0 }

// EndpointDoor is nil.
func (*Provisioned) EndpointDoor() net.Listener { return nil }

// Dial refuses.
func (*Provisioned) Dial(context.Context, int) (net.Conn, error) {
	return nil, fault.New(fault.Unsupported, "There is no cage on %s", runtime.GOOS)
}

// Signal does nothing.
func (*Provisioned) Signal(syscall.Signal) error { return nil }

// Kill does nothing.
func (*Provisioned) Kill() {}

// Wait returns at once.
func (*Provisioned) Wait() Exit { return Exit{Code: -1} }

// Holds is empty.
func (*Provisioned) Holds() Enforcement { return Enforcement{} }

// SignalName returns words.
func SignalName(words string) string { return words }

// MachineMemory is not told on this system.
func MachineMemory() int64 { return 0 }
