package app

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"
)

// The page is told the theme that the person chose before it runs, and nothing where it is to be like the system.
func TestThePageIsTheThemesFromTheBeginning(t *testing.T) {
	page := fstest.MapFS{"index.html": {Data: []byte("<!doctype html>\n<html lang=\"en\">\n<body></body>")}}
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "as it is") })
	for _, c := range []struct{ scheme, method, path, want string }{
		{"dark", "GET", "/", "<!doctype html>\n<html data-theme=\"dark\" lang=\"en\">\n<body></body>"},
		{"light", "GET", "/index.html", "<!doctype html>\n<html data-theme=\"light\" lang=\"en\">\n<body></body>"},
		{"", "GET", "/", "as it is"},
		{"dark", "GET", "/assets/index.js", "as it is"},
		{"dark", "POST", "/", "as it is"},
	} {
		w := httptest.NewRecorder()
		h := themed(page, func(context.Context) string { return c.scheme }, next)
		h.ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		if got := w.Body.String(); got != c.want {
			t.Errorf("%s %s, theme %q: %q", c.method, c.path, c.scheme, got)
		}
	}
}
