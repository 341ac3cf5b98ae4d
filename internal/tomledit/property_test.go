package tomledit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The generator writes one random meaning in a random spelling: headers in any order, implicit tables, dotted keys,
// inline tables, arrays of tables, quoted keys, comments that look like TOML, odd blanks, line ends of either kind, a
// byte order mark, a missing last newline.

var (
	genName  = rapid.SampledFrom([]string{"a", "b", "c", "d-e", "1", "x y", "é", "q\"t", ".", "", "#", "\t"})
	genValue = rapid.SampledFrom([]string{"1", "-0x1F", "1_000", "true", "1.5e3", "inf", `"t"`, `"# no \" [comment] = 1"`, "'lit # ['", "1979-05-27 07:32:00",
		"07:32:00", "1979-05-27T07:32:00Z", "[]", "[1, 2]", "[ 1,\n  2, # two ]\n]", "\"\"\"\n[t]\na = \\\"\"\" # x\\\"\"\"\"\"", "'''\nb = '' # y'''", "{}", "[[1], ['a,b']]"})
	genNoise  = rapid.SampledFrom([]string{"", "", "", "# note", "  # [x]", "#a = 1", "\t", " # \"\"\""})
	genTail   = rapid.SampledFrom([]string{"", "", "", " # tail", "\t#t = '", "  "})
	genIndent = rapid.SampledFrom([]string{"", "", "", "  ", "\t"})
	genEquals = rapid.SampledFrom([]string{" = ", " = ", "=", "\t=  "})
)

// table is the meaning; the spelling is drawn while writing.
type genTable struct {
	names []string
	vals  map[string]string
	subs  map[string]*genTable
	lists map[string][]*genTable
}

func drawTable(t *rapid.T, depth int) *genTable {
	g := &genTable{vals: map[string]string{}, subs: map[string]*genTable{}, lists: map[string][]*genTable{}}
	for _, name := range rapid.SliceOfNDistinct(genName, 0, 5, rapid.ID).Draw(t, "names") {
		g.names = append(g.names, name)
		kind := rapid.IntRange(0, 9).Draw(t, "kind")
		switch {
		case kind >= 7 && depth > 0:
			g.subs[name] = drawTable(t, depth-1)
		case kind == 6 && depth > 0:
			for range rapid.IntRange(1, 3).Draw(t, "elements") {
				g.lists[name] = append(g.lists[name], drawTable(t, depth-1))
			}
		default:
			g.vals[name] = genValue.Draw(t, "value")
		}
	}
	return g
}

func drawKey(t *rapid.T, name string) string {
	styles := []string{encodeString(name)}
	if encodeKey(name) == name {
		styles = append(styles, name, name, name)
	}
	if !strings.ContainsAny(name, "'\n\r\x00") {
		styles = append(styles, "'"+name+"'")
	}
	return rapid.SampledFrom(styles).Draw(t, "key style")
}

func drawPath(t *rapid.T, names []string) string {
	var b strings.Builder
	for i, n := range names {
		if i > 0 {
			b.WriteString(rapid.SampledFrom([]string{".", ".", " . ", ".\t"}).Draw(t, "dot"))
		}
		b.WriteString(drawKey(t, n))
	}
	return b.String()
}

// inline writes a table in braces; nothing in it may have more than one line.
func (g *genTable) inline(t *rapid.T) string {
	var parts []string
	for _, n := range g.names {
		switch {
		case g.subs[n] != nil:
			parts = append(parts, drawKey(t, n)+genEquals.Draw(t, "=")+g.subs[n].inline(t))
		case g.lists[n] != nil:
			parts = append(parts, drawKey(t, n)+genEquals.Draw(t, "=")+inlineList(t, g.lists[n]))
		default:
			v := g.vals[n]
			if strings.Contains(v, "\n") {
				v = "0"
			}
			parts = append(parts, drawKey(t, n)+genEquals.Draw(t, "=")+v)
		}
	}
	return "{" + rapid.SampledFrom([]string{"", " "}).Draw(t, "pad") + strings.Join(parts, ", ") + rapid.SampledFrom([]string{"", " "}).Draw(t, "pad") + "}"
}

func inlineList(t *rapid.T, list []*genTable) string {
	var parts []string
	for _, e := range list {
		parts = append(parts, e.inline(t))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// write returns the lines of a table's section and the sections below it, each a list of lines that stay together.
func (g *genTable) write(t *rapid.T, at, rel []string) (body []string, below [][]string) {
	for _, n := range g.names {
		key := drawPath(t, append(slices.Clone(rel), n))
		indent, tail := genIndent.Draw(t, "indent"), genTail.Draw(t, "tail")
		path := append(slices.Clone(at), n)
		switch {
		case g.subs[n] != nil:
			sub := g.subs[n]
			switch style := rapid.IntRange(0, 3).Draw(t, "table style"); {
			case style == 0:
				body = append(body, indent+key+genEquals.Draw(t, "=")+sub.inline(t)+tail)
			case style == 1 && len(sub.names) > 0:
				lines, more := sub.write(t, path, append(slices.Clone(rel), n))
				if len(lines) > 0 {
					body, below = append(body, lines...), append(below, more...)
				} else {
					below = append(below, more...)
				}
			default:
				lines, more := sub.write(t, path, nil)
				if len(lines) > 0 || len(more) == 0 || rapid.Bool().Draw(t, "explicit") {
					lines = append([]string{indent + "[" + drawPath(t, path) + "]" + tail}, lines...)
					more = slices.Insert(more, rapid.IntRange(0, len(more)).Draw(t, "place"), lines)
				}
				below = append(below, more...)
			}
		case g.lists[n] != nil:
			if rapid.Bool().Draw(t, "inline list") {
				body = append(body, indent+key+genEquals.Draw(t, "=")+inlineList(t, g.lists[n])+tail)
				continue
			}
			var all []string
			for _, e := range g.lists[n] {
				lines, more := e.write(t, path, nil)
				all = append(append(all, indent+"[["+drawPath(t, path)+"]]"+tail), lines...)
				for _, m := range more {
					all = append(all, m...)
				}
			}
			below = append(below, all)
		default:
			body = append(body, indent+key+genEquals.Draw(t, "=")+g.vals[n]+tail)
		}
	}
	return body, below
}

// drawDoc returns a document that the full reader takes.
func drawDoc(t *rapid.T) []byte {
	body, below := drawTable(t, 3).write(t, nil, nil)
	var lines []string
	noise := func() {
		for range rapid.IntRange(0, 2).Draw(t, "noise") {
			lines = append(lines, genNoise.Draw(t, "noise line"))
		}
	}
	for _, l := range body {
		noise()
		lines = append(lines, l)
	}
	for _, section := range below {
		for _, l := range section {
			noise()
			lines = append(lines, l)
		}
	}
	noise()
	text := strings.Join(lines, "\n")
	if rapid.Bool().Draw(t, "last newline") {
		text += "\n"
	}
	if rapid.Bool().Draw(t, "crlf") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if rapid.Bool().Draw(t, "bom") {
		text = string(bom) + text
	}
	if _, err := Decode([]byte(text)); err != nil {
		t.Skip("not valid in this spelling")
	}
	return []byte(text)
}

// paths lists every place in a decoded document.
func paths(v any, at []string) (list [][]string) {
	step := func(name string, kid any) {
		p := append(slices.Clone(at), name)
		list = append(append(list, p), paths(kid, p)...)
	}
	switch x := v.(type) {
	case map[string]any:
		for name, kid := range x {
			step(name, kid)
		}
	case []any:
		for i, kid := range x {
			step(fmt.Sprint(i), kid)
		}
	}
	slices.SortFunc(list, slices.Compare)
	return list
}

// changedRange returns the range of before that differs in after: what stands before and behind it is the same.
func changedRange(before, after []byte) (start, end int) {
	for start < len(before) && start < len(after) && before[start] == after[start] {
		start++
	}
	for end < len(before)-start && end < len(after)-start && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	return start, len(before) - end
}

func TestTreeAgreesWithTheReader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDoc(t)
		m, err := Decode(doc)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := parse(doc)
		if err != nil {
			t.Fatalf("%q: %v", doc, err)
		}
		var compare func(n *node, v any, at string)
		compare = func(n *node, v any, at string) {
			switch x := v.(type) {
			case map[string]any:
				if !n.table || len(n.kids) != len(x) {
					t.Fatalf("%s of %q: table %v with %d keys, want %d", at, doc, n.table, len(n.kids), len(x))
				}
				for name, kid := range x {
					compare(n.kids[name], kid, at+"."+name)
				}
			case []any:
				if !n.list || len(n.order) != len(x) {
					t.Fatalf("%s of %q: list %v with %d elements, want %d", at, doc, n.list, len(n.order), len(x))
				}
				for i, kid := range x {
					compare(n.order[i], kid, fmt.Sprint(at, ".", i))
				}
			default:
				got, err := Decode(append([]byte("v = "), doc[n.value.start:n.value.end]...))
				if err != nil || !equal(got["v"], v) {
					t.Fatalf("%s of %q: the value's range holds %q", at, doc, doc[n.value.start:n.value.end])
				}
			}
		}
		compare(tr.root, any(m), "")
		for _, p := range paths(m, nil) {
			if Line(doc, p) == 0 {
				t.Fatalf("%q has no line in %q", p, doc)
			}
		}
	})
}

func TestSetLaws(t *testing.T) {
	values := rapid.SampledFrom([]any{7, "new # text", true, 1.5, []string{"x", "y"}, map[string]any{"k": 1}})
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDoc(t)
		m, _ := Decode(doc)
		tr, _ := parse(doc)
		value := values.Draw(t, "value")
		for _, p := range paths(m, nil) {
			have, _ := lookup(m, p)
			if same, err := Set(doc, p, have); err != nil || !bytes.Equal(same, doc) {
				t.Fatalf("setting %q to what it is: %q, %v, from %q", p, same, err, doc)
			}
			n, _ := tr.find(p)
			got, err := Set(doc, p, value)
			if n.value == nil {
				if err == nil {
					t.Fatalf("table %q of %q became a value: %q", p, doc, got)
				}
				continue
			}
			if err != nil {
				t.Fatalf("Set(%q, %q): %v", doc, p, err)
			}
			if start, end := changedRange(doc, got); !bytes.Equal(doc, got) && (start < n.value.start || end > n.value.end) {
				t.Fatalf("Set(%q, %q) changed bytes outside of the value: %q", doc, p, got)
			}
		}
	})
}

// TestAddedIsTakenBack adds a key or a table wherever there is a table, takes it away again, and wants the same bytes.
func TestAddedIsTakenBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDoc(t)
		m, _ := Decode(doc)
		tr, _ := parse(doc)
		for _, p := range append([][]string{nil}, paths(m, nil)...) {
			v, _ := lookup(m, p)
			switch x := v.(type) {
			case map[string]any:
				n, _ := tr.find(p)
				for _, rest := range [][]string{{"new"}, {"n e w", "k"}, {"new", "sub", "k"}} {
					if len(rest) == 1 && n.own == nil && n.value == nil && n.dotted == (place{}) {
						continue // gets a header, which stays
					}
					added, err := Set(doc, append(slices.Clone(p), rest...), "v")
					if err != nil {
						t.Fatalf("adding %q below %q of %q: %v", rest, p, doc, err)
					}
					kept(t, doc, added)
					back, err := Delete(added, append(slices.Clone(p), rest[0]))
					if err != nil || !bytes.Equal(back, doc) {
						t.Fatalf("adding %q below %q and taking it back:\n%q\n%q\n%q, %v", rest, p, doc, added, back, err)
					}
				}
				back(t, doc, append(slices.Clone(p), "new"), 0)
			case []any:
				if len(x) > 0 {
					if _, isTable := x[0].(map[string]any); isTable {
						back(t, doc, p, len(x))
					}
				}
			}
		}
	})
}

// back appends a table to the array at p, takes it away, and wants the same bytes.
func back(t *rapid.T, doc []byte, p []string, length int) {
	added, err := AppendTable(doc, p, Entry{"id", "x"}, Entry{"n", 1})
	if err != nil {
		t.Fatalf("appending to %q of %q: %v", p, doc, err)
	}
	kept(t, doc, added)
	gone := p
	if length > 0 {
		gone = append(slices.Clone(p), fmt.Sprint(length))
	}
	if got, err := Delete(added, gone); err != nil || !bytes.Equal(got, doc) {
		t.Fatalf("appending to %q and taking it back:\n%q\n%q\n%q, %v", p, doc, added, got, err)
	}
}

// kept checks that an addition only adds.
func kept(t *rapid.T, before, after []byte) {
	if start, end := changedRange(before, after); start < end {
		t.Fatalf("an addition changed %q:\n%q\n%q", before[start:end], before, after)
	}
}

func TestDeleteLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDoc(t)
		m, _ := Decode(doc)
		for _, p := range paths(m, nil) {
			got, err := Delete(doc, p)
			if err != nil {
				t.Fatalf("Delete(%q, %q): %v", doc, p, err)
			}
			v, found, err := Get(got, p)
			if err != nil {
				t.Fatal(err)
			}
			if _, isIndex := index(p[len(p)-1], 1000); found && !isIndex {
				t.Fatalf("%q is still %v after Delete(%q): %q", p, v, doc, got)
			}
			if bytes.Count(got, []byte("#")) > bytes.Count(doc, []byte("#")) {
				t.Fatalf("something was made up: %q, %q", doc, got)
			}
		}
	})
}

func FuzzTomlSet(f *testing.F) {
	for _, doc := range []string{"", "a = 1", "[t]\r\na.b = 1 # x\r\n", "[[t]]\n[t.u]\n[[t]]\n", "t = { a = [1, {b = 2}] }\n", "\xef\xbb\xbf'x.y' = \"\"\"\n\"\"\"\n",
		"[a.b]\n[a]\nc=1\n", "a = [\n 1, # x\n 2\n]\n", "x = { # c\n a = 1,\n}\n"} {
		f.Add([]byte(doc), "t.u", "v")
		f.Add([]byte(doc), "a", "it's")
	}
	f.Fuzz(func(t *testing.T, doc []byte, dotted, text string) {
		path := strings.Split(dotted, ".")
		if len(doc) > 1<<16 {
			t.Skip()
		}
		before, err := Decode(doc)
		if err != nil {
			for _, edit := range [][]byte{first(Set(doc, path, text)), first(Delete(doc, path)), first(AppendTable(doc, path))} {
				if edit != nil {
					t.Fatalf("a document that does not parse was edited: %q", edit)
				}
			}
			return
		}
		if out, err := Set(doc, path, text); err == nil {
			if v, ok, err := Get(out, path); err != nil || !ok || v != text {
				t.Fatalf("Set(%q, %q, %q) = %q with %v, %v", doc, path, text, out, v, err)
			}
			if again := first(Set(out, path, text)); !bytes.Equal(again, out) {
				t.Fatalf("setting twice differs: %q, %q", out, again)
			}
			if _, had := lookup(before, path); !had {
				if start, end := changedRange(doc, out); start < end {
					t.Fatalf("a new key changed %q of %q: %q", doc[start:end], doc, out)
				}
			}
		}
		if out, err := Delete(doc, path); err == nil {
			if _, err := Decode(out); err != nil {
				t.Fatalf("Delete(%q, %q) = %q, which does not parse: %v", doc, path, out, err)
			}
		}
		if out, err := AppendTable(doc, path, Entry{"k", text}); err == nil {
			v, _, err := Get(out, path)
			list, ok := v.([]any)
			if err != nil || !ok || len(list) == 0 || !equal(list[len(list)-1], map[string]any{"k": text}) {
				t.Fatalf("AppendTable(%q, %q) = %q", doc, path, out)
			}
		}
	})
}

func first(b []byte, _ error) []byte { return b }
