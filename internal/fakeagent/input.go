package main

import (
	"bytes"
	"time"
)

type eventKind int

const (
	text         eventKind = iota
	paste                  // text between brackets
	keyEnter               // CR
	keyErase               // DEL
	keyInterrupt           // Ctrl-C
	answer                 // OSC 7501;? : status reports are understood
	key                    // any other key
)

// event is one thing that was typed.
type event struct {
	kind eventKind
	text []byte
}

// input takes apart what is read: text, pastes, keys and answers to queries, wherever the reads cut them.
type input struct {
	held     []byte // the beginning of a sequence
	pasting  bool
	pasted   []byte
	lastText time.Time
}

var pasteEnd = []byte("\x1b[201~")

// feed takes one read.
func (in *input) feed(b []byte) []event {
	b = append(in.held, b...)
	in.held = nil
	var out []event
	var run []byte
	flush := func() {
		if len(run) > 0 {
			in.lastText = time.Now()
			out = append(out, event{text, run})
			run = nil
		}
	}
	for len(b) > 0 {
		if in.pasting {
			flush()
			ev, rest, done := in.inPaste(b)
			if !done {
				return out
			}
			out, b = append(out, ev), rest
			continue
		}
		c := b[0]
		switch {
		case c == 0x1B:
			flush()
			ev, n := escape(b)
			if n == 0 {
				in.held = append([]byte(nil), b...)
				return out
			}
			if b = b[n:]; ev.kind == paste {
				in.pasting, in.pasted = true, nil
			} else {
				out = append(out, ev)
			}
			continue
		case c == '\r':
			flush()
			out = append(out, event{kind: keyEnter})
		case c == 0x7F:
			flush()
			out = append(out, event{kind: keyErase})
		case c == 0x03:
			flush()
			out = append(out, event{kind: keyInterrupt})
		default:
			run = append(run, c)
		}
		b = b[1:]
	}
	flush()
	return out
}

// inPaste collects a paste until its end.
func (in *input) inPaste(b []byte) (event, []byte, bool) {
	in.lastText = time.Now()
	in.pasted = append(in.pasted, b...)
	i := bytes.Index(in.pasted, pasteEnd)
	if i < 0 {
		return event{}, nil, false
	}
	body, rest := in.pasted[:i:i], append([]byte(nil), in.pasted[i+len(pasteEnd):]...)
	in.pasting, in.pasted = false, nil
	return event{paste, body}, rest, true
}

// escape reads one sequence; n is zero when it is not whole.
func escape(b []byte) (event, int) {
	if len(b) < 2 {
		return event{}, 0
	}
	switch b[1] {
	case '[':
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7E {
				if string(b[:i+1]) == "\x1b[200~" {
					return event{kind: paste}, i + 1
				}
				return event{kind: key, text: b[:i+1]}, i + 1
			}
		}
		return event{}, 0
	case ']':
		for i := 2; i < len(b); i++ {
			if b[i] == 0x07 || b[i] == 0x1B && i+1 < len(b) && b[i+1] == '\\' {
				n := i + 1
				if b[i] == 0x1B {
					n++
				}
				if string(b[2:i]) == "7501;?" {
					return event{kind: answer}, n
				}
				return event{kind: key}, n
			}
		}
		return event{}, 0
	}
	return event{kind: key, text: b[:2]}, 2
}
