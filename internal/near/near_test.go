package near

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMatch(t *testing.T) {
	verbs := []string{"list", "status", "new", "send", "wait", "attach", "archive", "apply", "project add", "stop", "tab"}
	for asked, want := range map[string]string{"statsu": "status", "Lst": "list", "archiv": "archive", "nwe": "new", "projct add": "project add",
		"": "", "x": "", "banana": "", "at": "", "sto": "stop", strings.Repeat("a", 100): ""} {
		got, ok := Match(asked, verbs)
		if got = map[bool]string{true: got}[ok]; got != want {
			t.Errorf("%q: %q, want %q", asked, got, want)
		}
	}
	if got, ok := Match("tesk", []string{"task", "desk"}); ok {
		t.Errorf("of two it chose %q", got)
	}
}

// TestDistanceLaws: nothing is nearer than itself, the way back is as long, and no way is longer than the longer word.
func TestDistanceLaws(t *testing.T) {
	word := rapid.StringMatching(`[abc]{0,8}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := []rune(word.Draw(t, "a")), []rune(word.Draw(t, "b"))
		d := distance(a, b)
		if (d == 0) != (string(a) == string(b)) || d != distance(b, a) || d > max(len(a), len(b)) {
			t.Fatalf("%q to %q is %d", string(a), string(b), d)
		}
	})
}
