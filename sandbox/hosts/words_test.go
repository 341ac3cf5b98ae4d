package hosts

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"termic/internal/fault"
	"termic/internal/netgroup"
)

// TestEachHabitHasItsSentence: what people write from other programs is refused with the words for that, and not with those for something
// else.
func TestEachHabitHasItsSentence(t *testing.T) {
	long := strings.Repeat("a", 4*maxName)
	for rule, says := range map[string]string{
		"":                                "not a host rule: it is empty",
		"  ":                              "not a host rule: it is empty",
		long + "a":                        "it is too long",
		long:                              "longer than a host name can be",
		"@office":                         "names with @ are lists",
		"https://example.com":             "it is a URL",
		"^example$":                       "regular expressions",
		"(a|b).example.com":               "regular expressions",
		"example.com/path":                "a path or a network mask",
		"192.0.2.0/24":                    "a path or a network mask",
		"me@example.com":                  "it has a user name",
		"a.example b.example":             "a space or a separator",
		"a.example;b.example":             "a space or a separator",
		".example.com":                    "it begins with a dot",
		"*.*.example.com":                 "a star stands for whole labels",
		"www.*.example.com":               "a star stands for whole labels",
		"*example.com":                    "a star stands for whole labels",
		"**":                              "a star stands for whole labels",
		"example.com:0":                   "is not a port",
		"example.com:65536":               "is not a port",
		"example.com:080":                 "is not a port",
		"example.com:https":               "is not a port",
		"example.com:":                    "is not a port",
		"example.com:1,":                  "is not a port",
		"*.192.0.2.1":                     "nothing lies below an address",
		"*.corp+private":                  "for one name at a time",
		"a..example.com":                  "an empty part between two dots",
		"-a.example.com":                  "begins or ends with a hyphen",
		"a-.example.com":                  "begins or ends with a hyphen",
		"a!b.example.com":                 "a character that no host name has",
		"example.9":                       "different addresses",
		"example.0xa":                     "different addresses",
		"example.0xf9":                    "different addresses",
		"xn--a.example.com":               "international letters",
		"[::1":                            "neither a name nor an address",
		"[192.0.2.1]":                     "neither a name nor an address",
		"[fe80::1%25eth0]":                "another host on each machine",
		strings.Repeat("a", 64) + ".test": "longer than 63",
	} {
		r, err := ParseRule(rule)
		if f := fault.From(err); err == nil || f.Code != fault.InvalidArgument || !strings.Contains(f.Message, says) || !r.isZero() {
			t.Errorf("%.40q: %v; want words with %q", rule, err, says)
		}
	}
	for _, rule := range []string{"host9.example.com", "a_b.example.com", "9.example.com", "z.example.az", "example.0xg", "example.x9", strings.Repeat("a", 63) + ".test"} {
		if r, err := ParseRule(rule); err != nil || r.String() != rule {
			t.Errorf("%q: %v, %v", rule, r, err)
		}
	}
}

// TestQuotationsAreShort: what was written stands in the sentence as far as a person needs it.
func TestQuotationsAreShort(t *testing.T) {
	for n, whole := range map[int]bool{80: true, 81: false} {
		text := strings.Repeat("a", n-1) + "/"
		_, err := ParseRule(text)
		if got := strings.Contains(fault.From(err).Message, text) && !strings.Contains(fault.From(err).Message, "..."); got != whole {
			t.Errorf("%d characters stand there whole: %v", n, got)
		}
	}
	for n, whole := range map[int]bool{4 * maxName: true, 4*maxName + 1: false} {
		_, err := Norm(strings.Repeat("a", n))
		if got := len(fault.From(err).Message) > n; got != whole {
			t.Errorf("%d characters of a host stand there whole: %v", n, got)
		}
	}
	if _, err := Norm(""); !strings.Contains(fault.From(err).Message, "it is empty") {
		t.Errorf("%v", err)
	}
}

// TestWhatLiesBelow: a name is not below itself, and what only ends like it is not below it either.
func TestWhatLiesBelow(t *testing.T) {
	for name, want := range map[string]bool{"a.example.com": true, "b.a.example.com": true, "example.com": false, ".example.com": false, "aexample.com": false,
		"xample.com": false, "": false} {
		if got := below(name, "example.com"); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

func TestAddressOfARule(t *testing.T) {
	for rule, want := range map[string]string{"192.0.2.7": "192.0.2.7", "[2001:db8::7]:80": "2001:db8::7", "example.com": "", "*.example.com": "", "*": ""} {
		r, err := ParseRule(rule)
		addr, _ := netip.ParseAddr(want)
		if err != nil || r.Address() != addr || r.Private() != (want != "") || r.Unbounded() != (rule == "*") {
			t.Errorf("%s: %v, %v", rule, r.Address(), err)
		}
	}
}

// TestAsLongAsMayBe: the largest list and the largest rule are taken, and one more is not. What a union has beyond them is told in several
// rules, which read back into the same.
func TestAsLongAsMayBe(t *testing.T) {
	list := make([]string, MaxRules)
	for i := range list {
		list[i] = fmt.Sprintf("h%d.example.com", i)
	}
	if s, err := Parse(list); err != nil || len(s.Rules()) != MaxRules {
		t.Errorf("%d rules, %v", len(s.Rules()), err)
	}
	if _, err := Parse(append(list, "more.example.com")); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("one more: %v", err)
	}
	ports := func(from, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, ",%d", from+i)
		}
		return "example.com:" + b.String()[1:]
	}
	full, err := Parse([]string{ports(1000, MaxPorts)})
	if err != nil || len(full.Strings()) != 1 {
		t.Fatalf("%q, %v", full.Strings(), err)
	}
	if _, err := Parse([]string{ports(1000, MaxPorts+1)}); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("one port more: %v", err)
	}
	more, err := Parse([]string{ports(2000, 1)})
	both := full.Union(more)
	back, err2 := Parse(both.Strings())
	if err != nil || err2 != nil || len(both.Strings()) != 2 || !back.Equal(both) {
		t.Errorf("%q, %v, %v", both.Strings(), err, err2)
	}
}

// TestASetThatIsReadBack: what is no list of rules changes nothing.
func TestASetThatIsReadBack(t *testing.T) {
	for _, text := range []string{`"example.com"`, `["https://example.com"]`, `[1]`, `{`, `["@office"]`} {
		s, err := Parse([]string{"example.com"})
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(text), &s); err == nil || s.String() != "example.com" {
			t.Errorf("%s was read as %s, %v", text, s, err)
		}
	}
}

func TestParseNet(t *testing.T) {
	for _, c := range []struct{ text, name, ports, says string }{
		{"@office", "office", "[80 443]", ""}, {" @office ", "office", "[80 443]", ""}, {"@office:5432,8443", "office", "[5432 8443]", ""},
		{"office", "", "[]", "does not name a netgroup"}, {"", "", "[]", "does not name a netgroup"}, {"@office+private", "", "[]", "cannot lift the ban"},
		{"@office:0", "", "[]", "is not a port"}, {"@off ice", "off ice", "[80 443]", "is no name"}, {"@", "", "[80 443]", "is no name"},
	} {
		name, ports, err := ParseNet(c.text)
		if name != c.name || fmt.Sprint(ports) != c.ports || (err == nil) != (c.says == "") || err != nil && !strings.Contains(fault.From(err).Message, c.says) {
			t.Errorf("%q: %q %v %v", c.text, name, ports, err)
		}
	}
}

// TestNetsByName: which netgroups allow something at a port is told once each, in their order, and only where a public address is left.
func TestNetsByName(t *testing.T) {
	set := func(members ...string) netgroup.Set {
		s, err := netgroup.Parse(members)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	office, lab, home := set("203.0.113.0/24"), set("198.51.100.0/24", "10.0.0.0/8"), set("192.168.0.0/16")
	var none Nets
	n := none.With("office", []uint16{443, 8443}, office).With("lab", []uint16{443}, lab).With("office", []uint16{443}, office).With("home", []uint16{443}, home).With("", []uint16{443}, lab)
	for port, want := range map[uint16]string{443: "@office @lab", 8443: "@office", 80: ""} {
		if got := n.Names(port); got != want {
			t.Errorf("port %d: %q, want %q", port, got, want)
		}
	}
	if !none.Empty() || n.Empty() || !none.With("home", []uint16{443}, home).Empty() {
		t.Error("empty is what allows nothing, and a private address is nothing")
	}
	at := func(n Nets, text string, port uint16) bool { return n.At(port).Contains(netip.MustParseAddr(text)) }
	for text, want := range map[string]bool{"203.0.113.1": true, "198.51.100.1": true, "10.0.0.1": false, "192.168.0.1": false, "192.0.2.1": false} {
		if got := at(n, text, 443); got != want {
			t.Errorf("%s: %v", text, got)
		}
		if at(n, text, 80) {
			t.Errorf("%s at another port", text)
		}
	}
	if none.With("office", []uint16{443}, office); !none.Empty() {
		t.Error("the set that was added to has changed")
	}
	u := none.With("office", []uint16{443}, office).Union(none.With("lab", []uint16{443, 22}, lab))
	if u.Names(443) != "@office @lab" || u.Names(22) != "@lab" || !at(u, "203.0.113.1", 443) || !at(u, "198.51.100.1", 22) || at(u, "203.0.113.1", 22) {
		t.Errorf("either: %q and %q", u.Names(443), u.Names(22))
	}
}

// TestEveryAddressCounts: a name that leads to several addresses is allowed by netgroups only if all of them are in one, and one that leads
// nowhere is not.
func TestEveryAddressCounts(t *testing.T) {
	office, err := netgroup.Parse([]string{"203.0.113.0/24"})
	if err != nil {
		t.Fatal(err)
	}
	n := Nets{}.With("office", []uint16{443}, office)
	at := func(texts ...string) (out []netip.AddrPort) {
		for _, text := range texts {
			out = append(out, netip.MustParseAddrPort(text))
		}
		return out
	}
	for _, c := range []struct {
		port  uint16
		addrs []netip.AddrPort
		want  bool
	}{
		{443, at("203.0.113.1:443"), true}, {443, at("203.0.113.1:443", "203.0.113.2:443"), true}, {443, at("203.0.113.1:443", "192.0.2.1:443"), false},
		{443, at("192.0.2.1:443", "203.0.113.1:443"), false}, {443, at("192.0.2.1:443"), false}, {443, nil, false}, {80, at("203.0.113.1:80"), false}, {80, nil, false},
	} {
		if got := n.Allowed(c.port, c.addrs); got != c.want {
			t.Errorf("%v at %d: %v", c.addrs, c.port, got)
		}
	}
}

// TestNetsThatAreReadBack: what no list could allow is refused, and what was there before is not mixed with what is read.
func TestNetsThatAreReadBack(t *testing.T) {
	office, err := netgroup.Parse([]string{"203.0.113.0/24"})
	if err != nil {
		t.Fatal(err)
	}
	for text, good := range map[string]bool{`{"443":["198.51.100.0/24"]}`: true, `{}`: true, `{"443":["10.0.0.0/8"]}`: false, `{"0":["198.51.100.0/24"]}`: false,
		`{"443":[]}`: false, `["198.51.100.0/24"]`: false, `{"443":"198.51.100.0/24"}`: false, `{"70000":["198.51.100.0/24"]}`: false} {
		n := Nets{}.With("office", []uint16{443}, office)
		err := json.Unmarshal([]byte(text), &n)
		if (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
		if good && (n.At(443).Contains(netip.MustParseAddr("203.0.113.1")) || n.At(443).Empty() != (text == "{}") || n.IsZero() != (text == "{}")) {
			t.Errorf("%s was read as %v", text, n.At(443).Strings())
		}
	}
}

// TestLessIsWhatRulesDoNotAllow: at a port where a rule allows everything a netgroup says nothing more, and at others it does.
func TestLessIsWhatRulesDoNotAllow(t *testing.T) {
	office, err := netgroup.Parse([]string{"203.0.113.0/24"})
	if err != nil {
		t.Fatal(err)
	}
	n := Nets{}.With("office", []uint16{443, 8443}, office)
	for text, want := range map[string][2]bool{"*:443": {false, true}, "*:8443": {true, false}, "*": {false, false}, "x.test:443": {true, true}, "*.x.test": {true, true}, "": {true, true}} {
		var list []string
		if text != "" {
			list = []string{text}
		}
		rules, err := Parse(list)
		if err != nil {
			t.Fatal(err)
		}
		less := n.Less(rules)
		if got := [2]bool{!less.At(443).Empty(), !less.At(8443).Empty()}; got != want {
			t.Errorf("beside %q, at 443 and 8443: %v, want %v", text, got, want)
		}
		if rules.AnyAt(443) == want[0] || rules.AnyAt(8443) == want[1] {
			t.Errorf("%q allows every host at 443: %v, at 8443: %v", text, rules.AnyAt(443), rules.AnyAt(8443))
		}
	}
	if n.At(443).Empty() || n.At(8443).Empty() {
		t.Error("what it was made of has changed")
	}
}
