package web

import (
	"context"
	"net/http"
	"time"

	"termic/internal/grant"
	"termic/internal/inlet"
)

// who is somebody whose token was found good.
type who struct {
	grant.Caller
	held  grant.Held
	until time.Time // the end of the login; zero for a bearer, which has none
	login digest    // of the cookie; zero for a bearer
}

// known lets those in who have a right token, and counts what they have under way. The request's context ends with the token,
// or with the login.
func (s *Server) known(then func(http.ResponseWriter, *http.Request, who)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		me, ok := s.whose(r)
		if !ok {
			s.unauthorized(w, r)
			return
		}
		if k := connOf(r); k != nil {
			k.Begin()
		}
		if !s.calls.Begin(me.Principal) {
			w.Header().Set("Retry-After", "1")
			w.Header().Set("Connection", "close") // nobody will read the body
			inlet.Bare(w, http.StatusServiceUnavailable)
			return
		}
		defer s.calls.End(me.Principal)
		ctx, done := me.held.Bind(r.Context())
		defer done()
		if !me.until.IsZero() {
			var stop context.CancelFunc
			ctx, stop = context.WithDeadlineCause(ctx, me.until, errLoginOver)
			defer stop()
		}
		then(w, r.WithContext(ctx), me)
	}
}

// whose finds out whose request it is: by a bearer, or by a cookie and the key of its page. A bearer that is there is the only
// thing that counts.
func (s *Server) whose(r *http.Request) (who, bool) {
	if _, bearer := r.Header["Authorization"]; bearer {
		held, ok := s.o.Authorize(inlet.Bearer(r.Header))
		if !ok {
			return who{}, false
		}
		s.backoff.Clear(r.RemoteAddr)
		return who{Caller: held.Caller(grant.API), held: held}, true
	}
	return s.logins.find(cookieOf(r), r.Header[keyHeader])
}

// unauthorized answers a request without a right token: always the same bytes, and the connection ends. Who shows wrong tokens
// waits for it, longer each time; others do not.
func (s *Server) unauthorized(w http.ResponseWriter, r *http.Request) {
	if _, tried := r.Header["Authorization"]; tried || r.Method == http.MethodPost && r.URL.Path == Prefix+"session" {
		if wait := s.backoff.Fail(r.RemoteAddr); wait > 0 {
			if k := connOf(r); k != nil {
				k.Sleep()
			}
			inlet.Pause(r.Context(), wait)
			s.backoff.Woke()
		}
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	w.Header().Set("Connection", "close")
	inlet.Bare(w, http.StatusUnauthorized)
}

func connOf(r *http.Request) *inlet.Conn {
	k, _ := r.Context().Value(connKey{}).(*inlet.Conn)
	return k
}
