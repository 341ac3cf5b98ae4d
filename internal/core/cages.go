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

func (o ownCages) Check(m sandbox.Mode) error { return o.c.machine.Check(o.c.ctx, m) }

func (o ownCages) Live(tabID string) (sandbox.Capability, bool) {
	l := o.c.liveOf(tabID)
	if l == nil {
		return sandbox.Capability{}, false
	}
	return capabilityOf(l), true
}

func (o ownCages) Would(ctx context.Context, t store.Task, agentID string) (sandbox.Capability, error) {
	t, _, err := o.c.tightened(ctx, t)
	if err != nil {
		return sandbox.Capability{}, err
	}
	program := ""
	if caged(t) {
		if _, program, err = o.c.agents.Load().Check(agentID, o.c.lookPath(ctx)); err != nil {
			return sandbox.Capability{}, err
		}
	}
	policy, err := o.c.policyOf(ctx, t, agentID, program, 0)
	return policy.Capability(), err
}

func (o ownCages) Denials(taskID string) []api.Denial { return o.c.denials.of(taskID) }

// capabilityOf is what a program was provisioned with. That of a program whose cage is not known is the zero value, which
// is within nothing.
func capabilityOf(l *liveTab) sandbox.Capability {
	if l.walls.made {
		return l.walls.policy.Capability()
	}
	if l.tab.Kind == store.TabAgent {
		return sandbox.Capability{}
	}
	return sandbox.Unbounded(sandbox.Off)
}

// provisioned is how the capability of a program is written down; empty for one that is not an agent's.
func provisioned(l *liveTab) string {
	if !l.walls.made {
		return ""
	}
	text, err := l.walls.policy.Capability().MarshalBinary()
	if err != nil {
		return ""
	}
	return string(text)
}

// writtenWith is what the caged agent that sent a prompt was provisioned with then.
func writtenWith(p store.Prompt) (sandbox.Capability, error) {
	then, err := sandbox.ParseCapability([]byte(p.Capability))
	if err != nil {
		return then, fault.Wrap(err, fault.Forbidden, "It is not known in what cage it was written")
	}
	return then, nil
}

// limited refuses to start a program that could do more than whoever asked for it.
func (how startHow) limited(made sandbox.Capability) error {
	if how.limit == nil {
		return nil
	}
	return widerThanCaller(sandbox.Within(made, *how.limit))
}
