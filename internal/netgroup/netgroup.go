// Package netgroup reads sets of addresses that people name: networks, with some taken out of them again.
//
// It promises one meaning for a list in whatever order its members stand: what is named, without what is named with "!".
// Sets are compared exactly, by the addresses in them. It looks nothing up and knows no names of hosts.
package netgroup

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"go4.org/netipx"

	"termic/internal/fault"
)

// Limits keep a look at all sets cheap; no real list of networks comes near.
const (
	MaxMembers = 256 // of one set
	MaxName    = 64  // characters of a name
)

// Set is a set of addresses. It is immutable; the zero value has none.
type Set struct {
	in      *netipx.IPSet  // nil: none
	members []netip.Prefix // as they were named, without those that are taken out; for Bits
}

// Parse reads members: an address, a network such as 192.0.2.0/24, or either with "!" in front, which takes it out of the
// others. The error is a fault.Error that names the member and says what to write instead.
func Parse(members []string) (Set, error) {
	if len(members) > MaxMembers {
		return Set{}, fault.New(fault.InvalidArgument, "A netgroup takes at most %d members, and these are %d", MaxMembers, len(members))
	}
	var in, out netipx.IPSetBuilder
	var s Set
	for _, text := range members {
		rest, not := strings.CutPrefix(strings.TrimSpace(text), "!")
		p, err := prefix(rest)
		if err != nil {
			return Set{}, fault.New(fault.InvalidArgument, "%q is no member of a netgroup: %v", shorten(text), err).
				WithHint("Write an address or a network, such as 192.0.2.0/24, with ! in front to take it out.")
		}
		if not {
			out.AddPrefix(p)
			continue
		}
		in.AddPrefix(p)
		s.members = append(s.members, p)
	}
	if len(s.members) == 0 {
		return Set{}, fault.New(fault.InvalidArgument, "A netgroup needs at least one address or network that is in it").
			WithHint("Members with ! only take out of the others.")
	}
	without, err := out.IPSet()
	if err != nil {
		return Set{}, fmt.Errorf("read what is taken out: %w", err)
	}
	in.RemoveSet(without)
	if s.in, err = in.IPSet(); err != nil {
		return Set{}, fmt.Errorf("read a set of addresses: %w", err)
	}
	if s.Empty() {
		return Set{}, fault.New(fault.InvalidArgument, "Nothing is left of the netgroup when what stands with ! is taken out").
			WithHint("Take a member with ! away, or name a wider network.")
	}
	return s, nil
}

// prefix reads an address or a network. IPv4 written as IPv6 is IPv4, as everywhere where addresses are judged.
func prefix(text string) (netip.Prefix, error) {
	addr, bits, is := strings.Cut(text, "/")
	a, err := netip.ParseAddr(addr)
	switch {
	case err != nil:
		return netip.Prefix{}, fmt.Errorf("%q is no address", shorten(addr))
	case a.Zone() != "":
		return netip.Prefix{}, fmt.Errorf("an address with a zone means another host on each machine")
	case a.Is4In6():
		return netip.Prefix{}, fmt.Errorf("write the IPv4 address itself, %s", a.Unmap())
	case !is:
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("/%s is no length of a network of %s", shorten(bits), addr)
	}
	if p != p.Masked() {
		return netip.Prefix{}, fmt.Errorf("it has bits behind its length; the network is %s", p.Masked())
	}
	return p, nil
}

// CheckName refuses a name that could be read as something else in a list of hosts.
func CheckName(name string) error {
	bad := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}
	if name == "" || len(name) > MaxName || strings.ContainsFunc(name, bad) {
		return fault.New(fault.InvalidArgument, "%q is no name for a netgroup", shorten(name)).
			WithHint("Use up to %d letters, digits, - and _.", MaxName)
	}
	return nil
}

// Empty reports whether no address is in the set.
func (s Set) Empty() bool { return s.in == nil || len(s.in.Ranges()) == 0 }

// Contains reports whether an address is in the set.
func (s Set) Contains(a netip.Addr) bool { return s.in != nil && s.in.Contains(a.WithZone("").Unmap()) }

// Bits is the length of the narrowest member that an address of the set is in; -1 where it is not in the set.
func (s Set) Bits(a netip.Addr) int {
	bits := -1
	if a = a.WithZone("").Unmap(); !s.Contains(a) {
		return bits
	}
	for _, p := range s.members {
		if p.Contains(a) {
			bits = max(bits, p.Bits())
		}
	}
	return bits
}

// Within reports whether every address of s is in o.
func (s Set) Within(o Set) bool { return s.Without(o).Empty() }

// Without is s without what is in o.
func (s Set) Without(o Set) Set {
	if s.Empty() || o.in == nil {
		return s
	}
	var b netipx.IPSetBuilder
	b.AddSet(s.in)
	b.RemoveSet(o.in)
	return built(b)
}

// Intersect is what is in both.
func (s Set) Intersect(o Set) Set { return s.Without(s.Without(o)) }

// IsZero reports whether no address is in the set, for JSON.
func (s Set) IsZero() bool { return s.Empty() }

// Union is what is in either.
func (s Set) Union(o Set) Set {
	var b netipx.IPSetBuilder
	for _, in := range []*netipx.IPSet{s.in, o.in} {
		if in != nil {
			b.AddSet(in)
		}
	}
	return built(b)
}

func built(b netipx.IPSetBuilder) Set {
	in, err := b.IPSet()
	if err != nil { // only of what a caller gave as text, and none did
		return Set{}
	}
	return Set{in: in, members: in.Prefixes()}
}

// Strings are the networks of the set, in the one form that sets with the same addresses share; Parse reads them back.
func (s Set) Strings() []string {
	if s.in == nil {
		return []string{}
	}
	out := make([]string, 0, len(s.members))
	for _, p := range s.in.Prefixes() {
		out = append(out, p.String())
	}
	return out
}

// Equal reports whether both have the same addresses.
func (s Set) Equal(o Set) bool { return slices.Equal(s.Strings(), o.Strings()) }

// MarshalJSON writes the networks of the set.
func (s Set) MarshalJSON() ([]byte, error) { return json.Marshal(s.Strings()) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Set) UnmarshalJSON(b []byte) error {
	var list []netip.Prefix
	if err := json.Unmarshal(b, &list); err != nil {
		return fmt.Errorf("read a set of addresses: %w", err)
	}
	var all netipx.IPSetBuilder
	for _, p := range list {
		if !p.IsValid() || p != p.Masked() {
			return fmt.Errorf("read a set of addresses: %q is no network", p)
		}
		all.AddPrefix(p)
	}
	*s = built(all)
	return nil
}

func shorten(s string) string {
	if len(s) <= 80 {
		return s
	}
	return s[:80] + "..."
}
