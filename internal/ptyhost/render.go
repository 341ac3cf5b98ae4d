package ptyhost

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Bounds of the history in a snapshot: a viewer that joins should draw at once. The rest stays in the host.
const (
	snapshotLines = 1000
	snapshotBytes = 1 << 20
)

// afresh begins a snapshot. What the viewer is in the midst of is called off first: ended by the escape of the reset, half a
// command would be done.
const afresh = "\x18\x1bc"

// appendRow appends a row with its styles. It begins and ends with no style; blanks at its end are left out, unless full.
func (e *emulator) appendRow(dst []byte, r *row, full bool) []byte {
	if len(r.plain) > 0 { // a row that is full is text up to its end
		if full {
			return append(dst, r.plain...)
		}
		return append(dst, bytes.TrimRight(r.plain, " ")...)
	}
	end := r.cols
	if !full {
		for end = r.used; end > 0 && r.raw[end-1].bare(); end-- {
		}
	}
	var pen style
	last := len(dst) // where the cell before begins, if nothing stands between
	for i := range r.raw[:end] {
		c := &r.raw[i]
		if c.width == 0 {
			continue
		}
		if c.style != pen {
			dst = e.appendStyle(dst, pen, c.style)
			pen, last = c.style, len(dst)
		}
		at := len(dst)
		dst = e.appendCell(dst, c)
		if merges(dst[last:], at-last) { // they did not when they were written: something stood between
			dst = appendSGR(dst[:at], pen)
			at = len(dst)
			dst = e.appendCell(dst, c)
		}
		last = at
	}
	return e.appendStyle(dst, pen, style{})
}

// merges reports whether the character at n would become part of the one before it.
func merges(text []byte, n int) bool {
	if n == 0 || text[n] < 0x80 {
		return false
	}
	if r, _ := utf8.DecodeRune(text[n:]); standsAlone(r) {
		return false
	}
	cluster, _ := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
	return len(cluster) > n
}

func appendSGR(dst []byte, s style) []byte {
	dst = append(dst, "\x1b["...)
	return append(appendSGRParams(dst, s), 'm')
}

// startsPlain reports whether a line begins with a character that stands for itself.
func startsPlain(line string) bool {
	r, _ := utf8.DecodeRuneInString(line)
	return r >= 0x20 && r < 0x7f || standsAlone(r)
}

// appendStyle appends what leads from one style to another.
func (e *emulator) appendStyle(dst []byte, from, to style) []byte {
	if from.link != to.link {
		dst = append(dst, "\x1b]8;"...)
		if to.link == 0 {
			dst = append(dst, ';')
		} else {
			dst = append(dst, e.links.text(int(to.link))...)
		}
		dst = append(dst, "\x1b\\"...)
	}
	from.link, to.link = 0, 0
	if from != to {
		dst = appendSGR(dst, to)
	}
	return dst
}

// text returns the rows in use as text.
func (e *emulator) text() []string {
	lines := make([]string, e.rows)
	var buf []byte
	for i := range e.g.rows {
		r := e.g.rows[i]
		buf = append(buf[:0], r.plain...)
		for j := len(buf); j < r.used; j++ {
			buf = e.appendCell(buf, &r.raw[j])
		}
		lines[i] = string(bytes.TrimRight(buf, " "))
	}
	return lines
}

// snapshot returns what draws this state on a terminal of the same size, whatever it showed before, with at most so many
// lines of history. What the output is in the midst of is the parser's.
func (e *emulator) snapshot(lines int) []byte {
	dst := e.appendMain(append([]byte(nil), afresh...), lines)
	if main := e.main; e.g != main {
		dst = e.appendSaved(dst, main.saved)
		dst = appendRegion(dst, main)
		dst = fmt.Appendf(dst, "\x1b[%d;%dH\x1b[?1047h", main.y+1, main.x+1)
		dst = e.appendAlt(dst)
	}
	dst = e.appendSaved(dst, e.g.saved)
	dst = appendRegion(dst, e.g)
	dst = e.appendModes(e.appendTabs(dst))
	return e.appendCursor(dst, e.cur)
}

// appendRegion sets the scroll region, unless it is the whole screen.
func appendRegion(dst []byte, g *grid) []byte {
	if g.top == 0 && g.bottom == len(g.rows)-1 {
		return dst
	}
	return fmt.Appendf(dst, "\x1b[%d;%dr", g.top+1, g.bottom+1)
}

// appendMain draws history and main screen as one text, so that a terminal which wraps lines itself knows which rows
// belong together.
func (e *emulator) appendMain(dst []byte, most int) []byte {
	lines := e.history.tail(most, snapshotBytes)
	lines = lines[:len(lines):len(lines)] // not to append into the history
	for i := range e.main.rows {
		r := e.main.rows[i]
		lines = append(lines, historyLine{string(e.appendRow(nil, r, r.goesOn())), r.goesOn()})
	}
	for i, l := range lines {
		dst = append(dst, l.text...)
		// Only a character that follows makes the terminal wrap. It must have no style yet, as a row that scrolls in
		// takes on the background, and not become part of the one before.
		if i < len(lines)-1 && !(l.wrapped && startsPlain(lines[i+1].text)) {
			dst = append(dst, "\r\n"...)
		}
	}
	return dst
}

// appendAlt draws the alternate screen row by row.
func (e *emulator) appendAlt(dst []byte) []byte {
	for i := range e.alt.rows {
		dst = fmt.Appendf(dst, "\x1b[%d;1H", i+1)
		dst = e.appendRow(dst, e.alt.rows[i], false)
	}
	return dst
}

// appendSaved makes the terminal save that cursor.
func (e *emulator) appendSaved(dst []byte, c cursor) []byte {
	fresh := newCursor()
	if c == fresh {
		return dst
	}
	dst = e.appendCharsets(dst, c)
	dst = fmt.Appendf(dst, "\x1b[%d;%dH", c.y+1, c.x+1)
	dst = e.appendStyle(dst, style{}, c.pen)
	dst = append(dst, "\x1b7"...)
	dst = e.appendStyle(dst, c.pen, style{})
	return e.appendCharsets(dst, fresh)
}

// appendCharsets designates and chooses the character sets.
func (e *emulator) appendCharsets(dst []byte, c cursor) []byte {
	for i, set := range c.charsets {
		dst = append(dst, 0x1b, "()*+"[i], set)
	}
	return append(dst, [4]string{"\x0f", "\x0e", "\x1bn", "\x1bo"}[c.gl]...)
}

// appendTabs sets the tab stops, unless they are where they always are.
func (e *emulator) appendTabs(dst []byte) []byte {
	usual := true
	for x, stop := range e.tabs {
		usual = usual && stop == (x%8 == 0)
	}
	if usual {
		return dst
	}
	dst = append(dst, "\x1b[3g"...)
	for x, stop := range e.tabs {
		if stop {
			dst = fmt.Appendf(dst, "\x1b[1;%dH\x1bH", x+1)
		}
	}
	return dst
}

func (e *emulator) appendModes(dst []byte) []byte {
	for _, m := range plainModes {
		if e.modes.on(m) {
			dst = fmt.Appendf(dst, "\x1b[?%dh", m)
		}
	}
	if e.newline {
		dst = append(dst, "\x1b[20h"...)
	}
	if e.shape != 0 {
		dst = fmt.Appendf(dst, "\x1b[%d q", e.shape)
	}
	if e.modify != 0 {
		dst = fmt.Appendf(dst, "\x1b[>4;%dm", e.modify)
	}
	stack := e.kitty[0]
	if e.g != e.main {
		stack = e.kitty[1]
	}
	for _, flags := range stack {
		dst = fmt.Appendf(dst, "\x1b[>%du", flags)
	}
	var cmds []int
	for cmd := range e.colors {
		cmds = append(cmds, cmd)
	}
	slices.Sort(cmds)
	for _, cmd := range cmds {
		dst = fmt.Appendf(dst, "\x1b]%d;%s\x1b\\", cmd, e.colors[cmd])
	}
	if e.title != "" {
		dst = fmt.Appendf(dst, "\x1b]2;%s\x1b\\", e.title)
	}
	return dst
}

// appendCursor puts the cursor, with what it writes and how. A cursor that waits to wrap is made by writing its cell
// again.
func (e *emulator) appendCursor(dst []byte, c cursor) []byte {
	y := c.y
	if c.origin {
		dst = append(dst, "\x1b[?6h"...)
		y -= e.g.top
	}
	cells := e.g.rows[c.y].cells()
	x := c.x
	if c.wrapNext && cells[x].width == 0 {
		x--
	}
	dst = fmt.Appendf(dst, "\x1b[%d;%dH", y+1, x+1)
	var pen style
	if c.wrapNext {
		dst = e.appendStyle(dst, pen, cells[x].style)
		dst = e.appendCell(dst, &cells[x])
		pen = cells[x].style
	}
	dst = e.appendStyle(dst, pen, c.pen)
	if c.charsets != newCursor().charsets || c.gl != 0 {
		dst = e.appendCharsets(dst, c)
	}
	if !e.modes.on(modeAutoWrap) {
		dst = append(dst, "\x1b[?7l"...)
	}
	if !e.modes.on(modeCursor) {
		dst = append(dst, "\x1b[?25l"...)
	}
	if e.insert {
		dst = append(dst, "\x1b[4h"...)
	}
	return dst
}
