package control

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerUID asks the kernel for the user at the other end.
func peerUID(c *net.UnixConn) (int, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, err
	}
	var cred *unix.Xucred
	var sockErr error
	if err := raw.Control(func(fd uintptr) {
		cred, sockErr = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	}); err != nil {
		return -1, err
	}
	if sockErr != nil {
		return -1, sockErr
	}
	return int(cred.Uid), nil
}
