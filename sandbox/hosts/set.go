package hosts

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"termic/internal/fault"
)

// Set is a set of rules in canonical form: ports of one host are merged, rules that others cover are gone, the order
// is fixed. So two sets that allow the same are equal (Equal), however they were written. It is immutable; the zero
// value allows nothing.
type Set struct {
	rules []Rule
}

// All allows everything: the network of a task without a network cage. Its text is "*+private".
func All() Set { return Set{rules: []Rule{{kind: anyHost, private: true}}} }

// Parse reads a list of rules. The first mistake is the error, a fault.Error in words; no list is read in part.
func Parse(list []string) (Set, error) {
	if len(list) > MaxRules {
		return Set{}, fault.New(fault.InvalidArgument, "A list of hosts takes at most %d rules", MaxRules)
	}
	return parse(list)
}

func parse(list []string) (Set, error) {
	rules := make([]Rule, 0, len(list))
	for _, text := range list {
		r, err := ParseRule(text)
		if err != nil {
			return Set{}, err
		}
		rules = append(rules, r)
	}
	return Of(rules...), nil
}

// Of makes a set of rules; zero rules are left out.
func Of(rules ...Rule) Set {
	merged := mergePorts(rules)
	var out []Rule
	for i, r := range merged {
		if r = uncovered(r, merged, i); !r.isZero() {
			out = append(out, r)
		}
	}
	return Set{rules: out}
}

// mergePorts returns one rule per host, kind and freedom, sorted.
func mergePorts(rules []Rule) []Rule {
	sorted := slices.DeleteFunc(slices.Clone(rules), Rule.isZero)
	slices.SortStableFunc(sorted, compareRules)
	var merged []Rule
	for _, r := range sorted {
		last := len(merged) - 1
		if last < 0 || compareRules(merged[last], r) != 0 {
			r.ports = slices.Clone(r.ports)
			merged = append(merged, r)
			continue
		}
		if merged[last].ports == nil || r.ports == nil { // every port
			merged[last].ports = nil
			continue
		}
		ports := append(merged[last].ports, r.ports...)
		slices.Sort(ports)
		merged[last].ports = slices.Compact(ports)
	}
	return merged
}

// uncovered returns r with only the ports that no other rule covers, or the zero rule. The merged rules hold no two
// that cover one another at a port, except a literal address that is public, which covers nothing wider.
func uncovered(r Rule, merged []Rule, self int) Rule {
	for i, o := range merged {
		if i == self || !o.covers(r) {
			continue
		}
		if o.ports == nil {
			return Rule{}
		}
		if r.ports == nil {
			continue
		}
		r.ports = slices.DeleteFunc(slices.Clone(r.ports), o.hasPort)
		if len(r.ports) == 0 {
			return Rule{}
		}
	}
	return r
}

// Union returns what either set allows.
func (s Set) Union(o Set) Set { return Of(slices.Concat(s.rules, o.rules)...) }

// Allows tells whether a host may be reached at a port, and by which rule. The host may be in any form that Norm
// takes; what Norm refuses is not allowed. Where several rules match, one that lifts the ban on private addresses is
// named first.
func (s Set) Allows(host string, port uint16) (Rule, bool) {
	name, addr, err := norm(host)
	if err != nil {
		return Rule{}, false
	}
	var found Rule
	for _, r := range s.rules {
		if !r.allows(name, addr, port) {
			continue
		}
		if r.private {
			return r, true
		}
		if found.isZero() {
			found = r
		}
	}
	return found, !found.isZero()
}

// Within tells whether everything that s allows, o allows with the same freedom. It is reflexive and transitive, and
// two sets within each other are equal.
func (s Set) Within(o Set) bool {
	_, ok := s.Beyond(o)
	return !ok
}

// Beyond returns the part of s that o does not allow, as a set for a sentence, and whether there is any.
func (s Set) Beyond(o Set) (Set, bool) {
	var out []Rule
	for _, r := range s.rules {
		if rest := uncovered(r, o.rules, -1); !rest.isZero() {
			out = append(out, rest)
		}
	}
	return Set{rules: out}, len(out) > 0
}

// Equal tells whether both sets allow the same.
func (s Set) Equal(o Set) bool { return slices.Equal(s.Strings(), o.Strings()) }

// Unbounded tells whether the set holds a rule that names no host.
func (s Set) Unbounded() bool { return slices.ContainsFunc(s.rules, Rule.Unbounded) }

// Empty tells whether nothing is allowed.
func (s Set) Empty() bool { return len(s.rules) == 0 }

// Rules returns the rules in canonical order; the caller owns the slice, not the rules' insides.
func (s Set) Rules() []Rule { return slices.Clone(s.rules) }

// Strings returns the rules as text; Parse reads them back into an equal set.
func (s Set) Strings() []string {
	out := make([]string, 0, len(s.rules))
	for _, r := range s.rules {
		for len(r.ports) > MaxPorts {
			head := r
			head.ports, r.ports = r.ports[:MaxPorts], r.ports[MaxPorts:]
			out = append(out, head.String())
		}
		out = append(out, r.String())
	}
	return out
}

// String joins the rules with spaces.
func (s Set) String() string { return strings.Join(s.Strings(), " ") }

// MarshalJSON writes the set as a list of texts.
func (s Set) MarshalJSON() ([]byte, error) { return json.Marshal(s.Strings()) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Set) UnmarshalJSON(b []byte) error {
	var list []string
	if err := json.Unmarshal(b, &list); err != nil {
		return fmt.Errorf("read a set of hosts: %w", err)
	}
	set, err := parse(list) // a union may hold more rules than one list
	if err != nil {
		return err
	}
	*s = set
	return nil
}
