package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"termic/internal/grant"
	"termic/internal/inlet"
)

func listenLoopback() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }

// good asks once, as a caller should, and reports what is wrong with the answer.
func (r *rig) good() error {
	res, err := client.Do(r.request("tools/list", "", ""))
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, res.Body)
	if res.StatusCode != http.StatusOK {
		err = errors.Join(err, fmt.Errorf("status %d", res.StatusCode))
	}
	return errors.Join(err, res.Body.Close())
}

// TestSlowStrangersMakeWay: more connections than there may be, which say nothing, or one byte, or half a head, or half
// a body without a token, keep no good caller out.
func TestSlowStrangersMakeWay(t *testing.T) {
	for name, says := range map[string]string{"nothing": "", "one byte": "P", "half a head": "POST /mcp HTTP/1.1\r\nHost: x\r\nX: ",
		"half a body": "POST /mcp HTTP/1.1\r\nHost: HOST\r\nContent-Length: 100\r\nContent-Type: application/json\r\n\r\n{"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, ok, Limits{Connections: 64})
			r.tire() // strangers have long been slowed down
			for range 64 {
				r.send(r.dial(), strings.ReplaceAll(says, "HOST", r.host))
			}
			for range 3 {
				check(t, r.good())
			}
		})
	}
}

// TestIdleCallersMakeWay: connections of callers that are done with their request are kept, until there are too many.
func TestIdleCallersMakeWay(t *testing.T) {
	r := newRig(t, ok, Limits{Connections: 8})
	var first net.Conn
	for i := range 12 {
		c := r.dial()
		r.send(c, r.goodWire().text(t))
		if a := r.receive(c); a.status != http.StatusOK {
			t.Fatalf("%+v", a)
		}
		if i == 0 {
			first = c
		}
		if i == 4 { // it may still be used, several times
			for range 2 {
				r.send(first, r.goodWire().text(t))
				if a := r.receive(first); a.status != http.StatusOK {
					t.Fatalf("a kept connection: %+v", a)
				}
			}
		}
	}
}

// TestBusyCallersStay: a connection that runs a call is never closed for another; a new one is told to come back.
func TestBusyCallersStay(t *testing.T) {
	const most = 8
	begun, release := make(chan struct{}, most), make(chan struct{})
	r := newRig(t, backendFunc(func(ctx context.Context, _ grant.Caller, _ string, _ json.RawMessage) (json.RawMessage, error) {
		begun <- struct{}{}
		<-release
		return json.RawMessage(`{}`), nil
	}), Limits{Connections: most})
	var wg sync.WaitGroup
	for range most {
		wg.Go(func() {
			if a := r.do(r.request("tools/call", "task_wait", "")); a.status != http.StatusOK {
				t.Errorf("%+v", a)
			}
		})
	}
	for range most {
		<-begun
	}
	c := r.dial()
	if a := r.receive(c); a.status != http.StatusServiceUnavailable || a.body != "" {
		t.Errorf("one too many: %+v", a)
	}
	close(release)
	wg.Wait()
	check(t, r.good())
}

// TestWrongTokensSlowNobody: ten thousand of them, from many at once, while a right one is used all the time. Nothing is
// measured: a right token that waited behind any of them would wait for minutes.
func TestWrongTokensSlowNobody(t *testing.T) {
	const attackers, each = 16, 625
	r := newRig(t, ok, Limits{})
	text := "POST /mcp HTTP/1.1\r\nHost: " + r.host + "\r\nAuthorization: Bearer wrong\r\nContent-Length: 0\r\n\r\n"
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range attackers {
		wg.Go(func() {
			for range each {
				c, err := net.Dial("tcp", r.host)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.WriteString(c, text)                                // one that is turned away may be closed already
				_ = c.SetReadDeadline(time.Now().Add(200 * time.Millisecond)) // it does not wait for answers that are slow
				_, _ = io.Copy(io.Discard, c)
				_ = c.Close()
			}
		})
	}
	var right sync.WaitGroup
	var most time.Duration
	right.Go(func() {
		for n := 0; ; n++ {
			start := time.Now()
			if err := r.good(); err != nil {
				t.Errorf("right token %d: %v", n, err)
				return
			}
			most = max(most, time.Since(start))
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	wg.Wait()
	close(stop)
	right.Wait()
	if n := r.Failures(); n < attackers*each*9/10 {
		t.Errorf("%d failures were counted", n)
	}
	if lines := strings.Count(r.log.String(), "without a right token"); lines == 0 || lines > 60 {
		t.Errorf("%d lines in the log", lines)
	}
	t.Logf("the slowest right answer took %v", most)
	if most > patience/2 {
		t.Errorf("a right token waited %v", most)
	}
}

// TestBackoff holds the rule: the first failure after a success or a new token is answered at once, then each waits
// longer up to a limit, and only so many wait at the same time.
func TestBackoff(t *testing.T) {
	r := newRig(t, ok, Limits{})
	b := r.backoff
	for i, want := range []time.Duration{0, inlet.FailStep, 2 * inlet.FailStep, 3 * inlet.FailStep} {
		if got := b.Fail("x"); got != want {
			t.Errorf("failure %d waits %v, want %v", i, got, want)
		}
	}
	for range 100 {
		b.Fail("x")
	}
	if b.Asleep() != inlet.FailAsleep {
		t.Errorf("%d wait", b.Asleep())
	}
	for range inlet.FailAsleep {
		b.Woke()
	}
	if got := b.Fail("x"); got != inlet.FailMost {
		t.Errorf("the wait has no limit: %v", got)
	}
	b.Woke()
	check(t, r.good())
	if got := b.Fail("x"); got != 0 {
		t.Errorf("the first failure after a success waits %v", got)
	}
	r.TokenChanged()
	if got := b.Fail("x"); got != 0 {
		t.Errorf("the first failure after a new token waits %v", got)
	}
}

// TestSleepersDoNotCount: refusals that wait are outside the limit of connections.
func TestSleepersDoNotCount(t *testing.T) {
	r := newRig(t, ok, Limits{Connections: 2})
	r.tire()
	var waiting []net.Conn
	for i := range inlet.FailAsleep {
		c := r.dial()
		r.send(c, "POST /mcp HTTP/1.1\r\nHost: "+r.host+"\r\n\r\n")
		waiting = append(waiting, c)
		r.untilAsleep(i + 1)
	}
	check(t, r.good())
	for _, c := range waiting {
		if a := r.receive(c); a.status != http.StatusUnauthorized {
			t.Errorf("%+v", a)
		}
	}
}

// TestHeads: a head may have 16 KiB, and comes within its time.
func TestHeads(t *testing.T) {
	r := newRig(t, ok, Limits{Head: 300 * time.Millisecond})
	w := r.goodWire()
	w.header["X-Long"] = strings.Repeat("x", 15<<10)
	if a := r.exchange(w.text(t)); a.status != http.StatusOK {
		t.Errorf("15 KiB: %d", a.status)
	}
	w.header["X-Long"] = strings.Repeat("x", 16<<10)
	if a := r.exchange(w.text(t)); a.status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("16 KiB and more: %d", a.status)
	}
	c := r.dial()
	r.send(c, "POST /mcp HTTP/1.1\r\nHost: ")
	if b, err := io.ReadAll(c); err != nil { // it is closed, or told so and closed
		t.Errorf("a head that does not end: %q, %v", b, err)
	}
	for _, bad := range []string{"GARBAGE\r\n\r\n", "POST /mcp HTTP/9.9\r\nHost: x\r\n\r\n", "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
		"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "POST /mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: x\r\n\r\n",
		"POST /mcp HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n", "POST /mcp HTTP/1.1\r\nHost: x\r\nMcp-Name: a\x00b\r\n\r\n", "\x16\x03\x01\x02\x00\x01", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"} {
		c := r.dial()
		r.send(c, bad)
		b, _ := io.ReadAll(c) // a reset is an answer as well
		if strings.HasPrefix(string(b), "HTTP/1.1 2") {
			t.Errorf("%.40q: %.60q", bad, b)
		}
	}
	check(t, r.good())
}

// TestBodies: a body has a limit that holds however it comes, and comes within its time. What was promised is not what
// memory is taken for.
func TestBodies(t *testing.T) {
	r := newRig(t, ok, Limits{BodyBytes: 1 << 20, Body: 3 * time.Second})
	head := func(more string) string {
		return "POST /mcp HTTP/1.1\r\nHost: " + r.host + "\r\nAuthorization: Bearer " + r.full.Reveal() + "\r\nContent-Type: application/json\r\n" + more + "\r\n\r\n"
	}
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"declared too large":  {head("Content-Length: 1048577"), 413},
		"declared gigantic":   {head("Content-Length: 9223372036854775807"), 413},
		"just right":          {head("Content-Length: 1048576") + strings.Repeat(" ", 1<<20), 400},
		"chunked too large":   {head("Transfer-Encoding: chunked") + "110000\r\n" + strings.Repeat(" ", 0x110000) + "\r\n0\r\n\r\n", 413},
		"bad chunks":          {head("Transfer-Encoding: chunked") + "zz\r\n", 400},
		"does not come":       {head("Content-Length: 10") + "{", 408},
		"chunks do not come":  {head("Transfer-Encoding: chunked") + "5\r\n{", 408},
		"expects, and waits":  {head("Content-Length: 2\r\nExpect: 100-continue"), 100},
		"expects the unknown": {head("Content-Length: 2\r\nExpect: 200-ok") + "{}", 417},
	} {
		conn := r.dial()
		go func() { _, _ = io.WriteString(conn, c.text) }() // ends when it is written, or with the connection
		if a := r.receive(conn); a.status != c.want || a.status != 400 && a.body != "" {
			t.Errorf("%s: %d %q, want %d", name, a.status, a.body, c.want)
		}
		_ = conn.Close()
	}
	check(t, r.good())
}

// TestLongCalls: a call may take longer than any time that a connection has for anything else.
func TestLongCalls(t *testing.T) {
	r := newRig(t, backendFunc(func(ctx context.Context, _ grant.Caller, _ string, _ json.RawMessage) (json.RawMessage, error) {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(time.Second):
			return json.RawMessage(`{"waited":true}`), nil
		}
	}), Limits{Head: 200 * time.Millisecond, Body: 200 * time.Millisecond, Write: 200 * time.Millisecond, Idle: 200 * time.Millisecond})
	if a := r.do(r.request("tools/call", "task_wait", "")); !strings.Contains(a.body, `"waited":true`) {
		t.Errorf("%+v", a)
	}
}

// TestOldestStrangersGoFirst: who came last has the best chance to say who he is.
func TestOldestStrangersGoFirst(t *testing.T) {
	r := newRig(t, ok, Limits{Connections: 4})
	var waiting []net.Conn
	for range 4 {
		waiting = append(waiting, r.dial())
	}
	check(t, r.good()) // takes the place of one of them
	if n, err := waiting[0].Read(make([]byte, 1)); err == nil {
		t.Errorf("the oldest was told %d bytes", n)
	}
	r.send(waiting[3], r.goodWire().text(t))
	if a := r.receive(waiting[3]); a.status != http.StatusOK {
		t.Errorf("the newest: %+v", a)
	}
}

// TestStrangersAreNotRead: without a token nothing of a body is waited for.
func TestStrangersAreNotRead(t *testing.T) {
	r := newRig(t, ok, Limits{})
	c := r.dial()
	r.send(c, "POST /mcp HTTP/1.1\r\nHost: "+r.host+"\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n{")
	if a := r.receive(c); a.status != http.StatusUnauthorized {
		t.Errorf("%+v", a)
	}
}

// TestHalfClosed: a client that closes its direction has gone away; the call ends, and nothing is left behind.
func TestHalfClosed(t *testing.T) {
	ended := make(chan struct{})
	r := newRig(t, backendFunc(func(ctx context.Context, _ grant.Caller, _ string, _ json.RawMessage) (json.RawMessage, error) {
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}), Limits{})
	c := r.dial()
	r.send(c, r.goodWire().text(t))
	check(t, c.(*net.TCPConn).CloseWrite())
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("the call goes on")
	}
}

// TestPipelining: requests that come before their turn are answered in their order, one after another.
func TestPipelining(t *testing.T) {
	var mu sync.Mutex
	var running, most int
	r := newRig(t, backendFunc(func(_ context.Context, _ grant.Caller, _ string, params json.RawMessage) (json.RawMessage, error) {
		mu.Lock()
		running++
		most = max(most, running)
		mu.Unlock()
		time.Sleep(time.Millisecond) // so that another one could run beside it
		mu.Lock()
		running--
		mu.Unlock()
		return json.RawMessage(`{}`), nil
	}), Limits{})
	c := r.dial()
	var all strings.Builder
	for i := range 20 {
		w := r.goodWire()
		w.body["id"] = i
		all.WriteString(w.text(t))
	}
	w := r.goodWire()
	w.header["Connection"], w.body["id"] = "close", "last"
	all.WriteString(w.text(t))
	r.send(c, all.String())
	b, err := io.ReadAll(c)
	check(t, err)
	at := -1
	for i := range 20 {
		next := strings.Index(string(b), fmt.Sprintf(`"id":%d,`, i))
		if next <= at {
			t.Fatalf("answer %d is at %d, the one before at %d", i, next, at)
		}
		at = next
	}
	if !strings.Contains(string(b), `"id":"last"`) || most != 1 {
		t.Errorf("%d ran at once; the end: %.100q", most, b[at:])
	}
}

// TestUnreadAnswers: a client that never reads does not hold the server up.
func TestUnreadAnswers(t *testing.T) {
	r := newRig(t, backendFunc(func(context.Context, grant.Caller, string, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`"` + strings.Repeat("x", 16<<20) + `"`), nil // more than the buffers of a connection
	}), Limits{Write: 300 * time.Millisecond, Connections: 2})
	for range 4 {
		c := r.dial()
		r.send(c, r.goodWire().text(t))
	}
	for deadline := time.Now().Add(patience); ; {
		if err := r.good(); err == nil {
			return
		} else if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// untilAsleep waits until so many refusals wait. Nobody tells of it, so it looks again and again.
func (r *rig) untilAsleep(want int) {
	r.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		n := r.backoff.Asleep()
		if n == want {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%d wait, want %d", n, want)
		}
	}
}

// tire fails so often that every further refusal waits as long as any.
func (r *rig) tire() {
	for range 100 {
		if r.backoff.Fail("x") > 0 {
			r.backoff.Woke()
		}
	}
}
