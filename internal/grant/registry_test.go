package grant

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"termic/internal/secret"
)

func TestRegistry(t *testing.T) {
	r := NewRegistry()
	full := Grant{Principal: "outside", Class: Full}
	task := Grant{Principal: "task:x", Class: Scoped, Task: "x"}
	a, err1 := r.Mint(full)
	b, err2 := r.Mint(task)
	c, err3 := r.Mint(task)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]Grant{a.Reveal(): full, b.Reveal(): task, c.Reveal(): task} {
		if got, ok := r.Lookup(token, ""); !ok || !reflect.DeepEqual(got.Grant, want) {
			t.Errorf("%+v, %v; want %+v", got, ok, want)
		}
	}
	for _, guess := range []string{"", " ", a.Reveal()[:63], a.Reveal() + "0", strings.Repeat(a.Reveal(), 5), strings.ToUpper(a.Reveal()), secret.Mint().Reveal()} {
		if g, ok := r.Lookup(guess, ""); ok || !reflect.DeepEqual(g, Held{}) {
			t.Errorf("a guess of %d characters was taken for %+v", len(guess), g)
		}
	}
	if n := r.Revoke(func(g Grant) bool { return g.Task == "x" }); n != 2 || r.Len() != 1 {
		t.Errorf("revoked %d, %d are left", n, r.Len())
	}
	if _, ok := r.Lookup(b.Reveal(), ""); ok {
		t.Error("a revoked token is taken")
	}
	if !r.Revoker(a)() || r.Revoker(a)() || r.Revoker(secret.String{})() || r.Len() != 0 {
		t.Error("a revoker ends one token once")
	}
}

func TestMintRefuses(t *testing.T) {
	r := NewRegistry()
	for _, g := range []Grant{{}, {Principal: "outside"}, {Class: Full}, {Principal: "outside", Class: Owner}} {
		if token, err := r.Mint(g); err == nil || !token.Empty() {
			t.Errorf("a token was minted for %+v", g)
		}
	}
	for i := range MaxTokens {
		if _, err := r.Mint(Grant{Principal: fmt.Sprint(i), Class: Full}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Mint(Grant{Principal: "one more", Class: Full}); !errors.Is(err, ErrFull) {
		t.Errorf("error %v", err)
	}
}

// TestCallerIsTheGrant: nothing but the grant and the face is in a caller.
func TestCallerIsTheGrant(t *testing.T) {
	g := Grant{Principal: "task:x", Class: Scoped, Task: "x", Terminal: "t", Projects: []string{"p"}, Door: "d"}
	if got := g.Caller(MCP); !reflect.DeepEqual(got, Caller{Principal: "task:x", Face: MCP, Class: Scoped, Task: "x", Terminal: "t", Projects: []string{"p"}}) {
		t.Errorf("%+v", got)
	}
}

// TestLookupIsAFunctionOfPossession: whatever is minted and revoked, a token gives exactly its own grant while it lives,
// and nothing before and after.
func TestLookupIsAFunctionOfPossession(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := NewRegistry()
		live := map[string]Grant{}
		var all []string
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			if len(all) == 0 || rapid.Bool().Draw(t, "mint") {
				g := Grant{Principal: "p" + fmt.Sprint(len(all)), Door: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "door"), Class: rapid.SampledFrom([]Class{Full, Scoped, ReadOnly, Operator, Approve}).Draw(t, "class")}
				token, err := r.Mint(g)
				if err != nil {
					t.Fatal(err)
				}
				live[token.Reveal()] = g
				all = append(all, token.Reveal())
			} else {
				gone := rapid.SampledFrom(all).Draw(t, "gone")
				r.Revoker(secret.Of(gone))()
				delete(live, gone)
			}
			for _, token := range all {
				want, alive := live[token]
				for _, door := range []string{"", "a", "b"} {
					got, ok := r.Lookup(token, door)
					if through := alive && door == want.Door; ok != through || through && !reflect.DeepEqual(got.Grant, want) {
						t.Fatalf("through %q: %+v %v, want %+v %v", door, got, ok, want, alive)
					}
				}
			}
		}
	})
}

// TestBind: what a token let in ends with the token, by name, and with its own parent; nothing else ends it.
func TestBind(t *testing.T) {
	r := NewRegistry()
	projects := []string{"p"}
	token, err := r.Mint(Grant{Principal: "task:x", Class: Scoped, Task: "x", Projects: projects})
	if err != nil {
		t.Fatal(err)
	}
	projects[0] = "another"
	held, ok := r.Lookup(token.Reveal(), "")
	if !ok || held.Projects[0] != "p" {
		t.Fatalf("the grant is another one: %+v", held)
	}
	inFlight, done := held.Bind(t.Context())
	defer done()
	over, cancel := held.Bind(t.Context())
	cancel()
	if over.Err() == nil || errors.Is(context.Cause(over), ErrRevoked) {
		t.Errorf("a call that is over: %v", context.Cause(over))
	}
	parent, abandon := context.WithCancel(t.Context())
	child, done2 := held.Bind(parent)
	defer done2()
	abandon()
	if <-child.Done(); !errors.Is(context.Cause(child), context.Canceled) {
		t.Errorf("a client that went away: %v", context.Cause(child))
	}
	if inFlight.Err() != nil {
		t.Error("it ended early")
	}
	if n := r.Revoke(func(g Grant) bool { return g.Task == "x" }); n != 1 {
		t.Errorf("revoked %d", n)
	}
	if <-inFlight.Done(); !errors.Is(context.Cause(inFlight), ErrRevoked) {
		t.Errorf("cause %v", context.Cause(inFlight))
	}
	late, done3 := held.Bind(t.Context())
	defer done3()
	if <-late.Done(); !errors.Is(context.Cause(late), ErrRevoked) {
		t.Errorf("found before, begun after: %v", context.Cause(late))
	}
	if none, done4 := (Held{}).Bind(t.Context()); !errors.Is(context.Cause(none), ErrRevoked) {
		t.Errorf("nothing was found: %v", context.Cause(none))
		done4()
	}
}

// TestChange: the value stays, the grant is the new one at the next lookup, and what the old one let in has ended. A change
// to what it has already ends nothing.
func TestChange(t *testing.T) {
	r := NewRegistry()
	wide := Grant{Principal: "client:ci", Class: Operator, Everywhere: true}
	narrow := Grant{Principal: "client:ci", Class: ReadOnly, Projects: []string{"p"}}
	token, err := r.Mint(wide)
	if err != nil {
		t.Fatal(err)
	}
	other, err := r.Mint(Grant{Principal: "client:other", Class: Operator})
	if err != nil {
		t.Fatal(err)
	}
	mine := func(g Grant) bool { return g.Principal == "client:ci" }
	held, _ := r.Lookup(token.Reveal(), "")
	ctx, done := held.Bind(t.Context())
	defer done()
	if n := r.Change(mine, wide); n != 0 || ctx.Err() != nil {
		t.Errorf("the same grant again: %d changed, %v", n, context.Cause(ctx))
	}
	if n := r.Change(mine, Grant{Principal: "client:ci", Class: Owner}); n != 0 || ctx.Err() != nil {
		t.Errorf("%d tokens made an owner, %v", n, context.Cause(ctx))
	}
	n := r.Change(mine, narrow)
	if <-ctx.Done(); n != 1 || !errors.Is(context.Cause(ctx), ErrRevoked) {
		t.Errorf("%d changed, cause %v", n, context.Cause(ctx))
	}
	if now, ok := r.Lookup(token.Reveal(), ""); !ok || !reflect.DeepEqual(now.Grant, narrow) {
		t.Errorf("it gives %+v, %v", now.Grant, ok)
	}
	if g, ok := r.Lookup(other.Reveal(), ""); !ok || g.Class != Operator {
		t.Error("another token was changed")
	}
	late, done2 := held.Bind(t.Context())
	defer done2()
	if !errors.Is(context.Cause(late), ErrRevoked) {
		t.Error("a call that was let in by the old grant begins")
	}
}

func TestRegistryTakesManyAtOnce(t *testing.T) {
	r := NewRegistry()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				g := Grant{Principal: fmt.Sprint(i), Class: Full}
				token, err := r.Mint(g)
				if got, ok := r.Lookup(token.Reveal(), ""); err != nil || !ok || !reflect.DeepEqual(got.Grant, g) || !r.Revoker(token)() {
					t.Errorf("%v %+v %v", err, got, ok)
				}
			}
		})
	}
	wg.Wait()
	if r.Len() != 0 {
		t.Errorf("%d tokens are left", r.Len())
	}
}
