package link

import (
	"net/url"
	"strings"
	"testing"

	"termic/internal/fault"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Link
	}{
		{"termic://open/fix-login", Link{Kind: Open, Task: "fix-login"}},
		{"TERMIC://Open/fix%20login/", Link{Kind: Open, Task: "fix login"}},
		{"termic://open/api/fix", Link{Kind: Open, Task: "api/fix"}},
		{"termic://open?task=fix&project=api", Link{Kind: Open, Task: "fix", Project: "api"}},
		{"termic://new", Link{Kind: New}},
		{"termic://new/", Link{Kind: New}},
		{"termic://new?project=api&name=Fix+it&prompt=Do%20this%0Athen%20that&agent=claude&branch=a/b&base=main",
			Link{Kind: New, Project: "api", Name: "Fix it", Prompt: "Do this\nthen that", Agent: "claude", Branch: "a/b", Base: "main"}},
		{"termic://new?prompt=a%0D%0A%09b", Link{Kind: New, Prompt: "a\n\tb"}},
		{"termic://new?name=%F0%9F%91%A9%E2%80%8D%F0%9F%94%A7%20%E6%BC%A2", Link{Kind: New, Name: "👩‍🔧 漢"}},
		{"termic://new?prompt=" + strings.Repeat("x", maxPrompt), Link{Kind: New, Prompt: strings.Repeat("x", maxPrompt)}},
	} {
		got, err := Parse(tt.text)
		if err != nil || got != tt.want {
			t.Errorf("%.80s: got %+v, %v", tt.text, got, err)
		}
	}
}

// secretWord stands in every link that is refused: no error may have it.
const secretWord = "hunter2"

func TestParseRefuses(t *testing.T) {
	esc := url.QueryEscape
	for name, text := range map[string]string{
		"another scheme":       "https://open/" + secretWord,
		"no slashes":           "termic:open/" + secretWord,
		"another act":          "termic://run/" + secretWord,
		"no act":               "termic:///" + secretWord,
		"a user":               "termic://" + secretWord + "@open/x",
		"a port":               "termic://open:80/" + secretWord,
		"a fragment":           "termic://open/x#" + secretWord,
		"a broken escape":      "termic://open/" + secretWord + "%zz",
		"a broken query":       "termic://new?name=" + secretWord + ";x",
		"no task":              "termic://open?project=" + secretWord,
		"a task twice":         "termic://open/" + secretWord + "?task=" + secretWord,
		"a path of new":        "termic://new/" + secretWord,
		"a key twice":          "termic://new?name=a&name=" + secretWord,
		"the cage":             "termic://new?sandbox=off&name=" + secretWord,
		"the box":              "termic://new?mcp=true&name=" + secretWord,
		"no questions":         "termic://new?yolo=true&name=" + secretWord,
		"the place":            "termic://new?mode=main&name=" + secretWord,
		"a worktree":           "termic://new?from=/tmp&name=" + secretWord,
		"a session":            "termic://new?resume=" + secretWord,
		"an unknown key":       "termic://new?" + secretWord + "=1",
		"a key in capitals":    "termic://new?Prompt=" + secretWord,
		"a prompt for open":    "termic://open/x?prompt=" + secretWord,
		"too long":             "termic://new?prompt=" + secretWord + strings.Repeat("x", MaxBytes),
		"a long prompt":        "termic://new?prompt=" + secretWord + strings.Repeat("x", maxPrompt),
		"a long name":          "termic://new?name=" + secretWord + strings.Repeat("x", maxWord),
		"an option as base":    "termic://new?base=--" + secretWord,
		"an option as branch":  "termic://new?branch=-" + secretWord,
		"an escape":            "termic://new?prompt=" + secretWord + esc("\x1b[201~"),
		"a return":             "termic://new?prompt=" + secretWord + esc("\rx"),
		"a line in a name":     "termic://new?name=" + secretWord + esc("\nx"),
		"a zero":               "termic://open/" + secretWord + "%00",
		"a later control":      "termic://new?prompt=" + secretWord + esc("\u009b"),
		"turned text":          "termic://new?prompt=" + secretWord + esc("\u202e"),
		"an isolate":           "termic://new?name=" + secretWord + esc("\u2066"),
		"a blank without room": "termic://new?prompt=" + secretWord + esc("\u200b"),
		"tag characters":       "termic://new?prompt=" + secretWord + esc("\U000e0041"),
		"hidden selectors":     "termic://new?prompt=" + secretWord + esc("\U000e0101"),
		"a filler":             "termic://new?prompt=" + secretWord + esc("\u3164"),
		"a private character":  "termic://new?prompt=" + secretWord + esc("\ue000"),
		"a line separator":     "termic://new?prompt=" + secretWord + esc("\u2028"),
		"broken UTF-8":         "termic://new?prompt=" + secretWord + "%ff",
		"text after blanks":    "termic://new?prompt=" + secretWord + strings.Repeat("+", maxBlanks+1) + "x",
		"text after tabs":      "termic://new?prompt=" + secretWord + strings.Repeat("%09", 6) + "x",
		"text after lines":     "termic://new?prompt=" + secretWord + strings.Repeat("%0A+", maxEmpty+1) + "x",
	} {
		got, err := Parse(text)
		f := fault.From(err)
		if err == nil || f.Code != fault.InvalidArgument || f.Message == "" {
			t.Errorf("%s: got %+v, %v", name, got, err)
			continue
		}
		if strings.Contains(err.Error()+f.Hint, secretWord) {
			t.Errorf("%s: the error repeats the link: %v", name, err)
		}
	}
}

func TestIs(t *testing.T) {
	for text, want := range map[string]bool{"termic://new": true, "TERMIC:x": true, "termic:": true, "termic": false, "termics://x": false, "": false, "serve": false} {
		if Is(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// FuzzParse holds that what is taken from a link can be seen, is bounded, and is nothing else than what the link says.
func FuzzParse(f *testing.F) {
	f.Add("termic://open/fix?project=a")
	f.Add("termic://new?project=a&name=b&prompt=c%0Ad&agent=e&branch=f&base=g")
	f.Add("termic://new?prompt=%1b&sandbox=off")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Parse(text)
		if err != nil {
			if l != (Link{}) && l.Kind == "" {
				t.Errorf("%q: an error and %+v", text, l)
			}
			return
		}
		if l.Kind != Open && l.Kind != New || l.Kind == Open && l.Task == "" {
			t.Fatalf("%q: %+v", text, l)
		}
		for _, word := range []string{l.Task, l.Project, l.Name, l.Agent, l.Branch, l.Base} {
			if len(word) > maxWord || strings.ContainsFunc(word, func(r rune) bool { return r < ' ' || !seen(r) }) {
				t.Errorf("%q: took %q", text, word)
			}
		}
		if len(l.Prompt) > maxPrompt || strings.ContainsFunc(l.Prompt, func(r rune) bool { return r != '\n' && r != '\t' && (r < ' ' || !seen(r)) }) {
			t.Errorf("%q: took the prompt %q", text, l.Prompt)
		}
	})
}
