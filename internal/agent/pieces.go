package agent

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxPieces bounds how many pastes a prompt is cut into; the agent paints its field after each. A longer prompt is one
// paste, and arrives as the agent hands on what was pasted.
const maxPieces = 100

// pieceRate is how much longer the echo of a prompt is waited for with each further piece. claude took 50 ms for each of
// 130 on a busy machine.
const pieceRate = 100 * time.Millisecond

// pieces cuts a text into pastes that the agent takes as if they were typed, see PasteLines. Joined they are the text.
func (k Kind) pieces(text string) []string {
	if k.PasteLines == 0 && k.PasteUnits == 0 {
		return []string{text}
	}
	var out []string
	for rest := text; rest != ""; {
		if len(out) == maxPieces {
			return []string{text}
		}
		n := k.piece(rest)
		out, rest = append(out, rest[:n]), rest[n:]
	}
	return out
}

// piece is the length in bytes of the first piece: all that fits, cut behind a line break or a blank where there is one,
// and never inside of what is one character for a person.
func (k Kind) piece(text string) int {
	lines, units, blank, whole := 0, 0, 0, 0
	var prev rune
	for i, r := range text {
		units += utf16.RuneLen(r)
		if r == '\n' {
			lines++
		}
		if i > 0 && !joined(prev, r) {
			whole = i
		}
		if lines > k.PasteLines && k.PasteLines > 0 || units > k.PasteUnits && k.PasteUnits > 0 {
			switch {
			case blank > 0:
				return blank
			case whole > 0:
				return whole
			}
			if i == 0 {
				return utf8.RuneLen(r)
			}
			return i
		}
		if r == '\n' || r == ' ' {
			blank = i + 1
		}
		prev = r
	}
	return len(text)
}

// joined reports that two runes may be one character together.
func joined(a, b rune) bool {
	return invisible(a) || invisible(b) || unicode.In(b, unicode.M, unicode.Sk) || unicode.Is(unicode.Regional_Indicator, b)
}

// invisible reports a rune that is not seen by itself; an agent may take it out of a text before it looks at that.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// opening is the first rune that is seen.
func opening(text string) (rune, bool) {
	at := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsSpace(r) && !invisible(r) })
	if at < 0 {
		return 0, false
	}
	r, _ := utf8.DecodeRuneInString(text[at:])
	return r, true
}
