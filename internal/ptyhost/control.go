package ptyhost

import "strings"

func (e *emulator) control(b byte) {
	e.joinable = false
	switch b {
	case 0x08: // BS
		e.cur.x = max(e.cur.x-1, 0)
		e.cur.wrapNext = false
	case 0x09:
		e.tab(1)
	case 0x0a, 0x0b, 0x0c:
		e.index()
		if e.newline {
			e.cur.x = 0
		}
	case 0x0d:
		e.cur.x, e.cur.wrapNext = 0, false
	case 0x0e:
		e.cur.gl = 1
	case 0x0f:
		e.cur.gl = 0
	}
}

// tab moves n tab stops on, or back when n is negative.
func (e *emulator) tab(n int) {
	e.cur.wrapNext = false
	for ; n > 0 && e.cur.x < e.cols-1; n-- {
		for e.cur.x++; e.cur.x < e.cols-1 && !e.tabs[e.cur.x]; e.cur.x++ {
		}
	}
	for ; n < 0 && e.cur.x > 0; n++ {
		for e.cur.x--; e.cur.x > 0 && !e.tabs[e.cur.x]; e.cur.x-- {
		}
	}
}

func (e *emulator) escape(inter, final byte) {
	e.joinable = false
	switch inter {
	case '(', ')', '*', '+':
		set := byte('B')
		if final == '0' {
			set = '0'
		}
		e.cur.charsets[inter-'('] = set
		return
	case '#':
		if final == '8' {
			e.alignmentTest()
		}
		return
	case 0:
	default:
		return
	}
	switch final {
	case '7':
		e.save()
	case '8':
		e.restore()
	case '=':
		e.modes.set(modeKeypad, true)
	case '>':
		e.modes.set(modeKeypad, false)
	case 'D':
		e.index()
	case 'E':
		e.cur.x = 0
		e.index()
	case 'H':
		e.tabs[e.cur.x] = true
	case 'M':
		e.reverseIndex()
	case 'c':
		e.reset()
	case 'n':
		e.cur.gl = 2
	case 'o':
		e.cur.gl = 3
	}
}

func (e *emulator) reverseIndex() {
	e.cur.wrapNext = false
	switch {
	case e.cur.y == e.g.top:
		e.g.scrollDown(e.g.top, e.g.bottom, 1, e.clear)
	case e.cur.y > 0:
		e.cur.y--
	}
}

func (e *emulator) alignmentTest() {
	for i := range e.g.rows {
		e.g.rows[i].fill(0, e.cols, cell{r: 'E', width: 1})
	}
	e.g.top, e.g.bottom = 0, e.rows-1
	e.moveTo(0, 0)
}

// csi runs a control sequence. Counts are cut to the size of the screen first: no sequence may cost more than a screen.
func (e *emulator) csi(s *sequence) {
	e.joinable = false
	switch {
	case s.prefix == 0 && s.inter == 0:
		if !e.csiCursor(s) {
			e.csiEdit(s)
		}
	case s.prefix == '?' && s.inter == 0:
		e.csiPrivate(s)
	case s.prefix == '>' && s.inter == 0:
		e.csiSecondary(s)
	case s.final == 'u' && s.inter == 0:
		e.kittyKeys(s)
	case s.final == 'p' && s.inter == '$':
		e.reportMode(s)
	case s.final == 'p' && s.inter == '!' && s.prefix == 0:
		e.softReset()
	case s.final == 'q' && s.inter == ' ' && s.prefix == 0:
		e.shape = clamp(s.raw(0), 0, 6)
	}
}

// csiCursor runs the functions that only move the cursor and reports whether s was one.
func (e *emulator) csiCursor(s *sequence) bool {
	n := s.param(0, 1)
	x, y := e.cur.x, e.cur.y
	switch s.final {
	case 'A', 'F': // CUU, CPL: stop at the top of the region when inside
		top := 0
		if y >= e.g.top {
			top = e.g.top
		}
		y = max(y-n, top)
	case 'B', 'E', 'e':
		bottom := e.rows - 1
		if y <= e.g.bottom {
			bottom = e.g.bottom
		}
		y = min(y+n, bottom)
	case 'C', 'a':
		x = min(x+n, e.cols-1)
	case 'D':
		x = max(x-n, 0)
	case 'G', '`':
		x = min(n, e.cols) - 1
	case 'H', 'f':
		e.moveTo(s.param(1, 1)-1, n-1)
		return true
	case 'd':
		e.moveTo(x, n-1)
		return true
	case 'I':
		e.tab(min(n, e.cols))
		return true
	case 'Z':
		e.tab(-min(n, e.cols))
		return true
	default:
		return false
	}
	if s.final == 'E' || s.final == 'F' {
		x = 0
	}
	e.cur.x, e.cur.y, e.cur.wrapNext = x, y, false
	return true
}

// csiEdit runs the functions that change what is shown.
func (e *emulator) csiEdit(s *sequence) {
	n := min(s.param(0, 1), max(e.cols, e.rows))
	row := e.g.rows[e.cur.y]
	switch s.final {
	case '@':
		e.cur.wrapNext = false
		row.insert(e.cur.x, n, e.clear)
	case 'P':
		e.cur.wrapNext = false
		row.remove(e.cur.x, n, e.clear)
	case 'X':
		e.cur.wrapNext = false
		row.fill(e.cur.x, min(e.cur.x+n, e.cols), e.clear)
	case 'J':
		e.eraseDisplay(s.raw(0))
	case 'K':
		e.eraseLine(s.raw(0))
	case 'L', 'M':
		if e.cur.y < e.g.top || e.cur.y > e.g.bottom {
			return
		}
		if s.final == 'L' {
			e.g.scrollDown(e.cur.y, e.g.bottom, n, e.clear)
		} else {
			e.g.scrollUp(e.cur.y, e.g.bottom, n, e.clear)
		}
		e.cur.x, e.cur.wrapNext = 0, false
	case 'S':
		e.scrollUp(n)
	case 'T':
		if s.n <= 1 { // with more parameters it is mouse tracking
			e.g.scrollDown(e.g.top, e.g.bottom, n, e.clear)
		}
	case 'b':
		e.repeat(s.param(0, 1))
	case 'g':
		switch s.raw(0) {
		case 0:
			e.tabs[e.cur.x] = false
		case 3:
			clear(e.tabs)
		}
	case 'r':
		top, bottom := s.param(0, 1), s.param(1, e.rows)
		if bottom = min(bottom, e.rows); top < bottom {
			e.g.top, e.g.bottom = top-1, bottom-1
			e.moveTo(0, 0)
		}
	case 's':
		e.save()
	case 'u':
		e.restore()
	case 'm':
		e.sgr(s)
	case 'h', 'l':
		for i := range s.n {
			switch s.params[i] {
			case 4:
				e.insert = s.final == 'h'
			case 20:
				e.newline = s.final == 'h'
			}
		}
	case 'c':
		e.deviceAttributes(s)
	case 'n':
		e.statusReport(s)
	}
}

// repeat is REP, at most one screen full.
func (e *emulator) repeat(n int) {
	if e.last == 0 {
		return
	}
	w := 1
	if !narrow(e.last) {
		w = clamp(runeWidth(e.last), 1, 2)
	}
	for range min(n, e.cols*e.rows) {
		e.put(e.last, w)
	}
}

func (e *emulator) eraseDisplay(mode int) {
	e.cur.wrapNext = false
	from, to := 0, e.rows
	switch mode {
	case 0:
		e.g.rows[e.cur.y].fill(e.cur.x, e.cols, e.clear)
		from = e.cur.y + 1
	case 1:
		e.g.rows[e.cur.y].fill(0, min(e.cur.x+1, e.cols), e.clear)
		to = e.cur.y
	case 2:
	case 3:
		e.history.clear()
		return
	default:
		return
	}
	for i := from; i < to; i++ {
		e.g.rows[i].fill(0, e.cols, e.clear)
	}
}

func (e *emulator) eraseLine(mode int) {
	e.cur.wrapNext = false
	row := e.g.rows[e.cur.y]
	switch mode {
	case 0:
		row.fill(e.cur.x, e.cols, e.clear)
	case 1:
		row.fill(0, min(e.cur.x+1, e.cols), e.clear)
	case 2:
		row.fill(0, e.cols, e.clear)
	}
}

// softReset is DECSTR.
func (e *emulator) softReset() {
	e.modes.set(modeCursor, true)
	e.modes.set(modeAppKeys, false)
	e.modes.set(modeKeypad, false)
	e.modes.set(modeAutoWrap, true)
	e.insert = false
	e.g.top, e.g.bottom = 0, e.rows-1
	e.g.saved = newCursor()
	x, y := e.cur.x, e.cur.y
	e.cur = newCursor()
	e.cur.x, e.cur.y = x, y
	e.setClear()
}

// kittyKeys runs the keyboard protocol's CSI > u, CSI < u and CSI = u.
func (e *emulator) kittyKeys(s *sequence) {
	const depth = 16 // pushes that are kept; older ones fall out, as the protocol allows
	stack := &e.kitty[0]
	if e.g != e.main {
		stack = &e.kitty[1]
	}
	switch s.prefix {
	case '>':
		if len(*stack) == depth {
			*stack = append((*stack)[:0], (*stack)[1:]...)
		}
		*stack = append(*stack, s.raw(0)&31)
	case '<':
		n := min(s.param(0, 1), len(*stack))
		*stack = (*stack)[:len(*stack)-n]
	case '=':
		if len(*stack) == 0 {
			*stack = append(*stack, 0)
		}
		top, flags := &(*stack)[len(*stack)-1], s.raw(0)&31
		switch s.param(1, 1) {
		case 1:
			*top = flags
		case 2:
			*top |= flags
		case 3:
			*top &^= flags
		}
	}
}

// csiSecondary runs sequences with the prefix '>'.
func (e *emulator) csiSecondary(s *sequence) {
	switch s.final {
	case 'c':
		if s.raw(0) == 0 {
			e.answer("\x1b[>0;276;0c") // what xterm.js says
		}
	case 'm':
		if s.raw(0) == 4 {
			e.modify = clamp(s.raw(1), 0, 3)
		}
	case 'u':
		e.kittyKeys(s)
	}
}

// cleanTitle cuts control characters and what is too long.
func cleanTitle(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	if len(s) > MaxTitle {
		s = strings.ToValidUTF8(s[:MaxTitle], "")
	}
	return s
}
