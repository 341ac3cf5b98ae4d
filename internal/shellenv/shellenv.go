// Package shellenv finds out what environment the user's login shell would give to a program, and builds the
// environment of children from it.
//
// An app started from a desktop has a bare PATH. A Prober asks the login shell once, between marks that no banner can
// forge, and remembers a good answer; a failure is not remembered. Build makes a child's environment from a list: what
// is not on it is not passed on, so that nothing of the app's own packaging, no variable of an outer terminal and none
// of an outer agent leaks.
//
// It does not cover secrets or the variables of a task, which come in through Options.Extra, nor what a cage hides:
// the paths that a variable names may not be reachable there.
package shellenv

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"
)

// ProbeLimit bounds one question to a shell. Start-up files that take longer are rare, and the window waits for this.
const ProbeLimit = 5 * time.Second

// Base is what the login shell told.
type Base struct {
	Env   map[string]string // what the shell exports, with the known directories at the end of PATH
	Shell string            // the user's shell; the program of a shell tab
	Asked string            // the shell that answered: Shell, or /bin/sh where Shell could not; empty when none did
	// Probed is false when no shell answered. Env is then made of this process's own variables, and it is worth asking
	// again.
	Probed bool
}

// Prober asks the login shell, one call at a time, and keeps a good answer. It has no goroutine: the question is asked
// by the caller that comes first, and ends with its context.
type Prober struct {
	environ map[string]string
	limit   time.Duration
	now     func() time.Time

	turn chan struct{} // holds one token: who took it may ask, and guards the following
	base Base
	err  error     // of the last attempt
	wait time.Time // after a slow failure, not before then
}

// NewProber makes a Prober that works on environ, which is os.Environ() in the app.
func NewProber(environ []string) *Prober {
	p := &Prober{environ: toMap(environ), limit: ProbeLimit, now: time.Now, turn: make(chan struct{}, 1)}
	p.turn <- struct{}{}
	return p
}

// Base returns the remembered answer, or asks. What it returns is usable in any case: on failure the error says why, and
// Base is made of the process's own environment. A failure is asked again by the next call; one that took long, only
// after three times as long, so that a shell that hangs does not hold up every start.
func (p *Prober) Base(ctx context.Context) (Base, error) {
	select {
	case <-p.turn:
		defer func() { p.turn <- struct{}{} }()
	case <-ctx.Done():
		return p.fallback(), context.Cause(ctx)
	}
	if p.base.Probed {
		return p.base, nil
	}
	began := p.now()
	if p.err != nil && began.Before(p.wait) {
		return p.fallback(), p.err
	}
	base, err := p.ask(ctx)
	if err != nil {
		if ctx.Err() == nil {
			took := p.now().Sub(began)
			p.err, p.wait = err, p.now().Add(3*took)
		}
		return p.fallback(), err
	}
	p.err = nil
	if base.Probed {
		p.base = base
	}
	return base, nil
}

// Forget drops the answer, so that the next call asks again.
func (p *Prober) Forget() {
	<-p.turn // bounded: an attempt takes a few times ProbeLimit at most
	p.base, p.err = Base{}, nil
	p.turn <- struct{}{}
}

// ask tries the user's shell, then the same shell less interactively, then sh.
func (p *Prober) ask(ctx context.Context) (Base, error) {
	shell := userShell(p.environ)
	env := p.question()
	var errs []error
	for _, argv := range questions(shell) {
		got, err := runProbe(ctx, argv, env, p.limit)
		if err != nil {
			errs = append(errs, err)
			if ctx.Err() != nil {
				break
			}
			continue
		}
		b := Base{Env: got, Shell: shell, Asked: argv[0], Probed: true}
		if b.Asked != shell && timedOut(errs) {
			b.Probed = false // the shell may be quicker next time: worth asking again
		}
		p.finish(b.Env)
		return b, nil
	}
	return Base{}, errors.Join(errs...)
}

func timedOut(errs []error) bool {
	for _, err := range errs {
		if errors.Is(err, context.DeadlineExceeded) {
			return true
		}
	}
	return false
}

// question is the environment that the shell is asked with.
func (p *Prober) question() map[string]string {
	env := p.own()
	env["TERM"] = "dumb" // start-up files that draw, or start a multiplexer, look at it
	env["TERMIC_SHELL_PROBE"] = "1"
	env["DISABLE_AUTO_UPDATE"] = "true" // a framework that asks before it updates would wait for an answer
	return env
}

// fallback is what is used while no shell has answered.
func (p *Prober) fallback() Base {
	env := p.own()
	p.finish(env)
	return Base{Env: env, Shell: userShell(p.environ)}
}

// own returns this process's variables that are on the list, without what belongs to its packaging.
func (p *Prober) own() map[string]string {
	out := make(map[string]string)
	for name, value := range p.environ {
		if listed(name) || desktop[name] {
			if v, ok := clean(name, value, p.environ["APPDIR"]); ok {
				out[name] = v
			}
		}
	}
	if out["HOME"] == "" {
		out["HOME"] = userHome()
	}
	return out
}

// finish puts a shell's answer in order.
func (p *Prober) finish(env map[string]string) {
	for name := range env {
		if probeOnly[name] {
			delete(env, name)
			continue
		}
		v, ok := clean(name, env[name], p.environ["APPDIR"])
		if !ok {
			delete(env, name)
			continue
		}
		env[name] = v
	}
	if env["HOME"] == "" {
		env["HOME"] = userHome()
	}
	env["PATH"] = fullPath(env["PATH"], env["HOME"])
}

// probeOnly are variables that the question or the asking shell made.
var probeOnly = map[string]bool{"TERMIC_SHELL_PROBE": true, "DISABLE_AUTO_UPDATE": true, "PWD": true, "OLDPWD": true,
	"SHLVL": true, "_": true}

// appImageMount is in the path under which an AppImage mounts itself.
const appImageMount = "/.mount_"

// clean takes the app's own packaging out of a value: entries of lists that lie in the image, or the whole variable.
func clean(name, value, appDir string) (string, bool) {
	inside := func(s string) bool {
		return strings.Contains(s, appImageMount) || appDir != "" && (s == appDir || strings.HasPrefix(s, appDir+"/"))
	}
	if !strings.Contains(value, appImageMount) && (appDir == "" || !strings.Contains(value, appDir)) {
		return value, true
	}
	var kept []string
	for _, entry := range filepath.SplitList(value) {
		if !inside(entry) {
			kept = append(kept, entry)
		}
	}
	if len(kept) == 0 && name != "PATH" {
		return "", false
	}
	return strings.Join(kept, string(filepath.ListSeparator)), true
}

func toMap(environ []string) map[string]string {
	m := make(map[string]string, len(environ))
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			m[name] = value
		}
	}
	return m
}
