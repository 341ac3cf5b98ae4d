package clientsetup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonConfig edits a JSON file. It finds positions with a parser that knows comments, and puts in or takes out only the
// bytes of our member; so comments, order and layout stay.
type jsonConfig struct {
	path   []string // the table of servers
	strict bool     // the client reads plain JSON: comments and trailing commas are refused, since it could not have read them
}

// jsonError says that a document is not JSON.
type jsonError struct{ err error }

func (e *jsonError) Error() string { return strings.TrimPrefix(e.err.Error(), "hujson: ") }
func (e *jsonError) Unwrap() error { return e.err }

var utf8BOM = []byte("\xef\xbb\xbf")

// open parses a document without its byte order mark. A blank one is an empty object, as clients take it.
func (c jsonConfig) open(doc []byte) (text []byte, root hujson.Value, err error) {
	text = bytes.TrimPrefix(doc, utf8BOM)
	if len(bytes.TrimSpace(text)) == 0 {
		return text, hujson.Value{Value: &hujson.Object{}}, nil
	}
	if c.strict && !json.Valid(text) {
		var v any
		err := json.Unmarshal(text, &v)
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			err = fmt.Errorf("line %d: %w", 1+bytes.Count(text[:min(int(e.Offset), len(text))], []byte("\n")), err)
		}
		return nil, hujson.Value{}, &jsonError{err}
	}
	root, err = parseJSON(text)
	if err != nil {
		return nil, hujson.Value{}, &jsonError{err}
	}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return nil, hujson.Value{}, surprise("it is not an object")
	}
	return text, root, nil
}

// parseJSON parses a text. A comment may be its end, which the parser wants to have a newline behind it.
func parseJSON(text []byte) (hujson.Value, error) {
	return hujson.Parse(slices.Concat(text, []byte("\n")))
}

// walk goes down from root as far as path exists. A name that stands twice is refused: clients do not agree on which counts.
func walk(root *hujson.Value, path []string) (at *hujson.Value, rest []string, err error) {
	at = root
	for i, name := range path {
		obj, ok := at.Value.(*hujson.Object)
		if !ok {
			return nil, nil, surprise(dotted(path[:i]) + " is no object")
		}
		n, err := member(obj, name)
		if err != nil {
			return nil, nil, err
		}
		if n < 0 {
			return at, path[i:], nil
		}
		at = &obj.Members[n].Value
	}
	return at, nil, nil
}

func member(obj *hujson.Object, name string) (int, error) {
	found := -1
	for i, m := range obj.Members {
		if lit, ok := m.Name.Value.(hujson.Literal); ok && lit.String() == name {
			if found >= 0 {
				return 0, surprise("the name " + name + " stands there twice")
			}
			found = i
		}
	}
	return found, nil
}

func dotted(path []string) string {
	out := ""
	for i, name := range path {
		if i > 0 {
			out += "."
		}
		out += name
	}
	return out
}

func (c jsonConfig) entryPath() []string { return append(slices.Clone(c.path), Name) }

func (c jsonConfig) parse(doc []byte) (facts, error) {
	_, root, err := c.open(doc)
	if err != nil {
		return facts{}, err
	}
	f := facts{ready: true}
	at, rest, err := walk(&root, c.entryPath())
	if err != nil {
		return facts{}, err
	}
	if len(rest) > 0 {
		if _, ok := at.Value.(*hujson.Object); !ok {
			return facts{}, surprise(dotted(c.path) + " is no object")
		}
		f.was.Made = slices.Clone(c.path[len(c.path)+1-len(rest):])
		return f, nil
	}
	if _, ok := at.Value.(*hujson.Object); !ok {
		return facts{}, surprise(dotted(c.entryPath()) + " is no object")
	}
	v, err := decodeValue(at)
	if err != nil {
		return facts{}, err
	}
	f.entry, _ = v.(map[string]any)
	return f, nil
}

// set writes the entry. One that stands there is replaced by its value, as a whole.
func (c jsonConfig) set(doc []byte, have, want map[string]any, order []field) ([]byte, error) {
	text, root, err := c.open(doc)
	if err != nil {
		return nil, err
	}
	e := newJSONEdit(text, root)
	at, rest, err := walk(&root, c.entryPath())
	if err != nil {
		return nil, err
	}
	members := ordered(want, order)
	var out []byte
	if len(rest) == 0 {
		out = slices.Concat(text[:at.StartOffset], e.object(members, e.indentAt(at.StartOffset)), text[at.EndOffset:])
	} else if out, err = e.insert(at, rest, members); err != nil {
		return nil, err
	}
	return slices.Concat(doc[:len(doc)-len(text)], out), nil
}

// ordered lists what is to be written: our keys in our order, then what a person added.
func ordered(want map[string]any, order []field) []field {
	out := slices.Clone(order)
	var more []string
	for key := range want {
		if !slices.ContainsFunc(order, func(f field) bool { return f.key == key }) {
			more = append(more, key)
		}
	}
	slices.Sort(more)
	for _, key := range more {
		out = append(out, field{key, want[key]})
	}
	return out
}

func (c jsonConfig) cut(doc []byte, was Was, former map[string]any) ([]byte, error) {
	text, root, err := c.open(doc)
	if err != nil {
		return nil, err
	}
	head := doc[:len(doc)-len(text)]
	e := newJSONEdit(text, root)
	at, rest, err := walk(&root, c.entryPath())
	if err != nil || len(rest) > 0 {
		return doc, err
	}
	if former != nil {
		return slices.Concat(head, text[:at.StartOffset], e.object(ordered(former, nil), e.indentAt(at.StartOffset)), text[at.EndOffset:]), nil
	}
	if text, err = e.remove(c.entryPath()); err != nil {
		return nil, err
	}
	path := c.path
	for range was.Made { // what came with the entry goes with it, from the inside out, if it is empty
		if root, err = parseJSON(text); err != nil {
			return nil, err
		}
		at, rest, err := walk(&root, path)
		if err != nil {
			return nil, err
		}
		obj, ok := at.Value.(*hujson.Object)
		if len(rest) > 0 || !ok || len(obj.Members) > 0 || hasComment(obj.AfterExtra) {
			break
		}
		if text, err = newJSONEdit(text, root).remove(path); err != nil {
			return nil, err
		}
		path = path[:len(path)-1]
	}
	return slices.Concat(head, text), nil
}

func hasComment(x hujson.Extra) bool { return bytes.ContainsRune(x, '/') }

func (c jsonConfig) outside(before, after []byte) error {
	var docs [2]map[string]any
	for i, doc := range [][]byte{before, after} {
		_, root, err := c.open(doc)
		if err != nil {
			return err
		}
		v, err := decodeValue(&root)
		if err != nil {
			return err
		}
		docs[i], _ = v.(map[string]any)
		strip(docs[i], c.entryPath())
	}
	if !reflect.DeepEqual(docs[0], docs[1]) {
		return errOutside
	}
	return nil
}

func (jsonConfig) pack(entry map[string]any) ([]byte, error) { return encodeJSON(entry), nil }

func (jsonConfig) unpack(text []byte) map[string]any { return decodeEntry(text) }

// decodeEntry reads an entry that was written down as JSON; nil if there is none.
func decodeEntry(doc []byte) map[string]any {
	if len(doc) == 0 {
		return nil
	}
	m, err := decodeJSON(doc)
	if err != nil {
		return nil
	}
	entry, _ := m.(map[string]any)
	return entry
}

// decodeValue reads a part of a document; numbers stay as they are written.
func decodeValue(v *hujson.Value) (any, error) {
	c := v.Clone()
	c.Standardize()
	return decodeJSON(c.Pack())
}

func decodeJSON(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, &jsonError{err}
	}
	return v, nil
}
