package proxy

import (
	"net/url"
	"strings"
	"testing"

	"termic/internal/netgroup"
	"termic/sandbox/hosts"
)

func group(t *testing.T, members ...string) netgroup.Set {
	t.Helper()
	s, err := netgroup.Parse(members)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestNetgroupsDecideByAddress: by every address that a name leads to, beside the proxy's own rules and never instead of them.
func TestNetgroupsDecideByAddress(t *testing.T) {
	nets := hosts.Nets{}.With("office", []uint16{443}, group(t, "203.0.113.0/24", "!203.0.113.9", "10.0.0.0/8", "127.0.0.0/8"))
	r := newRig(t, Options{Nets: nets, Refused: group(t, "198.51.100.0/24"), Own: own("203.0.113.4:443")}, "listed.test", "mirror.test+private", "198.51.100.7:443")
	for name, addrs := range map[string][]string{"in.test": {"203.0.113.5"}, "two.test": {"203.0.113.5", "203.0.113.6"}, "half.test": {"203.0.113.5", "192.0.2.1"},
		"out.test": {"203.0.113.9"}, "lan.test": {"10.0.0.5"}, "self.test": {"127.0.0.1"}, "termic.test": {"203.0.113.4"}, "listed.test": {"192.0.2.1"},
		"mirror.test": {"10.0.0.5"}} {
		r.names[name] = addrs
	}
	tests := []struct {
		host   string
		port   string
		reason Reason // empty: let through; it is nowhere in the world of the rig, so dialling fails
	}{
		{"in.test", "443", ""}, {"two.test", "443", ""}, {"203.0.113.7", "443", ""}, {"listed.test", "443", ""}, {"mirror.test", "443", ""},
		{"half.test", "443", NotListed}, {"out.test", "443", NotListed}, {"lan.test", "443", NotListed}, {"self.test", "443", NotListed},
		{"10.0.0.5", "443", NotListed}, {"203.0.113.9", "443", NotListed}, {"in.test", "80", NotListed}, {"203.0.113.7", "22", NotListed},
		{"termic.test", "443", OwnPort}, {"203.0.113.4", "443", OwnPort}, {"198.51.100.7", "443", RefusedAddress},
	}
	for _, tt := range tests {
		resp, body := r.ask("CONNECT " + tt.host + ":" + tt.port + " HTTP/1.1\r\nHost: x\r\n\r\n")
		d := r.next()
		if refused := resp.StatusCode == 403; refused != (tt.reason != "") || refused && d.Reason != tt.reason {
			t.Errorf("%s:%s: %s, %+v\n%s", tt.host, tt.port, resp.Status, d, body)
		}
		if tt.host == "in.test" && tt.reason == "" && d.Rule != "@office" {
			t.Errorf("it was decided by %q", d.Rule)
		}
		if tt.reason == RefusedAddress && !strings.Contains(body, "no rule can allow it") {
			t.Errorf("%s", body)
		}
	}
	for _, at := range r.dials() {
		if !strings.HasPrefix(at, "203.0.113.") && at != "192.0.2.1:443" && at != "10.0.0.5:443" || strings.HasPrefix(at, "203.0.113.9") || strings.HasPrefix(at, "203.0.113.4:") {
			t.Errorf("dialled %s", at)
		}
	}
}

// TestNameWithAnAddressTakenOut: a listed name that leads to what is taken out goes nowhere, not even by its other addresses.
func TestNameWithAnAddressTakenOut(t *testing.T) {
	r := newRig(t, Options{Refused: group(t, "198.51.100.0/24")}, "listed.test", "*:8443")
	r.names["listed.test"] = []string{"203.0.113.5", "198.51.100.1"}
	for _, to := range []string{"listed.test:443", "listed.test:8443", "198.51.100.1:8443"} {
		resp, _ := r.ask("CONNECT " + to + " HTTP/1.1\r\nHost: x\r\n\r\n")
		if d := r.next(); resp.StatusCode != 403 || d.Reason != RefusedAddress {
			t.Errorf("%s: %s, %+v", to, resp.Status, d)
		}
	}
	if len(r.dials()) > 0 {
		t.Errorf("dialled %v", r.dials())
	}
}

// TestNetgroupsBehindTheUsersProxy: where another proxy looks names up, netgroups allow nothing, and what could be taken out is.
func TestNetgroupsBehindTheUsersProxy(t *testing.T) {
	up := func(*url.URL) (*url.URL, error) { return url.Parse("http://proxy.test:3128") }
	nets := hosts.Nets{}.With("office", []uint16{443}, group(t, "203.0.113.0/24"))
	for _, tt := range []struct {
		o      Options
		host   string
		reason Reason
	}{
		{Options{Nets: nets}, "in.test", NotListed}, {Options{Nets: nets}, "203.0.113.5", ""}, {Options{Nets: nets}, "203.0.114.5", NotListed},
		{Options{Nets: nets}, "listed.test", ""}, {Options{Refused: group(t, "198.51.100.0/24")}, "listed.test", RefusedAddress},
		{Options{Refused: group(t, "198.51.100.0/24")}, "198.51.100.5", RefusedAddress}, {Options{Refused: group(t, "198.51.100.0/24")}, "192.0.2.5", ""},
	} {
		tt.o.Upstream = up
		r := newRig(t, tt.o, "listed.test", "198.51.100.5", "192.0.2.5")
		resp, body := r.ask("CONNECT " + tt.host + ":443 HTTP/1.1\r\nHost: x\r\n\r\n")
		d := r.next()
		if refused := resp.StatusCode == 403; refused != (tt.reason != "") || refused && d.Reason != tt.reason {
			t.Errorf("%s: %s, %+v\n%s", tt.host, resp.Status, d, body)
		}
	}
}
