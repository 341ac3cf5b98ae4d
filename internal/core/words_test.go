package core

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"termic/internal/api"
	"termic/internal/fault"
)

func TestCountOf(t *testing.T) {
	for _, c := range []struct {
		n    int
		noun string
		want string
	}{{1, "task", "1 task"}, {0, "task", "0 tasks"}, {2, "nested repository", "2 nested repositories"}, {3, "stash", "3 stashes"}} {
		if got := countOf(c.n, c.noun); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	words := lossWords([]api.Loss{{Kind: "dirty", Count: 1}, {Kind: "untracked", Count: 2}, {Kind: "something_new", Count: 2}})
	if words != "1 changed file, 2 untracked files, 2 something news" {
		t.Errorf("%q", words)
	}
}

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{"a": true, "fix login": true, "\u4f60\u597d": true, "": false, " ": false, " a": false, "a\tb": false,
		"a\x1b[31m": false, "a\u0085": false, "log\u200bin": false, "\u202enigol": false, "a\u2028b": false, "\ufeffa": false, "👩\u200d💻": true, "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645": true, strings.Repeat("x", 200): true, strings.Repeat("x", 201): false, "\xff": false} {
		if err := checkName("task", name); (err == nil) != ok || err != nil && fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// The cutters keep a valid prefix or suffix, and what they keep fits after escaping as encoding/json escapes.
func TestEscapedCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.ToValidUTF8(rapid.String().Draw(t, "s"), "?")
		limit := rapid.IntRange(0, 60).Draw(t, "limit")
		for name, got := range map[string]string{"tail": tailEscaped(s, limit), "head": headEscaped(s, limit)} {
			raw, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if len(raw)-2 > limit {
				t.Fatalf("%s keeps %q: %d bytes, limit %d", name, got, len(raw)-2, limit)
			}
			if name == "tail" && !strings.HasSuffix(s, got) || name == "head" && !strings.HasPrefix(s, got) {
				t.Fatalf("%s of %q is %q", name, s, got)
			}
			if whole, _ := json.Marshal(s); len(whole)-2 <= limit && got != s {
				t.Fatalf("%s cut %q to %q for nothing", name, s, got)
			}
		}
	})
}
