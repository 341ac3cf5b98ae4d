package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// origin is a web server of the test that notes what reached it.
func origin(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func TestPlainRequests(t *testing.T) {
	var got *http.Request
	var gotBody string
	r := newRig(t, Options{}, "a.test", "a.test:8080")
	at := origin(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, gotBody = r, string(b)
		w.Header().Set("Keep-Alive", "timeout=5")
		w.Header().Set("X-Answer", "yes")
		w.WriteHeader(299)
		_, _ = io.WriteString(w, "body")
	})
	r.place("a.test", "203.0.113.1", 80, at)
	r.place("a.test", "203.0.113.1", 8080, at)
	resp, body := r.ask("POST http://A.test.:80/p/%2e%2e/q?x=1;y=%zz HTTP/1.1\r\nHost: other.test\r\n" +
		"Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic eA==\r\nProxy-X: stays\r\nConnection: X-Gone, keep-alive\r\nX-Gone: 1\r\n" +
		"Keep-Alive: 1\r\nTE: trailers, gzip\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\nX-Forwarded-For: 192.0.2.1\r\nX-Stays: 1\r\n" +
		"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
	if resp.StatusCode != 299 || body != "body" || resp.Header.Get("X-Answer") != "yes" || resp.Header.Get("Keep-Alive") != "" {
		t.Errorf("%s %v %q", resp.Status, resp.Header, body)
	}
	if got.Host != "a.test" || got.RequestURI != "/p/%2e%2e/q?x=1;y=%zz" || gotBody != "hello" || got.Method != "POST" {
		t.Errorf("the server got %s %s for %s with %q", got.Method, got.RequestURI, got.Host, gotBody)
	}
	for _, h := range []string{"Proxy-Connection", "Proxy-Authorization", "X-Gone", "Keep-Alive", "Upgrade", "Http2-Settings", "User-Agent", "Accept-Encoding", "Via"} {
		if v := got.Header.Get(h); v != "" {
			t.Errorf("%s: %q reached the server", h, v)
		}
	}
	for h, want := range map[string]string{"X-Stays": "1", "X-Forwarded-For": "192.0.2.1"} {
		if got.Header.Get(h) != want {
			t.Errorf("%s: %q reached the server", h, got.Header.Get(h))
		}
	}
	for _, protocol := range []string{"h2c", "TLS/1.2", "websocket2", "h2c, websocket"} {
		_, _ = r.ask("GET http://a.test/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: " + protocol + "\r\nHTTP2-Settings: x\r\n\r\n")
		if got.Header.Get("Upgrade") != "" || got.Header.Get("Http2-Settings") != "" || got.Header.Get("Connection") != "" {
			t.Errorf("an upgrade to %s reached the server: %v", protocol, got.Header)
		}
	}
	if _, _ = r.ask("GET http://a.test:8080 HTTP/1.0\r\n\r\n"); got.Host != "a.test:8080" || got.RequestURI != "/" {
		t.Errorf("the server got %s for %s", got.RequestURI, got.Host)
	}
}

func TestEveryRequestOfAConnectionIsJudged(t *testing.T) {
	r := newRig(t, Options{}, "a.test", "b.test")
	at := origin(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Host) })
	r.place("a.test", "203.0.113.1", 80, at)
	r.place("b.test", "203.0.113.2", 80, at)
	c := r.open()
	br := bufio.NewReader(c)
	for _, host := range []string{"a.test", "evil.test", "a.test", "127.0.0.1", "b.test"} {
		_, _ = fmt.Fprintf(c, "GET http://%s/ HTTP/1.1\r\nHost: a.test\r\n\r\n", host)
		resp, body := readResponse(t, br, "GET")
		if allowed := host == "a.test" || host == "b.test"; (resp.StatusCode == 200) != allowed || allowed && body != host {
			t.Errorf("%s: %s %q", host, resp.Status, body)
		}
		if d := r.next(); d.Host != host || d.Method != "GET" {
			t.Errorf("told %+v", d)
		}
	}
	// Two at once in one segment, the second of them hostile.
	_, _ = io.WriteString(c, "GET http://a.test/ HTTP/1.1\r\nHost: x\r\n\r\nGET http://evil.test/ HTTP/1.1\r\nHost: x\r\n\r\n")
	first, _ := readResponse(t, br, "GET")
	second, _ := readResponse(t, br, "GET")
	if first.StatusCode != 200 || second.StatusCode != 403 {
		t.Errorf("%s, %s", first.Status, second.Status)
	}
	// A body that looks like a request stays a body.
	smuggled := "GET http://evil.test/ HTTP/1.1\r\nHost: x\r\n\r\n"
	_, _ = fmt.Fprintf(c, "POST http://a.test/ HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(smuggled), smuggled)
	if resp, _ := readResponse(t, br, "POST"); resp.StatusCode != 200 {
		t.Errorf("%s", resp.Status)
	}
	_, _ = io.WriteString(c, "CONNECT evil.test:443 HTTP/1.1\r\nHost: x\r\n\r\n")
	if resp, _ := readResponse(t, br, "CONNECT"); resp.StatusCode != 403 {
		t.Errorf("%s", resp.Status)
	}
}

func TestTwoLengthsAreRefused(t *testing.T) {
	r := newRig(t, Options{}, "a.test")
	r.place("a.test", "203.0.113.1", 80, origin(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }))
	for _, headers := range []string{
		"Content-Length: 5\r\nContent-Length: 6\r\n",
		"Transfer-Encoding: chunked, identity\r\n",
		"Transfer-Encoding: xchunked\r\n",
		"Content-Length: +5\r\n",
		"Content-Length : 5\r\n",
		" Content-Length: 5\r\n",
	} {
		resp, body := r.ask("POST http://a.test/ HTTP/1.1\r\nHost: x\r\n" + headers + "\r\nhello")
		if resp.StatusCode/100 == 2 {
			t.Errorf("%q: %s %q", headers, resp.Status, body)
		}
	}
}

func TestAnswersStream(t *testing.T) {
	r := newRig(t, Options{}, "a.test")
	step := make(chan struct{})
	r.place("a.test", "203.0.113.1", 80, origin(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "one\n")
		w.(http.Flusher).Flush()
		<-step
		_, _ = io.WriteString(w, "two\n")
	}))
	resp, err := r.client().Get("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	br := bufio.NewReader(resp.Body)
	if line, err := br.ReadString('\n'); line != "one\n" {
		t.Errorf("%q, %v", line, err)
	}
	close(step)
	if line, err := br.ReadString('\n'); line != "two\n" {
		t.Errorf("%q, %v", line, err)
	}
}

func TestWebSocketUpgradePasses(t *testing.T) {
	r := newRig(t, Options{}, "a.test")
	r.place("a.test", "203.0.113.1", 80, listen(t, func(c net.Conn) {
		br := bufio.NewReader(c)
		req, err := http.ReadRequest(br)
		if err != nil || req.Header.Get("Upgrade") != "websocket" || req.Header.Get("Sec-WebSocket-Key") != "k" || req.URL.Path != "/ws" {
			t.Errorf("%v %v", req, err)
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		buf := make([]byte, 64)
		for {
			n, err := br.Read(buf)
			if err != nil {
				return
			}
			_, _ = c.Write(bytes.ToUpper(buf[:n]))
		}
	}))
	for _, scheme := range []string{"http", "ws"} {
		c := r.open()
		_, _ = fmt.Fprintf(c, "GET %s://a.test/ws HTTP/1.1\r\nHost: a.test\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\n", scheme)
		br := bufio.NewReader(c)
		resp, err := http.ReadResponse(br, nil)
		if err != nil || resp.StatusCode != 101 || resp.Header.Get("Upgrade") != "websocket" {
			t.Fatalf("%v, %v", resp, err)
		}
		if d := r.next(); d.Verdict != Allowed || d.Host != "a.test" {
			t.Errorf("told %+v", d)
		}
		for _, s := range []string{"hello", "again"} {
			_, _ = io.WriteString(c, s)
			got := make([]byte, len(s))
			if _, err := io.ReadFull(br, got); err != nil || string(got) != strings.ToUpper(s) {
				t.Errorf("%q, %v", got, err)
			}
		}
		_ = c.Close()
	}
	resp, _ := r.ask("GET http://evil.test/ws HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	if resp.StatusCode != 403 {
		t.Errorf("%s", resp.Status)
	}
}

func TestOnePasswordOpensNoOtherHost(t *testing.T) {
	r := newRig(t, Options{Auth: mustSecret("pw")}, "a.test")
	var got http.Header
	r.place("a.test", "203.0.113.1", 80, origin(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header }))
	resp, _ := r.ask("GET http://a.test/ HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic dGVybWljOnB3\r\n\r\n")
	if resp.StatusCode != 200 || got.Get("Proxy-Authorization") != "" {
		t.Errorf("%s; the server got %v", resp.Status, got)
	}
}

// upstreamRig is a proxy of the user's, with a password, in front of a world of its own.
func upstreamRig(t *testing.T) (*rig, Upstream) {
	t.Helper()
	up := newRig(t, Options{Mode: Record, Auth: mustSecret("pw")})
	return up, func(u *url.URL) (*url.URL, error) {
		if strings.HasPrefix(u.Host, "direct.") {
			return nil, nil
		}
		return &url.URL{Scheme: "http", Host: up.addr, User: url.UserPassword(User, "pw")}, nil
	}
}

func TestChainedToTheUsersProxy(t *testing.T) {
	up, choose := upstreamRig(t)
	echoAt := listen(t, echo)
	webAt := origin(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "web "+r.Host) })
	up.place("a.test", "203.0.113.1", 443, echoAt)
	up.place("a.test", "203.0.113.1", 80, webAt)
	r := newRig(t, Options{Upstream: choose, Own: own("127.0.0.1:7777")}, "a.test", "gone.test", "a.test:7777", "direct.test", "10.0.0.1")
	r.place("direct.test", "203.0.113.3", 443, echoAt)
	r.world[up.addr] = up.addr

	c := r.tunnel("a.test:443")
	_, _ = io.WriteString(c, "through two")
	_ = c.CloseWrite()
	if all, err := io.ReadAll(c); err != nil || string(all) != "through two" {
		t.Errorf("%q, %v", all, err)
	}
	if resp, body := r.ask("GET http://a.test/ HTTP/1.1\r\nHost: x\r\n\r\n"); resp.StatusCode != 200 || body != "web a.test" {
		t.Errorf("%s %q", resp.Status, body)
	}
	_ = r.tunnel("direct.test:443").Close()
	if len(r.lookups) != 1 || r.lookups[0] != "direct.test" {
		t.Errorf("names that the user's proxy resolves were looked up here: %v", r.lookups)
	}
	seen := len(up.decisions)
	for request, want := range map[string]int{
		"CONNECT evil.test:443": 403, "GET http://evil.test/": 403, "CONNECT a.test:7777": 403, "CONNECT 127.0.0.1:443": 403,
		"CONNECT gone.test:443": 502, "GET http://gone.test/": 502,
	} {
		if resp, body := r.ask(request + " HTTP/1.1\r\nHost: x\r\n\r\n"); resp.StatusCode != want {
			t.Errorf("%s: %s\n%s", request, resp.Status, body)
		}
	}
	for _, d := range up.decisions[seen:] {
		if d.Host != "gone.test" {
			t.Errorf("a refused request reached the user's proxy: %+v", d)
		}
	}
}

func TestAUserProxyThatMisbehaves(t *testing.T) {
	var answer atomic.Value // string
	at := listen(t, func(c net.Conn) {
		_, _ = http.ReadRequest(bufio.NewReader(c))
		said, _ := answer.Load().(string)
		_, _ = io.WriteString(c, said)
		if strings.Contains(said, "\r\n\r\n") {
			return
		}
		_, _ = io.Copy(io.Discard, c)
	})
	choose := func(*url.URL) (*url.URL, error) { return &url.URL{Scheme: "http", Host: at}, nil }
	r := newRig(t, Options{Upstream: choose}, "a.test")
	r.world[at] = at
	for _, said := range []string{
		"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 503 no\r\n\r\n", "nonsense\r\n\r\n", "\r\n\r\n",
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 20<<10) + "\r\n\r\n",
	} {
		answer.Store(said)
		if resp, _ := r.ask("CONNECT a.test:443 HTTP/1.1\r\nHost: x\r\n\r\n"); resp.StatusCode != 502 {
			t.Errorf("after %.40q: %s", said, resp.Status)
		}
	}
	answer.Store("HTTP/1.1 200 OK\r\n\r\n220 early\r\n") // what came with the answer belongs to the client
	c := r.tunnel("a.test:443")
	buf := make([]byte, 11)
	if _, err := io.ReadFull(c, buf); err != nil || string(buf) != "220 early\r\n" {
		t.Errorf("%q, %v", buf, err)
	}
	answer.Store("HTTP/1.1 200 ") // and then nothing
	start := time.Now()
	if resp, body := r.ask("CONNECT a.test:443 HTTP/1.1\r\nHost: x\r\n\r\n"); resp.StatusCode != 502 || !strings.Contains(body, "within 8 seconds") {
		t.Errorf("%s %s", resp.Status, body)
	}
	if d := time.Since(start); d > connectTime+5*time.Second {
		t.Errorf("it took %v", d)
	}
}
