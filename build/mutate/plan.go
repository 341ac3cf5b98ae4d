package main

import "strings"

// target is a package whose decisions are mutated.
type target struct {
	pkg   string // folder
	files string // those that decide, parted by spaces
	tests string // folders of the packages whose tests hold it, parted by spaces
}

// plan is what is mutated: what says who may do what, and what lets a stranger no further. Words, paths and drawings are left out, and so is
// what runs inside a cage, whose verdicts the table of sandbox/attack holds.
var plan = []target{
	{"internal/grant", "grant.go registry.go", "internal/grant"},
	{"internal/verb", "dispatch.go decode.go together.go verb.go", "internal/verb"},
	{"mcp", "gate.go door.go headers.go envelope.go checks.go strict.go methods.go refusals.go", "mcp"},
	{"internal/inlet", "backoff.go body.go calls.go conns.go", "internal/inlet"},
	{"internal/netgroup", "netgroup.go", "internal/netgroup sandbox/hosts"},
	{"sandbox", "within.go capability.go union.go names.go netgroups.go", "sandbox"},
	{"sandbox/hosts", "norm.go rule.go set.go nets.go public.go", "sandbox/hosts sandbox"},
	{"sandbox/proxy", "judge.go decision.go target.go", "sandbox/proxy"},
	{"clientsetup", "shape.go entry.go receipt.go command.go filekind.go", "clientsetup"},
}

// headless are the tags of every build here.
const headless = "headless"

// testPackages lists the folders of all tests of a plan, once.
func testPackages(plan []target) []string {
	var out []string
	seen := map[string]bool{}
	for _, t := range plan {
		for _, p := range strings.Fields(t.tests) {
			if !seen[p] {
				seen[p] = true
				out = append(out, p)
			}
		}
	}
	return out
}
