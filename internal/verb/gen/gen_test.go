package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGenerated fails while a generated file differs from what the table says now.
func TestGenerated(t *testing.T) {
	root, err := moduleRoot(".")
	if err != nil {
		t.Fatal(err)
	}
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		on, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(f.path)))
		if err != nil {
			t.Errorf("%s is missing; run `make gen` (go run ./internal/verb/gen): %v", f.path, err)
			continue
		}
		if !bytes.Equal(on, f.content) {
			t.Errorf("%s is stale; run `make gen` (go run ./internal/verb/gen)", f.path)
		}
	}
}

// TestRunWritesBelowTheModule shows that run finds the root from a folder below it and writes every file there.
func TestRunWritesBelowTheModule(t *testing.T) {
	real, err := moduleRoot(".")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("module termic\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(root, "internal", "api"), os.DirFS(filepath.Join(real, "internal", "api"))); err != nil {
		t.Fatal(err)
	}
	below := filepath.Join(root, "internal", "api")
	if err := run(below); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"docs/verbs.md":           "### `task_new`",
		"frontend/src/gen/api.ts": "task_new: { params: TaskNewParams; result: TaskNewResult };",
	} {
		got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
		if err != nil {
			t.Error(err)
		} else if !strings.Contains(string(got), want) {
			t.Errorf("%s lacks %q", path, want)
		}
	}
}
