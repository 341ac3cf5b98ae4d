package sandbox

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// The reference decides single operations, and shares no code with Within: it walks a path from the root and looks at every
// folder on the way; it reads host rules as text. What it says about an operation is the meaning of a capability.

type operation struct {
	kind string // "read", "write", "connect"
	path string
	host string
	port int
}

func (o operation) String() string {
	if o.kind == "connect" {
		return "connect " + o.host + ":" + strconv.Itoa(o.port)
	}
	return o.kind + " " + o.path
}

// permits is what a cage that was built from c would say.
func permits(c Capability, o operation) bool {
	if c.unbounded {
		return true
	}
	if o.kind == "connect" {
		return slices.ContainsFunc(c.hosts.Strings(), func(rule string) bool { return ruleMatches(rule, o.host, o.port) })
	}
	readable, writable, hidden, pinned := false, false, false, false
	at := ""
	for _, name := range strings.Split(o.path[1:], "/") {
		at += "/" + name
		readable = readable || slices.Contains(c.read, at) || slices.Contains(c.write, at)
		writable = writable || slices.Contains(c.write, at)
		hidden = hidden || slices.Contains(c.deny, at)
		pinned = pinned || slices.Contains(c.pinned, at)
	}
	if o.kind == "read" {
		return readable && !hidden
	}
	return writable && !hidden && !pinned
}

// ruleMatches reads one rule as it is documented. It knows the rules that the generator makes.
func ruleMatches(rule, host string, port int) bool {
	rest, private := strings.CutSuffix(rule, "+private")
	name, list := rest, "80,443"
	if i := strings.LastIndexByte(rest, ':'); i >= 0 {
		name, list = rest[:i], rest[i+1:]
	} else if rest == "*" {
		list = ""
	}
	if list != "" && !slices.Contains(strings.Split(list, ","), strconv.Itoa(port)) {
		return false
	}
	addr, err := netip.ParseAddr(host)
	isAddress := err == nil
	switch {
	case name == "*":
		return !isAddress || private || !addr.IsPrivate() && !addr.IsLoopback()
	case strings.HasPrefix(name, "*."):
		return !isAddress && strings.HasSuffix(host, name[1:]) && host != name[2:]
	}
	return host == name
}

// The world of the generated capabilities. stranger is a name that no list mentions: what holds for it holds for all the
// names that lists do not know.
var (
	worldNames = []string{"a", "b", "ab"}
	worldRules = []string{"x.test", "*.x.test", "y.x.test", "*.y.x.test", "x.test:8443", "*.x.test:8443", "z.test", "192.0.2.7", "10.0.0.1:80", "*", "*:443", "*+private"}
	worldHosts = []string{"x.test", "y.x.test", "stranger.x.test", "q.y.x.test", "z.test", "xx.test", "stranger.example", "192.0.2.7", "10.0.0.1"}
	worldPorts = []int{80, 443, 8443, 9999}
)

const stranger = "zz"

// worldPaths are all paths of up to depth components, with the stranger as the last or any component.
func worldPaths(depth int) []string {
	var out []string
	level := []string{""}
	for range depth {
		var next []string
		for _, p := range level {
			for _, n := range append(slices.Clone(worldNames), stranger) {
				next = append(next, p+"/"+n)
			}
		}
		out = append(out, next...)
		level = next
	}
	return out
}

// operations are all operations of the world.
func operations() []operation {
	var out []operation
	for _, p := range worldPaths(4) {
		out = append(out, operation{kind: "read", path: p}, operation{kind: "write", path: p})
	}
	for _, h := range worldHosts {
		for _, p := range worldPorts {
			out = append(out, operation{kind: "connect", host: h, port: p})
		}
	}
	return out
}
