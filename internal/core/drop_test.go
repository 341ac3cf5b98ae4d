package core

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"termic/internal/fault"
)

// TestADroppedPathIsOneWord: a real shell reads what is typed as the very path, and runs nothing of it.
func TestADroppedPathIsOneWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := "/" + rapid.StringOf(rapid.OneOf(rapid.SampledFrom([]rune(" '\"$`\\!;&|<>(){}[]*?~#=%-\u00e9\u6f22")), rapid.Rune())).
			Filter(func(s string) bool {
				return droppable("/"+s) == nil || fault.CodeOf(droppable("/"+s)) == fault.NotFound
			}).Draw(t, "path")
		out, err := exec.Command("/bin/sh", "-c", "printf %s "+typedPath(path)).Output()
		if err != nil || string(out) != path {
			t.Fatalf("%q was read as %q, %v", path, out, err)
		}
	})
}

func TestDroppable(t *testing.T) {
	dir := t.TempDir()
	here := filepath.Join(dir, "a 'b' $(touch x)")
	if err := os.WriteFile(here, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := droppable(here); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "two\nlines"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fault.Code{
		filepath.Join(dir, "two\nlines"): fault.InvalidArgument, filepath.Join(dir, "\x1b[201~"): fault.InvalidArgument,
		here + "\r": fault.InvalidArgument, here + "\u009b": fault.InvalidArgument, here + "\xff": fault.InvalidArgument,
		"a.txt": fault.InvalidArgument, "": fault.InvalidArgument, "file:///etc": fault.InvalidArgument, filepath.Join(dir, "none"): fault.NotFound,
	} {
		if err := droppable(path); fault.CodeOf(err) != want {
			t.Errorf("%q: %v, want %s", path, err, want)
		}
	}
	for path, want := range map[string]string{"/usr/bin": "/usr/bin", "/a b": "'/a b'", "/it's": `'/it'\''s'`, "/~x": "'/~x'", "/\u00e9": "'/\u00e9'"} {
		if got := typedPath(path); got != want || strings.ContainsAny(got, "\n\r") {
			t.Errorf("%q became %s, want %s", path, got, want)
		}
	}
}
