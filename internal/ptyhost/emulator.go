package ptyhost

import (
	"slices"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// clusterBytes bounds one grapheme cluster: a family emoji with skin tones takes 41 bytes, stacked accents may go on
// for ever.
const clusterBytes = 64

// emulator is the state of a terminal as xterm.js would hold it: two grids, a cursor, modes. It is written for
// throughput: rows are recycled when they scroll, cells are small and free of pointers.
//
// It does not reflow lines when the width changes, has no left and right margins, and ignores the size of characters
// and pictures. It is not safe for concurrent use; screen guards it.
type emulator struct {
	parser     parser
	cols, rows int
	main, alt  *grid // alt is made when it is first used
	g          *grid // the one in use
	cur        cursor
	clear      cell // what erased cells become

	modes    modeSet
	insert   bool // IRM
	newline  bool // LNM
	tabs     []bool
	title    string
	shape    int            // DECSCUSR
	kitty    [2][]int       // stacks of keyboard flags, main and alternate
	modify   int            // modifyOtherKeys, 0 when off
	colors   map[int]string // OSC 10, 11, 12 as they were set
	history  history
	clusters interner // grapheme clusters of more than one code point
	links    interner // hyperlinks, "params;uri"

	// The last character printed, for REP and for joining what belongs to the same cluster.
	last         rune
	joinX, joinY int
	joinable     bool
	scratch      []byte

	reply []byte    // answers to queries; taken by screen
	own   []byte    // answers that no viewer gives (OSC 7501)
	told  []command // commands that say nothing of the state (OSC 52 and others); taken by screen
}

func newEmulator(size Size, lines int) *emulator {
	e := &emulator{cols: int(size.Cols), rows: int(size.Rows)}
	e.history.max = lines
	e.reset()
	return e
}

// reset is RIS. The history stays: a program cannot make what was said unsaid, except by ED 3.
func (e *emulator) reset() {
	e.main, e.alt = newGrid(e.cols, e.rows), nil
	e.g = e.main
	e.cur = newCursor()
	e.clear = empty
	e.modes = newModes()
	e.insert, e.newline = false, false
	e.title, e.shape, e.modify = "", 0, 0
	e.kitty = [2][]int{}
	e.colors = nil
	e.clusters, e.links = interner{}, interner{}
	e.last, e.joinable = 0, false
	e.resetTabs()
}

func (e *emulator) resetTabs() {
	e.tabs = make([]bool, e.cols)
	for i := 0; i < e.cols; i += 8 {
		e.tabs[i] = true
	}
}

func (e *emulator) write(p []byte) { e.parser.write(p, e) }

// resize follows xterm.js: rows are taken from the blank end first, then from the top, into the history; and where the cursor
// is in the last row, they come back from there.
func (e *emulator) resize(size Size) {
	cols, rows := int(size.Cols), int(size.Rows)
	if cols == e.cols && rows == e.rows {
		return
	}
	for _, g := range []*grid{e.main, e.alt} {
		if g == nil {
			continue
		}
		y := &g.y
		if g == e.g {
			y = &e.cur.y
		}
		for len(g.rows) > rows {
			if last := len(g.rows) - 1; *y < last {
				g.rows = g.rows[:last]
				continue
			}
			if g == e.main {
				e.remember(g.rows[0])
			}
			g.rows = g.rows[1:]
			*y = max(*y-1, 0)
			g.saved.y = max(g.saved.y-1, 0)
		}
		for i := range g.rows {
			g.rows[i].resize(cols)
		}
		for len(g.rows) < rows {
			if g == e.main && *y == len(g.rows)-1 {
				if r := e.recall(cols); r != nil {
					g.rows = slices.Insert(g.rows, 0, r)
					*y++
					g.saved.y++
					continue
				}
			}
			g.rows = append(g.rows, newRow(cols, empty))
		}
		g.top, g.bottom = 0, rows-1
		g.x, g.y = min(g.x, cols-1), min(g.y, rows-1)
		g.saved.x, g.saved.y = min(g.saved.x, cols-1), min(g.saved.y, rows-1)
		g.saved.wrapNext = false
	}
	old := e.cols
	e.cols, e.rows = cols, rows
	e.cur.x, e.cur.y = min(e.cur.x, cols-1), min(e.cur.y, rows-1)
	e.cur.wrapNext, e.joinable = false, false
	tabs := e.tabs
	e.resetTabs()
	copy(e.tabs, tabs[:min(old, cols)])
}

// printASCII puts a run of ASCII characters.
func (e *emulator) printASCII(run []byte) {
	if e.cur.charsets[e.cur.gl] == '0' {
		for _, c := range run {
			e.put(lineDrawing(c), 1)
		}
		return
	}
	pen := e.cur.pen
	plain := pen == style{} && !e.insert
	for len(run) > 0 {
		if e.cur.wrapNext {
			e.wrap()
		}
		r := e.g.rows[e.cur.y]
		n := min(len(run), e.cols-e.cur.x)
		if n < len(run) && !e.modes.on(modeAutoWrap) {
			run = append(append([]byte(nil), run[:n-1]...), run[len(run)-1])
		}
		if e.insert {
			r.insert(e.cur.x, n, e.clear)
		}
		if !plain || !r.append(e.cur.x, run[:n]) {
			r.split(e.cur.x)
			r.split(e.cur.x + n)
			cells := r.cells()[e.cur.x : e.cur.x+n]
			for i, c := range run[:n] {
				cells[i] = cell{r: rune(c), width: 1, style: pen}
			}
			r.used = max(r.used, e.cur.x+n)
		}
		e.last = rune(run[n-1])
		e.joinX, e.joinY, e.joinable = e.cur.x+n-1, e.cur.y, true
		e.advance(n)
		run = run[n:]
	}
}

// print puts a character that is not ASCII, or joins it to the one before.
func (e *emulator) print(r rune) {
	if !standsAlone(r) && e.joinable && e.join(r) {
		return
	}
	w := 1
	if !narrow(r) {
		w = runeWidth(r)
	}
	if w <= 0 {
		return // a mark with nothing to stand on
	}
	e.put(r, min(w, 2))
}

// put writes one character of width w at the cursor.
func (e *emulator) put(r rune, w int) {
	if e.cur.wrapNext || e.cur.x+w > e.cols {
		switch {
		case e.modes.on(modeAutoWrap):
			if !e.cur.wrapNext { // a wide character that does not fit any more
				e.g.rows[e.cur.y].fill(e.cur.x, e.cols, e.clear)
			}
			e.wrap()
		default:
			e.cur.x = e.cols - w
		}
	}
	row := e.g.rows[e.cur.y]
	if e.insert {
		row.insert(e.cur.x, w, e.clear)
	}
	row.split(e.cur.x)
	row.split(e.cur.x + w)
	cells := row.cells()
	cells[e.cur.x] = cell{r: r, width: uint8(w), style: e.cur.pen}
	if w == 2 {
		cells[e.cur.x+1] = cell{style: e.cur.pen}
	}
	row.used = max(row.used, e.cur.x+w)
	e.last = r
	e.joinX, e.joinY, e.joinable = e.cur.x, e.cur.y, true
	e.advance(w)
}

// advance moves the cursor behind what was written; at the right edge it stays and remembers to wrap.
func (e *emulator) advance(n int) {
	e.cur.x += n
	if e.cur.x >= e.cols {
		e.cur.x = e.cols - 1
		e.cur.wrapNext = e.modes.on(modeAutoWrap)
	}
}

// wrap goes to the start of the next line because the one before is full.
func (e *emulator) wrap() {
	y, scrolls := e.cur.y, e.cur.y == e.g.bottom
	e.index()
	e.cur.x = 0
	switch {
	case scrolls && y > e.g.top:
		e.g.rows[y-1].wrapped = true
	case !scrolls && e.cur.y > y:
		e.g.rows[y].wrapped = true
	}
}

// join adds r to the cluster before the cursor, if the two belong together, and reports whether it did.
func (e *emulator) join(r rune) bool {
	row := e.g.rows[e.joinY]
	c := &row.cells()[e.joinX]
	if c.width == 0 {
		return false
	}
	buf := e.appendCell(e.scratch[:0], c)
	n := len(buf)
	buf = utf8.AppendRune(buf, r)
	e.scratch = buf
	cluster, w := ansi.FirstGraphemeCluster(buf, ansi.GraphemeWidth)
	if len(cluster) <= n {
		return false
	}
	if len(buf) > clusterBytes {
		return true // it belongs there, but there is enough of it
	}
	id := e.clusters.id(string(buf))
	if id == 0 {
		e.compact()
		if id = e.clusters.id(string(buf)); id == 0 {
			return true
		}
	}
	c.r = rune(-id)
	if w == 2 && c.width == 1 && e.joinX+1 < e.cols {
		row.split(e.joinX + 2)
		c.width = 2
		row.cells()[e.joinX+1] = cell{style: c.style}
		row.used = max(row.used, e.joinX+2)
		e.cur.x = e.joinX + 1
		e.advance(1)
	}
	return true
}

// appendCell appends the text of a cell; a blank is a space, the right half of a wide character nothing.
func (e *emulator) appendCell(dst []byte, c *cell) []byte {
	switch {
	case c.width == 0:
		return dst
	case c.r == 0:
		return append(dst, ' ')
	case c.r < 0:
		return append(dst, e.clusters.text(int(-c.r))...)
	}
	return utf8.AppendRune(dst, c.r)
}

// index goes down one line and scrolls at the end of the region.
func (e *emulator) index() {
	e.cur.wrapNext = false
	switch {
	case e.cur.y == e.g.bottom:
		e.scrollUp(1)
	case e.cur.y < e.rows-1:
		e.cur.y++
	}
}

// scrollUp scrolls the region. Lines that leave the top of the main screen become history.
func (e *emulator) scrollUp(n int) {
	n = min(n, e.g.bottom-e.g.top+1)
	if e.g == e.main && e.g.top == 0 {
		for i := range n {
			e.remember(e.g.rows[i])
		}
	}
	e.g.scrollUp(e.g.top, e.g.bottom, n, e.clear)
}

// remember appends a row to the history.
func (e *emulator) remember(r *row) {
	if e.history.max > 0 {
		e.scratch = e.appendRow(e.scratch[:0], r, r.goesOn())
		e.history.push(string(e.scratch), r.goesOn())
	}
}

// moveTo puts the cursor, relative to the region in origin mode.
func (e *emulator) moveTo(x, y int) {
	top, bottom := 0, e.rows-1
	if e.cur.origin {
		top, bottom = e.g.top, e.g.bottom
		y += top
	}
	e.cur.x, e.cur.y = clamp(x, 0, e.cols-1), clamp(y, top, bottom)
	e.cur.wrapNext = false
}

// save is DECSC. As in xterm.js, origin mode and a pending wrap are not part of it.
func (e *emulator) save() {
	e.g.saved = e.cur
	e.g.saved.origin, e.g.saved.wrapNext = false, false
}

func (e *emulator) restore() {
	origin := e.cur.origin
	e.cur = e.g.saved
	if e.cur.origin = origin; origin {
		e.cur.y = clamp(e.cur.y, e.g.top, e.g.bottom)
	}
	e.setClear()
}

func (e *emulator) setClear() { e.clear = blank(e.cur.pen) }

// useAlt switches to the alternate screen or back.
func (e *emulator) useAlt(on bool) {
	if on == (e.g != e.main) {
		return
	}
	e.g.x, e.g.y = e.cur.x, e.cur.y
	if on {
		e.alt = newGrid(e.cols, e.rows)
		e.g = e.alt
	} else {
		e.g = e.main
		e.alt = nil // its room is worth more than its content, which the next use clears
		e.cur.x, e.cur.y = e.g.x, e.g.y
	}
	e.cur.wrapNext, e.joinable = false, false
	if e.cur.origin {
		e.cur.y = clamp(e.cur.y, e.g.top, e.g.bottom)
	}
}

func clamp(v, lo, hi int) int { return max(lo, min(v, hi)) }
