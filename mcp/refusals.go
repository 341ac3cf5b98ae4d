package mcp

import (
	"context"
	"sync"
	"time"

	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/inlet"
)

// refusalEach is how often one principal's refusals of one kind become a row of the ledger.
const refusalEach = time.Second

// refusals tells the ledger of requests that were refused after their token was found good, before any verb was called.
// The first of a kind is told at once; those that follow within a second are counted and told as one, so that a client
// in a loop does not fill the ledger. It owns one goroutine, which the server's context stops and done waits for.
type refusals struct {
	tell func(grant.Caller, error, int)
	kick chan struct{}

	mu    sync.Mutex // guards the following
	kinds map[refusalKind]*refusalCount
}

// refusalKind is what is counted together: there are few codes, and no more principals than tokens.
type refusalKind struct {
	principal string
	code      fault.Code
}

type refusalCount struct {
	caller grant.Caller // the first of that principal
	err    error
	times  int
}

func newRefusals(tell func(grant.Caller, error, int)) *refusals {
	return &refusals{tell: tell, kick: make(chan struct{}, 1), kinds: map[refusalKind]*refusalCount{}}
}

// note records a refusal.
func (r *refusals) note(caller grant.Caller, e *rpcError) {
	f := fault.New(fault.InvalidArgument, "%s", e.message)
	if e.code == codeMethod {
		f.Code = fault.Unsupported
	}
	kind := refusalKind{caller.Principal, f.Code}
	r.mu.Lock()
	if c, ok := r.kinds[kind]; ok {
		c.times++
		r.mu.Unlock()
		return
	}
	r.kinds[kind] = &refusalCount{caller: caller, err: f}
	r.mu.Unlock()
	r.tell(caller, f, 1)
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// run tells what was counted, once a second as long as there is something, until ctx ends; then the rest.
func (r *refusals) run(ctx context.Context) {
	defer r.flush()
	for {
		select {
		case <-r.kick:
		case <-ctx.Done():
			return
		}
		for more := true; more; more = r.flush() {
			inlet.Pause(ctx, refusalEach) // at the end of ctx nothing is waited for
		}
	}
}

// flush tells what was counted. Kinds of which nothing came since the last time are forgotten; it reports whether any
// are left.
func (r *refusals) flush() bool {
	r.mu.Lock()
	due := map[refusalKind]refusalCount{}
	for kind, c := range r.kinds {
		if c.times == 0 {
			delete(r.kinds, kind)
			continue
		}
		due[kind] = *c
		c.times = 0
	}
	left := len(r.kinds) > 0
	r.mu.Unlock()
	for _, c := range due {
		r.tell(c.caller, c.err, c.times)
	}
	return left
}
