package proxy

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
)

// passage is one plain request on its way: what the transport and the answer need to know.
type passage struct {
	way route
	no  *objection // in Record
}

type passageKey struct{}

func passageOf(ctx context.Context) *passage {
	s, _ := ctx.Value(passageKey{}).(*passage)
	return s
}

// pass forwards one plain request. Requests that follow on the same connection are judged anew.
func (p *Proxy) pass(w http.ResponseWriter, r *http.Request) {
	authority, wrong := plainAuthority(r)
	if wrong != "" {
		p.malformed(w, r, target{}, wrong)
		return
	}
	t, wrong := parseTarget(authority, 80)
	if wrong != "" {
		p.malformed(w, r, t, wrong)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), connectTime)
	way, no, err := p.judge(ctx, "http", t)
	cancel()
	switch {
	case err != nil:
		p.unreachable(w, r, way, no, err)
		return
	case no != nil && p.o.Mode == Enforce:
		p.refuse(w, r, way, no)
		return
	}
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		// Only a WebSocket may take the connection over: other protocols carry requests of their own.
		r.Header.Del("Upgrade")
		r.Header.Del("Http2-Settings")
	}
	p.forward.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), passageKey{}, &passage{way, no})))
}

// plainAuthority returns the host and port of an absolute-form request line, as they were written. The second result
// says what is wrong with the line.
func plainAuthority(r *http.Request) (string, string) {
	scheme, rest, ok := strings.Cut(r.RequestURI, "://")
	if !ok || strings.ContainsAny(scheme, "/?#") {
		return "", "this is a proxy, not a web server: the request line must hold a whole URL"
	}
	switch strings.ToLower(scheme) {
	case "http", "ws":
	case "https", "wss":
		return "", "an encrypted connection goes through CONNECT"
	default:
		return "", "only http and CONNECT pass"
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return rest, ""
}

// newForward makes the second half of plain requests: hop-by-hop headers taken off, answers passed as they come.
func (p *Proxy) newForward() (*http.Transport, *httputil.ReverseProxy) {
	transport := &http.Transport{
		Proxy: func(r *http.Request) (*url.URL, error) { return passageOf(r.Context()).way.upstream, nil },
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			return p.dialPlain(ctx, passageOf(ctx).way, addr)
		},
		DisableCompression:     true,
		MaxIdleConns:           32,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        upstreamIdle,
		TLSHandshakeTimeout:    connectTime, // to the user's own proxy
		ExpectContinueTimeout:  headerTime,
		MaxResponseHeaderBytes: 256 << 10,
	}
	return transport, &httputil.ReverseProxy{
		Rewrite:       rewrite,
		Transport:     transport,
		FlushInterval: -1,
		ErrorLog:      slog.NewLogLogger(p.o.Log.Handler(), slog.LevelDebug),
		ModifyResponse: func(resp *http.Response) error {
			s := passageOf(resp.Request.Context())
			p.tellReached(resp.Request.Method, s.way, s.no)
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			s := passageOf(r.Context())
			if errors.Is(err, context.Canceled) { // the client left; nothing was refused
				p.tellReached(r.Method, s.way, s.no)
				return
			}
			p.unreachable(w, r, s.way, s.no, err)
		},
	}
}

// rewrite makes the request that leaves: to the host of the URL, which is also its Host. What a client says of those
// before it is its own affair and stays.
func rewrite(pr *httputil.ProxyRequest) {
	t := passageOf(pr.In.Context()).way.target
	host := t.authority()
	if t.port == 80 {
		host = strings.TrimSuffix(host, ":80")
	}
	pr.Out.URL.Scheme, pr.Out.URL.Host, pr.Out.URL.User = "http", host, nil
	pr.Out.URL.RawQuery = pr.In.URL.RawQuery // as it was written, parsable or not
	pr.Out.Host = host
	for _, h := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if v, ok := pr.In.Header[h]; ok {
			pr.Out.Header[h] = v
		}
	}
}

// dialPlain connects for a plain request: to the addresses that were judged, or to the user's own proxy. The transport
// may go on dialling after its request has ended, so the proxy's end and a time limit stop it.
func (p *Proxy) dialPlain(ctx context.Context, way route, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	if way.upstream != nil {
		return p.o.Dial(ctx, "tcp", addr)
	}
	return p.dialAddrs(ctx, way.addrs)
}
