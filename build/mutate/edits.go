package main

import (
	"cmp"
	"slices"
	"strings"
)

// edits are changes of a text that lie beside or in one another, never across: what comes before and after a part of it, and what takes the
// place of one.
type edits struct{ list []edit }

// edit puts a text in the place of length bytes at an offset. It belongs to the part between at and other, in whatever order these are.
type edit struct {
	at, other, length int
	text              string
	seq               int
}

// around puts texts before and after a part. Of two that have the same part, the first lies outside.
func (e *edits) around(from, to int, before, after string) {
	e.put(edit{at: from, other: to, text: before})
	e.put(edit{at: to, other: from, text: after})
}

// begin puts a text in the place of the first bytes of a part, and another one after it.
func (e *edits) begin(from, length, to int, text, after string) {
	e.put(edit{at: from, other: to, length: length, text: text})
	e.put(edit{at: to, other: from, text: after})
}

// replace puts a text in the place of a part.
func (e *edits) replace(from, to int, text string) {
	e.put(edit{at: from, other: to, length: to - from, text: text})
}

func (e *edits) put(x edit) {
	x.seq = len(e.list)
	e.list = append(e.list, x)
}

// apply returns the text with all edits in it. At one offset, what ends comes before what begins; the inner part ends first and begins last.
func (e *edits) apply(src string) string {
	slices.SortFunc(e.list, func(a, b edit) int {
		aEnds, bEnds := a.other < a.at, b.other < b.at
		switch {
		case a.at != b.at:
			return cmp.Compare(a.at, b.at)
		case aEnds != bEnds && aEnds:
			return -1
		case aEnds != bEnds:
			return 1
		case a.other != b.other:
			return cmp.Compare(b.other, a.other)
		case aEnds:
			return cmp.Compare(b.seq, a.seq)
		}
		return cmp.Compare(a.seq, b.seq)
	})
	var b strings.Builder
	at := 0
	for _, x := range e.list {
		b.WriteString(src[at:x.at])
		b.WriteString(x.text)
		at = x.at + x.length
	}
	b.WriteString(src[at:])
	return b.String()
}
