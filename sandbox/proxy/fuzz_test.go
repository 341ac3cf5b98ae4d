package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"termic/sandbox/hosts"
)

// readOnly is a connection that has these bytes and nothing else.
type readOnly struct {
	net.Conn // nil: nothing else is used
	r        io.Reader
}

func (c readOnly) Read(b []byte) (int, error)       { return c.r.Read(b) }
func (c readOnly) Write(b []byte) (int, error)      { return len(b), nil }
func (c readOnly) Close() error                     { return nil }
func (c readOnly) SetDeadline(time.Time) error      { return nil }
func (c readOnly) SetReadDeadline(time.Time) error  { return nil }
func (c readOnly) SetWriteDeadline(time.Time) error { return nil }
func (c readOnly) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c readOnly) RemoteAddr() net.Addr             { return &net.TCPAddr{} }

// nameByServer is what a real TLS server makes of a greeting.
func nameByServer(b []byte) (name string, taken bool) {
	stop := errors.New("enough")
	config := &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		name, taken = h.ServerName, true
		return nil, stop
	}}
	_ = tls.Server(readOnly{r: bytes.NewReader(b)}, config).Handshake()
	return name, taken
}

func FuzzReadHello(f *testing.F) {
	for _, name := range []string{"a.test", "", "b.example.test"} {
		client, far := net.Pipe()
		go func() { _ = tls.Client(client, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake() }()
		buf := make([]byte, 16<<10)
		n, _ := far.Read(buf)
		_ = far.Close()
		f.Add(buf[:n])
		f.Add(inRecords(buf[:n], 9))
	}
	f.Add([]byte{0x16, 3, 1, 0, 0})
	f.Add([]byte("SSH-2.0-x"))
	f.Fuzz(func(t *testing.T, b []byte) {
		name, state := readHello(b)
		if server, taken := nameByServer(b); taken {
			if state == helloNone || state == helloServer && name != server {
				t.Fatalf("a server reads the name %q, we read %q (state %d)", server, name, state)
			}
		}
		if state == helloMore && len(b) >= maxHello+5+1<<14 {
			t.Fatal("it asks for more without end")
		}
		for cut := range min(len(b), 200) { // what is decided stays decided
			early, s := readHello(b[:cut])
			if s != helloMore && (s != state || early != name) && !(s == helloServer && state == helloServer) {
				t.Fatalf("after %d bytes: %q, %d; after all: %q, %d", cut, early, s, name, state)
			}
		}
	})
}

// FuzzHead writes any bytes to a proxy and holds what it looks up and dials against a second, simple reading of the
// rules.
func FuzzHead(f *testing.F) {
	for _, s := range []string{
		"CONNECT allowed.test:443 HTTP/1.1\r\nHost: x\r\n\r\nhello", "CONNECT evil.test:443 HTTP/1.1\r\n\r\n",
		"GET http://allowed.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\nGET http://evil.test/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http://a.star.test:80/x HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
		"CONNECT 10.0.0.1:81 HTTP/1.1\r\nHost: x\r\n\r\n", "CONNECT 127.1:443 HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST http://allowed.test/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
		"GET http://u:p@allowed.test/ HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"CONNECT allowed.test:443\x00.evil.test:443 HTTP/1.1\r\n\r\n", "GET http://allowed.test@evil.test/ HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	var mu sync.Mutex
	var wrong []string
	complain := func(s string) {
		mu.Lock()
		defer mu.Unlock()
		wrong = append(wrong, s)
	}
	set, err := hosts.Parse([]string{"allowed.test", "*.star.test", "10.0.0.1:81"})
	if err != nil {
		f.Fatal(err)
	}
	p := New(Options{Rules: set, Resolver: resolver(func(host string) {
		if host != "allowed.test" && (!strings.HasSuffix(host, ".star.test") || host == ".star.test") {
			complain("looked up " + host)
		}
	}), Dial: func(_ context.Context, _, addr string) (net.Conn, error) {
		if addr != "203.0.113.1:80" && addr != "203.0.113.1:443" && addr != "10.0.0.1:81" {
			complain("dialled " + addr)
		}
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			_ = far.SetDeadline(time.Now().Add(time.Second))
			_, _ = far.Read(make([]byte, 1024))
			_, _ = io.WriteString(far, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
		}()
		return near, nil
	}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- p.Serve(l) }()
	f.Cleanup(func() { _ = p.Close(context.Background()); <-served })
	f.Fuzz(func(t *testing.T, head []byte) {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Skip("no connection left")
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		_, _ = c.Write(head)
		_ = c.(*net.TCPConn).CloseWrite()
		answer, _ := io.ReadAll(c)
		mu.Lock()
		defer mu.Unlock()
		if len(wrong) > 0 {
			t.Fatalf("%q: %v, answered %q", head, wrong, answer)
		}
		if len(answer) > 0 && !bytes.HasPrefix(answer, []byte("HTTP/1.")) {
			t.Fatalf("%q was answered %q", head, answer)
		}
	})
}

// resolver gives every name one public address and tells which one was asked for.
type resolver func(host string)

func (f resolver) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	f(host)
	return []netip.Addr{netip.MustParseAddr("203.0.113.1")}, nil
}
