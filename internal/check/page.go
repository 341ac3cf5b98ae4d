package check

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// page is what came of a request: a status, and the first maxBody bytes of the answer.
type page struct {
	status string
	code   int
	body   []byte
	whole  bool // nothing of the answer is missing in body
	addr   netip.Addr
}

// fetch gets a page, and what it leads to. Nothing is kept between two calls: no connection, no cookie.
func (p *Prober) fetch(ctx context.Context, url string) (page, error) {
	var out page
	roots, err := p.trust.roots()
	if err != nil {
		return out, err
	}
	var mu sync.Mutex // the transport dials in goroutines of its own
	dial := p.dialer()
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial.DialContext(ctx, network, address)
			if err == nil {
				mu.Lock()
				out.addr = addrOf(conn)
				mu.Unlock()
			}
			return conn, err
		},
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true, ForceAttemptHTTP2: true,
		MaxResponseHeaderBytes: 64 << 10, TLSHandshakeTimeout: MaxTimeout,
	}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: redirect}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return out, err
	}
	req.Header.Set("User-Agent", p.o.Agent)
	res, err := client.Do(req)
	if err != nil {
		return out, err
	}
	defer func() { _ = res.Body.Close() }() // what was read counts
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	mu.Lock()
	defer mu.Unlock()
	out.status, out.code, out.whole = res.Status, res.StatusCode, len(body) <= maxBody
	out.body = body[:min(len(body), maxBody)]
	return out, err
}

// redirect bounds the way, and takes none that would send a name and a password.
func redirect(req *http.Request, via []*http.Request) error {
	switch {
	case len(via) > maxRedirects:
		return fail("it leads on more than %d times", maxRedirects)
	case req.URL.User != nil:
		return fail("it leads to an address with a name and a password")
	case req.URL.Scheme != "http" && req.URL.Scheme != "https":
		return fail("it leads to something that is no page")
	}
	req.Header.Del("Referer") // an address may hold what is nobody else's business
	return nil
}

func (p *Prober) http(ctx context.Context, s Spec, target string) (Result, error) {
	got, err := p.fetch(ctx, target)
	r := Result{Addr: got.addr, Detail: got.status}
	switch {
	case got.code >= 400:
		return r, fail("%s", got.status)
	case err != nil:
		return r, err
	case s.Expect == "" || bytes.Contains(got.body, []byte(s.Expect)):
		return r, nil
	case !got.whole:
		return r, fail("%s, but the first MiB does not hold the expected text", got.status)
	}
	return r, fail("%s, but without the expected text", got.status)
}

// dns asks for the addresses of a name. Options.Refused is asked about the resolver too.
func (p *Prober) dns(ctx context.Context, s Spec, target string) (Result, error) {
	name, server, err := dnsTarget(target)
	if err != nil {
		return Result{}, err
	}
	var no error // a resolver passes on the words of an error, not the error
	resolver := net.DefaultResolver
	if server != "" {
		dial := p.dialer()
		resolver = &net.Resolver{PreferGo: true, Dial: func(inner context.Context, network, _ string) (net.Conn, error) {
			conn, err := dial.DialContext(inner, network, server)
			if err == nil { // a resolver waits for answers for seconds after nobody asks any more
				context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
			}
			if is := refused(""); errors.As(err, &is) {
				no = err
			}
			return conn, err
		}}
		name += "." // the search list is of this machine's resolver, not of that one
	}
	found, err := resolver.LookupNetIP(ctx, "ip", name)
	if err == nil && len(found) == 0 {
		err = fail("the name has no address")
	}
	if err := errors.Join(no, err); err != nil {
		return Result{}, err
	}
	first := found[0].Unmap()
	if s.ExpectAddr == "" {
		return Result{Addr: first, Detail: "has " + addresses(found)}, nil
	}
	want := netip.MustParseAddr(s.ExpectAddr).Unmap()
	for _, a := range found {
		if a.Unmap() == want {
			return Result{Addr: want, Detail: "has " + want.String()}, nil
		}
	}
	return Result{Addr: first}, fail("has %s, not %s", addresses(found), want)
}

// addresses names the first few of a list.
func addresses(list []netip.Addr) string {
	var b bytes.Buffer
	for i, a := range list[:min(3, len(list))] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(a.Unmap().String())
	}
	if more := len(list) - 3; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return b.String()
}

// isTimeout reports whether time was all that was missing.
func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout() || errors.Is(err, context.DeadlineExceeded)
}
