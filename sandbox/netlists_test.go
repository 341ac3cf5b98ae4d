package sandbox

import (
	"net/netip"
	"testing"

	"termic/sandbox/hosts"
)

// listed is what a task may reach by one list of hosts, in a world with two netgroups.
func listed(t *testing.T, entries ...string) Capability {
	t.Helper()
	c := &composer{w: Wish{Mode: Enforce, Netgroups: map[string][]string{"a": {"203.0.113.0/24"}, "b": {"198.51.100.0/24"}}}}
	rules, err := c.resolveNames(Layer{Name: "the list", Hosts: entries})
	if err != nil {
		t.Fatal(err)
	}
	set, err := hosts.Parse(rules)
	if err != nil {
		t.Fatal(err)
	}
	return Capability{known: true, mode: Enforce, hosts: set, nets: c.nets, refused: c.refused}.canonical()
}

// Two lists that allow the same are the same, however they say it: a netgroup adds nothing where every address is allowed.
func TestANetgroupBesideEveryHost(t *testing.T) {
	for _, c := range []struct {
		with, without []string
		same          bool
	}{
		{[]string{"*:443", "@a:443"}, []string{"*:443"}, true},
		{[]string{"*", "@a"}, []string{"*"}, true},
		{[]string{"*:443", "@a:8443"}, []string{"*:443"}, false},
		{[]string{"*:443", "@a"}, []string{"*:443"}, false}, // at port 80 too
		{[]string{"x.test:443", "@a:443"}, []string{"x.test:443"}, false},
	} {
		a, b := listed(t, c.with...), listed(t, c.without...)
		if a.Equal(b) != c.same || (Within(a, b) == nil) != c.same || Within(b, a) != nil {
			t.Errorf("%q and %q: the same %v, within %v and %v", c.with, c.without, a.Equal(b), Within(a, b), Within(b, a))
		}
	}
}

// Every netgroup that a list refuses is refused, and adds up.
func TestEveryRefusedNetgroupCounts(t *testing.T) {
	both := listed(t, "*", "!@a", "!@b")
	for _, text := range []string{"203.0.113.7", "198.51.100.7"} {
		if !both.refused.Contains(netip.MustParseAddr(text)) {
			t.Errorf("%s is not refused", text)
		}
	}
	for _, wider := range [][]string{{"*"}, {"*", "!@a"}, {"*", "!@b"}} {
		if w := listed(t, wider...); Within(w, both) == nil || Within(both, w) != nil {
			t.Errorf("%q beside both refused: %v, %v", wider, Within(w, both), Within(both, w))
		}
	}
}
