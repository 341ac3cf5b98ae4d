package web

import (
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"termic/internal/fault"
	"termic/internal/inlet"
)

// Prefix is the path below which everything but the page is.
const Prefix = "/api/v1/"

// policy is the page's own content policy, and what only a header can say: nobody frames it, and no form leaves it.
const policy = "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'; object-src 'none'"

// routes are all that there are below Prefix.
func (s *Server) routes() {
	s.mux = http.NewServeMux()
	s.mux.HandleFunc("POST "+Prefix+"session", s.login)
	s.mux.HandleFunc("GET "+Prefix+"session", s.known(s.session))
	s.mux.HandleFunc("DELETE "+Prefix+"session", s.known(s.logout))
	s.mux.HandleFunc("GET "+Prefix+"changes", s.known(s.changes))
	s.mux.HandleFunc("GET "+Prefix+"jobs/{job}/events", s.known(s.jobEvents))
	s.mux.HandleFunc("POST "+Prefix+"hooks/{name}", s.hook)
	s.mux.HandleFunc("GET "+Prefix+"{verb}", s.known(s.read))
	s.mux.HandleFunc("POST "+Prefix+"{verb}", s.known(s.call))
}

// serveHTTP answers one request. Each step refuses, or goes on to the next.
func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	s.busy.Add(1)
	defer s.busy.Done()
	defer s.recovered(w, r)
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.o.Limits.Body)) // of the body, whether anybody will read it or not
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	switch inAPI := strings.HasPrefix(r.URL.Path, Prefix); {
	case !s.calledRight(r), !s.fromOwnPage(r, inAPI):
		inlet.Bare(w, http.StatusForbidden)
	case inAPI:
		h.Set("Cache-Control", "no-store")
		s.route(w, r)
	default:
		s.files.ServeHTTP(w, r)
	}
}

// route finds the handler. What has none, and a method that a path does not take, are answered without a body: the words of
// net/http would be one more thing to keep in mind.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	handler, pattern := s.mux.Handler(r)
	if pattern != "" {
		handler = s.mux
		handler.ServeHTTP(w, r)
		return
	}
	sink := &statusOnly{header: http.Header{}, status: http.StatusNotFound}
	handler.ServeHTTP(sink, r)
	if allow := sink.header.Get("Allow"); allow != "" {
		w.Header().Set("Allow", allow)
	}
	w.Header().Set("Connection", "close") // nobody will read a body
	inlet.Bare(w, sink.status)
}

// statusOnly hears what an answer would have been.
type statusOnly struct {
	header http.Header
	status int
}

func (o *statusOnly) Header() http.Header         { return o.header }
func (o *statusOnly) Write(p []byte) (int, error) { return len(p), nil }
func (o *statusOnly) WriteHeader(status int)      { o.status = status }

// calledRight reports whether a request calls this machine by a name of its own: by the address and port that it came to, by
// localhost where that is loopback, or by a name of the proxy in front. Any other name leads here by somebody else's doing.
func (s *Server) calledRight(r *http.Request) bool {
	host := strings.ToLower(r.Host)
	if s.hosts[host] {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok || s.o.Certificate == nil {
		return false
	}
	at, err := netip.ParseAddrPort(local.String())
	if err != nil {
		return false
	}
	ip := at.Addr().Unmap().WithZone("")
	names := []string{netip.AddrPortFrom(ip, at.Port()).String()}
	if ip.IsLoopback() {
		names = append(names, net.JoinHostPort("localhost", strconv.Itoa(int(at.Port()))))
	}
	for _, n := range names {
		if host == n || at.Port() == 443 && host == strings.TrimSuffix(n, ":443") {
			return true
		}
	}
	return false
}

// fromOwnPage reports whether a request comes from a page of this face, or from no page at all. A page may be gone to from
// anywhere, but what it loads and calls is for itself alone.
func (s *Server) fromOwnPage(r *http.Request, inAPI bool) bool {
	if lines := r.Header["Origin"]; len(lines) > 1 || len(lines) == 1 && !strings.EqualFold(lines[0], "https://"+r.Host) {
		return false
	}
	for _, site := range r.Header["Sec-Fetch-Site"] {
		visited := !inAPI && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
		if site != "same-origin" && site != "none" && !visited {
			return false
		}
	}
	return true
}

// recovered ends a request that panicked, without a word of why.
func (s *Server) recovered(w http.ResponseWriter, r *http.Request) {
	if p := recover(); p != nil {
		s.o.Log.Error("web: a request panicked", "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
		s.refuse(w, fault.New(fault.Internal, "Something went wrong inside Termic"))
	}
}
