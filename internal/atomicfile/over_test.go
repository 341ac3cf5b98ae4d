package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestOverLosesNoEdit: another program replaces the file as fast as it can while we write over what we knew. Whatever we do, the
// file always holds its newest word, or ours that was made from it.
func TestOverLosesNoEdit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	write(t, path, "0", 0o600)
	if err := swap(path, path); errors.Is(err, ErrNoSwap) {
		t.Skip("NOT TESTED: files cannot change places in", dir)
	}
	var ended atomic.Bool
	done := make(chan struct{})
	var wrote atomic.Int64
	go func() {
		defer close(done)
		for !ended.Load() {
			have, err := os.ReadFile(path)
			if err != nil {
				continue // writing changed nothing
			}
			ours := strings.TrimSuffix(string(have), " ours") + " ours"
			if err := WriteFile(path, []byte(ours), 0o600, Over(have, false)); err == nil {
				wrote.Add(1)
			} else if !errors.Is(err, ErrChanged) {
				t.Error(err)
				return
			}
		}
	}()
	temp := filepath.Join(dir, "theirs")
	lost := 0
	last := ""
	for n := 1; n <= 3000 || wrote.Load() == 0 && n < 4000; n++ { // on a busy machine we may need calmer ones to come to write
		if n > 3000 && n%3 == 1 {
			time.Sleep(10 * time.Millisecond)
		}
		last = strconv.Itoa(n)
		if err := os.WriteFile(temp, []byte(last), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(temp, path); err != nil {
			t.Fatal(err)
		}
		if n%3 > 0 {
			continue // twice in a row: what goes back in may be old already
		}
		for { // ours may be on its way out: it settles within its step
			b, err := os.ReadFile(path)
			if err == nil && (string(b) == last || string(b) == last+" ours") {
				break
			}
			if lost++; lost > 100_000 {
				t.Fatalf("%q was written last, and the file holds %q", last, b)
			}
		}
	}
	ended.Store(true)
	<-done
	b, err := os.ReadFile(path)
	if err != nil || strings.TrimSuffix(string(b), " ours") != last {
		t.Errorf("the file holds %q, %v", b, err)
	}
	if wrote.Load() == 0 {
		t.Error("we never came to write: nothing was tested")
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*.tmp"))
	if err != nil || len(left) > 0 {
		t.Error("left behind:", left, err)
	}
}
