package inlet

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"os"
	"strings"
)

// Bearer takes the token out of the Authorization header. A header that stands twice is no token.
func Bearer(h http.Header) string {
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

// Body reads the body of a request whose sender is known, at most that many bytes of JSON. A status that is not zero refuses
// it.
func Body(w http.ResponseWriter, r *http.Request, most int64, log *slog.Logger) ([]byte, int) {
	if !IsJSON(r.Header) {
		return nil, http.StatusUnsupportedMediaType
	}
	if r.ContentLength > most {
		w.Header().Set("Connection", "close") // nobody will read it
		return nil, http.StatusRequestEntityTooLarge
	}
	var b bytes.Buffer
	if r.ContentLength > 0 {
		b.Grow(int(min(r.ContentLength+bytes.MinRead, firstRead))) // what is promised may never come
	}
	_, err := b.ReadFrom(http.MaxBytesReader(w, r.Body, most))
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
		log.Debug("a body did not come whole", "err", err)
	}
	return nil, http.StatusBadRequest
}

// firstRead is how much memory a body gets before any of it has come.
const firstRead = 64 << 10

// IsJSON reports whether the body is said to be JSON, as it is, without a coding.
func IsJSON(h http.Header) bool {
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

// Bare answers with a status alone.
func Bare(w http.ResponseWriter, status int) {
	h := w.Header()
	h["Content-Length"] = []string{"0"}
	w.WriteHeader(status)
}
