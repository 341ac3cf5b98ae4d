package sandbox

import (
	"fmt"
	"slices"

	"termic/internal/netgroup"
	"termic/sandbox/hosts"
)

// Control is how far a terminal reaches into Termic itself.
type Control int

// The reaches, from the least.
const (
	ControlNone   Control = iota // no token: every call is refused
	ControlScoped                // a token of a caged task
	ControlFull                  // whatever the user can do
)

func (c Control) String() string {
	switch c {
	case ControlNone:
		return "none"
	case ControlScoped:
		return "scoped"
	case ControlFull:
		return "full"
	}
	return fmt.Sprintf("Control(%d)", int(c))
}

// A Capability is what a running terminal can do: what was provisioned for it, not what is stored. It is immutable. Only
// Policy.Capability, Unbounded and what is built on them make one; the zero value is nobody's, is within nothing and holds
// nothing.
//
// The task's own workspace (its worktree, its private home) is in no capability, since each task has one; what belongs to
// a project's repository is kept as the project's id, and what the built-in table grants to an agent as the agent's id.
// Within compares those ids instead of the paths.
type Capability struct {
	known    bool
	mode     Mode
	control  Control
	projects []string // whose repositories it reaches: its own project and, with a token, those of its token
	agents   []string // whose built-in grants it reaches, in the same manner

	secrets   []string // names of those in its environment; also of what is unbounded
	unbounded bool     // files and hosts without limit; the fields below are empty then
	read      []string // may be read, beside write
	write     []string // may be read and written
	deny      []string // hidden, whatever the two say
	pinned    []string // may not be written, whatever write says
	hosts     hosts.Set
	nets      hosts.Nets   // addresses of netgroups, as they were then
	refused   netgroup.Set // addresses that are not reached whatever allows them
}

// Unbounded is the capability of what no cage holds: a terminal in a mode that filters nothing (Off, Monitor), or a
// caller from outside with full scope. For every other mode it returns the zero value, which is within nothing.
func Unbounded(m Mode) Capability {
	if m != Off && m != Monitor {
		return Capability{}
	}
	return Capability{known: true, mode: m, control: ControlFull, unbounded: true}
}

// holding is c with the names of secrets that are in its environment.
func holding(c Capability, secrets []string) Capability {
	c.secrets = nil
	if len(secrets) > 0 {
		c.secrets = sorted(secrets)
	}
	return c
}

// Writes reports whether something at a path, or below it, was granted to be changed, beside its own workspace. It does not look at what
// is forbidden in there: false is certain, true is not. What has no limit of files writes nothing by a grant.
func (c Capability) Writes(path string) bool {
	return !c.unbounded && slices.ContainsFunc(c.write, func(w string) bool { _, both := overlap(w, path); return both })
}

// Secrets are the names of the secrets in its environment, sorted.
func (c Capability) Secrets() []string { return slices.Clone(c.secrets) }

// Mode is the mode that was provisioned; empty for the zero value.
func (c Capability) Mode() Mode { return c.mode }

// Control is how far it reaches into Termic.
func (c Capability) Control() Control { return c.control }

// Uncaged reports whether nothing holds it and nothing records what it does.
func (c Capability) Uncaged() bool { return c.known && c.mode == Off }

// Known reports whether it was made by provision. The zero value was not.
func (c Capability) Known() bool { return c.known }

// Equal reports whether the two allow exactly the same.
func (c Capability) Equal(d Capability) bool {
	return c.known == d.known && c.mode == d.mode && c.control == d.control && c.unbounded == d.unbounded &&
		slices.Equal(c.secrets, d.secrets) && slices.Equal(c.projects, d.projects) && slices.Equal(c.agents, d.agents) &&
		slices.Equal(c.read, d.read) && slices.Equal(c.write, d.write) &&
		slices.Equal(c.deny, d.deny) && slices.Equal(c.pinned, d.pinned) && c.hosts.Equal(d.hosts) &&
		c.nets.Equal(d.nets) && c.refused.Equal(d.refused)
}
