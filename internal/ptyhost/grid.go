package ptyhost

// color is a default (0), a palette index (1<<24 | index) or a 24-bit value (2<<24 | rgb).
type color uint32

const (
	colorPalette color = 1 << 24
	colorRGB     color = 2 << 24
)

// Attributes of a style. The low three bits of underline are its kind, 0 for none.
const (
	attrBold uint16 = 1 << iota
	attrFaint
	attrItalic
	attrBlink
	attrReverse
	attrConceal
	attrStrike
	attrOverline
	underlineShift = 8
	underlineMask  = 7 << underlineShift
)

// style is how a cell is drawn.
type style struct {
	fg, bg, under color
	attrs         uint16
	link          uint16 // number in the emulator's table of links; 0 for none
}

// cell is one place of a grid. The right half of a wide character is a cell of width 0.
type cell struct {
	r     rune // the character; 0 is blank; below 0 it is a cluster of the emulator's table
	width uint8
	style style
}

// bare reports whether nothing is seen of the cell.
func (c *cell) bare() bool { return (c.r == 0 || c.r == ' ') && c.width == 1 && c.style == style{} }

// blank returns an erased cell: it keeps the background colour, as xterm does.
func blank(s style) cell { return cell{width: 1, style: style{bg: s.bg}} }

// row is one line of a grid. Most of what is ever printed is plain ASCII, and most of that scrolls away before anybody asks
// for a cell of it. So a row that was only ever appended to in the plain style is kept as text, at a byte for each cell, and
// becomes cells when anything else happens to it.
type row struct {
	cols    int
	plain   []byte // the row as text: cells behind it are empty. Its room is kept when the row is cleared
	raw     []cell // nil until there are cells; all empty while plain is not. Use cells
	used    int    // all cells from there on are empty, as in a new row; len(plain), if the row is text
	wrapped bool   // the next row goes on with the same line
}

// empty is a cell of a new row.
var empty = cell{width: 1}

func newRow(cols int, c cell) *row {
	r := &row{cols: cols}
	r.fill(0, cols, c)
	return r
}

// cells returns the row's cells, for reading and for writing.
func (r *row) cells() []cell {
	if r.raw == nil || len(r.plain) > 0 {
		r.spread()
	}
	return r.raw
}

// spread turns the text into cells.
func (r *row) spread() {
	if r.raw == nil {
		r.raw = make([]cell, r.cols)
		for i := len(r.plain); i < r.cols; i++ {
			r.raw[i] = empty
		}
	}
	cells := r.raw[:len(r.plain)]
	for i, c := range r.plain {
		cells[i] = cell{r: rune(c), width: 1}
	}
	r.plain = r.plain[:0]
}

// append adds text in the plain style at column x, where it must fit, and reports whether it did: only to a row that is text
// or new, and ends there.
func (r *row) append(x int, text []byte) bool {
	if x != r.used || x != len(r.plain) {
		return false
	}
	if r.plain == nil {
		r.plain = make([]byte, 0, r.cols)
	}
	r.plain = append(r.plain, text...)
	r.used = len(r.plain)
	return true
}

// goesOn reports whether the row is full and the next one continues it.
func (r *row) goesOn() bool {
	if !r.wrapped || r.used < r.cols {
		return false
	}
	return len(r.plain) > 0 || r.cells()[r.cols-1] != empty
}

// fill sets cells from..to-1 and mends the wide characters that it cuts in two.
func (r *row) fill(from, to int, c cell) {
	if to == r.cols {
		r.wrapped = false
	}
	if c == empty && from >= r.used {
		return
	}
	if c == empty && to >= r.used && len(r.plain) > 0 { // the end of a text
		r.plain, r.used = r.plain[:from], from
		return
	}
	r.split(from)
	r.split(to)
	if c != empty {
		r.used = max(r.used, to)
	} else if to = min(to, r.used); from < to && to == r.used {
		r.used = from
	}
	cells := r.cells()
	for i := from; i < to; i++ {
		cells[i] = c
	}
}

// split makes x a border between characters: a wide character across it becomes two blanks.
func (r *row) split(x int) {
	if x > 0 && x < r.used && len(r.plain) == 0 && r.raw[x].width == 0 {
		r.raw[x-1].r, r.raw[x-1].width = 0, 1
		r.raw[x].r, r.raw[x].width = 0, 1
	}
}

// insert shifts the cells from x on to the right by n and clears the gap.
func (r *row) insert(x, n int, c cell) {
	n = min(n, r.cols-x)
	r.split(x)
	r.split(r.cols - n)
	cells := r.cells()
	copy(cells[x+n:], cells[x:r.cols-n])
	for i := x; i < x+n; i++ {
		cells[i] = c
	}
	r.used = r.cols
	r.wrapped = false
}

// remove shifts the cells behind x to the left by n and clears the end.
func (r *row) remove(x, n int, c cell) {
	n = min(n, r.cols-x)
	r.split(x)
	r.split(x + n)
	cells := r.cells()
	copy(cells[x:], cells[x+n:])
	for i := r.cols - n; i < r.cols; i++ {
		cells[i] = c
	}
	if c != empty {
		r.used = r.cols
	}
	r.wrapped = false
}

// resize cuts or extends the row.
func (r *row) resize(cols int) {
	if cols < r.cols {
		r.split(cols)
	}
	if cols != r.cols {
		r.wrapped = false
	}
	if r.raw != nil {
		cells := make([]cell, cols)
		for i := copy(cells, r.raw); i < cols; i++ {
			cells[i] = empty
		}
		r.raw = cells
	}
	r.plain = r.plain[:min(len(r.plain), cols)]
	r.cols, r.used = cols, min(r.used, cols)
}

// cursor is a place and what goes with it when it is saved.
type cursor struct {
	x, y     int
	pen      style
	wrapNext bool // the last column was written: the next character wraps first
	origin   bool
	charsets [4]byte // designators: 'B' is ASCII, '0' line drawing
	gl       int     // which of them is in use
}

func newCursor() cursor { return cursor{charsets: [4]byte{'B', 'B', 'B', 'B'}} }

// grid is one of the two screens, the main or the alternate one.
type grid struct {
	rows        []*row // pointers, since a line that scrolls moves them all
	top, bottom int    // scroll region, inclusive
	saved       cursor
	x, y        int // where the cursor stood when the other screen was chosen
}

func newGrid(cols, rows int) *grid {
	g := &grid{rows: make([]*row, rows), bottom: rows - 1, saved: newCursor()}
	for i := range g.rows {
		g.rows[i] = newRow(cols, empty)
	}
	return g
}

// scrollUp moves the rows of top..bottom up by n. Rows are recycled: nothing is copied or allocated.
func (g *grid) scrollUp(top, bottom, n int, c cell) {
	n = min(n, bottom-top+1)
	region := g.rows[top : bottom+1]
	for range n {
		first := region[0]
		copy(region, region[1:])
		first.fill(0, first.cols, c)
		region[len(region)-1] = first
	}
	if top > 0 {
		g.rows[top-1].wrapped = false
	}
}

// scrollDown moves the rows of top..bottom down by n.
func (g *grid) scrollDown(top, bottom, n int, c cell) {
	n = min(n, bottom-top+1)
	region := g.rows[top : bottom+1]
	for range n {
		last := region[len(region)-1]
		copy(region[1:], region)
		last.fill(0, last.cols, c)
		region[0] = last
	}
	region[len(region)-1].wrapped = false
	if top > 0 {
		g.rows[top-1].wrapped = false
	}
}
