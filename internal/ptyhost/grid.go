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

// row is one line of a grid.
type row struct {
	cells   []cell
	used    int  // all cells from there on are empty, as in a new row
	wrapped bool // the next row goes on with the same line
}

// empty is a cell of a new row.
var empty = cell{width: 1}

// goesOn reports whether the row is full and the next one continues it.
func (r *row) goesOn() bool { return r.wrapped && r.cells[len(r.cells)-1] != empty }

func newRow(cols int, c cell) row {
	r := row{cells: make([]cell, cols), used: cols}
	r.fill(0, cols, c)
	return r
}

// fill sets cells from..to-1 and mends the wide characters that it cuts in two.
func (r *row) fill(from, to int, c cell) {
	r.split(from)
	r.split(to)
	if to == len(r.cells) {
		r.wrapped = false
	}
	if c != empty {
		r.used = max(r.used, to)
	} else if to = min(to, r.used); from < to && to == r.used {
		r.used = from
	}
	for i := from; i < to; i++ {
		r.cells[i] = c
	}
}

// split makes x a border between characters: a wide character across it becomes two blanks.
func (r *row) split(x int) {
	if x > 0 && x < len(r.cells) && r.cells[x].width == 0 {
		r.cells[x-1].r, r.cells[x-1].width = 0, 1
		r.cells[x].r, r.cells[x].width = 0, 1
	}
}

// insert shifts the cells from x on to the right by n and clears the gap.
func (r *row) insert(x, n int, c cell) {
	cols := len(r.cells)
	n = min(n, cols-x)
	r.split(x)
	r.split(cols - n)
	copy(r.cells[x+n:], r.cells[x:cols-n])
	for i := x; i < x+n; i++ {
		r.cells[i] = c
	}
	r.used = cols
	r.wrapped = false
}

// remove shifts the cells behind x to the left by n and clears the end.
func (r *row) remove(x, n int, c cell) {
	cols := len(r.cells)
	n = min(n, cols-x)
	r.split(x)
	r.split(x + n)
	copy(r.cells[x:], r.cells[x+n:])
	for i := cols - n; i < cols; i++ {
		r.cells[i] = c
	}
	if c != empty {
		r.used = cols
	}
	r.wrapped = false
}

// resize cuts or extends the row.
func (r *row) resize(cols int) {
	old := len(r.cells)
	if cols < old {
		r.split(cols)
		r.cells = append([]cell(nil), r.cells[:cols]...)
		r.used = min(r.used, cols)
		r.wrapped = false
		return
	}
	cells := make([]cell, cols)
	copy(cells, r.cells)
	for i := old; i < cols; i++ {
		cells[i] = empty
	}
	r.cells = cells
	if cols > old {
		r.wrapped = false
	}
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
	rows        []row
	top, bottom int // scroll region, inclusive
	saved       cursor
	x, y        int // where the cursor stood when the other screen was chosen
}

func newGrid(cols, rows int) *grid {
	g := &grid{rows: make([]row, rows), bottom: rows - 1, saved: newCursor()}
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
		first.fill(0, len(first.cells), c)
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
		last.fill(0, len(last.cells), c)
		region[0] = last
	}
	region[len(region)-1].wrapped = false
	if top > 0 {
		g.rows[top-1].wrapped = false
	}
}
