package cli

import "bytes"

// maxSequence is how much of one escape sequence is held while its end is awaited, in bytes. Every question and every
// mode change is far shorter; what is longer (pictures, clipboard) is passed on as it comes.
const maxSequence = 4 << 10

// scanner cuts what a program prints into plain bytes and whole escape sequences, however the bytes arrive cut up.
type scanner struct {
	state scanState
	held  []byte // the sequence so far
	long  bool   // the sequence grew beyond maxSequence and is passed on
}

type scanState uint8

const (
	inText         scanState = iota
	inEscape                 // after ESC
	inCSI                    // after ESC [
	inString                 // after ESC ], P, X, ^ or _
	inStringEscape           // after ESC within a string
)

// feed gives plain bytes to text and each whole sequence to sequence, in order.
func (s *scanner) feed(data []byte, text, sequence func([]byte)) {
	start := 0
	for i, b := range data {
		switch {
		case s.state == inText && b == 0x1b:
			text(data[start:i])
			s.begin()
			continue
		case s.state == inText:
			continue
		case b == 0x1b && s.state != inString: // it begins another; the one before was never finished
			text(s.held)
			s.begin()
			continue
		case s.state == inStringEscape && b != '\\': // the string ended with that ESC, which begins another
			s.end(s.held[:len(s.held)-1], text, sequence)
			s.begin()
		}
		done := s.step(b)
		if s.held = append(s.held, b); len(s.held) > maxSequence {
			text(s.held)
			s.held, s.long = s.held[:0], true
		}
		if done {
			s.end(s.held, text, sequence)
			start = i + 1
		}
	}
	if s.state == inText {
		text(data[start:])
	}
}

func (s *scanner) begin() { s.state, s.held, s.long = inEscape, append(s.held[:0], 0x1b), false }

// end hands over a sequence that is whole. The rest of one that grew too long is no sequence any more.
func (s *scanner) end(q []byte, text, sequence func([]byte)) {
	if s.long {
		text(q)
	} else {
		sequence(q)
	}
	s.state, s.held = inText, s.held[:0]
}

// step takes one byte of a sequence and reports whether it was the last.
func (s *scanner) step(b byte) (done bool) {
	switch s.state {
	case inEscape:
		switch {
		case b == '[':
			s.state = inCSI
		case bytes.IndexByte([]byte("]PX^_"), b) >= 0:
			s.state = inString
		default:
			return b < 0x20 || b > 0x2f // intermediate bytes go on
		}
	case inCSI:
		return b >= 0x40 && b <= 0x7e || b == 0x18 || b == 0x1a
	case inString:
		if b == 0x1b {
			s.state = inStringEscape
		}
		return b == 0x07 || b == 0x18 || b == 0x1a
	case inStringEscape:
		return true
	}
	return false
}

// flush gives up waiting for the end of a sequence.
func (s *scanner) flush(text func([]byte)) {
	text(s.held)
	s.state, s.held = inText, s.held[:0]
}
