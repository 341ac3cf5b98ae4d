// Command site makes one static site of the pages of this repository, with a search that works without a server:
//
//	go run ./build/site DIR
//
// Every link between pages, to a heading of one, to a file or to a picture must lead somewhere; one that does not is an error, and then
// nothing is written. Links to elsewhere are not followed.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./build/site DIR")
		os.Exit(2)
	}
	s, err := read(".")
	if err == nil {
		err = s.write(os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
	fmt.Printf("%d pages: %s\n", len(s.pages), filepath.Join(os.Args[1], "index.html"))
}

// chapters is the order of the pages, by chapter. A pattern takes the pages that no one before it took.
var chapters = []struct {
	title    string
	patterns []string
}{
	{"Use", []string{"docs/guide.md", "README.md", "docs/install.md", "docs/window.md", "docs/agents.md", "docs/clients.md", "docs/web.md", "docs/checks.md", "docs/reactions.md",
		"docs/secrets.md", "docs/troubleshooting.md"}},
	{"Look up", []string{"docs/verbs.md", "docs/settings.md", "docs/termic-yaml.md", "docs/themes.md", "docs/mcp.md", "docs/cli-agent-instructions.md", "CHANGELOG.md"}},
	{"Security", []string{"SECURITY.md", "docs/sandbox.md", "docs/proxy.md"}},
	{"Build", []string{"CONTRIBUTING.md", "docs/architecture.md", "docs/dependencies.md", "bench/README.md", "docs/pictures/README.md", "docs/*.md"}},
	{"Decisions", []string{"docs/decisions/*.md"}},
}

// site is every page of the repository, read and checked.
type site struct {
	root  string
	pages []*page
	files []string // pictures and other files that pages show, relative to the root
}

// read reads all pages below root and checks their links. All that is wrong is told at once.
func read(root string) (*site, error) {
	s := &site{root: root}
	taken := map[string]bool{}
	for _, c := range chapters {
		for _, pattern := range c.patterns {
			found, err := filepath.Glob(filepath.Join(root, pattern))
			if err != nil {
				return nil, err
			}
			for _, path := range found {
				rel, err := filepath.Rel(root, path)
				if err != nil {
					return nil, err
				}
				if taken[rel] {
					continue
				}
				taken[rel] = true
				text, err := os.ReadFile(path)
				if err != nil {
					return nil, err
				}
				s.pages = append(s.pages, newPage(filepath.ToSlash(rel), c.title, text))
			}
		}
	}
	if len(s.pages) == 0 {
		return nil, errors.New("there is no page here; run it in the root of the repository")
	}
	return s, s.check()
}
