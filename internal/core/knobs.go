package core

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/repofile"
	"termic/internal/store"
	"termic/sandbox"
)

// stricter returns the tighter of two modes. An empty one says nothing.
func stricter(a, b string) string {
	if slices.Index(sandbox.Modes, sandbox.Mode(b)) > slices.Index(sandbox.Modes, sandbox.Mode(a)) {
		return b
	}
	return a
}

// projectsOf are the ids of the projects that a task's agent may act on.
func projectsOf(t store.Task) []string {
	if t.MCPProjects == nil {
		return []string{t.ProjectID}
	}
	return t.MCPProjects
}

// agentsOf are the ids of the agents that a task's agent may start.
func agentsOf(t store.Task) []string {
	if t.MCPAgents == nil && t.Agent != "" {
		return []string{t.Agent}
	}
	return t.MCPAgents
}

// repoFile reads what a project's main checkout says. A bare repository has no checkout, so it says nothing.
func (c *Core) repoFile(p store.Project) (repofile.File, bool, error) {
	if p.Bare {
		return repofile.File{}, false, nil
	}
	if err := c.answers("project", p.Name, p.RootPath); err != nil {
		return repofile.File{}, false, err
	}
	return repofile.Read(p.RootPath)
}

// tightened is a task as it may start now: what is stored for it, and no more than the .termic.yaml in the main checkout
// of its project leaves. told says what was taken away. A file that cannot be understood is an error: it may ask for a
// tighter cage.
func (c *Core) tightened(ctx context.Context, t store.Task) (tight store.Task, told []string, err error) {
	p, err := c.store.Project(ctx, t.ProjectID)
	if err != nil {
		return t, nil, err
	}
	f, found, err := c.repoFile(p)
	if err != nil || !found {
		return t, nil, err
	}
	say := func(format string, args ...any) {
		told = append(told, fmt.Sprintf(format, args...)+", as "+repofile.Name+" of the project asks")
	}
	if mode := stricter(t.Sandbox, f.Mode); mode != t.Sandbox {
		t.Sandbox = mode
		say("The sandbox mode is %s", mode)
	}
	if f.NoMCP && t.MCP {
		t.MCP = false
		say("The agent may not drive tasks over MCP")
	}
	if f.Projects != nil {
		names, err := c.projectNames(ctx)
		if err != nil {
			return t, nil, err
		}
		has := func(id string) bool {
			return slices.ContainsFunc(f.Projects, func(n string) bool { return strings.EqualFold(n, names[id]) })
		}
		if left := keep(projectsOf(t), has); len(left) < len(projectsOf(t)) {
			t.MCPProjects = left
			say("The projects that the agent may act on are fewer")
		}
	}
	if f.Agents != nil {
		if left := keep(agentsOf(t), func(id string) bool { return slices.Contains(f.Agents, id) }); len(left) < len(agentsOf(t)) {
			t.MCPAgents = left
			say("The agents that the agent may start are fewer")
		}
	}
	return t, told, nil
}

// keep returns the elements that a condition holds for; never nil.
func keep(list []string, is func(string) bool) []string {
	out := []string{}
	for _, s := range list {
		if is(s) {
			out = append(out, s)
		}
	}
	return out
}

// Names of the layers, as refusals and warnings say them.
const (
	layerTask     = "the task's settings"
	layerProject  = "the project's settings"
	layerSettings = "the settings"
	layerAgent    = "the settings of agent "
)

// layersOf are the lists of grants that hold for an agent of a task, from every source but the built-in ones. A task that a
// caged agent made has the lists that it was made with and those of its agent, and no others.
func (c *Core) layersOf(ctx context.Context, t store.Task, agentID string) ([]sandbox.Layer, error) {
	layers := []sandbox.Layer{{Name: layerTask, Read: t.SandboxRead, Write: t.SandboxWrite, Hosts: t.SandboxHosts, Owner: true}}
	s := c.settings.Get()
	for _, a := range s.Agents {
		if a.ID == agentID {
			layers = append(layers, sandbox.Layer{Name: layerAgent + a.ID, Write: a.SandboxPaths, Hosts: a.SandboxHosts, Owner: true})
		}
	}
	if t.FromCage {
		return saying(layers), nil
	}
	p, err := c.store.Project(ctx, t.ProjectID)
	if err != nil {
		return nil, err
	}
	layers = append(layers,
		sandbox.Layer{Name: layerSettings, Read: s.Sandbox.Read, Write: s.Sandbox.Write, Hosts: s.Sandbox.Hosts, Owner: true},
		sandbox.Layer{Name: layerProject, Read: p.SandboxRead, Write: p.SandboxWrite, Hosts: p.SandboxHosts, Owner: true})
	f, agreed, err := c.agreedFile(ctx, p)
	if err == nil && agreed {
		layers = append(layers, sandbox.Layer{Name: "the " + repofile.Name + " of " + p.Name, Read: f.Read, Write: f.Write, Hosts: f.Hosts})
	}
	return saying(layers), err
}

// saying are the layers that say something: an empty one more or less is the same cage.
func saying(layers []sandbox.Layer) []sandbox.Layer {
	return slices.DeleteFunc(layers, func(l sandbox.Layer) bool { return len(l.Read)+len(l.Write)+len(l.Deny)+len(l.Hosts) == 0 })
}

// agreedFile is what a project's main checkout says, and whether its owner agreed to exactly that.
func (c *Core) agreedFile(ctx context.Context, p store.Project) (f repofile.File, agreed bool, err error) {
	f, found, err := c.repoFile(p)
	if err != nil || !found {
		return f, false, err
	}
	have, ok, err := c.store.Consent(ctx, p.ID)
	return f, ok && have.Digest == f.Digest, err
}

// frozenLists are the lists of a task, from every source but the agent's, as one: for a task that is to have the same and
// no other. A write grant that the owner did not write by hand counts in the user's home for reading alone, and so it is
// handed on.
func (c *Core) frozenLists(ctx context.Context, t store.Task) (read, write, hosts []string, err error) {
	layers, err := c.layersOf(ctx, t, "")
	if err != nil {
		return nil, nil, nil, err
	}
	for _, l := range layers {
		read, hosts = union(read, l.Read), union(hosts, l.Hosts)
		for _, p := range l.Write {
			if p == sandbox.SSHAgentEntry && !l.Owner {
				continue // it counts for nothing there
			}
			if !l.Owner && c.inHome(p) {
				read = union(read, []string{p})
			} else {
				write = union(write, []string{p})
			}
		}
	}
	return read, write, hosts, nil
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(slices.Clip(a), s)
		}
	}
	return a
}

// inHome reports whether a path, as it was written in a list, lies in the user's home.
func (c *Core) inHome(p string) bool {
	return strings.HasPrefix(p, "$HOME") || strings.HasPrefix(p, "~") || filepath.IsAbs(p) && within(c.home, p)
}

// viewCage is what is set beside its mode, with the names of projects instead of their ids.
func viewCage(mcp bool, projects, agents, read, write, hosts []string, names map[string]string) api.Cage {
	v := api.Cage{MCP: mcp, Projects: []string{}, Agents: full(agents), Read: full(read), Write: full(write), Hosts: full(hosts)}
	for _, id := range projects {
		if n := names[id]; n != "" {
			v.Projects = append(v.Projects, n)
		}
	}
	return v
}

// full makes an empty list of none.
func full(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func taskCage(t store.Task, names map[string]string) *api.Cage {
	v := viewCage(t.MCP, t.MCPProjects, t.MCPAgents, t.SandboxRead, t.SandboxWrite, t.SandboxHosts, names)
	return &v
}

// given reports whether a list was named in a call.
func given(list []string) bool { return list != nil }

// meant is a list as it was meant: of nothing, or of a single empty text, is none.
func meant(list []string) []string {
	if len(list) == 0 || len(list) == 1 && list[0] == "" {
		return nil
	}
	return list
}

// projectIDs finds the projects that a caller names in a list.
func (c *Core) projectIDs(ctx context.Context, caller grant.Caller, names []string) ([]string, error) {
	var out []string
	for _, n := range meant(names) {
		p, err := c.resolveProject(ctx, caller, n)
		if err != nil {
			return nil, err
		}
		out = union(out, []string{p.ID})
	}
	return out, nil
}

// agentIDs refuses an agent that the registry does not have. One that is not installed may be named.
func (c *Core) agentIDs(ids []string) ([]string, error) {
	var out []string
	for _, id := range meant(ids) {
		if _, err := c.agents.Load().Resolve(id); err != nil {
			return nil, err
		}
		out = union(out, []string{id})
	}
	return out, nil
}

// paths refuses what no list of files may hold.
func (c *Core) paths(list []string) ([]string, error) {
	var out []string
	for _, p := range meant(list) {
		if !filepath.IsAbs(p) && p != "~" && !strings.HasPrefix(p, "~/") && p != "$HOME" && !strings.HasPrefix(p, "$HOME/") &&
			p != "$WORKSPACE" && !strings.HasPrefix(p, "$WORKSPACE/") && p != sandbox.SSHAgentEntry || strings.ContainsAny(p, "\x00\n") {
			return nil, fault.New(fault.InvalidArgument, "%q is not a path that a cage can be given", p).
				WithHint("Give an absolute path, or one that begins with ~/, $HOME/ or $WORKSPACE/.")
		}
		if err := sandbox.CheckEntry("The list", p, c.home, c.dataDir); err != nil {
			return nil, err
		}
		out = union(out, []string{p})
	}
	return out, nil
}
