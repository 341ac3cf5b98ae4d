package hosts

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"termic/internal/fault"
	"termic/internal/netgroup"
)

// Nets are addresses that may be reached whatever their name is, by port: what the netgroups in a list of hosts allow. Only public
// addresses are in them, since whoever may change a netgroup is not always who may open a private network to a cage. It is
// immutable; the zero value has none.
type Nets struct {
	ports map[uint16]netgroup.Set
	names map[uint16][]string // for people: no part of what is compared
}

// ParseNet reads "@office" and "@office:5432,8443"; without ports they are 80 and 443, as in every rule.
func ParseNet(text string) (name string, ports []uint16, err error) {
	rest, is := strings.CutPrefix(strings.TrimSpace(text), "@")
	if !is {
		return "", nil, fault.New(fault.InvalidArgument, "%q does not name a netgroup", shorten(text)).WithHint("Write it as @name.")
	}
	if strings.HasSuffix(rest, "+private") {
		return "", nil, fault.New(fault.InvalidArgument, "%q cannot lift the ban on private addresses", shorten(text)).
			WithHint("Name the address itself, or one host with +private.")
	}
	if name, ports, err = cutPorts(rest); err != nil {
		return "", nil, err
	}
	if len(ports) == 0 {
		ports = defaultPorts[:]
	}
	return name, ports, netgroup.CheckName(name)
}

// public is every address that a name may lead to without a rule that lifts the ban.
var public = func() netgroup.Set {
	members := []string{"0.0.0.0/0", "::/0"}
	for _, r := range notPublic {
		members = append(members, "!"+r.prefix.String())
	}
	s, err := netgroup.Parse(members)
	if err != nil {
		panic(err) // the ranges are literals, and every test starts here
	}
	return s
}()

// With adds the public addresses of a netgroup at some ports.
func (n Nets) With(name string, ports []uint16, set netgroup.Set) Nets {
	out := Nets{maps.Clone(n.ports), maps.Clone(n.names)}
	set = set.Intersect(public)
	if set.Empty() {
		return out
	}
	if out.ports == nil {
		out.ports, out.names = map[uint16]netgroup.Set{}, map[uint16][]string{}
	}
	for _, p := range ports {
		out.ports[p] = out.ports[p].Union(set)
		if name != "" && !slices.Contains(out.names[p], name) {
			out.names[p] = append(slices.Clone(out.names[p]), name)
		}
	}
	return out
}

// Union is what either allows.
func (n Nets) Union(o Nets) Nets {
	out := n
	for p, set := range o.ports {
		out = out.With("", []uint16{p}, set)
		for _, name := range o.names[p] {
			out = out.With(name, []uint16{p}, set)
		}
	}
	return out
}

// At are the addresses that are allowed at a port.
func (n Nets) At(port uint16) netgroup.Set { return n.ports[port] }

// Names are the netgroups that allow something at a port, as a list of hosts names them.
func (n Nets) Names(port uint16) string {
	var out []string
	for _, name := range n.names[port] {
		out = append(out, "@"+name)
	}
	return strings.Join(out, " ")
}

// Empty reports whether nothing is allowed.
func (n Nets) Empty() bool { return len(n.ports) == 0 }

// Beyond is the part of n that neither o nor the rules of a set allow, in words, and whether there is any.
func (n Nets) Beyond(o Nets, rules Set) (string, bool) {
	var out []string
	for _, p := range slices.Sorted(maps.Keys(n.ports)) {
		if rest := n.ports[p].Without(o.ports[p]); !rest.Empty() && !rules.AnyAt(p) {
			out = append(out, strings.Join(rest.Strings(), ", ")+" at port "+strconv.Itoa(int(p)))
		}
	}
	return strings.Join(out, "; "), len(out) > 0
}

// Less is n without what the rules of a set allow anyway.
func (n Nets) Less(rules Set) Nets {
	out := Nets{maps.Clone(n.ports), n.names}
	maps.DeleteFunc(out.ports, func(p uint16, _ netgroup.Set) bool { return rules.AnyAt(p) })
	return out
}

// Equal reports whether both allow the same.
func (n Nets) Equal(o Nets) bool { return maps.EqualFunc(n.ports, o.ports, netgroup.Set.Equal) }

// AnyAt reports whether a rule allows every name and every public address at a port.
func (s Set) AnyAt(port uint16) bool {
	return slices.ContainsFunc(s.rules, func(r Rule) bool { return r.kind == anyHost && r.hasPort(port) })
}

// Allowed reports whether addresses may be reached at a port: every one of them must be in a netgroup.
func (n Nets) Allowed(port uint16, addrs []netip.AddrPort) bool {
	set := n.ports[port]
	return len(addrs) > 0 && !slices.ContainsFunc(addrs, func(a netip.AddrPort) bool { return !set.Contains(a.Addr()) })
}

// MarshalJSON writes the networks by port. Names of netgroups are left out: what was provisioned are addresses.
func (n Nets) MarshalJSON() ([]byte, error) { return json.Marshal(n.ports) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (n *Nets) UnmarshalJSON(b []byte) error {
	var ports map[uint16]netgroup.Set
	if err := json.Unmarshal(b, &ports); err != nil {
		return fmt.Errorf("read addresses by port: %w", err)
	}
	*n = Nets{}
	for p, set := range ports {
		if p == 0 || set.Empty() || !set.Within(public) {
			return fmt.Errorf("read addresses by port: port %d has what cannot be allowed", p)
		}
		*n = n.With("", []uint16{p}, set)
	}
	return nil
}

// IsZero reports whether nothing is allowed, for JSON.
func (n Nets) IsZero() bool { return n.Empty() }
