package agent

import "unicode/utf8"

// maxOSC bounds the payload of an OSC that is kept, in bytes. The longest that means something is a status report with
// a message in base64; a longer one (a clipboard, an image) is passed over without a signal.
const maxOSC = 8 << 10

// maxCSI bounds the parameters of a CSI that are kept. Those of interest have a dozen characters.
const maxCSI = 64

// Parser finds the signals in a program's output. It is fed the raw bytes in any pieces; the same bytes give the same
// signals however they were cut. It holds at most maxOSC bytes and is not safe for concurrent use.
//
// It reads UTF-8, as all terminals of this app do: a C1 control is honoured only in its two-byte form. A string (OSC,
// DCS, APC, PM, SOS) is ended as xterm.js ends it: by ST, by BEL for an OSC, by the ESC of a next sequence, or thrown
// away by CAN or SUB.
type Parser struct {
	state parseState
	lead  bool // the last byte was 0xC2, which begins a two-byte C1 or a Latin-1 character
	osc   []byte
	over  bool // osc grew past its bound: no signal
	csi   []byte
	emit  func(Signal)
}

type parseState uint8

const (
	inGround parseState = iota
	inEscape
	inEscapeInter // ESC with intermediates, such as a charset choice
	inCSI
	inCSIIgnore
	inOSC
	inString // DCS, APC, PM, SOS: passed over
)

// NewParser returns a Parser that calls emit for every signal, in order, from within Feed.
func NewParser(emit func(Signal)) *Parser { return &Parser{emit: emit} }

// Feed reads the next piece of output.
func (p *Parser) Feed(b []byte) {
	for i := 0; i < len(b); i++ {
		if p.state == inGround && !p.lead {
			// Nearly all output is plain text: jump to the next byte that can begin something.
			for i < len(b) && b[i] >= 0x20 && b[i] != 0xC2 {
				i++
			}
			if i == len(b) {
				return
			}
		}
		p.step(b[i])
	}
}

// step reads one byte.
func (p *Parser) step(c byte) {
	if p.lead {
		p.lead = false
		if c >= 0x80 && c <= 0x9F {
			p.c1(c)
			return
		}
		p.keep(0xC2)
	}
	switch c {
	case 0xC2:
		p.lead = true
		return
	case 0x1B:
		p.endString(true)
		p.state = inEscape
		p.csi = p.csi[:0]
		return
	case 0x18, 0x1A:
		p.endString(false)
		p.state = inGround
		return
	}
	switch p.state {
	case inGround:
		if c == 0x07 {
			p.emit(Signal{Kind: SigBell})
		}
	case inEscape:
		p.escape(c)
	case inEscapeInter:
		if c == 0x07 {
			p.emit(Signal{Kind: SigBell})
		} else if c >= 0x30 {
			p.state = inGround
		}
	case inCSI, inCSIIgnore:
		p.stepCSI(c)
	case inOSC:
		if c == 0x07 {
			p.endString(true)
			p.state = inGround
			return
		}
		p.keep(c)
	case inString:
	}
}

// keep adds a byte to the OSC under way.
func (p *Parser) keep(c byte) {
	if p.state != inOSC {
		return
	}
	if len(p.osc) >= maxOSC {
		p.over = true
		return
	}
	p.osc = append(p.osc, c)
}

// c1 handles a control of the upper set, given by its last byte.
func (p *Parser) c1(c byte) {
	p.endString(c == 0x9C)
	p.csi = p.csi[:0]
	switch c {
	case 0x90, 0x98, 0x9E, 0x9F:
		p.state = inString
	case 0x9B:
		p.state = inCSI
	case 0x9D:
		p.state = inOSC
	default:
		p.state = inGround
	}
}

// escape handles the byte after an ESC.
func (p *Parser) escape(c byte) {
	p.state = inGround
	switch {
	case c == '[':
		p.state = inCSI
	case c == ']':
		p.state = inOSC
	case c == 'P' || c == 'X' || c == '^' || c == '_':
		p.state = inString
	case c == 'c':
		p.emit(Signal{Kind: SigReset})
	case c == 0x07:
		p.emit(Signal{Kind: SigBell})
		p.state = inEscape
	case c < 0x20:
		p.state = inEscape
	case c < 0x30:
		p.state = inEscapeInter
	}
}

// stepCSI collects a control sequence; control characters inside are obeyed as terminals do.
func (p *Parser) stepCSI(c byte) {
	switch {
	case c == 0x07:
		p.emit(Signal{Kind: SigBell})
	case c < 0x20 || c == 0x7F:
	case c >= 0x40 && c < 0x7F:
		if p.state == inCSI {
			p.endCSI(c)
		}
		p.state = inGround
	case c >= 0x80:
		p.state = inGround // text in the middle of a sequence: the sequence is broken
	case len(p.csi) >= maxCSI:
		p.state = inCSIIgnore
	default:
		p.csi = append(p.csi, c)
	}
}

// endCSI tells what a whole control sequence means.
func (p *Parser) endCSI(final byte) {
	params := string(p.csi)
	switch final {
	case 'c':
		if params == "" || params == "0" {
			p.emit(Signal{Kind: SigDA1})
		}
	case 'h', 'l':
		if len(params) < 2 || params[0] != '?' {
			return
		}
		for _, m := range splitModes(params[1:]) {
			s := Signal{On: final == 'h'}
			switch m {
			case "2004":
				s.Kind = SigPaste
			case "1049", "1047", "47":
				s.Kind = SigAltScreen
			case "25":
				s.Kind = SigCursor
			default:
				continue
			}
			p.emit(s)
		}
	}
}

// splitModes splits "1;2004" and gives nothing for a sequence that has more than numbers in it, such as a query.
func splitModes(s string) []string {
	var out []string
	start := 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && s[i] != ';' {
			if s[i] < '0' || s[i] > '9' {
				return nil
			}
			continue
		}
		out = append(out, s[start:i])
		start = i + 1
	}
	return out
}

// endString closes the OSC under way; whole says that it was ended, not cancelled.
func (p *Parser) endString(whole bool) {
	if p.state == inOSC && whole && !p.over && utf8.Valid(p.osc) {
		if s, ok := parseOSC(string(p.osc)); ok {
			p.emit(s)
		}
	}
	if cap(p.osc) > 1<<10 {
		p.osc = nil // a rare long one shall not pin memory in every quiet terminal
	}
	p.osc, p.over = p.osc[:0], false
}
