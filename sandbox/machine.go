package sandbox

import (
	"context"
	"runtime"
	"strings"
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
	return refusal(mode, m.Report(ctx))
}

// refusal is why a mode with a cage is not what its name promises on a machine; nil where it is.
func refusal(mode Mode, r cage.Report) error {
	switch {
	case mode == Enforce && r.Problem != nil:
		return r.Problem
	case mode == Enforce && r.Holds.Landlock < 1:
		return withoutLandlock(r)
	case mode == Enforce:
		return nil
	}
	if r.ProblemFs == nil && r.Holds.Landlock < scopedLandlock {
		return fault.New(fault.Unsupported, "The kernel %s cannot keep an agent with the host's network from abstract sockets and signals (Landlock %d, 6 is needed)", r.Kernel, r.Holds.Landlock).
			WithHint("Use Linux 6.12 or newer, or --sandbox enforce, which has a network of its own.")
	}
	return r.ProblemFs
}

// withoutLandlock refuses a machine on which namespaces and mounts alone would hold files. They do not keep an agent from
// making links in git's shared folders, through which the user's own git writes wherever they lead: into a start file of his
// shell, for one.
func withoutLandlock(r cage.Report) error {
	f := fault.New(fault.Unsupported, "The kernel %s runs without Landlock, and without it an agent could leave links in git's folders through which your own git writes elsewhere", r.Kernel)
	if len(r.LSMs) == 0 {
		return f.WithHint("Use Linux 5.13 or newer with Landlock among its security modules.")
	}
	return f.WithHint("Add landlock to the kernel's security modules: put `lsm=%s` on its command line, and start the machine anew. It needs Linux 5.13 or newer.",
		strings.Join(append([]string{"landlock"}, r.LSMs...), ","))
}

// scopedLandlock is the version of Landlock that scopes abstract sockets and signals (Linux 6.12). Without a network of
// its own a cage has no other wall against them.
const scopedLandlock = 6
