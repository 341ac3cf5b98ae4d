package grant

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"reflect"
	"slices"
	"sync"

	"termic/internal/fault"
	"termic/internal/secret"
)

// MaxTokens is how many tokens a registry holds at once: every terminal of many tasks, and every named client.
const MaxTokens = 4096

// ErrFull is returned by Mint when the registry holds MaxTokens.
var ErrFull = errors.New("no more tokens can be held")

// ErrRevoked is the cause of contexts that ended because the token of their call was taken back.
var ErrRevoked = fault.New(fault.Forbidden, "The token of this call was taken back").
	WithHint("The terminal that it was made for has ended or was started again, or the endpoint was.")

// Grant is what possession of a token gives. A registry hands out the same Projects again and again, so nobody changes
// them.
type Grant struct {
	Principal string   // "task:<id>", "client:<name>", "outside"
	Token     string   // id of a named token; empty for others
	Class     Class    // never Owner: a token does not make an owner
	Task      string   // the task that the token belongs to; empty for others
	Terminal  string   // the tab whose running program it was minted for; empty for others
	Projects  []string // ids of the projects that a scoped token may act on, or that a named one reaches
	// Everywhere lets a named token reach every project, whatever Projects says.
	Everywhere bool
	// Door is the one door that the token may come through. Empty: through none, only to the endpoint's own address.
	Door string
}

// Caller is the one way from a grant to who asks, for every face that takes tokens.
func (g Grant) Caller(f Face) Caller {
	return Caller{Principal: g.Principal, Token: g.Token, Face: f, Class: g.Class, Task: g.Task, Terminal: g.Terminal, Projects: g.Projects, Everywhere: g.Everywhere}
}

// Held is what a lookup found: the grant, and for how long it holds.
type Held struct {
	Grant
	live context.Context // ends when the token is revoked
}

// Bind returns a context that ends with parent, and when the token is revoked: then its cause is ErrRevoked. cancel must
// be called.
func (h Held) Bind(parent context.Context) (ctx context.Context, cancel context.CancelFunc) {
	ctx, end := context.WithCancelCause(parent)
	if h.live == nil {
		end(ErrRevoked) // nothing was found, so nothing holds
		return ctx, func() {}
	}
	stop := context.AfterFunc(h.live, func() { end(ErrRevoked) })
	if h.live.Err() != nil { // nothing begins while that is still on its way
		end(ErrRevoked)
	}
	return ctx, func() {
		stop()
		end(nil)
	}
}

// Ended is closed when the token was revoked, or what it gives was changed.
func (h Held) Ended() <-chan struct{} {
	if h.live == nil {
		gone := make(chan struct{})
		close(gone)
		return gone
	}
	return h.live.Done()
}

// digest is all that is kept of a token.
type digest [sha256.Size]byte

// entry is a live token. It repeats its digest, so that what was found is compared again in constant time.
type entry struct {
	digest digest
	held   Held
	end    context.CancelFunc // of held
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
	if !mintable(g) {
		return secret.String{}, errors.New("a token needs a principal and a class below the owner's")
	}
	token := secret.Mint()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.entries) >= MaxTokens {
		return secret.String{}, ErrFull
	}
	d := digestOf(token.Reveal())
	g.Projects = slices.Clone(g.Projects)
	r.entries[d] = newEntry(d, g)
	return token, nil
}

// Keep takes a token in of which only the digest is known, its SHA-256. A digest that is known already is refused.
func (r *Registry) Keep(d [sha256.Size]byte, g Grant) error {
	if !mintable(g) || d == [sha256.Size]byte{} {
		return errors.New("a token needs a digest, a principal and a class below the owner's")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.entries) >= MaxTokens {
		return ErrFull
	}
	if _, known := r.entries[d]; known {
		return errors.New("the token is kept already")
	}
	g.Projects = slices.Clone(g.Projects)
	r.entries[d] = newEntry(d, g)
	return nil
}

// Lookup is the one function that turns a bearer into a grant. door is the door that the bearer came through, empty for
// none. A door only narrows: a token for another door, and one for a door that comes without one, are as unknown as a
// guess. The empty bearer matches nothing.
func (r *Registry) Lookup(bearer, door string) (Held, bool) {
	if bearer == "" {
		return Held{}, false
	}
	d := digestOf(bearer)
	r.mu.RLock()
	e, ok := r.entries[d]
	r.mu.RUnlock()
	// How long the map took says at most something about digests. The comparison that decides takes the same time
	// whatever was found, and an entry that was never filled equals no digest.
	if subtle.ConstantTimeCompare(e.digest[:], d[:]) != 1 || !ok || e.held.Door != door {
		return Held{}, false
	}
	return e.held, true
}

// Any reports whether there is a token whose grant is chosen.
func (r *Registry) Any(chosen func(Grant) bool) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, e := range r.entries {
		if chosen(e.held.Grant) {
			return true
		}
	}
	return false
}

// Revoke ends every token whose grant is chosen, with the calls that it let in, and returns how many.
func (r *Registry) Revoke(chosen func(Grant) bool) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for d, e := range r.entries {
		if chosen(e.held.Grant) {
			r.dropLocked(d)
			n++
		}
	}
	return n
}

// Change gives every chosen token another grant, unless it has that one already, and returns how many it changed. Their
// values stay; calls that they let in before end. A grant that Mint would refuse changes nothing.
func (r *Registry) Change(chosen func(Grant) bool, to Grant) int {
	if !mintable(to) {
		return 0
	}
	to.Projects = slices.Clone(to.Projects)
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for d, e := range r.entries {
		if !chosen(e.held.Grant) || reflect.DeepEqual(e.held.Grant, to) {
			continue
		}
		e.end()
		r.entries[d] = newEntry(d, to)
		n++
	}
	return n
}

// mintable reports whether a token may give a grant.
func mintable(g Grant) bool { return g.Principal != "" && g.Class != "" && g.Class != Owner }

func newEntry(d digest, g Grant) entry {
	live, end := context.WithCancel(context.Background())
	return entry{digest: d, held: Held{Grant: g, live: live}, end: end}
}

// dropLocked ends one token and reports whether it was live. r.mu must be held.
func (r *Registry) dropLocked(d digest) bool {
	e, ok := r.entries[d]
	if ok {
		delete(r.entries, d)
		e.end()
	}
	return ok
}

// Revoker returns what ends one token, with the calls that it let in, and reports whether it was live. It remembers the digest alone, so whoever has to
// take a token back later need not keep its value.
func (r *Registry) Revoker(token secret.String) func() bool {
	d := digestOf(token.Reveal())
	return func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.dropLocked(d)
	}
}

// Len is how many tokens are live.
func (r *Registry) Len() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.entries)
}

func digestOf(bearer string) digest { return sha256.Sum256([]byte(bearer)) }
