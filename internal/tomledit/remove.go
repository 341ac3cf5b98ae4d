package tomledit

// remove takes away what stands at path. It makes one piece of work of sections and lines, and goes from entry to entry
// where a table is spread over several keys of an inline table.
func remove(doc []byte, path []string) ([]byte, error) {
	for {
		t, err := parse(doc)
		if err != nil {
			return nil, err
		}
		n, rest := t.find(path)
		if len(rest) > 0 {
			return doc, nil
		}
		switch {
		case n.item != nil && n.line == nil:
			return t.removeItem(n.in.inline, n.item), nil
		case n.dotted.inline != nil:
			for _, it := range n.dotted.inline.items {
				if len(it.keys) > len(n.rel) && sameNames(it.keys, n.rel) {
					doc = t.removeItem(n.dotted.inline, it)
					break
				}
			}
		default:
			return t.removeLines(n)
		}
	}
}

// removeLines takes away the sections of n and the lines of its dotted keys.
func (t *tree) removeLines(n *node) ([]byte, error) {
	var cuts []splice
	for _, s := range t.sections {
		if s.header != nil && s.node.under(n) {
			cuts = append(cuts, splice{span: t.sectionSpan(s)})
			continue
		}
		for _, l := range s.body {
			if t.nodeOf(s, l).under(n) {
				cuts = append(cuts, splice{span: t.lineSpan(s, l)})
			}
		}
	}
	cuts = merge(cuts)
	for i, c := range cuts {
		cuts[i].span = t.withoutLast(c.span)
	}
	return apply(t.doc, cuts...), nil
}

// nodeOf finds the node of a line.
func (t *tree) nodeOf(s *section, l *line) *node {
	n := s.node
	for _, k := range l.item.keys {
		n = n.kids[k.name]
	}
	return n
}

// sectionSpan is a section from its header to its last key, with the blank line above it.
func (t *tree) sectionSpan(s *section) span {
	r := span{t.lineStart(s.header.start), t.nextLine(s.last().end)}
	if r.start > t.begin() {
		if above := t.lineStart(r.start - 1); isBlank(t.doc[above:r.start]) {
			r.start = above
		}
	}
	return r
}

// lineSpan is a line with its comment; the only key above the first header goes with the blank line below it.
func (t *tree) lineSpan(s *section, l *line) span {
	r := span{t.lineStart(l.start), t.nextLine(l.end)}
	if s.header == nil && len(s.body) == 1 && len(t.sections) > 1 {
		if below := t.nextLine(r.end); below <= t.lineStart(t.sections[1].header.start) && isBlank(t.doc[r.end:below]) {
			r.end = below
		}
	}
	return r
}

// withoutLast keeps a document that has no last newline without one.
func (t *tree) withoutLast(r span) span {
	if r.end == len(t.doc) && r.end > 0 && t.doc[r.end-1] != '\n' && r.start > t.begin() {
		r.start--
		if r.start > t.begin() && t.doc[r.start-1] == '\r' {
			r.start--
		}
	}
	return r
}

// merge joins cuts that touch or overlap.
func merge(cuts []splice) []splice {
	var out []splice
	for _, c := range cuts { // in the order of the document
		if n := len(out); n > 0 && c.start <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, c.end)
			out[n-1].start = min(out[n-1].start, c.start)
			continue
		}
		out = append(out, c)
	}
	return out
}

// removeItem takes an entry or element out of its braces or brackets, with one comma.
func (t *tree) removeItem(v *value, it *item) []byte {
	at := 0
	for i, other := range v.items {
		if other == it {
			at = i
		}
	}
	if own, ok := t.ownLines(v, it); ok {
		return apply(t.doc, splice{span: own})
	}
	cut := it.span
	switch {
	case at+1 < len(v.items):
		cut.end = v.items[at+1].start
	case at > 0:
		cut.start = v.items[at-1].end
	case it.comma >= 0:
		cut.end = it.comma + 1
	}
	return apply(t.doc, splice{span: cut})
}

// ownLines returns the lines of an element that shares them with nothing but its comma and its comment. The comma of the
// one before may then stay as the last: arrays allow that, and inline tables are on one line.
func (t *tree) ownLines(v *value, it *item) (span, bool) {
	end := it.end
	if it.comma >= 0 {
		end = it.comma + 1
	}
	r := span{t.lineStart(it.start), t.nextLine(end)}
	tail := t.doc[end:r.end]
	return r, v.kind == array && isBlank(t.doc[r.start:it.start]) && (isBlank(tail) || isComment(tail)) && r.end < v.end && r.start > v.start
}
