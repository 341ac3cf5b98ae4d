package core

import (
	"context"

	"termic/internal/api"
	"termic/internal/grant"
	"termic/internal/store"
)

// Call is one invocation of a verb, as the dispatcher let it through.
type Call struct {
	ID     string
	Verb   string
	Caller grant.Caller
	Task   string // id of the resolved target; handlers that make a task set it
	Emit   func(api.Event)
	Job    string // id of the job that the call is; empty for reads and for what is none
	// Outcome is what the ledger is told in place of ok; empty for that.
	Outcome string
	// Actor carries out what this call approves; set by the dispatcher.
	Actor   Actor
	kept    bool                  // the job goes on after the call
	key     *store.IdempotencyKey // that the call claimed; nil for none
	repeats bool                  // an earlier call has the key: Job is its job
	spent   bool                  // the key stays taken even if the call fails
	bound   boundTo               // what the call was approved for; nil for calls that need no approval
}

// KeepJob says that the job of the call ends later than the call: somebody else ends it.
func (c *Call) KeepJob() { c.kept = true }

// emit tells an event to whoever listens.
func (c *Call) emit(e api.Event) {
	if c.Emit != nil {
		c.Emit(e)
	}
}

// AttachAs says how a presenter joins a terminal.
type AttachAs struct {
	Cols, Rows     uint16 // size of the presenter's own screen; 0 when it has none
	Resizes        bool   // the terminal takes that size
	AnswersQueries bool   // the presenter is a terminal emulator that answers queries itself
	History        bool   // the presenter keeps what scrolls off: a snapshot has all of it
}

type attachKey struct{}

// WithAttach marks a context as coming from a presenter that can stream a terminal.
func WithAttach(ctx context.Context, as AttachAs) context.Context {
	return context.WithValue(ctx, attachKey{}, as)
}

// IsAttach reports whether the context was marked by WithAttach.
func IsAttach(ctx context.Context) bool {
	_, ok := ctx.Value(attachKey{}).(AttachAs)
	return ok
}
