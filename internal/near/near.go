// Package near finds the word that somebody meant who mistyped it.
//
// It promises to guess rarely and cheaply: a word counts as near when few letters of it are other, missing, too many or
// swapped, a third of them at most, and no guess is made between two that are equally near. It does not know meanings.
package near

import "strings"

const (
	maxWord = 64   // runes; longer ones are no typing errors but other things
	maxHave = 2000 // words that are compared
)

// Match returns the one of have that is nearest to asked, without regard to case; ok is false when none is near, or two
// are equally so.
func Match(asked string, have []string) (best string, ok bool) {
	a := []rune(strings.ToLower(asked))
	if len(a) < 2 || len(a) > maxWord {
		return "", false
	}
	least := min(max(1, len(a)/3), 3) + 1
	for _, h := range have[:min(len(have), maxHave)] {
		b := []rune(strings.ToLower(h))
		if len(b) > maxWord || best != "" && h == best {
			continue
		}
		switch d := distance(a, b); {
		case d < least:
			best, least, ok = h, d, true
		case d == least && best != "":
			ok = false // of two that are as near, neither was surely meant
		}
	}
	return best, ok
}

// distance counts the letters to change, add, drop or swap with their neighbour.
func distance(a, b []rune) int {
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			change := row[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			next[j] = min(change, row[j]+1, next[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
