package inlet

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"
)

// pair is both ends of a connection that was taken in.
type pair struct {
	kept   *Conn
	client net.Conn
}

// gone reports whether the other side has ended the connection.
func (p pair) gone() bool {
	_ = p.client.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	_, err := p.client.Read(make([]byte, 1))
	n, ok := errors.AsType[net.Error](err)
	return err != nil && !(ok && n.Timeout())
}

func newPair(t *testing.T, s *Conns) pair {
	t.Helper()
	server, client := net.Pipe()
	t.Cleanup(func() { _, _ = server.Close(), client.Close() })
	return pair{s.admit(server), client}
}

// TestWhoMakesRoom: the oldest stranger first, then the oldest idle caller, and never one with a call under way.
func TestWhoMakesRoom(t *testing.T) {
	s := NewConns(4, slog.New(slog.DiscardHandler))
	busy, idleOld, idleNew, strange := newPair(t, s), newPair(t, s), newPair(t, s), newPair(t, s)
	for _, p := range []pair{busy, idleOld, idleNew} {
		p.kept.Begin()
	}
	idleOld.kept.End()
	idleNew.kept.End()
	all := map[string]pair{"busy": busy, "idle, old": idleOld, "idle, new": idleNew, "strange": strange}
	for _, want := range []string{"strange", "idle, old", "idle, new"} {
		p := newPair(t, s)
		if p.kept == nil {
			t.Fatalf("%s does not make room", want)
		}
		p.kept.Begin() // so that it is not the next one
		for name, q := range all {
			if q.gone() != (name == want) {
				t.Fatalf("%s: gone %v, and it was the turn of %s", name, q.gone(), want)
			}
		}
		delete(all, want)
	}
	if p := newPair(t, s); p.kept != nil {
		t.Error("a call under way made room")
	}
	if s.evicted != 3 || s.rejected != 1 || s.open != 4 || len(s.all) != 4 {
		t.Errorf("%d made room, %d were turned away, %d are open, %d are known", s.evicted, s.rejected, s.open, len(s.all))
	}
}

// TestAStrangerStaysOne: the end of a request without a token does not make a caller of whoever sent it.
func TestAStrangerStaysOne(t *testing.T) {
	s := NewConns(2, slog.New(slog.DiscardHandler))
	known, strange := newPair(t, s), newPair(t, s)
	known.kept.Begin()
	known.kept.End()
	strange.kept.End() // the newest of all
	if p := newPair(t, s); p.kept == nil || known.gone() || !strange.gone() {
		t.Errorf("caller gone: %v, stranger gone: %v", known.gone(), strange.gone())
	}
	s = NewConns(2, slog.New(slog.DiscardHandler))
	talks, silent := newPair(t, s), newPair(t, s)
	talks.kept.End() // it asked for something, so the silent one is the oldest now
	if p := newPair(t, s); p.kept == nil || talks.gone() || !silent.gone() {
		t.Errorf("who talks is gone: %v, who is silent: %v", talks.gone(), silent.gone())
	}
}

// TestRefusalsThatWaitTakeNoRoom: they are not counted while they sleep, nor twice, and nothing of them is left when they end.
func TestRefusalsThatWaitTakeNoRoom(t *testing.T) {
	s := NewConns(1, slog.New(slog.DiscardHandler))
	a := newPair(t, s)
	a.kept.Sleep()
	a.kept.Sleep()
	b := newPair(t, s)
	if b.kept == nil || s.open != 1 || a.gone() || s.evicted != 0 {
		t.Fatalf("%d are open, %d made room", s.open, s.evicted)
	}
	c := newPair(t, s)
	if c.kept == nil || a.gone() || !b.gone() {
		t.Fatalf("the one that sleeps is gone: %v, the one that is counted: %v", a.gone(), b.gone())
	}
	for _, p := range []pair{a, a, c, c} { // to close again does nothing
		_ = p.kept.Close()
		if want := map[pair]int{a: 1, c: 0}[p]; s.open != want || len(s.all) != want {
			t.Errorf("%d are open, %d are known, not %d", s.open, len(s.all), want)
		}
	}
	b.kept.Sleep()
	b.kept.Begin()
	b.kept.End()
	if s.open != 0 || len(s.all) != 0 || s.strange.Len() != 0 || s.idle.Len() != 0 {
		t.Errorf("%d are open, %d are known, %d and %d wait", s.open, len(s.all), s.strange.Len(), s.idle.Len())
	}
}

// TestCloseAll: everything ends, what is under way and what sleeps as well, and nothing comes in any more.
func TestCloseAll(t *testing.T) {
	s := NewConns(8, slog.New(slog.DiscardHandler))
	pairs := []pair{newPair(t, s), newPair(t, s), newPair(t, s)}
	pairs[1].kept.Begin()
	pairs[2].kept.Sleep()
	s.CloseAll()
	for i, p := range pairs {
		if !p.gone() {
			t.Errorf("connection %d goes on", i)
		}
	}
	if p := newPair(t, s); p.kept != nil || s.open != 0 || len(s.all) != 0 {
		t.Errorf("one more came in; %d are open, %d are known", s.open, len(s.all))
	}
}

// TestAFullHouseSaysSo: whoever is turned away is told so in HTTP, at once, and the next one that fits comes in by the same listener.
func TestAFullHouseSaysSo(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &Listener{Listener: inner, Conns: NewConns(1, slog.New(slog.DiscardHandler))}
	accepted := make(chan net.Conn)
	go func() {
		defer close(accepted)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		return c
	}
	dial()
	first := ConnOf(<-accepted)
	first.Begin()
	if line, err := bufio.NewReader(dial()).ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 503 ") {
		t.Errorf("it was told %q, %v", line, err)
	}
	_ = first.Close()
	dial()
	second := <-accepted
	if ConnOf(second) == nil || ConnOf(tls.Server(second, &tls.Config{})) != second || ConnOf(first.Conn) != nil {
		t.Error("the counted connection is not found below what the server has")
	}
	_ = inner.Close()
	if _, open := <-accepted; open {
		t.Error("a closed listener still gives connections")
	}
}

// TestHalfClosed: what can end one direction does, and what cannot is left as it is.
func TestHalfClosed(t *testing.T) {
	s := NewConns(2, slog.New(slog.DiscardHandler))
	if p := newPair(t, s); p.kept.CloseWrite() != nil || p.gone() {
		t.Error("a pipe has no half that could be closed, and it ended")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	k := s.admit(server)
	defer k.Close()
	if err := k.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the other side reads on: %v", err)
	}
	if _, err := client.Write([]byte("x")); err != nil {
		t.Errorf("the other half is closed as well: %v", err)
	}
}

// TestCalls: each has its own count, the nameless have none, and nothing is kept of whoever has nothing under way.
func TestCalls(t *testing.T) {
	c := NewCalls(2)
	for i, want := range []bool{true, true, false, false} {
		if c.Begin("a") != want {
			t.Errorf("call %d of a", i)
		}
	}
	if !c.Begin("b") || c.Len() != 2 {
		t.Errorf("another one is held up; %d have something under way", c.Len())
	}
	for range 5 {
		if !c.Begin("") {
			t.Error("the nameless are counted")
		}
	}
	c.End("")
	c.End("a")
	if !c.Begin("a") || c.Begin("a") {
		t.Error("an end does not make room for exactly one")
	}
	c.End("a")
	c.End("a")
	c.End("b")
	if c.Len() != 0 || len(c.under) != 0 {
		t.Errorf("%d are left", c.Len())
	}
}
