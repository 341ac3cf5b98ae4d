// Package proxy is the only way from one cage to the network: an HTTP proxy (CONNECT, and plain HTTP in absolute form)
// that judges every request by the host's name.
//
// It promises, in Enforce: one decision per request, then one resolution, then a connection to exactly the addresses
// that were looked at; no address that is not public unless a rule lifts that for the very name; no way to Termic's own
// ports whatever the rules say; a TLS greeting in a tunnel that names the host of its CONNECT. A refusal explains
// itself. In Record nothing is ever refused, and what Enforce would have refused is told. Everything ends on Close.
//
// It does not cover what is said to an allowed host: whoever may push to a forge can publish there. It keeps no list of
// decisions; its owner does, from OnDecision. Where it chains to the user's own proxy, the addresses are that proxy's.
package proxy

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"termic/internal/netgroup"
	"termic/internal/secret"
	"termic/sandbox/hosts"
)

// Mode says what happens to a request that the rules do not allow.
type Mode string

// The modes.
const (
	Enforce Mode = "enforce" // it is refused
	Record  Mode = "record"  // it passes, and the decision says would_block
)

// Limits of one proxy.
const (
	maxHead        = 16 << 10         // bytes of one request's line and headers
	headerTime     = 5 * time.Second  // for a head to arrive
	connectTime    = 8 * time.Second  // to resolve a name and connect
	keepAliveTime  = 60 * time.Second // between two requests on one connection
	helloTime      = 10 * time.Second // for the rest of a TLS greeting after its first byte
	upstreamIdle   = 30 * time.Second // a spare connection for plain HTTP
	defaultMaxConn = 512              // connections from the cage at once
	defaultIdle    = time.Hour        // a tunnel without a byte in either direction; keep-alive probes find dead peers
)

// Resolver turns a name into addresses; net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Dialer opens a connection to a literal address; (*net.Dialer).DialContext is one.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// Options are what a proxy is made of. Rules and Mode are required in meaning: the zero values allow nothing and
// enforce it.
type Options struct {
	Rules hosts.Set
	// Nets are addresses that are allowed where no rule allows the name; Refused are those that nothing allows.
	Nets    hosts.Nets
	Refused netgroup.Set
	Mode    Mode // empty is Enforce
	// OnDecision hears every decision, in the goroutine of its request: it must be quick and safe for concurrent use.
	OnDecision func(Decision)
	// Own lists the addresses that Termic itself listens on. It is asked at every request, since a port may change.
	Own func() []netip.AddrPort
	// Upstream chooses the user's own proxy for a host; nil, or a nil answer, is a direct connection. See UpstreamFrom.
	Upstream Upstream
	// Auth is the password that clients must give with the name User. Empty asks for none: right where only the cage
	// can reach the listener, wrong where the port belongs to the whole machine.
	Auth     secret.String
	Log      *slog.Logger  // for faults of ours; nil keeps quiet
	Resolver Resolver      // nil is the system's
	Dial     Dialer        // nil is the system's
	MaxConns int           // 0 is 512; above it a connection gets a 503
	Idle     time.Duration // 0 is an hour; a tunnel silent for so long ends
}

// Proxy serves one cage. Serve's goroutines belong to it: every connection has one, a tunnel two; Close stops them and
// waits for all of them.
type Proxy struct {
	o       Options
	server  *http.Server
	forward *httputil.ReverseProxy
	plain   *http.Transport
	ctx     context.Context // ends with Close; every wait of a connection watches it
	cancel  context.CancelFunc

	mu     sync.Mutex
	closed bool
	conns  map[net.Conn]*connState // live connections from the cage
	live   sync.WaitGroup          // one for each entry of conns
}

type connState struct{ hijacked bool }

// New makes a proxy. It opens nothing until Serve.
func New(o Options) *Proxy {
	if o.Mode != Record {
		o.Mode = Enforce // what is not known enforces
	}
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	if o.MaxConns <= 0 {
		o.MaxConns = defaultMaxConn
	}
	if o.Idle <= 0 {
		o.Idle = defaultIdle
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	p := &Proxy{o: o, conns: map[net.Conn]*connState{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.plain, p.forward = p.newForward()
	p.server = &http.Server{
		Handler:                      http.HandlerFunc(p.serve),
		ReadHeaderTimeout:            headerTime,
		IdleTimeout:                  keepAliveTime,
		MaxHeaderBytes:               maxHead - 4096, // net/http adds 4096 of its own
		DisableGeneralOptionsHandler: true,           // "OPTIONS *" is no request to a proxy
		ErrorLog:                     slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
		BaseContext:                  func(net.Listener) context.Context { return p.ctx },
		ConnContext:                  func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
		ConnState:                    p.track,
	}
	return p
}

type connKey struct{}

// Serve accepts connections until Close, and then returns nil. It owns the listener. It may be called for several
// listeners.
func (p *Proxy) Serve(l net.Listener) error {
	err := p.server.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close ends every connection at once and waits for their goroutines, or until ctx ends; its error is then ctx's.
func (p *Proxy) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.cancel()
	_ = p.server.Close() // the listeners; their errors say nothing that matters now
	done := make(chan struct{})
	go func() { // ends when the last connection has
		p.live.Wait()
		p.plain.CloseIdleConnections()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// track keeps conns: a connection enters when it is accepted and leaves when net/http has closed it or, if a tunnel
// took it over, when its handler returns (see serve).
func (p *Proxy) track(c net.Conn, state http.ConnState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch state {
	case http.StateNew:
		if len(p.conns) >= p.o.MaxConns {
			_ = c.SetWriteDeadline(time.Now().Add(time.Second))
			_, _ = io.WriteString(c, tooMany)
			_ = c.Close()
		}
		if p.closed {
			_ = c.Close()
		}
		p.conns[c] = &connState{}
		p.live.Add(1)
	case http.StateHijacked:
		if s := p.conns[c]; s != nil {
			s.hijacked = true
		}
	case http.StateClosed:
		p.dropLocked(c)
	}
}

func (p *Proxy) dropLocked(c net.Conn) {
	if _, ok := p.conns[c]; ok {
		delete(p.conns, c)
		p.live.Done()
	}
}

// serve is one request.
func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	defer func() {
		c, _ := r.Context().Value(connKey{}).(net.Conn)
		p.mu.Lock()
		defer p.mu.Unlock()
		if s := p.conns[c]; s != nil && s.hijacked {
			_ = c.Close()
			p.dropLocked(c)
		}
	}()
	if !p.authentic(r) {
		p.askPassword(w, r)
		return
	}
	if r.Method == http.MethodConnect {
		p.connect(w, r)
		return
	}
	p.pass(w, r)
}

// Upstream chooses the proxy for a request to a host, or none. The URL has a scheme (http, or https for a tunnel) and a
// host with its port.
type Upstream func(request *url.URL) (*url.URL, error)
