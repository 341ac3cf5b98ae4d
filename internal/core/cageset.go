package core

import (
	"context"
	"slices"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/store"
	"termic/sandbox"
	"termic/sandbox/hosts"
	"termic/sandbox/registry"
)

// TaskSandbox is the verb task_sandbox: it shows how the agents of a task are caged, or changes it. A change ends the
// task's terminals and takes their tokens back: what runs must not go on with what it was given before.
func (c *Core) TaskSandbox(ctx context.Context, call *Call, p api.TaskSandboxParams) (api.TaskSandboxResult, error) {
	change, err := c.cageChange(ctx, call, p)
	if err != nil {
		return api.TaskSandboxResult{}, err
	}
	for _, take := range []func(context.Context) (func(), error){
		func(ctx context.Context) (func(), error) { return c.hold(ctx, call.Task) },
		func(ctx context.Context) (func(), error) { return c.holdStarts(ctx, call.Task) },
		c.holdCages,
	} {
		release, err := take(ctx)
		if err != nil {
			return api.TaskSandboxResult{}, err
		}
		defer release()
	}
	old, err := c.store.Task(ctx, call.Task)
	if err != nil {
		return api.TaskSandboxResult{}, err
	}
	next := old
	change(&next)
	if next.FromCage && len(next.Secrets) > 0 {
		return api.TaskSandboxResult{}, fault.New(fault.Forbidden, "A caged agent made this task, so it gets no secrets").WithHint("Make a task of your own for it.")
	}
	next, told, err := c.tightened(ctx, next)
	if err != nil {
		return api.TaskSandboxResult{}, err
	}
	if sameCage(old, next) {
		return c.cageResult(ctx, old, 0, told)
	}
	if err := c.cages.Check(sandbox.Mode(next.Sandbox)); err != nil {
		return api.TaskSandboxResult{}, err
	}
	looser := tightness(next.Sandbox) < tightness(old.Sandbox) && c.written(ctx, old)
	before := 0
	if looser && !p.AcceptFiles {
		if before, err = c.askLooser(ctx, old, next.Sandbox); err != nil {
			return api.TaskSandboxResult{}, err
		}
	}
	ended, err := c.recage(ctx, old.ID, func(t *store.Task) {
		t.Sandbox, t.MCP, t.MCPProjects, t.MCPAgents = next.Sandbox, next.MCP, next.MCPProjects, next.MCPAgents
		t.SandboxRead, t.SandboxWrite, t.SandboxHosts, t.Secrets = next.SandboxRead, next.SandboxWrite, next.SandboxHosts, next.Secrets
	})
	if err != nil {
		return api.TaskSandboxResult{}, err
	}
	if looser && !caged(next) {
		c.agree(old)
	}
	c.reviewed(ctx)
	return c.cageResult(ctx, next, before+ended, told)
}

// askLooser asks the owner about files that run by themselves before a cage is made looser. If there are none, it ends what
// runs and looks again: what was written since is not overlooked. It returns how many terminals it ended. The caller holds
// the task and its starts.
func (c *Core) askLooser(ctx context.Context, t store.Task, mode string) (ended int, err error) {
	then, agree := "agents run among them in a looser cage, or in none", "sandbox "+shellWord(t.Name)+" --mode "+mode+" --accept-files"
	if err := c.refuseSelfRun(ctx, t, then, agree); err != nil {
		return 0, err
	}
	c.revokeTask(t.ID)
	ended = len(c.liveTabs(t.ID))
	if _, err := c.endTask(ctx, t.ID, "sandbox"); err != nil {
		return ended, err
	}
	return ended, c.refuseSelfRun(ctx, t, then, agree)
}

// cageChange checks the arguments and returns what they do to a task.
func (c *Core) cageChange(ctx context.Context, call *Call, p api.TaskSandboxParams) (func(*store.Task), error) {
	k, err := c.knobs(ctx, call, knobParams{p.MCP, p.NoMCP, p.Projects, p.Agents, p.Read, p.Write, p.Hosts})
	if err != nil {
		return nil, err
	}
	secrets, err := c.secretNames(ctx, p.Secrets)
	return func(t *store.Task) {
		t.Sandbox = orElse(p.Mode, t.Sandbox)
		if given(p.Secrets) {
			t.Secrets = secrets
		}
		k.apply(knobTargets{&t.MCP, &t.MCPProjects, &t.MCPAgents, &t.SandboxRead, &t.SandboxWrite, &t.SandboxHosts})
	}, err
}

// recage revokes, ends what runs, cancels what caged agents sent, and only then stores the change: whatever fails on the
// way, nothing runs with more than is stored. It returns how many terminals it ended. The caller holds the task, its
// starts and the cages.
func (c *Core) recage(ctx context.Context, taskID string, change func(*store.Task)) (ended int, err error) {
	c.revokeTask(taskID)
	ended = len(c.liveTabs(taskID))
	if _, err := c.endTask(ctx, taskID, "sandbox"); err != nil {
		return ended, err
	}
	prompts, err := c.store.PromptsOf(ctx, taskID)
	if err != nil {
		return ended, err
	}
	tabs, err := c.store.Tabs(ctx, taskID)
	if err != nil {
		return ended, err
	}
	err = c.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		for _, p := range prompts {
			if p.FromTask == "" {
				continue
			}
			// One that was being typed has lost its terminal, and its delivery may be about to put it back.
			err := tx.SetPromptState(ctx, p.ID, store.PromptCancelled, "The sandbox of the task was changed.", store.PromptQueued, store.PromptDelivering)
			if err != nil && fault.CodeOf(err) != fault.Conflict {
				return err
			}
		}
		moved := false
		_, err := tx.UpdateTask(ctx, taskID, func(t *store.Task) error {
			was := caged(*t)
			change(t)
			moved = was != caged(*t)
			return nil
		})
		if err != nil || !moved {
			return err
		}
		return forgetTalks(ctx, tx, tabs)
	})
	c.beacon.change()
	return ended, err
}

// forgetTalks lets the agents of a task begin anew: a conversation that was had in a cage lies in its private home, was
// written by what runs there, and is not taken up outside; nor the other way round.
func forgetTalks(ctx context.Context, tx *store.Tx, tabs []store.Tab) error {
	for _, tab := range agentTabs(tabs) {
		_, err := tx.UpdateTab(ctx, tab.ID, func(t *store.Tab) error { t.SessionID, t.SessionUsed = "", false; return nil })
		if err != nil {
			return err
		}
	}
	return nil
}

func sameCage(a, b store.Task) bool {
	return a.Sandbox == b.Sandbox && a.MCP == b.MCP && slices.Equal(projectsOf(a), projectsOf(b)) && slices.Equal(agentsOf(a), agentsOf(b)) &&
		slices.Equal(a.Secrets, b.Secrets) && slices.Equal(a.SandboxRead, b.SandboxRead) && slices.Equal(a.SandboxWrite, b.SandboxWrite) && slices.Equal(a.SandboxHosts, b.SandboxHosts)
}

func (c *Core) cageResult(ctx context.Context, t store.Task, ended int, told []string) (api.TaskSandboxResult, error) {
	names, err := c.projectNames(ctx)
	if err != nil {
		return api.TaskSandboxResult{}, err
	}
	layers, err := c.shownLayers(ctx, t)
	if err != nil {
		return api.TaskSandboxResult{}, err
	}
	older, err := c.runsOlder(ctx, t)
	return api.TaskSandboxResult{Restart: older, TaskID: t.ID, Mode: t.Sandbox, Cage: *taskCage(t, names), Ended: ended, Warnings: told, Layers: layers, Secrets: t.Secrets}, err
}

// runsOlder reports whether a program of the task runs in a cage that its lists were changed after.
func (c *Core) runsOlder(ctx context.Context, t store.Task) (bool, error) {
	for _, l := range c.liveInWalls(t.ID) {
		now, err := c.wishDigest(ctx, t, l.kind.ID)
		if err != nil || l.walls.digest != "" && l.walls.digest != now {
			return err == nil, err
		}
	}
	return false, nil
}

// knobParams are the arguments that a task and a project have in common.
type knobParams struct {
	mcp, noMCP                           bool
	projects, agents, read, write, hosts []string
}

// knobTargets are where they are stored.
type knobTargets struct {
	mcp                                  *bool
	projects, agents, read, write, hosts *[]string
}

// knobSet is a checked change.
type knobSet struct {
	mcp   *bool
	lists []*[]string // in the order of knobTargets; nil: left as it is
}

// knobs checks what was given.
func (c *Core) knobs(ctx context.Context, call *Call, p knobParams) (knobSet, error) {
	var k knobSet
	if p.mcp || p.noMCP {
		k.mcp = &p.mcp
	}
	rules := func(list []string) ([]string, error) { return c.hostRules(ctx, list) }
	projects := func(list []string) ([]string, error) { return c.projectIDs(ctx, call.Caller, list) }
	for _, l := range []struct {
		given []string
		check func([]string) ([]string, error)
	}{{p.projects, projects}, {p.agents, c.agentIDs}, {p.read, c.paths}, {p.write, c.paths}, {p.hosts, rules}} {
		if !given(l.given) {
			k.lists = append(k.lists, nil)
			continue
		}
		list, err := l.check(l.given)
		if err != nil {
			return k, err
		}
		k.lists = append(k.lists, &list)
	}
	return k, nil
}

func (k knobSet) apply(to knobTargets) {
	if k.mcp != nil {
		*to.mcp = *k.mcp
	}
	for i, target := range []*[]string{to.projects, to.agents, to.read, to.write, to.hosts} {
		if k.lists[i] != nil {
			*target = *k.lists[i]
		}
	}
}

// hostRules refuses what is neither a rule nor the name of a list of rules or of a netgroup.
func (c *Core) hostRules(ctx context.Context, list []string) ([]string, error) {
	var out []string
	for _, h := range meant(list) {
		if name, is := sandbox.NetgroupIn(h); is {
			if err := sandbox.CheckNetgroupEntry(h); err != nil {
				return nil, err
			}
			if _, err := c.netgroupOf(ctx, name); err != nil {
				return nil, err
			}
			out = union(out, []string{strings.TrimSpace(h)})
			continue
		}
		if _, known := sandbox.Preset(h); !known && h != registry.Preset {
			r, err := hosts.ParseRule(h)
			if err != nil {
				return nil, err
			}
			h = r.String()
		}
		out = union(out, []string{h})
	}
	return out, nil
}

// SandboxAllow is the verb sandbox_allow: it adds one host or path to the lists of a task, of its project, or of its agent.
// Nothing that runs is ended: it keeps the cage that it has until it is started again.
func (c *Core) SandboxAllow(ctx context.Context, call *Call, p api.SandboxAllowParams) (api.SandboxAllowResult, error) {
	kind, target, err := c.allowed(ctx, p)
	if err != nil {
		return api.SandboxAllowResult{}, err
	}
	t, err := c.store.Task(ctx, call.Task)
	if err != nil {
		return api.SandboxAllowResult{}, err
	}
	release, err := c.holdCages(ctx)
	if err != nil {
		return api.SandboxAllowResult{}, err
	}
	defer release()
	result := api.SandboxAllowResult{TaskID: t.ID, Kind: kind, Target: target, For: orElse(p.For, "task"), Restart: len(c.liveInWalls(t.ID)) > 0}
	switch result.For {
	case "task":
		_, err = c.store.UpdateTask(ctx, t.ID, func(t *store.Task) error {
			result.Changed = addTo(map[string]*[]string{api.DenyHost: &t.SandboxHosts, api.DenyRead: &t.SandboxRead, api.DenyWrite: &t.SandboxWrite}[kind], target)
			return nil
		})
	case "project":
		if t.FromCage {
			return result, fault.New(fault.Unsupported, "The task was created by a caged agent, so the lists of its project do not hold for it").WithHint("Allow it for the task.")
		}
		_, err = c.store.UpdateProject(ctx, t.ProjectID, func(p *store.Project) error {
			result.Changed = addTo(map[string]*[]string{api.DenyHost: &p.SandboxHosts, api.DenyRead: &p.SandboxRead, api.DenyWrite: &p.SandboxWrite}[kind], target)
			return nil
		})
	case "agent":
		result.Changed, err = c.allowForAgent(ctx, t.Agent, kind, target)
	}
	result.Restart = result.Restart && result.Changed
	c.beacon.change()
	return result, err
}

// allowed reads which one thing is to be allowed.
func (c *Core) allowed(ctx context.Context, p api.SandboxAllowParams) (kind, target string, err error) {
	given := map[string]string{api.DenyHost: p.Host, api.DenyRead: p.Read, api.DenyWrite: p.Write}
	for k, v := range given {
		if v == "" {
			delete(given, k)
		}
	}
	if len(given) != 1 {
		return "", "", fault.New(fault.InvalidArgument, "Say one thing to allow: a host, a path to read, or a path to write")
	}
	for kind, target = range given {
	}
	var list []string
	if kind == api.DenyHost {
		list, err = c.hostRules(ctx, []string{target})
	} else {
		list, err = c.paths([]string{target})
	}
	if err != nil {
		return "", "", err
	}
	return kind, list[0], nil
}

// addTo adds to a list what is not in it, and reports whether it did.
func addTo(list *[]string, s string) bool {
	n := len(*list)
	*list = union(*list, []string{s})
	return len(*list) > n
}

// allowForAgent adds to the agent's entry in settings.toml. Its paths are for writing, so one to read alone is not for it.
func (c *Core) allowForAgent(ctx context.Context, agentID, kind, target string) (bool, error) {
	if agentID == "" || kind == api.DenyRead {
		return false, fault.New(fault.Unsupported, "The settings of an agent hold hosts and paths to write, none to read alone").
			WithHint("Allow it for the task or the project.")
	}
	var paths, names []string
	for _, a := range c.settings.Get().Agents {
		if a.ID == agentID {
			paths, names = a.SandboxPaths, a.SandboxHosts
		}
	}
	key, list := "agents."+agentID+".sandbox_hosts", &names
	if kind == api.DenyWrite {
		key, list = "agents."+agentID+".sandbox_paths", &paths
	}
	if !addTo(list, target) {
		return false, nil
	}
	return true, c.settings.Patch(ctx, map[string]any{key: *list})
}

// liveInWalls are the programs of a task that run in its cage, or would if it had one.
func (c *Core) liveInWalls(taskID string) []*liveTab {
	return slices.DeleteFunc(c.liveTabs(taskID), func(l *liveTab) bool { return !l.inWalls() })
}

// shownLayers are the lists of a task's agent with the kind of each, the built-in ones first.
func (c *Core) shownLayers(ctx context.Context, t store.Task) ([]api.CageLayer, error) {
	layers, err := c.layersOf(ctx, t, t.Agent)
	if err != nil {
		return nil, err
	}
	system, own := sandbox.BuiltIn(t.Agent)
	out := []api.CageLayer{{Kind: api.LayerBuiltIn, Read: system}}
	if len(own) > 0 {
		out = append(out, api.CageLayer{Kind: api.LayerAgent, Hosts: own})
	}
	for _, l := range layers {
		if len(l.Read)+len(l.Write)+len(l.Hosts) > 0 {
			out = append(out, api.CageLayer{Kind: layerKind(l.Name), Read: l.Read, Write: l.Write, Hosts: l.Hosts})
		}
	}
	return out, nil
}

func layerKind(name string) string {
	switch {
	case name == layerTask:
		return api.LayerTask
	case name == layerProject:
		return api.LayerProject
	case name == layerSettings:
		return api.LayerSettings
	case strings.HasPrefix(name, layerAgent):
		return api.LayerAgent
	}
	return api.LayerRepo
}
