package release

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"time"

	"termic/internal/fault"
)

// Limits of one look. A feed has 200 bytes, and a signature 300.
const (
	MaxFeed      = 16 << 10 // bytes of a feed, and of a signature
	maxHeader    = 16 << 10 // bytes of the head of an answer
	DefaultLimit = 20 * time.Second
)

// SignatureSuffix is what the address of a signature has behind that of its feed.
const SignatureSuffix = ".sig"

// agent is all that a request tells of who asks: no version, and nothing by which two looks could be told to come from one place.
const agent = "Termic"

// isLoopback reports whether a host is an address of this machine. A name is none: where it leads is for others to say.
func isLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

// Get fetches a feed and its signature from an address that AddressProblem has nothing against. limit bounds the whole of it; 0 is
// DefaultLimit. Errors are faults with words for the person, of the code Unavailable. Nothing is kept between two calls. A proxy
// that the environment of the app names (HTTPS_PROXY) is used.
func Get(ctx context.Context, address string, limit time.Duration) (feed, signature []byte, err error) {
	if why := AddressProblem(address); why != "" {
		return nil, nil, fault.New(fault.InvalidArgument, "updates.address %s", why).WithHint("`termic settings set updates.address URL` sets it.")
	}
	if limit <= 0 {
		limit = DefaultLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableCompression: true, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: maxHeader,
		DialContext: (&net.Dialer{}).DialContext, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return errLeadsOn }}
	u, err := url.Parse(address)
	if err != nil {
		return nil, nil, err // AddressProblem took it
	}
	if feed, err = one(ctx, client, *u); err == nil {
		u.Path += SignatureSuffix
		u.RawPath = "" // it belongs to the path that was
		signature, err = one(ctx, client, *u)
	}
	if err != nil {
		return nil, nil, fault.Wrap(err, fault.Unavailable, "%s", "The address of updates was asked, and "+words(ctx, err, limit)).
			WithHint("It is asked again later; %s is what was asked.", address)
	}
	return feed, signature, nil
}

// one fetches one file.
func one(ctx context.Context, client *http.Client, u url.URL) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", agent)
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // what was read counts
	if res.StatusCode != http.StatusOK {
		return nil, said(fmt.Sprintf("it answered %d", res.StatusCode))
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, MaxFeed+1))
	if err == nil && len(body) > MaxFeed {
		err = said("it answered with more than a feed has")
	}
	return body, err
}

// said is a verdict that is already in words.
type said string

func (s said) Error() string { return string(s) }

var errLeadsOn = said("it leads on to another address, which is not followed")

// words says why nothing was got. What others wrote into an error is left out: it may be anything.
func words(ctx context.Context, err error, limit time.Duration) string {
	var (
		is     said
		lookup *net.DNSError
		cert   *tls.CertificateVerificationError
		op     *net.OpError
	)
	switch {
	case errors.As(err, &is):
		return string(is)
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Sprintf("it did not answer within %s", limit)
	case errors.As(err, &cert):
		return "its certificate is not one that this machine trusts"
	case errors.As(err, &lookup):
		return "its name has no address here"
	case errors.As(err, &op) && op.Op == "dial":
		return "it does not take connections"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the answer was cut off"
	}
	return "the answer could not be read"
}
