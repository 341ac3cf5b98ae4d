package mcp

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"termic/internal/grant"
)

// ServeHTTP answers one request. Each step refuses, or goes on to the next.
func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	own := r.Context().Value(listenerKey{}).(*ownListener)
	k := r.Context().Value(connKey{}).(*conn)
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(s.o.Limits.Body)) // of the body, whether anybody will read it or not
	switch {
	case r.URL.Path != Path:
		bare(w, http.StatusNotFound)
		return
	case own.closed || r.Host != own.host || fromPage(r.Header):
		bare(w, http.StatusForbidden)
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		bare(w, http.StatusMethodNotAllowed)
		return
	}
	held, ok := s.o.Authorize(bearer(r.Header), own.door)
	if !ok {
		s.unauthorized(w, r, k)
		return
	}
	k.begin()
	s.backoff.clear()
	if !s.calls.begin(held.Terminal) {
		w.Header().Set("Retry-After", "1")
		w.Header().Set("Connection", "close") // nobody will read the body
		bare(w, http.StatusServiceUnavailable)
		return
	}
	defer s.calls.end(held.Terminal)
	body, status := s.body(w, r)
	if status != 0 {
		s.noteStatus(held.Caller(grant.MCP), status)
		bare(w, status)
		return
	}
	_ = rc.SetReadDeadline(time.Time{}) // from here on a read only tells whether the client is still there
	s.serveRPC(w, r, held, body)
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
	lines := h["Authorization"]
	if len(lines) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(lines[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimLeft(token, " ")
}

// unauthorized answers a request without a right token: always the same bytes, and the connection ends.
func (s *Server) unauthorized(w http.ResponseWriter, r *http.Request, k *conn) {
	if wait := s.backoff.fail(r.RemoteAddr); wait > 0 {
		k.sleep()
		pause(r.Context(), wait)
		s.backoff.woke()
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	w.Header().Set("Connection", "close")
	bare(w, http.StatusUnauthorized)
}

// body reads the body of a request whose sender is known. A status that is not zero refuses it.
func (s *Server) body(w http.ResponseWriter, r *http.Request) ([]byte, int) {
	if !isJSON(r.Header) {
		return nil, http.StatusUnsupportedMediaType
	}
	if r.ContentLength > s.o.Limits.BodyBytes {
		w.Header().Set("Connection", "close") // nobody will read it
		return nil, http.StatusRequestEntityTooLarge
	}
	var b bytes.Buffer
	if r.ContentLength > 0 {
		b.Grow(int(min(r.ContentLength+bytes.MinRead, firstRead))) // what is promised may never come
	}
	_, err := b.ReadFrom(http.MaxBytesReader(w, r.Body, s.o.Limits.BodyBytes))
	if err == nil {
		return b.Bytes(), 0
	}
	w.Header().Set("Connection", "close") // where the next request begins is not known
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, http.StatusRequestEntityTooLarge
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, http.StatusRequestTimeout
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		s.o.Log.Debug("mcp: a body did not come whole", "err", err)
	}
	return nil, http.StatusBadRequest
}

// firstRead is how much memory a body gets before any of it has come.
const firstRead = 64 << 10

// isJSON reports whether the body is said to be JSON, as it is, without a coding.
func isJSON(h http.Header) bool {
	if coding, ok := h["Content-Encoding"]; ok && !(len(coding) == 1 && strings.EqualFold(coding[0], "identity")) {
		return false
	}
	lines := h["Content-Type"]
	if len(lines) != 1 {
		return false
	}
	if lines[0] == "application/json" {
		return true
	}
	media, _, err := mime.ParseMediaType(lines[0])
	return err == nil && media == "application/json"
}

// noteStatus tells the ledger of a refusal that has no code of the protocol.
func (s *Server) noteStatus(caller grant.Caller, status int) {
	s.refusals.note(caller, refuse(status, codeRequest, http.StatusText(status)))
}
