package agent

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestPieces(t *testing.T) {
	t.Parallel()
	k := Kind{PasteLines: 2, PasteUnits: 10}
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"short", []string{"short"}},
		{"a\nb\nc", []string{"a\nb\nc"}},
		{"a\nb\nc\nd", []string{"a\nb\n", "c\nd"}},
		{"one two three four", []string{"one two ", "three four"}},
		{"0123456789abc", []string{"0123456789", "abc"}},
		{"01234567👨‍👩‍👧x", []string{"01234567", "👨‍👩‍👧x"}},       // a family is one character
		{"012345678e\u0301!", []string{"012345678", "e\u0301!"}}, // so is a letter with its accent
		{"\n\n\n\n", []string{"\n\n", "\n\n"}},                   // blank lines alone
		{"👍👍👍👍👍👍", []string{"👍👍👍👍👍", "👍"}},                       // two units each
		{strings.Repeat("é", 11), nil},                           // one endless character is cut somewhere
		{strings.Repeat("x\n\n", maxPieces+1), []string{""}},     // too many pieces: one paste
	} {
		got := k.pieces(c.in)
		if c.want != nil && c.want[0] == "" {
			c.want = []string{c.in}
		}
		if strings.Join(got, "") != c.in || c.want != nil && fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) {
			t.Errorf("pieces(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if got := (Kind{}).pieces("a\nb\nc\nd"); len(got) != 1 {
		t.Errorf("without bounds: %q", got)
	}
}

// Whatever the text, the pieces are the text, each is valid and within the bounds, and none is empty.
func TestPiecesAreTheText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := Kind{PasteLines: rapid.IntRange(0, 3).Draw(t, "lines"), PasteUnits: rapid.IntRange(0, 40).Draw(t, "units")}
		text := strings.ToValidUTF8(rapid.StringOf(rapid.RuneFrom([]rune("ab \n\té你👍\u0301\u200d\u200b\ufe0f"))).Draw(t, "text"), "")
		got := k.pieces(text)
		if strings.Join(got, "") != text {
			t.Fatalf("%q became %q", text, got)
		}
		for _, p := range got {
			if len(got) == 1 {
				break
			}
			units := len(utf16.Encode([]rune(p)))
			if p == "" || !utf8.ValidString(p) || k.PasteLines > 0 && strings.Count(p, "\n") > k.PasteLines || k.PasteUnits > 1 && units > k.PasteUnits {
				t.Fatalf("piece %q of %q breaks the bounds %+v", p, text, k)
			}
		}
	})
}

func TestOpening(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]rune{"/x": '/', "  /x": '/', "\n\t\u00a0/x": '/', "\u200b\ufeff/x": '/', "\ufe0f!": '!', "x/": 'x', "é": 'é', "": 0, " \n": 0} {
		if got, ok := opening(in); got != want || ok != (want != 0) {
			t.Errorf("opening(%q) = %q, %v", in, got, ok)
		}
	}
}

// The field of claude when a prompt does not fit into it: its first rows and its marker are gone.
func TestScrolledField(t *testing.T) {
	t.Parallel()
	border := strings.Repeat("─", 40)
	s := Screen{Lines: []string{"❯ an older prompt", "", "● its answer", "",
		"─── ↑ 50 more ───────────────── my-task ─", "  line 51", "", "  ❯ 1. Yes, a text may look like a menu", "  2. No", "  line 55", "  line 56", "  line 57", "  line 58", "  line 59", "  line 60",
		border, "  auto mode on (shift+tab to cycle)"}, CursorX: 9, CursorY: 14}
	f, ok := claude().composer(s)
	if !ok || f.empty || f.row != 5 || !strings.HasPrefix(f.text, "line 51") || !strings.HasSuffix(f.text, "line 60") {
		t.Fatalf("field %+v, %v", f, ok)
	}
	if row, asks := claude().dialog(s); asks {
		t.Errorf("a dialog: %q", row)
	}
	// The first row that is shown may be blank.
	s.Lines[5] = ""
	if f, ok := claude().composer(s); !ok || f.row != 5 || f.empty || f.end != 14 {
		t.Errorf("field %+v, %v", f, ok)
	}
	// A field that is tall but whole has its marker far above the bottom.
	s.Lines[4], s.Lines[5] = border, "❯ line 51"
	if f, ok := claude().composer(s); !ok || f.row != 5 || f.empty {
		t.Errorf("field %+v, %v", f, ok)
	}
}

// Blanks and invisible characters before a command do not hide it: agents trim and clean before they look.
func TestGuardedBehindBlanks(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"  /clear": `\  /clear`, "\n\t!ls": "\\\n\t!ls", "\u200b/clear": "\\\u200b/clear", " plain": " plain"} {
		if got := claude().Guarded(in); got != want {
			t.Errorf("Guarded(%q) = %q, want %q", in, got, want)
		}
	}
}
