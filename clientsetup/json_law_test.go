package clientsetup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// jsonDoc writes random JSON, with comments and trailing commas or plain, over one line or many, in any indentation.
type jsonDoc struct {
	t      *rapid.T
	plain  bool
	nl     string // empty: one line
	unit   string
	spaces bool
}

var (
	jsonName  = rapid.SampledFrom([]string{"a", "b", "docs", "é", "x y", "q\"t", "", "$schema", "mcp2", "a/b", "<&>"})
	jsonValue = rapid.SampledFrom([]string{"1", "-0.50e2", "true", "null", `"t"`, `"// no comment"`, `"\u00e9\/"`, "[]", "[1, 2]", "{}", `{"k": "v"}`, "12345678901234567890", `"{file:/x}"`})
	jsonNote  = rapid.SampledFrom([]string{"", "", "", "/* note */", "// line", "/* \"termic\": {} */"})
)

func (d *jsonDoc) note(indent string) string {
	if d.plain {
		return ""
	}
	n := jsonNote.Draw(d.t, "note")
	if strings.HasPrefix(n, "//") {
		if d.nl == "" {
			return ""
		}
		return n + d.nl + indent
	}
	return n
}

func (d *jsonDoc) object(members [][2]string, indent string) string {
	inner := indent + d.unit
	sep := func(in string) string {
		if d.nl == "" {
			return map[bool]string{true: " ", false: ""}[d.spaces]
		}
		return d.nl + in
	}
	var b strings.Builder
	b.WriteString("{")
	for i, m := range members {
		b.WriteString(sep(inner) + d.note(inner) + string(encodeJSON(m[0])) + ":" + map[bool]string{true: " ", false: ""}[d.spaces] + m[1])
		if i < len(members)-1 || !d.plain && rapid.Bool().Draw(d.t, "trailing comma") {
			b.WriteString(d.note(inner) + ",")
		}
		if n := d.note(""); n != "" && d.nl != "" {
			b.WriteString(" " + strings.TrimRight(n, "\r\n"))
		}
	}
	if len(members) > 0 || rapid.Bool().Draw(d.t, "open braces") {
		b.WriteString(sep(indent))
	}
	b.WriteString("}")
	return b.String()
}

func (d *jsonDoc) members(name string, most int) [][2]string {
	var out [][2]string
	for _, n := range rapid.SliceOfNDistinct(jsonName, 0, most, rapid.ID).Draw(d.t, name) {
		out = append(out, [2]string{n, jsonValue.Draw(d.t, "value")})
	}
	return out
}

// drawJSON returns a document with the servers at key, or without; foreign: perhaps with an entry of our name in it.
func drawJSON(t *rapid.T, key string, plain, foreign bool) []byte {
	d := &jsonDoc{t: t, plain: plain, nl: rapid.SampledFrom([]string{"", "\n", "\n", "\r\n"}).Draw(t, "newline"),
		unit: rapid.SampledFrom([]string{"  ", "    ", "\t", ""}).Draw(t, "unit"), spaces: rapid.Bool().Draw(t, "spaces")}
	root := d.members("root", 4)
	if rapid.IntRange(0, 4).Draw(t, "has servers") > 0 {
		servers := d.members("servers", 3)
		if foreign && rapid.Bool().Draw(t, "foreign") {
			bare := *d
			bare.plain = true // what is in the entry itself goes with it
			servers = append(servers, [2]string{Name, bare.object([][2]string{{"command", `"x"`}, {"url", `"http://127.0.0.1:1/mcp"`}}, d.unit+d.unit)})
			servers = rapid.Permutation(servers).Draw(t, "order of servers")
		}
		root = append(root, [2]string{key, d.object(servers, d.unit)})
		root = rapid.Permutation(root).Draw(t, "order")
	}
	text := d.object(root, "")
	if !plain {
		text = d.note("") + text + strings.TrimRight(d.note(""), "\r\n")
	}
	if rapid.Bool().Draw(t, "last newline") {
		text += d.nl
	}
	if rapid.Bool().Draw(t, "bom") {
		text = "\xef\xbb\xbf" + text
	}
	return []byte(text)
}

func jsonKinds() map[string]*fileKind {
	return map[string]*fileKind{"mcp": opencode().(*fileKind), "mcpServers": windsurf().(*fileKind)}
}

func decoded(t *rapid.T, c jsonConfig, doc []byte) map[string]any {
	_, root, err := c.open(doc)
	if err != nil {
		t.Fatalf("%q: %v", doc, err)
	}
	v, err := decodeValue(&root)
	if err != nil {
		t.Fatalf("%q: %v", doc, err)
	}
	return v.(map[string]any)
}

func TestJSONLaws(t *testing.T) {
	for key, k := range jsonKinds() {
		t.Run(key, func(t *testing.T) {
			config := k.editor.(jsonConfig)
			rapid.Check(t, func(t *rapid.T) {
				doc := drawJSON(t, key, config.strict, true)
				f, err := k.editor.parse(doc)
				if err != nil {
					t.Fatalf("%q: %v", doc, err)
				}
				plan, err := k.edit("f", doc, f, lawEntry)
				if err != nil {
					t.Fatalf("%q: %v", doc, err)
				}
				if config.strict && !json.Valid(bytes.TrimPrefix(plan.After, utf8BOM)) {
					t.Fatalf("%q is no plain JSON", plan.After)
				}
				before, after := decoded(t, config, doc), decoded(t, config, plan.After)
				strip(before, config.entryPath())
				strip(after, config.entryPath())
				if !reflect.DeepEqual(before, after) {
					t.Fatalf("%q\nbecame\n%q", doc, plan.After)
				}
				if again, _ := pureAdd(t, k, plan.After, lawEntry); again.Act != ActNone || !bytes.Equal(again.After, plan.After) {
					t.Fatalf("the second time, %q became %q", plan.After, again.After)
				}
				back := pureCut(t, k, plan.After, lawReceipt(t, k, plan))
				if plan.Act == ActAdd && !hadEmpty(doc, config) && !bytes.Equal(back, doc) {
					t.Fatalf("from\n%s\nover\n%s\nback to\n%s", doc, plan.After, back)
				}
				got, want := decoded(t, config, back), decoded(t, config, doc)
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("from\n%s\nover\n%s\nback to\n%s", doc, plan.After, back)
				}
				if comments(doc) != comments(plan.After) || plan.Act == ActAdd && comments(doc) != comments(back) {
					t.Fatalf("comments of\n%s\nare lost in\n%s\nor\n%s", doc, plan.After, back)
				}
			})
		})
	}
}

// hadEmpty reports whether the object that gets the new member was empty: how its braces stood is then not known again
// without the receipt.
func hadEmpty(doc []byte, c jsonConfig) bool {
	_, root, err := c.open(doc)
	if err != nil {
		return false
	}
	at, _, err := walk(&root, c.path)
	if err != nil {
		return false
	}
	v, err := decodeValue(at)
	m, _ := v.(map[string]any)
	return err == nil && len(m) == 0
}

// comments counts what the generator writes as comments outside of the entry.
func comments(doc []byte) string {
	return fmt.Sprint(bytes.Count(doc, []byte("/* note */")), bytes.Count(doc, []byte("// line")), bytes.Count(doc, []byte("/* \"termic\"")))
}

func TestJSONShapesThatAreRefused(t *testing.T) {
	for key, docs := range map[string][]string{
		"mcp":        {"[]", "1", `{"mcp": []}`, `{"mcp": null}`, `{"mcp": {"termic": 1}}`, `{"mcp": {}, "mcp": {}}`, `{"mcp": {"termic": {}, "termic": {}}}`, `{`, `{"a": “b”}`, "{} {}"},
		"mcpServers": {"// c\n{}", `{"a": 1,}`, `{"mcpServers": []}`, `{"a" 1}`, `{"mcpServers":{"termic":"x"}}`},
	} {
		k := jsonKinds()[key]
		for _, doc := range docs {
			if f, err := k.editor.parse([]byte(doc)); err == nil {
				t.Errorf("%s was taken: %+v", doc, f)
			} else if msg := unreadable("f", err).Error(); slices.Contains([]string{"", "f"}, msg) {
				t.Errorf("%s: no reason in %q", doc, msg)
			}
		}
	}
}
