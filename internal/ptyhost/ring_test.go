package ptyhost

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// The ring holds exactly the end of everything written, under its numbers, and never less than RingBytes of it.
func TestRingLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r ring
		var model []byte
		next := byte(0)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			n := rapid.OneOf(rapid.IntRange(0, 100), rapid.IntRange(0, 9000), rapid.IntRange(0, ringMax+5000)).Draw(t, "n")
			p := make([]byte, n)
			for i := range p {
				next = next*5 + 7
				p[i] = next
			}
			r.write(p)
			model = append(model, p...)
			if r.end != uint64(len(model)) {
				t.Fatalf("end %d, want %d", r.end, len(model))
			}
			if len(r.buf) > ringMax || r.held < min(len(model), RingBytes) || r.held > len(model) {
				t.Fatalf("holds %d in %d of %d", r.held, len(r.buf), len(model))
			}
			from := rapid.IntRange(int(r.start()), len(model)).Draw(t, "from")
			size := rapid.IntRange(0, 5000).Draw(t, "size")
			if got, want := r.read(uint64(from), size), model[from:min(from+size, len(model))]; !bytes.Equal(got, want) {
				t.Fatalf("read %d from %d differs", size, from)
			}
		}
	})
}

func TestRingStaysSmallForLittle(t *testing.T) {
	var r ring
	r.write([]byte("hello"))
	if len(r.buf) > 4096 {
		t.Errorf("%d bytes for a greeting", len(r.buf))
	}
}
