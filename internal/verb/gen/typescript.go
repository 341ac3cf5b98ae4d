package main

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/verb"
)

// typescript renders the types of every verb that the window offers, and of the events and errors.
func typescript(notes comments) []byte {
	w := &tsWriter{notes: notes}
	w.line("// Made from the verb table by `make gen`. Do not edit.")
	w.line("")
	w.errors()
	w.constants()
	w.verbs()
	w.results()
	return w.Bytes()
}

// tsWriter collects the text, and the result types that were referred to and are still to be written.
type tsWriter struct {
	bytes.Buffer
	notes comments
	queue []reflect.Type
	seen  map[reflect.Type]bool
}

func (w *tsWriter) line(format string, args ...any) {
	fmt.Fprintf(w, format, args...)
	w.WriteByte('\n')
}

// doc writes a comment, when there is one.
func (w *tsWriter) doc(indent, s string) {
	if s != "" {
		w.line("%s/** %s */", indent, strings.ReplaceAll(s, "*/", "* /"))
	}
}

func (w *tsWriter) errors() {
	codes := make([]string, len(fault.All))
	for i, c := range fault.All {
		codes[i] = strconv.Quote(string(c))
	}
	w.line("/** The kinds of failure; the set is closed. */")
	w.line("export type FaultCode =\n  | %s;", strings.Join(codes, "\n  | "))
	w.line("")
	w.line("/** A failure, in words that a person may read. */")
	w.line("export interface Fault {")
	w.line("  code: FaultCode;")
	w.line("  message: string;")
	w.line("  /** What to do next. */")
	w.line("  hint?: string;")
	w.line("  data?: Record<string, unknown>;")
	w.line("}")
	w.line("")
}

func (w *tsWriter) constants() {
	for _, g := range w.notes.consts {
		w.line("// %s", g.doc)
		for _, c := range g.values {
			w.doc("", c.doc)
			w.line("export const %s = %s;", c.name, c.value)
		}
		w.line("")
	}
}

// verbs writes the parameters of each verb and the map from names to parameters and results.
func (w *tsWriter) verbs() {
	var rows []string
	for _, v := range verb.All() {
		if !v.On(grant.Window) || v.Local {
			continue
		}
		name := pascal(v.Name) + "Params"
		w.params(name, &v)
		rows = append(rows, fmt.Sprintf("  /** %s. */\n  %s: { params: %s; result: %s };", v.Doc, v.Name, name, w.typeOf(v.Result)))
	}
	w.line("/** Every verb that the window may call, with what it takes and what it gives. */")
	w.line("export interface Verbs {")
	w.line("%s", strings.Join(rows, "\n"))
	w.line("}")
	w.line("")
	w.line("export type VerbName = keyof Verbs;")
	w.line("export type Params<V extends VerbName> = Verbs[V][\"params\"];")
	w.line("export type Result<V extends VerbName> = Verbs[V][\"result\"];")
	w.line("")
	w.typeOf(reflect.TypeFor[api.Event]())
	w.typeOf(reflect.TypeFor[api.AttachResult]())
}

func (w *tsWriter) params(name string, v *verb.Verb) {
	params := v.ParamsOn(grant.Window)
	w.line("/** What %s takes. */", v.Name)
	if len(params) == 0 {
		w.line("export type %s = Record<string, never>;\n", name)
		return
	}
	w.line("export interface %s {", name)
	for _, p := range params {
		doc := p.Doc
		if p.Millis {
			doc += "; milliseconds"
		}
		w.doc("  ", doc)
		optional := "?"
		if p.Required {
			optional = ""
		}
		w.line("  %s%s: %s;", p.Name, optional, paramType(p))
	}
	w.line("}\n")
}

func paramType(p verb.Param) string {
	switch {
	case p.Enum != nil:
		quoted := make([]string, len(p.Enum))
		for i, e := range p.Enum {
			quoted[i] = strconv.Quote(e)
		}
		return strings.Join(quoted, " | ")
	case p.Type == verb.Bool:
		return "boolean"
	case p.Type == verb.Integer:
		return "number"
	case p.Type == verb.Strings:
		return "string[]"
	}
	return "string"
}

// results writes the result types in the order in which they were first referred to.
func (w *tsWriter) results() {
	for i := 0; i < len(w.queue); i++ {
		w.resultType(w.queue[i])
	}
}

func (w *tsWriter) resultType(t reflect.Type) {
	w.doc("", w.notes.types[t.Name()])
	var bases []string
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous {
			bases = append(bases, w.typeOf(f.Type))
		}
	}
	extends := ""
	if len(bases) > 0 {
		extends = " extends " + strings.Join(bases, ", ")
	}
	w.line("export interface %s%s {", t.Name(), extends)
	for i := range t.NumField() {
		w.field(t, t.Field(i))
	}
	w.line("}\n")
}

func (w *tsWriter) field(t reflect.Type, f reflect.StructField) {
	name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
	if f.Anonymous || name == "-" {
		return
	}
	w.doc("  ", w.notes.fields[t.Name()+"."+f.Name])
	optional := ""
	if slices.Contains(strings.Split(opts, ","), "omitempty") {
		optional = "?"
	}
	typ := w.typeOf(f.Type)
	if f.Type.Kind() == reflect.Pointer && optional == "" {
		typ += " | null"
	}
	w.line("  %s%s: %s;", name, optional, typ)
}

// typeOf names the TypeScript type of a Go type; it panics on a kind that results do not use, so that a new kind is a
// decision made here.
func (w *tsWriter) typeOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return w.typeOf(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64, reflect.Uint64, reflect.Uint16, reflect.Float64:
		return "number"
	case reflect.Slice:
		return w.typeOf(t.Elem()) + "[]"
	case reflect.Map:
		return "Record<string, " + w.typeOf(t.Elem()) + ">"
	case reflect.Interface:
		return "unknown"
	case reflect.Struct:
		if w.seen == nil {
			w.seen = map[reflect.Type]bool{}
		}
		if !w.seen[t] {
			w.seen[t] = true
			w.queue = append(w.queue, t)
		}
		return t.Name()
	}
	panic(fmt.Sprintf("gen: results do not hold %s", t))
}

// pascal turns task_new into TaskNew.
func pascal(s string) string {
	parts := strings.Split(s, "_")
	for i, p := range parts {
		parts[i] = strings.ToUpper(p[:1]) + p[1:]
	}
	return strings.Join(parts, "")
}
