package grant

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"testing"
	"time"
	"weak"

	"termic/internal/secret"
)

// TestKeep: a token of which only the digest is known gives its grant like one that was minted, and nothing else does.
func TestKeep(t *testing.T) {
	r := NewRegistry()
	token, projects := secret.Mint(), []string{"p"}
	g := Grant{Principal: "client:phone", Token: "id", Class: Operator, Projects: projects}
	if err := r.Keep(sha256.Sum256([]byte(token.Reveal())), g); err != nil {
		t.Fatal(err)
	}
	projects[0] = "another"
	want := Grant{Principal: "client:phone", Token: "id", Class: Operator, Projects: []string{"p"}}
	if got, ok := r.Lookup(token.Reveal(), ""); !ok || !reflect.DeepEqual(got.Grant, want) {
		t.Errorf("%+v, %v; want %+v", got.Grant, ok, want)
	}
	if !r.Revoker(token)() || r.Len() != 0 {
		t.Error("it cannot be taken back")
	}
}

func TestKeepRefuses(t *testing.T) {
	r := NewRegistry()
	good, d := Grant{Principal: "client:a", Class: ReadOnly}, sha256.Sum256([]byte("a"))
	for name, try := range map[string]func() error{
		"no digest":       func() error { return r.Keep([sha256.Size]byte{}, good) },
		"no principal":    func() error { return r.Keep(d, Grant{Class: ReadOnly}) },
		"no class":        func() error { return r.Keep(d, Grant{Principal: "client:a"}) },
		"the owner's":     func() error { return r.Keep(d, Grant{Principal: "client:a", Class: Owner}) },
		"nothing at all":  func() error { return r.Keep([sha256.Size]byte{}, Grant{}) },
		"none of a grant": func() error { return r.Keep(d, Grant{}) },
	} {
		if err := try(); err == nil || r.Len() != 0 {
			t.Errorf("%s: kept %d, error %v", name, r.Len(), err)
		}
	}
	if err := r.Keep(d, good); err != nil {
		t.Fatal(err)
	}
	if err := r.Keep(d, Grant{Principal: "client:b", Class: Operator}); err == nil {
		t.Error("a second grant took the token of the first one")
	}
	if got, ok := r.Lookup("a", ""); !ok || !reflect.DeepEqual(got.Grant, good) {
		t.Errorf("the first one has %+v, %v", got.Grant, ok)
	}
	for i := r.Len(); i < MaxTokens; i++ {
		if err := r.Keep(sha256.Sum256(fmt.Append(nil, i)), good); err != nil {
			t.Fatalf("token %d: %v", i, err)
		}
	}
	if err := r.Keep(sha256.Sum256([]byte("one more")), good); !errors.Is(err, ErrFull) || r.Len() != MaxTokens {
		t.Errorf("one more than fits: %v, %d are held", err, r.Len())
	}
}

// TestTheEmptyBearerIsNobody: even where somebody stored the digest of nothing.
func TestTheEmptyBearerIsNobody(t *testing.T) {
	r := NewRegistry()
	if err := r.Keep(sha256.Sum256(nil), Grant{Principal: "client:a", Class: ReadOnly}); err != nil {
		t.Fatal(err)
	}
	if got, ok := r.Lookup("", ""); ok || !reflect.DeepEqual(got, Held{}) {
		t.Errorf("it was taken for %+v", got)
	}
}

func TestAny(t *testing.T) {
	r := NewRegistry()
	operator := func(g Grant) bool { return g.Class == Operator }
	if r.Any(operator) {
		t.Error("an empty registry has one")
	}
	for i, c := range []Class{ReadOnly, Approve, Operator} {
		if _, err := r.Mint(Grant{Principal: "client:a", Class: c}); err != nil {
			t.Fatal(err)
		}
		if got := r.Any(operator); got != (i == 2) {
			t.Errorf("after a token of class %s: %v", c, got)
		}
	}
}

// TestEnded: it is closed by what ends or changes the token, and by nothing else; what was never found has ended.
func TestEnded(t *testing.T) {
	closed := func(h Held) bool {
		select {
		case <-h.Ended():
			return true
		default:
			return false
		}
	}
	if !closed(Held{}) {
		t.Error("nothing was found, and it goes on")
	}
	r := NewRegistry()
	token, err := r.Mint(Grant{Principal: "client:a", Class: Operator})
	if err != nil {
		t.Fatal(err)
	}
	first, _ := r.Lookup(token.Reveal(), "")
	if closed(first) {
		t.Error("it ended by itself")
	}
	r.Change(func(Grant) bool { return true }, Grant{Principal: "client:a", Class: ReadOnly})
	second, _ := r.Lookup(token.Reveal(), "")
	if !closed(first) || closed(second) {
		t.Errorf("after a change, the old one has ended: %v, the new one: %v", closed(first), closed(second))
	}
	r.Revoke(func(Grant) bool { return true })
	if !closed(second) {
		t.Error("it was taken back, and goes on")
	}
}

// TestChangeKeepsItsOwnList: whoever made the grant may go on using the list that was in it.
func TestChangeKeepsItsOwnList(t *testing.T) {
	r := NewRegistry()
	token, err := r.Mint(Grant{Principal: "client:a", Class: Operator})
	if err != nil {
		t.Fatal(err)
	}
	projects := []string{"p"}
	if n := r.Change(func(Grant) bool { return true }, Grant{Principal: "client:a", Class: Operator, Projects: projects}); n != 1 {
		t.Fatalf("%d changed", n)
	}
	projects[0] = "another"
	if got, _ := r.Lookup(token.Reveal(), ""); got.Projects[0] != "p" {
		t.Errorf("it reaches %q", got.Projects)
	}
}

// TestChangeToNobody: a grant that no token may have changes none, and is not tried on any.
func TestChangeToNobody(t *testing.T) {
	r := NewRegistry()
	if _, err := r.Mint(Grant{Principal: "client:a", Class: Operator}); err != nil {
		t.Fatal(err)
	}
	for _, to := range []Grant{{}, {Principal: "client:a"}, {Class: ReadOnly}, {Principal: "client:a", Class: Owner}} {
		if n := r.Change(func(Grant) bool { return true }, to); n != 0 {
			t.Errorf("%d tokens have %+v", n, to)
		}
	}
}

// TestACallThatIsOverLeavesNothing: a token may live for days, and let in thousands of calls a second.
func TestACallThatIsOverLeavesNothing(t *testing.T) {
	r := NewRegistry()
	token, err := r.Mint(Grant{Principal: "outside", Class: Full})
	if err != nil {
		t.Fatal(err)
	}
	type key struct{}
	type body [1 << 10]byte
	call := func() weak.Pointer[body] {
		held, _ := r.Lookup(token.Reveal(), "")
		of := &body{}
		_, done := held.Bind(context.WithValue(t.Context(), key{}, of))
		done()
		return weak.Make(of)
	}
	kept := call()
	for end := time.Now().Add(10 * time.Second); kept.Value() != nil; runtime.GC() {
		if time.Now().After(end) {
			t.Fatal("the token still holds a call that is over")
		}
	}
	if r.Len() != 1 {
		t.Errorf("%d tokens", r.Len())
	}
}

// TestWhoeverActsByItself: only rules do, and an owner is made by the face alone.
func TestWhoeverActsByItself(t *testing.T) {
	for face, byRule := range map[Face]bool{Window: false, CLI: false, MCP: false, Web: false, API: false, Trigger: true, Schedule: true, "": false} {
		if face.ByRule() != byRule {
			t.Errorf("%q acts by itself: %v", face, face.ByRule())
		}
		if got := OwnerOn(face); !reflect.DeepEqual(got, Caller{Principal: "owner", Face: face, Class: Owner}) {
			t.Errorf("the owner on %q is %+v", face, got)
		}
	}
}
