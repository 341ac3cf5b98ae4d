package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// modulePath is the first line of go.mod; our own imports begin with it.
const modulePath = "termic"

// A source is one parsed Go file of this module.
type source struct {
	path      string // relative to the repository, with slashes
	pkg       string // folder of the package, "." for the root
	test      bool   // ends in _test.go
	generated bool   // carries the standard "Code generated" line
	lines     int
	syntax    *ast.File
	fset      *token.FileSet
}

// imports returns the file's import paths.
func (s *source) imports() []string {
	out := make([]string, 0, len(s.syntax.Imports))
	for _, spec := range s.syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser accepted it, so this cannot happen
		}
		out = append(out, p)
	}
	return out
}

// repoRoot is the folder of go.mod, two above this package.
const repoRoot = "../.."

// skipped are folders that hold what is built, downloaded or git's own.
var skipped = map[string]bool{
	".git": true, ".tools": true, "build/bin": true, "build/out": true, "bench/out": true,
	"frontend/node_modules": true, "frontend/dist": true,
}

// walk visits every file of the tree that belongs to it, by its path relative to the repository.
func walk(t *testing.T, visit func(rel string)) {
	t.Helper()
	err := filepath.WalkDir(repoRoot, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if os.IsNotExist(err) { // another test's temporary file
				return nil
			}
			return err
		}
		rel, err := filepath.Rel(repoRoot, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if skipped[rel] || d.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() {
			visit(rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

var (
	loadOnce sync.Once
	loaded   []*source
	loadErr  error
)

// load parses every Go file of the module once; testdata and nested modules are not part of it.
func load(t *testing.T) []*source {
	t.Helper()
	loadOnce.Do(func() {
		nested := map[string]bool{}
		var paths []string
		walk(t, func(rel string) {
			if path.Base(rel) == "go.mod" && rel != "go.mod" {
				nested[path.Dir(rel)] = true
			}
			if strings.HasSuffix(rel, ".go") && !strings.Contains("/"+rel, "/testdata/") {
				paths = append(paths, rel)
			}
		})
		sort.Strings(paths)
		for _, rel := range paths {
			if inside(rel, nested) {
				continue
			}
			s, err := parse(rel)
			if err != nil {
				loadErr = err
				return
			}
			loaded = append(loaded, s)
		}
	})
	if loadErr != nil {
		t.Fatal(loadErr)
	}
	if len(loaded) < 10 {
		t.Fatalf("only %d Go files were found: the tests would pass on nothing", len(loaded))
	}
	return loaded
}

// inside reports whether a file lies in one of the folders.
func inside(rel string, folders map[string]bool) bool {
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
		if folders[dir] {
			return true
		}
	}
	return false
}

func parse(rel string) (*source, error) {
	text, err := os.ReadFile(filepath.Join(repoRoot, filepath.FromSlash(rel)))
	if err != nil {
		return nil, err
	}
	return parseText(rel, string(text))
}

// parseText makes a source of a text; the tests of the rules use it on made-up files.
func parseText(rel, text string) (*source, error) {
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, rel, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &source{
		path:      rel,
		pkg:       path.Dir(rel),
		test:      strings.HasSuffix(rel, "_test.go"),
		generated: ast.IsGenerated(syntax),
		lines:     strings.Count(text, "\n"),
		syntax:    syntax,
		fset:      fset,
	}, nil
}

// report fails the test once for each violation, in a settled order.
func report(t *testing.T, violations []string) {
	t.Helper()
	sort.Strings(violations)
	for _, v := range violations {
		t.Error(v)
	}
}
