package inlet

import (
	"container/list"
	"crypto/tls"
	"log/slog"
	"net"
	"sync"
	"time"
)

// Conns bounds the open connections of one or more listeners. When there are too many, the oldest one that has nothing under way makes room:
// first of those that never showed a token, so that neither idle clients nor slow strangers keep a good caller out. Only
// when every connection runs a call for somebody with a token is a new one turned away. It is safe for concurrent use.
type Conns struct {
	most int
	log  *slog.Logger

	mu       sync.Mutex // guards the following
	all      map[*Conn]struct{}
	shut     bool      // no new one is taken
	open     int       // all but those that wait for their refusal
	strange  list.List // of *Conn: no token was shown yet
	idle     list.List // of *Conn: the last request had a token, and its answer is out
	evicted  uint64
	rejected uint64
}

// NewConns makes a count of at most that many connections.
func NewConns(most int, log *slog.Logger) *Conns {
	return &Conns{most: most, log: log, all: map[*Conn]struct{}{}}
}

// Conn is one counted connection.
type Conn struct {
	net.Conn
	conns *Conns

	in     *list.List // that it waits in; nil while it runs a call or waits for its refusal; guarded by conns.mu
	at     *list.Element
	known  bool // a token was shown; guarded by conns.mu
	asleep bool // not counted; guarded by conns.mu
	closed bool // guarded by conns.mu

	holding bool   // of whoever writes
	held    []byte // likewise: what waits for the rest of an answer; see Whole
}

// admit counts a new connection, or returns nil when there is no room.
func (s *Conns) admit(c net.Conn) *Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut || s.open >= s.most && !s.evictLocked() {
		s.rejected++
		return nil
	}
	k := &Conn{Conn: c, conns: s}
	s.all[k] = struct{}{}
	s.open++
	k.putLocked(&s.strange)
	return k
}

// evictLocked closes the connection that can best be spared. s.mu must be held.
func (s *Conns) evictLocked() bool {
	for _, l := range []*list.List{&s.strange, &s.idle} {
		if e := l.Front(); e != nil {
			k := e.Value.(*Conn)
			k.goneLocked()
			_ = k.Conn.Close() // its reader finds out
			s.evicted++
			return true
		}
	}
	return false
}

// CloseAll ends every connection, with what it has under way, and takes no new one.
func (s *Conns) CloseAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shut = true
	for k := range s.all {
		k.goneLocked()
		_ = k.Conn.Close() // its reader finds out
	}
}

// putLocked makes the connection the newest of a list, or of none. s.mu must be held.
func (c *Conn) putLocked(l *list.List) {
	if c.in != nil {
		c.in.Remove(c.at)
	}
	if c.in = l; l != nil {
		c.at = l.PushBack(c)
	}
}

// goneLocked takes the connection out of the count, once. s.mu must be held.
func (c *Conn) goneLocked() {
	if c.closed {
		return
	}
	c.closed = true
	delete(c.conns.all, c)
	c.putLocked(nil)
	if !c.asleep {
		c.conns.open--
	}
}

// Begin keeps the connection of a caller with a token from being evicted, until its answer is out.
func (c *Conn) Begin() {
	c.conns.mu.Lock()
	defer c.conns.mu.Unlock()
	if !c.closed {
		c.known = true
		c.putLocked(nil)
	}
}

// End gives it free for eviction again.
func (c *Conn) End() {
	c.conns.mu.Lock()
	defer c.conns.mu.Unlock()
	switch {
	case c.closed:
	case c.known:
		c.putLocked(&c.conns.idle)
	default:
		c.putLocked(&c.conns.strange)
	}
}

// Sleep takes a connection whose refusal has to wait out of the count, so that refusals cannot fill it.
func (c *Conn) Sleep() {
	c.conns.mu.Lock()
	defer c.conns.mu.Unlock()
	if !c.closed && !c.asleep {
		c.asleep = true
		c.putLocked(nil)
		c.conns.open--
	}
}

// Close ends the connection and its count.
func (c *Conn) Close() error {
	c.conns.mu.Lock()
	c.goneLocked()
	c.conns.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite lets the HTTP server end its direction first, so that an answer to an unread request arrives.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Listener is a listener whose connections are counted: what it accepts is a *Conn.
type Listener struct {
	net.Listener
	Conns *Conns
}

// busy is what a connection is told for which there is no room. A fresh connection has room for it in its buffer.
const busy = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\nRetry-After: 1\r\n\r\n"

// busyWrite bounds the writing of busy.
const busyWrite = 100 * time.Millisecond

// Accept returns the next connection that there is room for.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if k := l.Conns.admit(c); k != nil {
			return k, nil
		}
		l.Conns.log.Debug("every connection is in use")
		_ = c.SetWriteDeadline(time.Now().Add(busyWrite)) // if this fails, so does the write
		_, _ = c.Write([]byte(busy))                      // a client that is gone needs no word
		_ = c.Close()
	}
}

// ConnOf is the counted connection below what an HTTP server calls a connection; nil for one that is not counted.
func ConnOf(c net.Conn) *Conn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	k, _ := c.(*Conn)
	return k
}
