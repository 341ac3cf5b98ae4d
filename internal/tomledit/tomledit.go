// Package tomledit changes single keys of a TOML file and leaves every other byte as it was: comments, order, line ends,
// byte order mark, indentation, spelling of keys and values, a missing last newline.
//
// What it promises:
//
//   - The key is changed where it stands, in whatever spelling: under a [header], as a dotted key, in an inline table,
//     in an element of an array of tables. A new key goes to the end of its table, a new table behind its nearest kin.
//   - The result means the same as before but for that key. That is checked, by reading both with a full TOML reader; a
//     change that would break it is refused with a [RefusedError], and so is a change that would need a table to become
//     a value. Nothing is guessed.
//   - Setting a key to the value that it has gives back the same bytes.
//   - Deleting the key, table or element that Set or AppendTable has just added gives back the bytes from before. (Where
//     a header had to be made for a key, because only tables below it were named, deleting the key leaves the header;
//     [DropHeader] takes it away.)
//   - A document that does not parse is refused with a [SyntaxError] that names the line.
//
// What it does not cover: removing comments (one that stood above a deleted key stays), and files over [MaxSize].
//
// A path names a key by the names of the tables down to it; an element of an array is named by its index from 0, in
// decimal digits.
package tomledit

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// MaxSize is the largest document that is edited. Configuration is a thousand times smaller.
const MaxSize = 8 << 20

// SyntaxError says that a document is not TOML.
type SyntaxError struct {
	Line, Column int // from 1; 0 when not known
	Reason       string
}

// Error names the line, if it is known.
func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return e.Reason
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// RefusedError says that an edit cannot be made without touching something else. The document is fine.
type RefusedError struct {
	Path   []string
	Reason string
}

// Error names the key.
func (e *RefusedError) Error() string { return pathText(e.Path) + ": " + e.Reason }

func refuse(path []string, format string, args ...any) error {
	return &RefusedError{Path: path, Reason: fmt.Sprintf(format, args...)}
}

// pathText spells a path as TOML would.
func pathText(path []string) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = encodeKey(p)
	}
	return strings.Join(parts, ".")
}

// Entry is a key within a new table, and its value.
type Entry struct {
	Key   string
	Value any
}

// Decode reads a document: tables are map[string]any, arrays []any, the rest string, int64, float64, bool and the dates
// and times of go-toml.
func Decode(doc []byte) (map[string]any, error) {
	if len(doc) > MaxSize {
		return nil, &SyntaxError{Reason: fmt.Sprintf("the file has %d bytes; at most %d are read", len(doc), MaxSize)}
	}
	m := map[string]any{}
	if err := toml.Unmarshal(withoutBOM(doc), &m); err != nil {
		e := &SyntaxError{Reason: strings.TrimPrefix(err.Error(), "toml: ")}
		if d, ok := errors.AsType[*toml.DecodeError](err); ok {
			e.Line, e.Column = d.Position()
		}
		return nil, e
	}
	return m, nil
}

// Get returns the value at path, as Decode has it, and whether there is one.
func Get(doc []byte, path []string) (value any, found bool, err error) {
	m, err := Decode(doc)
	if err != nil {
		return nil, false, err
	}
	value, found = lookup(m, path)
	return value, found, nil
}

// Line returns the line, from 1, on which the key or table at path is first named; 0 if it is not in the document or the
// document does not parse.
func Line(doc []byte, path []string) int { return Lines(doc)(path) }

// Lines reads a document once and answers like Line for many paths.
func Lines(doc []byte) func(path []string) int {
	none := func([]string) int { return 0 }
	if _, err := Decode(doc); err != nil {
		return none
	}
	t, err := parse(doc)
	if err != nil {
		return none
	}
	return func(path []string) int {
		n, rest := t.find(path)
		if len(rest) > 0 || n.first < 0 {
			return 0
		}
		return 1 + bytes.Count(doc[:n.first], []byte("\n"))
	}
}

// Set gives the key at path a value: bool, an integer, float, string, a slice or a map with string keys of these, or a
// time as Decode returns it. Tables that are missing on the way are made. A value within an array is replaced by index;
// use AppendTable to add one.
func Set(doc []byte, path []string, value any) ([]byte, error) {
	before, err := Decode(doc)
	if err != nil {
		return nil, err
	}
	if len(path) == 0 {
		return nil, refuse(path, "no key is named")
	}
	text, plain, err := encode(value)
	if err != nil {
		return nil, refuse(path, "%v", err)
	}
	if have, ok := lookup(before, path); ok && equal(have, plain) {
		return bytes.Clone(doc), nil
	}
	t, err := parse(doc)
	if err != nil {
		return nil, err
	}
	out, err := t.set(path, text)
	if err != nil {
		return nil, err
	}
	return checked(out, path, func(after map[string]any) bool {
		want, ok := withValue(before, path, plain)
		return ok && equal(after, want)
	})
}

// Delete removes the key, table or array element at path with all that is in it. A table that was there only through a
// dotted key to it goes with its last key. Deleting what is not there gives back the same bytes.
func Delete(doc []byte, path []string) ([]byte, error) {
	before, err := Decode(doc)
	if err != nil {
		return nil, err
	}
	if len(path) == 0 {
		return nil, refuse(path, "no key is named")
	}
	if _, ok := lookup(before, path); !ok {
		return bytes.Clone(doc), nil
	}
	out, err := remove(doc, path)
	if err != nil {
		return nil, err
	}
	return checked(out, path, func(after map[string]any) bool {
		want, ok := withoutValue(before, path)
		for n := len(path); ok && n > 0; n-- {
			if equal(after, want) {
				return true
			}
			if parent, found := lookup(want, path[:n-1]); !found || n == 1 || !isEmpty(parent) {
				return false
			}
			want, ok = withoutValue(want, path[:n-1])
		}
		return false
	})
}

// HasHeader reports whether the table at path has a [header] of its own, and is not there only through what is below it.
func HasHeader(doc []byte, path []string) bool {
	if _, err := Decode(doc); err != nil {
		return false
	}
	t, err := parse(doc)
	if err != nil {
		return false
	}
	n, rest := t.find(path)
	return len(rest) == 0 && n.own != nil && n.own.header != nil
}

// DropHeader takes away the [header] of a table without keys of its own that is there through tables below it anyway. A
// document without such a header at path stays as it is.
func DropHeader(doc []byte, path []string) ([]byte, error) {
	before, err := Decode(doc)
	if err != nil {
		return nil, err
	}
	t, err := parse(doc)
	if err != nil {
		return nil, err
	}
	n, rest := t.find(path)
	if len(rest) > 0 || n.own == nil || n.own.header == nil || n.own.header.many || len(n.own.body) > 0 || len(n.order) == 0 {
		return bytes.Clone(doc), nil
	}
	return checked(apply(doc, splice{span: t.withoutLast(t.sectionSpan(n.own))}), path, func(after map[string]any) bool { return equal(after, before) })
}

// AppendTable adds an element to the array of tables at path, in the spelling that the array has, and makes the array if
// it is missing.
func AppendTable(doc []byte, path []string, entries ...Entry) ([]byte, error) {
	before, err := Decode(doc)
	if err != nil {
		return nil, err
	}
	if len(path) == 0 {
		return nil, refuse(path, "no key is named")
	}
	element := map[string]any{}
	lines := make([]string, len(entries))
	for i, e := range entries {
		text, plain, err := encode(e.Value)
		if err != nil {
			return nil, refuse(append(path[:len(path):len(path)], e.Key), "%v", err)
		}
		if _, twice := element[e.Key]; twice {
			return nil, refuse(path, "%s is named twice", encodeKey(e.Key))
		}
		element[e.Key], lines[i] = plain, encodeKey(e.Key)+" = "+text
	}
	var list []any
	if have, ok := lookup(before, path); ok {
		if list, ok = have.([]any); !ok {
			return nil, refuse(path, "it is not an array of tables")
		}
	}
	t, err := parse(doc)
	if err != nil {
		return nil, err
	}
	out, err := t.appendTable(path, lines)
	if err != nil {
		return nil, err
	}
	return checked(out, path, func(after map[string]any) bool {
		want, ok := withValue(before, path, append(list[:len(list):len(list)], element))
		return ok && equal(after, want)
	})
}

// checked reads the result of an edit and compares its meaning with what was wanted.
func checked(out []byte, path []string, asWanted func(after map[string]any) bool) ([]byte, error) {
	after, err := Decode(out)
	if err != nil {
		return nil, refuse(path, "it cannot be changed here without breaking the file (%v)", err)
	}
	if !asWanted(after) {
		return nil, refuse(path, "it cannot be changed here without changing something else")
	}
	return out, nil
}

var bom = []byte("\xef\xbb\xbf")

func withoutBOM(doc []byte) []byte { return bytes.TrimPrefix(doc, bom) }
