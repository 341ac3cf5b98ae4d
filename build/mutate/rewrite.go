package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// mutant is one change of one place.
type mutant struct {
	id       int
	pkg      string   // folder
	tests    []string // folders of the packages whose tests hold it
	file     string   // with its folder
	line     int
	function string // "Registry.Lookup"
	from, to string // the code before and after, in one line

	reason string // of the list of those that change nothing; empty = it is not in there
	result result
	killer string // the test that noticed
}

// key names a mutant whatever moved around it. Equal ones of a function have numbers.
func (m *mutant) key() string {
	return fmt.Sprintf("%s %s | %s -> %s", m.file, m.function, m.from, m.to)
}

// overlay is what `go build -overlay` reads.
type overlay struct{ Replace map[string]string }

//go:embed switch.go.txt
var switchText string

// rewrite makes the files of a plan with every mutant in them below dir, and returns the mutants and the path of the overlay.
func rewrite(plan []target, dir string) ([]*mutant, string, error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, "", fmt.Errorf("find the repository: %w", err)
	}
	var all []*mutant
	o := overlay{Replace: map[string]string{}}
	put := func(rel, text string) error {
		to := filepath.Join(dir, strings.ReplaceAll(rel, "/", "_")+".over")
		o.Replace[filepath.Join(root, rel)] = to
		return os.WriteFile(to, []byte(text), 0o600)
	}
	for _, t := range plan {
		first, pkg := len(all), ""
		for _, name := range strings.Fields(t.files) {
			f := &file{rel: t.pkg + "/" + name, target: t, mutants: all}
			text, err := f.rewrite()
			if err != nil {
				return nil, "", err
			}
			if err := put(f.rel, text); err != nil {
				return nil, "", fmt.Errorf("write %s with mutants: %w", f.rel, err)
			}
			all, pkg = f.mutants, f.name
		}
		text := strings.NewReplacer("PACKAGE", pkg, "FIRST", strconv.Itoa(first), "COUNT", strconv.Itoa(len(all)-first)).Replace(switchText)
		if err := put(t.pkg+"/mutant_switch.go", text); err != nil {
			return nil, "", fmt.Errorf("write the switch: %w", err)
		}
	}
	number(all)
	b, err := json.Marshal(o)
	if err != nil {
		return nil, "", fmt.Errorf("write the overlay: %w", err)
	}
	path := filepath.Join(dir, "overlay.json")
	return all, path, os.WriteFile(path, b, 0o600)
}

// number makes the keys of equal mutants different.
func number(all []*mutant) {
	seen := map[string]int{}
	for _, m := range all {
		key := m.key()
		if seen[key]++; seen[key] > 1 {
			m.to += " #" + strconv.Itoa(seen[key])
		}
	}
}

// file is a source file while its mutants are put in.
type file struct {
	rel      string
	target   target
	name     string // of the package
	src      string
	set      *token.FileSet
	function string // that is being looked at
	edits    edits
	mutants  []*mutant
}

func (f *file) rewrite() (string, error) {
	b, err := os.ReadFile(filepath.FromSlash(f.rel))
	if err != nil {
		return "", fmt.Errorf("read what shall be mutated: %w", err)
	}
	f.src, f.set = string(b), token.NewFileSet()
	tree, err := parser.ParseFile(f.set, f.rel, b, parser.SkipObjectResolution)
	if err != nil {
		return "", fmt.Errorf("parse what shall be mutated: %w", err)
	}
	f.name = tree.Name.Name
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if f.function = nameOf(d); d.Name.Name != "String" && d.Name.Name != "Error" { // words for people
				f.walk(d)
			}
		case *ast.GenDecl:
			if f.function = "-"; d.Tok == token.VAR {
				f.walk(d)
			}
		}
	}
	return f.edits.apply(f.src), nil
}

func nameOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "." + d.Name.Name
	}
	return d.Name.Name
}

// add notes a mutant of a node and returns its number.
func (f *file) add(n ast.Node, from, to string) int {
	m := &mutant{id: len(f.mutants), pkg: f.target.pkg, tests: strings.Fields(f.target.tests), file: f.rel, line: f.set.Position(n.Pos()).Line, function: f.function, from: oneLine(from), to: oneLine(to)}
	f.mutants = append(f.mutants, m)
	return m.id
}

// text is the source of a node.
func (f *file) text(n ast.Node) string { return f.src[f.at(n.Pos()):f.at(n.End())] }

func (f *file) at(p token.Pos) int { return f.set.Position(p).Offset }

// longest is how much of one piece of code stands in a key: its beginning and its end.
const longest = 120

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(s[:longest/2], "") + " … " + strings.ToValidUTF8(s[len(s)-longest/2:], "")
}
