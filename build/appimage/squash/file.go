package squash

import (
	"encoding/binary"
	"io"
)

// Copy writes the bytes of a file of this image. What came before an error may have been written.
func (i *Image) Copy(w io.Writer, e Entry) error {
	at, left := e.data.start, e.Size
	for _, word := range e.data.blocks {
		n := min(left, int64(i.blockSize))
		b, err := i.block(at, word, int(n))
		if err != nil {
			return err
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
		at += int64(word &^ dataPlain)
		left -= n
	}
	if left == 0 {
		return nil
	}
	b, err := i.fragment(e.data.fragment)
	if err != nil {
		return err
	}
	if int64(e.data.offset)+left > int64(len(b)) {
		return damaged("the end of a file lies outside of its fragment")
	}
	_, err = w.Write(b[e.data.offset : int64(e.data.offset)+left])
	return err
}

// block reads a block of data that unpacks to exactly want bytes. word is its length, as the format writes it; 0 is a hole.
func (i *Image) block(at int64, word uint32, want int) ([]byte, error) {
	if word == 0 {
		return make([]byte, want), nil
	}
	b, err := i.packed(at, word)
	if err != nil {
		return nil, err
	}
	if len(b) != want {
		return nil, damaged("a block has %d bytes instead of %d", len(b), want)
	}
	return b, nil
}

func (i *Image) packed(at int64, word uint32) ([]byte, error) {
	n := word &^ dataPlain
	if n == 0 || n > i.blockSize {
		return nil, damaged("a block has %d bytes", n)
	}
	b, err := i.read(at, int(n), "a block")
	if err != nil || word&dataPlain != 0 {
		return b, err
	}
	return unpack(b, int(i.blockSize))
}

// fragment reads the block in which the ends of files are.
func (i *Image) fragment(number uint32) ([]byte, error) {
	if number >= i.fragments {
		return nil, damaged("there is no fragment %d", number)
	}
	le := binary.LittleEndian
	where, err := i.read(i.fragTable+int64(number/fragsInMeta)*8, 8, "the table of fragments")
	if err != nil {
		return nil, err
	}
	b, _, err := i.meta(int64(le.Uint64(where)))
	if err != nil {
		return nil, err
	}
	k := int(number%fragsInMeta) * fragEntry
	if k+fragEntry > len(b) {
		return nil, damaged("there is no fragment %d", number)
	}
	return i.packed(int64(le.Uint64(b[k:])), le.Uint32(b[k+8:]))
}
