//go:build !windows

package ptyhost

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// spreadAll makes cells of all rows that are text.
func spreadAll(e *emulator) {
	for _, g := range []*grid{e.main, e.alt} {
		if g == nil {
			continue
		}
		for i := range g.rows {
			g.rows[i].cells()
		}
	}
}

// checkRows finds what breaks the rules of rows.
func checkRows(t *rapid.T, e *emulator) {
	for y := range e.g.rows {
		r := e.g.rows[y]
		if r.cols != e.cols || r.raw != nil && len(r.raw) != e.cols || len(r.plain) > 0 && len(r.plain) != r.used {
			t.Fatalf("row %d: %d columns, %d cells, %d bytes of text, %d used", y, r.cols, len(r.raw), len(r.plain), r.used)
		}
		from := r.used
		if len(r.plain) > 0 {
			from = 0
		}
		for x := from; r.raw != nil && x < r.cols; x++ {
			if r.raw[x] != empty {
				t.Fatalf("row %d: cell %d is %+v, and should be empty: %d used, %q", y, x, r.raw[x], r.used, r.plain)
			}
		}
	}
}

// The law of rows: whether a row is kept as text or as cells makes no difference to anything that is ever asked of it.
func TestTextAndCellsAreTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := Size{uint16(rapid.IntRange(2, 12).Draw(t, "cols")), uint16(rapid.IntRange(1, 6).Draw(t, "rows"))}
		text, cells := draw(size), draw(size)
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			if rapid.IntRange(0, 5).Draw(t, "resizes") == 0 {
				size = Size{uint16(rapid.IntRange(2, 12).Draw(t, "cols")), uint16(rapid.IntRange(1, 6).Draw(t, "rows"))}
				text.resize(size)
				cells.resize(size)
			}
			for _, b := range []byte(genOutput().Draw(t, "output")) { // byte by byte, so that every row is made cells each time
				spreadAll(cells.emu)
				cells.write([]byte{b})
				text.write([]byte{b})
			}
			checkRows(t, text.emu)
			checkRows(t, cells.emu)
			if a, b := whole(text), whole(cells); !bytes.Equal(a, b) {
				t.Fatalf("snapshots\n%q\n%q", a, b)
			}
			if a, b := text.text().Lines, cells.text().Lines; !slices.Equal(a, b) {
				t.Fatalf("lines\n%q\n%q", a, b)
			}
			if !slices.Equal(text.emu.history.lines, cells.emu.history.lines) {
				t.Fatalf("history\n%v\n%v", text.emu.history.tail(100, 1<<20), cells.emu.history.tail(100, 1<<20))
			}
		}
		if text.broken || cells.broken {
			t.Fatal("the emulator panicked")
		}
	})
}
