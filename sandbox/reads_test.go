package sandbox

import (
	"os"
	"testing"
)

// TestReads: what a cage would show of the files of the host, at their own paths.
func TestReads(t *testing.T) {
	h := newHouse(t)
	h.file(h.home+"/docs/a.txt", "a")
	h.file(h.home+"/docs/secret/b.txt", "b")
	h.file(h.priv+"/c.txt", "c")
	h.wish.Layers = append(h.wish.Layers, Layer{Name: "task", Read: []string{h.home + "/docs"}})
	p, err := Compose(h.wish)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		h.wt + "/f":                true,
		h.home + "/docs/a.txt":     true,
		h.home + "/docs":           true,
		h.home + "/other.txt":      false, // the home of the cage is another one
		h.home:                     false,
		h.data + "/token":          false,
		h.priv + "/c.txt":          false, // it is there, under another path
		"/usr/bin":                 true,
		"/nowhere/at/all":          false,
		os.TempDir() + "/drop.txt": false,
	} {
		if got := p.Reads(path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	if !(Policy{mode: Off}).Reads("/etc/passwd") {
		t.Error("without a cage a file is not read")
	}
}
