// Package core is the only orchestrator: it turns verbs into acts of the mechanisms and keeps what is in memory in step
// with what is stored.
//
// A task is a row of the store, a worktree and any number of tabs; a tab may have a live terminal. Core promises that a
// change is durable before its verb answers, that an act which touches both git and the store leaves an intent behind
// if the app dies in the middle, and that a prompt is typed at most once. It decides no authority: who may call what is
// settled by the dispatcher before a handler runs.
//
// It does not cover presentation, nor anything that a mechanism can do alone.
package core

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"termic/internal/agent"
	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/keyring"
	"termic/internal/ptyhost"
	"termic/internal/shellenv"
	"termic/internal/store"
	"termic/internal/worktree"
	"termic/sandbox"
	"termic/sandbox/registry"
	"termic/settings"
)

// Options are what a Core works with. All are required unless it says otherwise. Core closes the
// host's terminals; everything else is closed by whoever made it, after Close.
type Options struct {
	Store    *store.Store
	Settings *settings.File
	Git      *worktree.Git
	Host     *ptyhost.Host
	Shell    *shellenv.Prober
	Log      *slog.Logger
	Home     string // the user's home folder
	DataDir  string // Termic's own folder: the homes of caged agents are in it, and no cage sees it
	Version  string
	Raise    func() bool // shows the window; false without one. May be nil
	Quit     func()      // asks the app to end; must not wait for it. May be nil
	Endpoint Endpoint    // of MCP; nil where there is none
	// Web takes the tokens of the browser face, and WebURL tells where that serves, empty for nowhere. Nil where there is none.
	Web    *grant.Registry
	WebURL func() string
	// WebAddr is what the browser face listens on; not valid for nothing. Nil where there is none.
	WebAddr func() netip.AddrPort
	Keyring *keyring.Ring // keeps the values of secrets; nil: files in DataDir alone
	Binary  string        // this program, absolute: what a client may run to get the token
	// Releases say where this build asks for newer ones, once the settings want it. The zero value asks nowhere.
	Releases Releases
	Clock    Clock // the machine's when left out. For tests
	Cages    Cages // tells what programs can do; nil: the cages that Core builds. For tests
}

// Core owns the goroutines that create tasks, deliver prompts and watch terminals. Close stops them and waits.
type Core struct {
	store      *store.Store
	settings   *settings.File
	git        *worktree.Git
	host       *ptyhost.Host
	shell      *shellenv.Prober
	log        *slog.Logger
	home       string
	dataDir    string
	denials    *denials
	jobs       jobs
	approvals  approvals
	clock      Clock
	rules      *rules
	branches   *branchWatch
	walled     walledTasks
	timetable  *timetable
	discards   *discards
	making     making
	folders    *folders
	watching   *watching
	refs       *refWatch
	machine    sandbox.Machine
	registries *registry.Kept
	releases   *releases
	version    string
	started    time.Time
	binary     string
	clients    clients
	raise      func() bool
	quit       func()
	endpoint   Endpoint
	web        *grant.Registry // tokens of the browser face
	webURL     func() string
	webAddr    func() netip.AddrPort
	cages      Cages
	keyring    *keyring.Ring

	beacon *beacon
	agents atomic.Pointer[agent.Registry]
	shown  atomic.Pointer[shownList]

	ctx    context.Context // ends at Close
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup // every goroutine of Core

	toSweep chan struct{} // holds one: the home of an archived task waits to be looked after

	createMu sync.Mutex // serialises creation, restoring and renaming: names and folders are taken under it

	mu           sync.Mutex // guards the following
	closed       bool
	live         map[string]*liveTab      // by tab id
	busy         map[string]chan struct{} // tasks with a structural change under way, by task id; closed when it ends
	starting     map[string]bool          // tabs whose program is about to be started
	ended        map[string]string        // why we ended the newest program of a tab; absent when it ended by itself
	notices      []string                 // sentences from the start, for the window
	agentNotices []string                 // agents of the settings that were left out
	focus        string                   // task that the window should show
	link         *api.LinkOffer           // what a link asks the window to show
	stop         func()                   // ends the subscription to the settings
}

// New makes a Core on an opened profile, mends what a killed app left behind, and takes up the settings.
func New(ctx context.Context, o Options) (*Core, error) {
	c := &Core{store: o.Store, settings: o.Settings, git: o.Git, host: o.Host, shell: o.Shell, log: o.Log, home: o.Home, dataDir: o.DataDir, denials: newDenials(), rules: newRules(), branches: newBranchWatch(), timetable: newTimetable(), releases: newReleases(o.Releases), discards: &discards{dir: filepath.Join(o.DataDir, "discarded")}, folders: newFolders(), toSweep: make(chan struct{}, 1),
		version: o.Version, started: time.Now(), binary: o.Binary, raise: o.Raise, quit: o.Quit, endpoint: o.Endpoint, web: o.Web, webURL: o.WebURL, webAddr: o.WebAddr, clock: o.Clock, beacon: newBeacon(),
		live: map[string]*liveTab{}, busy: map[string]chan struct{}{}, starting: map[string]bool{}, ended: map[string]string{}}
	if c.keyring = o.Keyring; c.keyring == nil {
		c.keyring = keyring.Files(filepath.Join(o.DataDir, "secrets"), o.Log)
	}
	c.refs = newRefWatch(c)
	c.watching = newWatching(c)
	c.refs.load()
	if c.cages = o.Cages; c.cages == nil {
		c.cages = ownCages{c}
	}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.registries = c.newRegistries()
	c.takeSettings(o.Settings.Get())
	c.stop = o.Settings.Subscribe(func(s settings.Settings) {
		c.takeSettings(s)
		c.releases.changed()
		if !s.MCP.Enabled {
			c.spawn(func() { c.reviewed(c.ctx) })
		}
		c.beacon.change()
	})
	if err := c.reconcile(ctx); err != nil {
		c.cancel(err)
		c.stop()
		return nil, err
	}
	c.spawn(c.sweepHomes)
	c.spawn(c.watchApprovals)
	c.spawn(c.makeChecks)
	c.loadReleases(ctx)
	c.spawn(c.watchReleases)
	return c, nil
}

var errClosing = errors.New("the app is ending")

// Close ends every terminal and everything that Core started, and waits for it. Nothing starts after it was called.
func (c *Core) Close(ctx context.Context) error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.stop()
	c.cancel(errClosing)
	for _, l := range c.liveTabs("") {
		l.mu.Lock()
		l.ending = "quit"
		l.mu.Unlock()
	}
	err := c.host.Close(ctx)
	c.beacon.change() // waiters look again, and find the context ended
	done := make(chan struct{})
	go func() { c.wg.Wait(); close(done) }() // ends with the last of them, also when ctx ends first
	select {
	case <-done:
	case <-ctx.Done():
		return errors.Join(err, context.Cause(ctx))
	}
	if err != nil {
		return err // something may still run: the next start shall look for it
	}
	return c.store.EndIntent(ctx, intentRun)
}

// spawn runs fn in a goroutine that Close waits for. After Close it does nothing and reports so.
func (c *Core) spawn(fn func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.wg.Go(fn)
	return true
}

// hold makes the caller the only one that changes the structure of a task (its worktree, its archive state) until the
// returned function is called. It waits for whoever holds it, as long as ctx allows.
func (c *Core) hold(ctx context.Context, taskID string) (release func(), err error) {
	for {
		c.mu.Lock()
		held, ok := c.busy[taskID]
		if !ok {
			mine := make(chan struct{})
			c.busy[taskID] = mine
			c.mu.Unlock()
			return func() {
				c.mu.Lock()
				delete(c.busy, taskID)
				c.mu.Unlock()
				close(mine)
			}, nil
		}
		c.mu.Unlock()
		select {
		case <-held:
		case <-ctx.Done():
			return nil, fault.Wrap(context.Cause(ctx), fault.Unavailable, "The task is busy with another change")
		case <-c.ctx.Done():
			return nil, ending()
		}
	}
}

// lastingGrace is how long an act that should not be cut short may go on after the app was asked to end.
const lastingGrace = 5 * time.Second

// lasting is a context for an act that its caller's leaving must not cut short, and the end of the app only after a grace:
// what is cut then is finished at the next start, by its intent. done frees it.
func (c *Core) lasting(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(c.ctx, func() {
		grace := time.NewTimer(lastingGrace)
		defer grace.Stop()
		select {
		case <-grace.C:
			cancel(errClosing)
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

func ending() error { return fault.New(fault.Unavailable, "Termic is ending") }

// Record writes a ledger row: at once and durably for writes, grouped with others for reads.
func (c *Core) Record(ctx context.Context, row store.LedgerRow, durable bool) error {
	row.Time = time.Now()
	if durable {
		return c.store.Append(ctx, row)
	}
	return c.store.AppendGrouped(ctx, row)
}
