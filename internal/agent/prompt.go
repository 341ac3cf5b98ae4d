package agent

import (
	"strings"
	"unicode/utf8"

	"termic/internal/fault"
)

// MaxPrompt is the longest prompt, in bytes: one limit on every face, which leaves room for its escaping in a line of
// 1 MiB.
const MaxPrompt = 900 << 10

// Clean makes a text fit to be typed: line ends become newlines, and every control character but newline and tab is
// taken out, the ESC with which a text could leave its paste brackets and press keys first of all. What is not UTF-8
// becomes U+FFFD. All else stays as it is.
//
// Errors: fault.InvalidArgument for a text that is empty, blank, or longer than MaxPrompt.
func Clean(text string) (string, error) {
	if len(text) > MaxPrompt {
		return "", fault.New(fault.InvalidArgument, "The prompt has %d bytes, the limit is %d", len(text), MaxPrompt).
			WithHint("Put the long part into a file of the task and refer to it.")
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		switch {
		case r == '\r':
			r = '\n'
		case r == '\n' || r == '\t':
		case r < 0x20 || r >= 0x7F && r <= 0x9F:
			continue
		}
		b.WriteRune(r)
	}
	out := b.String()
	if strings.TrimSpace(out) == "" {
		return "", fault.New(fault.InvalidArgument, "The prompt is empty")
	}
	if len(out) > MaxPrompt { // invalid bytes grow when they are replaced
		return "", fault.New(fault.InvalidArgument, "The prompt has %d bytes, the limit is %d", len(out), MaxPrompt)
	}
	return out, nil
}

// Guarded returns the text as it must be typed to arrive as text and be sent by one Enter: when its first visible
// character would make the agent take it for a command (Kind.Special), Kind.Guard comes before it, and when its last
// word would open a list of completions (Kind.Mentions), a space comes behind it. Not one byte else is changed. What an
// agent itself does to a text (trim it, widen its tabs) is its own affair.
func (k Kind) Guarded(text string) string {
	if r, ok := opening(text); ok && strings.ContainsRune(k.Special, r) {
		if k.Guard == "" {
			text = " " + text
		} else {
			text = k.Guard + text
		}
	}
	last := text[strings.LastIndexAny(text, " \t\n")+1:]
	if r, n := utf8.DecodeRuneInString(last); n > 0 && strings.ContainsRune(k.Mentions, r) {
		text += " "
	}
	return text
}
