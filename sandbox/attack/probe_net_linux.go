package attack

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Listeners outside answer every connection and every datagram with the secret, so that a road out shows by what came
// back; and they note the name that was sent, so that a one-way road shows too.

const netTime = time.Second // how long a probe waits for an answer

// unixProbes reach unix sockets outside.
func unixProbes() map[string]probe {
	m := map[string]probe{
		"unix/control": dialsUnix(unix.SOCK_STREAM, func(g *Ground, _ string) string { return g.Control }),
		"unix/pathname": dialsUnix(unix.SOCK_STREAM, func(g *Ground, name string) string {
			return filepath.Join(g.Outside, "s.stream")
		}),
		"unix/dgram": dialsUnix(unix.SOCK_DGRAM, func(g *Ground, _ string) string { return filepath.Join(g.Outside, "s.dgram") }),
		"unix/seqpacket": dialsUnix(unix.SOCK_SEQPACKET, func(g *Ground, _ string) string {
			return filepath.Join(g.Outside, "s.seqpacket")
		}),
		"unix/symlink": func(g *Ground, name string) (string, error) {
			if err := os.Symlink(filepath.Join(g.Outside, "s.stream"), g.In(name)); err != nil {
				return "", err
			}
			return dialUnix(unix.SOCK_STREAM, g.In(name), name)
		},
		"unix/proc-root": dialsUnix(unix.SOCK_STREAM, func(g *Ground, _ string) string {
			return "/proc/self/root" + filepath.Join(g.Outside, "s.stream")
		}),
		"unix/abstract":       dialsUnix(unix.SOCK_STREAM, func(g *Ground, _ string) string { return g.Abstract }),
		"unix/abstract-dgram": dialsUnix(unix.SOCK_DGRAM, func(g *Ground, _ string) string { return g.AbstractDgram }),
		"unix/x11":            dialsUnix(unix.SOCK_STREAM, func(g *Ground, _ string) string { return filepath.Join("/tmp", g.Shared+".X") }),
		"unix/x11-abstract":   dialsUnix(unix.SOCK_STREAM, func(g *Ground, _ string) string { return g.AbstractX11 }),
		"unix/daemon":         dialsUnix(unix.SOCK_STREAM, func(g *Ground, _ string) string { return filepath.Join(g.Worktree, ".agent/d.sock") }),
		"unix/daemon-link": func(g *Ground, name string) (string, error) {
			if err := os.Link(filepath.Join(g.Worktree, ".agent/d.sock"), g.In(name)); err != nil {
				return "", err
			}
			return dialUnix(unix.SOCK_STREAM, g.In(name), name)
		},
		"unix/daemon-moved":    dialsUnix(unix.SOCK_STREAM, func(g *Ground, _ string) string { return filepath.Join(g.Worktree, ".agent/moved") }),
		"unix/daemon-relative": dialsUnix(unix.SOCK_STREAM, func(g *Ground, _ string) string { return filepath.Join(g.Worktree, ".agent/rel") }),
		"unix/daemon-alias":    dialsUnix(unix.SOCK_STREAM, func(g *Ground, _ string) string { return filepath.Join(g.Worktree, ".agent/alias") }),
		"unix/opt":             dialsUnix(unix.SOCK_STREAM, func(g *Ground, _ string) string { return g.OptSocket }),
		"unix/late":            dialsUnix(unix.SOCK_STREAM, func(g *Ground, name string) string { return g.In(name) }),
		"unix/system":          dialsUnix(unix.SOCK_STREAM, func(g *Ground, _ string) string { return g.SysSocket }),
	}
	for name, path := range Sockets() {
		m[name] = dialsUnix(unix.SOCK_STREAM, func(g *Ground, _ string) string { return filepath.Join(g.Runtime, path) })
	}
	return m
}

func dialsUnix(kind int, at func(g *Ground, name string) string) probe {
	return func(g *Ground, name string) (string, error) { return dialUnix(kind, at(g, name), name) }
}

func dialUnix(kind int, path, name string) (string, error) {
	if path == "" {
		return "", errNot
	}
	fd, err := unix.Socket(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	if kind == unix.SOCK_DGRAM { // an address of its own, to be answered
		if err := unix.Bind(fd, &unix.SockaddrUnix{}); err != nil {
			return "", err
		}
	}
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		return "", fmt.Errorf("connect %q: %w", path, err)
	}
	return ask(fd, name)
}

// ask says the probe's name on a connected descriptor and returns the answer.
func ask(fd int, name string) (string, error) {
	tv := unix.NsecToTimeval(netTime.Nanoseconds())
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv)
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &tv)
	_, errSend := unix.Write(fd, []byte(name+"\n")) // who does not listen may answer all the same
	buf := make([]byte, 512)
	n, err := unix.Read(fd, buf)
	if err != nil {
		return "", errors.Join(errSend, fmt.Errorf("answer: %w", err))
	}
	return string(buf[:n]), nil
}

// inetProbes reach the network.
func inetProbes() map[string]probe {
	return map[string]probe{
		"tcp/mcp":               dialsTCP("127.0.0.1", func(g *Ground) int { return g.MCPPort }),
		"tcp/loopback":          dialsTCP("127.0.0.1", func(g *Ground) int { return g.OtherPort }),
		"tcp/mcp-other-address": dialsTCP("127.0.0.2", func(g *Ground) int { return g.MCPPort }),
		"tcp/loopback-2":        dialsTCP("127.0.0.2", func(g *Ground) int { return g.OtherPort }),
		"tcp/loopback6":         dialsTCP("::1", func(g *Ground) int { return g.OtherPort }),
		"tcp/mapped":            tcpMapped,
		"tcp/zero":              dialsTCP("0.0.0.0", func(g *Ground) int { return g.OtherPort }),
		"tcp/host": func(g *Ground, name string) (string, error) {
			return dialInet(unix.SOCK_STREAM, 0, g.Host, g.OtherPort, name)
		},
		"tcp/multipath": func(g *Ground, name string) (string, error) {
			return dialInet(unix.SOCK_STREAM, unix.IPPROTO_MPTCP, "127.0.0.1", g.OtherPort, name)
		},
		"tcp/fastopen":     tcpFastOpen,
		"tcp/bind-connect": tcpBindConnect,
		"tcp/nonblock":     tcpNonblock,
		"tcp/inbound":      tcpInbound,
		"udp/loopback":     func(g *Ground, name string) (string, error) { return sendUDP("127.0.0.1", g.UDPPort, name, 0) },
		"udp/connected": func(g *Ground, name string) (string, error) {
			return dialInet(unix.SOCK_DGRAM, 0, "127.0.0.1", g.UDPPort, name)
		},
		"udp/loopback6": func(g *Ground, name string) (string, error) { return sendUDP("::1", g.UDPPort, name, 0) },
		"udp/host":      func(g *Ground, name string) (string, error) { return sendUDP(g.Host, g.UDPPort, name, 0) },
		"udp/sendmmsg":  udpSendmmsg,
		"udp/lite": func(g *Ground, name string) (string, error) {
			return sendUDP(g.Host, g.UDPPort, name, unix.IPPROTO_UDPLITE)
		},
		"dns/udp":          asksDNS("udp"),
		"dns/tcp":          asksDNS("tcp"),
		"icmp/ping":        ping,
		"netlink/route":    netlinkRoute,
		"netlink/proc-net": procNet,
	}
}

func sockaddr(ip string, port int) (int, unix.Sockaddr, error) {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return 0, nil, err
	}
	if addr.Is4() {
		return unix.AF_INET, &unix.SockaddrInet4{Addr: addr.As4(), Port: port}, nil
	}
	return unix.AF_INET6, &unix.SockaddrInet6{Addr: addr.As16(), Port: port}, nil
}

func dialsTCP(ip string, port func(*Ground) int) probe {
	return func(g *Ground, name string) (string, error) { return dialInet(unix.SOCK_STREAM, 0, ip, port(g), name) }
}

func dialInet(kind, proto int, ip string, port int, name string) (string, error) {
	family, sa, err := sockaddr(ip, port)
	if err != nil {
		return "", err
	}
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, proto)
	if err != nil {
		return "", fmt.Errorf("socket: %w", err)
	}
	defer unix.Close(fd)
	tv := unix.NsecToTimeval(netTime.Nanoseconds())
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &tv) // bounds connect too
	if err := unix.Connect(fd, sa); err != nil {
		return "", fmt.Errorf("connect: %w", err)
	}
	return ask(fd, name)
}

func tcpMapped(g *Ground, name string) (string, error) {
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	if err := unix.Connect(fd, &unix.SockaddrInet6{Addr: netip.MustParseAddr("::ffff:127.0.0.1").As16(), Port: g.OtherPort}); err != nil {
		return "", err
	}
	return ask(fd, name)
}

func tcpFastOpen(g *Ground, name string) (string, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	sa := &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: g.OtherPort}
	if err := unix.Sendto(fd, []byte(name+"\n"), unix.MSG_FASTOPEN, sa); err != nil {
		return "", err
	}
	return ask(fd, name)
}

func tcpBindConnect(g *Ground, name string) (string, error) {
	d := net.Dialer{Timeout: netTime, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}}
	c, err := d.Dial("tcp", Loopback(g.OtherPort))
	if err != nil {
		return "", err
	}
	defer c.Close()
	return converse(c, name)
}

func converse(c net.Conn, name string) (string, error) {
	_ = c.SetDeadline(time.Now().Add(netTime))
	if _, err := c.Write([]byte(name + "\n")); err != nil {
		return "", err
	}
	buf := make([]byte, 512)
	n, err := c.Read(buf)
	return string(buf[:n]), err
}

func tcpNonblock(g *Ground, name string) (string, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	err = unix.Connect(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: g.OtherPort})
	if err != nil && !errors.Is(err, unix.EINPROGRESS) {
		return "", err
	}
	if _, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, int(netTime.Milliseconds())); err != nil {
		return "", err
	}
	_ = unix.SetNonblock(fd, false)
	return ask(fd, name)
}

// tcpInbound opens a port and waits for the host, which sends the secret to whoever accepts.
func tcpInbound(g *Ground, _ string) (string, error) {
	l, err := net.Listen("tcp", Loopback(g.Inbound))
	if err != nil {
		return "", err
	}
	defer l.Close()
	_ = l.(*net.TCPListener).SetDeadline(time.Now().Add(netTime / 2))
	c, err := l.Accept()
	if err != nil {
		return "", err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(netTime))
	buf := make([]byte, 512)
	n, err := c.Read(buf)
	return string(buf[:n]), err
}

func sendUDP(ip string, port int, name string, proto int) (string, error) {
	family, sa, err := sockaddr(ip, port)
	if err != nil {
		return "", err
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, proto)
	if err != nil {
		return "", err
	}
	if err := unix.Sendto(fd, []byte(name+"\n"), 0, sa); err != nil {
		return "", err
	}
	if proto != 0 { // nobody outside answers those: that the packet left is all there is to see
		return did("sent"), nil
	}
	return receive(fd)
}

func receive(fd int) (string, error) {
	tv := unix.NsecToTimeval((netTime / 4).Nanoseconds())
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv)
	buf := make([]byte, 512)
	n, err := unix.Read(fd, buf)
	return string(buf[:max(n, 0)]), err
}

func udpSendmmsg(g *Ground, name string) (string, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	if err := sendmmsg(fd, [4]byte{127, 0, 0, 1}, g.UDPPort, []byte(name+"\n")); err != nil {
		return "", err
	}
	return receive(fd)
}

// asksDNS carries the probe's name out as part of a name that is asked for.
func asksDNS(network string) probe {
	return func(g *Ground, name string) (string, error) {
		r := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, Loopback(g.DNSPort))
		}}
		ctx, cancel := context.WithTimeout(context.Background(), netTime)
		defer cancel()
		texts, err := r.LookupTXT(ctx, flat(name)+".example.")
		return strings.Join(texts, " "), err
	}
}

// ping sends an echo request from a ping socket.
func ping(g *Ground, _ string) (string, error) {
	if g.Host == "" {
		return "", errNot
	}
	family, sa, err := sockaddr(g.Host, 0)
	if err != nil || family != unix.AF_INET {
		return "", errors.Join(err, errNot)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.IPPROTO_ICMP)
	if err != nil {
		return "", err
	}
	msg := []byte{8, 0, 0, 0, 0, 0, 0, 1, 'p', 'r', 'o', 'b'}
	sum := uint32(0)
	for i := 0; i < len(msg); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(msg[i:]))
	}
	binary.BigEndian.PutUint16(msg[2:], ^uint16(sum+sum>>16))
	if err := unix.Sendto(fd, msg, 0, sa); err != nil {
		return "", err
	}
	if _, err := receive(fd); err != nil {
		return "", err
	}
	return did("the host answered"), nil
}

func netlinkRoute(g *Ground, _ string) (string, error) {
	links, err := net.Interfaces()
	if err != nil {
		return "", err
	}
	for _, l := range links {
		if g.Link != "" && l.Name == g.Link {
			return did("saw %s", l.Name), nil
		}
	}
	return "", fmt.Errorf("%d interfaces, none of the host", len(links))
}

// procNet looks for the listener of the other service.
func procNet(g *Ground, _ string) (string, error) {
	data, err := os.ReadFile("/proc/self/net/tcp")
	if err != nil {
		return "", err
	}
	if strings.Contains(string(data), fmt.Sprintf(":%04X ", g.OtherPort)) {
		return did("saw port %d", g.OtherPort), nil
	}
	return "", errNot
}
