package ptyhost

import "github.com/charmbracelet/x/ansi"

// narrow reports whether r is surely one column wide, without asking the tables: Latin, Greek and Cyrillic letters,
// box drawing and blocks, which are most of what is not ASCII.
func narrow(r rune) bool {
	return r < 0x7f || r >= 0xa1 && r < 0x300 && r != 0xad || r >= 0x370 && r < 0x483 || r >= 0x2500 && r < 0x25a0
}

// standsAlone reports whether r surely begins a cluster of its own.
func standsAlone(r rune) bool {
	return r >= 0xa1 && r < 0x300 && r != 0xa9 && r != 0xad && r != 0xae || r >= 0x370 && r < 0x483 ||
		r >= 0x2500 && r < 0x25a0 || r >= 0x4e00 && r < 0xa000
}

func runeWidth(r rune) int { return ansi.GraphemeWidth.StringWidth(string(r)) }

// lineDrawing maps a character of the DEC special graphics set.
func lineDrawing(c byte) rune {
	const set = "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·" // for 0x60 to 0x7e
	if c < 0x60 {
		return rune(c)
	}
	for i, r := range []rune(set) {
		if i == int(c-0x60) {
			return r
		}
	}
	return rune(c)
}
