// Package keyring keeps the values of secrets: in the keyring of the platform where one answers, and else in files that their owner
// alone may read.
//
// It promises that a value is in one place at a time, that where it went is said, and that no keyring holds anybody up: each act has
// three seconds. It never asks a keyring to be unlocked, since nobody may be there to answer; one that is locked is one that does not
// answer. Values are handed around as secret.String, and stand in no error.
//
// Its keyrings are the Secret Service on Linux and its kin, and the login keychain on macOS. It does not cover names, which are the
// caller's to check, nor who may have a value.
package keyring

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"termic/internal/fault"
	"termic/internal/secret"
)

// Where a value is kept.
const (
	InKeyring = "keyring" // of the platform
	InFile    = "file"    // of the owner's alone, in the data folder
)

// MaxValue is the longest value, in bytes. Linux takes 128 KiB in one variable; a key or a certificate has a tenth of this.
const MaxValue = 32 << 10

// patience bounds an act of the platform's keyring.
const patience = 3 * time.Second

// errAbsent is the cause of a value that the keyring does not have.
var errAbsent = errors.New("there is no such value")

// platform is a keyring of the system. Its errors hold no value.
type platform interface {
	set(ctx context.Context, name string, value secret.String) error
	get(ctx context.Context, name string) (secret.String, error)
	delete(ctx context.Context, name string) error
}

// Options say where values are kept.
type Options struct {
	Dir     string                   // of the files; made with the first of them
	Profile string                   // tells the values of one profile from those of another in a keyring that both use
	Getenv  func(name string) string // where the session's bus is
	Log     *slog.Logger
}

// Ring keeps values. It is safe for concurrent use; of two that set one name at the same time, either wins.
type Ring struct {
	o    Options
	here platform // nil: this platform has none
}

// Open makes a Ring. Nothing is asked yet.
func Open(o Options) *Ring { return &Ring{o, system(o)} }

// Files makes a Ring that keeps every value in a file, whatever keyring there is.
func Files(dir string, log *slog.Logger) *Ring { return &Ring{Options{Dir: dir, Log: log}, nil} }

// Set keeps a value in place of an earlier one, and says where: in the keyring, or, where that takes it not, in a file, and then
// why, as a sentence without an end.
func (r *Ring) Set(ctx context.Context, name string, value secret.String) (kept, why string, err error) {
	why = "there is no keyring here that Termic knows"
	if r.here != nil {
		asking, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		err := r.here.set(asking, name, value)
		if err == nil {
			return InKeyring, "", r.unlink(name)
		}
		if ctx.Err() != nil {
			return "", "", context.Cause(ctx)
		}
		r.o.Log.Warn("the keyring took no value, so it goes into a file", "name", name, "err", err)
		why = "the keyring of this session does not answer, or is locked"
	}
	if err := r.write(name, value); err != nil {
		return "", "", err
	}
	if r.here != nil {
		r.forget(ctx, name) // an older value
	}
	return InFile, why, nil
}

// Get returns a value from where it was kept.
func (r *Ring) Get(ctx context.Context, name, kept string) (secret.String, error) {
	if kept == InFile {
		return r.read(name)
	}
	if r.here == nil {
		return secret.String{}, fault.New(fault.Unavailable, "The value of %s is in a keyring, and there is none here", name).WithHint("Set it again.")
	}
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	v, err := r.here.get(asking, name)
	switch {
	case err == nil:
		return v, nil
	case ctx.Err() != nil:
		return secret.String{}, context.Cause(ctx)
	case errors.Is(err, errAbsent):
		return secret.String{}, fault.Wrap(err, fault.NotFound, "The keyring has no value of %s any more", name).WithHint("Set it again: `termic secret set %s`.", name)
	}
	return secret.String{}, fault.Wrap(err, fault.Unavailable, "The keyring does not give the value of %s: it does not answer, or is locked", name).
		WithHint("Unlock it, or set the secret again while it is open.")
}

// Delete forgets a value. One that is not there is none; one in a keyring that does not answer is an error.
func (r *Ring) Delete(ctx context.Context, name, kept string) error {
	if kept == InFile || r.here == nil {
		return r.unlink(name)
	}
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := r.here.delete(asking, name); err != nil && !errors.Is(err, errAbsent) {
		return fault.Wrap(err, fault.Unavailable, "The keyring does not forget the value of %s: it does not answer, or is locked", name).WithHint("Unlock it and try again, or delete with --force: the value may stay in the keyring then.")
	}
	return r.unlink(name)
}

// forget takes an older value out of the keyring, if that answers.
func (r *Ring) forget(ctx context.Context, name string) {
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := r.here.delete(asking, name); err != nil && !errors.Is(err, errAbsent) {
		r.o.Log.Debug("an older value may be in the keyring still", "name", name, "err", err)
	}
}
