package attack

import (
	"net/netip"
	"path/filepath"
)

// Sockets lists, by probe, the pathname sockets of the user's desktop below the runtime folder.
func Sockets() map[string]string {
	return map[string]string{
		"unix/ssh-agent": "keyring/ssh", "unix/gpg-agent": "gnupg/S.gpg-agent", "unix/dbus-session": "bus",
		"unix/systemd-user": "systemd/private", "unix/wayland": "wayland-0", "unix/pulse": "pulse/native",
		"unix/pipewire": "pipewire-0", "unix/docker": "docker.sock", "unix/podman": "podman/podman.sock",
		"unix/containerd": "containerd.sock", "unix/editor": "vscode-git.sock", "unix/tmux": "tmux/default",
	}
}

// unixRows are tries to reach unix sockets outside.
func unixRows() []Row {
	rows := []Row{
		held("unix/control", "connects to the app's control socket").touches(ConnectUnix, func(g Ground) string { return g.Control }),
		held("unix/pathname", "connects to a stream socket of the user"),
		held("unix/dgram", "sends to a datagram socket of the user"),
		held("unix/seqpacket", "connects to a sequenced-packet socket of the user"),
		held("unix/symlink", "connects to a socket through a link in the worktree"),
		held("unix/proc-root", "connects to a socket below /proc/self/root"),
		held("unix/abstract", "connects to an abstract socket"),
		held("unix/abstract-dgram", "sends to an abstract datagram socket"),
		held("unix/x11", "connects to the X server by path"),
		held("unix/x11-abstract", "connects to the X server by its abstract name"),
		held("unix/daemon", "connects to the socket of an uncaged agent's daemon in the worktree"),
		held("unix/daemon-link", "connects to it by a new hard link"),
		held("unix/daemon-moved", "connects to one that was moved there after it was made"),
		held("unix/daemon-relative", "connects to one that was made by a name that only its maker understands"),
		held("unix/daemon-alias", "connects to one that was made through another mount of the home").prepared(),
		held("unix/opt", "connects to a socket of the system in /opt, which every cage may read").prepared(),
		out("unix/late", "connects to a socket that an uncaged program makes in the worktree later",
			"the worktree is granted, and before Landlock ABI 9 no rule can tell a socket from other files"),
		held("unix/system", "connects to a socket of the system in /run").prepared(),
	}
	for _, name := range sortedKeys(Sockets()) {
		path := Sockets()[name]
		rows = append(rows, held(name, "connects to "+path+" in the runtime folder").
			touches(ConnectUnix, func(g Ground) string { return filepath.Join(g.Runtime, path) }))
	}
	return rows
}

// inetRows are tries to reach the network.
func inetRows() []Row {
	tcp := func(r Row, addr string, port func(Ground) int) Row {
		return r.touches(ConnectTCP, func(g Ground) string {
			return netip.AddrPortFrom(netip.MustParseAddr(addr), uint16(port(g))).String()
		})
	}
	other := func(g Ground) int { return g.OtherPort }
	mcp := func(g Ground) int { return g.MCPPort }
	box := network("tcp/mcp", "connects to the app's endpoint")
	box.Want[FullMCP], box.Why = Out, "the box opens exactly this port; files only leaves the network open, and gives no token"
	return []Row{
		tcp(box, "127.0.0.1", mcp),
		tcp(network("tcp/loopback", "connects to another port of 127.0.0.1"), "127.0.0.1", other),
		tcp(network("tcp/mcp-other-address", "connects to the endpoint's port on 127.0.0.2"), "127.0.0.2", mcp),
		tcp(network("tcp/loopback-2", "connects to another port of 127.0.0.2"), "127.0.0.2", other),
		tcp(network("tcp/loopback6", "connects to a port of ::1").lacking("IPv6"), "::1", other),
		network("tcp/mapped", "connects to 127.0.0.1 as an IPv6 address").lacking("IPv6"),
		network("tcp/zero", "connects to 0.0.0.0"),
		network("tcp/host", "connects to the host's own address").lacking("an address that is not loopback"),
		network("tcp/multipath", "connects with multipath TCP").lacking("multipath TCP"),
		network("tcp/fastopen", "sends with TCP Fast Open, without connect").lacking("TCP Fast Open"),
		network("tcp/bind-connect", "binds a source address, then connects"),
		network("tcp/nonblock", "connects without waiting"),
		network("tcp/inbound", "lets the host connect to a port that it opens"),
		network("udp/loopback", "sends a datagram to 127.0.0.1"),
		network("udp/connected", "sends a datagram from a connected socket"),
		network("udp/loopback6", "sends a datagram to ::1").lacking("IPv6"),
		network("udp/host", "sends a datagram to the host's own address").lacking("an address that is not loopback"),
		network("udp/sendmmsg", "sends datagrams in one call"),
		network("udp/lite", "sends a UDP-Lite datagram to the host's own address").lacking("UDP-Lite, or an address that is not loopback"),
		network("dns/udp", "asks a name server, with the secret in the name"),
		network("dns/tcp", "asks a name server over TCP"),
		network("icmp/ping", "pings the host's own address").lacking("ping sockets for users, or an address that is not loopback"),
		network("netlink/route", "lists the host's network interfaces").lacking("an interface that is not loopback"),
		network("netlink/proc-net", "reads the host's connections in /proc/net/tcp"),
	}
}

// familyRows are tries to make sockets of families that need no address, or that go around the network namespace.
func familyRows() []Row {
	return []Row{
		held("family/raw", "opens a raw socket").root(),
		held("family/packet", "opens a packet socket").root(),
		held("family/netlink-uevent", "listens to the kernel's device events").lacking("device events"),
		held("family/netlink-diag", "lists the host's sockets by netlink").lacking("socket diagnostics"),
		held("family/netlink-audit", "opens the audit socket").lacking("audit"),
		held("family/netlink-generic", "opens generic netlink").lacking("generic netlink"),
		held("family/vsock", "opens a socket to the hypervisor").lacking("vsock"),
		held("family/sctp", "opens an SCTP socket").lacking("SCTP"),
		held("family/sctp-unnamed", "opens an SCTP socket by its type").lacking("SCTP"),
		held("family/sctp6", "opens an SCTP socket of IPv6").lacking("SCTP"),
		held("family/dccp", "opens a DCCP socket by its type").lacking("DCCP"),
		held("family/l2tp", "opens an L2TP socket").lacking("L2TP").root(),
		held("family/smc-inet", "opens an SMC socket as a protocol of the internet").lacking("SMC of Linux 6.11"),
		held("family/tipc-pair", "makes a pair of TIPC sockets").lacking("TIPC"),
		held("family/vsock-pair", "has the kernel make a socket to the hypervisor, by asking for a pair").lacking("vsock"),
		held("family/alg", "opens a socket of the kernel's ciphers").lacking("the kernel's ciphers for users"),
		held("family/bluetooth", "opens a bluetooth socket").lacking("bluetooth"),
		held("family/can", "opens a CAN socket").lacking("CAN").root(),
		held("family/tipc", "opens a TIPC socket").lacking("TIPC"),
		held("family/rds", "opens an RDS socket").lacking("RDS"),
		held("family/kcm", "opens a KCM socket").lacking("KCM"),
		held("family/xdp", "opens an XDP socket").lacking("XDP").root(),
		held("family/smc", "opens an SMC socket").lacking("SMC"),
		held("family/qipcrtr", "opens a QRTR socket").lacking("QRTR"),
		held("family/key", "opens a PF_KEY socket").lacking("PF_KEY").root(),
	}
}
