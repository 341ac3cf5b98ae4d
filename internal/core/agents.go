package core

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"termic/internal/agent"
	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/shellenv"
	"termic/settings"
)

// takeSettings makes the agent registry anew. Faulty agents are left out and named in the log; the settings' own
// problems are shown by the window.
func (c *Core) takeSettings(s settings.Settings) {
	customs := make([]agent.Custom, len(s.Agents))
	for i, a := range s.Agents {
		customs[i] = agent.Custom{ID: a.ID, Name: a.Name, Command: homePath(c.home, a.Command), Args: a.Args, Env: a.Env,
			MCPArgs: a.MCPArgs, Connect: agent.Connect(a.MCPConnect),
			YoloArgs: a.YoloArgs, ResumeArgs: a.ResumeArgs, SessionIDArgs: a.SessionIDArgs, ResumeIDArgs: a.ResumeIDArgs,
			Busy: a.Signals.Busy, Idle: a.Signals.Idle, Attention: a.Signals.Attention, Pending: a.Signals.Pending,
			WorkDone: a.WorkDone, Disabled: a.Disabled != nil && *a.Disabled,
			SandboxPaths: a.SandboxPaths, SandboxHosts: a.SandboxHosts, LoginStays: a.ReturnLogin != nil && !*a.ReturnLogin}
	}
	if note := c.settings.Note(); note != "" {
		c.log.Warn("settings with keys that are not known", "notes", note)
	}
	registry, problems := agent.NewRegistry(customs)
	notices := make([]string, 0, len(problems))
	for _, p := range problems {
		c.log.Warn("agent left out", "agent", p.ID, "field", p.Field, "err", p.Err)
		notices = append(notices, "Agent "+quoted(p.ID)+" in settings.toml was left out: "+p.Field+": "+p.Err.Error()+".")
	}
	c.agents.Store(registry)
	c.mu.Lock()
	c.agentNotices = notices
	c.mu.Unlock()
}

// homePath puts the home folder in the place of a ~ or $HOME that a path begins with, as a shell would.
func homePath(home, path string) string {
	for _, at := range []string{"~", "$HOME"} {
		if rest, ok := strings.CutPrefix(path, at+"/"); ok {
			return filepath.Join(home, rest)
		}
	}
	return path
}

// probeLimit bounds how long a call waits for the login shell before it goes on with what the app itself was given.
const probeLimit = 10 * time.Second

// environment returns what the login shell gives to children.
func (c *Core) environment(ctx context.Context) shellenv.Base {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	base, err := c.shell.Base(ctx)
	if err != nil {
		c.log.Warn("the login shell did not tell its environment", "shell", base.Shell, "err", err)
	}
	return base
}

func (c *Core) lookPath(ctx context.Context) agent.LookPath {
	env := shellenv.Build(shellenv.Options{Base: c.environment(ctx), Uncaged: true})
	return func(name string) (string, error) { return shellenv.LookPath(name, c.home, env) }
}

// TaskAgents is the verb task_agents. A caged agent is told of those that it may start.
func (c *Core) TaskAgents(ctx context.Context, call *Call, _ api.TaskAgentsParams) (api.TaskAgentsResult, error) {
	agents := c.shownAgents(ctx)
	if !confined(call.Caller) {
		return api.TaskAgentsResult{Agents: agents}, nil
	}
	allowed, err := c.agentsOfCaller(ctx, call.Caller)
	mine := []api.ListedAgent{}
	for _, a := range agents {
		if slices.Contains(allowed, a.ID) {
			mine = append(mine, a)
		}
	}
	return api.TaskAgentsResult{Agents: mine}, err
}

// shownFor is how long a list of agents is shown again before their programs are looked for anew. Looking asks the system
// about every agent in every folder of PATH, and clients ask for the list often. What is about to start an agent looks
// for itself.
const shownFor = time.Second

// shownList is a list of agents as it was a moment ago.
type shownList struct {
	registry *agent.Registry // that it was made of
	until    time.Time
	agents   []api.ListedAgent // not to be changed
}

// shownAgents lists the agents for somebody to read.
func (c *Core) shownAgents(ctx context.Context) []api.ListedAgent {
	registry := c.agents.Load()
	if s := c.shown.Load(); s != nil && s.registry == registry && time.Now().Before(s.until) {
		return s.agents
	}
	s := &shownList{registry: registry, agents: c.listAgents(c.lookPath(ctx)), until: time.Now().Add(shownFor)}
	c.shown.Store(s)
	return s.agents
}

func (c *Core) listAgents(look agent.LookPath) []api.ListedAgent {
	listed := c.agents.Load().List(look)
	out := make([]api.ListedAgent, len(listed))
	for i, l := range listed {
		kind := "custom"
		if l.Kind.Builtin {
			kind = "builtin"
		}
		out[i] = api.ListedAgent{ID: l.Kind.ID, Name: l.Kind.Name, Kind: kind, Enabled: l.Enabled, Installed: l.Installed,
			Usable: l.Usable, Path: l.Path, Reason: l.Reason, CanResume: l.Kind.CanResume()}
		if len(l.Kind.MCPArgs) > 0 {
			out[i].Connect = orElse(string(l.Kind.Connect), string(agent.ConnectCaged))
		}
	}
	return out
}

// chooseAgent finds the agent of a new task: the one asked for, the project's, the one of the settings, or the first
// that is installed.
func (c *Core) chooseAgent(ctx context.Context, asked, project string) (agent.Kind, error) {
	look := c.lookPath(ctx)
	for _, id := range []string{asked, project, c.settings.Get().Tasks.DefaultAgent} {
		if id != "" {
			kind, _, err := c.agents.Load().Check(id, look)
			return kind, err
		}
	}
	for _, l := range c.agents.Load().List(look) {
		if l.Usable {
			return l.Kind, nil
		}
	}
	return agent.Kind{}, fault.New(fault.Unavailable, "No agent is installed").
		WithHint("Install one, such as claude or codex, or name your own under [[agents]] in settings.toml.")
}
