package grant

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"sync"

	"termic/internal/secret"
)

// MaxTokens is how many tokens a registry holds at once: every terminal of many tasks, and every named client.
const MaxTokens = 4096

// ErrFull is returned by Mint when the registry holds MaxTokens.
var ErrFull = errors.New("no more tokens can be held")

// Grant is what possession of a token gives.
type Grant struct {
	Principal string // "task:<id>", "client:<name>", "outside"
	Class     Class  // never Owner: a token does not make an owner
	Task      string // the task that the token belongs to; empty for others
}

// Caller is the one way from a grant to who asks, for every face that takes tokens.
func (g Grant) Caller(f Face) Caller {
	return Caller{Principal: g.Principal, Face: f, Class: g.Class, Task: g.Task}
}

// digest is all that is kept of a token.
type digest [sha256.Size]byte

// entry is a live token. It repeats its digest, so that what was found is compared again in constant time.
type entry struct {
	digest digest
	grant  Grant
}

// Registry maps tokens to grants. It keeps SHA-256 digests only, so that its memory tells nobody a token. It is safe for
// concurrent use.
type Registry struct {
	mu      sync.RWMutex // guards the following
	entries map[digest]entry
}

// NewRegistry makes an empty registry, in which every lookup fails.
func NewRegistry() *Registry { return &Registry{entries: map[digest]entry{}} }

// Mint makes a fresh token for a grant and returns its value, which is not kept. A grant of the owner's class or of none
// is refused, and so is one more than MaxTokens.
func (r *Registry) Mint(g Grant) (secret.String, error) {
	if g.Principal == "" || g.Class == "" || g.Class == Owner {
		return secret.String{}, errors.New("a token needs a principal and a class below the owner's")
	}
	token := secret.Mint()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.entries) >= MaxTokens {
		return secret.String{}, ErrFull
	}
	d := digestOf(token.Reveal())
	r.entries[d] = entry{digest: d, grant: g}
	return token, nil
}

// Lookup is the one function that turns a bearer into a grant. The empty bearer matches nothing.
func (r *Registry) Lookup(bearer string) (Grant, bool) {
	if bearer == "" {
		return Grant{}, false
	}
	d := digestOf(bearer)
	r.mu.RLock()
	e, ok := r.entries[d]
	r.mu.RUnlock()
	// How long the map took says at most something about digests. The comparison that decides takes the same time
	// whatever was found, and an entry that was never filled equals no digest.
	if subtle.ConstantTimeCompare(e.digest[:], d[:]) != 1 || !ok {
		return Grant{}, false
	}
	return e.grant, true
}

// Revoke ends every token whose grant is chosen, and returns how many. A call that was let in before goes on.
func (r *Registry) Revoke(chosen func(Grant) bool) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for d, e := range r.entries {
		if chosen(e.grant) {
			delete(r.entries, d)
			n++
		}
	}
	return n
}

// Revoker returns what ends one token and reports whether it was live. It remembers the digest alone, so whoever has to
// take a token back later need not keep its value.
func (r *Registry) Revoker(token secret.String) func() bool {
	d := digestOf(token.Reveal())
	return func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		_, ok := r.entries[d]
		delete(r.entries, d)
		return ok
	}
}

// Len is how many tokens are live.
func (r *Registry) Len() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.entries)
}

func digestOf(bearer string) digest { return sha256.Sum256([]byte(bearer)) }
