package sandbox

import (
	"net/netip"
	"strings"

	"termic/sandbox/proxy"
	"termic/sandbox/registry"
)

// NetgroupIn is the name of the netgroup that an entry of a list of hosts is about: "@office", "@office:5432", "!@office". Names of
// lists of hosts, such as @forges, are none.
func NetgroupIn(entry string) (name string, ok bool) {
	text := strings.TrimPrefix(strings.TrimSpace(entry), "!")
	if !strings.HasPrefix(text, "@") || text == registry.Preset {
		return "", false
	}
	if _, preset := Preset(text); preset {
		return "", false
	}
	name, _, _ = strings.Cut(text[1:], ":")
	return name, name != ""
}

// OwnAddress reports whether connecting to an address reaches one of some listeners.
func OwnAddress(own []netip.AddrPort, a netip.AddrPort) bool { return proxy.OwnAddress(own, a) }
