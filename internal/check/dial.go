package check

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"termic/internal/fault"
)

// refused is why a connection was not even tried.
type refused string

func (r refused) Error() string { return string(r) }

// failed is a verdict that is already in words.
type failed string

func (f failed) Error() string { return string(f) }

func fail(format string, args ...any) error { return failed(fmt.Sprintf(format, args...)) }

// dialer connects by addresses that Options.Refused was asked about right before: whatever a name or a redirect leads to.
func (p *Prober) dialer() *net.Dialer {
	return &net.Dialer{ControlContext: func(ctx context.Context, _, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return refused("an address that cannot be read")
		}
		at = netip.AddrPortFrom(at.Addr().Unmap().WithZone(""), at.Port()) // whoever judges it compares it with addresses that have none
		if tried, ok := ctx.Value(attemptsKey{}).(*attempts); ok {
			tried.add(at)
		}
		if p.o.Refused != nil {
			if why := p.o.Refused(at); why != "" {
				return refused(why)
			}
		}
		return nil
	}}
}

// attempts are the addresses that one look tried. Several are tried at a time.
type attempts struct {
	mu   sync.Mutex
	list []netip.AddrPort
}

type attemptsKey struct{}

func (a *attempts) add(at netip.AddrPort) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.list) < maxTried {
		a.list = append(a.list, at)
	}
}

func (a *attempts) all() []netip.AddrPort {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.list)
}

// addrOf is the address of the far end.
func addrOf(c net.Conn) netip.Addr {
	if c == nil {
		return netip.Addr{}
	}
	at, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}

func (p *Prober) tcp(ctx context.Context, _ Spec, target string) (Result, error) {
	conn, err := p.dialer().DialContext(ctx, "tcp", target)
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = conn.Close() }() // nothing was said on it
	return Result{Addr: addrOf(conn), Detail: "takes connections"}, nil
}

func (p *Prober) tls(ctx context.Context, s Spec, target string) (Result, error) {
	host, port, err := hostPort(target, "443")
	if err != nil {
		return Result{}, err
	}
	raw, err := p.dialer().DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = raw.Close() }() // nothing was said on it
	r := Result{Addr: addrOf(raw)}
	roots, err := p.trust.roots()
	if err != nil {
		return r, err
	}
	conn := tls.Client(raw, &tls.Config{ServerName: host, RootCAs: roots, MinVersion: tls.VersionTLS12})
	if err := conn.HandshakeContext(ctx); err != nil {
		return r, err
	}
	left := time.Until(validUntil(conn.ConnectionState()))
	days := int(left / (24 * time.Hour))
	if r.Detail = fmt.Sprintf("valid for %d days more", days); days < s.MinDays {
		return r, fail("valid for %d days more, and %d are wanted", days, s.MinDays)
	}
	return r, nil
}

// validUntil is when the way from the certificate to a trusted one ends: of several ways the longest, of each the shortest part.
func validUntil(s tls.ConnectionState) time.Time {
	var last time.Time
	for _, chain := range s.VerifiedChains {
		end := chain[0].NotAfter
		for _, c := range chain {
			if c.NotAfter.Before(end) {
				end = c.NotAfter
			}
		}
		if end.After(last) {
			last = end
		}
	}
	return last
}

// trust is what certificates are judged by: the system's, read once, unless SSL_CERT_FILE names others.
type trust struct {
	mu   sync.Mutex
	file string
	pool *x509.CertPool
}

// roots returns nil for the system's own.
func (t *trust) roots() (*x509.CertPool, error) {
	file := os.Getenv("SSL_CERT_FILE")
	if file == "" {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file == file {
		return t.pool, nil
	}
	text, err := os.ReadFile(file)
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(text) {
		return nil, fail("SSL_CERT_FILE names no file of certificates")
	}
	t.file, t.pool = file, pool
	return pool, nil
}

// words says in a few words for a person why a look failed.
func (p *Prober) words(ctx context.Context, s Spec, err error) string {
	var (
		no      refused
		said    failed
		invalid x509.CertificateInvalidError
		name    x509.HostnameError
		unknown x509.UnknownAuthorityError
		lookup  *net.DNSError
		op      *net.OpError
		wrong   *fault.Error
	)
	switch {
	case errors.As(err, &no):
		return "not looked at: " + string(no)
	case errors.As(err, &said):
		return string(said)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return expiredWords(invalid)
	case errors.As(err, &name):
		return "its certificate is for another name: " + namesOf(name.Certificate)
	case errors.As(err, &unknown):
		return "its certificate is signed by nobody that this machine trusts"
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return "the name has no address"
	case ctx.Err() != nil, errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Sprintf("no answer within %s", s.Timeout)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there"
	case errors.As(err, &lookup):
		return "its name could not be looked up: " + lookup.Err
	case errors.As(err, &wrong):
		return wrong.Message
	case errors.As(err, &op) && op.Err != nil:
		return op.Op + ": " + op.Err.Error()
	}
	return pageWords(err)
}

// pageWords are the words for what net/http alone tells. The address is left out, since a page may have led there, and addresses that are
// made for one visit open doors.
func pageWords(err error) string {
	if at := (*url.Error)(nil); errors.As(err, &at) {
		err = at.Err
	}
	if text := err.Error(); !strings.HasPrefix(text, "failed to parse Location") {
		return text
	}
	return "it leads to something that is no page"
}

func expiredWords(e x509.CertificateInvalidError) string {
	if now := time.Now(); now.Before(e.Cert.NotBefore) {
		return "its certificate is not valid before " + e.Cert.NotBefore.Format(time.DateOnly)
	}
	return "its certificate expired on " + e.Cert.NotAfter.Format(time.DateOnly)
}

// namesOf are the first names that a certificate is for.
func namesOf(c *x509.Certificate) string {
	names := c.DNSNames
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names[:min(3, len(names))], ", ")
}
