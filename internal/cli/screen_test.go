package cli

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// questions to which a terminal answers, each with one that looks like it and is none.
var questionCases = map[string]string{
	"\x1b[c":                       "\x1b[?0c",
	"\x1b[0c":                      "\x1b[5C",
	"\x1b[>c":                      "\x1b[>4;1m",
	"\x1b[=c":                      "\x1b[1m",
	"\x1b[6n":                      "\x1b[>4n",
	"\x1b[?6n":                     "\x1b[2J",
	"\x1b[5n":                      "\x1b[5m",
	"\x1b[?2026$p":                 "\x1b[!p",
	"\x1b[>q":                      "\x1b[2 q",
	"\x1b[?u":                      "\x1b[u",
	"\x1b[x":                       "\x1b[*x",
	"\x1b[18t":                     "\x1b[8;24;80t",
	"\x1b[14;2t":                   "\x1b[22;0t",
	"\x1b[?1;1;0S":                 "\x1b[2S",
	"\x1bZ":                        "\x1bM",
	"\x1bP+q544e\x1b\\":            "\x1bPq#0\x1b\\",
	"\x1bP$qm\x1b\\":               "\x1bP1$r\x1b\\",
	"\x1b]11;?\x07":                "\x1b]11;#ffffff\x07",
	"\x1b]10;?\x1b\\":              "\x1b]0;what?\x07",
	"\x1b]4;1;?\x07":               "\x1b]4;1;rgb:0/0/0\x07",
	"\x1b]4;1;?;2;?\x07":           "\x1b]8;;http://x/?\x07",
	"\x1b]52;c;?\x07":              "\x1b]52;c;aGk=\x07",
	"\x1b]21;foreground=?\x07":     "\x1b]2;a=?\x07",
	"\x1b]1337;ReportCellSize\x07": "\x1b]1337;SetMark\x07",
	"\x1b_Gi=1,a=q;AAAA\x1b\\":     "\x1b_Ga=T;AAAA\x1b\\",
	"\x05":                         "\x07",
}

func TestQuestionsAreLeftOut(t *testing.T) {
	for q, other := range questionCases {
		var out bytes.Buffer
		s := newScreen(&out)
		if _, err := s.Write([]byte("a" + q + "b" + other + "c")); err != nil {
			t.Fatal(err)
		}
		if want := "ab" + other + "c"; out.String() != want {
			t.Errorf("%q: %q came out, want %q", q, out.String(), want)
		}
	}
}

// TestScreenIsTheSameHoweverItIsCut is the law, over sequences, halves of sequences and text.
func TestScreenIsTheSameHoweverItIsCut(t *testing.T) {
	pieces := []string{"text", "é漢", "\r\n", "\x1b", "[", "\x1b[", "\x1b]0;title", "\x07", "\x1b\\", "\x18", "\x1b[?1049h", "\x1b[?25l", "\x1b(B",
		strings.Repeat("x", 300), "\x1bPq" + strings.Repeat("?", 5000) + "\x1b\\"}
	for q, other := range questionCases {
		pieces = append(pieces, q, other)
	}
	rapid.Check(t, func(t *rapid.T) {
		all := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 20).Draw(t, "pieces"), ""))
		whole, cut := &bytes.Buffer{}, &bytes.Buffer{}
		a, b := newScreen(whole), newScreen(cut)
		if _, err := a.Write(all); err != nil {
			t.Fatal(err)
		}
		for rest := all; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			if _, err := b.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if whole.String() != cut.String() {
			t.Fatalf("%q:\nwhole %q\ncut   %q", all, whole, cut)
		}
		for _, s := range []*screen{a, b} {
			if err := s.restore(); err != nil {
				t.Fatal(err)
			}
		}
		if whole.String() != cut.String() {
			t.Fatalf("%q is put back differently:\nwhole %q\ncut   %q", all, whole, cut)
		}
	})
}

func TestRestorePutsBackWhatWasChanged(t *testing.T) {
	base := restored(t, "")
	for _, c := range []struct{ in, want string }{
		{"\x1b[?1049h", "\x1b[?1049l"},
		{"\x1b[?1049h\x1b[?1049l", ""},
		{"\x1b[?1000;1006h", "\x1b[?1000l\x1b[?1006l"},
		{"\x1b[?25l", "\x1b[?25h"},
		{"\x1b[?25l\x1b[?25h", ""},
		{"\x1b[?2004h", "\x1b[?2004l"},
		{"\x1b[?7l", "\x1b[?7h"},
		{"\x1b[>1u\x1b[>5u", "\x1b[<u\x1b[<u"},
		{"\x1b[>1u\x1b[<u", ""},
		{"\x1b[<9u", ""},
		{"\x1b[>4;2m", "\x1b[>4m"},
		{"\x1b[>4;2m\x1b[>4m", ""},
		{"\x1b=", "\x1b>"},
		{"\x1b[5 q", "\x1b[0 q"},
		{"\x1b[?1h\x1b=\x1bc", ""},
		{"\x1b[?10", ""}, // half a sequence
	} {
		got := restored(t, c.in)
		if got != strings.TrimSuffix(base, "\r\n")+c.want+"\r\n" {
			t.Errorf("%q: put back with %q, want %q", c.in, got, c.want)
		}
	}
}

// restored returns what is written to put a terminal back after in.
func restored(t *testing.T, in string) string {
	t.Helper()
	var out bytes.Buffer
	s := newScreen(&out)
	if _, err := s.Write([]byte(in)); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := s.restore(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
