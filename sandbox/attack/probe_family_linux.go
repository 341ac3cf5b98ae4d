package attack

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Families, types and protocols that the sys package has no name for.
const (
	afCAN    = 29
	afSMC    = 43
	sockDCCP = 6
	protoSMC = 256 // since Linux 6.11
)

// familyProbes make sockets of unusual families. That the socket was made is the evidence.
func familyProbes() map[string]probe {
	return map[string]probe{
		"family/raw":             makes(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP),
		"family/packet":          makes(unix.AF_PACKET, unix.SOCK_RAW, 0),
		"family/netlink-uevent":  familyUevent,
		"family/netlink-diag":    makes(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_SOCK_DIAG),
		"family/netlink-audit":   makes(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT),
		"family/netlink-generic": makes(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_GENERIC),
		"family/vsock":           makes(unix.AF_VSOCK, unix.SOCK_STREAM, 0),
		"family/sctp":            makes(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP),
		"family/sctp-unnamed":    makes(unix.AF_INET, unix.SOCK_SEQPACKET, 0),
		"family/sctp6":           makes(unix.AF_INET6, unix.SOCK_SEQPACKET, unix.IPPROTO_SCTP),
		"family/dccp":            makes(unix.AF_INET, sockDCCP, 0),
		"family/l2tp":            makes(unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_L2TP),
		"family/smc-inet":        makes(unix.AF_INET, unix.SOCK_STREAM, protoSMC),
		"family/tipc-pair":       pairs(unix.AF_TIPC, unix.SOCK_STREAM),
		"family/vsock-pair":      familyVsockPair,
		"family/alg":             makes(unix.AF_ALG, unix.SOCK_SEQPACKET, 0),
		"family/bluetooth":       makes(unix.AF_BLUETOOTH, unix.SOCK_RAW, unix.BTPROTO_HCI),
		"family/can":             makes(afCAN, unix.SOCK_RAW, 1),
		"family/tipc":            makes(unix.AF_TIPC, unix.SOCK_STREAM, 0),
		"family/rds":             makes(unix.AF_RDS, unix.SOCK_SEQPACKET, 0),
		"family/kcm":             makes(unix.AF_KCM, unix.SOCK_DGRAM, 0),
		"family/xdp":             makes(unix.AF_XDP, unix.SOCK_RAW, 0),
		"family/smc":             makes(afSMC, unix.SOCK_STREAM, 0),
		"family/qipcrtr":         makes(unix.AF_QIPCRTR, unix.SOCK_DGRAM, 0),
		"family/key":             makes(unix.AF_KEY, unix.SOCK_RAW, 2),
	}
}

func makes(family, kind, proto int) probe {
	return func(*Ground, string) (string, error) {
		fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, proto)
		if err != nil {
			return "", fmt.Errorf("socket: %w", err)
		}
		_ = unix.Close(fd)
		return did("made a socket"), nil
	}
}

func pairs(family, kind int) probe {
	return func(*Ground, string) (string, error) {
		fds, err := unix.Socketpair(family, kind|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return "", fmt.Errorf("socketpair: %w", err)
		}
		_, _ = unix.Close(fds[0]), unix.Close(fds[1])
		return did("made two sockets"), nil
	}
}

// familyVsockPair asks for a pair of a family that has none. That the kernel says so is the evidence: it has made one socket.
func familyVsockPair(*Ground, string) (string, error) {
	_, err := unix.Socketpair(unix.AF_VSOCK, unix.SOCK_STREAM, 0)
	return reached(err, unix.EOPNOTSUPP)
}

func familyUevent(*Ground, string) (string, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_KOBJECT_UEVENT)
	if err != nil {
		return "", err
	}
	return done(unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: 1}))
}

// sendmmsg sends one datagram by the call that sends many.
func sendmmsg(fd int, ip [4]byte, port int, data []byte) error {
	type mmsg struct {
		hdr unix.Msghdr
		_   [8]byte // how much was sent
	}
	sa := unix.RawSockaddrInet4{Family: unix.AF_INET, Port: uint16(port>>8) | uint16(port&0xff)<<8, Addr: ip}
	iov := unix.Iovec{Base: &data[0], Len: uint64(len(data))}
	m := mmsg{hdr: unix.Msghdr{Name: (*byte)(unsafe.Pointer(&sa)), Namelen: unix.SizeofSockaddrInet4, Iov: &iov, Iovlen: 1}}
	_, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(fd), ptr(&m), 1, 0, 0, 0)
	return fromErrno(errno)
}

func fromErrno(e unix.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}

// reached tells that a call got past the check of permission: it succeeded or failed for one of the reasons that come
// after it.
func reached(err error, after ...unix.Errno) (string, error) {
	if err == nil {
		return did("the call succeeded"), nil
	}
	for _, e := range after {
		if errors.Is(err, e) {
			return did("the call was allowed and then failed: %v", err), nil
		}
	}
	return "", err
}
