//go:build testbridge

package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"termic/app/webface"
	"termic/internal/fault"
)

// The test bridge serves the window's page to a browser, so that tests can drive the real frontend against the real app
// without a window. It exists in builds with the tag testbridge only, which are never released.
//
// It listens on loopback at TERMIC_TEST_BRIDGE (such as 127.0.0.1:0), serves the built page from TERMIC_TEST_BRIDGE_DIST
// below a path that nobody can guess, and prints its address on a line that begins with "termic: bridge ".

// bridgePolicy is the window's own content policy, as a header on top of the page's own.
const bridgePolicy = "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'"

// openBridge starts the bridge if the environment asks for it. The returned function ends it and waits.
func (a *App) openBridge(o Options, out io.Writer) (end func() error, err error) {
	addr, dist := o.Getenv("TERMIC_TEST_BRIDGE"), o.Getenv("TERMIC_TEST_BRIDGE_DIST")
	if addr == "" {
		return func() error { return nil }, nil
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "The test bridge cannot listen on %s", addr)
	}
	if ip := listener.Addr().(*net.TCPAddr).IP; !ip.IsLoopback() {
		return nil, errors.Join(fault.New(fault.Forbidden, "The test bridge listens on loopback only, not on %s", ip), listener.Close())
	}
	secret := "/" + rand.Text() + "/"
	face := webface.New(webface.ForOwner(a.Dispatcher, a.Core), webface.Options{Log: a.Log})
	server := &http.Server{Handler: bridgeHandler(face, filepath.Clean(dist), secret), ReadHeaderTimeout: 10 * time.Second}
	a.OnRaise(func() bool { return true }) // the browser is the window
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	if _, err := fmt.Fprintf(out, "termic: bridge http://%s%s\n", listener.Addr(), secret); err != nil {
		return nil, err
	}
	return func() error {
		a.OnRaise(nil)
		face.Close()
		err := server.Shutdown(context.Background())
		if s := <-served; !errors.Is(s, http.ErrServerClosed) {
			err = errors.Join(err, s)
		}
		return err
	}, nil
}

// bridgeHandler puts the page and the face below the secret path; everything else is 404.
func bridgeHandler(face http.Handler, dist, secret string) http.Handler {
	files := http.FileServer(http.Dir(dist))
	inner := http.StripPrefix(strings.TrimSuffix(secret, "/"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", bridgePolicy)
		if strings.HasPrefix(r.URL.Path, webface.Prefix) {
			face.ServeHTTP(w, r)
			return
		}
		files.ServeHTTP(w, r)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own := "http://" + r.Host
		if origin := r.Header.Get("Origin"); !strings.HasPrefix(r.URL.Path, secret) || origin != "" && origin != own {
			http.NotFound(w, r)
			return
		}
		inner.ServeHTTP(w, r)
	})
}
