package web

import (
	"context"
	"net/http"

	"termic/internal/fault"
	"termic/internal/inlet"
)

// Headers of a signed request, and the longest body of one.
const (
	hookTime      = "Termic-Timestamp"
	hookSignature = "Termic-Signature"
	hookBytes     = 64 << 10
)

// Hooks takes signed requests in. A request is let in by its signature alone: it has no caller, calls no verb and is answered nothing
// but the id of the event that it is.
type Hooks func(ctx context.Context, name, at, signature string, body []byte) (event string, repeated bool, err error)

// hooked is the answer to a signed request.
type hooked struct {
	Event    string `json:"event"`
	Repeated bool   `json:"repeated,omitempty"` // it came before, and nothing follows from it again
}

// hook takes one request in. No page sends one: whatever a browser says of where a request comes from refuses it. Who does not sign as
// he should waits like whoever guesses tokens, and learns nothing, not even whether there is such a name.
func (s *Server) hook(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int) {
		w.Header().Set("Connection", "close") // nobody will read the rest
		inlet.Bare(w, status)
	}
	if s.o.Hooks == nil {
		refuse(http.StatusNotFound)
		return
	}
	for _, header := range []string{"Origin", "Cookie", "Sec-Fetch-Site"} {
		if _, there := r.Header[header]; there {
			refuse(http.StatusForbidden)
			return
		}
	}
	body, status := inlet.Body(w, r, hookBytes, s.o.Log)
	if status != 0 {
		refuse(status)
		return
	}
	if len(r.Header[hookTime]) != 1 || len(r.Header[hookSignature]) != 1 {
		s.unsigned(w, r)
		return
	}
	event, repeated, err := s.o.Hooks(r.Context(), r.PathValue("name"), r.Header.Get(hookTime), r.Header.Get(hookSignature), body)
	switch {
	case fault.CodeOf(err) == fault.Forbidden:
		s.unsigned(w, r)
	case err != nil:
		s.refuse(w, fault.From(err))
	default:
		s.backoff.Clear(r.RemoteAddr)
		s.answer(w, http.StatusAccepted, inlet.JSON(hooked{event, repeated}))
	}
}

// unsigned answers a request that is not signed as it should be: always the same bytes, after a while that grows.
func (s *Server) unsigned(w http.ResponseWriter, r *http.Request) {
	if wait := s.backoff.Fail(r.RemoteAddr); wait > 0 {
		if k := connOf(r); k != nil {
			k.Sleep()
		}
		inlet.Pause(r.Context(), wait)
		s.backoff.Woke()
	}
	w.Header().Set("Connection", "close")
	inlet.Bare(w, http.StatusUnauthorized)
}
