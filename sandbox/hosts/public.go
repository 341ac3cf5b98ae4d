package hosts

import "net/netip"

// notPublic are the ranges that no name may lead to unless an owner's rule says so: they are this machine, the
// networks that it stands in, or a way of writing such an address inside another one.
var notPublic = [...]struct {
	prefix netip.Prefix
	what   string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "this machine"},             // RFC 1122, 3.2.1.3
	{netip.MustParsePrefix("10.0.0.0/8"), "a private network"},       // RFC 1918
	{netip.MustParsePrefix("100.64.0.0/10"), "a provider's network"}, // RFC 6598
	{netip.MustParsePrefix("127.0.0.0/8"), "this machine"},           // RFC 1122, 3.2.1.3
	{netip.MustParsePrefix("169.254.0.0/16"), "the local link"},      // RFC 3927; cloud metadata lives here
	{netip.MustParsePrefix("172.16.0.0/12"), "a private network"},    // RFC 1918
	{netip.MustParsePrefix("192.88.99.0/24"), "a 6to4 relay"},        // RFC 7526
	{netip.MustParsePrefix("192.168.0.0/16"), "a private network"},   // RFC 1918
	{netip.MustParsePrefix("224.0.0.0/4"), "a multicast group"},      // RFC 5771
	{netip.MustParsePrefix("240.0.0.0/4"), "a reserved range"},       // RFC 1112, 4
	{netip.MustParsePrefix("::/127"), "this machine"},                // RFC 4291, 2.5.2 and 2.5.3
	{netip.MustParsePrefix("64:ff9b::/96"), "an IPv4 translation"},   // RFC 6052
	{netip.MustParsePrefix("64:ff9b:1::/48"), "an IPv4 translation"}, // RFC 8215
	{netip.MustParsePrefix("2001::/32"), "a Teredo tunnel"},          // RFC 4380
	{netip.MustParsePrefix("2002::/16"), "a 6to4 tunnel"},            // RFC 3056
	{netip.MustParsePrefix("fc00::/7"), "a private network"},         // RFC 4193
	{netip.MustParsePrefix("fe80::/10"), "the local link"},           // RFC 4291, 2.5.6
	{netip.MustParsePrefix("ff00::/8"), "a multicast group"},         // RFC 4291, 2.7
}

// Public tells whether an address may be dialled for a name without a rule that lifts the ban. Documentation ranges
// count as public: nothing answers there.
func Public(a netip.Addr) bool { return Range(a) == "" }

// Range names, in words for a person, the range that makes an address not public; it is empty for a public one.
func Range(a netip.Addr) string {
	if !a.IsValid() {
		return "no address"
	}
	if a.Zone() != "" {
		return "the local link"
	}
	a = a.Unmap()
	for _, r := range notPublic {
		if r.prefix.Contains(a) {
			return r.what
		}
	}
	return ""
}
