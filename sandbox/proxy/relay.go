package proxy

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// pair is a tunnel between two connections.
type pair struct {
	client, server net.Conn
	tick           time.Duration // half of the time after which a silent tunnel ends
	began          time.Time
	last           atomic.Int64 // when a byte was last seen to pass in either direction, as time since began
	once           sync.Once    // of abort
}

func newPair(client, server net.Conn, idle time.Duration) *pair {
	return &pair{client: client, server: server, tick: idle / 2, began: time.Now()}
}

// relay moves bytes in both directions until both have ended, and closes both connections. An end in one direction is
// handed on alone; a failure ends both. first runs before the client's bytes move and may refuse them by an error. It
// returns when both directions have ended.
func (t *pair) relay(first func() error) {
	var up sync.WaitGroup
	up.Go(func() {
		if err := first(); err != nil {
			t.abort()
			return
		}
		t.pump(t.server, t.client)
	})
	t.pump(t.client, t.server)
	up.Wait()
	_ = t.client.Close()
	_ = t.server.Close()
}

// pump copies one direction. io.Copy between two TCP connections moves the bytes inside the kernel where that exists.
func (t *pair) pump(dst, src net.Conn) {
	for {
		start := time.Now()
		_ = src.SetReadDeadline(start.Add(t.tick))
		_ = dst.SetWriteDeadline(start.Add(2 * t.tick)) // for a reader that stopped reading
		n, err := io.Copy(dst, src)
		if n > 0 {
			t.last.Store(int64(time.Since(t.began)))
		}
		if err == nil {
			if closeWrite(dst) != nil {
				t.abort()
			}
			return
		}
		// The read deadline also passes while bytes flow; then both are set anew. Nothing is lost by that: a read that
		// timed out has taken nothing. After the write deadline something may be.
		stalled := time.Since(start) >= 2*t.tick
		if errors.Is(err, os.ErrDeadlineExceeded) && !stalled && !t.silent() {
			continue
		}
		t.abort()
		return
	}
}

// silent tells whether nothing has passed for the whole idle time. A direction notes its bytes once per tick at the
// latest, hence two of them.
func (t *pair) silent() bool {
	return time.Since(t.began)-time.Duration(t.last.Load()) >= 2*t.tick
}

// abort ends both connections with a reset, so that no reader takes a cut stream for a whole one.
func (t *pair) abort() {
	t.once.Do(func() {
		for _, c := range []net.Conn{t.client, t.server} {
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
			_ = c.Close()
		}
	})
}

// closeWrite says that no more will be written; a connection that cannot say so is closed.
func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// farewell lets the peer read what was written last: a close while bytes of the peer are unread would reset the
// connection and could take the answer with it.
func farewell(c net.Conn) {
	if closeWrite(c) != nil {
		return
	}
	_ = c.SetReadDeadline(time.Now().Add(time.Second))
	_, _ = io.CopyN(io.Discard, c, 256<<10)
}
