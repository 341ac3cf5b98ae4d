package sandbox

import (
	"net/netip"
	"strings"

	"termic/internal/fault"
	"termic/internal/netgroup"
	"termic/sandbox/hosts"
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
	return strings.TrimSuffix(name, "+private"), name != ""
}

// CheckNetgroupEntry reads an entry of a list of hosts that names a netgroup; the error says what to write instead.
func CheckNetgroupEntry(entry string) error {
	text, not := strings.CutPrefix(strings.TrimSpace(entry), "!")
	if name, _ := NetgroupIn(entry); not && text != "@"+name {
		return fault.New(fault.InvalidArgument, "%q refuses addresses at every port", entry).WithHint("Write !@%s.", name)
	}
	_, _, err := hosts.ParseNet(text)
	return err
}

// resolveNames replaces the names of lists in a layer's hosts by their rules, and takes the netgroups that it names into the policy.
func (c *composer) resolveNames(l Layer) ([]string, error) {
	var out []string
	for _, h := range l.Hosts {
		if name, ok := NetgroupIn(h); ok {
			if err := c.netgroup(l, h, name); err != nil {
				return nil, err
			}
			continue
		}
		list, preset := Preset(h)
		if !preset {
			list = []string{h}
		}
		out = append(out, list...)
	}
	return out, nil
}

// netgroup takes in one entry that names a netgroup.
func (c *composer) netgroup(l Layer, entry, name string) error {
	members, ok := c.w.Netgroups[strings.ToLower(name)]
	if !ok {
		return fault.New(fault.InvalidArgument, "%s: there is neither a list of hosts nor a netgroup named %q", l.Name, "@"+name).
			WithHint("Use @forges or @minimal, name the hosts, or add it with `termic netgroup add`.")
	}
	set, err := netgroup.Parse(members)
	if err == nil {
		err = CheckNetgroupEntry(entry)
	}
	if err != nil {
		f := fault.From(err)
		return fault.New(fault.InvalidArgument, "%s: %s", l.Name, f.Message).WithHint("%s", f.Hint)
	}
	if strings.HasPrefix(strings.TrimSpace(entry), "!") {
		c.refused = c.refused.Union(set)
		return nil
	}
	_, ports, err := hosts.ParseNet(entry)
	if err != nil {
		return err
	}
	c.nets = c.nets.With(name, ports, set)
	if (hosts.Nets{}).With(name, ports, set).Empty() {
		c.warn("%s names @%s, which has no public address, so it allows nothing. Name a host with +private, or an address itself.", l.Name, name)
	} else {
		c.warn("%s allows addresses by @%s. Any name is looked up to learn its address, so an agent can tell something to whoever answers for a name.", l.Name, name)
	}
	return nil
}

// OwnAddress reports whether connecting to an address reaches one of some listeners.
func OwnAddress(own []netip.AddrPort, a netip.AddrPort) bool { return proxy.OwnAddress(own, a) }
