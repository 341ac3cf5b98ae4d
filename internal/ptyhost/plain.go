package ptyhost

import (
	"bytes"
	"strings"
)

// Text returns what is shown now and, above it, the newest lines that left the top of the screen, as lines without control
// sequences, at most max bytes of them beside the screen itself. A row that the terminal wrapped is one line. A full-screen
// program has no such lines. cut reports that there were more.
func (t *Terminal) Text(max int) (text string, cut bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.screen.guard(func() { text, cut = t.screen.emu.plain(max) })
	return text, cut
}

func (e *emulator) plain(max int) (text string, cut bool) {
	var b strings.Builder
	add := func(line string, wrapped bool) {
		if wrapped {
			b.WriteString(line)
			return
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if e.g == e.main {
		above := e.history.tail(e.history.len(), max)
		cut = len(above) < e.history.len()
		for _, l := range above {
			add(stripped(l.text), l.wrapped)
		}
	}
	for i, line := range e.text() {
		add(line, e.g.rows[i].goesOn())
	}
	return strings.TrimRight(b.String(), "\n ") + "\n", cut
}

// stripped takes the sequences out of a line of the history, which are colours and links that we wrote ourselves.
func stripped(line string) string {
	if !strings.Contains(line, "\x1b") {
		return line
	}
	var out []byte
	for rest := []byte(line); len(rest) > 0; {
		at := bytes.IndexByte(rest, 0x1b)
		if at < 0 {
			out = append(out, rest...)
			break
		}
		out, rest = append(out, rest[:at]...), rest[at+1:]
		if len(rest) == 0 {
			break
		}
		end := 0
		switch rest[0] {
		case '[':
			if end = bytes.IndexFunc(rest[1:], func(r rune) bool { return r >= 0x40 && r <= 0x7e }); end >= 0 {
				end++
			}
		case ']', 'P', '_', '^':
			end = bytes.IndexAny(rest, "\x07\x1b")
			if end > 0 && rest[end] == 0x1b {
				end++ // the backslash behind it
			}
		}
		if end < 0 {
			break // cut short: nothing of it is text
		}
		rest = rest[min(end+1, len(rest)):]
	}
	return string(out)
}
