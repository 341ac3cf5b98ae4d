package core

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/ptyhost"
	"termic/internal/repofile"
	"termic/internal/store"
	"termic/internal/worktree"
	"termic/sandbox"
)

// Ports of the doors inside a cage. They exist in its own network alone, so they can be the same in every cage.
const (
	proxyPort      = 18099 // below the blocks of TERMIC_PORT
	otherProxyPort = 18098 // where the endpoint has the first
)

// cageOpenFiles bounds the descriptors of each process of a cage.
const cageOpenFiles = 65536

// leastMemory of a cage in bytes: with less its first programs would not start.
const leastMemory = 256 << 20

// cageLimits bound all processes of one cage together, as the settings say. They stop a runaway, not a build: a quarter of the
// machine's memory stays for everything else.
func (c *Core) cageLimits() sandbox.Limits {
	s := c.settings.Get().Sandbox
	memory := max(int64(s.MemoryMiB)<<20, leastMemory)
	if s.MemoryMiB == 0 {
		memory = sandbox.MachineMemory() / 4 * 3
	}
	return sandbox.Limits{Processes: int64(s.Processes), Memory: memory, OpenFiles: cageOpenFiles}
}

// walls are what stands around the program of one live terminal, or only watches it. The zero value is that of a program
// without any.
type walls struct {
	policy sandbox.Policy
	made   bool   // there is a policy: the program is an agent's
	digest string // of what was stored when they were made
	home   string // the private home on the host; empty for none
	since  time.Time

	mu       sync.Mutex // guards the following
	standing *sandbox.Provisioned
	closers  []func()
	closed   bool
	notes    []string // sentences for the owner about what came of the start
}

// onClose keeps what has to end with the walls; it ends at once when they are gone already.
func (w *walls) onClose(f func()) {
	w.mu.Lock()
	closed := w.closed
	if !closed {
		w.closers = append(w.closers, f)
	}
	w.mu.Unlock()
	if closed {
		f()
	}
}

// close ends what serves the program. It may be called more than once.
func (w *walls) close() {
	w.mu.Lock()
	closers := w.closers
	w.closers, w.closed = nil, true
	w.mu.Unlock()
	for _, f := range closers {
		f()
	}
	_ = w.policy.Remove() // a folder of ours that is left is taken away with the homes of the task
}

// caged reports whether the agents of a task run inside walls. A task that is only watched does not.
func caged(t store.Task) bool {
	m := sandbox.Mode(t.Sandbox)
	return m == sandbox.EnforceFs || m == sandbox.Enforce
}

// repoFor is the repository as git may be run for the tree of a task: as in the user's shell, or, where a cage could have
// written the tree, without anything that a tree can make git run.
func (c *Core) repoFor(repo *worktree.Repo, t store.Task) *worktree.Repo {
	if c.cageWrites(t) {
		return c.readerFor(repo, t)
	}
	return repo.Plain()
}

// readerFor is the repository as git may be run to look at the tree of a task. Filters stay off even where no cage writes:
// looking starts no program of a repository's choice.
func (c *Core) readerFor(repo *worktree.Repo, t store.Task) *worktree.Repo {
	if c.cageWrites(t) {
		return repo.Behind(c.machine.Room)
	}
	return repo
}

// writtenByCage reports whether a cage could have written the tree of a task by what is stored of it; see cageWrites.
func writtenByCage(t store.Task) bool { return caged(t) || t.FromCage }

// cageWrites reports whether a cage could have written the tree of a task, or is writing it. What is stored does not say it
// all: a .termic.yaml tightens a task at its start, and a cage that was taken away leaves what it wrote. All tasks of a
// main checkout share its tree.
func (c *Core) cageWrites(t store.Task) bool {
	if c.ownCageWrites(t) || !t.IsMain {
		return c.ownCageWrites(t)
	}
	tasks, err := c.store.Tasks(c.ctx, store.TaskFilter{ProjectID: t.ProjectID})
	return err != nil || slices.ContainsFunc(tasks, func(o store.Task) bool { return o.IsMain && c.ownCageWrites(o) })
}

// ownCageWrites is cageWrites for the cage of the task alone.
func (c *Core) ownCageWrites(t store.Task) bool {
	return writtenByCage(t) || c.runsCaged(t.ID) || c.marked(t.ID) && !c.onlyInherited(t.ID)
}

// runsCaged reports whether a program of a task is in a cage now.
func (c *Core) runsCaged(taskID string) bool {
	return slices.ContainsFunc(c.liveInWalls(taskID), func(l *liveTab) bool { return caged(l.task) })
}

// policyOf composes what the cage of an agent in a task is made of, as it is stored now. port is that of the endpoint, 0
// for an agent without a way to it. It makes the private home, and changes nothing else.
func (c *Core) policyOf(ctx context.Context, t store.Task, agentID, program string, port int) (sandbox.Policy, error) {
	mode := sandbox.Mode(t.Sandbox)
	if !caged(t) {
		return sandbox.Compose(sandbox.Wish{Mode: mode, Secrets: t.Secrets})
	}
	layers, err := c.layersOf(ctx, t, agentID)
	if err == nil {
		layers, err = c.withRegistries(ctx, layers)
	}
	if err != nil {
		return sandbox.Policy{}, err
	}
	home := c.homeOf(t.ID)
	if err := os.MkdirAll(home, 0o700); err != nil {
		return sandbox.Policy{}, fault.Wrap(err, fault.Unavailable, "The private home of the task %q cannot be made", t.Name)
	}
	w := sandbox.Wish{SSHAgent: c.environment(ctx).Env["SSH_AUTH_SOCK"], Mode: mode, Layers: layers, TaskID: t.ID, Project: t.ProjectID, Projects: projectsOf(t), Agents: agentsOf(t), Agent: agentID,
		Worktree: t.Path, InPlace: t.IsMain, Home: c.home, HomeDir: home, DataDir: c.dataDir, Program: program,
		Path: filepath.SplitList(c.environment(ctx).Env["PATH"]), MCP: t.MCP, MCPPort: port, Ports: inboundPorts(t), Secrets: t.Secrets}
	if w.ProxyPort = proxyPort; port == proxyPort {
		w.ProxyPort = otherProxyPort
	}
	if t.IsMain {
		w.Pinned = []string{repofile.Name} // what the cages of the project are made from
	}
	if w.Netgroups, err = c.netgroupsIn(ctx, layers); err != nil {
		return sandbox.Policy{}, err
	}
	if w.Written, err = c.everWritten(ctx); err != nil {
		return sandbox.Policy{}, err
	}
	if err := c.gitFolders(ctx, t, &w); err != nil {
		return sandbox.Policy{}, err
	}
	policy, err := sandbox.Compose(w)
	if err != nil {
		err = c.sayHow(ctx, t, agentID, layers, err)
	}
	return policy, err
}

// everWritten are the folders that cages of any task may write or may have written, as the lists name them.
func (c *Core) everWritten(ctx context.Context) ([]string, error) {
	tasks, err := c.store.Tasks(ctx, store.TaskFilter{All: true})
	if err != nil {
		return nil, err
	}
	projects, err := c.store.Projects(ctx)
	if err != nil {
		return nil, err
	}
	s := c.settings.Get()
	out := s.Sandbox.Write
	for _, a := range s.Agents {
		out = union(out, a.SandboxPaths)
	}
	for _, p := range projects {
		out = union(out, p.SandboxWrite)
	}
	for _, t := range tasks {
		if out = union(out, t.SandboxWrite); c.ownCageWrites(t) && !t.Archived() {
			out = union(out, []string{t.Path})
		}
	}
	return slices.DeleteFunc(slices.Clone(out), func(p string) bool {
		return p == sandbox.SSHAgentEntry || strings.HasPrefix(p, "$WORKSPACE") // of each task's own, or none
	}), nil
}

// gitFolders adds where git keeps the task's tree, as the repository says and not the tree.
func (c *Core) gitFolders(ctx context.Context, t store.Task, w *sandbox.Wish) error {
	project, err := c.store.Project(ctx, t.ProjectID)
	if err != nil || project.NonGit {
		return err
	}
	repo, err := c.repoOf(ctx, project)
	if err != nil {
		return err
	}
	w.GitCommonDir = repo.CommonDir()
	w.GitDir, err = repo.AdminDir(t.Path)
	return err
}

// inboundPorts are the ports of a task that a person's browser reaches.
func inboundPorts(t store.Task) []int {
	ports := make([]int, 0, store.PortBlock)
	for i := range store.PortBlock {
		ports = append(ports, t.Port+i)
	}
	return ports
}

// wishDigest tells whether what is stored for the cage of an agent is what it was.
func (c *Core) wishDigest(ctx context.Context, t store.Task, agentID string) (string, error) {
	layers, err := c.layersOf(ctx, t, agentID)
	if err != nil {
		return "", err
	}
	groups, err := c.netgroupsIn(ctx, layers)
	if err != nil {
		return "", err
	}
	raw, err := json.Marshal([]any{t.Sandbox, t.MCP, projectsOf(t), agentsOf(t), layers, groups})
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), err
}

// planWalls changes the plan of an agent's start so that it happens inside the walls that its task asks for. It fails
// closed: a task that asks for walls has them, or nothing starts.
func (c *Core) planWalls(ctx context.Context, l *liveTab, spec *ptyhost.Spec) (err error) {
	if !l.inWalls() {
		return nil // what a person opens is not caged
	}
	w, base := &l.walls, c.environment(ctx)
	mode := sandbox.Mode(l.task.Sandbox)
	if err := c.cages.Check(mode); err != nil {
		return err
	}
	if w.digest, err = c.wishDigest(ctx, l.task, l.kind.ID); err != nil {
		return err
	}
	if w.policy, err = c.policyOf(ctx, l.task, l.kind.ID, spec.Argv[0], l.doorPort()); err != nil {
		return err
	}
	w.made = true
	switch {
	case mode == sandbox.Monitor:
		return c.watch(ctx, l, spec, base)
	case !caged(l.task):
		return nil
	}
	home, err := c.prepareHome(ctx, l, base)
	if err != nil {
		return err
	}
	if err := c.refs.enter(ctx, l); err != nil {
		return err
	}
	if l.tab.Kind == store.TabAgent {
		spec.Argv = append(spec.Argv, home.Args...)
	}
	spec.Env = cageEnv(base, home, l.told)
	if socket := w.policy.SSHAgent(); socket != "" {
		spec.Env = append(spec.Env, "SSH_AUTH_SOCK="+socket)
	}
	if l.tab.Kind == store.TabCaged {
		spec.Env = append(spec.Env, cagePrompt(base.Shell))
	}
	spec.Start = func(path string, s ptyhost.Spec) (ptyhost.Started, error) { return c.startWalled(l, path, s) }
	return nil
}

// leave ends what a program had from us: its token, and what served its walls.
func (l *liveTab) leave() {
	l.identity.revoke()
	l.walls.close()
}

// doorPort is the endpoint's port as the program sees it; 0 without a way to it.
func (l *liveTab) doorPort() int {
	if l.identity.connected() && l.identity.grant.Class == grant.Scoped {
		return l.identity.ticket.Port
	}
	return 0
}

// startWalled builds the cage of an agent and starts it in there.
func (c *Core) startWalled(l *liveTab, path string, s ptyhost.Spec) (ptyhost.Started, error) {
	w := &l.walls
	upstream, err := upstreamOf(c.environment(c.ctx))
	if err != nil && w.policy.OwnNetwork() {
		return ptyhost.Started{}, err
	}
	pr, err := sandbox.Provision(c.ctx, w.policy, sandbox.Launch{Argv: append([]string{path}, s.Argv[1:]...), Env: s.Env, Dir: s.Dir,
		Terminal: &sandbox.Size{Cols: s.Size.Cols, Rows: s.Size.Rows}, Limits: c.cageLimits(),
		OnDecision: c.hearHosts(l), OnAct: c.hearActs(l, false), Reads: c.settings.Get().Sandbox.RecordReads, Own: c.ownAddresses, Upstream: upstream, Log: c.log})
	if err != nil {
		return ptyhost.Started{}, err
	}
	w.mu.Lock()
	w.standing, w.since = pr, time.Now()
	w.mu.Unlock()
	if door := pr.EndpointDoor(); door != nil {
		shut, err := c.endpoint.OpenDoor(door, l.identity.door())
		switch {
		case err == nil:
			w.onClose(shut)
		case fault.CodeOf(err) != fault.Conflict: // it serves no more: the token is worthless, and the agent is started again
			return ptyhost.Started{}, undo(pr, err)
		}
	}
	if err := c.guardPins(l, pr); err != nil {
		return ptyhost.Started{}, undo(pr, err)
	}
	if w.policy.OwnNetwork() && l.tab.Kind == store.TabAgent { // a script would have the ports first
		c.openInbound(l, pr)
	}
	return ptyhost.Started{PTY: pr.Terminal(), Pid: pr.Pid(), First: pr.First(), End: pr.Kill, Wait: func() ptyhost.ExitStatus {
		exit := pr.Wait()
		w.close()
		return exitOf(exit)
	}}, nil
}

// undo ends a cage that was started for nothing.
func undo(pr *sandbox.Provisioned, why error) error {
	pr.Kill()
	pr.Wait()
	return errors.Join(why, pr.Terminal().Close())
}

// exitOf is how a caged program ended, in the words of terminals.
func exitOf(e sandbox.Exit) ptyhost.ExitStatus {
	if e.Signal != "" {
		return ptyhost.ExitStatus{Code: -1, Signal: sandbox.SignalName(e.Signal), Cause: ptyhost.CauseSignal}
	}
	if e.Code < 0 {
		return ptyhost.ExitStatus{Code: -1, Cause: ptyhost.CauseLost}
	}
	return ptyhost.ExitStatus{Code: e.Code, Cause: ptyhost.CauseExit}
}

// inForce tells what holds around a live program; nil for one that is not an agent's.
func (c *Core) inForce(ctx context.Context, l *liveTab) *api.CageInForce {
	if !l.walls.made {
		return nil
	}
	l.walls.mu.Lock()
	standing, since, notes := l.walls.standing, l.walls.since, slices.Clone(l.walls.notes)
	l.walls.mu.Unlock()
	f := &api.CageInForce{Mode: string(l.walls.policy.Mode()), Since: since.UTC().Format(time.RFC3339)}
	if since.IsZero() {
		f.Since = l.started.UTC().Format(time.RFC3339)
	}
	if standing != nil {
		e := standing.Holds()
		f.Walls, f.Limits, f.Notes, f.AsRoot = e.Walls, e.Limits, e.Notes, e.AsRoot
	}
	f.Notes = append(append(f.Notes, l.walls.policy.Warnings()...), notes...)
	if task, err := c.store.Task(ctx, l.task.ID); err == nil {
		if task, _, err = c.tightened(ctx, task); err == nil {
			digest, derr := c.wishDigest(ctx, task, l.kind.ID)
			f.Restart = derr == nil && digest != l.walls.digest
		} else if !errors.Is(err, context.Canceled) {
			f.Notes = append(f.Notes, sentence(err))
		}
	}
	return f
}
