package core

import (
	"context"
	"errors"
	"testing"
)

// TestJobsUnder: whoever forgets a job first, the others can still be cancelled; and once all forgot it, nobody can.
func TestJobsUnder(t *testing.T) {
	for _, first := range []int{0, 1} {
		var j jobs
		var ctx [2]context.Context
		var done [2]func()
		for i := range ctx {
			ctx[i], done[i] = j.under(t.Context(), "a")
		}
		other, forget := j.under(t.Context(), "b")
		done[first]()
		if !j.stop("a") || !errors.Is(context.Cause(ctx[1-first]), ErrCancelled) || errors.Is(context.Cause(ctx[first]), ErrCancelled) {
			t.Errorf("after %d forgot it: %v, %v", first, context.Cause(ctx[0]), context.Cause(ctx[1]))
		}
		done[1-first]()
		if j.stop("a") || other.Err() != nil || len(j.cancel) != 1 {
			t.Errorf("after both: %v", j.cancel)
		}
		forget()
	}
	var j jobs
	ctx, done := j.under(t.Context(), "")
	if done(); j.stop("") || ctx.Err() != nil {
		t.Error("a call without a job has one")
	}
}
