package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const repository = "../.."

// TestThePagesOfTheRepository: every link leads somewhere, and the site is written whole.
func TestThePagesOfTheRepository(t *testing.T) {
	s, err := read(repository)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := s.write(dir); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"index.html", "index.js", "search.js", "site.css", "docs/verbs.html", "docs/window-dark.png", "SECURITY.html"} {
		if st, err := os.Stat(filepath.Join(dir, want)); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", want, err)
		}
	}
	index, err := os.ReadFile(filepath.Join(dir, "index.js"))
	if err != nil || !strings.Contains(string(index), `"u":"docs/troubleshooting.html#the-app"`) {
		t.Errorf("the index lacks a heading: %v", err)
	}
	inNoChapter(t, s)
}

// inNoChapter finds pages that nobody would come to.
func inNoChapter(t *testing.T, s *site) {
	t.Helper()
	have := map[string]bool{}
	for _, p := range s.pages {
		have[p.path] = true
	}
	err := filepath.WalkDir(filepath.Join(repository, "docs"), func(path string, d fs.DirEntry, err error) error {
		if rel, rerr := filepath.Rel(repository, path); err == nil && rerr == nil && strings.HasSuffix(path, ".md") && !have[filepath.ToSlash(rel)] {
			t.Errorf("%s is in no chapter", rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLinks(t *testing.T) {
	for _, tt := range []struct{ name, text, wrong string }{
		{"none", "# A\n\ntext\n", ""},
		{"a page", "# A\n\n[b](docs/b.md)\n", ""},
		{"a heading", "# A\n\n[b](docs/b.md#two-words)\n", ""},
		{"its own heading", "# A\n\n## Here\n\n[b](#here)\n", ""},
		{"elsewhere", "# A\n\n[b](https://example.com/x#y)\n", ""},
		{"a file", "# A\n\n[b](docs/x.png)\n", ""},
		{"no page", "# A\n\n[b](docs/c.md)\n", "leads nowhere"},
		{"no heading", "# A\n\n[b](docs/b.md#three)\n", "leads to no heading of docs/b.md"},
		{"no heading of its own", "# A\n\n[b](#there)\n", "leads to no heading of README.md"},
		{"no picture", "# A\n\n![b](docs/y.png)\n", "leads nowhere"},
		{"no picture in HTML", "# A\n\n<img src=\"docs/y.png\">\n", "leads nowhere"},
		{"a picture of elsewhere", "# A\n\n![b](https://example.com/y.png)\n", "which is elsewhere"},
		{"a folder of code", "# A\n\n[b](code)\n", "a folder without a page"},
		{"out of the repository", "# A\n\n[b](../../../nowhere.md)\n", "leads nowhere"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			for path, text := range map[string]string{"README.md": tt.text, "docs/b.md": "# B\n\n## Two words\n", "docs/x.png": "x", "code/a.go": "package a"} {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			_, err := read(root)
			if tt.wrong == "" && err != nil || tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)) {
				t.Errorf("got %v, want %q", err, tt.wrong)
			}
		})
	}
}

// TestTroubleshootingQuotesOurErrors: what the page says that Termic says, it says.
func TestTroubleshootingQuotesOurErrors(t *testing.T) {
	said := regexp.MustCompile(`fault\.(?:New|Wrap)\((?:[^"\n]*, )?"((?:[^"\\]|\\.)+)"`)
	verbs := regexp.MustCompile(`%[a-z]`)
	var patterns []*regexp.Regexp
	for _, dir := range []string{"internal", "app", "sandbox", "mcp", "clientsetup", "settings", "web"} {
		err := filepath.WalkDir(filepath.Join(repository, dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range said.FindAllStringSubmatch(string(text), -1) {
				parts := verbs.Split(m[1], -1)
				for i := range parts {
					parts[i] = regexp.QuoteMeta(parts[i])
				}
				patterns = append(patterns, regexp.MustCompile("^"+strings.Join(parts, ".+")+"$"))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(filepath.Join(repository, "docs/troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	headings := regexp.MustCompile("(?m)^### `(.+)`$").FindAllStringSubmatch(string(page), -1)
	if len(headings) < 20 {
		t.Fatalf("%d headings", len(headings))
	}
	for _, h := range headings {
		fits := 0
		for _, p := range patterns {
			if p.MatchString(h[1]) && strings.Count(h[1], "…") <= strings.Count(p.String(), ".+") {
				fits++
			}
		}
		if fits == 0 {
			t.Errorf("nothing says %q", h[1])
		}
	}
}
