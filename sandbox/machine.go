package sandbox

import (
	"context"
	"runtime"
	"sync"
	"time"

	"termic/internal/fault"
	"termic/sandbox/cage"
)

// refusalHolds is how long a machine that cannot build cages is not asked again: many ask at once, and a person who has
// followed the advice tries again a moment later anyway.
const refusalHolds = 5 * time.Second

// Machine tells which modes this machine can enforce. It finds out by building cages, once. The zero value is ready, and
// safe for concurrent use.
type Machine struct {
	// Helper is the program termic-cage; empty: found beside the app.
	Helper string

	prober cage.Prober

	mu   sync.Mutex // guards the following, and is held over a probe
	last cage.Report
	at   time.Time
}

// Report says what cages this machine can build, and why not.
func (m *Machine) Report(ctx context.Context) cage.Report {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.at.IsZero() && (m.last.Enforce && m.last.EnforceFs || time.Since(m.at) < refusalHolds) {
		return m.last
	}
	m.last, m.at = m.prober.Report(context.WithoutCancel(ctx), m.Helper), time.Now()
	return m.last
}

// Check refuses a mode that cannot be enforced here, with the cause and the fix. A nil answer means that a start in that
// mode is exactly what its name promises.
func (m *Machine) Check(ctx context.Context, mode Mode) error {
	if _, err := ParseMode(string(mode)); err != nil {
		return err
	}
	if mode == Off || mode == Monitor {
		return nil
	}
	if runtime.GOOS != "linux" {
		return fault.New(fault.Unsupported, "This build cannot cage a task on %s, so sandbox mode %q is refused", runtime.GOOS, mode).
			WithHint("Use --sandbox off and know that the agent can do whatever you can do.")
	}
	r := m.Report(ctx)
	if mode == Enforce {
		return r.Problem
	}
	if r.ProblemFs == nil && r.Holds.Landlock < scopedLandlock {
		return fault.New(fault.Unsupported, "The kernel %s cannot keep an agent with the host's network from abstract sockets and signals (Landlock %d, 6 is needed)", r.Kernel, r.Holds.Landlock).
			WithHint("Use Linux 6.12 or newer, or --sandbox enforce, which has a network of its own.")
	}
	return r.ProblemFs
}

// scopedLandlock is the version of Landlock that scopes abstract sockets and signals (Linux 6.12). Without a network of
// its own a cage has no other wall against them.
const scopedLandlock = 6
