// Package app is the composition root: it opens a profile, puts the mechanisms together, and runs them with a window or
// without one. It holds no rules; what it does in answer to a person or a program is a verb.
package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"termic/internal/api"
	"termic/internal/control"
	"termic/internal/core"
	"termic/internal/datadir"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/keyring"
	"termic/internal/ptyhost"
	"termic/internal/shellenv"
	"termic/internal/store"
	"termic/internal/verb"
	"termic/internal/worktree"
	"termic/settings"
)

// closeLimit bounds the ending of the app: agents get 1.5 s to save their work, the rest is writing to disk.
const closeLimit = 15 * time.Second

// Options say how to run.
type Options struct {
	Version   string
	Face      string // faceWindow or faceServe: told to whoever finds the profile held
	Getenv    func(string) string
	Environ   []string  // of this process
	LogTo     io.Writer // log lines
	LogFormat string    // text or json
	Web       WebOptions
	LogLevel  string // debug, info, warn, error; empty: as the settings say
	Releases  Releases
}

// Releases say where this build asks for newer ones, once the settings want it, and by which key their feed is signed.
type Releases = core.Releases

// The faces with which a profile is held.
const (
	faceWindow = "window"
	faceServe  = "serve"
)

// App is one running profile. Close ends it; everything that it started is waited for.
type App struct {
	Version    string
	Log        *slog.Logger
	Core       *core.Core
	Dispatcher *verb.Dispatcher

	dir      *datadir.Dir
	settings *settings.File
	store    *store.Store
	control  *control.Server
	endpoint *endpoint
	web      *webFace
	unfollow func() // ends the endpoint's look at the settings
	level    *slog.LevelVar
	quit     chan struct{} // closed when somebody asked the app to end
	quitOnce sync.Once
	slack    slack // only held

	mu    sync.Mutex  // guards the following
	raise func() bool // set by the window
}

// Open opens the profile and starts everything but a window. An app that holds the profile already is an error that
// says so.
func Open(ctx context.Context, o Options) (a *App, err error) {
	a = &App{Version: o.Version, level: new(slog.LevelVar), quit: make(chan struct{}), slack: newSlack()}
	if a.Log, err = newLogger(o, a.level); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close(context.WithoutCancel(ctx)))
			a = nil
		}
	}()
	home, err := os.UserHomeDir()
	if err != nil {
		return a, fault.Wrap(err, fault.Unavailable, "The home folder is not known").WithHint("Set HOME and start again.")
	}
	path, err := datadir.Find(o.Getenv)
	if err != nil {
		return a, err
	}
	if a.dir, err = datadir.Open(ctx, path, datadir.Holder{PID: os.Getpid(), Face: o.Face}); err != nil {
		return a, err
	}
	if err = a.openState(ctx, home, o); err != nil {
		return a, err
	}
	if err = a.openCore(ctx, home, o); err != nil {
		return a, err
	}
	a.unfollow = a.endpoint.start(ctx, a.Dispatcher, a.Core.NamedGrants, a.Core.EndpointChanged)
	a.control, err = control.Listen(ctx, control.Options{Dir: a.dir.Path, Backend: controlBackend{a.Dispatcher}, Version: o.Version, Log: a.Log,
		Enabled: func() bool { return a.settings.Get().General.CLIEnabled },
		Raise:   a.raiseAsked, Window: a.windowOf(o.Face), Watch: a.Core.Watch})
	return a, err
}

// raiseAsked shows the window for another process that was started on the same profile, and what its link asks for. That
// a link is refused is for the window to say.
func (a *App) raiseAsked(ctx context.Context, link string) error {
	if !a.Raise() {
		return fault.New(fault.Unavailable, "Termic runs without a window on this profile")
	}
	if link != "" {
		showLink(ctx, a.Log, link, func(ctx context.Context, verb string, params json.RawMessage) (json.RawMessage, error) {
			return a.Dispatcher.Call(ctx, grant.OwnerOn(grant.CLI), verb, params, nil)
		})
	}
	return nil
}

// showLink lets the window show what a link asks for. The link is in no log.
func showLink(ctx context.Context, log *slog.Logger, link string, call func(context.Context, string, json.RawMessage) (json.RawMessage, error)) {
	params, err := json.Marshal(api.WindowLinkParams{Link: link})
	if err == nil {
		_, err = call(ctx, "window_link", params)
	}
	if err != nil {
		log.Info("a link was refused", "err", err)
	}
}

// windowOf takes in a window that another process shows, in an app that has none of its own.
func (a *App) windowOf(face string) func(raise func() bool) (release func(), err error) {
	if face == faceWindow {
		return nil
	}
	return func(raise func() bool) (func(), error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.raise != nil {
			return nil, fault.New(fault.Conflict, "Termic has a window on this profile already")
		}
		a.raise = raise
		return func() { a.OnRaise(nil) }, nil
	}
}

// openState opens the settings and the store.
func (a *App) openState(ctx context.Context, home string, o Options) (err error) {
	if a.settings, err = settings.Open(a.dir.File(datadir.SettingsFile), settings.Options{Home: home, Log: a.Log}); err != nil {
		return err
	}
	if o.LogLevel == "" {
		setLevel(a.level, a.settings.Get().General.LogLevel)
	}
	a.store, err = store.Open(ctx, a.dir.File(datadir.DatabaseFile), store.Options{Log: a.Log})
	return err
}

// openCore starts the mechanisms and the orchestrator. git is asked for with the environment of the login shell, since
// an app started from a desktop has a bare PATH.
func (a *App) openCore(ctx context.Context, home string, o Options) error {
	prober := shellenv.NewProber(o.Environ)
	base, err := prober.Base(ctx)
	if err != nil {
		a.Log.Warn("the login shell did not tell its environment", "shell", base.Shell, "err", err)
	}
	git, err := worktree.New(worktree.Options{Bin: a.settings.Get().Git.Path, Log: a.Log,
		Env: shellenv.Build(shellenv.Options{Base: base, Uncaged: true})})
	if err != nil {
		return err
	}
	a.endpoint = newEndpoint(a.dir, a.settings, grant.NewRegistry(), o.Version, a.Log)
	binary, err := os.Executable()
	if err != nil {
		a.Log.Warn("this program does not know where it is; clients cannot be told to run it", "err", err)
	}
	a.web = newWebFace()
	a.Core, err = core.New(ctx, core.Options{Binary: ownPath(binary, o.Environ), Endpoint: a.endpoint, Store: a.store, Settings: a.settings, Git: git, Host: ptyhost.New(ptyhost.Options{Log: a.Log}),
		Keyring: keyring.Open(keyring.Options{Dir: a.dir.File(datadir.SecretsDir), Profile: a.dir.Path, Getenv: o.Getenv, Log: a.Log}),
		Shell:   prober, Log: a.Log, Home: home, DataDir: a.dir.Path, Web: a.web.tokens, WebURL: a.web.url, WebAddr: a.web.addr, Version: o.Version, Releases: o.Releases, Raise: a.Raise, Quit: a.Quit})
	if err != nil {
		return err
	}
	a.Dispatcher = verb.NewDispatcher(a.Core, a.Log)
	return a.Core.StartRules(ctx, a.Dispatcher)
}

// Raise brings the window forward and reports whether there is one.
func (a *App) Raise() bool {
	a.mu.Lock()
	raise := a.raise
	a.mu.Unlock()
	return raise != nil && raise()
}

// OnRaise sets what Raise does.
func (a *App) OnRaise(f func() bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.raise = f
}

// Quit asks the app to end; it returns at once.
func (a *App) Quit() { a.quitOnce.Do(func() { close(a.quit) }) }

// Quitting is closed when the app was asked to end.
func (a *App) Quitting() <-chan struct{} { return a.quit }

// Close ends everything in the reverse order of its start. Agents get time to save their work.
func (a *App) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	return a.close(ctx)
}

func (a *App) close(ctx context.Context) error {
	var errs []error
	if a.web != nil {
		errs = append(errs, a.web.close())
	}
	if a.control != nil {
		errs = append(errs, a.control.Close())
	}
	if a.unfollow != nil {
		a.unfollow()
		a.endpoint.close()
	}
	if a.Core != nil {
		errs = append(errs, a.Core.Close(ctx))
	}
	if a.store != nil {
		errs = append(errs, a.store.Close())
	}
	if a.settings != nil {
		errs = append(errs, a.settings.Close())
	}
	if a.dir != nil {
		errs = append(errs, a.dir.Close())
	}
	return errors.Join(errs...)
}

func newLogger(o Options, level *slog.LevelVar) (*slog.Logger, error) {
	setLevel(level, o.LogLevel)
	opts := &slog.HandlerOptions{Level: level}
	switch o.LogFormat {
	case "", "text":
		return slog.New(slog.NewTextHandler(o.LogTo, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(o.LogTo, opts)), nil
	}
	return nil, fault.New(fault.InvalidArgument, "%q is no form of log", o.LogFormat).WithHint("Use text or json.")
}

func setLevel(level *slog.LevelVar, name string) {
	var l slog.Level // info when empty or unknown
	if l.UnmarshalText([]byte(name)) == nil {
		level.Set(l)
	}
}

// Serve runs the app without a window until ctx ends or somebody asks it to end. It says on out when its control socket
// answers.
func Serve(ctx context.Context, o Options, out io.Writer) error {
	o.Face = faceServe
	a, err := Open(ctx, o)
	if err != nil {
		return err
	}
	if err := a.OpenWeb(ctx, o, out); err != nil {
		return errors.Join(err, a.Close())
	}
	endBridge, err := a.openBridge(o, out)
	if err != nil {
		return errors.Join(err, a.Close())
	}
	if _, err := fmt.Fprintln(out, "termic: ready"); err != nil {
		return errors.Join(err, endBridge(), a.Close())
	}
	a.Log.Info("ready", "version", o.Version, "data_dir", a.dir.Path)
	select {
	case <-ctx.Done():
		a.Log.Info("ending", "why", context.Cause(ctx))
	case <-a.quit:
		a.Log.Info("ending", "why", "quit")
	}
	return errors.Join(endBridge(), a.Close())
}
