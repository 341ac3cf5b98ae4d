package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"termic/internal/fault"
	"termic/internal/selfcert"
)

// prefix is where the API is.
const prefix = "/api/v1/"

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 64 << 20

// connectTimeout bounds the way to the other machine and the handshake; how long a verb takes is its own matter.
const connectTimeout = 15 * time.Second

// Client speaks with one Termic. It is safe for concurrent use, and holds no goroutine after Close.
type Client struct {
	r    Remote
	http *http.Client
}

// New makes a client. Nothing is sent yet.
func New(r Remote) *Client {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: connectTimeout, DialContext: (&net.Dialer{Timeout: connectTimeout}).DialContext,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, DisableCompression: true}
	if r.Fingerprint != "" {
		t.TLSClientConfig = selfcert.Pinned(r.Fingerprint)
	}
	return &Client{r: r, http: &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// Close ends idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Call runs a verb there and returns the exact bytes of its result. Its errors are faults: those of the verb as they came, and
// in words why the other side could not be asked. The cause of an ended ctx is returned as it is.
func (c *Client) Call(ctx context.Context, verb string, params json.RawMessage) (json.RawMessage, error) {
	return c.send(ctx, http.MethodPost, verb, params)
}

// Whose asks whose token it is.
func (c *Client) Whose(ctx context.Context) (json.RawMessage, error) {
	return c.send(ctx, http.MethodGet, "session", nil)
}

func (c *Client) send(ctx context.Context, method, path string, body []byte) (json.RawMessage, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.r.URL+prefix+url.PathEscape(path), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.r.Token)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.lost(ctx, err)
	}
	defer func() { _ = res.Body.Close() }() // it was read to its end, or the connection is given up
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err == nil && len(text) > maxAnswer {
		err = errors.New("the answer is too long")
	}
	if err != nil {
		return nil, c.lost(ctx, err)
	}
	return c.read(res.StatusCode, text)
}

// read tells a result from a refusal.
func (c *Client) read(status int, text []byte) (json.RawMessage, error) {
	switch {
	case status == http.StatusOK && json.Valid(text):
		return text, nil
	case status == http.StatusUnauthorized:
		return nil, fault.New(fault.Forbidden, "%s does not know the token", c.r.URL).
			WithHint("It was revoked, or is not one that was made with --web. Make a new one there and log in again.")
	}
	var said struct {
		Error *struct {
			Code    fault.Code     `json:"code"`
			Message string         `json:"message"`
			Hint    string         `json:"hint"`
			Data    map[string]any `json:"data"`
		} `json:"error"`
	}
	if json.Unmarshal(text, &said) == nil && said.Error != nil {
		return nil, &fault.Error{Code: said.Error.Code, Message: said.Error.Message, Hint: said.Error.Hint, Data: said.Error.Data}
	}
	return nil, fault.New(fault.Unavailable, "%s answered %d, which Termic would not", c.r.URL, status).
		WithHint("Check the address. A proxy in front must pass the Host on, and be named with --web-host.")
}

// lost says in words why nothing came back.
func (c *Client) lost(ctx context.Context, err error) error {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, selfcert.ErrPin):
		return fault.Wrap(err, fault.Forbidden, "%s has another key than the one that was pinned; nothing was sent", c.r.URL).
			WithHint("Somebody may stand between. If its key was really made anew, log in again with the fingerprint that `termic serve` prints there.")
	case errors.As(err, &unknown), errors.As(err, &host), errors.As(err, &invalid):
		return fault.Wrap(err, fault.Forbidden, "%s cannot show by a certificate who it is; nothing was sent", c.r.URL).
			WithHint("Log in with --fingerprint and what `termic serve` prints there.")
	}
	return fault.Wrap(err, fault.Unavailable, "%s cannot be reached", c.r.URL).
		WithHint("`termic serve --web-addr` must run there, and let this machine connect. What was asked for may have happened all the same.")
}

// ParseURL takes the address of a face: https, a host, perhaps a port, and nothing else.
func ParseURL(s string) (string, error) {
	u, err := url.Parse(strings.TrimSuffix(s, "/"))
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", fault.New(fault.InvalidArgument, "%q is no address to log in to", s).WithHint("It begins with https://, and has a host and perhaps a port, such as https://192.0.2.1:8443.")
	}
	return "https://" + u.Host, nil
}
