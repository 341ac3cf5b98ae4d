//go:build !linux

package cage

import (
	"context"
	"net"
	"os"
	"runtime"
	"syscall"

	"termic/internal/fault"
)

// Cage is a running cage. There is none on this system.
type Cage struct{}

func errNone() error {
	return fault.New(fault.Unsupported, "Termic has no cage of namespaces on %s", runtime.GOOS)
}

// BeChild returns at once: no cage has a first process here.
func BeChild() {}

// Start refuses.
func Start(context.Context, Spec) (*Cage, error) { return nil, errNone() }

// Probe says that this system has no cage.
func Probe(context.Context, string) Report { return Report{Problem: errNone()} }

// Terminal is nil.
func (*Cage) Terminal() *os.File { return nil }

// Listener is nil.
func (*Cage) Listener(int) net.Listener { return nil }

// Pid is 0.
func (*Cage) Pid() int { return 0 }

// Unseen is 0.
func (*Cage) Unseen() uint64 { return 0 }

// Done never ends.
func (*Cage) Done() <-chan struct{} { return nil }

// Wait returns at once.
func (*Cage) Wait() Exit { return Exit{Code: -1} }

// Signal refuses.
func (*Cage) Signal(syscall.Signal) error { return errNone() }

// Kill does nothing.
func (*Cage) Kill() {}

// Dial refuses.
func (*Cage) Dial(context.Context, int) (net.Conn, error) { return nil, errNone() }

// Enforcement is empty.
func (*Cage) Enforcement() Enforcement { return Enforcement{} }

// Prober has nothing to remember.
type Prober struct{}

// Report says that this system has no cage.
func (*Prober) Report(ctx context.Context, helperPath string) Report { return Probe(ctx, helperPath) }
