package netgroup

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"termic/internal/fault"
)

func parse(t interface{ Fatalf(string, ...any) }, members ...string) Set {
	s, err := Parse(members)
	if err != nil {
		t.Fatalf("%v: %v", members, err)
	}
	return s
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		members []string
		want    string // networks, or empty for a refusal
	}{
		{[]string{"192.0.2.0/24"}, "192.0.2.0/24"},
		{[]string{"192.0.2.0/25", "192.0.2.128/25"}, "192.0.2.0/24"},
		{[]string{"!192.0.2.128/25", "192.0.2.0/24"}, "192.0.2.0/25"},
		{[]string{"192.0.2.7", "2001:db8::/32", "!2001:db8:8000::/33"}, "192.0.2.7/32 2001:db8::/33"},
		{[]string{" ! 192.0.2.0/24"}, ""},
		{[]string{"192.0.2.0/24", "!192.0.2.0/23"}, ""},
		{[]string{}, ""},
		{[]string{"!192.0.2.0/24"}, ""},
		{[]string{"192.0.2.1/24"}, ""},
		{[]string{"192.0.2.0/33"}, ""},
		{[]string{"example.com"}, ""},
		{[]string{"fe80::1%eth0"}, ""},
		{[]string{"::ffff:192.0.2.1"}, ""},
		{[]string{"010.0.0.1"}, ""},
		{slices.Repeat([]string{"192.0.2.1"}, MaxMembers+1), ""},
	} {
		s, err := Parse(tt.members)
		if got := strings.Join(s.Strings(), " "); got != tt.want || tt.want == "" && fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%.60q: %q, %v; want %q", tt.members, got, err, tt.want)
		}
	}
}

func TestBitsAreOfTheNarrowestMember(t *testing.T) {
	s := parse(t, "10.0.0.0/8", "10.1.0.0/16", "!10.1.2.0/24")
	for text, want := range map[string]int{"10.2.0.1": 8, "10.1.0.1": 16, "10.1.2.3": -1, "11.0.0.1": -1, "::ffff:10.1.0.1": 16} {
		if got := s.Bits(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{"office": true, "A_b-9": true, strings.Repeat("a", 64): true, "": false, "a b": false, "a/b": false,
		"@a": false, "a:1": false, "ü": false, strings.Repeat("a", 65): false} {
		if err := CheckName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// drawMembers draws from few networks, so that they often meet.
func drawMembers(t *rapid.T, label string) []string {
	in := rapid.SampledFrom([]string{"10.0.0.0/30", "10.0.0.0/31", "10.0.0.2/31", "10.0.0.1", "10.0.0.4/30", "0.0.0.0/0", "2001:db8::/127", "2001:db8::1", "::/0"})
	list := rapid.SliceOfN(in, 1, 4).Draw(t, label)
	for _, out := range rapid.SliceOfN(in, 0, 3).Draw(t, label+" without") {
		list = append(list, "!"+out)
	}
	return rapid.Permutation(list).Draw(t, label+" order")
}

// within is the reference: an address is in a set when a member holds it, and none with "!" does.
func within(members []string, a netip.Addr) bool {
	in := false
	for _, m := range members {
		text, not := strings.CutPrefix(m, "!")
		p, err := netip.ParsePrefix(text)
		if err != nil {
			one := netip.MustParseAddr(text)
			p = netip.PrefixFrom(one, one.BitLen())
		}
		if p.Contains(a) && not {
			return false
		}
		in = in || p.Contains(a)
	}
	return in
}

// samples have one address on either side of every edge that the generator can make.
var samples = []string{"0.0.0.0", "9.255.255.255", "10.0.0.0", "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.7", "10.0.0.8", "255.255.255.255",
	"::", "2001:db7:ffff::", "2001:db8::", "2001:db8::1", "2001:db8::2", "ffff::"}

func TestSetsAgreeWithTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		am, bm := drawMembers(t, "a"), drawMembers(t, "b")
		a, aerr := Parse(am)
		b, berr := Parse(bm)
		inside, equal, some := true, true, map[bool]bool{}
		for _, text := range samples {
			at := netip.MustParseAddr(text)
			ina, inb := within(am, at), within(bm, at)
			some[false], some[true] = some[false] || ina, some[true] || inb
			if aerr == nil && a.Contains(at) != ina || (a.Bits(at) >= 0) != a.Contains(at) {
				t.Fatalf("%v and %s: %v", am, text, a.Contains(at))
			}
			if aerr == nil && berr == nil && (a.Union(b).Contains(at) != (ina || inb) || a.Without(b).Contains(at) != (ina && !inb)) {
				t.Fatalf("%v with and without %v at %s", am, bm, text)
			}
			inside, equal = inside && (!ina || inb), equal && ina == inb
		}
		if (aerr == nil) != some[false] || (berr == nil) != some[true] {
			t.Fatalf("%v, %v: %v, %v", am, bm, aerr, berr)
		}
		if aerr != nil || berr != nil {
			return
		}
		if a.Within(b) != inside || a.Equal(b) != equal {
			t.Fatalf("%v within %v: %v, want %v; equal %v, want %v", am, bm, a.Within(b), inside, a.Equal(b), equal)
		}
		text, err := json.Marshal(a)
		var back Set
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if again := parse(t, a.Strings()...); err != nil || !back.Equal(a) || !again.Equal(a) {
			t.Fatalf("%s read back is %v, %v", text, back.Strings(), err)
		}
	})
}
