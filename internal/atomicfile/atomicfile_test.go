package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != text {
		t.Errorf("%s has %q, want %q", path, b, text)
	}
	st, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if st.Mode() != mode {
		t.Errorf("%s has mode %v, want %v", path, st.Mode(), mode)
	}
}

// clean checks that no temporary file was left.
func clean(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".tmp") {
			t.Errorf("%s was left in %s", e.Name(), dir)
		}
	}
	if len(entries) != len(names) {
		t.Errorf("%s has %d entries, want %v", dir, len(entries), names)
	}
}

func TestNewAndExisting(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := WriteFile(path, []byte("one"), 0o666); err != nil {
		t.Fatal(err)
	}
	want(t, path, "one", 0o666) // the umask has no say
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	want(t, path, "two", 0o640)
	if err := WriteFile(path, []byte("two"), 0o600, ExactMode(), KeepEqual()); err != nil {
		t.Fatal(err)
	}
	want(t, path, "two", 0o600)
	clean(t, dir, "f")
}

func TestKeepEqualLeavesTheFileAlone(t *testing.T) { // C10
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "same", 0o644)
	then := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, []byte("same"), 0o644, KeepEqual()); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) || !after.ModTime().Equal(then) {
		t.Error("a file with the same bytes was replaced")
	}
	if err := WriteFile(path, []byte("same"), 0o644); err != nil {
		t.Fatal(err)
	}
	if after, err = os.Stat(path); err != nil || os.SameFile(before, after) {
		t.Errorf("without KeepEqual the file was not replaced (%v)", err)
	}
}

func TestSymlinks(t *testing.T) { // C8
	for _, tt := range []struct {
		name  string
		build func(t *testing.T, dir string) (real string)
	}{
		{"absolute", func(t *testing.T, dir string) string {
			link(t, filepath.Join(dir, "dots", "real"), filepath.Join(dir, "f"))
			return "dots/real"
		}},
		{"relative", func(t *testing.T, dir string) string {
			link(t, "dots/real", filepath.Join(dir, "f"))
			return "dots/real"
		}},
		{"chain of two", func(t *testing.T, dir string) string {
			link(t, "dots/hop", filepath.Join(dir, "f"))
			link(t, "../deep/real", filepath.Join(dir, "dots", "hop"))
			return "deep/real"
		}},
		{"through a linked folder", func(t *testing.T, dir string) string {
			// away/here -> deep/inner, so away/here/../real is deep/real and not away/real.
			link(t, filepath.Join(dir, "deep", "inner"), filepath.Join(dir, "away", "here"))
			link(t, "away/here/../real", filepath.Join(dir, "f"))
			return "deep/real"
		}},
	} {
		for _, exists := range []bool{true, false} {
			t.Run(tt.name, func(t *testing.T) {
				dir := t.TempDir()
				for _, d := range []string{"dots", "deep/inner", "away"} {
					if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
						t.Fatal(err)
					}
				}
				real := filepath.Join(dir, tt.build(t, dir))
				mode := fs.FileMode(0o600)
				if exists {
					mode = 0o644
					write(t, real, "old", mode)
				}
				if err := WriteFile(filepath.Join(dir, "f"), []byte("new"), 0o600); err != nil {
					t.Fatalf("exists %v: %v", exists, err)
				}
				want(t, real, "new", mode)
				if st, err := os.Lstat(filepath.Join(dir, "f")); err != nil || st.Mode()&fs.ModeSymlink == 0 {
					t.Errorf("the link is gone: %v, %v", st, err)
				}
			})
		}
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	link(t, "b", filepath.Join(dir, "a"))
	link(t, "a", filepath.Join(dir, "b"))
	link(t, "self", filepath.Join(dir, "self"))
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	link(t, "folder", filepath.Join(dir, "tofolder"))
	link(t, "/dev/null", filepath.Join(dir, "todevice"))
	for name, wrapped := range map[string]error{"a": ErrLoop, "self": ErrLoop, "folder": ErrNotRegular, "tofolder": ErrNotRegular,
		"todevice": ErrNotRegular, "missing/f": fs.ErrNotExist} {
		if err := WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); !errors.Is(err, wrapped) {
			t.Errorf("%s: %v, want %v", name, err, wrapped)
		}
	}
	clean(t, dir, "a", "b", "self", "folder", "tofolder", "todevice")
}

func TestFailureLeavesTheOldContent(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	write(t, path, "old", 0o600)
	// A name for the temporary file that no file system takes makes every step after Lstat fail.
	long := filepath.Join(dir, strings.Repeat("n", 250))
	if err := WriteFile(long, []byte("x"), 0o600); err == nil {
		t.Error("a name that is too long for a temporary file was taken")
	}
	want(t, path, "old", 0o600)
	clean(t, dir, "f")
}

// TestNeverAcrossDevices has TMPDIR on another file system than the target, where a rename from TMPDIR fails (P21).
func TestNeverAcrossDevices(t *testing.T) {
	const shm = "/dev/shm"
	dir := t.TempDir()
	other, err := os.MkdirTemp(shm, "atomicfile")
	if err != nil {
		t.Skipf("NOT TESTED: no second file system at %s: %v", shm, err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(other) })
	write(t, filepath.Join(other, "probe"), "x", 0o600)
	if err := os.Rename(filepath.Join(other, "probe"), filepath.Join(dir, "probe")); err == nil {
		t.Skipf("NOT TESTED: %s and %s are one file system", shm, dir)
	}
	t.Setenv("TMPDIR", other)
	if err := WriteFile(filepath.Join(dir, "f"), []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	link(t, filepath.Join(dir, "f"), filepath.Join(other, "f"))
	if err := WriteFile(filepath.Join(other, "f"), []byte("newer"), 0o600); err != nil {
		t.Fatal(err)
	}
	want(t, filepath.Join(dir, "f"), "newer", 0o600)
}

// TestReadersSeeWholeFiles reads while others write: every reading is one of the whole contents.
func TestReadersSeeWholeFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	a, b := strings.Repeat("a", 100_000), strings.Repeat("b", 70_000)
	write(t, path, a, 0o600)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for _, text := range []string{a, b} {
		wg.Go(func() {
			for range 30 {
				if err := WriteFile(path, []byte(text), 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() { wg.Wait(); close(done) }()
	for open := true; open; {
		select {
		case <-done:
			open = false
		default:
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if s := string(got); s != a && s != b {
			t.Fatalf("read %d bytes that nobody wrote", len(s))
		}
	}
}

func TestOverWritesOnlyWhatItKnew(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := WriteFile(path, []byte("x"), 0o600, Over([]byte("x"), false)); !errors.Is(err, ErrChanged) {
		t.Errorf("a missing file: %v", err)
	}
	if err := WriteFile(path, []byte("one"), 0o600, Over(nil, true)); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, []byte("x"), 0o600, Over(nil, true)); !errors.Is(err, ErrChanged) {
		t.Errorf("a file that came to be: %v", err)
	}
	if err := WriteFile(path, []byte("x"), 0o600, Over([]byte("other"), false)); !errors.Is(err, ErrChanged) {
		t.Errorf("another content: %v", err)
	}
	want(t, path, "one", 0o600)
	if err := WriteFile(path, []byte("two"), 0o600, Over([]byte("one"), false)); err != nil {
		t.Fatal(err)
	}
	want(t, path, "two", 0o600)
	clean(t, dir, "f")
}
