package squash

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pack makes an image of a folder, as seal.sh does.
func pack(t testing.TB, dir string, flags ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath("mksquashfs"); err != nil {
		t.Skip("NOT TESTED: there is no mksquashfs (Debian: squashfs-tools)")
	}
	out := filepath.Join(t.TempDir(), "image")
	args := append([]string{dir, out, "-root-owned", "-no-xattrs", "-no-progress", "-quiet", "-comp", "gzip"}, flags...)
	if b, err := exec.Command("mksquashfs", args...).CombinedOutput(); err != nil {
		t.Fatalf("mksquashfs: %v\n%s", err, b)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// write puts a file into a folder, with a time.
func write(t testing.TB, path string, content []byte, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	when := time.Unix(1_700_000_000, 0)
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
}

// noise is content that zlib cannot make smaller.
func noise(n int) []byte {
	b := make([]byte, n)
	src := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)})
	_, _ = src.Read(b)
	return b
}

// sample is a folder with everything that the reader reads: empty files and folders, files of less than a block, of exactly one, of many with
// an end, that pack well and not at all, a hole, links, a folder whose list is longer than a block of metadata.
func sample(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	const block = 128 << 10
	write(t, filepath.Join(dir, "AppRun"), []byte("#!/bin/sh\necho started\n"), 0o755)
	for n, size := range map[string]int{"empty": 0, "one": 1, "less": block - 1, "block": block, "more": block + 1, "many": 5*block + 4321} {
		write(t, filepath.Join(dir, "plain", n), bytes.Repeat([]byte("termic "), size/7+1)[:size], 0o644)
		write(t, filepath.Join(dir, "noise", n), noise(size), 0o600)
	}
	hole := filepath.Join(dir, "hole")
	write(t, hole, []byte("begin"), 0o644)
	if err := os.Truncate(hole, 3*block+7); err != nil {
		t.Fatal(err)
	}
	for i := range 700 {
		write(t, filepath.Join(dir, "long", fmt.Sprintf("%03d-%s", i, strings.Repeat("x", 40))), []byte(fmt.Sprint(i)), 0o444)
	}
	for _, d := range []string{"nothing", "a/b/c/d/e"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{".DirIcon": "termic.svg", "far": "/etc/passwd", "up": "../../..", "wide": strings.Repeat("y", 300)} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestWhatWasPackedIsRead compares an image with the folder that it was made of, entry by entry and byte by byte, packed in each way that
// mksquashfs has for the parts.
func TestWhatWasPackedIsRead(t *testing.T) {
	dir := sample(t)
	for _, flags := range [][]string{nil, {"-b", "4096"}, {"-b", "1M"}, {"-no-fragments"}, {"-always-use-fragments"}, {"-noI"}, {"-noD", "-noF"}, {"-no-exports"}, {"-nopad"}, {"-Xcompression-level", "1"}} {
		t.Run(strings.Join(append(flags, "."), " "), func(t *testing.T) {
			image := pack(t, dir, flags...)
			i, err := Open(bytes.NewReader(image), int64(len(image)))
			if err != nil {
				t.Fatal(err)
			}
			entries, err := i.Entries()
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for _, e := range entries {
				seen[e.Path] = true
				compare(t, i, e, filepath.Join(dir, e.Path))
			}
			err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
				if rel, _ := filepath.Rel(dir, path); !seen[rel] {
					t.Errorf("%s was packed and not read", rel)
				}
				return err
			})
			if err != nil || len(seen) != len(entries) {
				t.Errorf("%d entries, %d names: %v", len(entries), len(seen), err)
			}
		})
	}
}

func compare(t *testing.T, i *Image, e Entry, path string) {
	t.Helper()
	st, err := os.Lstat(path)
	if err != nil {
		t.Error(err)
		return
	}
	if e.Mode != st.Mode() || !e.Time.Equal(st.ModTime().Truncate(time.Second)) {
		t.Errorf("%s: %v %v, was %v %v", e.Path, e.Mode, e.Time, st.Mode(), st.ModTime())
	}
	switch {
	case e.Mode.IsRegular():
		want, err := os.ReadFile(path)
		var got bytes.Buffer
		if err := errors.Join(err, i.Copy(&got, e)); err != nil || !bytes.Equal(got.Bytes(), want) || e.Size != int64(len(want)) {
			t.Errorf("%s: %d bytes, were %d: %v", e.Path, got.Len(), len(want), err)
		}
	case e.Mode&fs.ModeSymlink != 0:
		if want, err := os.Readlink(path); err != nil || e.Link != want {
			t.Errorf("%s: leads to %q, was %q: %v", e.Path, e.Link, want, err)
		}
	}
}

// TestWhatIsNoImageIsRefused: each in the words of the package.
func TestWhatIsNoImageIsRefused(t *testing.T) {
	good := pack(t, sample(t))
	change := func(at int, to ...byte) []byte {
		b := bytes.Clone(good)
		copy(b[at:], to)
		return b
	}
	for name, b := range map[string][]byte{
		"nothing":             nil,
		"half a head":         good[:50],
		"cut off":             good[:len(good)/2],
		"another magic":       change(0, 'x'),
		"another compression": change(20, 6),
		"another version":     change(28, 3),
		"odd blocks":          change(12, 1),
		"blocks of nothing":   change(12, 0, 0, 0, 0),
		"other blocks":        change(22, 12),
		"a table far out":     change(64, 0xff, 0xff, 0xff, 0x7f),
		"a table before all":  change(72, 0, 0, 0, 0, 0, 0, 0, 0),
		"fragments far out":   change(80, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
		"a root far out":      change(32, 0xff, 0xff, 0xff, 0xff, 0xff),
	} {
		if err := readAll(b); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	file := filepath.Join(t.TempDir(), "devices")
	if err := os.Mkdir(file, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("mkfifo", filepath.Join(file, "pipe")).Run(); err != nil {
		t.Fatal(err)
	}
	if err := readAll(pack(t, file)); !errors.Is(err, ErrDamaged) {
		t.Errorf("a pipe: %v", err)
	}
}

// readAll reads all that an image has.
func readAll(b []byte) error {
	i, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err
	}
	entries, err := i.Entries()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Mode.IsRegular() {
			if err := i.Copy(io.Discard, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// FuzzImage: whatever the bytes are, reading ends, without a panic, with what the bounds allow.
func FuzzImage(f *testing.F) {
	dir := f.TempDir()
	write(f, filepath.Join(dir, "AppRun"), []byte("#!/bin/sh\n"), 0o755)
	write(f, filepath.Join(dir, "a", "b"), noise(9000), 0o644)
	if err := os.Symlink("a/b", filepath.Join(dir, "link")); err != nil {
		f.Fatal(err)
	}
	if _, err := exec.LookPath("mksquashfs"); err == nil {
		for _, flags := range [][]string{{"-b", "4096"}, {"-b", "4096", "-noI", "-noD", "-noF", "-noId"}} {
			f.Add(pack(f, dir, append(flags, "-nopad")...))
		}
	}
	f.Add([]byte("hsqs"))
	f.Fuzz(func(t *testing.T, b []byte) {
		i, err := Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		entries, err := i.Entries()
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		for n, e := range entries {
			if e.Path != "." && !filepath.IsLocal(e.Path) || n > 0 && e.Path == "." {
				t.Fatalf("an entry is called %q", e.Path)
			}
			if n < 20 && e.Mode.IsRegular() && e.Size < 4<<20 { // a hole may be as large as all bounds
				var out bytes.Buffer
				if err := i.Copy(&out, e); err == nil && int64(out.Len()) != e.Size {
					t.Fatalf("%d bytes of %d", out.Len(), e.Size)
				}
			}
		}
	})
}
