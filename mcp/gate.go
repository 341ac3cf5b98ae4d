package mcp

import (
	"net/http"
	"time"

	"termic/internal/grant"
	"termic/internal/inlet"
)

// ServeHTTP answers one request. Each step refuses, or goes on to the next.
func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	own := r.Context().Value(listenerKey{}).(*ownListener)
	k := r.Context().Value(connKey{}).(*inlet.Conn)
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(s.o.Limits.Body)) // of the body, whether anybody will read it or not
	switch {
	case r.URL.Path != Path:
		inlet.Bare(w, http.StatusNotFound)
		return
	case own.closed || r.Host != own.host || fromPage(r.Header):
		inlet.Bare(w, http.StatusForbidden)
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		inlet.Bare(w, http.StatusMethodNotAllowed)
		return
	}
	held, ok := s.o.Authorize(bearer(r.Header), own.door)
	if !ok {
		s.unauthorized(w, r, k)
		return
	}
	k.Begin()
	s.backoff.Clear("")
	if !s.calls.Begin(held.Terminal) {
		w.Header().Set("Retry-After", "1")
		w.Header().Set("Connection", "close") // nobody will read the body
		inlet.Bare(w, http.StatusServiceUnavailable)
		return
	}
	defer s.calls.End(held.Terminal)
	body, status := inlet.Body(w, r, s.o.Limits.BodyBytes, s.o.Log)
	if status != 0 {
		s.noteStatus(held.Caller(grant.MCP), status)
		inlet.Bare(w, status)
		return
	}
	_ = rc.SetReadDeadline(time.Time{}) // from here on a read only tells whether the client is still there
	s.serveRPC(w, r, k, held, body)
}

// fromPage reports whether a web page sent the request. Browsers put an Origin on every POST, a page's own included, and
// newer ones say in Sec-Fetch-Site how far they come. There is no page of ours.
func fromPage(h http.Header) bool {
	if len(h["Origin"]) > 0 {
		return true
	}
	for _, site := range h["Sec-Fetch-Site"] {
		if site != "none" && site != "same-origin" {
			return true
		}
	}
	return false
}

// bearer takes the token out of the headers: from TokenHeader if it is there, else from Authorization. A header that
// stands twice is no token.
func bearer(h http.Header) string {
	if lines, ok := h[TokenHeader]; ok {
		if len(lines) != 1 {
			return ""
		}
		return lines[0]
	}
	return inlet.Bearer(h)
}

// unauthorized answers a request without a right token: always the same bytes, and the connection ends.
func (s *Server) unauthorized(w http.ResponseWriter, r *http.Request, k *inlet.Conn) {
	if wait := s.backoff.Fail(r.RemoteAddr); wait > 0 {
		k.Sleep()
		inlet.Pause(r.Context(), wait)
		s.backoff.Woke()
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	w.Header().Set("Connection", "close")
	inlet.Bare(w, http.StatusUnauthorized)
}

// noteStatus tells the ledger of a refusal that has no code of the protocol.
func (s *Server) noteStatus(caller grant.Caller, status int) {
	s.refusals.note(caller, refuse(status, codeRequest, http.StatusText(status)))
}
