package sandbox

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"termic/internal/fault"
	"termic/internal/netgroup"
	"termic/sandbox/hosts"
)

// A netDraw is what lists of hosts say of netgroups, as text. The reference below reads it, and no code of the comparison.
type netDraw struct {
	groups  map[string][]string // by name
	allow   []string            // "@a", "@a:8443"
	refuse  []string            // "!@a"
	rules   []string
	control Capability // what was made of it
}

func drawNets(t *rapid.T, label string) netDraw {
	members := rapid.SampledFrom([]string{"203.0.113.0/24", "203.0.113.0/25", "203.0.113.128/25", "203.0.113.7", "198.51.100.0/24", "10.0.0.0/8", "0.0.0.0/0", "2001:db8::/32", "::/0"})
	d := netDraw{groups: map[string][]string{}}
	for _, name := range []string{"a", "b"} {
		list := rapid.SliceOfN(members, 1, 3).Draw(t, label+" "+name)
		for _, out := range rapid.SliceOfN(members, 0, 2).Draw(t, label+" "+name+" without") {
			list = append(list, "!"+out)
		}
		if _, err := netgroup.Parse(list); err == nil { // one that has nothing cannot be stored
			d.groups[name] = list
		}
	}
	known := func(entry string) bool { n, _ := NetgroupIn(entry); return d.groups[n] != nil }
	d.allow = slices.DeleteFunc(rapid.SliceOfN(rapid.SampledFrom([]string{"@a", "@b", "@a:8443", "@b:443"}), 0, 3).Draw(t, label+" allows"), func(e string) bool { return !known(e) })
	d.refuse = slices.DeleteFunc(rapid.SliceOfN(rapid.SampledFrom([]string{"!@a", "!@b"}), 0, 1).Draw(t, label+" refuses"), func(e string) bool { return !known(e) })
	d.rules = rapid.SliceOfN(rapid.SampledFrom([]string{"x.test", "*.x.test", "*:443", "*", "203.0.113.7:443"}), 0, 2).Draw(t, label+" rules")
	c := &composer{w: Wish{Mode: Enforce, Netgroups: d.groups}}
	layer := Layer{Name: "the list", Hosts: slices.Concat(d.allow, d.refuse, d.rules)}
	rules, err := c.resolveNames(layer)
	if err != nil {
		t.Fatalf("%+v: %v", layer, err)
	}
	set, err := hosts.Parse(rules)
	if err != nil {
		t.Fatal(err)
	}
	d.control = Capability{known: true, mode: Enforce, hosts: set, nets: c.nets, refused: c.refused}.canonical()
	return d
}

// groupHas reads the members of a netgroup one by one.
func groupHas(members []string, a netip.Addr) bool {
	in := false
	for _, m := range members {
		text, not := strings.CutPrefix(m, "!")
		if !strings.Contains(text, "/") {
			text += "/" + strconv.Itoa(netip.MustParseAddr(text).BitLen())
		}
		if netip.MustParsePrefix(text).Contains(a) {
			if not {
				return false
			}
			in = true
		}
	}
	return in
}

// reaches is what a proxy with these lists would do for a name (empty: an address itself) that leads to some addresses.
func (d netDraw) reaches(name string, addrs []netip.Addr, port int) bool {
	group := func(entry string) (members []string, ports string) {
		text := strings.TrimLeft(entry, "!@")
		n, ports, _ := strings.Cut(text, ":")
		return d.groups[n], ports
	}
	byNet := true
	for _, a := range addrs {
		for _, e := range d.refuse {
			if m, _ := group(e); groupHas(m, a) {
				return false
			}
		}
		byNet = byNet && hosts.Public(a) && slices.ContainsFunc(d.allow, func(e string) bool {
			m, ports := group(e)
			fits := ports == strconv.Itoa(port) || ports == "" && (port == 80 || port == 443)
			return fits && groupHas(m, a)
		})
	}
	host := name
	if host == "" {
		host = addrs[0].String()
	}
	public := !slices.ContainsFunc(addrs, func(a netip.Addr) bool { return !hosts.Public(a) })
	byRule := slices.ContainsFunc(d.rules, func(r string) bool { return ruleMatches(r, host, port) }) && (public || name == "")
	return byNet || byRule
}

var (
	netNames = []string{"", "x.test", "y.x.test", "other.test"}
	netAddrs = []string{"203.0.113.0", "203.0.113.7", "203.0.113.127", "203.0.113.128", "198.51.100.9", "10.1.2.3", "9.9.9.9", "2001:db8::1", "2003::1", "fd00::1"}
	netPorts = []int{80, 443, 8443, 22}
)

// subset looks at every name, port and pair of addresses.
func (d netDraw) subset(o netDraw) bool {
	for _, name := range netNames {
		for _, port := range netPorts {
			for i, a := range netAddrs {
				for _, b := range netAddrs[i:] {
					addrs := []netip.Addr{netip.MustParseAddr(a), netip.MustParseAddr(b)}
					if name == "" {
						addrs = addrs[:1]
					}
					if d.reaches(name, addrs, port) && !o.reaches(name, addrs, port) {
						return false
					}
				}
			}
		}
	}
	return true
}

// TestWithinOfNetgroupsAgreesWithTheReference: what is within reaches nothing more; and where nothing but what netgroups allow
// differs, what is not within reaches something more.
func TestWithinOfNetgroupsAgreesWithTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawNets(t, "a"), drawNets(t, "b")
		if rapid.Bool().Draw(t, "alike") {
			b.rules, b.refuse = nil, nil
			a.rules, a.refuse = nil, nil
			for _, d := range []*netDraw{&a, &b} {
				c := &composer{w: Wish{Mode: Enforce, Netgroups: d.groups}}
				if _, err := c.resolveNames(Layer{Hosts: d.allow}); err != nil {
					t.Fatal(err)
				}
				d.control = Capability{known: true, mode: Enforce, nets: c.nets}.canonical()
			}
			if within := Within(a.control, b.control) == nil; within != a.subset(b) {
				t.Fatalf("within %v, the reference says %v\na = %+v\nb = %+v", within, !within, a, b)
			}
		}
		if Within(a.control, b.control) == nil && !a.subset(b) {
			t.Fatalf("within, and reaches more\na = %+v\nb = %+v", a, b)
		}
	})
}

func TestLawsOfNetgroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawNets(t, "a").control, drawNets(t, "b").control, drawNets(t, "c").control
		if err := Within(a, a); err != nil {
			t.Fatalf("not reflexive: %v", err)
		}
		if Within(a, b) == nil && Within(b, c) == nil && Within(a, c) != nil {
			t.Fatalf("not transitive: %v", Within(a, c))
		}
		if Within(a, b) == nil && Within(b, a) == nil && !a.Equal(b) {
			t.Fatalf("within one another and not equal\na = %+v\nb = %+v", a, b)
		}
		u := Union(a, b)
		if Within(a, u) != nil || Within(b, u) != nil || !u.Equal(Union(b, a)) {
			t.Fatalf("%v, %v", Within(a, u), Within(b, u))
		}
		text, err := a.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := ParseCapability(text); err != nil || !back.Equal(a) {
			t.Fatalf("%s read back is %+v, %v", text, back, err)
		}
	})
}

// TestNetgroupsAreFrozen: what a cage was provisioned with are addresses, and stays when the netgroup is changed.
func TestNetgroupsAreFrozen(t *testing.T) {
	of := func(members ...string) Capability {
		c := &composer{w: Wish{Mode: Enforce, Netgroups: map[string][]string{"office": members}}}
		if _, err := c.resolveNames(Layer{Name: "x", Hosts: []string{"@Office"}}); err != nil {
			t.Fatal(err)
		}
		return Capability{known: true, mode: Enforce, nets: c.nets}.canonical()
	}
	before, after := of("203.0.113.0/25"), of("203.0.113.0/24")
	if Within(before, after) != nil {
		t.Errorf("%v", Within(before, after))
	}
	err := Within(after, before)
	if w, ok := err.(*Wider); !ok || w.Part != PartHosts || !strings.Contains(w.Text, "203.0.113.128/25 at port 80") {
		t.Errorf("%v", err)
	}
}

func TestEntriesOfNetgroups(t *testing.T) {
	groups := map[string][]string{"office": {"203.0.113.0/24"}, "lan": {"10.0.0.0/8"}, "broken": {"x"}}
	for entry, want := range map[string]string{"@office": "", "@OFFICE:5432": "", "!@office": "", "@forges": "", "@lan": "", "@none": "neither a list of hosts nor a netgroup",
		"!@office:443": "at every port", "@office+private": "ban on private", "@office:0": "not a port", "@broken": "cannot", "@": "", "!example.com": "not a host"} {
		c := &composer{w: Wish{Mode: Enforce, Netgroups: groups, Layers: []Layer{{Name: "the list", Hosts: []string{entry}}}}}
		err := c.network()
		switch {
		case entry == "@" || entry == "@broken":
			if fault.CodeOf(err) != fault.InvalidArgument {
				t.Errorf("%q: %v", entry, err)
			}
		case want == "" && err != nil, want != "" && (fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %q", entry, err, want)
		}
		if entry == "@lan" && (!c.nets.Empty() || len(c.warnings) != 1) {
			t.Errorf("a private netgroup allows %v, with %v", c.nets, c.warnings)
		}
	}
}
