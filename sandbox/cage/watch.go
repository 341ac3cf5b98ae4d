package cage

import (
	"net/netip"
	"path"
	"strings"
)

// Watching says how much of what happens in a cage is told.
type Watching byte

// The ways to watch.
const (
	WatchNothing Watching = iota
	WatchWrites           // connects, removals, and opens that may change something; nearly free
	WatchAll              // and all other opens; a program that opens many files takes twice its time
)

// Event is one act that a program tried. Watching never decides: the act goes on, and the cage allows or refuses it. What an
// event says was true when it was looked at; a program that wants to deceive the watcher can. Acts through io_uring,
// mappings and descriptors that were open before are not seen.
type Event struct {
	Op      string // "read", "write", "remove", "make" or "connect"
	Path    string // absolute, in the cage, without links as far as they could be followed; empty for a connect to an address
	Address string // of a connect: IP and port
	Pid     int    // as the host counts
	Refused bool   // the cage refuses it, by its grants and its network
}

// Watch asks to be told of acts. A program that listens to its own children in the same way (another sandbox) is refused
// that with EBUSY.
type Watch struct {
	What Watching

	// On is called for each event, by one goroutine in the order of the acts. The same act again within two seconds is
	// left out. When it is slow, events are lost and counted (Cage.Unseen), and the program never waits for it.
	On func(Event)
}

// allows tells whether a view lets a path be read or written, by the grants alone. path has no links.
func (v View) allows(p string, write bool) bool {
	best := -1
	for i, m := range v.Mounts {
		if below(p, m.target()) && (best < 0 || len(m.target()) > len(v.Mounts[best].target())) {
			best = i
		}
	}
	if best < 0 { // what every cage has of its own
		return below(p, "/tmp") || below(p, "/var/tmp") || below(p, "/dev") || below(p, "/proc")
	}
	m := v.Mounts[best]
	host := path.Join(m.Source, strings.TrimPrefix(p, m.target()))
	for _, c := range v.Covers {
		if below(host, c) && !below(m.Source, c) {
			return false
		}
	}
	if !write {
		return true
	}
	for _, c := range v.Pins {
		if below(host, c) {
			return false
		}
	}
	return m.Write
}

func (m Mount) target() string {
	if m.Target == "" {
		return m.Source
	}
	return m.Target
}

// below tells whether p is dir or lies in it.
func below(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// reachable tells whether a cage with a network of its own can reach an address at all.
func reachable(address string) bool {
	a, err := netip.ParseAddrPort(address)
	return err != nil || a.Addr().Unmap().IsLoopback() || a.Addr().IsUnspecified()
}
