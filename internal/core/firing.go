package core

import (
	"context"
	"slices"

	"termic/internal/fault"
	"termic/internal/store"
)

// errNoRule is what a firing ends with whose rule is gone.
var errNoRule = fault.New(fault.Conflict, "The rule was deleted or switched off before it acted")

type firingKey struct{}

// withFiring marks a context as that of a firing, so that the job of its call, and the task that it makes, are noted with it in the
// very transaction that makes them: what they bring about is known to come from the firing however soon it comes.
func withFiring(ctx context.Context, seq int64) context.Context {
	return context.WithValue(ctx, firingKey{}, seq)
}

// noteFiring notes the job or the task of a call that a rule makes.
func noteFiring(ctx context.Context, tx *store.Tx, job, task string) error {
	seq, is := ctx.Value(firingKey{}).(int64)
	if !is {
		return nil
	}
	return tx.SetFiringWork(ctx, seq, job, task)
}

// outcomeOfFiring tells a call that was not let through from one that failed.
func outcomeOfFiring(err error) string {
	refusals := []fault.Code{fault.Forbidden, fault.NotFound, fault.Ambiguous, fault.Conflict, fault.InvalidArgument, fault.Unsupported}
	if slices.Contains(refusals, fault.CodeOf(err)) {
		return store.FiringRefused
	}
	return store.FiringFailed
}
