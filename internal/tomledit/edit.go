package tomledit

import (
	"bytes"
	"slices"
	"strings"
)

// splice is a range of the document and what takes its place.
type splice struct {
	span
	text string
}

// apply makes all splices, which must not overlap.
func apply(doc []byte, splices ...splice) []byte {
	slices.SortStableFunc(splices, func(a, b splice) int { return a.start - b.start })
	var out []byte
	pos := 0
	for _, s := range splices {
		out = append(append(out, doc[pos:s.start]...), s.text...)
		pos = s.end
	}
	return append(out, doc[pos:]...)
}

// set writes text as the value at path.
func (t *tree) set(path []string, text string) ([]byte, error) {
	n, rest := t.find(path)
	if len(rest) == 0 {
		if n.value == nil {
			return nil, refuse(path, "it is a table, and would have to become a value")
		}
		return apply(t.doc, splice{n.value.span, restyle(t.doc[n.value.start:n.value.end], text)}), nil
	}
	switch {
	case n.list:
		return nil, refuse(path, "the array has no element %s", rest[0])
	case !n.table:
		return nil, refuse(path, "%s has a value, and is no table", pathText(path[:len(path)-len(rest)]))
	}
	return t.insert(n, rest, text), nil
}

// insert writes a new key below table n.
func (t *tree) insert(n *node, rest []string, text string) []byte {
	switch {
	case n.value != nil:
		return t.insertInline(n.value, nil, pathText(rest)+" = "+text)
	case n.dotted.inline != nil:
		return t.insertInline(n.dotted.inline, n, pathText(append(slices.Clone(n.rel), rest...))+" = "+text)
	case n.dotted.section != nil:
		return t.insertLine(n.dotted.section, n, pathText(append(slices.Clone(n.rel), rest...))+" = "+text)
	case n.own != nil && len(rest) == 1:
		return t.insertLine(n.own, nil, pathText(rest)+" = "+text)
	}
	// A table without a header of its own, or one that is to get a table within it.
	header := pathText(rest[:len(rest)-1])
	if up := n.headerKeys(); up != "" && header != "" {
		header = up + "." + header
	} else {
		header += up
	}
	return t.insertLines(t.regionEnd(n), true, "["+header+"]", pathText(rest[len(rest)-1:])+" = "+text)
}

// insertInline writes an entry into an inline table: behind the last one of table after, or at the end.
func (t *tree) insertInline(v *value, after *node, entry string) []byte {
	if len(v.items) == 0 {
		return apply(t.doc, splice{span{v.start + 1, v.start + 1}, entry})
	}
	last := v.items[len(v.items)-1]
	if after != nil {
		for _, it := range v.items {
			if len(it.keys) > len(after.rel) && sameNames(it.keys, after.rel) {
				last = it
			}
		}
	}
	return apply(t.doc, splice{span{last.end, last.end}, ", " + entry})
}

func sameNames(keys []keyPart, names []string) bool {
	for i, name := range names {
		if keys[i].name != name {
			return false
		}
	}
	return true
}

// insertLine writes a line into a section: behind the last one of table after, or at the end.
func (t *tree) insertLine(s *section, after *node, text string) []byte {
	last := s.last()
	if after != nil {
		for _, l := range s.body {
			if len(l.item.keys) > len(after.rel) && sameNames(l.item.keys, after.rel) {
				last = l
			}
		}
	}
	if last == nil {
		return t.insertFirst(text)
	}
	if last.item != nil || len(s.body) > 0 {
		text = t.indent(last.start) + text
	}
	return t.insertLines(t.nextLine(last.end), false, text)
}

// insertFirst writes the first key of the root.
func (t *tree) insertFirst(text string) []byte {
	if len(t.sections) == 1 {
		return t.insertLines(len(t.doc), false, text)
	}
	// Above the first header and the comment that belongs to it, with a blank line between; Delete takes both away.
	at := t.lineStart(t.sections[1].header.start)
	for at > t.begin() {
		above := t.lineStart(at - 1)
		if !isComment(t.doc[above:at]) {
			break
		}
		at = above
	}
	return t.insertLines(at, false, text, "")
}

// insertLines writes lines at the beginning of a line, in the document's own line ends. A gap is one more blank line
// before them. A document without a last newline keeps going without.
func (t *tree) insertLines(at int, gap bool, lines ...string) []byte {
	nl := t.newline(at)
	if gap && at > t.begin() {
		lines = append([]string{""}, lines...)
	}
	text := strings.Join(lines, nl) + nl
	if at > t.begin() && t.doc[at-1] != '\n' {
		text = nl + strings.TrimSuffix(text, nl)
	}
	return apply(t.doc, splice{span{at, at}, text})
}

// regionEnd returns where the sections of n and of all within it end: behind the comments that follow the last of them,
// but before those that belong to the next header.
func (t *tree) regionEnd(n *node) int {
	last := -1
	for i, s := range t.sections {
		if s.node.under(n) {
			last = i
		}
	}
	if n.parent == nil || last < 0 || last == len(t.sections)-1 {
		return len(t.doc)
	}
	at := t.nextLine(t.sections[last].last().end)
	next := t.lineStart(t.sections[last+1].header.start)
	end := at
	for end < next {
		below := t.nextLine(end)
		if !isComment(t.doc[end:below]) {
			return end // a blank line: the comments above it belong to the region
		}
		end = below
	}
	return at
}

// begin is where the text begins, behind a byte order mark.
func (t *tree) begin() int { return len(t.doc) - len(withoutBOM(t.doc)) }

// lineStart returns where the line of pos begins.
func (t *tree) lineStart(pos int) int {
	return max(bytes.LastIndexByte(t.doc[:pos], '\n')+1, t.begin())
}

// nextLine returns where the line after that of pos begins.
func (t *tree) nextLine(pos int) int {
	if i := bytes.IndexByte(t.doc[pos:], '\n'); i >= 0 {
		return pos + i + 1
	}
	return len(t.doc)
}

// indent returns the blanks at the beginning of the line of pos.
func (t *tree) indent(pos int) string {
	start := t.lineStart(pos)
	return string(t.doc[start : start+len(t.doc[start:pos])-len(bytes.TrimLeft(t.doc[start:pos], " \t"))])
}

// newline returns the line end that is used near pos.
func (t *tree) newline(pos int) string {
	i := bytes.LastIndexByte(t.doc[:pos], '\n')
	if i < 0 {
		i = bytes.IndexByte(t.doc, '\n')
	}
	if i > 0 && t.doc[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

func isComment(line []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("#"))
}

func isBlank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }

// appendTable writes a new element of the array of tables at path.
func (t *tree) appendTable(path []string, lines []string) ([]byte, error) {
	n, rest := t.find(path)
	inline := "{}"
	if len(lines) > 0 {
		inline = "{ " + strings.Join(lines, ", ") + " }"
	}
	switch {
	case len(rest) == 0 && n.many:
		e := n.order[len(n.order)-1]
		return t.insertLines(t.regionEnd(e), true, append([]string{"[[" + n.headerKeys() + "]]"}, lines...)...), nil
	case len(rest) == 0 && n.list:
		return t.appendElement(n.value, inline), nil
	case len(rest) == 0:
		return nil, refuse(path, "it is not an array of tables")
	case n.list:
		return nil, refuse(path, "the array has no element %s", rest[0])
	case !n.table:
		return nil, refuse(path, "%s has a value, and is no table", pathText(path[:len(path)-len(rest)]))
	case n.value != nil || n.dotted != place{}:
		return t.insert(n, rest, "["+inline+"]"), nil
	}
	header := pathText(rest)
	if up := n.headerKeys(); up != "" {
		header = up + "." + header
	}
	return t.insertLines(t.regionEnd(n), true, append([]string{"[[" + header + "]]"}, lines...)...), nil
}

// appendElement writes a new last element of an array, on a line of its own where the last one has one.
func (t *tree) appendElement(v *value, text string) []byte {
	if len(v.items) == 0 {
		return apply(t.doc, splice{span{v.start + 1, v.start + 1}, text})
	}
	last := v.items[len(v.items)-1]
	behind := last.end
	if last.comma >= 0 {
		behind = last.comma + 1
	}
	end := lineEnd(t.doc, behind)
	if tail := bytes.TrimLeft(t.doc[behind:end], " \t"); end >= v.end || len(tail) > 0 && tail[0] != '#' ||
		!isBlank(t.doc[t.lineStart(last.start):last.start]) {
		return apply(t.doc, splice{span{last.end, last.end}, ", " + text})
	}
	own := splice{span{end, end}, t.newline(end) + t.indent(last.start) + text}
	if last.comma >= 0 {
		own.text += ","
		return apply(t.doc, own)
	}
	return apply(t.doc, splice{span{last.end, last.end}, ","}, own)
}
