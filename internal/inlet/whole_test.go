package inlet

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"testing"
	"time"
)

// counted counts what is written to a connection.
type counted struct {
	net.Conn
	writes int
	fail   error
}

func (c *counted) Write(p []byte) (int, error) {
	c.writes++
	if c.fail != nil {
		return 0, c.fail
	}
	return c.Conn.Write(p)
}

// TestWhole: an answer arrives byte for byte as it was written, whatever its parts are, and nothing of it stays behind.
func TestWhole(t *testing.T) {
	part := func(n int, c byte) []byte { return bytes.Repeat([]byte{c}, n) }
	for _, parts := range [][][]byte{
		{},
		{part(10, 'a')},
		{part(mostHeld, 'a')},
		{part(mostHeld, 'a'), part(50_000, 'b')},
		{part(100, 'a'), part(100, 'b'), part(100, 'c')},
		{part(mostHeld+1, 'a'), part(1, 'b')},
		{part(1, 'a'), part(1, 'b'), part(mostHeld, 'c'), part(9000, 'd'), part(3, 'e')},
		{nil, part(10, 'a')},
	} {
		server, client := net.Pipe()
		k := NewConns(4, slog.New(slog.DiscardHandler)).admit(server)
		got := make(chan []byte)
		go func() {
			b, _ := io.ReadAll(client) // it ends as the pipe does
			got <- b
		}()
		var want []byte
		for range 2 { // the second answer of a connection is as good
			err := k.Whole(func() {
				for _, p := range parts {
					if n, err := k.Write(p); n != len(p) || err != nil {
						t.Errorf("%d of %d written: %v", n, len(p), err)
					}
					want = append(want, p...)
				}
			})
			if err != nil || len(k.held) != 0 {
				t.Errorf("%v, %d bytes are held", err, len(k.held))
			}
		}
		if _, err := k.Write([]byte("after")); err != nil { // not held any more
			t.Error(err)
		}
		_ = k.Close()
		if b := <-got; !bytes.Equal(b, append(want, "after"...)) {
			t.Errorf("%d bytes arrived, not %d", len(b), len(want)+5)
		}
	}
}

// TestWholeTellsWhatFailed: what could not be sent is an error of whoever was told that it was taken, or of the end.
func TestWholeTellsWhatFailed(t *testing.T) {
	server, _ := net.Pipe()
	c := &counted{Conn: server, fail: os.ErrDeadlineExceeded}
	k := NewConns(4, slog.New(slog.DiscardHandler)).admit(c)
	err := k.Whole(func() {
		if n, err := k.Write([]byte("head")); n != 4 || err != nil || c.writes != 0 {
			t.Errorf("%d, %v, %d writes", n, err, c.writes)
		}
	})
	if !errors.Is(err, os.ErrDeadlineExceeded) || len(k.held) != 0 {
		t.Errorf("%v, %d bytes are held", err, len(k.held))
	}
	err = k.Whole(func() {
		_, _ = k.Write([]byte("head"))
		if n, err := k.Write([]byte("body")); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%d, %v", n, err)
		}
	})
	if err != nil {
		t.Errorf("told twice: %v", err)
	}
}

// TestWholeIsOnePiece: the head of a long answer and the rest of it leave together, on a real connection.
func TestWholeIsOnePiece(t *testing.T) {
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
	k := NewConns(4, slog.New(slog.DiscardHandler)).admit(server)
	defer k.Close()
	quiet := func() bool {
		_ = client.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		_, err := client.Read(make([]byte, 1))
		return errors.Is(err, os.ErrDeadlineExceeded)
	}
	if err := k.Whole(func() {
		if _, err := k.Write([]byte("head")); err != nil || !quiet() {
			t.Errorf("the head did not wait: %v", err)
		}
		if n, err := k.Write([]byte("body")); n != 4 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		b := make([]byte, 8)
		_ = client.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.ReadFull(client, b); err != nil || string(b) != "headbody" {
			t.Errorf("%q, %v", b, err)
		}
	}); err != nil {
		t.Error(err)
	}
}
