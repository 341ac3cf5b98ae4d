package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"time"

	"termic/frontend"
	"termic/internal/datadir"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/selfcert"
	"termic/internal/verb"
	"termic/web"
)

// WebOptions say whether and how the app serves the browser face.
type WebOptions struct {
	Addr  string   // empty: not at all; else a port, or an address and a port
	Hosts []string // names by which a proxy in front is called, each with a port where that is not the usual one
	Plain bool     // plain HTTP, for a proxy on this machine that speaks TLS

	Limits web.Limits // what clients can take; zero fields take their defaults
}

// webFace is the browser face as far as the app has it. Its tokens are taken in and given back whether it serves or not. It
// owns one goroutine, which serves; close ends it and waits.
type webFace struct {
	tokens *grant.Registry

	mu     sync.Mutex // guards the following
	server *web.Server
	at     string         // what people call it
	on     netip.AddrPort // what it listens on
	done   chan error
}

func newWebFace() *webFace { return &webFace{tokens: grant.NewRegistry()} }

// url is where it serves; empty for nowhere.
func (f *webFace) url() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at
}

// addr is what it listens on; not valid for nothing.
func (f *webFace) addr() netip.AddrPort {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.on
}

func (f *webFace) close() error {
	f.mu.Lock()
	server, done := f.server, f.done
	f.server, f.at, f.on = nil, "", netip.AddrPort{}
	f.mu.Unlock()
	if server == nil {
		return nil
	}
	return errors.Join(server.Close(), <-done)
}

// webBackend leads the browser face to the dispatcher.
type webBackend struct {
	*verb.Dispatcher
	watch func() (uint64, <-chan struct{})
}

func (b webBackend) Watch() (uint64, <-chan struct{}) { return b.watch() }

// OpenWeb starts the browser face if it was asked for, and says on out where it is and by which fingerprint it is known.
func (a *App) OpenWeb(ctx context.Context, o Options, out io.Writer) error {
	if err := a.Core.LoadWebTokens(ctx); err != nil || o.Web.Addr == "" {
		return err
	}
	at, err := webListen(o.Web.Addr)
	if err == nil {
		err = checkHosts(o.Web)
	}
	if err == nil && o.Web.Plain && !at.Addr().IsLoopback() {
		err = fault.New(fault.Forbidden, "Without TLS the browser face is served on this machine alone, not at %s", at.Addr()).
			WithHint("Leave --web-plain out, or take an address such as 127.0.0.1.")
	}
	if err != nil {
		return err
	}
	page, err := frontend.Page()
	if err != nil {
		return err
	}
	options := web.Options{Backend: webBackend{a.Dispatcher, a.Core.Watch}, Page: page, Hosts: o.Web.Hosts, Version: o.Version, Log: a.Log, Limits: o.Web.Limits,
		Authorize: func(bearer string) (grant.Held, bool) { return a.web.tokens.Lookup(bearer, "") }, Hooks: a.Core.TakeHook}
	fingerprint := ""
	if !o.Web.Plain {
		identity, err := a.webIdentity(at, o.Web.Hosts)
		if err != nil {
			return err
		}
		options.Certificate = func(h *tls.ClientHelloInfo) (*tls.Certificate, error) { return identity.Certificate(h) }
		fingerprint = identity.Fingerprint()
	}
	l, err := listen(ctx, "tcp", at.String())
	if err != nil {
		return webFault(err, at)
	}
	return a.serveWeb(options, l, fingerprint, o.LogTo, out)
}

// webIdentity opens the key of this machine.
func (a *App) webIdentity(at netip.AddrPort, hosts []string) (*selfcert.Identity, error) {
	names := []string{"localhost", "127.0.0.1", "::1"}
	if ip := at.Addr(); !ip.IsUnspecified() && !ip.IsLoopback() {
		names = append(names, ip.WithZone("").String())
	}
	for _, h := range hosts {
		names = append(names, hostOnly(h))
	}
	return selfcert.Open(a.dir.File(datadir.WebKeyFile), names, func(until time.Time, first bool) {
		if first {
			a.Log.Info("web: a key was made", "certificate_until", until)
			return
		}
		a.Log.Warn("web: the certificate was made anew, since the old one runs out or lacks a name: browsers ask once more whether to trust it, and the fingerprint is the same", "until", until)
	})
}

// serveWeb starts to answer on l.
func (a *App) serveWeb(o web.Options, l net.Listener, fingerprint string, warn, out io.Writer) error {
	scheme := "https"
	if o.Certificate == nil {
		scheme = "http"
	}
	f := a.web
	f.mu.Lock()
	f.server, f.at, f.done = web.New(o), scheme+"://"+l.Addr().String(), make(chan error, 1)
	f.on, _ = netip.ParseAddrPort(l.Addr().String())
	if len(o.Hosts) > 0 {
		f.at = "https://" + o.Hosts[0]
	}
	server, done := f.server, f.done
	f.mu.Unlock()
	go func() {
		err := server.Serve(l)
		if err != nil {
			a.Log.Error("web: the listener failed", "err", err)
		}
		done <- err
	}()
	a.Log.Info("web: serving", "address", l.Addr().String(), "tls", o.Certificate != nil, "hosts", o.Hosts)
	if at := l.Addr().(*net.TCPAddr); !at.IP.IsLoopback() {
		a.Log.Warn("web: other machines can connect", "address", at.String())
		if _, err := fmt.Fprintf(warn, "termic: warning: other machines can connect to the browser face at %s; whoever has a token acts on your tasks from there\n", at); err != nil {
			return err
		}
	}
	text := fmt.Sprintf("termic: web %s://%s\n", scheme, l.Addr())
	if fingerprint != "" {
		text += "termic: fingerprint " + fingerprint + "\n"
	}
	_, err := io.WriteString(out, text)
	return err
}

// webListen reads an address: a port alone, with or without a colon, is one on loopback. Names other than localhost are not
// taken, since what they stand for may change.
func webListen(s string) (netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		host, port = "", strings.TrimPrefix(s, ":")
	}
	if host == "" || strings.EqualFold(host, "localhost") {
		host = "127.0.0.1"
	}
	at, err := netip.ParseAddrPort(net.JoinHostPort(host, port))
	if err != nil {
		return at, fault.New(fault.InvalidArgument, "%q is no address to listen at", s).
			WithHint("Give a port such as 8443, or an address and a port such as 192.0.2.1:8443 or [::]:8443.")
	}
	return at, nil
}

// checkHosts refuses names that no request could have, and plain HTTP without one.
func checkHosts(o WebOptions) error {
	for _, h := range o.Hosts {
		if name := hostOnly(h); name == "" || strings.ContainsAny(h, "/@*,? ") || strings.Contains(h, "://") {
			return fault.New(fault.InvalidArgument, "%q is no name of a host", h).WithHint("Give the name alone, such as termic.example.com, with a port where it is not 443.")
		}
	}
	if o.Plain && len(o.Hosts) == 0 {
		return fault.New(fault.InvalidArgument, "Without TLS the browser face is for a proxy in front of it alone").
			WithHint("Name the proxy with --web-host, or leave --web-plain out.")
	}
	return nil
}

// hostOnly is a name without its port.
func hostOnly(h string) string {
	if name, _, err := net.SplitHostPort(h); err == nil {
		return name
	}
	return strings.Trim(h, "[]")
}

// webFault says in words why the address could not be bound.
func webFault(err error, at netip.AddrPort) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fault.Wrap(err, fault.Conflict, "Port %d is taken by another program", at.Port()).WithHint("Take another one with --web-addr.")
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fault.Wrap(err, fault.InvalidArgument, "This machine does not have the address %s", at.Addr()).WithHint("`ip address` lists those that it has.")
	case errors.Is(err, syscall.EACCES):
		return fault.Wrap(err, fault.Forbidden, "Port %d may not be used by this user", at.Port()).WithHint("Take one above 1023.")
	}
	return fault.Wrap(err, fault.Unavailable, "The browser face could not be bound at %s", at)
}
