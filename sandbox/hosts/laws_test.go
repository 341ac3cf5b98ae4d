package hosts

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The generators draw from few names, ports and addresses, so that rules often meet.

func drawHost(t *rapid.T) string {
	if rapid.IntRange(0, 3).Draw(t, "address") == 0 {
		return rapid.SampledFrom([]string{"10.0.0.1", "127.0.0.2", "8.8.8.8", "::1", "2003::1", "::ffff:10.0.0.1"}).Draw(t, "literal")
	}
	labels := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "corp", "xn--bcher-kva"}), 1, 4).Draw(t, "labels")
	return strings.Join(labels, ".")
}

func drawPort(t *rapid.T) uint16 {
	return rapid.SampledFrom([]uint16{80, 443, 22, 8443, 65535}).Draw(t, "port")
}

func drawRule(t *rapid.T) Rule {
	var text string
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		text = "*"
	case 1, 2, 3:
		text = "*." + rapid.SampledFrom([]string{"a", "b", "a.b", "b.a", "a.a", "corp"}).Draw(t, "suffix")
	default:
		if text = drawHost(t); strings.Contains(text, ":") {
			text = "[" + text + "]"
		}
	}
	ports := rapid.SliceOfN(rapid.Custom(drawPort), 0, 3).Draw(t, "ports")
	for i, p := range ports {
		text += string(":,"[min(i, 1)]) + map[uint16]string{80: "80", 443: "443", 22: "22", 8443: "8443", 65535: "65535"}[p]
	}
	if !strings.HasPrefix(text, "*.") && rapid.IntRange(0, 3).Draw(t, "private") == 0 {
		text += "+private"
	}
	r, err := ParseRule(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return r
}

func drawSet(t *rapid.T) Set {
	return Of(rapid.SliceOfN(rapid.Custom(drawRule), 0, 8).Draw(t, "rules")...)
}

// freedom is what a set gives at one host and port: 0 nothing, 1 the name as long as it is public, 2 wherever it leads.
func freedom(s Set, host string, port uint16) int {
	r, ok := s.Allows(host, port)
	if !ok {
		return 0
	}
	if a, err := netip.ParseAddr(host); err == nil && Public(a) {
		return 2 // a public address leads nowhere else
	}
	if r.Private() {
		return 2
	}
	return 1
}

func TestLawsOfWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawSet(t), drawSet(t), drawSet(t)
		if !a.Within(a) {
			t.Fatalf("{%s} is not within itself", a)
		}
		if a.Within(b) && b.Within(c) && !a.Within(c) {
			t.Fatalf("{%s} within {%s} within {%s}, but not the first within the last", a, b, c)
		}
		if a.Within(b) && b.Within(a) != a.Equal(b) {
			t.Fatalf("{%s} and {%s}: within each other %v, equal %v", a, b, b.Within(a), a.Equal(b))
		}
		if u := a.Union(b); !a.Within(u) || !b.Within(u) || !u.Equal(b.Union(a)) || !a.Union(a).Equal(a) || !a.Union(Set{}).Equal(a) {
			t.Fatalf("{%s} with {%s} = {%s}", a, b, u)
		}
		if a.Within(c) && b.Within(c) && !a.Union(b).Within(c) {
			t.Fatalf("{%s} and {%s} are each within {%s}, but not together", a, b, c)
		}
		if !a.Within(All()) || All().Within(a) != a.Equal(All()) {
			t.Fatalf("{%s} beside everything", a)
		}
		if rest, _ := a.Beyond(b); !rest.Within(a) || !a.Within(b.Union(rest)) {
			t.Fatalf("{%s} beyond {%s} is {%s}", a, b, rest)
		}
	})
}

func TestWithinIsSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawSet(t), drawSet(t)
		if rapid.Bool().Draw(t, "grow") {
			b = b.Union(a)
		}
		host, port := drawHost(t), drawPort(t)
		if a.Within(b) && freedom(a, host, port) > freedom(b, host, port) {
			t.Fatalf("{%s} is within {%s}, but reaches %s:%d more freely", a, b, host, port)
		}
	})
}

// TestWithinIsExact holds Within against every host that the generators know: what is not within differs somewhere.
func TestWithinIsExact(t *testing.T) {
	// A rule with a star reaches names that no list holds, so each suffix gets a name of its own.
	var names []string
	for _, l1 := range []string{"a", "b", "corp", "zz"} {
		names = append(names, l1)
		for _, l2 := range []string{"a", "b", "corp", "zz"} {
			names = append(names, l2+"."+l1)
			for _, l3 := range []string{"a", "b", "corp", "zz"} {
				names = append(names, l3+"."+l2+"."+l1)
			}
		}
	}
	names = append(names, "xn--bcher-kva", "10.0.0.1", "127.0.0.2", "8.8.8.8", "::1", "2003::1", "9.9.9.9", "10.9.9.9")
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawSet(t), drawSet(t)
		names := names
		for _, r := range a.rules {
			if r.kind == exact {
				names = append(slices.Clip(names), r.host)
			}
		}
		more := false
		for _, n := range names {
			for _, p := range []uint16{80, 443, 22, 8443, 65535, 7} {
				more = more || freedom(a, n, p) > freedom(b, n, p)
			}
		}
		if a.Within(b) == more {
			t.Fatalf("{%s} within {%s} = %v, but some host tells %v", a, b, !more, more)
		}
	})
}

// TestTheFormChangesNothing: the canonical form allows exactly what the rules allow one by one.
func TestTheFormChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := rapid.SliceOfN(rapid.Custom(drawRule), 0, 8).Draw(t, "rules")
		host, port := drawHost(t), drawPort(t)
		most := 0
		for _, r := range rules {
			most = max(most, freedom(Set{rules: []Rule{r}}, host, port))
		}
		set := Of(rules...)
		if got := freedom(set, host, port); got != most {
			t.Fatalf("{%s} of %v gives %s:%d the freedom %d, its rules %d", set, rules, host, port, got, most)
		}
		order := slices.Clone(rules)
		slices.Reverse(order)
		if !Of(order...).Equal(set) {
			t.Fatalf("the order of %v matters", rules)
		}
		back, err := Parse(set.Strings())
		if err != nil || !back.Equal(set) {
			t.Fatalf("{%s} read back is {%s}, %v", set, back, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"example.com", "*.example.com:80,8443", "[::1]:9", "*+private", "m.corp:1+private", "::ffff:1.2.3.4", "*.Bücher.example", "@x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRule(text)
		if err != nil {
			if r.String() != "" {
				t.Fatalf("a refusal of %q came with %q", text, r)
			}
			return
		}
		back, err := ParseRule(r.String())
		if err != nil || compareRules(r, back) != 0 || !slices.Equal(r.ports, back.ports) {
			t.Fatalf("%q = %q, read back as %q, %v", text, r, back, err)
		}
		one := Of(r)
		if len(one.rules) != 1 || !one.Within(one) || !one.Within(All()) || one.Empty() {
			t.Fatalf("%q does not make a set", text)
		}
	})
}
