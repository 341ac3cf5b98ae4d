// Command gen writes what is made from the verb table: docs/verbs.md for readers and frontend/src/gen/api.ts for the
// window. Run it with `make gen` after a change of the table or of package api; a test fails while the files on disk
// differ from what it would write.
//
// It reads the sources of package api for their comments, so it needs the module's own tree and no network.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// run writes every generated file below the module's root, which is dir or one of its parents.
func run(dir string) error {
	root, err := moduleRoot(dir)
	if err != nil {
		return err
	}
	files, err := generate(root)
	if err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(root, filepath.FromSlash(f.path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// file is one generated file; path is relative to the module's root, with slashes.
type file struct {
	path    string
	content []byte
}

// generate makes every file in memory.
func generate(root string) ([]file, error) {
	notes, err := readComments(filepath.Join(root, "internal", "api"))
	if err != nil {
		return nil, err
	}
	return []file{
		{path: "docs/verbs.md", content: markdown()},
		{path: "frontend/src/gen/api.ts", content: typescript(notes)},
	}, nil
}

// moduleRoot finds the folder of go.mod at or above dir.
func moduleRoot(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no go.mod at or above the working folder")
		}
		dir = parent
	}
}
