package archtest

import (
	"fmt"
	"go/ast"
	"strings"
	"testing"
)

// makers are the functions of package sandbox from which a Capability comes. Who may steer whom is decided by comparing
// capabilities, so only what starts terminals makes them: a capability that somebody else made up would be a claim.
var makers = []string{"Compose", "Unbounded", "ParseCapability"}

// provisions are the files that may call makers.
var provisions = map[string]string{
	"internal/core/cage.go":  "composes the cage of a start",
	"internal/core/cages.go": "answers what a live terminal was started with, what a start would be, and what the store noted of a sender",
}

func TestCapabilitiesComeFromProvisionAlone(t *testing.T) {
	report(t, checkMakers(load(t), provisions))
}

func TestRuleOfCapabilitiesCanFail(t *testing.T) {
	const begin = "package p\n\nimport \"termic/sandbox\"\n\n"
	for _, tt := range []struct {
		path, text string
		bad        bool
	}{
		{"internal/core/x.go", begin + "var _ = sandbox.Unbounded(sandbox.Off)\n", true},
		{"internal/core/x.go", begin + "var f = sandbox.ParseCapability\n", true},
		{"mcp/x.go", strings.Replace(begin, "\"", "s \"", 1) + "func f() { s.Compose(s.Wish{}) }\n", true},
		{"mcp/x.go", strings.Replace(begin, "\"", ". \"", 1) + "func f() { Compose(Wish{}) }\n", true},
		{"mcp/x.go", begin + "var _ = sandbox.Capability{Read: nil}\n", true},
		{"mcp/x.go", begin + "var _ = []sandbox.Capability{{Read: nil}}\n", false}, // fields are unexported: this does not compile
		{"internal/core/x.go", begin + "func f() (sandbox.Capability, error) { return sandbox.Capability{}, nil }\n", false},
		{"internal/core/x.go", begin + "var _ = sandbox.Within\n", false},
		{"internal/core/cage.go", begin + "var _ = sandbox.Unbounded(sandbox.Off)\n", false},
		{"internal/core/x.go", "package p\n\nvar sandbox struct{ Compose int }\nvar _ = sandbox.Compose\n", false},
	} {
		src, err := parseText(tt.path, tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := checkMakers([]*source{src}, provisions); (len(got) > 0) != tt.bad {
			t.Errorf("%s: %q: got %q, want a violation: %v", tt.path, tt.text, got, tt.bad)
		}
	}
}

// checkMakers finds where a capability is made outside of provision. The empty value is let through: it is within nothing
// and holds nothing.
func checkMakers(files []*source, allowed map[string]string) []string {
	var out []string
	for _, f := range files {
		name := importedAs(f, modulePath+"/sandbox")
		if f.test || name == "" || allowed[f.path] != "" || f.pkg == "sandbox" || isKit(f.pkg) {
			continue
		}
		if name == "." {
			out = append(out, f.path+" imports package sandbox without its name: who makes capabilities could not be seen")
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				for _, m := range makers {
					if x, ok := n.X.(*ast.Ident); ok && x.Name == name && n.Sel.Name == m {
						out = append(out, fmt.Sprintf("%s uses sandbox.%s: capabilities come from provision alone", f.fset.Position(n.Pos()), m))
					}
				}
			case *ast.CompositeLit:
				sel, ok := n.Type.(*ast.SelectorExpr)
				if !ok || len(n.Elts) == 0 {
					return true
				}
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == name && sel.Sel.Name == "Capability" {
					out = append(out, fmt.Sprintf("%s makes a capability up", f.fset.Position(n.Pos())))
				}
			}
			return true
		})
	}
	return out
}

// importedAs is the name under which a file knows a package; empty when it does not import it.
func importedAs(f *source, path string) string {
	for _, spec := range f.syntax.Imports {
		if strings.Trim(spec.Path.Value, "\"`") != path {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path[strings.LastIndexByte(path, '/')+1:]
	}
	return ""
}
