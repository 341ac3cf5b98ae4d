package ptyhost

// internMax bounds a table of texts that cells refer to.
const internMax = 4096

// interner numbers texts from 1 on, so that a cell need not hold a pointer. The zero value is empty.
type interner struct {
	list  []string
	index map[string]int
}

// id returns the number of s, or 0 when the table is full.
func (t *interner) id(s string) int {
	if n, ok := t.index[s]; ok {
		return n
	}
	if len(t.list) >= internMax {
		return 0
	}
	if t.index == nil {
		t.index = make(map[string]int)
	}
	t.list = append(t.list, s)
	t.index[s] = len(t.list)
	return len(t.list)
}

func (t *interner) text(n int) string {
	if n < 1 || n > len(t.list) {
		return ""
	}
	return t.list[n-1]
}

// compact rebuilds both tables from what the grids still show. Cells get new numbers; a text that finds no room, which
// takes a screen full of different ones, becomes a replacement character.
func (e *emulator) compact() {
	clusters, links := e.clusters, e.links
	e.clusters, e.links = interner{}, interner{}
	relink := func(s *style) {
		if s.link != 0 {
			s.link = uint16(e.links.id(links.text(int(s.link))))
		}
	}
	for _, g := range []*grid{e.main, e.alt} {
		if g == nil {
			continue
		}
		relink(&g.saved.pen)
		for i := range g.rows {
			for j := range g.rows[i].raw { // text has neither
				c := &g.rows[i].raw[j]
				relink(&c.style)
				if c.r < 0 {
					if c.r = rune(-e.clusters.id(clusters.text(int(-c.r)))); c.r == 0 {
						c.r = replacement
					}
				}
			}
		}
	}
	relink(&e.cur.pen)
	e.last = replacement
}
