package inlet

import "net"

// mostHeld is how much of an answer may wait for its rest, in bytes: the buffer of net/http's connections.
const mostHeld = 4 << 10

// Whole runs write, which writes one answer by the HTTP server of this connection, and sends its first two parts in one
// piece. net/http writes the head with as much of the body as its own buffer holds, and then the rest: two system calls,
// and a client that is woken twice for a long answer. What is still held when write returns is sent then, with the deadline
// that write has set. It must be called from the goroutine that serves the connection.
func (c *Conn) Whole(write func()) (err error) {
	c.holding = true
	defer func() { // if write panics too
		c.holding = false
		if len(c.held) > 0 {
			_, err = c.Conn.Write(c.held)
			c.held = c.held[:0]
		}
	}()
	write()
	return nil
}

// Write sends p, unless Whole runs and p is to wait for more.
func (c *Conn) Write(p []byte) (int, error) {
	switch {
	case len(c.held) > 0:
		both := net.Buffers{c.held, p}
		first := len(c.held)
		c.held = c.held[:0]
		n, err := both.WriteTo(c.Conn)
		return max(int(n)-first, 0), err
	case c.holding && len(p) <= mostHeld:
		c.held = append(c.held, p...)
		return len(p), nil
	}
	return c.Conn.Write(p)
}
