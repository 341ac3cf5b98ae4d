package main

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// program builds a small one, with something in it.
func program(t *testing.T, word string) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("NOT TESTED: an AppImage is a thing of Linux")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "main.go"), "package main\nvar word string\nfunc main() { println(word) }\n")
	out := filepath.Join(dir, "program")
	c := exec.Command("go", "build", "-ldflags", "-s -w -X main.word="+word, "-o", out, filepath.Join(dir, "main.go"))
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	if b, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return out
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSeal: the program runs as before, its sections are found where they were, and its last byte is that before the file system.
func TestSeal(t *testing.T) {
	dir := t.TempDir()
	image, out := filepath.Join(dir, "image"), filepath.Join(dir, "out")
	write(t, image, "what stands for a file system")
	sum := sha256.Sum256([]byte("what stands for a file system"))
	p := program(t, hex.EncodeToString(sum[:]))
	if err := run(p, image, out); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b, []byte("what stands for a file system"))
	if string(b[8:11]) != "AI\x02" || at%page != 0 || at+29 != len(b) {
		t.Errorf("the mark is %q, the file system at %d of %d", b[8:11], at, len(b))
	}
	if said, err := exec.Command(out).CombinedOutput(); err != nil || !strings.Contains(string(said), hex.EncodeToString(sum[:])) {
		t.Errorf("it does not run: %v %s", err, said)
	}
	was, now := sections(t, p), sections(t, out)
	if len(was) < 5 || !slices.Equal(was, now) {
		t.Errorf("sections\n%v\nwere\n%v", now, was)
	}
}

// sections tells name and digest of each.
func sections(t *testing.T, path string) []string {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	for _, s := range f.Sections {
		sum := sha256.New()
		if s.Type != elf.SHT_NOBITS && s.Type != elf.SHT_NULL {
			if _, err := io.Copy(sum, s.Open()); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, s.Name+" "+hex.EncodeToString(sum.Sum(nil)))
	}
	return out
}

// TestSealRefuses what does not belong together, and makes no file.
func TestSealRefuses(t *testing.T) {
	dir := t.TempDir()
	image, other, out := filepath.Join(dir, "image"), filepath.Join(dir, "other"), filepath.Join(dir, "out")
	write(t, image, "one")
	sum := sha256.Sum256([]byte("one"))
	write(t, other, "no program, though it has "+hex.EncodeToString(sum[:]))
	for p, words := range map[string]string{program(t, "nothing"): "was not linked with the digest", other: "no program for a 64-bit machine", "/nowhere": "no such file"} {
		if err := run(p, image, out); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", p, err)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a file was made")
	}
	for name, head := range map[string][]byte{"nothing": nil, "32 bits": append([]byte("\x7fELF\x01\x01"), make([]byte, 100)...), "no sections": append([]byte("\x7fELF\x02\x01"), make([]byte, 100)...)} {
		if _, err := Head(head); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
