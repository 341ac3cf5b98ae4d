package archtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestEveryPackageHasItsPlace(t *testing.T) {
	report(t, checkPlaces(table, packagesOf(load(t))))
}

func TestLayersAreComplete(t *testing.T) {
	for from := leaf; from <= kit; from++ {
		for to := leaf; to <= kit; to++ {
			permitted := slices.Contains(allowed[from], to)
			reason := refused[from][to]
			if permitted == (reason != "") {
				t.Errorf("%s -> %s: either allowed, or refused with a reason (allowed %v, reason %q)", from, to, permitted, reason)
			}
		}
	}
}

func TestImportsBetweenPackages(t *testing.T) {
	report(t, checkImports(table, load(t)))
}

func TestForbiddenEdges(t *testing.T) {
	report(t, checkEdges(edges, load(t)))
}

func TestOnlyRunnersStartPrograms(t *testing.T) {
	report(t, checkRunners(runners, load(t)))
}

// TestRulesOfImportsCanFail runs each rule on a file that breaks it.
func TestRulesOfImportsCanFail(t *testing.T) {
	rows := []row{
		{pkg: "internal/core", in: domain},
		{pkg: "internal/store", in: mechanism},
		{pkg: "internal/worktree", in: mechanism},
		{pkg: "internal/ids", in: leaf},
		{pkg: "internal/control", in: presenter, only: []string{"internal/core"}},
		{pkg: "internal/fakeagent", in: kit},
	}
	tests := []struct {
		name, path, imports string
		want                string // "" when the file is fine
	}{
		{"leaf from mechanism", "internal/store/a.go", "termic/internal/ids", ""},
		{"mechanism from mechanism", "internal/store/a.go", "termic/internal/worktree", "do not know one another"},
		{"domain from leaf", "internal/ids/a.go", "termic/internal/core", "knows no tasks"},
		{"presenter within its list", "internal/control/a.go", "termic/internal/core", ""},
		{"presenter outside its list", "internal/control/a.go", "termic/internal/store", "not among"},
		{"kit in the product", "internal/core/a.go", "termic/internal/fakeagent", "stays out"},
		{"kit in a test", "internal/core/a_test.go", "termic/internal/fakeagent", ""},
		{"upwards in a test", "internal/store/a_test.go", "termic/internal/core", "decided above it"},
		{"program in the wrong place", "internal/core/a.go", "os/exec", "may not start programs"},
		{"program in a test", "internal/core/a_test.go", "os/exec", ""},
		{"forbidden standard package", "internal/core/a.go", "net/http", "by which road"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src, err := parseText(tt.path, fmt.Sprintf("package p\n\nimport _ %q\n", tt.imports))
			if err != nil {
				t.Fatal(err)
			}
			files := []*source{src}
			got := slices.Concat(checkImports(rows, files), checkEdges(edges, files), checkRunners(runners, files))
			if (tt.want == "") != (len(got) == 0) || !strings.Contains(strings.Join(got, "\n"), tt.want) {
				t.Errorf("got %q, want something with %q", got, tt.want)
			}
		})
	}
}

func TestRulesOfPlacesCanFail(t *testing.T) {
	rows := []row{{pkg: "a"}, {pkg: "gone"}, {pkg: "later", planned: true}, {pkg: "landed", planned: true}}
	got := strings.Join(checkPlaces(rows, map[string]bool{"a": true, "new": true, "landed": true}), "\n")
	for _, want := range []string{"gone: ", "new: ", "landed: "} {
		if !strings.Contains(got, want) {
			t.Errorf("no word about %s in %q", want, got)
		}
	}
	if strings.Contains(got, "later") || strings.Contains(got, "a: ") {
		t.Errorf("too many words: %q", got)
	}
}

// packagesOf returns the folders that hold Go files.
func packagesOf(files []*source) map[string]bool {
	out := map[string]bool{}
	for _, f := range files {
		out[f.pkg] = true
	}
	return out
}

func checkPlaces(rows []row, exist map[string]bool) []string {
	var out []string
	known := map[string]bool{}
	for _, r := range rows {
		if known[r.pkg] {
			out = append(out, r.pkg+": stands twice in the table")
		}
		known[r.pkg] = true
		switch {
		case !exist[r.pkg] && !r.planned:
			out = append(out, r.pkg+": in the table, but there is no such package; remove its row")
		case exist[r.pkg] && r.planned:
			out = append(out, r.pkg+": has landed; take the mark `planned` off its row")
		}
	}
	for pkg := range exist {
		if !known[pkg] {
			out = append(out, pkg+": has no row in the table of layers_test.go; give it its place")
		}
	}
	return out
}

// ours returns the folder of an import of this module.
func ours(imp string) (string, bool) {
	if imp == modulePath {
		return ".", true
	}
	return strings.CutPrefix(imp, modulePath+"/")
}

func checkImports(rows []row, files []*source) []string {
	place := map[string]row{}
	for _, r := range rows {
		place[r.pkg] = r
	}
	var out []string
	for _, f := range files {
		for _, imp := range f.imports() {
			to, ok := ours(imp)
			if !ok || to == f.pkg {
				continue
			}
			from, okFrom := place[f.pkg]
			target, okTo := place[to]
			if !okFrom || !okTo {
				continue // TestEveryPackageHasItsPlace says so
			}
			if why := refusal(f, from, target); why != "" {
				out = append(out, fmt.Sprintf("%s imports %s: %s", f.path, to, why))
			}
		}
	}
	return out
}

// refusal is the reason why a file may not import a package, or "". Tests may use equipment as well.
func refusal(f *source, from, to row) string {
	if f.test && to.in == kit {
		return ""
	}
	if !slices.Contains(allowed[from.in], to.in) {
		return refused[from.in][to.in]
	}
	if !f.test && from.only != nil && to.in != leaf && !slices.Contains(from.only, to.pkg) {
		return fmt.Sprintf("not among what a face needs (%s)", strings.Join(from.only, ", "))
	}
	return ""
}

func checkEdges(edges []edge, files []*source) []string {
	var out []string
	for _, f := range files {
		if f.test {
			continue
		}
		for _, imp := range f.imports() {
			to := imp
			if own, ok := ours(imp); ok {
				to = own
			}
			for _, e := range edges {
				if e.from == f.pkg && e.to == to {
					out = append(out, fmt.Sprintf("%s imports %s: %s", f.path, to, e.why))
				}
			}
		}
	}
	return out
}

func checkRunners(runners map[string]string, files []*source) []string {
	var out []string
	for _, f := range files {
		if f.test || runners[f.pkg] != "" || isKit(f.pkg) || !slices.Contains(f.imports(), "os/exec") {
			continue
		}
		out = append(out, f.path+" imports os/exec: this package may not start programs; use internal/childproc or the mechanism that does")
	}
	return out
}

func isKit(pkg string) bool {
	for _, r := range table {
		if r.pkg == pkg {
			return r.in == kit
		}
	}
	return false
}
