package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"termic/internal/netgroup"
	"termic/sandbox/hosts"
)

// encoded is the form in which a capability is written down.
type encoded struct {
	Version   int       `json:"v"`
	Mode      Mode      `json:"mode"`
	Control   Control   `json:"control"`
	Projects  []string  `json:"projects,omitempty"`
	Agents    []string  `json:"agents,omitempty"`
	Unbounded bool      `json:"unbounded,omitempty"`
	Read      []string  `json:"read,omitempty"`
	Write     []string  `json:"write,omitempty"`
	Deny      []string  `json:"deny,omitempty"`
	Pinned    []string  `json:"pinned,omitempty"`
	Hosts     hosts.Set `json:"hosts"`
	Secrets   []string  `json:"secrets,omitempty"`

	// Addresses of netgroups, of version 2 too.
	Nets    hosts.Nets   `json:"nets,omitzero"`
	Refused netgroup.Set `json:"refused,omitzero"`
}

// encodingVersion changes whenever an older reader would understand a capability as less than it is.
// Version 2 has secrets and netgroups; one of version 1 holds none.
const encodingVersion = 2

// MarshalBinary writes it down for the store, as JSON. The zero value is an error.
func (c Capability) MarshalBinary() ([]byte, error) {
	if !c.known {
		return nil, errors.New("write a capability down: it was not provisioned")
	}
	return json.Marshal(encoded{encodingVersion, c.mode, c.control, c.projects, c.agents, c.unbounded, c.read, c.write,
		c.deny, c.pinned, c.hosts, c.secrets, c.nets, c.refused})
}

// ParseCapability reads what MarshalBinary wrote. It refuses what no provision could have made, and a version that it
// does not know.
func ParseCapability(b []byte) (Capability, error) {
	var e encoded
	if err := json.Unmarshal(b, &e); err != nil {
		return Capability{}, fmt.Errorf("read a capability: %w", err)
	}
	if e.Version != encodingVersion && e.Version != 1 {
		return Capability{}, fmt.Errorf("read a capability: version %d is not %d", e.Version, encodingVersion)
	}
	if e.Version == 1 && !(e.Nets.Empty() && e.Refused.Empty()) {
		return Capability{}, fmt.Errorf("read a capability: version %d knows no netgroups", e.Version)
	}
	mode, err := ParseMode(string(e.Mode))
	if err != nil {
		return Capability{}, fmt.Errorf("read a capability: %w", err)
	}
	filters := mode == EnforceFs || mode == Enforce
	if filters == e.Unbounded {
		return Capability{}, fmt.Errorf("read a capability: unbounded is %v in mode %s", e.Unbounded, mode)
	}
	if !filters {
		return holding(Unbounded(mode), e.Secrets), nil
	}
	if e.Control != ControlNone && e.Control != ControlScoped {
		return Capability{}, fmt.Errorf("read a capability: control %s in mode %s", e.Control, mode)
	}
	for _, p := range slices.Concat(e.Read, e.Write, e.Deny, e.Pinned) {
		if !filepath.IsAbs(p) || filepath.Clean(p) != p {
			return Capability{}, fmt.Errorf("read a capability: %q is not a canonical path", p)
		}
	}
	return holding(Capability{known: true, mode: mode, control: e.Control, projects: sorted(e.Projects), agents: sorted(e.Agents),
		read: e.Read, write: e.Write, deny: e.Deny, pinned: e.Pinned, hosts: e.Hosts, nets: e.Nets, refused: e.Refused}.canonical(), e.Secrets), nil
}
