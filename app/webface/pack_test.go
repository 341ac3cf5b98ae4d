package webface

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// unpack is what the page does (core/unpack.ts), and refuses what is none of ours.
func unpack(p []byte) ([]byte, error) {
	bad := errors.New("it was not packed by us")
	if len(p) < 5 {
		return nil, bad
	}
	size := int(binary.BigEndian.Uint32(p))
	var out []byte
	at := 4
	length := func(n int) int {
		for more := n == 15; more && at < len(p); at++ {
			n += int(p[at])
			more = p[at] == 255
		}
		return n
	}
	for at < len(p) && len(out) <= size {
		token := int(p[at])
		at++
		n := length(token >> 4)
		if n > len(p)-at {
			return nil, bad
		}
		out = append(out, p[at:at+n]...)
		if at += n; at == len(p) {
			break
		}
		if at+2 > len(p) {
			return nil, bad
		}
		back := int(binary.LittleEndian.Uint16(p[at:]))
		at += 2
		if n = packMatch + length(token&15); back == 0 || back > len(out) || n > size {
			return nil, bad
		}
		for range n {
			out = append(out, out[len(out)-back])
		}
	}
	if len(out) != size {
		return nil, errors.New("another length")
	}
	return out, nil
}

func TestPackIsUndone(t *testing.T) {
	var p packer
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 1, 300), 1, 8).Draw(t, "words")
		var data []byte
		for range rapid.IntRange(1, 400).Draw(t, "count") {
			data = append(data, words[rapid.IntRange(0, len(words)-1).Draw(t, "word")]...)
		}
		small, ok := p.pack(data)
		if !ok {
			return
		}
		if len(small) >= len(data) {
			t.Fatalf("%d bytes became %d", len(data), len(small))
		}
		if got, err := unpack(small); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes: %v", len(data), err)
		}
	})
}

func TestPackPays(t *testing.T) {
	var p packer
	var log strings.Builder
	rng := rand.New(rand.NewPCG(1, 2))
	for log.Len() < 64<<10 {
		fmt.Fprintf(&log, "\x1b[32mok\x1b[0m  \tsrc/module%d/file%d.go:%d: built in %dms\r\n", rng.IntN(20), rng.IntN(200), rng.IntN(2000), rng.IntN(900))
	}
	noise := make([]byte, 64<<10)
	for i := range noise {
		noise[i] = byte(rng.UintN(256))
	}
	for name, c := range map[string]struct {
		data []byte
		most int // 0: stays as it is
	}{
		"a log":         {[]byte(log.String()), (64 << 10) * 45 / 100},
		"the same byte": {bytes.Repeat([]byte("y"), 64<<10), 512},
		"two far apart": {append(append(bytes.Repeat([]byte("a"), 70_000), "the end"...), bytes.Repeat([]byte("a"), 70_000)...), 1024},
		"noise":         {noise, 0},
		"a line":        {[]byte(strings.Repeat("x", packFrom-1)), 0},
	} {
		small, ok := p.pack(c.data)
		if ok != (c.most > 0) || ok && len(small) > c.most {
			t.Errorf("%s: %d bytes became %d (%v)", name, len(c.data), len(small), ok)
		}
		if got, err := []byte(nil), error(nil); ok {
			if got, err = unpack(small); err != nil || !bytes.Equal(got, c.data) {
				t.Errorf("%s: not undone: %v", name, err)
			}
		}
	}
}

func BenchmarkPack(b *testing.B) {
	var p packer
	data := []byte(strings.Repeat("internal/verb/table.go:120:7: declared and not used: x\r\ninternal/cli/text.go:7:1: no such thing as y\r\n", 640))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		p.pack(data)
	}
}
