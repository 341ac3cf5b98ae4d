package proxy

import (
	"errors"
	"net/url"
	"strings"
	"testing"
)

// TestTargetsAreReadAsTheyStand: each form that is wrong has its own clause, and nothing of what may be a password is said.
func TestTargetsAreReadAsTheyStand(t *testing.T) {
	name := strings.Repeat("a", 1024)
	for authority, says := range map[string]string{
		"":                         "no host is named",
		name:                       "no port is named",
		name + "a":                 "the host is too long",
		"me:secret@example.com:80": "a user name before the host",
		"example.com/x:80":         "a character that belongs to no host",
		"example.com?x:80":         "a character that belongs to no host",
		"example.com#x:80":         "a character that belongs to no host",
		`example.com\x:80`:         "a character that belongs to no host",
		"exam ple.com:80":          "a character that belongs to no host",
		"example.com\x00:80":       "a character that belongs to no host",
		"example.com":              "no port is named",
		"[2001:db8::1]":            "no port is named",
		"example.com:":             "not a number from 1 to 65535",
		"example.com:0":            "not a number from 1 to 65535",
		"example.com:65536":        "not a number from 1 to 65535",
		"example.com:+80":          "not a number from 1 to 65535",
		"example.com:http":         "not a number from 1 to 65535",
		":":                        "not a number from 1 to 65535",
		"2001:db8::1:80":           "an IPv6 address stands in brackets",
	} {
		got, why := parseTarget(authority, 0)
		if !strings.Contains(why, says) || strings.Contains(got.host, "secret") {
			t.Errorf("%.40q: %q, %q; want %q", authority, got.host, why, says)
		}
	}
	for authority, want := range map[string]target{
		"example.com:443":      {host: "example.com", port: 443},
		"EXAMPLE.com.:1":       {host: "example.com", port: 1},
		"192.0.2.1:65535":      {host: "192.0.2.1", port: 65535},
		"[2001:db8::1]:8080":   {host: "2001:db8::1", port: 8080},
		"exa_mple.com:80":      {host: "exa_mple.com", port: 80},
		"0x7f.1:80":            {host: "0x7f.1", port: 80, bad: "it has more than one reading, or none"},
		"a..b:80":              {host: "a..b", port: 80, bad: "it has more than one reading, or none"},
		"!~:80":                {host: "!~", port: 80, bad: "it has more than one reading, or none"},
		"b\u00fccher\x7f.b:80": {host: "b?cher?.b", port: 80, bad: "it has more than one reading, or none"},
		":80":                  {port: 80, bad: "it has more than one reading, or none"},
	} {
		got, why := parseTarget(authority, 0)
		if want.bad == "" && strings.Count(want.host, ":")+strings.Count(want.host, ".") > 1 {
			want.addr = got.addr // compared by the name
		}
		if why != "" || got != want || got.addr.IsValid() && got.addr.String() != want.host {
			t.Errorf("%q: %+v, %q; want %+v", authority, got, why, want)
		}
	}
	if got, why := parseTarget("example.com", 80); why != "" || got.port != 80 {
		t.Errorf("the port that is meant where none stands: %+v, %q", got, why)
	}
}

// TestPrintable: what a stranger wrote is shown in visible characters, up to a bound that is said.
func TestPrintable(t *testing.T) {
	long := strings.Repeat("x", 120)
	for text, want := range map[string]string{"": "", "a!~z": "a!~z", "a b": "a?b", "\x7f\x1f\n": "???", "ü": "?", long: long, long + "y": long + "..."} {
		if got := printable(text); got != want {
			t.Errorf("%.20q: %.140q", text, got)
		}
	}
}

// TestNobodyListens: a proxy whose decisions nobody wants to hear decides all the same.
func TestNobodyListens(t *testing.T) {
	p := New(Options{Mode: Enforce})
	p.tell("GET", route{target: target{host: "example.com", port: 80}}, Blocked, "", "")
}

// TestAnUpstreamThatCannotBeChosen: then nothing is reached by another way.
func TestAnUpstreamThatCannotBeChosen(t *testing.T) {
	broken := errors.New("broken")
	p := New(Options{Mode: Record, Upstream: func(*url.URL) (*url.URL, error) { return nil, broken }})
	target, why := parseTarget("example.com:80", 0)
	if why != "" {
		t.Fatal(why)
	}
	if _, _, err := p.judge(t.Context(), "http", target); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}
