// Package hosts says which hosts a caged task may reach: one canonical form of a host, rules, sets of rules, and the
// comparison of two sets.
//
// It promises that the proxy, the stored rules and the comparison of capabilities read a host in the same way (Norm is
// the only reader), that Within is total, exact and sound (what a set within another one allows, the other allows
// too), and that an invalid rule cannot be built. It opens no connection and asks no resolver.
//
// It does not cover what a name resolves to: that is the proxy's part, which asks Rule.Private and Public.
package hosts

import (
	"net/netip"
	"strings"

	"golang.org/x/net/idna"

	"termic/internal/fault"
)

// maxName and maxLabel are the limits of a host name in characters (RFC 1035, 2.3.4; 255 octets on the wire).
const (
	maxName  = 253
	maxLabel = 63
)

// Norm returns the one canonical form of a host: a lower-case name in ASCII (international names as xn-- labels)
// without the final dot, or an address as net/netip prints it, without brackets, IPv4 in IPv6 written as IPv4.
// Whatever could be read in two ways is refused: short, octal, hexadecimal and decimal forms of IPv4, zones, empty
// labels, spaces and control characters, percent signs. Norm(Norm(x)) is Norm(x).
func Norm(host string) (string, error) {
	name, _, err := norm(host)
	return name, err
}

// norm is Norm, with the address when the host is one.
func norm(host string) (string, netip.Addr, error) {
	s := host
	bracketed := strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]")
	if bracketed {
		s = s[1 : len(s)-1]
	}
	if bracketed || strings.Contains(s, ":") {
		return normIPv6(host, s)
	}
	s = trimDot(s)
	switch {
	case s == "":
		return "", netip.Addr{}, bad(host, "it is empty")
	case len(host) > 4*maxName:
		return "", netip.Addr{}, bad(host[:maxName]+"...", "it is longer than a host name can be")
	}
	if a, err := netip.ParseAddr(s); err == nil {
		return a.String(), a, nil
	}
	name, err := asciiName(s)
	if err != nil {
		return "", netip.Addr{}, bad(host, "%s", err.Error())
	}
	if why := checkName(name); why != "" {
		return "", netip.Addr{}, bad(host, "%s", why)
	}
	return name, netip.Addr{}, nil
}

// trimDot takes one final dot off, in any of the forms that UTS 46 reads as one.
func trimDot(s string) string {
	for _, dot := range [...]string{".", "\u3002", "\uff0e", "\uff61"} {
		if t, ok := strings.CutSuffix(s, dot); ok {
			return t
		}
	}
	return s
}

func normIPv6(host, s string) (string, netip.Addr, error) {
	a, err := netip.ParseAddr(s)
	switch {
	case err != nil || !a.Is6():
		return "", netip.Addr{}, bad(host, "it is neither a name nor an address")
	case a.Zone() != "":
		return "", netip.Addr{}, bad(host, "an address with a zone means another host on each machine")
	}
	a = a.Unmap()
	return a.String(), a, nil
}

// asciiName lowers an ASCII name and converts any other one as browsers do (UTS 46, lookup, non-transitional).
func asciiName(s string) (string, error) {
	if isASCII(s) {
		s = strings.ToLower(s)
		if !strings.HasPrefix(s, "xn--") && !strings.Contains(s, ".xn--") {
			return s, nil
		}
	}
	name, err := idna.Lookup.ToASCII(s)
	if err != nil {
		return "", errNotInternational
	}
	// What is already converted must stay as it is, or two spellings would be judged in two ways.
	again, err := idna.Lookup.ToASCII(name)
	if err != nil || again != name {
		return "", errNotInternational
	}
	return name, nil
}

type plainError string

func (e plainError) Error() string { return string(e) }

const errNotInternational = plainError("its international letters do not form a valid name")

// checkName returns why a lower-case ASCII name is no host name, or nothing. Underscores are let through: names with
// them are in use, and no reader takes them for anything else.
func checkName(name string) string {
	if len(name) > maxName {
		return "it is longer than a host name can be"
	}
	labels := strings.Split(name, ".")
	for _, l := range labels {
		switch {
		case l == "":
			return "it has an empty part between two dots"
		case len(l) > maxLabel:
			return "one of its parts is longer than 63 characters"
		case l[0] == '-' || l[len(l)-1] == '-':
			return "one of its parts begins or ends with a hyphen"
		}
		for i := range len(l) {
			if c := l[i]; !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
				return "it has a character that no host name has"
			}
		}
	}
	if endsInNumber(labels[len(labels)-1]) {
		return "it is a number that programs read as different addresses; write an IPv4 address as four decimal numbers"
	}
	return ""
}

// endsInNumber tells whether the last label makes readers such as inet_aton and browsers take the host for an IPv4
// address (WHATWG URL, "ends in a number checker").
func endsInNumber(label string) bool {
	digits := strings.TrimPrefix(label, "0x")
	hex := len(digits) != len(label)
	for i := range len(digits) {
		c := digits[i]
		if !(c >= '0' && c <= '9' || hex && c >= 'a' && c <= 'f') {
			return false
		}
	}
	return true
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func bad(host, format string, args ...any) error {
	e := fault.New(fault.InvalidArgument, format, args...)
	return fault.New(fault.InvalidArgument, "%q is not a host: %s", host, e.Message)
}
