package core

import (
	"context"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/store"
	"termic/sandbox"
)

// Cages tells what the programs of terminals can do. It changes nothing. The rules of authority compare what it tells.
type Cages interface {
	// Check refuses a mode that cannot be enforced here.
	Check(m sandbox.Mode) error
	// Live is what the running program of a tab was provisioned with; false for a tab without one.
	Live(tabID string) (sandbox.Capability, bool)
	// Would is what an agent would be provisioned with if it were started now in a task, by the lists that are stored.
	Would(ctx context.Context, t store.Task, agentID string) (sandbox.Capability, error)
	// Denials is what cages of a task refused since the app was started, newest first.
	Denials(taskID string) []api.Denial
}

// ownCages are the cages that this Core builds.
type ownCages struct{ c *Core }

func (o ownCages) Check(m sandbox.Mode) error { return sandbox.Check(m) }

func (o ownCages) Live(tabID string) (sandbox.Capability, bool) {
	l := o.c.liveOf(tabID)
	if l == nil {
		return sandbox.Capability{}, false
	}
	return capabilityOf(l), true
}

func (o ownCages) Would(_ context.Context, t store.Task, _ string) (sandbox.Capability, error) {
	if c := sandbox.Unbounded(sandbox.Mode(t.Sandbox)); c.Known() {
		return c, nil
	}
	return sandbox.Capability{}, fault.New(fault.Unsupported, "This build cannot cage a task")
}

func (o ownCages) Denials(string) []api.Denial { return nil }

// capabilityOf is what a program was provisioned with. That of a program whose cage is not known is the zero value, which
// is within nothing.
func capabilityOf(l *liveTab) sandbox.Capability {
	return sandbox.Unbounded(sandbox.Mode(l.task.Sandbox))
}

// limited refuses to start a program that could do more than whoever asked for it.
func (how startHow) limited(made sandbox.Capability) error {
	if how.limit == nil {
		return nil
	}
	return widerThanCaller(sandbox.Within(made, *how.limit))
}
