package seatbelt

import (
	"errors"
	"fmt"
	"strings"
)

// An expr is one expression of a profile: a list, a word, a string, or a regular expression.
type expr struct {
	list []expr
	text string
	kind exprKind
}

type exprKind int

const (
	listExpr exprKind = iota
	wordExpr
	stringExpr
	regexExpr
)

// head is the first word of a list.
func (e expr) head() string {
	if e.kind == listExpr && len(e.list) > 0 && e.list[0].kind == wordExpr {
		return e.list[0].text
	}
	return ""
}

// A reader reads expressions from the text of a profile.
type reader struct {
	text string
	at   int
}

var errEnd = errors.New("the text ends inside of an expression")

// readAll returns the expressions of a text.
func readAll(text string) ([]expr, error) {
	r := &reader{text: text}
	var out []expr
	for {
		if r.skip(); r.at == len(r.text) {
			return out, nil
		}
		e, err := r.read(0)
		if err != nil {
			return nil, fmt.Errorf("at byte %d: %w", r.at, err)
		}
		out = append(out, e)
	}
}

// skip goes over blanks and comments.
func (r *reader) skip() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		case ';':
			end := strings.IndexByte(r.text[r.at:], '\n')
			if end < 0 {
				end = len(r.text) - r.at
			}
			r.at += end
		default:
			return
		}
	}
}

// maxDepth bounds the nesting of a profile; ours has four.
const maxDepth = 32

func (r *reader) read(depth int) (expr, error) {
	r.skip()
	switch {
	case depth > maxDepth:
		return expr{}, errors.New("too many lists in one another")
	case r.at == len(r.text):
		return expr{}, errEnd
	case r.text[r.at] == '(':
		return r.readList(depth)
	case r.text[r.at] == ')':
		return expr{}, errors.New("a closing parenthesis too many")
	case r.text[r.at] == '"':
		return r.readString()
	case strings.HasPrefix(r.text[r.at:], `#"`):
		end := strings.IndexByte(r.text[r.at+2:], '"')
		if end < 0 {
			return expr{}, errEnd
		}
		e := expr{kind: regexExpr, text: r.text[r.at+2 : r.at+2+end]}
		r.at += end + 3
		return e, nil
	}
	start := r.at
	for r.at < len(r.text) && !strings.ContainsRune(" \t\r\n();\"", rune(r.text[r.at])) {
		r.at++
	}
	return expr{kind: wordExpr, text: r.text[start:r.at]}, nil
}

func (r *reader) readList(depth int) (expr, error) {
	r.at++
	e := expr{kind: listExpr}
	for {
		if r.skip(); r.at == len(r.text) {
			return expr{}, errEnd
		}
		if r.text[r.at] == ')' {
			r.at++
			return e, nil
		}
		item, err := r.read(depth + 1)
		if err != nil {
			return expr{}, err
		}
		e.list = append(e.list, item)
	}
}

func (r *reader) readString() (expr, error) {
	var b strings.Builder
	for r.at++; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case '"':
			r.at++
			return expr{kind: stringExpr, text: b.String()}, nil
		case '\\':
			if r.at++; r.at == len(r.text) {
				return expr{}, errEnd
			}
			if c := r.text[r.at]; c != '\\' && c != '"' {
				return expr{}, fmt.Errorf("unknown escape %q", c)
			}
			b.WriteByte(r.text[r.at])
		default:
			b.WriteByte(c)
		}
	}
	return expr{}, errEnd
}
