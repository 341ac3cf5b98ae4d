package tomledit

import (
	"strconv"
)

// tree says for every table and value of a document where it stands.
type tree struct {
	doc      []byte
	root     *node
	sections []*section // in the order of the document; the first is the root's
}

// section is a header with the keys below it.
type section struct {
	header *line // nil for the root's
	node   *node
	body   []*line
}

// last returns the last expression of the section, or nil for a root's without any.
func (s *section) last() *line {
	if n := len(s.body); n > 0 {
		return s.body[n-1]
	}
	return s.header
}

// place is where the keys of a table are written: a section, or an inline table.
type place struct {
	section *section
	inline  *value
}

// node is a table, an array or a value.
type node struct {
	parent *node
	name   string
	first  int // where it is first named; -1 for the root

	table bool
	kids  map[string]*node // of a table
	order []*node          // kids or elements, as they came
	many  bool             // an array of tables, made by [[headers]]
	list  bool             // an array, of either kind

	own   *section // of a table with a header, and of the root
	value *value   // of a value, inline tables and arrays included
	item  *item    // the key or element of value
	in    place    // where item stands; line is then its line, if it has one
	line  *line

	// A table made by dotted keys has no header: rel are the names from its place down to it.
	dotted place
	rel    []string
}

// parse builds the tree of a document that the full reader has accepted.
func parse(doc []byte) (*tree, error) {
	lines, err := scan(doc)
	if err != nil {
		return nil, err
	}
	t := &tree{doc: doc, root: &node{table: true, first: -1, kids: map[string]*node{}}}
	sec := &section{node: t.root}
	t.root.own = sec
	t.sections = append(t.sections, sec)
	for _, l := range lines {
		if l.item != nil {
			sec.body = append(sec.body, l)
			if err := t.add(sec.node, place{section: sec}, l.item, l); err != nil {
				return nil, err
			}
			continue
		}
		n, err := t.enter(l)
		if err != nil {
			return nil, err
		}
		sec = &section{header: l, node: n}
		n.own = sec
		t.sections = append(t.sections, sec)
	}
	return t, nil
}

// enter finds or makes the table of a header.
func (t *tree) enter(l *line) (*node, error) {
	n := t.root
	for i, k := range l.keys {
		last := i == len(l.keys)-1
		kid := n.kids[k.name]
		if kid == nil {
			kid = n.child(k.name, l.start)
			if last && l.many {
				kid.list, kid.many = true, true
			} else {
				kid.table, kid.kids = true, map[string]*node{}
			}
		}
		if kid.many { // the name of an array of tables stands for its newest element
			if last && l.many {
				e := &node{parent: kid, name: strconv.Itoa(len(kid.order)), first: l.start, table: true, kids: map[string]*node{}}
				kid.order = append(kid.order, e)
			}
			if len(kid.order) == 0 {
				return nil, errScan
			}
			kid = kid.order[len(kid.order)-1]
		}
		if !kid.table {
			return nil, errScan
		}
		n = kid
	}
	return n, nil
}

func (n *node) child(name string, at int) *node {
	kid := &node{parent: n, name: name, first: at}
	n.kids[name] = kid
	n.order = append(n.order, kid)
	return kid
}

// add puts a key with its value into table n, whose keys are written at p.
func (t *tree) add(n *node, p place, it *item, l *line) error {
	for i, k := range it.keys {
		kid := n.kids[k.name]
		if kid == nil {
			kid = n.child(k.name, k.start)
			if i < len(it.keys)-1 {
				kid.table, kid.kids, kid.dotted = true, map[string]*node{}, p
				for _, up := range it.keys[:i+1] {
					kid.rel = append(kid.rel, up.name)
				}
			}
		} else if i == len(it.keys)-1 || !kid.table {
			return errScan
		}
		n = kid
	}
	n.item, n.in, n.line = it, p, l
	return t.fill(n, it.value)
}

// fill gives node n the value v and what is in it.
func (t *tree) fill(n *node, v *value) error {
	n.value = v
	switch v.kind {
	case inlineTable:
		n.table, n.kids = true, map[string]*node{}
		for _, it := range v.items {
			if err := t.add(n, place{inline: v}, it, nil); err != nil {
				return err
			}
		}
	case array:
		n.list = true
		for i, it := range v.items {
			e := &node{parent: n, name: strconv.Itoa(i), first: it.start, item: it, in: place{inline: v}}
			n.order = append(n.order, e)
			if err := t.fill(e, it.value); err != nil {
				return err
			}
		}
	}
	return nil
}

// find walks down path as far as it exists and returns the rest.
func (t *tree) find(path []string) (n *node, rest []string) {
	n = t.root
	for i, name := range path {
		kid := n.step(name)
		if kid == nil {
			return n, path[i:]
		}
		n = kid
	}
	return n, nil
}

func (n *node) step(name string) *node {
	if n.table {
		return n.kids[name]
	}
	if i, ok := index(name, len(n.order)); ok && n.list {
		return n.order[i]
	}
	return nil
}

// index reads the name of an array's element.
func index(name string, length int) (int, bool) {
	i, err := strconv.Atoi(name)
	return i, err == nil && i >= 0 && i < length && strconv.Itoa(i) == name
}

// under reports whether n is top or within it.
func (n *node) under(top *node) bool {
	for ; n != nil; n = n.parent {
		if n == top {
			return true
		}
	}
	return false
}

// headerKeys spells the header of a table: the names down to it, without the indexes of arrays.
func (n *node) headerKeys() string {
	var names []string
	for ; n.parent != nil; n = n.parent {
		if !n.parent.list {
			names = append([]string{n.name}, names...)
		}
	}
	return pathText(names)
}
