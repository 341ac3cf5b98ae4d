package cli

import (
	"slices"
	"strings"

	"termic/internal/verb"
)

// paths returns every way in which a verb is called on the command line.
func paths(v *verb.Verb) []string {
	if v.CLI == "" || !v.On(face) {
		return nil
	}
	return append([]string{v.CLI}, v.Aliases...)
}

// find returns the verb at a path, or nil.
func find(path string) *verb.Verb {
	table := verb.All()
	for i := range table {
		if slices.Contains(paths(&table[i]), path) {
			return &table[i]
		}
	}
	return nil
}

// mustFind is for verbs that this package itself relies on.
func mustFind(path string) *verb.Verb {
	if v := find(path); v != nil {
		return v
	}
	panic("cli: the table has no verb " + path)
}

// isPrefix reports whether a path is a verb or the beginning of one.
func isPrefix(path string) bool {
	table := verb.All()
	for i := range table {
		for _, p := range paths(&table[i]) {
			if p == path || strings.HasPrefix(p, path+" ") {
				return true
			}
		}
	}
	return false
}

// nextWords lists what may follow the first word of a group.
func nextWords(group string) []string {
	var out []string
	for _, v := range verb.All() {
		if rest, ok := strings.CutPrefix(v.CLI, group+" "); ok && v.On(face) {
			out = append(out, rest)
		}
	}
	return out
}

// noVerb is the answer to words that name no verb, with the one that was probably meant.
func noVerb(asked string) error {
	var all []string
	for _, v := range verb.All() {
		for _, path := range paths(&v) {
			first, _, _ := strings.Cut(path, " ")
			all = append(all, path, first)
		}
	}
	return orNear(badUsage(nil, "There is no verb %q", clean(asked)), asked, all)
}

// flagsOf lists the flags of a verb, those of every verb among them.
func flagsOf(v *verb.Verb) []string {
	var out []string
	for _, f := range globalFlags() {
		out = append(out, f.Flag)
	}
	if v != nil {
		for _, f := range commandOf(v).Flags {
			out = append(out, f.Flag)
		}
	}
	return out
}
