package mcp

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"termic/internal/fault"
	"termic/internal/grant"
)

// TestRefusalsAreCounted: the first of a kind is told at once, those of the next second as one, and a kind of which nothing came for a
// second is told at once again.
func TestRefusalsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		take := func() []string {
			synctest.Wait()
			out := slices.Sorted(slices.Values(told))
			told = nil
			return out
		}
		r := newRefusals(func(c grant.Caller, err error, times int) {
			told = append(told, fmt.Sprintf("%s %s x%d", c.Principal, fault.CodeOf(err), times))
		})
		want := func(when string, want ...string) {
			t.Helper()
			if got := take(); !reflect.DeepEqual(got, want) && len(got)+len(want) > 0 {
				t.Errorf("%s: told %q, want %q", when, got, want)
			}
		}
		ann, bob := grant.Caller{Principal: "ann"}, grant.Caller{Principal: "bob"}
		bad, unknown := refuse(http.StatusBadRequest, codeRequest, "bad"), refuse(http.StatusNotFound, codeMethod, "unknown")
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.run(ctx)
		}()
		r.note(ann, bad)
		r.note(ann, unknown)
		r.note(bob, bad)
		want("the first of each kind", "ann invalid_argument x1", "ann unsupported x1", "bob invalid_argument x1")
		r.note(ann, bad)
		r.note(ann, bad)
		r.note(ann, unknown)
		want("within a second")
		time.Sleep(refusalEach)
		want("after a second", "ann invalid_argument x2", "ann unsupported x1")
		r.note(ann, bad)
		r.note(bob, bad) // of which nothing came meanwhile, so that its kind was forgotten
		want("in the second second", "bob invalid_argument x1")
		time.Sleep(refusalEach)
		want("after the second second", "ann invalid_argument x1")
		time.Sleep(10 * refusalEach)
		want("after a rest")
		if len(r.kinds) != 0 || r.flush() {
			t.Errorf("kinds of which nothing came are kept: %v", r.kinds)
		}
		r.note(ann, bad)
		want("after a rest, the first", "ann invalid_argument x1")
		r.note(ann, bad)
		stop()
		<-done
		want("at the end", "ann invalid_argument x1")
	})
}
