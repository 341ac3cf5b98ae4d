package hosts

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"termic/internal/fault"
)

func TestParseRule(t *testing.T) {
	tests := []struct{ in, want string }{ // want is the canonical text; empty for a refusal
		{"example.com", "example.com"},
		{" Example.COM. ", "example.com"},
		{"example.com:443,80", "example.com"},
		{"example.com:80,443,443", "example.com"},
		{"example.com:443", "example.com:443"},
		{"example.com:9443,8443", "example.com:8443,9443"},
		{"*.example.com", "*.example.com"},
		{"*.Bücher.example:1", "*.xn--bcher-kva.example:1"},
		{"*.com", "*.com"},
		{"localhost", "localhost"},
		{"127.0.0.2:9000", "127.0.0.2:9000"},
		{"::1", "[::1]"},
		{"[::1]", "[::1]"},
		{"[2001:DB8::7]:8080", "[2001:db8::7]:8080"},
		{"[::ffff:10.0.0.1]:81", "10.0.0.1:81"},
		{"10.0.0.1+private", "10.0.0.1"},
		{"mirror.corp+private", "mirror.corp+private"},
		{"mirror.corp:8081+private", "mirror.corp:8081+private"},
		{"*", "*"},
		{"*:443", "*:443"},
		{"*:80,443", "*:80,443"},
		{"*+private", "*+private"},
		{"*:443+private", "*:443+private"},

		{"", ""}, {" ", ""}, {".", ""},
		{"https://example.com", ""}, {"example.com/path", ""}, {"10.0.0.0/8", ""}, {"user@example.com", ""},
		{"@registries", ""}, {"@", ""},
		{".example.com", ""}, {"**.example.com", ""}, {"*.*.example.com", ""}, {"a.*.example.com", ""}, {"*example.com", ""},
		{"example.*", ""}, {"*.", ""}, {"*..com", ""}, {"*.127.0.0.1", ""}, {"*.1", ""}, {"*.[::1]", ""}, {"*.::1", ""},
		{"^.*\\.example\\.com$", ""}, {"(a|b).example", ""}, {"a b", ""}, {"a,b", ""}, {"a;b", ""}, {"a\nb", ""},
		{"example.com:", ""}, {"example.com:0", ""}, {"example.com:65536", ""}, {"example.com:080", ""}, {"example.com:+80", ""},
		{"example.com:http", ""}, {"example.com:80-90", ""}, {"example.com:80,", ""}, {"example.com:*", ""}, {":443", ""},
		{"[::1]:", ""}, {"[::1]443", ""}, {"127.1", ""}, {"0x7f000001", ""}, {"fe80::1%eth0", ""},
		{"*.example.com+private", ""}, {"+private", ""}, {"example.com+privat", ""}, {"example.com+private+private", ""},
		{"example.com+private:80", ""},
		{"example.com:" + strings.Repeat("1,", 64) + "1", ""},
		{strings.Repeat("a", 5000), ""},
	}
	for _, tt := range tests {
		r, err := ParseRule(tt.in)
		if r.String() != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("ParseRule(%.60q) = %q, %v; want %q", tt.in, r, err, tt.want)
		}
		if err != nil && (fault.CodeOf(err) != fault.InvalidArgument || len(err.Error()) > 600) {
			t.Errorf("ParseRule(%.60q): %v is no error for a person", tt.in, err)
		}
	}
}

func TestAllows(t *testing.T) {
	tests := []struct {
		rules string
		host  string
		port  uint16
		want  string // the rule, or empty for a refusal
	}{
		{"example.com", "example.com", 443, "example.com"},
		{"example.com", "EXAMPLE.com.", 80, "example.com"},
		{"example.com", "example.com", 8443, ""},
		{"example.com", "example.com", 0, ""},
		{"example.com", "a.example.com", 443, ""},
		{"example.com", "badexample.com", 443, ""},
		{"*.example.com", "example.com", 443, ""},
		{"*.example.com", "a.example.com", 443, "*.example.com"},
		{"*.example.com", "a.b.example.com", 443, "*.example.com"},
		{"*.example.com", "badexample.com", 443, ""},
		{"*.example.com", "a.example.com.evil.example", 443, ""},
		{"*.example.com", ".example.com", 443, ""},
		{"bücher.example", "xn--bcher-kva.example", 443, "xn--bcher-kva.example"},
		{"127.0.0.2:9000", "127.0.0.2", 9000, "127.0.0.2:9000"},
		{"127.0.0.2:9000", "::ffff:127.0.0.2", 9000, "127.0.0.2:9000"},
		{"127.0.0.2:9000", "127.0.0.1", 9000, ""},
		{"127.0.0.2:9000", "127.0.0.2", 443, ""},
		{"127.0.0.1", "127.1", 443, ""},
		{"127.0.0.1", "localhost", 443, ""},
		{"[::1]:80", "[::1]", 80, "[::1]:80"},
		{"*", "example.com", 1, "*"},
		{"*", "8.8.8.8", 53, "*"},
		{"*", "10.0.0.1", 443, ""},
		{"*", "127.1", 443, ""},
		{"*:443", "example.com", 80, ""},
		{"*+private", "10.0.0.1", 1, "*+private"},
		{"*.corp m.corp:443+private", "m.corp", 443, "m.corp:443+private"},
		{"*.corp m.corp:443+private", "m.corp", 80, "*.corp"},
		{"", "example.com", 443, ""},
	}
	for _, tt := range tests {
		r, ok := parseSet(t, strings.Fields(tt.rules)...).Allows(tt.host, tt.port)
		if r.String() != tt.want || ok != (tt.want != "") {
			t.Errorf("{%s}.Allows(%q, %d) = %q, %v; want %q", tt.rules, tt.host, tt.port, r, ok, tt.want)
		}
	}
}

func TestWithin(t *testing.T) {
	tests := []struct {
		a, b   string
		beyond string // what of a is not in b
	}{
		{"", "", ""},
		{"", "a.com", ""},
		{"a.com", "", "a.com"},
		{"a.com", "a.com", ""},
		{"a.com", "*.com", ""},
		{"a.com", "*.a.com", "a.com"},
		{"*.a.com", "a.com", "*.a.com"},
		{"*.a.com", "*.com", ""},
		{"*.com", "*.a.com", "*.com"},
		{"x.y.a.com", "*.a.com", ""},
		{"a.com:80", "a.com", ""},
		{"a.com", "a.com:443", "a.com:80"},
		{"a.com", "a.com:443 *.com:80", ""},
		{"a.com:8443", "a.com", "a.com:8443"},
		{"10.0.0.1", "*", "10.0.0.1"},
		{"10.0.0.1", "*+private", ""},
		{"8.8.8.8", "*", ""},
		{"8.8.8.8", "*.8", "-"}, // no such rule
		{"m.corp+private", "m.corp", "m.corp+private"},
		{"m.corp", "m.corp+private", ""},
		{"m.corp+private", "*", "m.corp+private"},
		{"m.corp+private", "*+private", ""},
		{"*", "*+private", ""},
		{"*+private", "*", "*+private"},
		{"*", "a.com *.com", "*"},
		{"*:443", "*", ""},
		{"*", "*:443", "*"},
		{"a.com", "*:443 *:80", ""},
	}
	for _, tt := range tests {
		if tt.beyond == "-" {
			if _, err := Parse(strings.Fields(tt.b)); err == nil {
				t.Errorf("%q is a rule", tt.b)
			}
			continue
		}
		a, b := parseSet(t, strings.Fields(tt.a)...), parseSet(t, strings.Fields(tt.b)...)
		rest, more := a.Beyond(b)
		if rest.String() != tt.beyond || more != (tt.beyond != "") || a.Within(b) == more {
			t.Errorf("{%s} beyond {%s} = {%s}, %v; want {%s}", tt.a, tt.b, rest, more, tt.beyond)
		}
	}
}

func TestSetsHaveOneForm(t *testing.T) {
	tests := []struct{ in, want string }{
		{"b.com a.com a.com", "a.com b.com"},
		{"a.com:443 a.com:80", "a.com"},
		{"a.com *.com", "*.com"},
		{"a.com *.com:443", "a.com:80 *.com:443"},
		{"a.com *", "*"},
		{"8.8.8.8 10.0.0.1 *", "* 10.0.0.1"},
		{"* *+private 10.0.0.1 m.corp+private", "*+private"},
		{"m.corp m.corp:443+private", "m.corp:80 m.corp:443+private"},
		{"*.b.com *.a.b.com x.a.b.com", "*.b.com"},
	}
	for _, tt := range tests {
		set := parseSet(t, strings.Fields(tt.in)...)
		if set.String() != tt.want {
			t.Errorf("{%s} = {%s}, want {%s}", tt.in, set, tt.want)
		}
		j, err := json.Marshal(set)
		var back Set
		if err == nil {
			err = json.Unmarshal(j, &back)
		}
		if err != nil || !back.Equal(set) {
			t.Errorf("{%s} through JSON %s: {%s}, %v", set, j, back, err)
		}
	}
	if !All().Unbounded() || All().String() != "*+private" || !parseSet(t, "*:443").Unbounded() || parseSet(t, "*.com").Unbounded() {
		t.Error("unbounded sets are not told apart")
	}
}

func TestLimitsOfALlist(t *testing.T) {
	if _, err := Parse(slices.Repeat([]string{"a.com"}, MaxRules+1)); err == nil {
		t.Error("a list without end was read")
	}
	var rules []Rule
	for port := 1; port <= 65535; port += 64 {
		r := Rule{kind: exact, host: "a.com"}
		for p := port; p < port+64 && p <= 65535; p++ {
			r.ports = append(r.ports, uint16(p))
		}
		rules = append(rules, r)
	}
	set := Of(rules...)
	back, err := Parse(set.Strings())
	if err != nil || !back.Equal(set) || len(back.rules) != 1 || len(back.rules[0].ports) != 65535 {
		t.Errorf("every port of one host does not survive its text: %v", err)
	}
}

func parseSet(t interface {
	Helper()
	Fatalf(string, ...any)
}, rules ...string) Set {
	t.Helper()
	s, err := Parse(rules)
	if err != nil {
		t.Fatalf("parse %q: %v", rules, err)
	}
	return s
}
