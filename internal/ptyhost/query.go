package ptyhost

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// stateQuery is OSC 7501 with the parameter "?": a program asks whether its state reports are understood.
const stateQuery, stateAnswer = "7501;?", "\x1b]7501;?\x1b\\"

// Colours that are reported when the program did not set others and no viewer answers: a dark terminal.
const defaultForeground, defaultBackground = "rgb:ffff/ffff/ffff", "rgb:0000/0000/0000"

func (e *emulator) answer(s string) { e.reply = append(e.reply, s...) }

func (e *emulator) answerf(format string, args ...any) {
	e.reply = fmt.Appendf(e.reply, format, args...)
}

// deviceAttributes is DA1: the answer is the one that xterm.js gives, so that a program sees one kind of terminal,
// whoever answers.
func (e *emulator) deviceAttributes(s *sequence) {
	if s.raw(0) == 0 {
		e.answer("\x1b[?1;2c")
	}
}

// statusReport is DSR.
func (e *emulator) statusReport(s *sequence) {
	switch s.raw(0) {
	case 5:
		e.answer("\x1b[0n")
	case 6:
		e.cursorReport("")
	}
}

func (e *emulator) cursorReport(prefix string) {
	y := e.cur.y
	if e.cur.origin {
		y -= e.g.top
	}
	e.answerf("\x1b[%s%d;%dR", prefix, y+1, e.cur.x+1)
}

// dcs answers DECRQSS for the three settings that programs ask for, and says no to the rest.
func (e *emulator) dcs(s *sequence, data []byte) {
	e.joinable = false
	switch {
	case s.inter == '$' && s.final == 'q':
		switch string(data) {
		case "m":
			e.answerf("\x1bP1$r%sm\x1b\\", sgrParams(e.cur.pen))
		case "r":
			e.answerf("\x1bP1$r%d;%dr\x1b\\", e.g.top+1, e.g.bottom+1)
		case " q":
			e.answerf("\x1bP1$r%d q\x1b\\", e.shape)
		default:
			e.answer("\x1bP0$r\x1b\\")
		}
	case s.inter == '+' && s.final == 'q':
		e.answer("\x1bP0+r\x1b\\")
	}
}

func (e *emulator) osc(data []byte) {
	if string(data) == stateQuery {
		e.own = append(e.own, stateAnswer...)
		return
	}
	number, rest, _ := bytes.Cut(data, []byte{';'})
	cmd, err := strconv.Atoi(string(number))
	if err != nil {
		return
	}
	switch cmd {
	case 0, 2:
		e.title = cleanTitle(string(rest))
	case 8:
		e.link(rest)
	case 10, 11, 12:
		e.color(cmd, string(rest))
	case 110, 111, 112:
		delete(e.colors, cmd-100)
	default:
		if len(data) < maxOSC { // what is longer was cut
			text := append(append([]byte("\x1b]"), data...), "\x1b\\"...)
			e.told = append(e.told, command{uint64(e.parser.at), text})
		}
	}
}

// link starts or ends a hyperlink.
func (e *emulator) link(rest []byte) {
	const longest = 2048
	_, uri, ok := bytes.Cut(rest, []byte{';'})
	if !ok || len(uri) == 0 || len(rest) > longest || !printable(rest) {
		e.cur.pen.link = 0
		return
	}
	id := e.links.id(string(rest))
	if id == 0 {
		e.compact()
		id = e.links.id(string(rest))
	}
	e.cur.pen.link = uint16(id)
}

func printable(b []byte) bool {
	for _, r := range string(b) {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == replacement {
			return false
		}
	}
	return true
}

// color sets or reports a default colour. Setting takes the forms rgb:... and #..., nothing else: the text goes into
// snapshots.
func (e *emulator) color(cmd int, spec string) {
	if spec == "?" {
		c, ok := e.colors[cmd]
		if !ok {
			if c = defaultForeground; cmd == 11 {
				c = defaultBackground
			}
		}
		e.answerf("\x1b]%d;%s\x1b\\", cmd, c)
		return
	}
	if len(spec) > 40 || !strings.HasPrefix(spec, "#") && !strings.HasPrefix(spec, "rgb:") {
		return
	}
	digits := strings.TrimPrefix(strings.TrimPrefix(spec, "#"), "rgb:")
	if strings.Trim(digits, "0123456789abcdefABCDEF/") != "" {
		return
	}
	if e.colors == nil {
		e.colors = make(map[int]string, 3)
	}
	e.colors[cmd] = spec
}
