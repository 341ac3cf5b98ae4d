package tomledit

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSet(t *testing.T) {
	for _, tt := range []struct {
		name, doc, path string
		value           any
		want            string
	}{
		{"replaces a value and keeps its comment", "a = 1 # one\nb = 2\n", "a", 5, "a = 5 # one\nb = 2\n"},
		{"keeps odd spacing", "\ta   =\t1\t# one\r\nb=2\r\n", "a", 5, "\ta   =\t5\t# one\r\nb=2\r\n"},
		{"the same value changes nothing", "a = 0x10\n", "a", 16, "a = 0x10\n"},
		{"the same text in another spelling changes nothing", "a = '''\nx'''\n", "a", "x", "a = '''\nx'''\n"},
		{"keeps single quotes", "a = 'x'\n", "a", `c:\new`, "a = 'c:\\new'\n"},
		{"gives single quotes up where they cannot be", "a = 'x'\n", "a", "it's", "a = \"it's\"\n"},
		{"replaces a value of several lines", "a = [\n  1, # x\n  2\n]\nb = \"\"\"\n]\"\"\"\n", "a", []int{3}, "a = [3]\nb = \"\"\"\n]\"\"\"\n"},
		{"under a header", "[t]\na = 1\n[u]\na = 1\n", "u.a", true, "[t]\na = 1\n[u]\na = true\n"},
		{"under a header with quotes and blanks", "[ \"t\" . 'x.y' ]\na = 1\n", `t."x.y".a`, 2, "[ \"t\" . 'x.y' ]\na = 2\n"},
		{"a dotted key", "t . \"u\" = 1\n", "t.u", 2, "t . \"u\" = 2\n"},
		{"in an inline table", "t = { a = 1, b = { c = 2 } } # x\n", "t.b.c", 3, "t = { a = 1, b = { c = 3 } } # x\n"},
		{"in an array of tables", "[[t]]\na = 1\n[[t]]\na = 2\n", "t.1.a", 3, "[[t]]\na = 1\n[[t]]\na = 3\n"},
		{"in a sub-table of an array of tables", "[[t]]\n[t.u]\na = 1\n[[t]]\n[t.u]\na = 2\n", "t.0.u.a", 3, "[[t]]\n[t.u]\na = 3\n[[t]]\n[t.u]\na = 2\n"},
		{"in an array", "t = [1, [2, 3]]\n", "t.1.0", 9, "t = [1, [9, 3]]\n"},
		{"an empty document", "", "a", 1, "a = 1\n"},
		{"an empty document, below a table", "", "t.a", 1, "[t]\na = 1\n"},
		{"a byte order mark alone", "\xef\xbb\xbf", "t.a", 1, "\xef\xbb\xbf[t]\na = 1\n"},
		{"no last newline", "a = 1", "b", 2, "a = 1\nb = 2"},
		{"no last newline, new table", "a = 1", "t.b", 2, "a = 1\n\n[t]\nb = 2"},
		{"line ends of Windows", "a = 1\r\n[t]\r\nb = 2\r\n", "t.c", 3, "a = 1\r\n[t]\r\nb = 2\r\nc = 3\r\n"},
		{"a new key goes behind the last of its table", "[t]\na = 1\n# off\n\n[u]\n", "t.b", 2, "[t]\na = 1\nb = 2\n# off\n\n[u]\n"},
		{"a new key has the indent of its kin", "[t]\n  a = 1\n[u]\n", "t.b", 2, "[t]\n  a = 1\n  b = 2\n[u]\n"},
		{"a new key in an empty table", "[t]\n\n[u]\n", "t.b", 2, "[t]\nb = 2\n\n[u]\n"},
		{"a new root key", "a = 1\n\n[t]\nb = 1\n", "c", 2, "a = 1\nc = 2\n\n[t]\nb = 1\n"},
		{"the first root key", "# file\n\n# table\n[t]\nb = 1\n", "c", 2, "# file\n\nc = 2\n\n# table\n[t]\nb = 1\n"},
		{"the first root key at the top", "[t]\nb = 1\n", "c", 2, "c = 2\n\n[t]\nb = 1\n"},
		{"a root key among comments", "# only\n", "c", 2, "# only\nc = 2\n"},
		{"a new sub-table stays with its kin", "[t]\na = 1\n\n# u's\n[u]\nb = 1\n", "t.x.y", 2, "[t]\na = 1\n\n[t.x]\ny = 2\n\n# u's\n[u]\nb = 1\n"},
		{"a comment directly above a header is that header's", "[t]\na = 1\n# u's\n[u]\n", "t.x.y", 2, "[t]\na = 1\n\n[t.x]\ny = 2\n# u's\n[u]\n"},
		{"a comment with a blank line below is the table's", "[t]\na = 1\n# t's\n\n[u]\n", "t.x.y", 2, "[t]\na = 1\n# t's\n\n[t.x]\ny = 2\n\n[u]\n"},
		{"a table that only its sub-table names", "[t.u]\na = 1\n\n[v]\n", "t.b", 2, "[t.u]\na = 1\n\n[t]\nb = 2\n\n[v]\n"},
		{"a new key in an element that is not the last", "[[t]]\na = 1\n\n[[t]]\na = 2\n", "t.0.x.y", 3, "[[t]]\na = 1\n\n[t.x]\ny = 3\n\n[[t]]\na = 2\n"},
		{"beside dotted keys", "[x]\nt.a = 1\nz = 1\n", "x.t.b", 2, "[x]\nt.a = 1\nt.b = 2\nz = 1\n"},
		{"beside dotted keys in an inline table", "x = { t.a = 1, z = 1 }\n", "x.t.b", 2, "x = { t.a = 1, t.b = 2, z = 1 }\n"},
		{"into an empty inline table", "x = {}\n", "x.a.b", 2, "x = {a.b = 2}\n"},
		{"into an inline table", "x = { a = 1 }\n", "x.b", "v", "x = { a = 1, b = \"v\" }\n"},
		{"a key that needs quotes", "", `"a b"."é"`, "x", "[\"a b\"]\n\"é\" = \"x\"\n"},
		{"a map is an inline table", "", "a", map[string]any{"y": []string{"1"}, "x": 2}, "a = { x = 2, y = [\"1\"] }\n"},
		{"text is escaped", "", "a", "\"\\\n\t\x00\u007f\u0085é", "a = \"\\\"\\\\\\n\\t\\u0000\\u007F\\u0085é\"\n"},
		{"a number stays a float", "", "a", 2.0, "a = 2.0\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Set([]byte(tt.doc), pathOf(t, tt.path), tt.value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// pathOf reads a path as TOML writes it.
func pathOf(t *testing.T, text string) []string {
	t.Helper()
	s := &scanner{doc: []byte(text)}
	parts, err := s.key()
	if err != nil {
		t.Fatal(err)
	}
	var path []string
	for _, p := range parts {
		path = append(path, p.name)
	}
	return path
}

func TestSetRefuses(t *testing.T) {
	for _, tt := range []struct {
		doc, path string
		value     any
	}{
		{"[t]\na = 1\n", "t", 1},              // a table would be lost
		{"[[t]]\na = 1\n", "t", []any{}},      // so would these
		{"t.a = 1\n", "t", map[string]any{}},  // and these
		{"a = 1\n", "a.b", 1},                 // a is no table
		{"a = [1]\n", "a.1", 1},               // beyond the end
		{"a = [1]\n", "a.x", 1},               // no index
		{"a = [1]\n", "a.00", 1},              // no index
		{"", "a", nil},                        // no null in TOML
		{"", "a", struct{}{}},                 // no such thing
		{"", "a", "\xff"},                     // not UTF-8
		{"", "a", map[int]int{1: 1}},          // no such thing
		{"", "a", map[string]any{"\xff": 1}},  // not UTF-8
		{"", "a", []any{1, []any{func() {}}}}, // no such thing
		{"", "a", uint64(1) << 63},            // beyond what TOML has
	} {
		got, err := Set([]byte(tt.doc), pathOf(t, tt.path), tt.value)
		if _, ok := errors.AsType[*RefusedError](err); !ok {
			t.Errorf("Set(%q, %s, %v) = %q, %v; want a refusal", tt.doc, tt.path, tt.value, got, err)
		}
	}
	if _, err := Set(nil, nil, 1); err == nil {
		t.Error("an empty path was taken")
	}
}

func TestSyntaxErrorNamesTheLine(t *testing.T) {
	for _, doc := range []string{"a = 1\nb = \n", "a = 1\na = 2\n", "\r\n[t\n"} {
		for _, edit := range []func() ([]byte, error){
			func() ([]byte, error) { return Set([]byte(doc), []string{"x"}, 1) },
			func() ([]byte, error) { return Delete([]byte(doc), []string{"x"}) },
			func() ([]byte, error) { return AppendTable([]byte(doc), []string{"x"}) },
		} {
			_, err := edit()
			e, ok := errors.AsType[*SyntaxError](err)
			if !ok || e.Line != 2 {
				t.Errorf("%q: %v", doc, err)
			}
		}
	}
	for _, deep := range []string{"a = " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), strings.Repeat("a.", 30_000) + "a = 1",
		"[" + strings.Repeat("a.", 30_000) + "a]"} {
		if _, err := Set([]byte(deep), []string{"b"}, 1); err == nil {
			t.Errorf("%.10s... was taken", deep)
		}
	}
	if _, err := Decode(make([]byte, MaxSize+1)); err == nil {
		t.Error("a file that is too large was read")
	}
}

func TestDelete(t *testing.T) {
	for _, tt := range []struct{ name, doc, path, want string }{
		{"a line with its comment", "a = 1 # one\nb = 2\n", "a", "b = 2\n"},
		{"what is not there", "a = 1\n", "t.b", "a = 1\n"},
		{"the last line without newline", "a = 1\nb = 2", "b", "a = 1"},
		{"the last line without newline, Windows", "a = 1\r\nb = 2", "b", "a = 1"},
		{"the only line", "a = 1", "a", ""},
		{"the only line behind a byte order mark", "\xef\xbb\xbfa = 1\n", "a", "\xef\xbb\xbf"},
		{"a value of several lines", "a = [\n 1,\n]\nb = 2\n", "a", "b = 2\n"},
		{"a comment above stays", "# about a\na = 1\nb = 2\n", "a", "# about a\nb = 2\n"},
		{"a dotted key with its table", "t.u.a = 1\nb = 2\n", "t.u.a", "b = 2\n"},
		{"all of a dotted table", "t.a = 1\nb = 2\nt.c = 3\n", "t", "b = 2\n"},
		{"a table with a header", "[t]\na = 1\n\n[u]\nb = 1\n", "t", "\n[u]\nb = 1\n"},
		{"a table and the blank line above", "x = 1\n\n[t]\na = 1\n# t's\n\n[u]\nb = 1\n", "t", "x = 1\n# t's\n\n[u]\nb = 1\n"},
		{"sub-tables that stand apart", "[t.a]\nx = 1\n[u]\n[t.b]\nx = 1\n[v]\n", "t", "[u]\n[v]\n"},
		{"an element of an array of tables", "[[t]]\na = 1\n[t.x]\n[[t]]\na = 2\n[t.x]\n", "t.0", "[[t]]\na = 2\n[t.x]\n"},
		{"an array of tables", "a = 1\n[[t]]\na = 1\n[[t]]\n", "t", "a = 1\n"},
		{"first of an inline table", "t = { a = 1, b = 2 }\n", "t.a", "t = { b = 2 }\n"},
		{"last of an inline table", "t = { a = 1, b = 2 }\n", "t.b", "t = { a = 1 }\n"},
		{"only one of an inline table", "t = { a = 1 }\n", "t.a", "t = {  }\n"},
		{"a dotted table in an inline table", "t = { x.a = 1, b = 2, x.c = 3 }\n", "t.x", "t = { b = 2 }\n"},
		{"an element", "a = [1, 2, 3]\n", "a.1", "a = [1, 3]\n"},
		{"the last element", "a = [1, 2, 3]\n", "a.2", "a = [1, 2]\n"},
		{"an only element with a comma", "a = [1, ]\n", "a.0", "a = [ ]\n"},
		{"an element with lines of its own", "a = [\n  1, # one\n  2, # two\n]\n", "a.1", "a = [\n  1, # one\n]\n"},
		{"the first with lines of its own", "a = [\n  1, # one\n  2 # two\n]\n", "a.0", "a = [\n  2 # two\n]\n"},
		{"the only root key", "a = 1\n\n[t]\n", "a", "[t]\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Delete([]byte(tt.doc), pathOf(t, tt.path))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAppendTable(t *testing.T) {
	entries := []Entry{{"id", "x"}, {"n", 1}}
	for _, tt := range []struct{ name, doc, path, want string }{
		{"a first one", "a = 1\n", "t", "a = 1\n\n[[t]]\nid = \"x\"\nn = 1\n"},
		{"into an empty document", "", "t.u", "[[t.u]]\nid = \"x\"\nn = 1\n"},
		{"behind the last, sub-tables included", "[[t]]\n[t.x]\na = 1\n\n[u]\n", "t", "[[t]]\n[t.x]\na = 1\n\n[[t]]\nid = \"x\"\nn = 1\n\n[u]\n"},
		{"into an empty array", "t = []\n", "t", "t = [{ id = \"x\", n = 1 }]\n"},
		{"into an array", "t = [{ id = 'a' }]\n", "t", "t = [{ id = 'a' }, { id = \"x\", n = 1 }]\n"},
		{"into an array of lines with a last comma", "t = [\n  { id = 'a' }, # a\n]\n", "t", "t = [\n  { id = 'a' }, # a\n  { id = \"x\", n = 1 },\n]\n"},
		{"into an array of lines without", "t = [\n  { id = 'a' } # a\n]\n", "t", "t = [\n  { id = 'a' }, # a\n  { id = \"x\", n = 1 }\n]\n"},
		{"below a table", "[p]\na = 1\n\n[q]\n", "p.t", "[p]\na = 1\n\n[[p.t]]\nid = \"x\"\nn = 1\n\n[q]\n"},
		{"below an inline table", "p = { a = 1 }\n", "p.t", "p = { a = 1, t = [{ id = \"x\", n = 1 }] }\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := AppendTable([]byte(tt.doc), pathOf(t, tt.path), entries...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	for doc, why := range map[string]string{"t = 1\n": "a value", "[t]\n": "a table"} {
		if got, err := AppendTable([]byte(doc), []string{"t"}, entries...); err == nil {
			t.Errorf("%s became an array: %q", why, got)
		}
	}
	if _, err := AppendTable(nil, []string{"t"}, Entry{"a", 1}, Entry{"a", 2}); err == nil {
		t.Error("a key was taken twice")
	}
}

func TestLineAndGet(t *testing.T) {
	doc := []byte("# c\r\na = 1\r\n[t]\nb = [\n 1,\n 2]\n[[u]]\n[[u]]\nc.d = { e = 1 }\n[v.w]\n")
	for path, want := range map[string]int{"a": 2, "t": 3, "t.b": 4, "t.b.1": 6, "u": 7, "u.1": 8, "u.1.c": 9, "u.1.c.d.e": 9, "v": 10, "v.w": 10, "x": 0, "u.2": 0} {
		if got := Line(doc, pathOf(t, path)); got != want {
			t.Errorf("Line(%s) = %d, want %d", path, got, want)
		}
	}
	if v, ok, err := Get(doc, []string{"u", "1", "c", "d", "e"}); v != int64(1) || !ok || err != nil {
		t.Errorf("Get = %v, %v, %v", v, ok, err)
	}
	if _, ok, err := Get(doc, []string{"nothing"}); ok || err != nil {
		t.Errorf("Get of nothing = %v, %v", ok, err)
	}
}

func TestDropHeader(t *testing.T) {
	for doc, want := range map[string]string{
		"[a.b]\nx = 1\n\n[a]\n":         "[a.b]\nx = 1\n",
		"[a.b]\r\nx = 1\r\n\r\n[a]":     "[a.b]\r\nx = 1",
		"[a] # note\n[a.b]\nx = 1\n":    "[a.b]\nx = 1\n",
		"[a]\nk = 1\n[a.b]\nx = 1\n":    "[a]\nk = 1\n[a.b]\nx = 1\n",
		"[a]\n":                         "[a]\n",
		"[[a]]\n[a.b]\nx = 1\n":         "[[a]]\n[a.b]\nx = 1\n",
		"a = { b = { x = 1 } }\n":       "a = { b = { x = 1 } }\n",
		"x = 1\n\n[ 'a' ]\n\n[a.b.c]\n": "x = 1\n\n[a.b.c]\n",
	} {
		got, err := DropHeader([]byte(doc), []string{"a"})
		if err != nil || string(got) != want {
			t.Errorf("%q became %q, %v; want %q", doc, got, err, want)
		}
		if again := HasHeader(got, []string{"a"}); again != (string(got) == doc && strings.HasPrefix(doc, "[a]")) {
			t.Errorf("%q: a header stands there: %v", got, again)
		}
	}
	if _, err := DropHeader([]byte("= 1"), []string{"a"}); err == nil {
		t.Error("a broken document was taken")
	}
}

func TestDeleteOfLastLinesKeepsTheMissingNewline(t *testing.T) {
	for doc, want := range map[string]string{
		"a = 1\nt.x = 1\nt.y = 2":           "a = 1",
		"a = 1\r\nt.x = 1\r\nt.y = 2":       "a = 1",
		"a = 1\n\n[t]\nx = 1\n[t.u]\ny = 1": "a = 1",
		"t.x = 1\nt.y = 2":                  "",
	} {
		if got, err := Delete([]byte(doc), []string{"t"}); err != nil || string(got) != want {
			t.Errorf("%q became %q, %v; want %q", doc, got, err, want)
		}
	}
}
