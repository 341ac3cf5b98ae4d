package wire

import (
	"errors"
	"fmt"
)

// Bounds of a message.
const (
	maxPart    = 60 << 10 // bytes of one packet; well below what a socket takes by default
	maxMessage = 16 << 20 // bytes; the kernel takes at most 6 MiB of arguments and environment anyway
	MaxFDs     = 64       // descriptors of one message; the kernel's own bound is 253
)

// Packets is one end of a SEQPACKET socket.
type Packets interface {
	// SendPacket sends one packet and gives the other side copies of fds.
	SendPacket(p []byte, fds []int) error
	// ReceivePacket fills p and returns its length, zero at the end of file, and what descriptors came along.
	ReceivePacket(p []byte) (n int, fds []int, err error)
	// CloseFD closes a descriptor that nobody will take.
	CloseFD(fd int)
}

// VersionError says that the other side is of another version.
type VersionError struct{ Got uint64 }

func (e *VersionError) Error() string {
	return fmt.Sprintf("the cage's helper speaks version %d, the app speaks %d", Version, e.Got)
}

// ErrClosed says that the other side is gone.
var ErrClosed = errors.New("the other side of the cage's socket is gone")

// Send sends one message, in as many packets as it takes. Descriptors go with the first. One sender at a time.
func Send(c Packets, m Message, fds ...int) error {
	if len(fds) > MaxFDs {
		return fmt.Errorf("%d descriptors in one message", len(fds))
	}
	var e encoder
	m.encode(&e)
	if len(e.b) > maxMessage {
		return fmt.Errorf("a message of %d bytes is too long for the cage's helper", len(e.b))
	}
	for rest := e.b; ; {
		part := rest[:min(len(rest), maxPart)]
		rest = rest[len(part):]
		more := byte(0)
		if len(rest) > 0 {
			more = 1
		}
		if err := c.SendPacket(append([]byte{byte(m.kind()), more}, part...), fds); err != nil {
			return err
		}
		if fds = nil; more == 0 {
			return nil
		}
	}
}

// Receiver receives messages from one socket. Its buffer is kept, so that a process that waits all its life stays small.
type Receiver struct {
	c   Packets
	buf []byte
}

// NewReceiver returns the receiver of c. There is to be one.
func NewReceiver(c Packets) *Receiver { return &Receiver{c, make([]byte, maxPart+2)} }

// Receive returns the next message and its descriptors, which the caller owns. At the end of file the error is
// ErrClosed. One call at a time.
func (r *Receiver) Receive() (Message, []int, error) {
	var body []byte
	var fds []int
	var kind Kind
	c, buf := r.c, r.buf
	drop := func(err error) (Message, []int, error) {
		for _, fd := range fds {
			c.CloseFD(fd)
		}
		return nil, nil, err
	}
	for first := true; ; first = false {
		n, got, err := c.ReceivePacket(buf)
		fds = append(fds, got...)
		switch {
		case err != nil:
			return drop(err)
		case n == 0:
			return drop(ErrClosed)
		case n < 2 || !first && Kind(buf[0]) != kind || len(body)+n > maxMessage:
			return drop(errShort)
		case n == 2 && buf[1] != 0, len(fds) > MaxFDs, !first && len(got) > 0: // without an end, it would be a message of nothing but descriptors
			return drop(errShort)
		}
		kind = Kind(buf[0])
		body = append(body, buf[2:n]...)
		if buf[1] == 0 {
			break
		}
	}
	m, err := blank(kind)
	if err != nil {
		return drop(err)
	}
	d := decoder{b: body}
	m.decode(&d)
	if err := d.end(); err != nil {
		return drop(err)
	}
	return m, fds, nil
}
