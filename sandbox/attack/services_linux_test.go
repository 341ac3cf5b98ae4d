package attack

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// services answer everyone who reaches them with the secret, and note who did. Their goroutines end when the listeners
// are closed at the end of the test, and are waited for there.
type services struct {
	h    *host
	wg   sync.WaitGroup
	mu   sync.Mutex
	seen map[string]bool // what was said, by line
	open []io.Closer
}

// arrived tells whether a service heard the name of a probe.
func (s *services) arrived(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[name]
}

func (s *services) note(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[name] = true
}

// listen starts all services of the host.
func (h *host) listen() *services {
	s := &services{h: h, seen: map[string]bool{}}
	h.t.Cleanup(func() {
		for _, c := range s.open {
			_ = c.Close()
		}
		s.wg.Wait()
	})
	h.g.Host, h.g.Link = hostAddress()
	h.g.MCPPort, h.g.OtherPort = s.tcp("127.0.0.1", 0), s.tcp("127.0.0.1", 0)
	s.tcp("127.0.0.2", h.g.MCPPort)
	s.tcp("127.0.0.2", h.g.OtherPort)
	s.tcp("::1", h.g.OtherPort)
	h.g.UDPPort = s.udp("127.0.0.1", 0)
	s.udp("::1", h.g.UDPPort)
	if h.g.Host != "" {
		s.tcp(h.g.Host, h.g.OtherPort)
		s.udp(h.g.Host, h.g.UDPPort)
	}
	s.dns()
	h.g.Inbound, h.g.NeighbourPort = freePort(h), freePort(h)

	tag := "@termic-attack-" + rand.Text()[:10]
	h.g.Abstract, h.g.AbstractDgram, h.g.AbstractX11 = tag, tag+"-d", tag+"-X"
	h.g.NeighbourAbstract = tag + "-n"
	for _, path := range []string{h.g.Control, filepath.Join(h.g.Outside, "s.stream"), h.g.Abstract, h.g.AbstractX11,
		filepath.Join("/tmp", h.g.Shared+".X"), h.g.Daemon,
		filepath.Join(h.g.Worktree, ".agent/d.sock")} {
		s.unix("unix", path)
	}
	for _, path := range Sockets() {
		s.unix("unix", filepath.Join(h.g.Runtime, path))
	}
	s.strangelyNamed()
	s.unix("unixpacket", filepath.Join(h.g.Outside, "s.seqpacket"))
	s.unixgram(filepath.Join(h.g.Outside, "s.dgram"))
	s.unixgram(h.g.AbstractDgram)
	return s
}

// strangelyNamed makes sockets in the worktree whose names, in the kernel's list, are not their paths.
func (s *services) strangelyNamed() {
	dir := filepath.Join(s.h.g.Worktree, ".agent")
	s.unix("unix", filepath.Join(dir, "first"))
	s.h.fatal(os.Rename(filepath.Join(dir, "first"), filepath.Join(dir, "moved")))
	at, err := os.Open(dir)
	s.h.fatal(err)
	defer at.Close()
	s.unix("unix", fmt.Sprintf("/proc/self/fd/%d/rel", at.Fd())) // as one does to get around the length that a name may have
	if s.h.g.Alias != "" {
		s.unix("unix", s.h.g.aliased(filepath.Join(dir, "alias")))
	}
}

// hostAddress is an IPv4 address of the host that is not loopback, and the name of its interface.
func hostAddress() (ip, link string) {
	links, err := net.Interfaces()
	if err != nil {
		return "", ""
	}
	for _, l := range links {
		addrs, _ := l.Addrs() // an interface without is passed over
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() && !p.Addr().IsLoopback() {
				return p.Addr().String(), l.Name
			}
		}
	}
	return "", ""
}

func freePort(h *host) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	h.fatal(err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func (s *services) tcp(ip string, port int) int {
	l, err := net.Listen("tcp", net.JoinHostPort(ip, strconv.Itoa(port)))
	if err != nil && ip == "::1" {
		s.h.t.Logf("NOT PREPARED: %v", err)
		return 0
	}
	s.h.fatal(err)
	s.serve(l)
	return l.Addr().(*net.TCPAddr).Port
}

func (s *services) unix(network, path string) {
	if path[0] != '@' {
		s.h.fatal(os.MkdirAll(filepath.Dir(path), 0o700))
		s.h.t.Cleanup(func() { _ = os.Remove(path) })
	}
	l, err := net.Listen(network, path)
	s.h.fatal(err)
	s.serve(l)
}

// serve answers on a listener until it is closed.
func (s *services) serve(l net.Listener) {
	s.open = append(s.open, l)
	s.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.wg.Go(func() { s.answer(c) })
		}
	})
}

func (s *services) answer(c net.Conn) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(netTime))
	line, _ := bufio.NewReader(c).ReadString('\n') // who says nothing has reached us all the same
	if len(line) > 0 {
		s.note(line[:len(line)-1])
	}
	_, _ = c.Write([]byte(s.h.secret))
}

func (s *services) udp(ip string, port int) int {
	c, err := net.ListenPacket("udp", net.JoinHostPort(ip, strconv.Itoa(port)))
	if err != nil && ip == "::1" {
		s.h.t.Logf("NOT PREPARED: %v", err)
		return 0
	}
	s.h.fatal(err)
	s.packets(c, func(in []byte) []byte {
		s.note(string(in[:max(0, len(in)-1)]))
		return []byte(s.h.secret)
	})
	return c.LocalAddr().(*net.UDPAddr).Port
}

func (s *services) unixgram(path string) {
	c, err := net.ListenPacket("unixgram", path)
	s.h.fatal(err)
	s.packets(c, func(in []byte) []byte {
		s.note(string(in[:max(0, len(in)-1)]))
		return []byte(s.h.secret)
	})
}

// packets answers datagrams until the socket is closed.
func (s *services) packets(c net.PacketConn, answer func([]byte) []byte) {
	s.open = append(s.open, c)
	s.wg.Go(func() {
		buf := make([]byte, 2048)
		for {
			n, from, err := c.ReadFrom(buf)
			if err != nil {
				return
			}
			if out := answer(buf[:n]); out != nil && from != nil {
				_, _ = c.WriteTo(out, from)
			}
		}
	})
}

// dns is a name server that answers every question with the secret.
func (s *services) dns() {
	c, l, err := bothPorts()
	s.h.fatal(err)
	s.h.g.DNSPort = c.LocalAddr().(*net.UDPAddr).Port
	s.packets(c, s.resolve)
	s.open = append(s.open, l)
	s.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.wg.Go(func() { s.resolveTCP(c) })
		}
	})
}

// bothPorts listens on one port by both protocols. A port that is free for one may be another program's for the other.
func bothPorts() (net.PacketConn, net.Listener, error) {
	for try := 0; ; try++ {
		c, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			return nil, nil, err
		}
		l, err := net.Listen("tcp", Loopback(c.LocalAddr().(*net.UDPAddr).Port))
		if err == nil || try == 20 {
			return c, l, err
		}
		_ = c.Close()
	}
}

func (s *services) resolveTCP(c net.Conn) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(netTime))
	var size [2]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return
	}
	q := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(c, q); err != nil {
		return
	}
	if a := s.resolve(q); a != nil {
		_, _ = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(a))), a...))
	}
}

// resolve answers one question by a TXT record.
func (s *services) resolve(q []byte) []byte {
	end := 12
	for end < len(q) && q[end] != 0 {
		if end == 12 && end+1+int(q[end]) <= len(q) {
			s.note(string(q[end+1 : end+1+int(q[end])]))
		}
		end += int(q[end]) + 1
	}
	if end += 5; end > len(q) {
		return nil
	}
	out := append([]byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0}, q[12:end]...)
	out = append(out, 0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 0, 0, byte(len(s.h.secret)+1), byte(len(s.h.secret)))
	return append(out, s.h.secret...)
}

// inbound sends the secret to whoever listens on the port, for as long as a probe may take.
func (s *services) inbound() {
	s.wg.Go(func() {
		for end := time.Now().Add(netTime); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			c, err := net.DialTimeout("tcp", Loopback(s.h.g.Inbound), netTime)
			if err != nil {
				continue
			}
			_, _ = c.Write([]byte(s.h.secret))
			_ = c.Close()
			return
		}
	})
}
