package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes text from outside safe to print on one line: a title or a file name may hold sequences that command the
// terminal, or that turn the direction of what follows. Each such character is shown as a mark instead.
func clean(s string) string { return mark(s, false) }

// cleanLines is clean for text of several lines: line ends and tabs stay.
func cleanLines(s string) string { return mark(strings.ReplaceAll(s, "\r\n", "\n"), true) }

func mark(s string, lines bool) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case lines && (r == '\n' || r == '\t'):
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune('␀' + r) // the pictures of the control characters
		case r == 0x7f:
			b.WriteRune('␡')
		case r >= 0x80 && r < 0xa0, unicode.Is(unicode.Bidi_Control, r), r == '\u2028', r == '\u2029':
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r) // a byte that is no UTF-8 comes as the replacement character
		}
	}
	return b.String()
}

// isPlain reports whether s is printable ASCII, which needs no marks.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= utf8.RuneSelf || s[i] == 0x7f {
			return false
		}
	}
	return true
}
