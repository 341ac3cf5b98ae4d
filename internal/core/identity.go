package core

import (
	"context"
	"runtime"
	"slices"
	"strconv"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/ids"
	"termic/internal/store"
)

// Variables by which a program finds the endpoint, and shows who it is.
const (
	envMCPURL   = "TERMIC_MCP_URL"
	envMCPToken = "TERMIC_MCP_TOKEN"
)

// identity is what the program of one terminal can show to the endpoint. It is made at the start of the program and is
// worth nothing after its end.
type identity struct {
	entitled bool        // a program like this one gets a token while the endpoint serves
	grant    grant.Grant // that it gets or would get
	ticket   Ticket      // that it got; its Bind is 0 for none
}

// identify mints the token of a program that is about to start. The zero identity is that of a program without one.
//
// Without a cage an agent and the terminals of a person get a token of the full class: it tells who acts, and gives
// nothing that the same user could not read from a file. In a cage, and where a cage is only watched, an agent alone gets
// one, of the scoped class, and only if the task's MCP box is checked. What the app runs by itself never gets one.
func (c *Core) identify(ctx context.Context, task store.Task, tab store.Tab) (identity, error) {
	id := identity{}
	if c.endpoint == nil {
		return id, nil
	}
	if id.grant, id.entitled = entitlement(task, tab); !id.entitled {
		return id, nil
	}
	var err error
	if id.ticket, err = c.endpoint.Mint(ctx, id.grant); err != nil {
		return identity{}, err
	}
	return id, nil
}

// uncaged is the one mode in which a task is neither confined nor watched.
const uncaged = "off"

// entitlement says which grant the program of a tab gets, and whether it gets one.
func entitlement(task store.Task, tab store.Tab) (grant.Grant, bool) {
	g := grant.Grant{Principal: taskPrefix + task.ID, Task: task.ID, Terminal: tab.ID}
	switch {
	case task.Sandbox == uncaged && slices.Contains([]string{store.TabAgent, store.TabShell, store.TabTerminal}, tab.Kind):
		g.Class = grant.Full
		return g, true
	case task.Sandbox == uncaged || task.Sandbox == "" || tab.Kind != store.TabAgent || !task.MCP:
		return grant.Grant{}, false
	}
	g.Class, g.Projects = grant.Scoped, task.MCPProjects
	if g.Projects == nil {
		g.Projects = []string{task.ProjectID}
	}
	if task.Sandbox == "enforce" && ownNetwork {
		g.Door = ids.New()
	}
	return g, true
}

// ownNetwork: a cage that confines the network has one of its own, in which the endpoint is behind a door. On macOS such
// a cage reaches one port of the host instead.
const ownNetwork = runtime.GOOS == "linux"

// door is the name of the door that the token must come through; empty for none.
func (id identity) door() string { return id.grant.Door }

// connected reports whether there is a token.
func (id identity) connected() bool { return id.ticket.Bind != 0 }

// env adds what the program is told about the endpoint. Nothing else ever holds the token.
func (id identity) env(to map[string]string) {
	if id.connected() {
		to[envMCPURL], to[envMCPToken] = id.ticket.URL, id.ticket.Token.Reveal()
	}
}

// taskEnv is what every terminal of a task is told about it.
func (c *Core) taskEnv(t store.Task, id identity) map[string]string {
	caged := t.Sandbox != uncaged
	return map[string]string{
		"TERMIC_TASK": t.Name, "TERMIC_TASK_ID": t.ID, "TERMIC_PORT": strconv.Itoa(t.Port), "TERMIC_SANDBOX_MODE": t.Sandbox,
		"TERMIC_SANDBOX": map[bool]string{false: "0", true: "1"}[caged], "TERMIC_HELP": helpText(t, id),
	}
}

// helpText is what TERMIC_HELP says: where the program is, and the way in that it has.
func helpText(t store.Task, id identity) string {
	text := "You run inside Termic, task " + t.Name + ". Ports from TERMIC_PORT on are yours."
	if t.Sandbox == uncaged {
		text += " `termic help` lists what the command line can do; `termic status` tells about this task."
	}
	if id.connected() {
		text += "\nTo run other agents, use the tools of the MCP server \"termic\": task_new, task_send, task_wait, task_result." +
			"\nIf you have no such server: it is at $" + envMCPURL + " (streamable HTTP), bearer token in $" + envMCPToken + "; keep that to yourself."
	}
	return text
}

// connectTo is the address that an agent is connected to by its own arguments; empty for an agent that is not.
func (l *liveTab) connectTo() string {
	if l.identity.connected() && l.kind.Connects(l.identity.grant.Class == grant.Scoped) {
		return l.identity.ticket.URL
	}
	return ""
}

// revoke ends the token, with the calls that it let in.
func (id identity) revoke() {
	if id.ticket.Revoke != nil {
		id.ticket.Revoke()
	}
}

// terminalOf is the live terminal whose token a caller showed; nil for a caller without one, or when it has ended. What
// was provisioned for it is the most that the caller may do.
func (c *Core) terminalOf(caller grant.Caller) *liveTab {
	if caller.Terminal == "" {
		return nil
	}
	if l := c.liveOf(caller.Terminal); l != nil && l.task.ID == caller.Task {
		return l
	}
	return nil
}

// revokeTask ends all tokens of a task together. It is for changes of what its programs may do, which end them too.
func (c *Core) revokeTask(taskID string) {
	if c.endpoint != nil {
		c.endpoint.Revoke(func(g grant.Grant) bool { return g.Task == taskID && taskID != "" })
	}
}

// revokeProject ends all tokens of every task that may act on a project.
func (c *Core) revokeProject(projectID string) {
	if c.endpoint == nil {
		return
	}
	hit := map[string]bool{}
	c.endpoint.Revoke(func(g grant.Grant) bool {
		hit[g.Task] = hit[g.Task] || g.Task != "" && slices.Contains(g.Projects, projectID)
		return false
	})
	c.endpoint.Revoke(func(g grant.Grant) bool { return hit[g.Task] })
}

// connection is what a person is told about the endpoint and a live terminal; empty for one that gets no token anyway,
// and while nothing serves.
func (c *Core) connection(l *liveTab) string {
	if c.endpoint == nil || !l.identity.entitled {
		return ""
	}
	switch bind := c.endpoint.Bind(); {
	case bind == 0:
		return ""
	case bind == l.identity.ticket.Bind:
		return api.MCPConnected
	}
	return api.MCPRestart
}

// reconnectCaged starts again every caged agent whose token ended with an earlier bind: it holds an address and a token,
// and perhaps a cage, that are worth nothing now. It returns at once.
func (c *Core) reconnectCaged() {
	if c.endpoint == nil {
		return
	}
	bind := c.endpoint.Bind()
	if bind == 0 {
		return // there is nothing to connect to
	}
	for _, l := range c.liveTabs("") {
		if l.identity.grant.Class == grant.Scoped && l.identity.connected() && l.identity.ticket.Bind != bind {
			c.spawn(func() { c.reconnect(l) })
		}
	}
}

// reconnect ends the program of a tab and starts it again, with its conversation where the agent can resume one.
func (c *Core) reconnect(l *liveTab) {
	err := c.restart(l)
	switch {
	case err == nil, c.ctx.Err() != nil:
	case fault.CodeOf(err) == fault.Conflict:
		c.log.Info("agent was not started again", "tab", l.tab.ID, "err", err) // its tab or task was closed meanwhile
	default:
		c.log.Warn("agent was not started again", "tab", l.tab.ID, "err", err)
		c.notice("The agent of task %q was ended, since the MCP endpoint was started anew, and could not be started again: %s", l.task.Name, sentence(err))
	}
	c.beacon.change()
}

func (c *Core) restart(l *liveTab) error {
	release, err := c.holdStarts(c.ctx, l.task.ID)
	if err != nil {
		return err
	}
	defer release()
	if c.liveOf(l.tab.ID) != l {
		return nil // it ended meanwhile, or another change has started it again
	}
	// Nobody may take it for one that ended: prompts wait for the next program.
	c.setStarting(l.tab.ID, true)
	defer c.setStarting(l.tab.ID, false)
	select {
	case l.keys <- struct{}{}: // a prompt that is being typed comes to its end
		defer func() { <-l.keys }()
	case <-l.term.Done():
		return nil
	case <-c.ctx.Done():
		return ending()
	}
	if err := c.endTab(c.ctx, l, "reconnected"); err != nil {
		return err
	}
	tab, err := c.store.Tab(c.ctx, l.tab.ID)
	if err != nil {
		return err
	}
	how := c.howAgain(tab, l.task)
	how.unattended, how.size, how.limit = true, l.term.Size(), l.limit
	_, err = c.startHeld(c.ctx, l.task.ID, l.tab.ID, how)
	return err
}
