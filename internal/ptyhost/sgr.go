package ptyhost

import "strconv"

// sgr changes the pen.
func (e *emulator) sgr(s *sequence) {
	if s.n == 0 {
		e.cur.pen = style{link: e.cur.pen.link}
	}
	pen := &e.cur.pen
	for i := 0; i < s.n; {
		group := 1 // a parameter with those that hang on it by colons
		for i+group < s.n && s.sub[i+group] {
			group++
		}
		i += pen.apply(s, i, group)
	}
	e.setClear()
}

// apply runs parameter i, which has group-1 colon parameters, and returns how many were used.
func (p *style) apply(s *sequence, i, group int) int {
	v := s.raw(i)
	switch {
	case v == 0:
		*p = style{link: p.link}
	case v == 4:
		kind := uint16(1)
		if group > 1 {
			kind = uint16(clamp(s.raw(i+1), 0, 5))
		}
		p.attrs = p.attrs&^underlineMask | kind<<underlineShift
	case v == 21:
		p.attrs = p.attrs&^underlineMask | 2<<underlineShift
	case v == 24:
		p.attrs &^= underlineMask
	case v < 10:
		p.attrs |= setAttr[v]
	case v >= 22 && v <= 29:
		p.attrs &^= clearAttr[v-22]
	case v >= 30 && v <= 37:
		p.fg = colorPalette | color(v-30)
	case v >= 40 && v <= 47:
		p.bg = colorPalette | color(v-40)
	case v >= 90 && v <= 97:
		p.fg = colorPalette | color(v-90+8)
	case v >= 100 && v <= 107:
		p.bg = colorPalette | color(v-100+8)
	case v == 38 || v == 48 || v == 58:
		c, used, ok := extendedColor(s, i, group)
		if ok {
			switch v {
			case 38:
				p.fg = c
			case 48:
				p.bg = c
			case 58:
				p.under = c
			}
		}
		return used
	case v == 39:
		p.fg = 0
	case v == 49:
		p.bg = 0
	case v == 59:
		p.under = 0
	case v == 53:
		p.attrs |= attrOverline
	case v == 55:
		p.attrs &^= attrOverline
	}
	return group
}

// setAttr maps SGR 1 to 9 to attributes; 4 is handled apart.
var setAttr = [10]uint16{1: attrBold, 2: attrFaint, 3: attrItalic, 5: attrBlink, 6: attrBlink, 7: attrReverse,
	8: attrConceal, 9: attrStrike}

// clearAttr maps SGR 22 to 29; 24 is handled apart.
var clearAttr = [8]uint16{attrBold | attrFaint, attrItalic, 0, attrBlink, 0, attrReverse, attrConceal, attrStrike}

// extendedColor reads 38;5;n, 38;2;r;g;b and their colon forms, with or without a colour space.
func extendedColor(s *sequence, i, group int) (c color, used int, ok bool) {
	at, n := i+1, group-1
	if group == 1 { // semicolons: what follows belongs to it
		n = s.n - at
	}
	if n < 1 {
		return 0, group, false
	}
	switch s.raw(at) {
	case 5:
		if group == 1 {
			used = min(3, s.n-i)
		} else {
			used = group
		}
		if n < 2 || s.raw(at+1) > 255 {
			return 0, used, false
		}
		return colorPalette | color(s.raw(at+1)), used, true
	case 2:
		if group == 1 {
			used = min(5, s.n-i)
		} else {
			used = group
			if n >= 5 { // 38:2:space:r:g:b
				at++
				n--
			}
		}
		if n < 4 {
			return 0, used, false
		}
		r, g, b := s.raw(at+1), s.raw(at+2), s.raw(at+3)
		if r > 255 || g > 255 || b > 255 {
			return 0, used, false
		}
		return colorRGB | color(r<<16|g<<8|b), used, true
	}
	return 0, group, false
}

// sgrParams returns the parameters that set the style from nothing.
func sgrParams(s style) []byte { return appendSGRParams(nil, s) }

func appendSGRParams(dst []byte, s style) []byte {
	dst = append(dst, '0')
	for v, attr := range setAttr {
		if attr != 0 && s.attrs&attr != 0 && v != 6 {
			dst = append(dst, ';', byte('0'+v))
		}
	}
	if k := s.attrs & underlineMask >> underlineShift; k == 1 {
		dst = append(dst, ";4"...)
	} else if k > 1 {
		dst = append(dst, ";4:"...)
		dst = append(dst, byte('0'+k))
	}
	if s.attrs&attrOverline != 0 {
		dst = append(dst, ";53"...)
	}
	dst = appendColor(dst, 30, s.fg)
	dst = appendColor(dst, 40, s.bg)
	return appendColor(dst, 50, s.under)
}

// appendColor appends a colour; base is 30, 40 or 50.
func appendColor(dst []byte, base int, c color) []byte {
	if c == 0 {
		return dst
	}
	v := int(c & 0xffffff)
	dst = append(dst, ';')
	switch {
	case c&colorRGB != 0:
		dst = strconv.AppendInt(dst, int64(base+8), 10)
		dst = append(dst, ";2"...)
		for _, part := range [3]int{v >> 16, v >> 8 & 255, v & 255} {
			dst = append(dst, ';')
			dst = strconv.AppendInt(dst, int64(part), 10)
		}
	case v < 8 && base < 50:
		dst = strconv.AppendInt(dst, int64(base+v), 10)
	case v < 16 && base < 50:
		dst = strconv.AppendInt(dst, int64(base+60+v-8), 10)
	default:
		dst = strconv.AppendInt(dst, int64(base+8), 10)
		dst = append(dst, ";5;"...)
		dst = strconv.AppendInt(dst, int64(v), 10)
	}
	return dst
}
