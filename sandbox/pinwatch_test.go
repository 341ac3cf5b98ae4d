package sandbox

import (
	"os"
	"testing"
	"time"
)

// TestAReplacedPinIsTold: git outside replaces a file that a running cage sees read-only by renaming another over it. That is told, once,
// with the path. What only changes inside the file, or lies beside it, is not.
func TestAReplacedPinIsTold(t *testing.T) {
	h := newHouse(t)
	h.file(h.wt+"/.envrc", "export A=1\n")
	p := h.compose(func(w *Wish) { w.Pinned = []string{".envrc"} })
	told := make(chan string, 8)
	w, err := p.WatchPins(func(path string) { told <- path })
	if err != nil || w == nil {
		t.Fatalf("%v, %v", w, err)
	}
	h.file(h.wt+"/.envrc", "export A=2\n") // the same file
	h.file(h.wt+"/beside", "x\n")
	h.file(h.wt+"/new", "export A=3\n")
	select {
	case path := <-told:
		t.Fatalf("%s was told before it was replaced", path)
	case <-time.After(100 * time.Millisecond): // nothing can be awaited here: this shows that nothing comes
	}
	if err := os.Rename(h.wt+"/new", h.wt+"/.envrc"); err != nil {
		t.Fatal(err)
	}
	select {
	case path := <-told:
		if path != h.wt+"/.envrc" {
			t.Errorf("told %s", path)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("nobody was told")
	}
	if err := os.Remove(h.wt + "/.envrc"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if len(told) != 0 {
		t.Errorf("told again: %s", <-told)
	}
}

// TestARemovedPinIsTold: a file that is gone can be written anew by the cage, so it is no better than a replaced one.
func TestARemovedPinIsTold(t *testing.T) {
	h := newHouse(t)
	h.file(h.wt+"/.envrc", "export A=1\n")
	p := h.compose(func(w *Wish) { w.Pinned = []string{".envrc"} })
	told := make(chan string, 8)
	w, err := p.WatchPins(func(path string) { told <- path })
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := os.Remove(h.wt + "/.envrc"); err != nil {
		t.Fatal(err)
	}
	select {
	case path := <-told:
		if path != h.wt+"/.envrc" {
			t.Errorf("told %s", path)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("nobody was told")
	}
}

// TestNothingIsPinned: without a cage there is nothing to watch, and to end that does nothing.
func TestNothingIsPinned(t *testing.T) {
	p, err := Compose(Wish{Mode: Off})
	if err != nil {
		t.Fatal(err)
	}
	w, err := p.WatchPins(func(path string) { t.Errorf("told %s", path) })
	if w != nil || err != nil {
		t.Errorf("%v, %v", w, err)
	}
	w.Close()
}
