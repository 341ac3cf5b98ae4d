package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// vague are words that say nothing about what a thing does. An exported type is not one of them and
// does not end in one; nor is what a constructor makes.
var vague = []string{"Session", "Instance", "Manager", "Helper", "Helpers", "Util", "Utils", "Service", "Data", "Info"}

// namesKept are exported names that end in such a word and stay, as PACKAGE.NAME, each with a reason.
var namesKept = map[string]string{}

func TestNamesAreOfTheDomain(t *testing.T) {
	report(t, checkNames(load(t), namesKept))
}

func TestExportedNamesAreDocumented(t *testing.T) {
	report(t, checkDocs(load(t)))
}

func TestRulesOfNamesCanFail(t *testing.T) {
	tests := []struct {
		text string
		bad  bool
	}{
		{"type Session struct{}", true},
		{"type TaskManager struct{}", true},
		{"type (\n\tTabInfo struct{}\n)", true},
		{"type Helper = int", true},
		{"func NewService() {}", true},
		{"func (t T) WithData() {}", false},
		{"type SessionID string", false},
		{"type sessionManager struct{}", false},
		{"type Metadata struct{}", false},
		{"type Utility struct{}", false},
	}
	for _, tt := range tests {
		src, err := parseText("a/a.go", "package a\n\n"+tt.text+"\n")
		if err != nil {
			t.Fatal(err)
		}
		if got := checkNames([]*source{src}, nil); (len(got) > 0) != tt.bad {
			t.Errorf("%s: got %q, want a violation: %v", tt.text, got, tt.bad)
		}
	}
	for text, bad := range map[string]bool{
		"func F() {}":                        true,
		"// F does.\nfunc F() {}":            false,
		"type T struct{}":                    true,
		"func (T) String() string":           false,
		"func (t) F() {}":                    false,
		"// Modes.\nconst (\n\tA = 1\n)":     false,
		"// Kinds.\ntype (\n\tK struct{}\n)": false,
	} {
		src, err := parseText("a/a.go", "package a\n\n"+text+"\n")
		if err != nil {
			t.Fatal(err)
		}
		if got := checkDocs([]*source{src}); (len(got) > 0) != bad {
			t.Errorf("%s: got %q, want a violation: %v", text, got, bad)
		}
	}
}

// exported calls visit for every exported name that a file declares at its top, methods included. doc
// tells whether a comment goes with it.
func exported(f *source, visit func(name string, kind token.Token, documented bool)) {
	for _, d := range f.syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) {
				visit(d.Name.Name, token.FUNC, d.Doc != nil)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						visit(s.Name.Name, token.TYPE, d.Doc != nil || s.Doc != nil || s.Comment != nil)
					}
				case *ast.ValueSpec:
					for _, n := range s.Names {
						if n.IsExported() {
							visit(n.Name, d.Tok, d.Doc != nil || s.Doc != nil || s.Comment != nil)
						}
					}
				}
			}
		}
	}
}

// receiver is the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	expr := d.Recv.List[0].Type
	for {
		switch x := expr.(type) {
		case *ast.StarExpr:
			expr = x.X
		case *ast.IndexExpr:
			expr = x.X
		case *ast.IndexListExpr:
			expr = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

func checkNames(files []*source, kept map[string]string) []string {
	var out []string
	for _, f := range files {
		if f.test || f.generated {
			continue
		}
		exported(f, func(name string, kind token.Token, _ bool) {
			if kind != token.TYPE && !strings.HasPrefix(name, "New") {
				return
			}
			for _, word := range vague {
				if strings.HasSuffix(name, word) && kept[f.pkg+"."+name] == "" {
					out = append(out, fmt.Sprintf("%s: %s: %q says nothing about what it is; see the names in CONTRIBUTING.md", f.path, name, word))
				}
			}
		})
	}
	return out
}

// expected are methods whose meaning is fixed by the interface that they fulfil.
var expected = map[string]bool{
	"Error": true, "Unwrap": true, "Is": true, "As": true, "String": true, "GoString": true, "Format": true, "LogValue": true,
	"MarshalJSON": true, "UnmarshalJSON": true, "MarshalText": true, "UnmarshalText": true,
	"Len": true, "Less": true, "Swap": true, "Read": true, "Write": true, "Close": true, "Scan": true, "Value": true,
}

func checkDocs(files []*source) []string {
	var out []string
	for _, f := range files {
		if f.test || f.generated || isKit(f.pkg) || f.syntax.Name.Name == "main" {
			continue
		}
		exported(f, func(name string, _ token.Token, documented bool) {
			if !documented && !expected[name] {
				out = append(out, fmt.Sprintf("%s: %s is exported and has no comment", f.path, name))
			}
		})
	}
	return out
}
