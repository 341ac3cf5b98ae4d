package verb

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"termic/internal/grant"
)

// Type is the JSON type of a parameter.
type Type string

// The types that parameters may have. More would need more of every face.
const (
	String  Type = "string"
	Bool    Type = "boolean"
	Integer Type = "integer"
	Strings Type = "array" // of strings
)

// Param is one parameter of a verb, read from the struct tags that package api documents.
type Param struct {
	Name     string // wire name, camelCase
	Type     Type
	Doc      string
	Tool     string // the doc of MCP; empty where the name says enough
	Enum     []string
	Required bool
	Millis   bool // the command line takes a duration
	// Parts says what a comma does in a list on the command line: it parts values unless this is "whole", where each is given by
	// itself, or "hosts", where a number behind a comma is one more port.
	Parts string
	// Positional is "arg" or "rest" when the command line takes it without a flag.
	Positional string
	Flag       string // long flag without dashes; empty when it has none
	Short      string // one letter, or empty
	Secret     bool   // the ledger is not even told how long it is
	Empty      bool   // required, and a value of nothing is one
	// Not names the parameters that may not be given beside this one, and With the one that it has a meaning with alone.
	Not  []string
	With string
	// ClientOnly parameters are read by the command line and never sent.
	ClientOnly bool
	Faces      []grant.Face // nil: all
	Class      grant.Class  // the narrowest that may give it; empty: that of the verb
}

// On reports whether a face offers the parameter. Rules have those of MCP, whoever made them.
func (p Param) On(f grant.Face) bool {
	if f.ByRule() {
		f = grant.MCP
	}
	return p.Faces == nil || slices.Contains(p.Faces, f)
}

// paramsOf reads the fields of a parameter struct, embedded ones in place. It panics on a tag that it does not
// understand: the table is a literal, so every start of every test finds that out.
func paramsOf(t reflect.Type) []Param {
	var out []Param
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			out = append(out, paramsOf(f.Type)...)
			continue
		}
		out = append(out, paramOf(t, f))
	}
	return out
}

func paramOf(t reflect.Type, f reflect.StructField) Param {
	name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
	p := Param{Name: name, Doc: f.Tag.Get("doc"), Required: opts != "omitempty", Millis: f.Tag.Get("unit") == "ms", Parts: f.Tag.Get("list")}
	switch f.Type.Kind() {
	case reflect.String:
		p.Type = String
	case reflect.Bool:
		p.Type = Bool
	case reflect.Int64:
		p.Type = Integer
	case reflect.Slice:
		p.Type = Strings
	default:
		panic(fmt.Sprintf("verb: parameter %s.%s has type %s", t.Name(), f.Name, f.Type))
	}
	if e := f.Tag.Get("enum"); e != "" {
		p.Enum = strings.Split(e, "|")
	}
	if p.Class = grant.Class(f.Tag.Get("class")); p.Class != "" && !grant.Owner.Covers(p.Class) {
		panic(fmt.Sprintf("verb: parameter %s.%s has the unknown class %q", t.Name(), f.Name, p.Class))
	}
	bar := func(r rune) bool { return r == '|' }
	p.Empty, p.Secret = f.Tag.Get("empty") == "yes", f.Tag.Get("secret") == "yes"
	p.Not, p.With = strings.FieldsFunc(f.Tag.Get("not"), bar), f.Tag.Get("with")
	for _, face := range strings.FieldsFunc(f.Tag.Get("face"), bar) {
		p.Faces = append(p.Faces, grant.Face(face))
	}
	if p.Tool = f.Tag.Get("tool"); p.Tool == "" {
		p.Tool = p.Doc
	} else if p.Tool == "-" {
		p.Tool = ""
	}
	switch cli, short, _ := strings.Cut(f.Tag.Get("cli"), ","); cli {
	case "":
		panic(fmt.Sprintf("verb: parameter %s.%s has no cli tag", t.Name(), f.Name))
	case "-":
	case "arg", "rest":
		p.Positional = cli
	default:
		p.Flag, p.Short = cli, short
	}
	if p.Name == "-" {
		p.Name, p.ClientOnly, p.Required = p.Flag, true, false
	}
	if p.Name == "" || p.Doc == "" {
		panic(fmt.Sprintf("verb: parameter %s.%s lacks a json or doc tag", t.Name(), f.Name))
	}
	return p
}
