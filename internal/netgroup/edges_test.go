package netgroup

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"termic/internal/fault"
)

// TestWhatIsWrongIsSaid: each mistake has its own sentence, so that nobody searches for another one.
func TestWhatIsWrongIsSaid(t *testing.T) {
	for says, members := range map[string][]string{
		"at least one address":           {"!192.0.2.0/24"},
		"Nothing is left":                {"192.0.2.0/24", "!192.0.2.0/23"},
		"is no address":                  {"example.com"},
		"with a zone":                    {"fe80::1%eth0"},
		"itself, 192.0.2.1":              {"::ffff:192.0.2.1"},
		"/33 is no length":               {"192.0.2.0/33"},
		"/ is no length":                 {"192.0.2.0/"},
		"the network is 192.0.2.0":       {"192.0.2.1/24"},
		"at most 256":                    make([]string, MaxMembers+1),
		strings.Repeat("a", 80):          {strings.Repeat("a", 80)},
		strings.Repeat("a", 80) + `..."`: {strings.Repeat("a", 81)},
	} {
		s, err := Parse(members)
		if f := fault.From(err); f.Code != fault.InvalidArgument || !strings.Contains(f.Message, says) || !s.Empty() {
			t.Errorf("%.40q: %v; want words with %q", members, err, says)
		}
	}
	if _, err := Parse([]string{strings.Repeat("a", 80)}); strings.Contains(fault.From(err).Message, "...") {
		t.Errorf("what is short is cut: %v", err)
	}
}

// TestAsManyAsMayBe: a set of exactly that many members is one.
func TestAsManyAsMayBe(t *testing.T) {
	members := make([]string, MaxMembers)
	for i := range members {
		members[i] = fmt.Sprintf("192.0.2.%d", i)
	}
	if s, err := Parse(members); err != nil || !s.Contains(netip.MustParseAddr("192.0.2.255")) {
		t.Errorf("%v", err)
	}
}

// TestEveryLetterOfANameCounts: the first and the last of each kind are letters too, and their neighbours are none.
func TestEveryLetterOfANameCounts(t *testing.T) {
	for _, r := range "azAZ09-_" {
		if err := CheckName(string(r)); err != nil {
			t.Errorf("%q: %v", r, err)
		}
	}
	for _, r := range "`{@[/:,.^ " {
		if err := CheckName(string(r)); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%q: %v", r, err)
		}
	}
}

// TestTheEmptySet: nothing is in it, it takes nothing out, and what it is taken from stays as it was, the narrowest members too.
func TestTheEmptySet(t *testing.T) {
	s, none, at := parse(t, "10.0.0.0/8", "10.1.0.0/16"), Set{}, netip.MustParseAddr("10.1.0.1")
	if got := s.Without(none); !got.Equal(s) || got.Bits(at) != 16 {
		t.Errorf("without nothing: %v, %d bits", got.Strings(), got.Bits(at))
	}
	for name, got := range map[string]Set{"nothing without something": none.Without(s), "nothing without nothing": none.Without(none), "without itself": s.Without(s),
		"in both": s.Intersect(none), "in nothing": none.Intersect(s), "either of two nothings": none.Union(none)} {
		if !got.Empty() || !got.IsZero() || got.Contains(at) || got.Bits(at) != -1 || len(got.Strings()) != 0 {
			t.Errorf("%s is %v", name, got.Strings())
		}
	}
	if got := s.Intersect(parse(t, "10.1.0.0/24", "11.0.0.0/8")); strings.Join(got.Strings(), " ") != "10.1.0.0/24" || got.IsZero() {
		t.Errorf("in both: %v", got.Strings())
	}
	if !none.Within(s) || s.Within(none) || !none.Equal(Set{}) {
		t.Error("nothing is within everything, and something is not within nothing")
	}
	text, err := json.Marshal(struct {
		A Set `json:"a,omitzero"`
		B Set `json:"b,omitzero"`
	}{B: s})
	if want := `{"b":["10.0.0.0/8"]}`; err != nil || string(text) != want {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
}

// TestWhatIsReadBackIsChecked: a store that was changed by hand gives no set of something else.
func TestWhatIsReadBackIsChecked(t *testing.T) {
	for _, text := range []string{`"10.0.0.0/8"`, `["10.0.0.1/8"]`, `["10.0.0.0"]`, `[""]`, `["nonsense"]`, `{}`, `[1]`} {
		s := parse(t, "192.0.2.0/24")
		if err := json.Unmarshal([]byte(text), &s); err == nil || strings.Join(s.Strings(), " ") != "192.0.2.0/24" {
			t.Errorf("%s was read as %v, %v", text, s.Strings(), err)
		}
	}
}
