package hosts

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"termic/internal/fault"
)

// Limits of what a person writes. They keep a comparison cheap; no real list comes near.
const (
	MaxPorts = 64    // ports of one rule
	MaxRules = 4_096 // rules of one list
)

type kind uint8

const (
	exact   kind = iota // one name
	suffix              // every name below one, never that one itself
	literal             // one address
	anyHost             // every name, and every public address
)

// Rule allows one host, or the names below one, at some ports. The zero value allows nothing; ParseRule makes rules.
type Rule struct {
	kind    kind
	host    string   // canonical; empty for anyHost
	ports   []uint16 // ascending, no duplicates; nil with anyHost means every port
	private bool     // the name may lead to an address that is not public; for a literal always true
}

// defaultPorts stand for a rule without ports.
var defaultPorts = [...]uint16{80, 443}

// ParseRule reads a rule as a person writes it:
//
//	example.com             this name, at ports 80 and 443
//	*.example.com           every name below it, at least one label deeper; not example.com itself
//	example.com:8443,9443   at these ports only
//	192.0.2.7:8080          this very address; the only rule that matches an address, private or not
//	[2001:db8::7]:8080      the same in IPv6
//	mirror.corp+private     this name also when it leads to a private address
//	*                       every name and every public address, at every port; *:443 at one port
//	*+private               everything
//
// The error is a fault.Error that says what to write instead. A word that begins with @ is reserved for presets, which
// are resolved before rules are parsed.
func ParseRule(text string) (Rule, error) {
	s := strings.TrimSpace(text)
	if why, hint := mistake(s); why != "" {
		return Rule{}, fault.New(fault.InvalidArgument, "%q is not a host rule: %s", shorten(text), why).WithHint("%s", hint)
	}
	s, private := strings.CutSuffix(s, "+private")
	host, ports, err := cutPorts(s)
	if err != nil {
		return Rule{}, err
	}
	r := Rule{kind: exact, host: host, ports: ports, private: private}
	switch {
	case host == "*":
		r.kind, r.host = anyHost, ""
		return r, nil
	case strings.HasPrefix(host, "*."):
		r.kind, r.host = suffix, host[2:]
	}
	if len(r.ports) == 0 {
		r.ports = defaultPorts[:]
	}
	var addr netip.Addr
	if r.host, addr, err = norm(r.host); err != nil {
		return Rule{}, err
	}
	switch {
	case addr.IsValid() && r.kind == suffix:
		return Rule{}, fault.New(fault.InvalidArgument, "%q is not a host rule: nothing lies below an address", text)
	case addr.IsValid():
		r.kind, r.private = literal, true
	case r.kind == suffix && private:
		return Rule{}, fault.New(fault.InvalidArgument, "%q is not a host rule: private addresses are allowed for one name at a time", text).
			WithHint("Write the full name, as in mirror.example.com+private.")
	}
	return r, nil
}

// mistake recognises what people write by habit and says what to write instead.
func mistake(s string) (why, hint string) {
	stars := strings.Count(s, "*")
	switch {
	case s == "":
		return "it is empty", "Write a host such as example.com."
	case len(s) > 4*maxName:
		return "it is too long", "Write one host per rule."
	case strings.HasPrefix(s, "@"):
		return "names with @ are lists of hosts and netgroups", "Here a rule is a host such as example.com."
	case strings.Contains(s, "://"):
		return "it is a URL", "Write the host alone, without https:// and without a path."
	case strings.ContainsAny(s, `^$\()|?{}`):
		return "regular expressions are not used", "Write a host, or *.example.com for every name below it."
	case strings.ContainsAny(s, "/#"):
		return "it has a path or a network mask", "Write the host alone; write each address as a rule of its own."
	case strings.Contains(s, "@"):
		return "it has a user name", "Write the host alone."
	case strings.ContainsAny(s, " \t\r\n;"):
		return "it has a space or a separator in it", "Write one host per rule."
	case strings.HasPrefix(s, "."):
		return "it begins with a dot", "Write *" + s + " for every name below it."
	case stars > 1 || stars == 1 && s[0] != '*',
		stars == 1 && len(s) > 1 && s[1] != '.' && s[1] != ':' && s[1] != '+':
		return "a star stands for whole labels at the front", "Write *.example.com."
	}
	return "", ""
}

// cutPorts splits "host:80,443". Ports are nil when there are none.
func cutPorts(s string) (host string, ports []uint16, err error) {
	host = s
	var list string
	var has bool
	if strings.HasPrefix(s, "[") {
		if end := strings.IndexByte(s, ']'); end >= 0 && end+1 < len(s) && s[end+1] == ':' {
			host, list, has = s[:end+1], s[end+2:], true
		}
	} else if strings.Count(s, ":") == 1 {
		host, list, has = strings.Cut(s, ":")
	}
	if !has {
		return host, nil, nil
	}
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseUint(word, 10, 16)
		if err != nil || n == 0 || strconv.FormatUint(n, 10) != word {
			return "", nil, fault.New(fault.InvalidArgument, "%q is not a host rule: %q is not a port", shorten(s), shorten(word)).
				WithHint("Write ports from 1 to 65535 with commas between them, as in example.com:443,8443.")
		}
		ports = append(ports, uint16(n))
		if len(ports) > MaxPorts {
			return "", nil, fault.New(fault.InvalidArgument, "A host rule takes at most %d ports", MaxPorts)
		}
	}
	slices.Sort(ports)
	return host, slices.Compact(ports), nil
}

// String returns the text that ParseRule reads back into an equal rule; it is empty for the zero value.
func (r Rule) String() string {
	if r.isZero() {
		return ""
	}
	var b strings.Builder
	switch {
	case r.kind == anyHost:
		b.WriteByte('*')
	case r.kind == suffix:
		b.WriteString("*." + r.host)
	case r.kind == literal && strings.Contains(r.host, ":"):
		b.WriteString("[" + r.host + "]")
	default:
		b.WriteString(r.host)
	}
	if r.ports != nil && (r.kind == anyHost || !slices.Equal(r.ports, defaultPorts[:])) {
		for i, p := range r.ports {
			b.WriteByte(":,"[min(i, 1)])
			b.WriteString(strconv.Itoa(int(p)))
		}
	}
	if r.private && r.kind != literal {
		b.WriteString("+private")
	}
	return b.String()
}

// Private tells whether what the rule allows may be an address that is not public. It is true for an address that is
// named as such, since whoever named it knew.
func (r Rule) Private() bool { return r.private }

// Unbounded tells whether the rule names no host at all.
func (r Rule) Unbounded() bool { return r.kind == anyHost }

// Address returns the address of a rule that names one; otherwise it is not valid.
func (r Rule) Address() netip.Addr {
	if r.kind != literal {
		return netip.Addr{}
	}
	return netip.MustParseAddr(r.host)
}

// allows tells whether the rule matches a canonical host at a port.
func (r Rule) allows(host string, addr netip.Addr, port uint16) bool {
	if port == 0 || !r.hasPort(port) {
		return false
	}
	switch r.kind {
	case anyHost:
		return r.private || !addr.IsValid() || Public(addr)
	case suffix:
		return !addr.IsValid() && below(host, r.host)
	case literal:
		return addr.IsValid() && host == r.host
	}
	return !addr.IsValid() && host == r.host
}

func (r Rule) hasPort(p uint16) bool {
	if r.ports == nil {
		return r.kind == anyHost
	}
	_, found := slices.BinarySearch(r.ports, p)
	return found
}

// covers tells whether every host of q is one of r's, with at least q's freedom; ports are not looked at.
func (r Rule) covers(q Rule) bool {
	if q.private && !r.private && !(q.kind == literal && Public(q.Address())) {
		return false
	}
	switch r.kind {
	case anyHost:
		return true
	case suffix:
		return q.kind == exact && below(q.host, r.host) || q.kind == suffix && (q.host == r.host || below(q.host, r.host))
	}
	return q.kind == r.kind && q.host == r.host
}

func (r Rule) isZero() bool { return r.kind != anyHost && r.host == "" }

func compareRules(a, b Rule) int {
	return cmp.Or(strings.Compare(a.host, b.host), cmp.Compare(a.kind, b.kind), compareBool(a.private, b.private))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// below tells whether name has at least one label more than parent and ends with it.
func below(name, parent string) bool {
	return len(name) > len(parent)+1 && strings.HasSuffix(name, parent) && name[len(name)-len(parent)-1] == '.'
}

func shorten(s string) string {
	if len(s) <= 80 {
		return s
	}
	return s[:80] + "..."
}
