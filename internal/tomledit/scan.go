package tomledit

import (
	"bytes"

	"github.com/pelletier/go-toml/v2"
)

// The scanner finds where things stand. It reads only documents that the full reader has accepted, so it need not know
// what is forbidden; where it meets something that it does not know, it gives up.

// maxDepth is how deep values may be nested and how many names a dotted key may have, so that a hostile file exhausts
// neither stack nor memory.
const maxDepth = 200

// span is a range of bytes of the document.
type span struct{ start, end int }

// keyPart is one name of a dotted key.
type keyPart struct {
	span
	name string // decoded
}

// Kinds of value.
const (
	scalar = iota
	array
	inlineTable
)

// value is a value with what is in it.
type value struct {
	span
	kind  int
	items []*item // of an array or inline table
}

// item is a key with its value, or an element of an array.
type item struct {
	span
	keys  []keyPart // none for an element
	value *value
	comma int // where the comma after it stands; -1: none
}

// line is one expression at the top level: a header or a key with its value.
type line struct {
	span           // from its first byte to its last, without indentation, comment and newline
	keys []keyPart // of a header
	many bool      // [[header]]
	item *item     // of a key with its value
}

type scanner struct {
	doc   []byte
	pos   int
	depth int
}

// errDeep says that there is more nesting than is followed.
var errDeep = &SyntaxError{Reason: "values or keys are nested too deep"}

// errScan says that the scanner and the full reader do not agree, which is a fault of the scanner.
var errScan = &SyntaxError{Reason: "the layout of the file is not understood"}

// scan splits a document into its expressions.
func scan(doc []byte) (lines []*line, err error) {
	s := &scanner{doc: doc}
	if bytes.HasPrefix(doc, bom) {
		s.pos = len(bom)
	}
	for {
		s.blank(true)
		if s.pos == len(doc) {
			return lines, nil
		}
		var l *line
		if s.peek() == '[' {
			l, err = s.header()
		} else {
			var it *item
			it, err = s.keyed()
			l = &line{item: it}
			if it != nil {
				l.span = it.span
			}
		}
		if err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
}

func (s *scanner) peek() byte {
	if s.pos < len(s.doc) {
		return s.doc[s.pos]
	}
	return 0
}

func (s *scanner) has(text string) bool { return bytes.HasPrefix(s.doc[s.pos:], []byte(text)) }

// blank skips spaces and tabs, with newlines also newlines and comments.
func (s *scanner) blank(newlines bool) {
	for s.pos < len(s.doc) {
		switch c := s.doc[s.pos]; {
		case c == ' ' || c == '\t':
		case newlines && (c == '\n' || c == '\r'):
		case newlines && c == '#':
			s.pos = lineEnd(s.doc, s.pos)
			continue
		default:
			return
		}
		s.pos++
	}
}

// lineEnd returns where the newline that ends the line of pos begins.
func lineEnd(doc []byte, pos int) int {
	i := bytes.IndexByte(doc[pos:], '\n')
	if i < 0 {
		return len(doc)
	}
	if i > 0 && doc[pos+i-1] == '\r' {
		i--
	}
	return pos + i
}

func (s *scanner) header() (*line, error) {
	l := &line{span: span{start: s.pos}, many: s.has("[[")}
	opening, closing := "[", "]"
	if l.many {
		opening, closing = "[[", "]]"
	}
	s.pos += len(opening)
	var err error
	if l.keys, err = s.key(); err != nil {
		return nil, err
	}
	if !s.has(closing) {
		return nil, errScan
	}
	s.pos += len(closing)
	l.end = s.pos
	return l, nil
}

// key reads a dotted key and the blanks around it.
func (s *scanner) key() ([]keyPart, error) {
	var parts []keyPart
	for {
		s.blank(false)
		p := keyPart{span: span{start: s.pos}}
		switch s.peek() {
		case '"', '\'':
			if err := s.quoted(s.peek()); err != nil {
				return nil, err
			}
			p.end = s.pos
			name, err := unquoteKey(s.doc[p.start:p.end])
			if err != nil {
				return nil, err
			}
			p.name = name
		default:
			for s.pos < len(s.doc) && isBare(s.doc[s.pos]) {
				s.pos++
			}
			if p.end = s.pos; p.end == p.start {
				return nil, errScan
			}
			p.name = string(s.doc[p.start:p.end])
		}
		if parts = append(parts, p); len(parts) > maxDepth {
			return nil, errDeep
		}
		s.blank(false)
		if s.peek() != '.' {
			return parts, nil
		}
		s.pos++
	}
}

func isBare(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// unquoteKey leaves the escapes to the full reader.
func unquoteKey(raw []byte) (string, error) {
	m := map[string]any{}
	if err := toml.Unmarshal(append(bytes.Clone(raw), " = 0"...), &m); err != nil || len(m) != 1 {
		return "", errScan
	}
	for name := range m {
		return name, nil
	}
	return "", errScan
}

// keyed reads a key, the equals sign and a value.
func (s *scanner) keyed() (*item, error) {
	it := &item{span: span{start: s.pos}, comma: -1}
	var err error
	if it.keys, err = s.key(); err != nil {
		return nil, err
	}
	if s.peek() != '=' {
		return nil, errScan
	}
	s.pos++
	s.blank(false)
	if it.value, err = s.value(); err != nil {
		return nil, err
	}
	it.end = it.value.end
	return it, nil
}

func (s *scanner) value() (*value, error) {
	v := &value{span: span{start: s.pos}}
	var err error
	switch c := s.peek(); c {
	case '"', '\'':
		if triple := string([]byte{c, c, c}); s.has(triple) {
			err = s.multiline(c)
		} else {
			err = s.quoted(c)
		}
	case '[':
		v.kind = array
		v.items, err = s.items(']', s.element)
	case '{':
		v.kind = inlineTable
		v.items, err = s.items('}', s.keyed)
	default:
		s.bare()
	}
	v.end = s.pos
	if err == nil && v.end == v.start {
		err = errScan
	}
	return v, err
}

func (s *scanner) element() (*item, error) {
	v, err := s.value()
	if err != nil {
		return nil, err
	}
	return &item{span: v.span, value: v, comma: -1}, nil
}

// items reads what stands between brackets or braces.
func (s *scanner) items(closing byte, read func() (*item, error)) ([]*item, error) {
	if s.depth++; s.depth > maxDepth {
		return nil, errDeep
	}
	defer func() { s.depth-- }()
	s.pos++
	var items []*item
	for {
		s.blank(true)
		if s.peek() == closing {
			s.pos++
			return items, nil
		}
		it, err := read()
		if err != nil {
			return nil, err
		}
		items = append(items, it)
		s.blank(true)
		switch s.peek() {
		case ',':
			it.comma = s.pos
			s.pos++
		case closing:
		default:
			return nil, errScan
		}
	}
}

// bare reads a number, a boolean or a time. A date and a time may have one space between them.
func (s *scanner) bare() {
	start := s.pos
	i := bytes.IndexAny(s.doc[s.pos:], ",]}#\r\n")
	if i < 0 {
		i = len(s.doc) - s.pos
	}
	s.pos = start + len(bytes.TrimRight(s.doc[start:start+i], " \t"))
}

// quoted reads a string of one line.
func (s *scanner) quoted(quote byte) error {
	for s.pos++; s.pos < len(s.doc); s.pos++ {
		switch c := s.doc[s.pos]; {
		case c == quote:
			s.pos++
			return nil
		case c == '\\' && quote == '"':
			s.pos++
		case c == '\n':
			return errScan
		}
	}
	return errScan
}

// multiline reads a string in triple quotes, which may end with up to two quotes of its own.
func (s *scanner) multiline(quote byte) error {
	for s.pos += 3; s.pos < len(s.doc); s.pos++ {
		switch c := s.doc[s.pos]; {
		case c == '\\' && quote == '"':
			s.pos++
		case c == quote:
			run := 1
			for s.pos+run < len(s.doc) && s.doc[s.pos+run] == quote {
				run++
			}
			if run >= 3 {
				s.pos += min(run, 5)
				return nil
			}
			s.pos += run - 1
		}
	}
	return errScan
}
