package core

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"termic/internal/fault"
	"termic/internal/store"
)

// countOf says how many of a thing there are: "1 task", "3 tasks", "2 repositories", "2 stashes".
func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	plural := noun + "s"
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		plural = stem + "ies"
	}
	if strings.HasSuffix(noun, "sh") {
		plural = noun + "es"
	}
	return fmt.Sprintf("%d %s", n, plural)
}

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}

// checkName refuses names that a list, a path or a terminal could not show: empty, too long, with control characters.
func checkName(what, name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return fault.New(fault.InvalidArgument, "The %s needs a name", what)
	case name != strings.TrimSpace(name):
		return fault.New(fault.InvalidArgument, "The name %q begins or ends with a space", name)
	case len(name) > store.MaxName:
		return fault.New(fault.InvalidArgument, "The name is %d bytes long; at most %d are taken", len(name), store.MaxName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unseen):
		return fault.New(fault.InvalidArgument, "The name %q holds characters that cannot be shown", name)
	}
	return nil
}

// unseen reports characters that change how others look, or that look like none: with them one name could pass for another.
// The joiners of scripts and emoji are none of them.
func unseen(r rune) bool {
	const zeroWidthNonJoiner, zeroWidthJoiner = 0x200c, 0x200d
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) && r != zeroWidthNonJoiner && r != zeroWidthJoiner
}

// quoted shows untrusted text inside a sentence.
func quoted(s string) string { return fmt.Sprintf("%q", s) }

// shellWord quotes a path so that it can be pasted into a shell.
func shellWord(s string) string {
	q, err := syntax.Quote(s, syntax.LangPOSIX)
	if err != nil {
		return quoted(s)
	}
	return q
}
