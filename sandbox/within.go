package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

// Part is the part of a capability in which one is wider than the other.
type Part string

// The parts, in the order in which Within looks at them.
const (
	PartUnknown  Part = "unknown" // one of the two was not provisioned
	PartMode     Part = "mode"
	PartControl  Part = "control"
	PartSecrets  Part = "secrets"
	PartProjects Part = "projects"
	PartAgents   Part = "agents"
	PartFiles    Part = "files"
	PartHosts    Part = "hosts"
)

// Wider is why one capability is not within another. Its text names what is wider, so it is for the owner and the log; a
// caged caller learns no more than the part, or it would see what others are granted.
type Wider struct {
	Part Part
	Text string
}

func (w *Wider) Error() string { return w.Text }

func wider(part Part, format string, args ...any) error {
	return &Wider{Part: part, Text: fmt.Sprintf(format, args...)}
}

// strictness orders the modes. Monitor is no stricter than Off in what it allows, but what runs in it is recorded, so a
// monitored caller cannot make an unmonitored child.
var strictness = map[Mode]int{Off: 0, Monitor: 1, EnforceFs: 2, Enforce: 3}

// Within reports whether everything that a terminal with capability a can do, one with capability b can do as well: nil,
// or a *Wider that says what is wider. It looks at the two values only, and answers for any two.
//
// It is reflexive and transitive, two capabilities that are within one another are equal in effect, and it is sound: it
// refuses rather than guess. So the union of a folder's parts does not make up for the folder, and a denial in b counts
// even where b's own workspace lies in it.
func Within(a, b Capability) error {
	switch {
	case !a.known || !b.known:
		return wider(PartUnknown, "what it was started with is not known")
	case strictness[a.mode] < strictness[b.mode]:
		return wider(PartMode, "mode %s is less strict than %s", a.mode, b.mode)
	case a.control > b.control:
		return wider(PartControl, "its control of Termic is %s, beyond %s", a.control, b.control)
	}
	// Before the limits of files: what is in the environment of one is not thereby in another's, however far that reaches.
	if name, ok := outside(a.secrets, b.secrets); ok {
		return wider(PartSecrets, "it holds the secret %s", name)
	}
	switch {
	case b.unbounded:
		return nil
	case a.unbounded:
		return wider(PartFiles, "its files and hosts have no limit")
	}
	if id, ok := outside(a.projects, b.projects); ok {
		return wider(PartProjects, "it reaches project %s", id)
	}
	if id, ok := outside(a.agents, b.agents); ok {
		return wider(PartAgents, "it reaches agent %s", id)
	}
	if err := filesWithin(a, b); err != nil {
		return err
	}
	if rest, ok := a.hosts.Beyond(b.hosts); ok {
		return wider(PartHosts, "it may reach %s", strings.Join(rest.Strings(), ", "))
	}
	if rest, ok := a.nets.Beyond(b.nets, b.hosts); ok {
		return wider(PartHosts, "it may reach %s", rest)
	}
	if rest := b.refused.Without(a.refused); !rest.Empty() {
		return wider(PartHosts, "it may reach %s, if a rule allows it", strings.Join(rest.Strings(), ", "))
	}
	return nil
}

// outside returns the first element that the other list does not have.
func outside(list, other []string) (string, bool) {
	i := slices.IndexFunc(list, func(s string) bool { return !slices.Contains(other, s) })
	if i < 0 {
		return "", false
	}
	return list[i], true
}

func filesWithin(a, b Capability) error {
	reads, readable := a.readable(), b.readable()
	for _, p := range reads {
		if !coveredBy(p, readable) {
			return wider(PartFiles, "it may read %s", p)
		}
	}
	for _, p := range a.write {
		if !coveredBy(p, b.write) {
			return wider(PartFiles, "it may write %s", p)
		}
	}
	if p, ok := undone(b.deny, reads, a.deny); ok {
		return wider(PartFiles, "it may read %s", p)
	}
	if p, ok := undone(b.pinned, a.write, slices.Concat(a.deny, a.pinned)); ok {
		return wider(PartFiles, "it may write %s", p)
	}
	return nil
}

// undone returns the first part of what is forbidden that a grant allows and no other prohibition takes back.
func undone(forbidden, grants, prohibitions []string) (string, bool) {
	for _, f := range forbidden {
		for _, g := range grants {
			if p, ok := overlap(f, g); ok && !coveredBy(p, prohibitions) {
				return p, true
			}
		}
	}
	return "", false
}
