package cli

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain":           "plain",
		"é 漢 👩‍👩‍👧":       "é 漢 👩‍👩‍👧",
		"\x1b[31mred\x07": "␛[31mred␇",
		"a\nb\tc\r":       "a␊b␉c␍",
		"\x7f\u009b2J":    "␡<U+009B>2J",
		"evil\u202egnp":   "evil<U+202E>gnp",
		"line\u2028end":   "line<U+2028>end",
		"bad\xffbyte":     "bad�byte",
		"\x00":            "␀",
	} {
		if got := clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := cleanLines("a\r\nb\tc\x1b\rd"); got != "a\nb\tc␛␍d" {
		t.Errorf("lines: %q", got)
	}
}

// TestCleanLetsNothingThrough is the law: no control character and no change of direction comes out, and cleaning
// twice changes nothing.
func TestCleanLetsNothingThrough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		got := clean(s)
		if i := strings.IndexFunc(got, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }); i >= 0 {
			t.Fatalf("%q became %q", s, got)
		}
		if clean(got) != got {
			t.Fatalf("%q changes again", got)
		}
		lines := cleanLines(s)
		if i := strings.IndexFunc(lines, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
			t.Fatalf("%q became the lines %q", s, lines)
		}
	})
}
