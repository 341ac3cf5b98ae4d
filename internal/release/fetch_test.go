package release

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"termic/internal/fault"
)

func TestGet(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Method+" "+r.URL.String())
		for name := range r.Header {
			if name != "User-Agent" && name != "Connection" {
				t.Errorf("it sends %s: %q", name, r.Header[name])
			}
		}
		if r.UserAgent() != "Termic" || r.ContentLength != 0 {
			t.Errorf("it sends %q and %d bytes", r.UserAgent(), r.ContentLength)
		}
		w.Header().Set("Set-Cookie", "id=1")
		_, _ = w.Write([]byte(r.URL.Path))
	}))
	defer at.Close()
	feed, sig, err := Get(t.Context(), at.URL+"/a%2Fb/latest.json?x=1", time.Minute)
	if err != nil || string(feed) != "/a/b/latest.json" || string(sig) != "/a/b/latest.json.sig" {
		t.Errorf("%q, %q, %v", feed, sig, err)
	}
	if got := strings.Join(asked, ", "); got != "GET /a%2Fb/latest.json?x=1, GET /a/b/latest.json.sig?x=1" {
		t.Errorf("asked for %s", got)
	}
}

// TestGetIsBounded: no answer, however long, slow or astray, does more than fail in words.
func TestGetIsBounded(t *testing.T) {
	over := make(chan struct{})
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer elsewhere.Close()
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch strings.TrimSuffix(r.URL.Path, ".sig") {
		case "/good":
			_, _ = w.Write([]byte("x"))
		case "/huge":
			for range 1000 {
				if _, err := w.Write(make([]byte, 16<<10)); err != nil {
					return
				}
			}
		case "/hugehead":
			w.Header().Set("X", strings.Repeat("x", 64<<10))
		case "/away":
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
		case "/here":
			http.Redirect(w, r, "/good", http.StatusMovedPermanently)
		case "/gone":
			http.NotFound(w, r)
		case "/cut":
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte("half"))
		case "/silent", "/slow":
			if r.URL.Path == "/slow" {
				_, _ = w.Write([]byte("x"))
				_ = http.NewResponseController(w).Flush()
			}
			select {
			case <-over:
			case <-r.Context().Done():
			}
		}
	}))
	defer at.Close()
	defer close(over)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + closed.Addr().String()
	_ = closed.Close()

	for address, want := range map[string]string{
		at.URL + "/huge": "more than a feed has", at.URL + "/hugehead": "could not be read", at.URL + "/away": "leads on to another address", at.URL + "/here": "leads on to another address",
		at.URL + "/gone": "it answered 404", at.URL + "/cut": "cut off", at.URL + "/silent": "did not answer within 300ms", at.URL + "/slow": "did not answer within 300ms",
		nobody + "/": "does not take connections", "https://does-not-exist.invalid/": "has no address here",
	} {
		limit := 20 * time.Second
		if strings.Contains(want, "300ms") {
			limit = 300 * time.Millisecond
		}
		began := time.Now()
		_, _, err := Get(t.Context(), address, limit)
		f := fault.From(err)
		if err == nil || f.Code != fault.Unavailable || !strings.Contains(f.Message, want) || !strings.Contains(f.Hint, address) {
			t.Errorf("%s: %v", address, err)
		}
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("%s took %s", address, took)
		}
	}
	// A certificate that this machine does not trust.
	tls := httptest.NewTLSServer(http.NotFoundHandler())
	defer tls.Close()
	if _, _, err := Get(t.Context(), tls.URL, time.Minute); err == nil || !strings.Contains(err.Error(), "not one that this machine trusts") {
		t.Errorf("a certificate of nobody: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Get(ctx, at.URL+"/good", 0); err == nil {
		t.Error("it asks for somebody who has left")
	}
}

func TestAddresses(t *testing.T) {
	for _, good := range []string{"https://example.com/termic/latest.json", "https://example.com", "http://127.0.0.1:1/x", "http://[::1]:1/x"} {
		if why := AddressProblem(good); why != "" {
			t.Errorf("%s: %s", good, why)
		}
	}
	for _, bad := range []string{"", "example.com", "http://example.com/", "http://localhost/", "http://127.0.0.1.example.com/", "ftp://example.com/", "https:///x", "https://me:pw@example.com/",
		"https://example.com/#x", "https://exa\nmple.com", "file:///etc/passwd", "https://" + strings.Repeat("a", 2000)} {
		if AddressProblem(bad) == "" {
			t.Errorf("%q is taken", bad)
		}
		if _, _, err := Get(t.Context(), bad, 0); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%q was asked: %v", bad, err)
		}
	}
}
