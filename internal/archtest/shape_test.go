package archtest

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Sizes, in lines. They are those of CONTRIBUTING.md.
const (
	fileSoft     = 400 // above it a file needs a reason in longFiles
	fileHard     = 700 // no file goes above it, tests included
	function     = 100
	testFunction = 150 // a test is often one long table
	component    = 250 // one .svelte file
	packageDoc   = 100 // characters; less cannot say what a package is for and what it does not cover
)

// longFiles are the files above fileSoft, each with the reason why it is one concept all the same.
var longFiles = map[string]string{
	"internal/api/results.go": "the results of all verbs, a list of types that is read side by side",
}

// longFunctions are the functions above their limit, as FILE:NAME, each with a reason.
var longFunctions = map[string]string{}

// exitsKept are the files that end the process all the same, each with a reason.
var exitsKept = map[string]string{
	"app/window_log.go": "the window's toolkit calls Fatal and goes on as if it never returned",
}

func TestPackagesSayWhatTheyAreFor(t *testing.T) {
	report(t, checkPackageDocs(load(t)))
}

func TestFilesStaySmall(t *testing.T) {
	report(t, checkFileSizes(load(t), longFiles))
}

func TestFunctionsStaySmall(t *testing.T) {
	report(t, checkFunctions(load(t), longFunctions))
}

func TestFrontendFilesStaySmall(t *testing.T) {
	walk(t, func(rel string) {
		limit := fileSoft
		switch {
		case !strings.HasPrefix(rel, "frontend/src/") || strings.HasPrefix(rel, "frontend/src/gen/"):
			return
		case strings.HasSuffix(rel, ".svelte"):
			limit = component
		case strings.HasSuffix(rel, ".test.ts"):
			limit = fileHard
		case !strings.HasSuffix(rel, ".ts"):
			return
		}
		text, err := os.ReadFile(filepath.Join(repoRoot, rel))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > limit && longFiles[rel] == "" {
			t.Errorf("%s has %d lines, more than %d: split it, or say in longFiles why not", rel, n, limit)
		}
	})
}

func TestOnlyProgramsExit(t *testing.T) {
	report(t, checkExits(load(t)))
}

func TestRulesOfShapeCanFail(t *testing.T) {
	long := "package p\n\nfunc f() {\n" + strings.Repeat("\t_ = 1\n", function) + "}\n"
	tests := []struct {
		name, path, text string
		check            func([]*source) []string
		bad              bool
	}{
		{"no package doc", "a/a.go", "package a\n", checkPackageDocs, true},
		{"a doc of one word", "a/a.go", "// Package a works.\npackage a\n", checkPackageDocs, true},
		{"a doc that says it", "a/a.go", "// Package a " + strings.Repeat("says what it is for. ", 10) + "\npackage a\n", checkPackageDocs, false},
		{"a package of tests alone", "a/a_test.go", "package a\n", checkPackageDocs, false},
		{"a long function", "a/a.go", long, func(s []*source) []string { return checkFunctions(s, nil) }, true},
		{"a long function with a reason", "a/a.go", long, func(s []*source) []string {
			return checkFunctions(s, map[string]string{"a/a.go:f": "why"})
		}, false},
		{"a long file", "a/a.go", "package a\n" + strings.Repeat("\n", fileSoft), func(s []*source) []string { return checkFileSizes(s, nil) }, true},
		{"a reason that is not needed", "a/a.go", "package a\n", func(s []*source) []string {
			return checkFileSizes(s, map[string]string{"a/a.go": "why"})
		}, true},
		{"a file beyond any reason", "a/a.go", "package a\n" + strings.Repeat("\n", fileHard), func(s []*source) []string {
			return checkFileSizes(s, map[string]string{"a/a.go": "why"})
		}, true},
		{"a library that exits", "a/a.go", "package a\n\nimport \"os\"\n\nfunc f() { os.Exit(1) }\n", checkExits, true},
		{"a program that exits", "a/a.go", "package main\n\nimport \"os\"\n\nfunc main() { os.Exit(1) }\n", checkExits, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src, err := parseText(tt.path, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := tt.check([]*source{src}); (len(got) > 0) != tt.bad {
				t.Errorf("got %q, want a violation: %v", got, tt.bad)
			}
		})
	}
}

func checkPackageDocs(files []*source) []string {
	docs := map[string]string{}
	for _, f := range files {
		if f.test {
			continue
		}
		docs[f.pkg] += "" // the package is there, documented or not
		if f.syntax.Doc != nil {
			docs[f.pkg] += f.syntax.Doc.Text()
		}
	}
	var out []string
	for pkg, doc := range docs {
		if len(doc) < packageDoc {
			out = append(out, fmt.Sprintf("package %s: its doc has %d characters; say what it is for, what it promises, what it does not cover", pkg, len(doc)))
		}
	}
	return out
}

func checkFileSizes(files []*source, reasons map[string]string) []string {
	var out []string
	needed := map[string]bool{}
	for _, f := range files {
		switch {
		case f.generated:
		case f.lines > fileHard:
			out = append(out, fmt.Sprintf("%s has %d lines, more than %d: split it", f.path, f.lines, fileHard))
		case f.lines > fileSoft && !f.test:
			needed[f.path] = true
			if reasons[f.path] == "" {
				out = append(out, fmt.Sprintf("%s has %d lines, more than %d: split it, or say in longFiles why not", f.path, f.lines, fileSoft))
			}
		}
	}
	for p := range reasons {
		if !needed[p] && strings.HasSuffix(p, ".go") {
			out = append(out, p+": has a reason in longFiles that it does not need")
		}
	}
	return out
}

func checkFunctions(files []*source, reasons map[string]string) []string {
	var out []string
	for _, f := range files {
		if f.generated {
			continue
		}
		limit := function
		if f.test {
			limit = testFunction
		}
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			n := f.fset.Position(fn.End()).Line - f.fset.Position(fn.Pos()).Line + 1
			if n > limit && reasons[f.path+":"+fn.Name.Name] == "" {
				out = append(out, fmt.Sprintf("%s: func %s has %d lines, more than %d", f.path, fn.Name.Name, n, limit))
			}
		}
	}
	return out
}

// checkExits finds what ends the process outside a program: a library returns its error.
func checkExits(files []*source) []string {
	var out []string
	for _, f := range files {
		if f.test || f.syntax.Name.Name == "main" || isKit(f.pkg) || exitsKept[f.path] != "" {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if ok && (x.Name == "os" && sel.Sel.Name == "Exit" || x.Name == "log" && strings.HasPrefix(sel.Sel.Name, "Fatal")) {
				out = append(out, fmt.Sprintf("%s calls %s.%s: return the error, main exits once", f.fset.Position(n.Pos()), x.Name, sel.Sel.Name))
			}
			return true
		})
	}
	return out
}
