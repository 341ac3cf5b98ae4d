package web

import (
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"termic/internal/api"
	"termic/internal/grant"
	"termic/internal/inlet"
	"termic/internal/verb"
)

// keyHeader carries the key of the page. No page but our own can read it or send it, so it also tells that a request is no
// other page's doing.
const keyHeader = "X-Termic-Key"

// cookieName is the name of the cookie of one listener. Browsers hand cookies to every port of a host, so that two that run
// on one machine would take each other's; the prefix makes browsers refuse it from anybody but this host over TLS.
func cookieName(r *http.Request) string {
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		if at, err := netip.ParseAddrPort(local.String()); err == nil {
			return "__Host-termic-" + strconv.Itoa(int(at.Port()))
		}
	}
	return "__Host-termic"
}

// cookieOf is the value of the cookie; empty for none, and for two of that name.
func cookieOf(r *http.Request) string {
	if list := r.CookiesNamed(cookieName(r)); len(list) == 1 {
		return list[0].Value
	}
	return ""
}

func setCookie(w http.ResponseWriter, r *http.Request, value string, age time.Duration) {
	c := &http.Cookie{Name: cookieName(r), Value: value, Path: "/", MaxAge: int(age.Seconds()), Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// login takes a token from the page and gives a login for it.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	body, status := inlet.Body(w, r, maxLoginBody, s.o.Log)
	if status != 0 {
		inlet.Bare(w, status)
		return
	}
	var p struct {
		Token string `json:"token"`
	}
	held, ok := grant.Held{}, false
	if json.Unmarshal(body, &p) == nil {
		held, ok = s.o.Authorize(strings.TrimSpace(p.Token))
	}
	if !ok {
		s.unauthorized(w, r)
		return
	}
	s.backoff.Clear(r.RemoteAddr)
	if old, ok := s.logins.find(cookieOf(r), r.Header[keyHeader]); ok {
		s.logins.end(old.login) // the browser forgets it
	}
	cookie, key := s.logins.begin(held)
	s.o.Log.Info("web: a page logged in", "principal", held.Principal, "from", r.RemoteAddr)
	setCookie(w, r, cookie.Reveal(), s.o.Limits.Login)
	view := s.view(who{Caller: held.Caller(grant.Web), until: time.Now().Add(s.o.Limits.Login)})
	view.Key = key.Reveal()
	s.answer(w, http.StatusOK, inlet.JSON(view))
}

// maxLoginBody bounds the body of a login.
const maxLoginBody = 4 << 10

// session says whose token it is.
func (s *Server) session(w http.ResponseWriter, _ *http.Request, me who) {
	s.answer(w, http.StatusOK, inlet.JSON(s.view(me)))
}

// logout ends a login. A bearer has none, and stays good.
func (s *Server) logout(w http.ResponseWriter, r *http.Request, me who) {
	s.logins.end(me.login)
	setCookie(w, r, "", 0)
	inlet.Bare(w, http.StatusNoContent)
}

// view is what a caller may know of itself: enough to hide what it may not do.
func (s *Server) view(me who) api.WebLogin {
	v := api.WebLogin{Name: strings.TrimPrefix(me.Principal, "client:"), Scope: string(me.Class), AllProjects: me.Everywhere, Version: s.o.Version, Verbs: []string{}}
	if !me.until.IsZero() {
		v.Expires = me.until.UTC().Format(time.RFC3339)
	}
	for _, d := range verb.All() {
		if offered(&d, me.Caller) {
			v.Verbs = append(v.Verbs, d.Name)
		}
	}
	return v
}

// offered reports whether a caller has a verb here.
func offered(v *verb.Verb, c grant.Caller) bool { return !v.Local && v.On(c.Face) && v.For(c.Class) }
