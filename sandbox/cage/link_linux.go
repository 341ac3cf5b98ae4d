package cage

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"termic/sandbox/cage/wire"
)

// link is the app's end of the socket to a helper. It never blocks a thread.
type link struct {
	conn     *net.UnixConn
	receiver *wire.Receiver

	mu sync.Mutex // one message at a time goes out
}

// newLink makes a socket pair: ours, and the helper's, which the caller closes.
func newLink() (*link, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	theirs := os.NewFile(uintptr(fds[1]), "cage-helper")
	ours := os.NewFile(uintptr(fds[0]), "cage")
	defer ours.Close() // net.FileConn works on a copy
	conn, err := net.FileConn(ours)
	if err != nil {
		_ = theirs.Close()
		return nil, nil, err
	}
	l := &link{conn: conn.(*net.UnixConn)}
	l.receiver = wire.NewReceiver(l)
	return l, theirs, nil
}

func (l *link) send(m wire.Message, fds ...int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return wire.Send(l, m, fds...)
}

func (l *link) receive() (wire.Message, []int, error) { return l.receiver.Receive() }

// close ends the cage. It may be called often.
func (l *link) close() { _ = l.conn.Close() }

// until bounds what follows by a context and a time, until the returned function is called.
func (l *link) until(ctx context.Context, timeout time.Duration) (release func()) {
	_ = l.conn.SetDeadline(time.Now().Add(timeout))
	stop := context.AfterFunc(ctx, func() { _ = l.conn.SetDeadline(time.Unix(1, 0)) })
	return func() {
		if stop() {
			_ = l.conn.SetDeadline(time.Time{})
		}
	}
}

// SendPacket implements wire.Packets.
func (l *link) SendPacket(p []byte, fds []int) error {
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	_, _, err := l.conn.WriteMsgUnix(p, oob, nil)
	return err
}

// ReceivePacket implements wire.Packets.
func (l *link) ReceivePacket(p []byte) (int, []int, error) {
	oob := make([]byte, unix.CmsgSpace(4*wire.MaxFDs))
	n, oobn, _, _, err := l.conn.ReadMsgUnix(p, oob)
	if errors.Is(err, unix.ECONNRESET) {
		// A helper that ends before it has read everything resets the socket. The kernel tells that once, before what the
		// helper has still said: its reason.
		n, oobn, _, _, err = l.conn.ReadMsgUnix(p, oob)
	}
	if errors.Is(err, io.EOF) {
		return 0, nil, wire.ErrClosed
	}
	if err != nil {
		return 0, nil, err
	}
	fds, err := wire.Rights(oob[:oobn])
	return n, fds, err
}

// CloseFD implements wire.Packets.
func (l *link) CloseFD(fd int) { _ = unix.Close(fd) }
