// Package shellenv finds out what environment the user's login shell would give to a program, and builds the
// environment of children from it.
//
// An app started from a desktop has a bare PATH. Prober asks the login shell once, between markers that no banner can
// forge, and remembers the answer; a failure is not remembered. Build makes a child's environment from a list: what is
// not on it is not passed on, so that nothing of the app's own packaging, and no variable of an outer agent, leaks.
//
// It does not cover secrets or the variables of a task: they come in through Options.Extra.
package shellenv

import "context"

// Base is what the login shell told.
type Base struct {
	Env   map[string]string // what the shell exports
	Shell string            // the shell that was asked
	// Probed is false when no shell answered and Env is this process's own environment, with the known directories in
	// PATH. It is then worth asking again.
	Probed bool
}

// Prober asks the login shell, at most one at a time, and keeps a good answer.
type Prober struct{}

// NewProber makes a Prober that works on environ, which is os.Environ() in the app.
func NewProber(environ []string) *Prober { panic("shellenv: being written") }

// Base returns the remembered answer, or asks. It always returns something usable: on failure the error says why, and
// Base is made of the process's own environment.
func (p *Prober) Base(ctx context.Context) (Base, error) { panic("shellenv: being written") }

// Forget drops the answer, so that the next call asks again.
func (p *Prober) Forget() { panic("shellenv: being written") }

// Options say what a child's environment is made of.
type Options struct {
	Base  Base
	Extra map[string]string // set last, wins over all else; an empty value is set as such
	// Uncaged passes on all that the login shell exports, less the variables that never leak. Otherwise only the list is
	// passed on.
	Uncaged bool
}

// Build returns the environment, sorted by name, each name once.
func Build(Options) []string { panic("shellenv: being written") }

// LookPath finds a program in the PATH of env, relative to dir, and returns an absolute path.
func LookPath(program, dir string, env []string) (string, error) { panic("shellenv: being written") }
