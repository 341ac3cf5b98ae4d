package inside

import (
	"sync"

	"golang.org/x/sys/unix"

	"termic/sandbox/cage/wire"
)

// socket is the helper's end of the socket to the app, blocking.
type socket struct {
	fd       int
	receiver *wire.Receiver

	mu sync.Mutex // one message at a time goes out
}

func newSocket(fd int) *socket {
	c := &socket{fd: fd}
	c.receiver = wire.NewReceiver(c)
	unix.CloseOnExec(fd)
	return c
}

func (c *socket) send(m wire.Message, fds ...int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return wire.Send(c, m, fds...)
}

// await returns when something is to be read, or the other side is gone.
func (c *socket) await() error {
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(c.fd), Events: unix.POLLIN}}, -1)
		if err != unix.EINTR {
			return err
		}
	}
}

// SendPacket implements wire.Packets.
func (c *socket) SendPacket(p []byte, fds []int) error {
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	for {
		err := unix.Sendmsg(c.fd, p, oob, nil, unix.MSG_NOSIGNAL)
		if err != unix.EINTR {
			return err
		}
	}
}

// ReceivePacket implements wire.Packets.
func (c *socket) ReceivePacket(p []byte) (int, []int, error) {
	var oob [256]byte // room for what Run brings; more is cut off by the kernel
	for {
		n, oobn, _, _, err := unix.Recvmsg(c.fd, p, oob[:], unix.MSG_CMSG_CLOEXEC)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, nil, err
		}
		fds, err := wire.Rights(oob[:oobn])
		return n, fds, err
	}
}

// CloseFD implements wire.Packets.
func (c *socket) CloseFD(fd int) { _ = unix.Close(fd) }
