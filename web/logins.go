package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"sync"
	"time"

	"termic/internal/boottime"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/secret"
)

// errLoginOver is the cause of calls that end because their login does.
var errLoginOver = fault.New(fault.Forbidden, "The login has run out").WithHint("Log in again.")

// maxLogins is how many logins one token may have at the same time; one more ends the oldest.
const maxLogins = 16

// digest is all that is kept of a cookie and of a key.
type digest [sha256.Size]byte

func digestOf(s string) digest { return sha256.Sum256([]byte(s)) }

// login is one page's way in. It holds no secret.
type login struct {
	key  digest
	held grant.Held
	at   time.Time
	boot time.Duration // when it began, since the machine was booted; 0 where that cannot be told
}

// logins are those that last. They live in memory alone: the end of the app ends them all.
type logins struct {
	last time.Duration

	mu sync.Mutex // guards the following
	by map[digest]login
}

func newLogins(last time.Duration) *logins { return &logins{last: last, by: map[digest]login{}} }

// begin makes a login of a token: what the cookie holds, and the key that the page must send with it.
func (l *logins) begin(held grant.Held) (cookie, key secret.String) {
	cookie, key = secret.Mint(), secret.Mint()
	boot, _ := boottime.Now() // 0 where the machine cannot tell: then the clock alone counts
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(held.Principal)
	l.by[digestOf(cookie.Reveal())] = login{key: digestOf(key.Reveal()), held: held, at: time.Now(), boot: boot}
	return cookie, key
}

// sweep forgets what has ended, and the oldest login of a principal that has as many as it may. l.mu must be held.
func (l *logins) sweep(principal string) {
	var oldest digest
	n := 0
	for d, in := range l.by {
		switch {
		case l.over(in):
			delete(l.by, d)
		case in.held.Principal == principal:
			if n++; n == 1 || in.at.Before(l.by[oldest].at) {
				oldest = d
			}
		}
	}
	if n >= maxLogins {
		delete(l.by, oldest)
	}
}

// over reports whether a login has ended: its token was revoked or changed, or it ran out by the clock or by the time that
// passed, whichever comes first. A clock that is set back wins nothing.
func (l *logins) over(in login) bool {
	select {
	case <-in.held.Ended():
		return true
	default:
	}
	boot, _ := boottime.Now()
	now := time.Now()
	return now.Sub(in.at) >= l.last || now.Round(0).Sub(in.at.Round(0)) >= l.last || in.boot > 0 && boot-in.boot >= l.last
}

// find is the login of a cookie, if the key is its own. Both are compared in constant time by their digests.
func (l *logins) find(cookie string, key []string) (who, bool) {
	if cookie == "" || len(key) != 1 {
		return who{}, false
	}
	d, k := digestOf(cookie), digestOf(key[0])
	l.mu.Lock()
	defer l.mu.Unlock()
	in, ok := l.by[d]
	if !ok || subtle.ConstantTimeCompare(in.key[:], k[:]) != 1 {
		return who{}, false
	}
	if l.over(in) {
		delete(l.by, d)
		return who{}, false
	}
	return who{Caller: in.held.Caller(grant.Web), held: in.held, until: in.at.Add(l.last), login: d}, true
}

// end forgets a login. One that is not there is none.
func (l *logins) end(d digest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.by, d)
}
