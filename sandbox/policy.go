package sandbox

import (
	"slices"

	"termic/internal/netgroup"
	"termic/sandbox/hosts"
)

// origin tells on whose account a path is granted.
type origin int

const (
	plain   origin = iota // a layer, the system, PATH: compared path by path
	own                   // the task's own workspace, made by the app: not compared
	project               // the project's repository: compared as the project's id
	agent                 // the built-in table's grants to the agent: compared as the agent's id
)

// A grant is one path that a cage holds.
type grant struct {
	path   string // canonical
	write  bool
	origin origin
}

// Policy is what shall be provisioned: canonical, sorted, and immutable. Compose makes it.
type Policy struct {
	mode     Mode
	goos     string
	grants   []grant // sorted by path; only what is not already granted by another one
	links    []Link
	deny     []string // hidden
	pinned   []string // read-only inside writable grants
	prepare  []preparation
	gitView  *gitView // nil: the repository is mounted as it is
	sockets  []string // of outside processes, in grants; and what is not for everybody in /etc. Hidden, but no part of the capability
	termic   []string // Termic's own sockets
	sshAgent string   // the socket of the user's ssh agent, where the owner granted it
	plain    hosts.Set
	agent    hosts.Set // of the built-in table
	nets     hosts.Nets
	refused  netgroup.Set
	mcp      bool
	mcpPort  int
	proxy    int
	ports    []int
	home     string
	homeDir  string
	dataDir  string
	worktree string
	projects []string
	agents   []string
	secrets  []string
	control  Control
	warnings []string
}

// Mode is the mode that was wished for.
func (p Policy) Mode() Mode { return p.mode }

// Caged reports whether a cage is to be built at all.
func (p Policy) Caged() bool { return p.mode == EnforceFs || p.mode == Enforce }

// SSHAgent is the socket of the user's ssh agent, if the owner granted it; else empty.
func (p Policy) SSHAgent() string { return p.sshAgent }

// OwnNetwork reports whether the cage has a network of its own, in which only the doors lead out.
func (p Policy) OwnNetwork() bool { return p.mode == Enforce }

// Hosts are the hosts that the cage's proxy lets through: of the layers and of the agent. In EnforceFs it is every host.
func (p Policy) Hosts() hosts.Set { return p.plain.Union(p.agent) }

// Nets are addresses that the cage's proxy lets through, of the netgroups that lists name; Refused are those that it never does.
func (p Policy) Nets() hosts.Nets { return p.nets }

// Refused are the addresses of the netgroups that lists take out. No rule allows them.
func (p Policy) Refused() netgroup.Set { return p.refused }

// Doors are the loopback ports inside the cage that lead out of it: the proxy's and, with the MCP box, the endpoint's.
// Only Enforce has doors.
func (p Policy) Doors() []int {
	if p.mode != Enforce {
		return nil
	}
	var out []int
	if p.proxy != 0 {
		out = append(out, p.proxy)
	}
	if p.mcp && p.mcpPort != 0 {
		out = append(out, p.mcpPort)
	}
	return out
}

// Inbound are the ports on which a server inside the cage is reachable from outside.
func (p Policy) Inbound() []int { return slices.Clone(p.ports) }

// Warnings are sentences for the owner about what the lists allow, or about entries that count for less than they say.
func (p Policy) Warnings() []string { return slices.Clone(p.warnings) }

// Capability is what a terminal that is started from this policy can do. Keep it with the live terminal: a comparison
// looks at what was provisioned, not at what is stored.
func (p Policy) Capability() Capability {
	if !p.Caged() {
		return holding(Unbounded(p.mode), p.secrets)
	}
	c := Capability{known: true, mode: p.mode, control: p.control, projects: p.projects, agents: p.agents,
		deny: p.deny, pinned: p.pinned, hosts: p.plain, nets: p.nets, refused: p.refused}
	for _, g := range p.grants {
		switch {
		case g.origin != plain:
		case g.write:
			c.write = append(c.write, g.path)
		default:
			c.read = append(c.read, g.path)
		}
	}
	return holding(c.canonical(), p.secrets)
}
