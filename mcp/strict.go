package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// maxDepth is how deeply a body may be nested. Tools take flat objects; what clients put into `_meta` has a few levels.
const maxDepth = 64

// Errors of scanning. The first two mean that the text is not JSON; the others that it is not JSON that can mean only
// one thing, or that it is made to be a burden.
var (
	errSyntax   = errors.New("not JSON")
	errUTF8     = errors.New("not UTF-8")
	errDepth    = errors.New("nested too deeply")
	errRepeated = errors.New("a name stands twice in one object")
)

// field is one member of an object: its name, decoded, and its value as it was sent.
type field struct {
	name  []byte
	value []byte
	inner []field // members of the value, if it is one of those objects that are asked for them
}

// path is which objects are asked for their members: the request, its parameters, and their `_meta`. Of each the first: one that
// stands twice is refused.
var path = [...]string{"", "params", "_meta"}

// scan reads one JSON text from end to end and returns the members of its outermost object, nil for any other value.
//
// The standard decoder takes the last of two equal names, and finds names whatever their case. Here the agreement of
// headers and body is a control, so every reader of a body must see the same body: names are exact, and one that stands
// twice in any object is errRepeated. The members are returned with that error too.
func scan(b []byte) ([]field, error) {
	if !utf8.Valid(b) {
		return nil, errUTF8
	}
	s := scanner{b: b, names: make([][]byte, 0, fewNames)}
	s.space()
	top, err := s.value(1, true)
	if err != nil {
		return nil, err
	}
	s.space()
	if s.i != len(b) {
		return nil, errSyntax
	}
	if s.repeated {
		return top, errRepeated
	}
	return top, nil
}

// member returns the member of a name; a zero one when it is absent.
func member(fields []field, name string) field {
	for _, f := range fields {
		if string(f.name) == name {
			return f
		}
	}
	return field{}
}

// get returns the value of a name; nil when it is absent.
func get(fields []field, name string) []byte { return member(fields, name).value }

// isObject reports whether a value that scan has found to be good JSON is an object.
func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// Names that are looked for in another case: as bytes, so that comparing them takes no memory.
var (
	requestNames = spelt("jsonrpc", "id", "method", "params")
	paramNames   = spelt("_meta", "name", "uri", "arguments", "cursor")
	metaNames    = spelt(metaVersion, metaCapabilities)
)

func spelt(names ...string) (out [][]byte) {
	for _, n := range names {
		out = append(out, []byte(n))
	}
	return out
}

// misspelt returns a name that is one of the known ones in another case. A lenient reader would take it for that.
func misspelt(fields []field, known [][]byte) string {
	for _, f := range fields {
		for _, k := range known {
			if !bytes.Equal(f.name, k) && bytes.EqualFold(f.name, k) {
				return string(f.name)
			}
		}
	}
	return ""
}

// commonWords are what nearly every request says: no memory is taken for them.
var commonWords = [...]string{"2.0", Revision, "tools/call", "tools/list"}

// text decodes a JSON string; ok is false for any other value.
func text(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		for _, word := range commonWords {
			if string(inner) == word {
				return word, true
			}
		}
		return string(inner), true
	}
	var s string // not above, where it would take memory for the others as well
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

// scanner is one pass over a text. Its depth is bounded, so it may call itself.
type scanner struct {
	b        []byte
	i        int
	names    [][]byte // decoded names of the objects that are open, the innermost last
	repeated bool
	kept     int // objects whose members are kept
}

func (s *scanner) space() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t' || s.b[s.i] == '\n' || s.b[s.i] == '\r') {
		s.i++
	}
}

// value reads one value; depth is 1 for the outermost. With keep it returns the members of an object.
func (s *scanner) value(depth int, keep bool) ([]field, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	if s.i >= len(s.b) {
		return nil, errSyntax
	}
	switch c := s.b[s.i]; {
	case c == '{':
		return s.object(depth, keep)
	case c == '[':
		return nil, s.array(depth)
	case c == '"':
		_, err := s.str()
		return nil, err
	case c == '-' || c >= '0' && c <= '9':
		return nil, s.number()
	case c == 't':
		return nil, s.word("true")
	case c == 'f':
		return nil, s.word("false")
	case c == 'n':
		return nil, s.word("null")
	}
	return nil, errSyntax
}

func (s *scanner) word(w string) error {
	if !bytes.HasPrefix(s.b[s.i:], []byte(w)) {
		return errSyntax
	}
	s.i += len(w)
	return nil
}

// next reads what separates the parts of an object or an array, and reports whether the closing byte came.
func (s *scanner) next(closing byte) (end bool, err error) {
	s.space()
	if s.i >= len(s.b) {
		return false, errSyntax
	}
	c := s.b[s.i]
	s.i++
	switch c {
	case closing:
		return true, nil
	case ',':
		s.space()
		return false, nil
	}
	return false, errSyntax
}

// opens reads the opening byte and reports whether the closing one follows.
func (s *scanner) opens(closing byte) (empty bool) {
	s.i++
	s.space()
	if s.i < len(s.b) && s.b[s.i] == closing {
		s.i++
		return true
	}
	return false
}

func (s *scanner) array(depth int) error {
	if s.opens(']') {
		return nil
	}
	for {
		if _, err := s.value(depth+1, false); err != nil {
			return err
		}
		if end, err := s.next(']'); end || err != nil {
			return err
		}
	}
}

func (s *scanner) object(depth int, keep bool) (kept []field, err error) {
	if s.opens('}') {
		return nil, nil
	}
	mine := len(s.names)
	var many map[string]bool // of an object with many names, where comparing each with each would be slow
	if keep {
		s.kept++
		kept = make([]field, 0, 4)
	}
	for {
		if s.i >= len(s.b) || s.b[s.i] != '"' {
			return nil, errSyntax
		}
		name, err := s.str()
		if err != nil {
			return nil, err
		}
		many = s.remember(mine, name, many)
		s.space()
		if s.i >= len(s.b) || s.b[s.i] != ':' {
			return nil, errSyntax
		}
		s.i++
		s.space()
		start := s.i
		inner, err := s.value(depth+1, keep && s.kept == depth && depth < len(path) && string(name) == path[depth])
		if err != nil {
			return nil, err
		}
		if keep {
			kept = append(kept, field{name, s.b[start:s.i], inner})
		}
		end, err := s.next('}')
		if err != nil {
			return nil, err
		}
		if end {
			s.names = s.names[:mine]
			return kept, nil
		}
	}
}

// fewNames is up to how many names of an object are compared one by one.
const fewNames = 16

// remember notes a name of the object whose names begin at mine, and whether it was there before.
func (s *scanner) remember(mine int, name []byte, many map[string]bool) map[string]bool {
	if many == nil && len(s.names)-mine >= fewNames {
		many = make(map[string]bool, 2*fewNames)
		for _, n := range s.names[mine:] {
			many[string(n)] = true
		}
	}
	if many != nil {
		s.repeated = s.repeated || many[string(name)]
		many[string(name)] = true
		return many
	}
	for _, n := range s.names[mine:] {
		s.repeated = s.repeated || bytes.Equal(n, name)
	}
	s.names = append(s.names, name)
	return nil
}

// str reads a string and returns it decoded.
func (s *scanner) str() ([]byte, error) {
	start := s.i
	plain := true
	for s.i++; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			if plain {
				return s.b[start+1 : s.i-1], nil
			}
			var out string
			if err := json.Unmarshal(s.b[start:s.i], &out); err != nil {
				return nil, errSyntax
			}
			return []byte(out), nil
		case c < 0x20:
			return nil, errSyntax
		case c == '\\':
			plain = false
			s.i++ // whatever is escaped ends nothing; decoding looks at it
		}
	}
	return nil, errSyntax
}

// digits skips digits and reports whether there were any.
func (s *scanner) digits() bool {
	start := s.i
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i > start
}

func (s *scanner) number() error {
	if s.b[s.i] == '-' {
		s.i++
	}
	zero := s.i < len(s.b) && s.b[s.i] == '0'
	if zero {
		s.i++
	} else if !s.digits() {
		return errSyntax
	}
	if s.i < len(s.b) && s.b[s.i] == '.' {
		s.i++
		if !s.digits() {
			return errSyntax
		}
	}
	if s.i < len(s.b) && (s.b[s.i] == 'e' || s.b[s.i] == 'E') {
		s.i++
		if s.i < len(s.b) && (s.b[s.i] == '+' || s.b[s.i] == '-') {
			s.i++
		}
		if !s.digits() {
			return errSyntax
		}
	}
	return nil
}

// integer reports whether a value is a JSON number without fraction and exponent.
func integer(raw []byte) bool {
	raw = bytes.TrimPrefix(raw, []byte{'-'})
	for _, c := range raw {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(raw) > 0
}
