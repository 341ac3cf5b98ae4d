package core

import (
	"context"
	"maps"
	"sync"
	"time"

	"termic/internal/agent"
	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/ptyhost"
	"termic/internal/shellenv"
	"termic/internal/store"
	"termic/internal/worktree"
	"termic/sandbox"
)

// failedResume is how soon after its start a resumed agent must end for the resume itself to be what failed.
const failedResume = 2 * time.Second

// liveTab is a tab with a running program. Its runner goroutine types the prompts of its queue; the runner is owned by
// Core, ends with the program, and is waited for by Core.Close.
type liveTab struct {
	tab      store.Tab
	task     store.Task
	kind     agent.Kind // of agent tabs
	term     *ptyhost.Terminal
	det      *agent.Detector // of agent tabs
	row      string          // its row among the stored terminals
	session  string          // conversation of this spawn; "" when the agent chooses its own
	started  time.Time
	resumed  bool
	identity identity
	walls    walls
	limit    *sandbox.Capability  // of whoever asked for the start; nil for none
	secrets  map[string]time.Time // those in its environment, and of when their values are
	told     map[string]string    // what the program is told beside the environment of every child; nil once it was started
	kick     chan struct{}        // wakes the runner; holds one
	keys     chan struct{}        // held by whoever types; holds one
	turned   chan struct{}        // the agent may have settled; holds one

	mu       sync.Mutex // guards the following
	fresh    bool       // nothing was typed by us yet
	used     bool       // the conversation was stored as used
	gone     bool       // its program has ended
	ending   string     // why we end it: "closed", "archived", "stopped"; empty when it ends by itself
	lastSend time.Time
	entered  time.Time // the Enter of the newest prompt that we typed
}

// startHow says how to start the program of a tab.
type startHow struct {
	resume     bool // take up the stored conversation
	byDir      bool // or the newest of the folder
	fresh      bool // forget the stored conversation
	unattended bool // a prompt will be typed before a person looks
	accept     bool // the owner agreed to files that run by themselves
	// limit is what the program may do at most; nil: whatever its task may.
	limit *sandbox.Capability
	size  ptyhost.Size
}

// startTab starts the program of a tab that has none. A tab that runs already is left alone and returned. A task that is
// being archived is waited for, and then refused.
func (c *Core) startTab(ctx context.Context, taskID, tabID string, how startHow) (*liveTab, error) {
	release, err := c.holdStarts(ctx, taskID)
	if err != nil {
		return nil, err
	}
	defer release()
	return c.startHeld(ctx, taskID, tabID, how)
}

// startHeld is startTab for a caller that holds the starts of the task.
func (c *Core) startHeld(ctx context.Context, taskID, tabID string, how startHow) (*liveTab, error) {
	if l := c.liveOf(tabID); l != nil {
		return l, how.limited(capabilityOf(l))
	}
	l, spec, err := c.planSpawn(ctx, taskID, tabID, how)
	if err != nil {
		return nil, err
	}
	l.limit = how.limit
	if err = c.planWalls(ctx, l, &spec); err == nil {
		err = how.limited(capabilityOf(l))
	}
	if err == nil {
		err = c.beforeStart(ctx, l, how.accept)
	}
	if err != nil {
		l.leave()
		return nil, err
	}
	return l, c.launch(ctx, l, spec)
}

// holdStarts keeps programs of a task from starting until release is called. Whoever ends them for good holds it from
// before the end until the rows say so: else one that starts in between would live on in a folder that is gone.
func (c *Core) holdStarts(ctx context.Context, taskID string) (release func(), err error) {
	return c.hold(ctx, "starts:"+taskID)
}

// planSpawn reads the rows and makes the command and its environment.
func (c *Core) planSpawn(ctx context.Context, taskID, tabID string, how startHow) (*liveTab, ptyhost.Spec, error) {
	task, err := c.store.Task(ctx, taskID)
	if err != nil {
		return nil, ptyhost.Spec{}, err
	}
	tab, err := c.store.Tab(ctx, tabID)
	if err != nil {
		return nil, ptyhost.Spec{}, err
	}
	if task, _, err = c.tightened(ctx, task); err != nil {
		return nil, ptyhost.Spec{}, err
	}
	if err := c.usableTree(task); err != nil {
		return nil, ptyhost.Spec{}, err
	}
	if !tab.ClosedAt.IsZero() {
		return nil, ptyhost.Spec{}, fault.New(fault.Conflict, "The tab %q was closed", tab.Title)
	}
	l := &liveTab{tab: tab, task: task, kick: make(chan struct{}, 1), keys: make(chan struct{}, 1), turned: make(chan struct{}, 1), fresh: true, resumed: how.resume}
	base := c.environment(ctx)
	spec := ptyhost.Spec{ID: tab.ID, Dir: task.Path, Size: how.size, ScrollbackLines: c.settings.Get().Terminal.ScrollbackLines}
	if l.identity, err = c.identify(ctx, task, tab); err != nil {
		return nil, ptyhost.Spec{}, err
	}
	extra := c.taskEnv(task, l.identity)
	if how.limit != nil || tab.Kind != store.TabAgent {
		l.task.Secrets = nil // what a caged agent starts gets none, nor does what is no agent: neither is in a capability
	}
	switch tab.Kind {
	case store.TabAgent:
		if err := c.planAgent(ctx, l, &spec, how); err != nil {
			l.identity.revoke()
			return nil, ptyhost.Spec{}, err
		}
		maps.Copy(extra, l.kind.Env)
		if err := c.reveal(ctx, l, extra); err != nil {
			l.identity.revoke()
			return nil, ptyhost.Spec{}, err
		}
	case store.TabShell:
		spec.Argv = []string{base.Shell, "-l"}
	case store.TabCaged:
		if err := needsCage(task); err != nil {
			l.identity.revoke()
			return nil, ptyhost.Spec{}, err
		}
		spec.Argv = cagedShell(base.Shell)
	default:
		spec.Argv = tab.Command
	}
	if tab.Kind != store.TabAgent && l.inWalls() {
		if l.kind, _, err = c.agents.Load().Check(task.Agent, c.lookPath(ctx)); err != nil { // whose cage it shares
			l.identity.revoke()
			return nil, ptyhost.Spec{}, err
		}
	}
	l.identity.env(extra)
	l.told = extra
	spec.Env = shellenv.Build(shellenv.Options{Base: base, Extra: extra, Uncaged: true})
	return l, spec, nil
}

// planAgent makes the argument vector of an agent and its detector.
func (c *Core) planAgent(ctx context.Context, l *liveTab, spec *ptyhost.Spec, how startHow) (err error) {
	var program string
	if l.kind, program, err = c.agents.Load().Check(l.tab.Agent, c.lookPath(ctx)); err != nil {
		return err
	}
	slug, err := worktree.Slug(l.task.Name)
	if err != nil {
		slug = l.task.ID
	}
	vars := agent.Vars{TaskName: l.task.Name, TaskSlug: slug, TaskID: l.task.ID, TaskPath: l.task.Path, Branch: l.task.Branch, Port: l.task.Port}
	o := agent.LaunchOptions{SessionID: sessionOf(l.tab), Resume: how.resume, ResumeByDir: how.byDir, Fresh: how.fresh,
		Yolo: l.task.Yolo || caged(l.task), Unattended: how.unattended, Vars: vars, MCPURL: l.connectTo()}
	if spec.Argv, l.session, err = agent.Launch(l.kind, o); err != nil {
		return err
	}
	spec.Argv[0] = program
	return nil
}

// launch starts the program and puts the tab among the live ones. The row that finds a leftover after a crash is
// written right after the start; until then the environment of the program names its task.
func (c *Core) launch(ctx context.Context, l *liveTab, spec ptyhost.Spec) error {
	ready := make(chan struct{})      // closed once l.term is set: the tap comes from another goroutine
	registered := make(chan struct{}) // closed once l is live or given up: one that ends at once ends after that
	var signals func([]byte)
	if l.tab.Kind == store.TabAgent {
		signals = c.watchAgent(l, ready)
	}
	spec.Tap = signals
	spec.OnExit = func(e ptyhost.ExitStatus) {
		<-registered
		c.exited(l, e)
	}
	c.host.Forget(l.tab.ID)
	term, err := c.host.Start(spec)
	l.told = nil // the token in it shall not lie about
	if err != nil {
		l.leave()
		return err
	}
	l.term, l.started = term, time.Now()
	close(ready)
	err = c.registerLive(ctx, l)
	close(registered)
	if err != nil {
		l.identity.revoke()
		_ = term.End(context.WithoutCancel(ctx), 0) // the error that stopped us is the one to tell
		return err
	}
	c.beacon.change()
	c.reconnectCaged() // the endpoint may have been bound anew since the token was minted
	return nil
}

// registerLive stores the terminal, makes the tab live and starts its runner.
func (c *Core) registerLive(ctx context.Context, l *liveTab) error {
	r := l.term.Remnant()
	err := c.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		row, err := tx.PutTerminal(ctx, store.Terminal{TabID: l.tab.ID, TaskID: l.task.ID, PID: r.Pid, PGID: r.Pgid, SID: r.Sid, StartTicks: r.Start, BootID: r.Boot, Capability: provisioned(l)})
		if err != nil {
			return err
		}
		l.row = row.ID
		if err := tx.UseSecrets(ctx, l.task.Secrets); err != nil {
			return err
		}
		l.tab, err = tx.UpdateTab(ctx, l.tab.ID, func(t *store.Tab) error {
			t.Exited, t.ExitCode, t.ExitSignal = false, 0, ""
			if t.Kind == store.TabAgent && l.session != t.SessionID {
				t.SessionID, t.SessionUsed = l.session, false
			}
			return nil
		})
		return err
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	closed := c.closed
	if !closed {
		c.live[l.tab.ID] = l
	}
	c.mu.Unlock()
	if closed || l.tab.Kind == store.TabAgent && !(c.spawn(func() { c.runQueue(l) }) && c.spawn(func() { c.tellSettled(l) })) {
		return ending()
	}
	return nil
}

func (c *Core) liveOf(tabID string) *liveTab {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.live[tabID]
}

// liveTabs returns the live tabs of a task, or of all tasks for "".
func (c *Core) liveTabs(taskID string) []*liveTab {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []*liveTab
	for _, l := range c.live {
		if taskID == "" || l.task.ID == taskID {
			out = append(out, l)
		}
	}
	return out
}

// exited takes note of a program that ended, by itself or because we ended it. The terminal counts as done only after
// this has returned, so whoever waits for it finds the end stored.
func (c *Core) exited(l *liveTab, e ptyhost.ExitStatus) {
	c.refs.ended(l.task)
	l.leave()
	c.takeLogin(l)
	l.mu.Lock()
	ending := l.ending
	l.gone = true
	l.mu.Unlock()
	if l.inWalls() && l.task.Sandbox != uncaged {
		c.walled.note(l.task, capabilityOf(l), c.clock.wall()) // before it is no longer live: at no moment is it neither
	}
	retry := l.resumed && ending == "" && time.Since(l.started) < failedResume && e.Code != 0
	if retry {
		c.setStarting(l.tab.ID, true) // nobody shall take it for one that ended
	}
	c.mu.Lock()
	if c.live[l.tab.ID] == l {
		delete(c.live, l.tab.ID)
	}
	c.ended[l.tab.ID] = ending
	c.mu.Unlock()
	if l.det != nil {
		l.det.Exited()
	}
	if err := c.storeExit(l, e, ending != "", retry); err != nil {
		c.log.Error("the end of a terminal could not be stored", "tab", l.tab.ID, "err", err)
	}
	if retry && !c.spawn(func() { c.startAnew(l) }) {
		c.setStarting(l.tab.ID, false)
	}
	c.beacon.change()
}

// storeExit writes down how a program ended. One that was ended on purpose, with the app or by a verb, did not fail: its
// tab is shown as not running, not as ended by a signal.
func (c *Core) storeExit(l *liveTab, e ptyhost.ExitStatus, meant, forget bool) error {
	ctx := context.WithoutCancel(c.ctx)
	return c.store.Write(ctx, func(tx *store.Tx) error {
		if l.row != "" {
			if err := tx.DeleteTerminal(ctx, l.row); err != nil {
				return err
			}
		}
		_, err := tx.UpdateTab(ctx, l.tab.ID, func(t *store.Tab) error {
			if !meant {
				t.Exited, t.ExitCode, t.ExitSignal = true, e.Code, e.Signal
			}
			if forget {
				t.SessionID, t.SessionUsed = "", false
			}
			return nil
		})
		if fault.CodeOf(err) == fault.NotFound {
			return nil // the tab is gone with its project
		}
		return err
	})
}

// startAnew starts an agent again whose resume failed, once and without the conversation, for whoever asked for it: with no more
// than they may do.
func (c *Core) startAnew(l *liveTab) {
	defer c.setStarting(l.tab.ID, false)
	select {
	case <-l.term.Done():
	case <-c.ctx.Done():
		return
	}
	c.log.Info("the conversation could not be resumed, starting a new one", "tab", l.tab.ID)
	if _, err := c.startTab(c.ctx, l.task.ID, l.tab.ID, startHow{fresh: true, limit: l.limit}); err != nil {
		c.log.Warn("agent did not start", "tab", l.tab.ID, "err", err)
	}
}

// endedBecause says why we ended the newest program of a tab; empty when it ended by itself.
func (c *Core) endedBecause(tabID string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended[tabID]
}

// endTab ends the program of a tab and waits until nothing of it is left.
func (c *Core) endTab(ctx context.Context, l *liveTab, why string) error {
	l.mu.Lock()
	l.ending = why
	l.mu.Unlock()
	l.identity.revoke() // whatever the program does in its last moments, it does alone
	if err := l.term.End(ctx, 0); err != nil {
		l.mu.Lock()
		l.ending = "" // it may live on, and take prompts
		l.mu.Unlock()
		return fault.Wrap(err, fault.Unavailable, "The program of tab %q could not be ended", l.tab.Title).
			WithHint("End process %d by hand and try again.", l.term.Pid())
	}
	return nil
}

// workState is what a tab is doing, for people and programs.
func (l *liveTab) workState() (state, detail string) {
	if l.det == nil {
		return "", ""
	}
	s := l.det.State()
	switch s.Work {
	case agent.Working:
		state = api.WorkWorking
	case agent.NeedsInput:
		state = api.WorkNeedsInput
	case agent.Done:
		state = api.WorkDone
	case agent.Idle:
		state = api.WorkIdle
	}
	return state, s.Detail
}
