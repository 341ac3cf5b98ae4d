package cli

import (
	"regexp"

	"termic/internal/verb"
)

// verbName finds words that may be the name of a verb. One in quotes is a value, such as what a rule does.
var verbName = regexp.MustCompile(`"?\b[a-z]+(?:_[a-z]+)+\b`)

// commands puts commands in place of the names of verbs: an error is worded once for every face, and a person at the
// command line knows `termic send`, not task_send.
func commands(s string) string {
	return verbName.ReplaceAllStringFunc(s, func(name string) string {
		if v, ok := verb.Lookup(name); ok && v.CLI != "" {
			return "`termic " + v.CLI + "`"
		}
		return name
	})
}
