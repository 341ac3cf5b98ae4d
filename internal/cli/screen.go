package cli

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// screen passes what an attached program prints to the person's terminal. It leaves out questions to the terminal,
// because the app answers them: a second answer would reach the program as keys. It remembers which modes were
// switched, so that the terminal can be put back when the program is left in the middle.
type screen struct {
	out    io.Writer
	scan   scanner
	modes  map[string]bool // private modes that differ from a terminal's own
	kitty  int             // depth of the keyboard protocol's stack
	other  bool            // modifyOtherKeys is on
	keypad bool            // the keypad sends application codes
	shape  bool            // the cursor's shape was changed
	buf    []byte
}

func newScreen(out io.Writer) *screen { return &screen{out: out, modes: map[string]bool{}} }

// Write shows a piece of output.
func (s *screen) Write(data []byte) (int, error) {
	s.buf = s.buf[:0]
	s.scan.feed(data, s.text, s.sequence)
	if len(s.buf) == 0 {
		return len(data), nil
	}
	if _, err := s.out.Write(s.buf); err != nil {
		return 0, err
	}
	return len(data), nil
}

// text keeps plain bytes but ENQ, to which terminals answer.
func (s *screen) text(b []byte) {
	for _, c := range b {
		if c != 0x05 {
			s.buf = append(s.buf, c)
		}
	}
}

func (s *screen) sequence(q []byte) {
	if isQuestion(q) {
		return
	}
	s.remember(q)
	s.buf = append(s.buf, q...)
}

// csi is a control sequence taken apart: ESC [ prefix params intermediate final.
type csi struct {
	prefix, intermediate, final byte
	params                      string
}

func parseCSI(q []byte) (csi, bool) {
	if len(q) < 3 || q[1] != '[' {
		return csi{}, false
	}
	c := csi{final: q[len(q)-1]}
	body := q[2 : len(q)-1]
	if len(body) > 0 && body[0] >= '<' && body[0] <= '?' {
		c.prefix, body = body[0], body[1:]
	}
	if n := len(body); n > 0 && body[n-1] >= 0x20 && body[n-1] <= 0x2f {
		c.intermediate, body = body[n-1], body[:n-1]
	}
	c.params = string(body)
	return c, true
}

// isQuestion reports whether a terminal would answer a sequence by sending bytes.
func isQuestion(q []byte) bool {
	if c, ok := parseCSI(q); ok {
		return c.isQuestion()
	}
	if len(q) < 2 {
		return false
	}
	switch body := stringBody(q); q[1] {
	case 'Z': // the oldest "who are you"
		return true
	case 'P': // terminfo and setting requests
		return bytes.HasPrefix(body, []byte("+q")) || bytes.HasPrefix(body, []byte("$q"))
	case '_': // "do you know pictures"
		return bytes.HasPrefix(body, []byte("G")) && bytes.Contains(body, []byte("a=q"))
	case ']':
		return isOSCQuestion(string(body))
	}
	return false
}

// windowReports are the first parameters of CSI t that ask.
var windowReports = []string{"11", "13", "14", "15", "16", "18", "19", "20", "21"}

func (c csi) isQuestion() bool {
	first, _, _ := strings.Cut(c.params, ";")
	switch c.final {
	case 'c':
		return c.prefix != '?' // with it: the shape of the Linux console's cursor
	case 'n':
		return c.prefix != '>' // with it: a switch of xterm
	case 'p':
		return c.intermediate == '$'
	case 'q':
		return c.prefix == '>'
	case 'u':
		return c.prefix == '?'
	case 'x':
		return c.intermediate == 0
	case 't':
		return c.prefix == 0 && slices.Contains(windowReports, first)
	case 'S':
		return c.prefix == '?'
	}
	return false
}

// oscThatAsk are the commands whose value may be a question mark, or be asked for by one.
var oscThatAsk = []string{"4", "5", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "21", "22", "52", "60", "61", "99"}

func isOSCQuestion(body string) bool {
	code, rest, _ := strings.Cut(body, ";")
	if code == "1337" {
		return strings.HasPrefix(rest, "ReportCellSize") || strings.HasPrefix(rest, "ReportVariable") || strings.HasPrefix(rest, "Capabilities")
	}
	if !slices.Contains(oscThatAsk, code) {
		return false
	}
	for _, field := range strings.FieldsFunc(rest, func(r rune) bool { return r == ';' || r == ':' }) {
		if field == "?" || strings.HasSuffix(field, "=?") || code == "22" && strings.HasPrefix(field, "?") {
			return true
		}
	}
	return false
}

// stringBody is what stands between the introducer of a string sequence and its end.
func stringBody(q []byte) []byte {
	return bytes.TrimRight(q[2:], "\x07\x1b\\")
}

// ownValue is how a terminal has a private mode by itself.
func ownValue(mode string) bool { return mode == "7" || mode == "25" } // wrapping, and a cursor that is seen

func (s *screen) remember(q []byte) {
	c, ok := parseCSI(q)
	switch {
	case string(q) == "\x1b=":
		s.keypad = true
	case string(q) == "\x1b>":
		s.keypad = false
	case string(q) == "\x1bc":
		s.modes, s.keypad, s.kitty, s.other, s.shape = map[string]bool{}, false, 0, false, false
	case !ok:
	case c.prefix == '?' && c.intermediate == 0 && (c.final == 'h' || c.final == 'l'):
		for _, mode := range strings.Split(c.params, ";") {
			s.mode(mode, c.final == 'h')
		}
	case c.prefix == '>' && c.final == 'u':
		s.kitty++
	case c.prefix == '<' && c.final == 'u':
		n, err := strconv.Atoi(c.params)
		if err != nil {
			n = 1
		}
		s.kitty = max(0, s.kitty-max(n, 1))
	case c.prefix == '>' && c.final == 'm' && strings.HasPrefix(c.params, "4"):
		s.other = strings.HasPrefix(c.params, "4;") && c.params != "4;0"
	case c.intermediate == ' ' && c.final == 'q':
		s.shape = c.params != "" && c.params != "0"
	}
}

// maxModes bounds what is remembered; there are about fifty in use.
const maxModes = 256

func (s *screen) mode(mode string, on bool) {
	if on == ownValue(mode) {
		delete(s.modes, mode)
	} else if len(s.modes) < maxModes {
		s.modes[mode] = on
	}
}

// restore puts back what the program changed: modes, keyboard, colours, margins. The screen's content stays.
func (s *screen) restore() error {
	s.buf = s.buf[:0]
	s.scan.flush(func([]byte) {}) // half a sequence is dropped
	s.buf = append(s.buf, "\x18\x1b[0m\x1b(B\x1b7\x1b[r\x1b8"...)
	for range min(s.kitty, 8) {
		s.buf = append(s.buf, "\x1b[<u"...)
	}
	if s.other {
		s.buf = append(s.buf, "\x1b[>4m"...)
	}
	if s.keypad {
		s.buf = append(s.buf, "\x1b>"...)
	}
	if s.shape {
		s.buf = append(s.buf, "\x1b[0 q"...)
	}
	for _, mode := range slices.Sorted(maps.Keys(s.modes)) {
		final := 'l'
		if ownValue(mode) {
			final = 'h'
		}
		s.buf = fmt.Appendf(s.buf, "\x1b[?%s%c", mode, final)
	}
	_, err := s.out.Write(append(s.buf, "\r\n"...))
	return err
}
