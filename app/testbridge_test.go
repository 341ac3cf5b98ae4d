//go:build testbridge

package app

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

func TestBridgeAnswersBelowItsSecretPathOnly(t *testing.T) {
	dist := t.TempDir()
	if err := os.WriteFile(filepath.Join(dist, "index.html"), []byte("page"), 0o600); err != nil {
		t.Fatal(err)
	}
	face := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	handler := bridgeHandler(face, dist, "/secret/")
	for _, c := range []struct {
		path, origin string
		want         int
	}{
		{"/secret/", "", http.StatusOK},
		{"/secret/termic/call", "http://bridge", http.StatusTeapot},
		{"/secret/termic/call", "http://elsewhere", http.StatusNotFound},
		{"/secret/termic/call", "null", http.StatusNotFound},
		{"/termic/call", "", http.StatusNotFound},
		{"/", "", http.StatusNotFound},
		{"/Secret/", "", http.StatusNotFound},
	} {
		request := httptest.NewRequest(http.MethodGet, "http://bridge"+c.path, nil)
		if c.origin != "" {
			request.Header.Set("Origin", c.origin)
		}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		if answer.Code != c.want {
			t.Errorf("%s from %q: %d, want %d", c.path, c.origin, answer.Code, c.want)
		}
	}
}
