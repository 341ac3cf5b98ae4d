package ptyhost

import "unicode/utf8"

// Limits of one control sequence. What is longer is cut: a program cannot make the parser hold more.
const (
	maxParams   = 32
	maxParam    = 65535
	maxOSC      = 64 << 10
	missing     = -1 // value of a parameter that was left out
	replacement = utf8.RuneError
)

// sink takes what a parser recognises.
type sink interface {
	printASCII(run []byte)          // bytes 0x20 to 0x7e
	print(r rune)                   // any other printable character
	control(b byte)                 // C0
	escape(inter, final byte)       // ESC inter? final
	csi(seq *sequence)              // control sequence
	osc(data []byte)                // operating system command, without its terminator
	dcs(seq *sequence, data []byte) // device control string
}

// sequence is a parsed CSI or DCS.
type sequence struct {
	prefix, inter, final byte // private marker and last intermediate; 0 when there is none
	params               [maxParams]int
	sub                  [maxParams]bool // the parameter follows a colon, so it belongs to the one before
	n                    int
}

// param returns parameter i, or def when it is missing or zero: zero means the default in most functions.
func (s *sequence) param(i, def int) int {
	if i >= s.n || s.params[i] <= 0 {
		return def
	}
	return s.params[i]
}

// raw returns parameter i, or 0 when it is missing.
func (s *sequence) raw(i int) int {
	if i >= s.n || s.params[i] < 0 {
		return 0
	}
	return s.params[i]
}

type parserState uint8

const (
	stGround parserState = iota
	stEscape
	stCSI
	stCSIIgnore
	stOSC
	stDCSHead
	stDCS
	stString // APC, PM, SOS: taken in and dropped
)

// parser cuts a byte stream into text and control sequences, as xterm.js does it: the stream is UTF-8, C1 controls are
// recognised as code points, ESC ends any string. It keeps its state between writes and never fails.
type parser struct {
	state   parserState
	seq     sequence
	inter   byte // of an escape sequence
	str     []byte
	raw     []byte // what came of a sequence or character that is not complete yet
	utf     [utf8.UTFMax]byte
	utfLen  int
	utfNeed int
	at      int // number of bytes of the present write that it has taken, with the one that it is at
}

// write feeds p to out.
func (p *parser) write(b []byte, out sink) {
	for i := 0; i < len(b); {
		c := b[i]
		if p.state == stGround && p.utfNeed == 0 && c >= 0x20 && c < 0x7f {
			j := i + 1
			for j < len(b) && b[j] >= 0x20 && b[j] < 0x7f {
				j++
			}
			out.printASCII(b[i:j])
			i = j
			continue
		}
		p.at = i + 1
		p.step(c, out)
		p.note(c)
		i++
	}
}

// note keeps the bytes of what is not complete, so that a snapshot can end with them.
func (p *parser) note(c byte) {
	switch {
	case p.state == stGround && p.utfNeed == 0:
		if p.raw = p.raw[:0]; cap(p.raw) > 4096 {
			p.raw = nil
		}
		return
	case c == 0x1b || p.utfNeed > 0 && p.utfLen == 1:
		p.raw = p.raw[:0]
	case c < 0x20 && p.state != stDCS: // ran already, or does nothing
		return
	}
	if len(p.raw) < maxOSC {
		p.raw = append(p.raw, c)
	}
}

func (p *parser) step(c byte, out sink) {
	if p.utfNeed > 0 {
		if c&0xc0 == 0x80 {
			p.utf[p.utfLen] = c
			p.utfLen++
			if p.utfLen == p.utfNeed {
				p.utfNeed = 0
				r, _ := utf8.DecodeRune(p.utf[:p.utfLen])
				p.rune(r, out)
			}
			return
		}
		p.utfNeed = 0 // cut off: what came is one bad character, and c starts anew
		p.rune(replacement, out)
	}
	switch c {
	case 0x1b:
		p.endString(out)
		p.state, p.inter = stEscape, 0
		return
	case 0x18, 0x1a: // CAN, SUB abort whatever is open
		p.str, p.state = nil, stGround
		return
	}
	switch p.state {
	case stGround:
		p.ground(c, out)
	case stEscape:
		p.escape(c, out)
	case stCSI, stCSIIgnore, stDCSHead:
		p.csi(c, out)
	case stOSC:
		if c == 0x07 {
			p.endString(out)
			return
		}
		p.collect(c)
	case stDCS:
		p.collect(c)
	case stString:
		if c == 0x07 {
			p.state = stGround
		}
	}
}

// ground handles everything but runs of ASCII text.
func (p *parser) ground(c byte, out sink) {
	switch {
	case c < 0x20:
		out.control(c)
	case c < 0x7f:
		out.printASCII([]byte{c})
	case c == 0x7f:
	case c >= 0xc2 && c <= 0xdf:
		p.startUTF8(c, 2)
	case c >= 0xe0 && c <= 0xef:
		p.startUTF8(c, 3)
	case c >= 0xf0 && c <= 0xf4:
		p.startUTF8(c, 4)
	default:
		p.rune(replacement, out)
	}
}

func (p *parser) startUTF8(c byte, need int) {
	p.utf[0], p.utfLen, p.utfNeed = c, 1, need
}

// rune handles a decoded character. C1 code points are the two-byte forms of ESC and a letter.
func (p *parser) rune(r rune, out sink) {
	if r >= 0x80 && r < 0xa0 {
		p.state, p.inter = stEscape, 0
		p.escape(byte(r-0x40), out)
		return
	}
	out.print(r)
}

func (p *parser) escape(c byte, out sink) {
	switch {
	case c < 0x20:
		out.control(c)
		return
	case c < 0x30:
		p.inter = c
		return
	case c == 0x7f:
		return
	case c > 0x7f: // not a sequence after all
		p.state = stGround
		p.ground(c, out)
		return
	}
	p.state = stGround
	if p.inter == 0 {
		switch c {
		case '[':
			p.begin(stCSI)
			return
		case ']':
			p.begin(stOSC)
			return
		case 'P':
			p.begin(stDCSHead)
			return
		case 'X', '^', '_':
			p.begin(stString)
			return
		}
	}
	out.escape(p.inter, c)
}

func (p *parser) begin(s parserState) {
	p.state = s
	p.seq = sequence{}
	p.str = p.str[:0]
}

// csi handles the head of a CSI or DCS.
func (p *parser) csi(c byte, out sink) {
	s := &p.seq
	switch {
	case c < 0x20:
		if p.state != stDCSHead {
			out.control(c)
		}
	case c >= '0' && c <= '9':
		if s.n == 0 {
			s.n, s.params[0] = 1, missing
		}
		v := max(s.params[s.n-1], 0)*10 + int(c-'0')
		s.params[s.n-1] = min(v, maxParam)
	case c == ';' || c == ':':
		if s.n == 0 {
			s.n, s.params[0] = 1, missing
		}
		if s.n == maxParams {
			if p.state == stCSI {
				p.state = stCSIIgnore
			}
			return
		}
		s.params[s.n], s.sub[s.n] = missing, c == ':'
		s.n++
	case c >= '<' && c <= '?':
		s.prefix = c
	case c < 0x30:
		s.inter = c
	case c >= 0x40 && c < 0x7f:
		s.final = c
		switch p.state {
		case stDCSHead:
			p.state = stDCS
		case stCSIIgnore:
			p.state = stGround
		default:
			p.state = stGround
			out.csi(s)
		}
	case c == 0x7f:
	default:
		p.state = stGround
		p.ground(c, out)
	}
}

func (p *parser) collect(c byte) {
	if (c >= 0x20 || p.state == stDCS) && len(p.str) < maxOSC {
		p.str = append(p.str, c)
	}
}

// endString delivers an open string, as its terminator or an ESC was met.
func (p *parser) endString(out sink) {
	s := p.state
	p.state = stGround
	switch s {
	case stOSC:
		out.osc(p.str)
	case stDCS:
		out.dcs(&p.seq, p.str)
	}
	if cap(p.str) > 4096 {
		p.str = nil // a long string was an exception: a quiet terminal should not keep its room
	}
}
