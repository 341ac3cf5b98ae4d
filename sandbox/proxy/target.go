package proxy

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"termic/sandbox/hosts"
)

// target is the host and port that a request names.
type target struct {
	host string     // canonical, or what was written when bad is set
	addr netip.Addr // valid when the host is a literal address
	port uint16
	bad  string // why the host has no canonical form; empty when it has
}

// authority is host and port as they go into a request line.
func (t target) authority() string { return net.JoinHostPort(t.host, strconv.Itoa(int(t.port))) }

// parseTarget reads "host:port". def is the port of an authority without one; 0 requires one. The text comes straight
// from the request line, before anything decoded it. The second result is a clause that says what is wrong with the
// form; a form that is fine around a host that is none is left to the caller, by target.bad.
func parseTarget(authority string, def uint16) (target, string) {
	switch {
	case authority == "":
		return target{}, "no host is named"
	case len(authority) > 1024:
		return target{}, "the host is too long"
	case strings.Contains(authority, "@"): // what stands before it may be a password
		return target{host: printable(authority[strings.LastIndexByte(authority, '@')+1:])}, "a user name before the host is not accepted"
	case strings.ContainsAny(authority, "/?#\\ \t\r\n\x00"):
		return target{host: printable(authority)}, "the host holds a character that belongs to no host"
	}
	host, port := authority, def
	if i := strings.LastIndexByte(authority, ':'); i >= 0 && !strings.HasSuffix(authority, "]") {
		n, err := strconv.ParseUint(authority[i+1:], 10, 16)
		if err != nil || n == 0 || authority[i+1] == '+' {
			return target{host: printable(authority)}, "the port is not a number from 1 to 65535"
		}
		host, port = authority[:i], uint16(n)
	}
	if port == 0 {
		return target{host: printable(authority)}, "no port is named"
	}
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		return target{host: printable(host), port: port}, "an IPv6 address stands in brackets"
	}
	name, err := hosts.Norm(host)
	if err != nil {
		return target{host: printable(host), port: port, bad: "it has more than one reading, or none"}, ""
	}
	addr, _ := netip.ParseAddr(name)
	return target{host: name, addr: addr, port: port}, ""
}

// printable cuts a text from a stranger for logs, headers and pages.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if b.Len() >= 120 {
			b.WriteString("...")
			break
		}
		if r < 0x21 || r > 0x7e {
			r = '?'
		}
		b.WriteRune(r)
	}
	return b.String()
}
