package core

import "net/netip"

// ownAddresses are the addresses that Termic itself listens on: no cage's proxy leads to them, and no check looks at them.
func (c *Core) ownAddresses() []netip.AddrPort {
	var out []netip.AddrPort
	if c.endpoint != nil {
		if port := uint16(c.endpoint.Status().Port); port != 0 {
			out = append(out, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port), netip.AddrPortFrom(netip.IPv6Loopback(), port))
		}
	}
	if c.webAddr != nil {
		if at := c.webAddr(); at.IsValid() {
			out = append(out, at)
		}
	}
	return out
}
