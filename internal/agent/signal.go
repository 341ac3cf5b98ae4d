package agent

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// SignalKind says what a Signal is.
type SignalKind uint8

// The signals that a Parser tells. The comment names the bytes.
const (
	SigStatus      SignalKind = iota + 1 // OSC 7501;state=...: an explicit report of the program's state
	SigStatusQuery                       // OSC 7501;?: the program asks whether reports are understood; answer StatusAnswer
	SigTitle                             // OSC 0 or 2
	SigNotify                            // OSC 9;text or OSC 777;notify;title;body
	SigProgress                          // OSC 9;4;state;percent
	SigShell                             // OSC 133;A|B|C|D
	SigAttention                         // OSC 1337;RequestAttention=yes|once|fireworks
	SigBell                              // BEL that ends no string
	SigPaste                             // DECSET/DECRST 2004
	SigAltScreen                         // DECSET/DECRST 1049, 1047, 47
	SigCursor                            // DECSET/DECRST 25
	SigDA1                               // CSI c: the program asks what terminal this is
	SigReset                             // RIS, ESC c: all modes are as at the start
)

// Signal is one thing that a program said to its terminal. Every text in it is untrusted: it was cleaned of control
// and direction characters and cut at MaxText bytes, and it may still lie.
type Signal struct {
	Kind  SignalKind
	State string // SigStatus: idle, working, done, blocked, clear. SigShell: A, B, C, D
	App   string // SigStatus: the reporting program
	Why   string // SigStatus: permission, question, ...
	Text  string // SigStatus: its message. SigTitle, SigNotify: the text
	On    bool   // SigPaste, SigAltScreen, SigCursor
	N     int    // SigProgress: 0 none, 1 running, 2 error, 3 indeterminate, 4 warning. SigShell D: exit code, -1 unknown
	Pct   int    // SigProgress: 0 to 100, -1 unknown
}

// StatusAnswer answers a SigStatusQuery. It must reach the program before the answer to a SigDA1 that follows, since
// programs take that one for "no reports wanted". Exactly one side of a terminal may answer.
const StatusAnswer = "\x1b]7501;?\x1b\\"

// MaxText bounds each text of a Signal, in bytes. A title longer than any title bar is of no use to a person.
const MaxText = 1024

// cleanText makes a program's text fit to be shown in one line: valid UTF-8, no control, format or line-breaking
// characters, at most MaxText bytes, no blanks around.
func cleanText(s string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
			r = ' '
		case unicode.IsControl(r) || hidden(r):
			continue
		}
		if b.Len()+utf8.RuneLen(r) > MaxText {
			break
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

// hidden reports characters that change how their neighbours are read without being seen: direction marks, byte order
// marks, tags. The joiners stay, since emoji and several scripts need them.
func hidden(r rune) bool {
	switch r {
	case '\u200c', '\u200d':
		return false
	}
	return unicode.Is(unicode.Cf, r)
}
