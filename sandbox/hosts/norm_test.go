package hosts

import (
	"net/netip"
	"strings"
	"testing"

	"termic/internal/fault"
)

// hostile are spellings that some reader takes for another host, or for this machine, and the ones beside them that
// must stay usable. want is empty for a refusal.
var hostile = []struct{ in, want string }{
	{"example.com", "example.com"},
	{"EXAMPLE.com.", "example.com"},
	{"a_b.example.com", "a_b.example.com"},
	{"r3---sn-x.example.com", "r3---sn-x.example.com"},
	{"bücher.example", "xn--bcher-kva.example"},
	{"XN--BCHER-KVA.example", "xn--bcher-kva.example"},
	{"example。com", "example.com"},
	{"example．com｡", "example.com"},
	{"ｅｘａｍｐｌｅ.com", "example.com"},
	{"localhost", "localhost"},
	{"192.0.2.7", "192.0.2.7"},
	{"127.0.0.1.", "127.0.0.1"},
	{"::1", "::1"},
	{"[::1]", "::1"},
	{"0:0:0:0:0:0:0:1", "::1"},
	{"::ffff:127.0.0.1", "127.0.0.1"},
	{"[::ffff:7f00:1]", "127.0.0.1"},
	{"2001:DB8::7", "2001:db8::7"},
	{"3com.example", "3com.example"},
	{"1.2.3.4.example", "1.2.3.4.example"},
	{"0x7f.example", "0x7f.example"},

	{"", ""},
	{".", ""},
	{"..", ""},
	{"example.com..", ""},
	{"example.com.。", ""},
	{"example.com。.", ""},
	{".example.com", ""},
	{"a..b", ""},
	{"127.1", ""},
	{"127.0.1", ""},
	{"2130706433", ""},
	{"0x7f.1", ""},
	{"0x7f000001", ""},
	{"0x", ""},
	{"0177.0.0.1", ""},
	{"127.0.0.01", ""},
	{"127.0.0.0x1", ""},
	{"1.2.3.4.5", ""},
	{"256.1.1.1", ""},
	{"example.1", ""},
	{"example.0x1f", ""},
	{"１２７.１", ""},
	{"127。0。0。1", ""},
	{"①②⑦.0.0.1", ""},
	{"fe80::1%eth0", ""},
	{"[fe80::1%25eth0]", ""},
	{"::ffff:127.0.0.1%lo", ""},
	{"[127.0.0.1]", ""},
	{"[::1", ""},
	{"::1]", ""},
	{"[[::1]]", ""},
	{"[]", ""},
	{"example.com:443", ""},
	{"user@example.com", ""},
	{"example.com%00.evil.example", ""},
	{"example.com\x00", ""},
	{"example.com\r\nHost: evil.example", ""},
	{"exa mple.com", ""},
	{" example.com", ""},
	{"example.com ", ""},
	{"example.com/", ""},
	{"example.com#", ""},
	{"example.com\\@evil.example", ""},
	{"*.example.com", ""},
	{"-a.example", ""},
	{"a-.example", ""},
	{"xn--a.example", ""},
	{"xn--.example", ""},
	{"xn--example-.com", ""},
	{"exam\u200dple.com", ""},
	{"\u202eexample.com", ""},
	{"\xff.example", ""},
	{strings.Repeat("a", 64) + ".example", ""},
	{strings.Repeat("a.", 127) + "a", ""},
	{strings.Repeat("a", 100_000), ""},
	{strings.Repeat("ü", 100_000), ""},
}

func TestNormHasOneReadingOfAHost(t *testing.T) {
	for _, tt := range hostile {
		got, err := Norm(tt.in)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("Norm(%.80q) = %q, %v; want %q", tt.in, got, err, tt.want)
		}
		if err != nil && fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("Norm(%.80q): %v is no error for a person", tt.in, err)
		}
	}
}

func TestTheLongestNameIsAName(t *testing.T) {
	name := strings.Repeat(strings.Repeat("a", maxLabel)+".", 3) + strings.Repeat("a", 61)
	if len(name) != maxName {
		t.Fatalf("%d", len(name))
	}
	for in, ok := range map[string]bool{name: true, name + ".": true, name + "aa": false, "a." + name: false} {
		if _, err := Norm(in); (err == nil) != ok {
			t.Errorf("a name of %d characters: %v", len(in), err)
		}
	}
}

func FuzzNorm(f *testing.F) {
	for _, tt := range hostile {
		if len(tt.in) < 300 {
			f.Add(tt.in)
		}
	}
	f.Fuzz(func(t *testing.T, in string) {
		name, addr, err := norm(in)
		if err != nil {
			if name != "" || addr.IsValid() {
				t.Fatalf("a refusal of %q came with %q", in, name)
			}
			return
		}
		again, err := Norm(name)
		if err != nil || again != name {
			t.Fatalf("Norm(%q) = %q, but Norm of that = %q, %v", in, name, again, err)
		}
		if len(name) > maxName || strings.ContainsAny(name, " @/%\\[]*?#\x00\r\n") || strings.HasSuffix(name, ".") {
			t.Fatalf("Norm(%q) = %q", in, name)
		}
		if a, err := netip.ParseAddr(name); (err == nil) != addr.IsValid() || err == nil && a != addr {
			t.Fatalf("Norm(%q) = %q, which is an address to some and a name to others", in, name)
		}
		if addr.IsValid() && (addr.Zone() != "" || addr.Is4In6()) {
			t.Fatalf("Norm(%q) = %v", in, addr)
		}
	})
}

func TestPublic(t *testing.T) {
	for text, want := range map[string]bool{
		"0.0.0.0": false, "0.1.2.3": false, "10.0.0.1": false, "11.0.0.1": true, "100.63.255.255": true, "100.64.0.0": false,
		"100.127.255.255": false, "100.128.0.0": true, "126.255.255.255": true, "127.0.0.1": false, "127.255.255.255": false,
		"128.0.0.1": true, "169.253.0.1": true, "169.254.169.254": false, "172.15.0.1": true, "172.16.0.1": false,
		"172.31.255.255": false, "172.32.0.1": true, "192.88.99.1": false, "192.167.0.1": true, "192.168.0.1": false,
		"192.0.2.1": true, "198.51.100.1": true, "203.0.113.1": true, "223.255.255.255": true, "224.0.0.1": false,
		"239.1.1.1": false, "240.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "::ffff:10.0.0.1": false, "::ffff:8.8.8.8": true, "64:ff9b::a00:1": false,
		"64:ff9b::808:808": false, "64:ff9b:1::1": false, "2001::1": false, "2001:1::1": true, "2001:db8::1": true,
		"2002:a00:1::": false, "2003::1": true, "fbff::1": true, "fc00::1": false, "fdff::1": false, "fe7f::1": true,
		"fe80::1": false, "febf::1": false, "ff02::1": false, "fe80::1%eth0": false, "2003::1%eth0": false,
	} {
		a := netip.MustParseAddr(text)
		if Public(a) != want || (Range(a) == "") != want {
			t.Errorf("Public(%s) = %v (%s)", text, !want, Range(a))
		}
	}
	if Public(netip.Addr{}) {
		t.Error("no address is public")
	}
}
