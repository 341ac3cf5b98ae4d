package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"termic/sandbox/hosts"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a proxy on the loopback with a world of its own: names lead to addresses by names, and addresses to listeners
// of the test by world. An address that the world does not know refuses.
type rig struct {
	t     *testing.T
	proxy *Proxy
	addr  string

	mu        sync.Mutex
	names     map[string][]string // name -> addresses
	world     map[string]string   // "address:port" -> a listener of the test
	dialled   []string
	lookups   []string
	decisions []Decision
	told      chan Decision
}

func newRig(t *testing.T, o Options, rules ...string) *rig {
	t.Helper()
	set, err := hosts.Parse(rules)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, names: map[string][]string{}, world: map[string]string{}, told: make(chan Decision, 1000)}
	o.Rules = set
	o.OnDecision = func(d Decision) {
		r.mu.Lock()
		r.decisions = append(r.decisions, d)
		r.mu.Unlock()
		r.told <- d
	}
	if o.Resolver == nil {
		o.Resolver = r
	}
	if o.Dial == nil {
		o.Dial = r.dial
	}
	r.proxy = New(o)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.addr = l.Addr().String()
	served := make(chan error, 1)
	go func() { served <- r.proxy.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := r.proxy.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return r
}

// LookupNetIP makes the rig a resolver.
func (r *rig) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lookups = append(r.lookups, host)
	var out []netip.Addr
	for _, a := range r.names[host] {
		out = append(out, netip.MustParseAddr(a))
	}
	if out == nil {
		return nil, &net.DNSError{Err: "no such host", Name: host, Server: "192.0.2.53", IsNotFound: true}
	}
	return out, nil
}

func (r *rig) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	r.mu.Lock()
	r.dialled = append(r.dialled, addr)
	real, ok := r.world[addr]
	r.mu.Unlock()
	if !ok {
		return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("%s is nowhere", addr)}
	}
	return (&net.Dialer{}).DialContext(ctx, network, real)
}

// place lets a name lead to a listener by an address that is public to the proxy.
func (r *rig) place(name, addr string, port int, listener string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names[name] = []string{addr}
	r.world[netip.AddrPortFrom(netip.MustParseAddr(addr), uint16(port)).String()] = listener
}

// next waits for a decision.
func (r *rig) next() Decision {
	r.t.Helper()
	select {
	case d := <-r.told:
		return d
	case <-time.After(10 * time.Second):
		r.t.Fatal("no decision was told")
		return Decision{}
	}
}

func (r *rig) dials() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.dialled...)
}

// open connects to the proxy.
func (r *rig) open() *net.TCPConn {
	r.t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	r.t.Cleanup(func() { _ = c.Close() })
	return c.(*net.TCPConn)
}

// ask sends raw bytes on a new connection and reads one answer, body included.
func (r *rig) ask(raw string) (*http.Response, string) {
	r.t.Helper()
	c := r.open()
	if _, err := io.WriteString(c, raw); err != nil {
		r.t.Fatal(err)
	}
	method, _, _ := strings.Cut(raw, " ")
	return readResponse(r.t, bufio.NewReader(c), method)
}

func readResponse(t *testing.T, br *bufio.Reader, method string) (*http.Response, string) {
	t.Helper()
	resp, err := http.ReadResponse(br, &http.Request{Method: method})
	if err != nil {
		t.Fatalf("read the answer: %v", err)
	}
	if method == http.MethodConnect && resp.StatusCode == http.StatusOK {
		return resp, ""
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("read the body: %v", err)
	}
	_ = resp.Body.Close()
	return resp, string(body)
}

// tunnel opens a CONNECT and returns the connection behind it.
func (r *rig) tunnel(authority string) *net.TCPConn {
	r.t.Helper()
	c := r.open()
	_, _ = fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", authority, authority)
	want := established
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != want {
		r.t.Fatalf("CONNECT %s: %q, %v", authority, got, err)
	}
	return c
}

// client is net/http through the proxy. Its connections end with the test.
func (r *rig) client() *http.Client {
	tr := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: r.addr})}
	r.t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 20 * time.Second}
}

// listen runs serve for each connection until the test ends, and waits for all of them.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(20 * time.Second))
				serve(c)
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	return l.Addr().String()
}

func echo(c net.Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := c.Read(buf)
		if _, werr := c.Write(buf[:n]); err != nil || werr != nil {
			if err != io.EOF || werr != nil {
				_ = c.(*net.TCPConn).SetLinger(0) // what was cut does not look whole
			} else {
				_ = c.(*net.TCPConn).CloseWrite()
			}
			return
		}
	}
}

func own(addrs ...string) func() []netip.AddrPort {
	return func() []netip.AddrPort {
		var out []netip.AddrPort
		for _, a := range addrs {
			out = append(out, netip.MustParseAddrPort(a))
		}
		return out
	}
}
