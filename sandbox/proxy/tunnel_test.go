package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"termic/internal/secret"
)

func mustSecret(s string) secret.String { return secret.Of(s) }

func TestHalfCloseInBothDirections(t *testing.T) {
	r := newRig(t, Options{}, "a.test", "b.test")
	// The client ends first and still gets everything.
	r.place("a.test", "203.0.113.1", 443, listen(t, func(c net.Conn) {
		all, err := io.ReadAll(c)
		if err != nil {
			t.Error(err)
		}
		_, _ = fmt.Fprintf(c, "got %d", len(all))
	}))
	c := r.tunnel("a.test:443")
	_, _ = c.Write(bytes.Repeat([]byte("x"), 300_000))
	_ = c.CloseWrite()
	if all, err := io.ReadAll(c); err != nil || string(all) != "got 300000" {
		t.Errorf("%q, %v", all, err)
	}
	// The server ends first and still gets everything.
	got := make(chan string, 1)
	r.place("b.test", "203.0.113.2", 443, listen(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "bye")
		_ = c.(*net.TCPConn).CloseWrite()
		all, _ := io.ReadAll(c)
		got <- string(all)
	}))
	c = r.tunnel("b.test:443")
	if all, err := io.ReadAll(c); err != nil || string(all) != "bye" {
		t.Errorf("%q, %v", all, err)
	}
	_, _ = io.WriteString(c, "still here")
	_ = c.CloseWrite()
	if s := <-got; s != "still here" {
		t.Errorf("the server got %q", s)
	}
}

func TestBytesSentBeforeTheAnswerArrive(t *testing.T) {
	r := newRig(t, Options{}, "a.test")
	r.place("a.test", "203.0.113.1", 443, listen(t, echo))
	c := r.open()
	early := strings.Repeat("early ", 500)
	_, _ = io.WriteString(c, "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n"+early)
	_, _ = io.WriteString(c, "late")
	_ = c.CloseWrite()
	all, err := io.ReadAll(c)
	if want := established + early + "late"; err != nil || string(all) != want {
		t.Errorf("got %d bytes, %v, want %d", len(all), err, len(want))
	}
}

func TestAResetIsNoEnd(t *testing.T) {
	r := newRig(t, Options{}, "a.test")
	r.place("a.test", "203.0.113.1", 443, listen(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "half of it")
		buf := make([]byte, 1)
		_, _ = c.Read(buf) // the client has it
		_ = c.(*net.TCPConn).SetLinger(0)
	}))
	c := r.tunnel("a.test:443")
	buf := make([]byte, 10)
	if _, err := io.ReadFull(c, buf); err != nil {
		t.Fatal(err)
	}
	_, _ = c.Write([]byte("x"))
	if _, err := c.Read(buf); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a stream that was reset ended as if it were whole: %v", err)
	}
}

func TestManyBytesBothWaysAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{Idle: 4 * time.Second}, "a.test") // deadlines pass in the middle of it
	r.place("a.test", "203.0.113.1", 443, listen(t, echo))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			c := r.tunnel("a.test:443")
			sent, got := sha256.New(), sha256.New()
			chunk := make([]byte, 200_000)
			var up sync.WaitGroup
			up.Go(func() {
				for i := range 60 {
					_, _ = rand.Read(chunk)
					chunk[0] = byte(i) // not the first byte of TLS
					if _, err := io.MultiWriter(c, sent).Write(chunk); err != nil {
						t.Error(err)
					}
					time.Sleep(60 * time.Millisecond)
				}
				_ = c.CloseWrite()
			})
			n, err := io.Copy(got, c)
			up.Wait()
			if err != nil || n != 60*200_000 || !bytes.Equal(sent.Sum(nil), got.Sum(nil)) {
				t.Errorf("%d bytes came back, %v", n, err)
			}
		})
	}
	all.Wait()
}

func TestASilentTunnelEnds(t *testing.T) {
	for name, first := range map[string]string{"a client that never spoke": "", "a client that spoke": "x"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, Options{Idle: 3 * time.Second}, "a.test")
			r.place("a.test", "203.0.113.1", 443, listen(t, func(c net.Conn) {
				for range 20 { // one direction alone keeps it alive, beyond the idle time
					_, _ = c.Write([]byte("x"))
					time.Sleep(200 * time.Millisecond)
				}
				_, _ = io.Copy(io.Discard, c)
			}))
			c := r.tunnel("a.test:443")
			_, _ = io.WriteString(c, first)
			buf := make([]byte, 20)
			if _, err := io.ReadFull(c, buf); err != nil {
				t.Fatalf("it ended while bytes flowed: %v", err)
			}
			start := time.Now()
			if _, err := c.Read(buf); err == nil {
				t.Error("no end")
			}
			if d := time.Since(start); d > 10*time.Second {
				t.Errorf("it ended after %v", d)
			}
		})
	}
}

// The server has ended its direction, and the client says nothing: no copy is left that could notice.
func TestASilentHalfOfATunnelEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{Idle: time.Second}, "a.test")
	r.place("a.test", "203.0.113.1", 443, listen(t, func(c net.Conn) {
		_ = c.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, c)
	}))
	c := r.tunnel("a.test:443")
	if _, err := io.ReadAll(c); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if r.live() == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("it is still there")
		}
	}
}

func (r *rig) live() int {
	r.proxy.mu.Lock()
	defer r.proxy.mu.Unlock()
	return len(r.proxy.conns)
}

func TestCloseEndsEverything(t *testing.T) {
	r := newRig(t, Options{}, "a.test", "slow.test", "ws.test")
	r.place("a.test", "203.0.113.1", 443, listen(t, echo))
	r.place("ws.test", "203.0.113.3", 80, listen(t, func(c net.Conn) {
		_, _ = http.ReadRequest(bufio.NewReader(c))
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		echo(c)
	}))
	socket := r.open()
	_, _ = io.WriteString(socket, "GET http://ws.test/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	if b := make([]byte, 12); !readFull(socket, b) || string(b) != "HTTP/1.1 101" {
		t.Fatalf("%q", b)
	}
	r.place("slow.test", "203.0.113.2", 80, listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }))
	idle, tunnel := r.open(), r.tunnel("a.test:443")
	halfHead := r.open()
	_, _ = io.WriteString(halfHead, "CONNECT a.te")
	waiting := r.open()
	_, _ = io.WriteString(waiting, "GET http://slow.test/ HTTP/1.1\r\nHost: x\r\n\r\n")
	r.awaitDials(3)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := r.proxy.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]net.Conn{"idle": idle, "tunnel": tunnel, "half a head": halfHead, "waiting": waiting, "web socket": socket} {
		_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := io.ReadAll(c); errors.Is(err, context.DeadlineExceeded) || err != nil && strings.Contains(err.Error(), "timeout") {
			t.Errorf("%s is still open", name)
		}
	}
	if _, err := net.Dial("tcp", r.addr); err == nil {
		t.Error("it still listens")
	}
}

func readFull(r io.Reader, b []byte) bool {
	_, err := io.ReadFull(r, b)
	return err == nil
}

func (r *rig) awaitDials(n int) {
	r.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); len(r.dials()) < n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("%d dials were awaited, there were %v", n, r.dials())
		}
	}
}

func TestTooManyConnections(t *testing.T) {
	r := newRig(t, Options{MaxConns: 3}, "a.test")
	r.place("a.test", "203.0.113.1", 443, listen(t, echo))
	var open []net.Conn
	for range 3 {
		open = append(open, r.tunnel("a.test:443"))
	}
	c := r.open()
	all, _ := io.ReadAll(c)
	if !strings.HasPrefix(string(all), "HTTP/1.1 503 ") {
		t.Errorf("the fourth connection got %q", all)
	}
	_ = open[0].Close()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		c := r.open()
		_, _ = io.WriteString(c, "CONNECT a.test:443 HTTP/1.1\r\nHost: x\r\n\r\n")
		got := make([]byte, len(established))
		if _, err := io.ReadFull(c, got); err == nil && string(got) == established {
			return // the place is free again
		}
		if time.Now().After(deadline) {
			t.Fatal("a closed tunnel still takes a place")
		}
	}
}

func TestHugeAndSlowHeads(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{}, "a.test")
	r.place("a.test", "203.0.113.1", 443, listen(t, echo))
	fits := "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\nX: " + strings.Repeat("x", 11<<10) + "\r\n\r\n"
	if resp, _ := r.ask(fits); resp.StatusCode != 200 {
		t.Errorf("a head of 11 KiB: %s", resp.Status)
	}
	c := r.open()
	_, _ = io.WriteString(c, "CONNECT a.test:443 HTTP/1.1\r\nX: ")
	for range 100 { // as much as it takes
		if _, err := c.Write(bytes.Repeat([]byte("x"), 1<<10)); err != nil {
			break
		}
	}
	if all, _ := io.ReadAll(c); !strings.HasPrefix(string(all), "HTTP/1.1 431") && len(all) > 0 {
		t.Errorf("a head without end: %.40q", all)
	}
	start := time.Now()
	c = r.open()
	_, _ = io.WriteString(c, "CONNECT a.test:443 HTTP/1.1\r\n")
	stop := make(chan struct{})
	var drip sync.WaitGroup
	drip.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(200 * time.Millisecond):
				_, _ = io.WriteString(c, "X: y\r\n")
			}
		}
	})
	_, _ = io.Copy(io.Discard, c)
	close(stop)
	drip.Wait()
	if d := time.Since(start); d > headerTime+5*time.Second || d < headerTime-time.Second {
		t.Errorf("a head that drips was cut after %v", d)
	}
}

// hello returns the bytes with which a TLS client greets a server.
func hello(t *testing.T, server string, more ...func(*tls.Config)) []byte {
	t.Helper()
	client, far := net.Pipe()
	defer far.Close()
	config := &tls.Config{ServerName: server, InsecureSkipVerify: true}
	for _, f := range more {
		f(config)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = tls.Client(client, config).Handshake()
	}()
	buf := make([]byte, 16<<10)
	n, err := far.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	_ = far.Close()
	_ = client.Close()
	<-done
	return buf[:n]
}

// inRecords cuts the handshake message of a greeting into records of so many bytes.
func inRecords(b []byte, size int) []byte {
	var out []byte
	for msg := b[5:]; len(msg) > 0; {
		n := min(size, len(msg))
		out = append(out, 0x16, 3, 1, byte(n>>8), byte(n))
		out, msg = append(out, msg[:n]...), msg[n:]
	}
	return out
}

func TestTheGreetingNamesTheHost(t *testing.T) {
	r := newRig(t, Options{}, "*.test", "203.0.113.7")
	at := listen(t, echo)
	r.place("a.test", "203.0.113.1", 443, at)
	r.world["203.0.113.7:443"] = at
	same, other := hello(t, "a.test"), hello(t, "b.test")
	tests := []struct {
		name      string
		authority string
		sent      []byte
		passes    bool
	}{
		{"same", "a.test:443", same, true},
		{"same, in capitals", "A.Test.:443", hello(t, "A.TEST"), true},
		{"same, in small records", "a.test:443", inRecords(same, 7), true},
		{"other", "a.test:443", other, false},
		{"other, in small records", "a.test:443", inRecords(other, 7), false},
		{"none", "a.test:443", hello(t, ""), false},
		{"other with another record version", "a.test:443", append([]byte{0x16, 9, 9}, other[3:]...), false},
		{"broken", "a.test:443", append([]byte{0x16, 3, 1, 0, 5, 1, 0, 0, 1}, 0), false},
		{"another handshake message", "a.test:443", []byte{0x16, 3, 1, 0, 4, 2, 0, 0, 0}, false},
		{"an empty record", "a.test:443", []byte{0x16, 3, 1, 0, 0}, false},
		{"too long", "a.test:443", append(inRecords(append([]byte{0, 0, 0, 0, 0, 1, 0, 0xff, 0xff}, make([]byte, 40_000)...), 1<<14), 0), false},
		{"not TLS", "a.test:443", []byte("SSH-2.0-x\r\n"), true},
		{"plain HTTP", "a.test:443", []byte("GET / HTTP/1.1\r\nHost: b.test\r\n\r\n"), true},
		{"a literal address", "203.0.113.7:443", other, true},
		{"nothing", "a.test:443", nil, true},
	}
	for _, tt := range tests {
		for _, dribble := range []bool{false, true} {
			c := r.tunnel(tt.authority)
			if d := r.next(); d.Verdict != Allowed {
				t.Fatalf("%s: told %+v", tt.name, d)
			}
			if dribble && len(tt.sent) > 0 {
				_, _ = c.Write(tt.sent[:1])
				_, _ = c.Write(tt.sent[1:min(9, len(tt.sent))])
				_, _ = c.Write(tt.sent[min(9, len(tt.sent)):])
			} else {
				_, _ = c.Write(tt.sent)
			}
			_ = c.CloseWrite()
			back, err := io.ReadAll(c)
			switch {
			case tt.passes && (err != nil || !bytes.Equal(back, tt.sent)):
				t.Errorf("%s: %d bytes of %d came back, %v", tt.name, len(back), len(tt.sent), err)
			case !tt.passes && !bytes.Equal(back, unrecognizedName[:]):
				t.Errorf("%s: answered %x, %v", tt.name, back, err)
			case !tt.passes:
				if d := r.next(); d.Verdict != Blocked || d.Reason != OtherServer || d.Detail == "" {
					t.Errorf("%s: told %+v", tt.name, d)
				}
			}
		}
	}
}

func TestAServerThatSpeaksFirst(t *testing.T) {
	r := newRig(t, Options{}, "a.test")
	r.place("a.test", "203.0.113.1", 443, listen(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "220 hello\r\n")
		echo(c)
	}))
	c := r.tunnel("a.test:443")
	buf := make([]byte, 11)
	if _, err := io.ReadFull(c, buf); err != nil || string(buf) != "220 hello\r\n" {
		t.Fatalf("%q, %v", buf, err)
	}
	_, _ = io.WriteString(c, "QUIT")
	_ = c.CloseWrite()
	if all, err := io.ReadAll(c); err != nil || string(all) != "QUIT" {
		t.Errorf("%q, %v", all, err)
	}
}

func TestAGreetingThatStopsHalfWay(t *testing.T) {
	r := newRig(t, Options{}, "a.test")
	reached := make(chan int, 1)
	r.place("a.test", "203.0.113.1", 443, listen(t, func(c net.Conn) {
		n, _ := io.Copy(io.Discard, c)
		reached <- int(n)
	}))
	c := r.tunnel("a.test:443")
	_, _ = c.Write(hello(t, "a.test")[:20])
	_ = c.CloseWrite()
	if _, err := io.ReadAll(c); err == nil {
		t.Error("half a greeting ended like a whole one")
	}
	if n := <-reached; n != 0 {
		t.Errorf("%d bytes of half a greeting were passed on", n)
	}
}

func TestRecordPassesAnyGreeting(t *testing.T) {
	r := newRig(t, Options{Mode: Record}, "a.test")
	r.place("a.test", "203.0.113.1", 443, listen(t, echo))
	c := r.tunnel("a.test:443")
	other := hello(t, "b.test")
	_, _ = c.Write(other)
	_ = c.CloseWrite()
	if back, err := io.ReadAll(c); err != nil || !bytes.Equal(back, other) {
		t.Errorf("%d bytes, %v", len(back), err)
	}
}

// TestSlowAddressesDoNotHoldUp: an address that never answers costs the stagger, not the whole time.
func TestSlowAddressesDoNotHoldUp(t *testing.T) {
	at := listen(t, echo)
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		if strings.HasPrefix(addr, "[2001:db8::") {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return (&net.Dialer{}).DialContext(ctx, network, at)
	}
	r := newRig(t, Options{Dial: dial}, "a.test")
	r.names["a.test"] = []string{"2001:db8::1", "2001:db8::2", "203.0.113.1"}
	start := time.Now()
	c := r.tunnel("a.test:443")
	_ = c.Close()
	if d := time.Since(start); d > 3*time.Second {
		t.Errorf("it took %v", d)
	}
}
