package archtest

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Lengths of documents, in lines: a page that is longer is not read.
const (
	architectureLines = 150
	decisionLines     = 40
)

func TestDocumentsStayShort(t *testing.T) {
	limits := map[string]int{"docs/architecture.md": architectureLines}
	pages, err := filepath.Glob(filepath.Join(repoRoot, "docs/decisions/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) == 0 {
		t.Fatal("docs/decisions holds no page")
	}
	for _, p := range pages {
		limits["docs/decisions/"+filepath.Base(p)] = decisionLines
	}
	for rel, limit := range limits {
		if n := strings.Count(readDoc(t, rel), "\n"); n > limit {
			t.Errorf("%s has %d lines, more than %d", rel, n, limit)
		}
	}
}

// decisionName is the form of a page's name: a number of four digits, then words.
var decisionName = regexp.MustCompile(`^(\d{4})-[a-z0-9]+(-[a-z0-9]+)*\.md$`)

func TestDecisionsAreNumbered(t *testing.T) {
	entries, err := os.ReadDir(filepath.Join(repoRoot, "docs/decisions"))
	if err != nil {
		t.Fatal(err)
	}
	taken := map[string]string{}
	for _, e := range entries {
		m := decisionName.FindStringSubmatch(e.Name())
		if m == nil {
			t.Errorf("docs/decisions/%s: a page is called NNNN-some-words.md", e.Name())
			continue
		}
		if other := taken[m[1]]; other != "" {
			t.Errorf("docs/decisions/%s: its number is taken by %s", e.Name(), other)
		}
		taken[m[1]] = e.Name()
	}
}

func TestDependenciesAreExplained(t *testing.T) {
	text := readDoc(t, "docs/dependencies.md")
	names := directRequirements(t)
	names = append(names, "honnef.co/go/tools")
	names = append(names, npmDependencies(t, "frontend/package.json")...)
	for _, name := range names {
		if !explained(text, name) {
			t.Errorf("docs/dependencies.md has no line that begins with | `%s` | and says why it is here", name)
		}
	}
	for _, m := range dependencyLine.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(names, m[1]) {
			t.Errorf("docs/dependencies.md explains %s, which nothing requires any more", m[1])
		}
	}
}

// dependencyLine is one row of the tables in docs/dependencies.md.
var dependencyLine = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.*) \\|$")

func explained(text, name string) bool {
	for _, m := range dependencyLine.FindAllStringSubmatch(text, -1) {
		if m[1] == name && len(m[2]) > 20 {
			return true
		}
	}
	return false
}

func npmDependencies(t *testing.T, rel string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repoRoot, rel))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Dependencies         map[string]string `json:"dependencies"`
		DevDependencies      map[string]string `json:"devDependencies"`
		OptionalDependencies map[string]string `json:"optionalDependencies"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, group := range []map[string]string{manifest.Dependencies, manifest.DevDependencies, manifest.OptionalDependencies} {
		for name, version := range group {
			out = append(out, name)
			if strings.ContainsAny(version, "^~*><x") {
				t.Errorf("%s: %s is not pinned to one version (%s)", rel, name, version)
			}
		}
	}
	return out
}

// link is a Markdown link, or the source of a picture, to a file of the repository.
var link = regexp.MustCompile(`(?:\]\(|\bsrc(?:set)?=")([^)"#\s:]+)(?:#[^)"\s]*)?[)"]`)

func TestLinksLeadSomewhere(t *testing.T) {
	walk(t, func(rel string) {
		if !strings.HasSuffix(rel, ".md") || strings.Contains(rel, "/testdata/") {
			return
		}
		for _, m := range link.FindAllStringSubmatch(readDoc(t, rel), -1) {
			target := path.Join(path.Dir(rel), m[1])
			if _, err := os.Stat(filepath.Join(repoRoot, filepath.FromSlash(target))); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", rel, m[1])
			}
		}
	})
}

func TestRulesOfDocumentsCanFail(t *testing.T) {
	text := "| `a/b` | what it does for us and why it |\n| `c` | short |\n"
	for name, want := range map[string]bool{"a/b": true, "c": false, "d": false} {
		if got := explained(text, name); got != want {
			t.Errorf("explained(%q) = %v", name, got)
		}
	}
	for name, want := range map[string]bool{"0001-house.md": true, "1-house.md": false, "0001_house.md": false, "0001-.md": false} {
		if got := decisionName.MatchString(name); got != want {
			t.Errorf("%q is a good name: %v", name, got)
		}
	}
	if m := link.FindStringSubmatch("see [x](docs/a.md#part)"); m == nil || m[1] != "docs/a.md" {
		t.Errorf("link not understood: %q", m)
	}
	if m := link.FindStringSubmatch(`<img src="docs/a.png" alt="x">`); m == nil || m[1] != "docs/a.png" {
		t.Errorf("picture not understood: %q", m)
	}
	if link.MatchString("see [x](https://example.org)") {
		t.Error("a link into the net counts as a file")
	}
}

func readDoc(t *testing.T, rel string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repoRoot, filepath.FromSlash(rel)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
