package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// comments holds what package api says about its types, fields and text constants.
type comments struct {
	types  map[string]string // type name -> its comment
	fields map[string]string // Type.Field -> its comment
	consts []constGroup      // in the order of the source
}

// constGroup is one const block of untyped strings.
type constGroup struct {
	doc    string
	values []constant
}

type constant struct{ name, value, doc string }

// readComments parses the Go files of one folder, tests left out.
func readComments(dir string) (comments, error) {
	out := comments{types: map[string]string{}, fields: map[string]string{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return out, err
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			return out, err
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				out.read(g)
			}
		}
	}
	return out, nil
}

func (c *comments) read(g *ast.GenDecl) {
	group := constGroup{doc: text(g.Doc)}
	for _, spec := range g.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			c.types[s.Name.Name] = text(g.Doc)
			if st, ok := s.Type.(*ast.StructType); ok {
				c.readFields(s.Name.Name, st)
			}
		case *ast.ValueSpec:
			if lit, ok := constValue(g, s); ok {
				group.values = append(group.values, constant{s.Names[0].Name, lit, text(s.Comment)})
			}
		}
	}
	if len(group.values) > 0 {
		c.consts = append(c.consts, group)
	}
}

func (c *comments) readFields(typeName string, st *ast.StructType) {
	for _, f := range st.Fields.List {
		doc := text(f.Comment)
		if doc == "" {
			doc = text(f.Doc)
		}
		for _, n := range f.Names {
			c.fields[typeName+"."+n.Name] = doc
		}
	}
}

// constValue returns the literal of a constant that is an untyped string.
func constValue(g *ast.GenDecl, s *ast.ValueSpec) (string, bool) {
	if g.Tok != token.CONST || s.Type != nil || len(s.Values) != 1 {
		return "", false
	}
	lit, ok := s.Values[0].(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	return lit.Value, true
}

// text joins a comment into one line.
func text(g *ast.CommentGroup) string { return strings.Join(strings.Fields(g.Text()), " ") }
