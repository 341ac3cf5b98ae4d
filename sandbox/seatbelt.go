package sandbox

import (
	"errors"

	"termic/sandbox/seatbelt"
)

// Profile is the text of the macOS profile of this policy, for sandbox-exec -p.
func (p Policy) Profile() (string, error) {
	if !p.Caged() || p.goos != "darwin" {
		return "", errors.New("write a profile: the policy is not for a cage on macOS")
	}
	s := seatbelt.Spec{Hide: p.deny, Pins: p.pinned, Home: p.homeDir, Dir: p.worktree, Data: p.dataDir,
		AllHosts: !p.OwnNetwork(), Doors: p.Doors(), Sockets: p.termic}
	if p.OwnNetwork() {
		s.Inbound = p.ports
	}
	for _, g := range p.grants {
		switch {
		case g.origin == own:
			s.Own = append(s.Own, g.path)
		case g.write:
			s.Write = append(s.Write, g.path)
		default:
			s.Read = append(s.Read, g.path)
		}
	}
	return seatbelt.Text(s)
}
