package proxy

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
)

func TestRefusalsExplainThemselves(t *testing.T) {
	r := newRig(t, Options{}, "allowed.test", "private.test", "odd.test:8443")
	r.names["private.test"] = []string{"203.0.113.5", "10.1.2.3"}
	tests := []struct {
		request, host, why, rule string
		reason                   Reason
	}{
		{"CONNECT evil.test:443", "evil.test", "evil.test is not on this task's list of hosts", "evil.test", NotListed},
		{"CONNECT EVIL.test.:443", "evil.test", "evil.test is not on this task's list of hosts", "evil.test", NotListed},
		{"CONNECT evil.test:2222", "evil.test", "evil.test is not on", "evil.test:2222", NotListed},
		{"CONNECT allowed.test:22", "allowed.test", "port 22 of allowed.test is not on", "allowed.test:22", NotListed},
		{"CONNECT [2001:db8::1]:22", "2001:db8::1", "2001:db8::1 is not on", "[2001:db8::1]:22", NotListed},
		{"CONNECT private.test:443", "private.test", "private.test leads to 10.1.2.3, an address of a private network", "private.test+private", PrivateAddress},
		{"GET http://evil.test/x", "evil.test", "evil.test is not on this task's list of hosts", "evil.test", NotListed},
		{"POST http://evil.test:8080/x", "evil.test", "evil.test is not on", "evil.test:8080", NotListed},
		{"GET http://private.test/", "private.test", "private.test leads to 10.1.2.3", "private.test+private", PrivateAddress},
	}
	for _, tt := range tests {
		resp, body := r.ask(tt.request + " HTTP/1.1\r\nHost: ignored.test\r\nContent-Length: 0\r\n\r\n")
		if resp.StatusCode != 403 || resp.Header.Get("X-Termic-Sandbox") != "blocked-by-allowlist" ||
			resp.Header.Get("X-Termic-Sandbox-Host") != tt.host {
			t.Errorf("%s: %s %v", tt.request, resp.Status, resp.Header)
		}
		low := strings.ToLower(body)
		if !strings.Contains(low, strings.ToLower(tt.why)) || !strings.Contains(body, "\n    "+tt.rule+"\n") || !strings.Contains(body, "shield") {
			t.Errorf("%s: the text does not say why and what to do:\n%s", tt.request, body)
		}
		if strings.HasPrefix(tt.request, "CONNECT") && !strings.Contains(resp.Status, tt.why) {
			t.Errorf("%s: the reason phrase is all that most programs show, and says %q", tt.request, resp.Status)
		}
		d := r.next()
		if d.Verdict != Blocked || d.Reason != tt.reason || d.Host != tt.host || !strings.Contains(d.Detail, tt.why) || d.At.IsZero() {
			t.Errorf("%s: told %+v", tt.request, d)
		}
	}
	if got := r.dials(); len(got) > 0 {
		t.Errorf("a refused request dialled %v", got)
	}
	for _, name := range r.lookups {
		if name == "evil.test" {
			t.Error("a name that is not allowed was looked up: that alone carries data out")
		}
	}
}

// hostile names: nothing of them may be dialled, whatever a reader may take them for. The rules are as wide as rules of
// names can be.
func TestHostileNamesGoNowhere(t *testing.T) {
	r := newRig(t, Options{Own: own("127.0.0.1:7777")}, "*", "localhost:80,443,7777+private", "127.0.0.1:7777")
	r.names["localhost"] = []string{"127.0.0.1", "::1"}
	for _, host := range []string{
		"127.1", "127.0.1", "2130706433", "0x7f.1", "0x7f000001", "0177.0.0.1", "127.0.0.01", "017700000001", "0", "00",
		"127.0.0.1", "127.0.0.1.", "10.0.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "0.0.0.0.", "255.255.255.255",
		"[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:10.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fd00::1]",
		"[fe80::1]", "[fe80::1%25lo]", "[fe80::1%lo]", "[::1%25lo]", "::1", "[127.0.0.1]", "[::1", "::1]", "[]", "[[::1]]",
		"example.com..", "..", ".", ".example.com", "a..b", "127。0。0。1", "１２７.0.0.1", "①②⑦.0.0.1", "127.0.0.1。", "ⓛocalhost.\u200d",
		"example.com%00.evil.test", "example.com%2eevil.test", "%6cocalhost", "localhost%", "user@localhost", "user:pass@localhost",
		"allowed.test@127.0.0.1", "127.0.0.1#", "127.0.0.1\\@allowed.test", "allowed.test\\.evil", "127.0.0.1/x", "127.0.0.1?x",
		"exa\tmple.com", "exa\x00mple.com", "-a.test", "xn--a.test", "*.example.com", "\u202eexample.com", "\xff.test",
		strings.Repeat("a", 64) + ".test", strings.Repeat("a.", 300) + "test",
	} {
		for _, port := range []string{":443", ":7777", ":80", ":0", ":65536", ":99999999999999999999", ":-1", ":+80", ":", ":0x50", ":8 0", ""} {
			for _, form := range []string{"CONNECT %s%s HTTP/1.1\r\nHost: x\r\n\r\n", "GET http://%s%s/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"} {
				raw := fmt.Sprintf(form, host, port)
				if resp, body := r.ask(raw); resp.StatusCode/100 != 4 {
					t.Errorf("%q: %s\n%s", raw, resp.Status, body)
				}
			}
		}
	}
	for _, raw := range []string{
		"CONNECT allowed.test:443\r\nX: y HTTP/1.1\r\n\r\n",
		"CONNECT allowed.test:443 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
		"CONNECT allowed.test:443 127.0.0.1:443 HTTP/1.1\r\n\r\n",
		"CONNECT http://127.0.0.1:7777/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT /127.0.0.1:7777 HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT //127.0.0.1:7777 HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: 127.0.0.1:7777\r\n\r\n",
		"GET //127.0.0.1:7777/ HTTP/1.1\r\nHost: 127.0.0.1:7777\r\n\r\n",
		"GET 127.0.0.1:7777 HTTP/1.1\r\nHost: 127.0.0.1:7777\r\n\r\n",
		"GET http:127.0.0.1:7777 HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http:/127.0.0.1:7777/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http:///127.0.0.1:7777/ HTTP/1.1\r\nHost: 127.0.0.1:7777\r\n\r\n",
		"GET https://127.0.0.1:7777/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET ftp://127.0.0.1:7777/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET file:///etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1:7777\r\n\r\n",
		"GET http://127.0.0.1:7777 /x HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /x?http://127.0.0.1:7777/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET x/http://127.0.0.1:7777/ HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		if resp, body := r.ask(raw); resp.StatusCode/100 != 4 {
			t.Errorf("%q: %s\n%s", raw, resp.Status, body)
		}
	}
	if got := r.dials(); len(got) > 0 {
		t.Errorf("hostile names were dialled: %v", got)
	}
	for _, d := range r.decisions {
		if d.Verdict != Blocked || strings.Contains(d.Host, "pass") || len(d.Host) > 300 {
			t.Errorf("told %+v", d)
		}
	}
}

// flipping answers another address each time, as a hostile name server does.
type flipping struct {
	mu      sync.Mutex
	answers [][]string
	asked   int
}

func (f *flipping) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []netip.Addr
	for _, a := range f.answers[min(f.asked, len(f.answers)-1)] {
		out = append(out, netip.MustParseAddr(a))
	}
	f.asked++
	return out, nil
}

func TestRebindingDoesNotReachTheLoopback(t *testing.T) {
	f := &flipping{answers: [][]string{{"203.0.113.1"}, {"127.0.0.1"}, {"203.0.113.1", "127.0.0.1"}, {"::ffff:127.0.0.1"}, {"fe80::1%lo"}, {"0.0.0.0"}, {}}}
	r := newRig(t, Options{Resolver: f}, "rebind.test")
	r.world["203.0.113.1:443"] = listen(t, echo)
	c := r.tunnel("rebind.test:443")
	_, _ = c.Write([]byte("x"))
	_ = c.Close()
	if d := r.next(); d.Verdict != Allowed || d.Rule != "rebind.test" {
		t.Fatalf("told %+v", d)
	}
	for range 5 {
		if resp, _ := r.ask("CONNECT rebind.test:443 HTTP/1.1\r\nHost: x\r\n\r\n"); resp.StatusCode != 403 {
			t.Errorf("%s", resp.Status)
		}
		if d := r.next(); d.Reason != PrivateAddress {
			t.Errorf("told %+v", d)
		}
	}
	if resp, body := r.ask("GET http://rebind.test/ HTTP/1.1\r\nHost: x\r\n\r\n"); resp.StatusCode != 502 || !strings.Contains(body, "has no address") {
		t.Errorf("%s %s", resp.Status, body)
	}
	if got := r.dials(); len(got) != 1 || got[0] != "203.0.113.1:443" || f.asked != 7 {
		t.Errorf("dialled %v after %d lookups; one request is one lookup, and its answer alone is dialled", got, f.asked)
	}
}

func TestRulesThatLiftTheBan(t *testing.T) {
	server := listen(t, echo)
	r := newRig(t, Options{Own: own("127.0.0.1:7777", "0.0.0.0:7778")},
		"mirror.test+private", "127.0.0.2:9000", "*.star.test", "own.test:7777,7778+private", "127.0.0.1:7777", "127.0.0.3:7777,7778", "0.0.0.0:7777", "[::]:7777", "[::1]:7778")
	r.place("mirror.test", "10.0.0.9", 443, server)
	r.place("own.test", "127.0.0.1", 7777, server)
	r.names["a.star.test"] = []string{"10.0.0.9"}
	for _, a := range []string{"127.0.0.2:9000", "127.0.0.1:7777", "127.0.0.1:7778", "127.0.0.3:7777", "127.0.0.3:7778", "0.0.0.0:7777", "[::]:7777", "[::1]:7778"} {
		r.world[a] = server
	}
	for authority, want := range map[string]Reason{
		"mirror.test:443": "", "127.0.0.2:9000": "", "[::ffff:127.0.0.2]:9000": "", "127.0.0.3:7777": "",
		"a.star.test:443": PrivateAddress, "own.test:7777": OwnPort, "own.test:7778": OwnPort, "127.0.0.1:7777": OwnPort,
		"0.0.0.0:7777": OwnPort, "[::]:7777": OwnPort, "127.0.0.3:7778": OwnPort, "[::1]:7778": OwnPort, "127.0.0.2:9001": NotListed,
	} {
		resp, body := r.ask("CONNECT " + authority + " HTTP/1.1\r\nHost: x\r\n\r\n")
		d := r.next()
		if (resp.StatusCode == 200) != (want == "") || d.Reason != want {
			t.Errorf("%s: %s, told %+v", authority, resp.Status, d)
		}
		if want == OwnPort && (strings.Contains(body, "choose Allow") || !strings.Contains(body, "No rule can allow that")) {
			t.Errorf("%s: the text promises what no rule can do:\n%s", authority, body)
		}
	}
}

// An address of this machine's own interfaces reaches a listener on the unspecified address.
func TestOwnPortByAnAddressOfTheMachine(t *testing.T) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, a := range addrs {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil {
			continue
		}
		tried++
		at := netip.AddrPortFrom(prefix.Addr(), 7778)
		if !OwnAddress(own("0.0.0.0:7778")(), at) || OwnAddress(own("0.0.0.0:7779")(), at) {
			t.Errorf("%v", at)
		}
	}
	if tried == 0 || OwnAddress(own("0.0.0.0:7778")(), netip.MustParseAddrPort("203.0.113.1:7778")) {
		t.Errorf("%d addresses tried", tried)
	}
}

// A zone names the interface to go out by. For an address of this machine the kernel takes any, so it is another name of the same port.
func TestOwnPortWithAZone(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("NOT TESTED: this machine has no IPv6")
	}
	defer func() { _ = l.Close() }() // the end of the test
	at := netip.MustParseAddrPort(l.Addr().String())
	for _, zone := range []string{"lo", "1", "7"} {
		zoned := netip.AddrPortFrom(at.Addr().WithZone(zone), at.Port())
		if c, err := net.Dial("tcp", zoned.String()); err == nil {
			_ = c.Close() // that it was there is all
		}
		if !OwnAddress([]netip.AddrPort{at}, zoned) || !OwnAddress([]netip.AddrPort{zoned}, at) {
			t.Errorf("%v and %v are not taken for the same", at, zoned)
		}
	}
	if any := netip.MustParseAddrPort("[::%lo]:7"); !OwnAddress(own("127.0.0.1:7")(), any) || !OwnAddress([]netip.AddrPort{any}, netip.MustParseAddrPort("127.0.0.1:7")) {
		t.Error("the unspecified address with a zone is another one")
	}
}

func TestRecordNeverRefuses(t *testing.T) {
	server := listen(t, echo)
	r := newRig(t, Options{Mode: Record, Own: own("127.0.0.1:7777")}, "allowed.test", "private.test")
	r.place("allowed.test", "203.0.113.1", 443, server)
	r.place("other.test", "203.0.113.2", 443, server)
	r.place("private.test", "10.0.0.1", 443, server)
	r.place("local.test", "127.0.0.1", 7777, server)
	r.place("127.1", "127.0.0.1", 443, server)
	for authority, want := range map[string]Decision{
		"allowed.test:443": {Verdict: Allowed},
		"other.test:443":   {Verdict: WouldBlock, Reason: NotListed},
		"private.test:443": {Verdict: WouldBlock, Reason: PrivateAddress},
		"local.test:7777":  {Verdict: WouldBlock, Reason: NotListed},
		"127.0.0.1:7777":   {Verdict: WouldBlock, Reason: NotListed},
		"127.1:443":        {Verdict: WouldBlock, Reason: BadHost},
	} {
		c := r.tunnel(authority)
		if _, err := c.Write([]byte("ping")); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 4)
		if _, err := c.Read(got); err != nil || string(got) != "ping" {
			t.Errorf("%s: %q, %v", authority, got, err)
		}
		_ = c.Close()
		if d := r.next(); d.Verdict != want.Verdict || d.Reason != want.Reason {
			t.Errorf("%s: told %+v", authority, d)
		}
	}
	if resp, _ := r.ask("CONNECT nowhere.test:443 HTTP/1.1\r\nHost: x\r\n\r\n"); resp.StatusCode != 502 {
		t.Errorf("%s", resp.Status)
	}
	if d := r.next(); d.Verdict != WouldBlock || d.Reason != NotListed {
		t.Errorf("told %+v", d)
	}
}

func TestFailuresAreNoRefusals(t *testing.T) {
	r := newRig(t, Options{}, "gone.test", "dead.test")
	r.names["dead.test"] = []string{"203.0.113.9", "2001:db8::9"}
	for request, want := range map[string]struct {
		reason Reason
		text   string
	}{
		"CONNECT gone.test:443": {Unresolved, "gone.test has no address"},
		"CONNECT dead.test:443": {Unreachable, "dead.test:443 could not be reached"},
		"GET http://gone.test/": {Unresolved, "gone.test has no address"},
		"GET http://dead.test/": {Unreachable, "dead.test:80 could not be reached"},
	} {
		resp, body := r.ask(request + " HTTP/1.1\r\nHost: x\r\n\r\n")
		if resp.StatusCode != 502 || resp.Header.Get(HeaderSandbox) != "" || !strings.Contains(strings.ToLower(body), want.text) ||
			!strings.Contains(body, "did not refuse") || strings.Contains(body, "192.0.2.53") {
			t.Errorf("%s: %s %v\n%s", request, resp.Status, resp.Header, body)
		}
		if d := r.next(); d.Verdict != Failed || d.Reason != want.reason {
			t.Errorf("%s: told %+v", request, d)
		}
	}
	if got := r.dials(); len(got) != 4 {
		t.Errorf("every address of a name is tried: %v", got)
	}
}

func TestPasswordOnASharedPort(t *testing.T) {
	auth := mustSecret("s3cret")
	server := listen(t, func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"))
		}
	})
	r := newRig(t, Options{Auth: auth}, "allowed.test")
	r.place("allowed.test", "203.0.113.1", 80, server)
	for header, want := range map[string]int{
		"": 407, "Proxy-Authorization: Basic\r\n": 407, "Proxy-Authorization: Basic !!\r\n": 407,
		"Proxy-Authorization: Bearer dGVybWljOnMzY3JldA==\r\n": 407, // termic:s3cret
		"Proxy-Authorization: Basic dGVybWljOndyb25n\r\n":      407, // termic:wrong
		"Proxy-Authorization: Basic eDpzM2NyZXQ=\r\n":          407, // x:s3cret
		"Proxy-Authorization: Basic dGVybWljOg==\r\n":          407, // termic:
		"Authorization: Basic dGVybWljOnMzY3JldA==\r\n":        407,
		"Proxy-Authorization: Basic dGVybWljOnMzY3JldA==\r\n":  200,
		"proxy-authorization: basic dGVybWljOnMzY3JldA==\r\n":  200,
	} {
		for _, line := range []string{"GET http://allowed.test/", "CONNECT allowed.test:80"} {
			resp, _ := r.ask(line + " HTTP/1.1\r\nHost: x\r\n" + header + "\r\n")
			if resp.StatusCode != want || want == 407 && resp.Header.Get("Proxy-Authenticate") == "" {
				t.Errorf("%s with %q: %s", line, header, resp.Status)
			}
		}
	}
	for range 4 { // the two that passed, in both forms
		if d := r.next(); d.Verdict != Allowed {
			t.Errorf("told %+v", d)
		}
	}
}
