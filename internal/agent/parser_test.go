package agent

import (
	"encoding/base64"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// parse feeds the pieces and returns the signals.
func parse(pieces ...string) []Signal {
	var out []Signal
	p := NewParser(func(s Signal) { out = append(out, s) })
	for _, piece := range pieces {
		p.Feed([]byte(piece))
	}
	return out
}

func TestParser(t *testing.T) {
	t.Parallel()
	msg := base64.StdEncoding.EncodeToString([]byte("approve Bash: touch zzz"))
	for _, c := range []struct {
		name, in string
		want     []Signal
	}{
		{"title, ended by BEL: no bell (I3)", "\x1b]0;t\x07", []Signal{{Kind: SigTitle, Text: "t"}}},
		{"title, ended by ST", "\x1b]2;✳ Claude Code\x1b\\x", []Signal{{Kind: SigTitle, Text: "✳ Claude Code"}}},
		{"bell", "a\x07b", []Signal{{Kind: SigBell}}},
		{"bell inside a control sequence", "\x1b[?2\x07004h", []Signal{{Kind: SigBell}, {Kind: SigPaste, On: true}}},
		{"report of codex", "\x1b]7501;state=blocked:app=codex:kind=permission\x1b\\", []Signal{{Kind: SigStatus, State: "blocked", App: "codex", Why: "permission"}}},
		{"report of claude", "\x1b]7501;state=blocked:app=claude-code:kind=permission:msg=" + msg + "\x07",
			[]Signal{{Kind: SigStatus, State: "blocked", App: "claude-code", Why: "permission", Text: "approve Bash: touch zzz"}}},
		{"report with an unknown state", "\x1b]7501;state=dancing\x07", nil},
		{"query, then DA1", "\x1b]7501;?\x07\x1b[c", []Signal{{Kind: SigStatusQuery}, {Kind: SigDA1}}},
		{"DA2 is none", "\x1b[>c\x1b[>0c", nil},
		{"progress", "\x1b]9;4;1;42\x07\x1b]9;4;0\x07\x1b]9;4;3\x1b\\", []Signal{{Kind: SigProgress, N: 1, Pct: 42}, {Kind: SigProgress, Pct: -1}, {Kind: SigProgress, N: 3, Pct: -1}}},
		{"progress out of range", "\x1b]9;4;9\x07\x1b]9;4;x\x07", nil},
		{"other ConEmu commands", "\x1b]9;9;/tmp\x07\x1b]9;12\x07", nil},
		{"notifications", "\x1b]9;needs you\x07\x1b]777;notify;Claude;waiting\x07\x1b]777;notify;only\x07",
			[]Signal{{Kind: SigNotify, Text: "needs you"}, {Kind: SigNotify, Text: "waiting"}, {Kind: SigNotify, Text: "only"}}},
		{"attention", "\x1b]1337;RequestAttention=yes\x07\x1b]1337;RequestAttention=no\x07\x1b]1337;File=x\x07", []Signal{{Kind: SigAttention, Text: "yes"}}},
		{"shell marks", "\x1b]133;A\x07\x1b]133;B\x07\x1b]133;C;x\x07\x1b]133;D;7\x07\x1b]133;D\x07",
			[]Signal{{Kind: SigShell, State: "A"}, {Kind: SigShell, State: "B"}, {Kind: SigShell, State: "C"}, {Kind: SigShell, State: "D", N: 7}, {Kind: SigShell, State: "D", N: -1}}},
		{"modes", "\x1b[?1049;2004h\x1b[?25l\x1b[?2004l\x1b[4h", []Signal{{Kind: SigAltScreen, On: true}, {Kind: SigPaste, On: true}, {Kind: SigCursor}, {Kind: SigPaste}}},
		{"a query of a mode is no mode", "\x1b[?2004$p", nil},
		{"reset", "\x1bc", []Signal{{Kind: SigReset}}},
		{"C1 in two bytes", "\u009d0;x\u009c\u009b?2004h", []Signal{{Kind: SigTitle, Text: "x"}, {Kind: SigPaste, On: true}}},
		{"a character with 0x9c in it ends nothing", "\x1b]0;✳ é\u00c2x\x07", []Signal{{Kind: SigTitle, Text: "✳ éÂx"}}},
		{"cancelled", "\x1b]0;x\x18\x07", []Signal{{Kind: SigBell}}},
		{"ended by the next sequence", "\x1b]0;x\x1b[c", []Signal{{Kind: SigTitle, Text: "x"}, {Kind: SigDA1}}},
		{"device control strings are passed over", "\x1bPq\x07]0;x\x07\x1b\\\x07", []Signal{{Kind: SigBell}}},
		{"too long: no signal", "\x1b]0;" + strings.Repeat("x", maxOSC) + "\x07\x1b]0;y\x07", []Signal{{Kind: SigTitle, Text: "y"}}},
		{"texts are cleaned", "\x1b]0;a\tb\u202ec\u200bd\x01\x07", []Signal{{Kind: SigTitle, Text: "a bcd"}}},
		{"no UTF-8, no signal", "\x1b]0;\xff\x07", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := parse(c.in); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// I3: a BEL that ends a title is no bell, wherever the output is cut; a BEL of its own is one.
func TestI3BellIsParsed(t *testing.T) {
	t.Parallel()
	whole := "x\x1b]0;t\x07y\x07z"
	want := []Signal{{Kind: SigTitle, Text: "t"}, {Kind: SigBell}}
	for i := 0; i <= len(whole); i++ {
		if got := parse(whole[:i], whole[i:]); !reflect.DeepEqual(got, want) {
			t.Errorf("cut at %d: %+v", i, got)
		}
	}
}

// FuzzParser holds that no input panics, that the cuts of a stream make no difference, and that every text is short
// and clean.
func FuzzParser(f *testing.F) {
	for _, s := range []string{"\x1b]0;t\x07", "\x1b]7501;state=blocked:app=x:kind=permission:msg=YQ==\x1b\\", "\x1b[?1049;2004h\x07\x1b[c",
		"\x1bPx\x1b\\\u009d9;4;1;5\u009c", "\xc2\x9b\xc2\x1b]9;\xe2\x9c\xb3\x07", "\x1b]133;D;1\x07\x1b]777;notify;a;b\x07\x1bc\x18"} {
		f.Add([]byte(s), int64(1))
	}
	f.Fuzz(func(t *testing.T, b []byte, seed int64) {
		want := parse(string(b))
		rnd := rand.New(rand.NewSource(seed))
		var pieces []string
		for rest := b; len(rest) > 0; {
			n := 1 + rnd.Intn(min(len(rest), 7))
			pieces = append(pieces, string(rest[:n]))
			rest = rest[n:]
		}
		if got := parse(pieces...); !reflect.DeepEqual(got, want) {
			t.Fatalf("cut into %q:\n%+v\nwhole:\n%+v", pieces, got, want)
		}
		for _, s := range want {
			for _, text := range []string{s.Text, s.App, s.Why} {
				if len(text) > MaxText || !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\x07\x1b\x7f\n\r\t\u009b\u202e") {
					t.Fatalf("text %q", text)
				}
			}
		}
	})
}

// The parser must keep up with floods.
func BenchmarkParser(b *testing.B) {
	plain := []byte(strings.Repeat("the quick brown fox jumps over the lazy dog\r\n", 1000))
	p := NewParser(func(Signal) {})
	b.SetBytes(int64(len(plain)))
	b.ReportAllocs()
	for b.Loop() {
		p.Feed(plain)
	}
}

// The memory of a parser stays bounded by a string that never ends.
func TestParserMemory(t *testing.T) {
	t.Parallel()
	p := NewParser(func(Signal) {})
	p.Feed([]byte("\x1b]52;c;"))
	for range 1000 {
		p.Feed([]byte(strings.Repeat("A", 4096)))
	}
	if cap(p.osc) > 2*maxOSC {
		t.Errorf("it holds %d bytes", cap(p.osc))
	}
	p.Feed([]byte("\x07"))
	if cap(p.osc) > 1<<10 {
		t.Errorf("it keeps %d bytes", cap(p.osc))
	}
}
