package seatbelt

import (
	"strconv"
	"strings"
)

// A rule is one line of a profile.
type rule struct {
	allow   bool
	ops     []string
	filters []string // any of them; none = always
}

func allow(ops string, filters ...string) rule { return rule{true, strings.Fields(ops), filters} }
func deny(ops string, filters ...string) rule  { return rule{false, strings.Fields(ops), filters} }

func (r rule) String() string {
	word := "deny"
	if r.allow {
		word = "allow"
	}
	return "(" + word + " " + strings.Join(append(append([]string{}, r.ops...), r.filters...), " ") + ")"
}

func literal(p string) string         { return "(literal " + quote(p) + ")" }
func subpath(p string) string         { return "(subpath " + quote(p) + ")" }
func regex(r string) string           { return `(regex #"` + r + `")` } // constant texts only: nothing is escaped
func all(filters ...string) string    { return "(require-all " + strings.Join(filters, " ") + ")" }
func not(filter string) string        { return "(require-not " + filter + ")" }
func mach(name string) string         { return "(global-name " + quote(name) + ")" }
func remoteTCP(port int) string       { return `(remote tcp "localhost:` + strconv.Itoa(port) + `")` }
func localTCP(port int) string        { return `(local tcp "localhost:` + strconv.Itoa(port) + `")` }
func remoteUnix(filter string) string { return "(remote unix-socket " + filter + ")" }
func localUnix(filter string) string  { return "(local unix-socket " + filter + ")" }
func pathLiteral(p string) string     { return "(path-literal " + quote(p) + ")" }

// quote writes a string of the profile language, in which the backslash and the quote have to be escaped.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func each(write func(string) string, paths []string) []string {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		out = append(out, write(p))
	}
	return out
}
