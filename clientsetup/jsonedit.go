package clientsetup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonEdit puts members into a JSON text and takes them out.
type jsonEdit struct {
	text    []byte
	root    hujson.Value
	unit    string // one step of indentation
	newline string
}

func newJSONEdit(text []byte, root hujson.Value) *jsonEdit {
	e := &jsonEdit{text: text, root: root, unit: "  ", newline: "\n"}
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		e.newline = "\r\n"
	}
	if obj, ok := root.Value.(*hujson.Object); ok && len(obj.Members) > 0 {
		if s := e.indentAt(obj.Members[0].Name.StartOffset); s != "" && e.ownLine(obj.Members[0].Name.StartOffset) {
			e.unit = s
		}
	}
	return e
}

// lineStart returns where the line of pos begins.
func (e *jsonEdit) lineStart(pos int) int { return bytes.LastIndexByte(e.text[:pos], '\n') + 1 }

// indentAt returns the blanks at the beginning of the line of pos.
func (e *jsonEdit) indentAt(pos int) string {
	line := e.text[e.lineStart(pos):pos]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// ownLine reports whether nothing but blanks stands before pos on its line, and the line is not the first.
func (e *jsonEdit) ownLine(pos int) bool {
	start := e.lineStart(pos)
	return start > 0 && len(bytes.TrimSpace(e.text[start:pos])) == 0
}

// object writes an object over several lines, whose closing brace is indented by indent.
func (e *jsonEdit) object(members []field, indent string) []byte {
	var b strings.Builder
	b.WriteString("{")
	for i, f := range members {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "%s%s%s%s: %s", e.newline, indent, e.unit, encodeJSON(f.key), e.value(f.value, indent+e.unit))
	}
	b.WriteString(e.newline + indent + "}")
	return []byte(b.String())
}

func (e *jsonEdit) value(v any, indent string) []byte {
	m, ok := v.(map[string]any)
	if !ok || len(m) == 0 {
		return encodeJSON(v)
	}
	return e.object(ordered(m, nil), indent)
}

// encodeJSON writes a value without the escapes that are meant for HTML.
func encodeJSON(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return []byte("null") // nothing that was decoded from JSON or made by us
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// insert writes a new member, whose name is the last of rest, at the end of the object at; the others of rest become
// objects around it.
func (e *jsonEdit) insert(at *hujson.Value, rest []string, members []field) ([]byte, error) {
	obj, ok := at.Value.(*hujson.Object)
	if !ok {
		return nil, surprise("there is no object for the entry")
	}
	if len(bytes.TrimSpace(e.text)) == 0 {
		return append(e.nest(rest, members, ""), e.newline...), nil
	}
	indent := e.indentAt(at.StartOffset)
	inner := indent + e.unit
	closing := at.EndOffset - 1
	if len(obj.Members) == 0 {
		end := e.lineEnd(at.StartOffset + 1)
		text := e.newline + inner + string(e.memberText(rest, members, inner))
		if end < closing && quietLine(e.text[at.StartOffset+1:end]) {
			return slices.Concat(e.text[:end], []byte(text), e.text[end:]), nil
		}
		return slices.Concat(e.text[:at.StartOffset+1], []byte(text+e.newline+indent), e.text[closing:]), nil
	}
	last := obj.Members[len(obj.Members)-1].Value
	if first := obj.Members[0].Name.StartOffset; e.ownLine(first) {
		inner = e.indentAt(first)
	}
	pos, trailing := last.EndOffset, last.AfterExtra != nil
	if trailing {
		pos += len(last.AfterExtra) + 1
	}
	comma, tail := ",", ""
	if trailing {
		comma, tail = "", ","
	}
	text := string(e.memberText(rest, members, inner)) + tail
	if end := e.lineEnd(pos); end < closing && quietLine(e.text[pos:end]) {
		return slices.Concat(e.text[:last.EndOffset], []byte(comma), e.text[last.EndOffset:end], []byte(e.newline+inner+text), e.text[end:]), nil
	}
	return slices.Concat(e.text[:pos], []byte(comma+" "+text), e.text[pos:]), nil
}

func (e *jsonEdit) memberText(rest []string, members []field, indent string) []byte {
	return slices.Concat(encodeJSON(rest[0]), []byte(": "), e.nest(rest[1:], members, indent))
}

// nest writes members within objects of these names.
func (e *jsonEdit) nest(names []string, members []field, indent string) []byte {
	if len(names) == 0 {
		return e.object(members, indent)
	}
	inner := indent + e.unit
	return slices.Concat([]byte("{"+e.newline+inner), e.memberText(names, members, inner), []byte(e.newline+indent+"}"))
}

// lineEnd returns where the newline that ends the line of pos begins.
func (e *jsonEdit) lineEnd(pos int) int {
	i := bytes.IndexByte(e.text[pos:], '\n')
	if i < 0 {
		return len(e.text)
	}
	if i > 0 && e.text[pos+i-1] == '\r' {
		i--
	}
	return pos + i
}

// quietLine reports whether the rest of a line is blank, or a comment that ends with it.
func quietLine(rest []byte) bool {
	rest = bytes.TrimSpace(rest)
	for bytes.HasPrefix(rest, []byte("/*")) {
		i := bytes.Index(rest, []byte("*/"))
		if i < 0 {
			return false // goes on in the next line
		}
		rest = bytes.TrimSpace(rest[i+2:])
	}
	return len(rest) == 0 || bytes.HasPrefix(rest, []byte("//"))
}

// remove takes the member at path out. It undoes insert.
func (e *jsonEdit) remove(path []string) ([]byte, error) {
	parent, rest, err := walk(&e.root, path[:len(path)-1])
	if err != nil || len(rest) > 0 {
		return e.text, err
	}
	obj, ok := parent.Value.(*hujson.Object)
	if !ok {
		return e.text, nil
	}
	n, err := member(obj, path[len(path)-1])
	if err != nil || n < 0 {
		return e.text, err
	}
	m := obj.Members[n]
	last := n == len(obj.Members)-1
	start, end := m.Name.StartOffset, m.Value.EndOffset
	trailing := obj.Members[len(obj.Members)-1].Value.AfterExtra != nil
	if !last || trailing {
		if len(bytes.TrimSpace(m.Value.AfterExtra)) == 0 { // a comment between value and comma stays, and then so must a comma
			end += len(m.Value.AfterExtra) + 1
		} else {
			return e.removeKeepingComment(m)
		}
	}
	if e.ownLine(start) {
		start = e.lineStart(start) - 1
		if start > 0 && e.text[start-1] == '\r' {
			start--
		}
	} else if n > 0 {
		start -= len(e.text[:start]) - len(bytes.TrimRight(e.text[:start], " \t"))
	}
	if len(obj.Members) == 1 && len(bytes.TrimSpace(e.text[parent.StartOffset+1:start])) == 0 && len(bytes.TrimSpace(e.text[end:parent.EndOffset-1])) == 0 {
		start, end = parent.StartOffset+1, parent.EndOffset-1
	}
	if n > 0 && last && !trailing {
		prev := obj.Members[n-1].Value
		comma := prev.EndOffset + len(prev.AfterExtra)
		return slices.Concat(e.text[:comma], e.text[comma+1:max(start, comma+1)], e.text[end:]), nil
	}
	return slices.Concat(e.text[:start], e.text[end:]), nil
}

// removeKeepingComment takes out name, value and comma, and leaves a comment that stands between the last two.
func (e *jsonEdit) removeKeepingComment(m hujson.ObjectMember) ([]byte, error) {
	comma := m.Value.EndOffset + len(m.Value.AfterExtra)
	return slices.Concat(e.text[:m.Name.StartOffset], e.text[m.Value.EndOffset:comma], e.text[comma+1:]), nil
}
