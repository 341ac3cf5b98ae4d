package squash

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Bounds of what is read. An AppDir of Termic has some twenty entries and 31 MB.
const (
	MaxEntries = 10_000  // files, folders and links of one image
	MaxDepth   = 32      // folders in folders
	MaxSize    = 1 << 30 // bytes of all files together

	superSize   = 96         // bytes of the superblock
	magic       = 0x73717368 // "hsqs", with which it begins
	zlibPacked  = 1          // the id of zlib among the compressions
	maxBlock    = 1 << 20    // the largest block of data that the format knows
	metaSize    = 8192       // bytes of an unpacked block of metadata
	metaPlain   = 1 << 15    // in the length of a block of metadata: it is not packed
	dataPlain   = 1 << 24    // in the length of a block of data: it is not packed
	maxMeta     = 16 << 20   // bytes of one table, unpacked: far more than MaxEntries need
	noFragment  = 0xffffffff // the number of the fragment of a file that has none
	fragEntry   = 16         // bytes of an entry of the table of fragments
	fragsInMeta = metaSize / fragEntry
)

// ErrDamaged is what every error of this package is, beside those of the reader below: the bytes are no such image.
var ErrDamaged = errors.New("the file system is damaged")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// An Image is a file system that can be read. It is safe for concurrent use if its reader is.
type Image struct {
	r io.ReaderAt

	Size      int64 // bytes of the image, as its head says; what follows in the reader is filling
	blockSize uint32
	fragments uint32
	root      uint64 // where the inode of the root is
	inodes    int64  // where the tables begin
	folders   int64
	fragTable int64
}

// Open reads the head of an image that begins at the reader's start and ends at or before size.
func Open(r io.ReaderAt, size int64) (*Image, error) {
	var b [superSize]byte
	if _, err := r.ReadAt(b[:], 0); err != nil {
		return nil, short(err, "its head")
	}
	le := binary.LittleEndian
	i := &Image{r: r, Size: int64(le.Uint64(b[40:])), blockSize: le.Uint32(b[12:]), fragments: le.Uint32(b[16:]), root: le.Uint64(b[32:]),
		inodes: int64(le.Uint64(b[64:])), folders: int64(le.Uint64(b[72:])), fragTable: int64(le.Uint64(b[80:]))}
	switch {
	case le.Uint32(b[:]) != magic:
		return nil, damaged("it does not begin as one")
	case le.Uint16(b[28:]) != 4 || le.Uint16(b[30:]) != 0:
		return nil, damaged("it is of version %d.%d", le.Uint16(b[28:]), le.Uint16(b[30:]))
	case le.Uint16(b[20:]) != zlibPacked:
		return nil, damaged("it is packed in another way than zlib (%d)", le.Uint16(b[20:]))
	case i.blockSize < 4096 || i.blockSize > maxBlock || i.blockSize&(i.blockSize-1) != 0 || i.blockSize != 1<<le.Uint16(b[22:]):
		return nil, damaged("its blocks have %d bytes", i.blockSize)
	case i.Size < superSize || i.Size > size:
		return nil, damaged("it says %d bytes, and there are %d", i.Size, size)
	}
	for _, at := range []int64{i.inodes, i.folders} {
		if at < superSize || at >= i.Size {
			return nil, damaged("a table lies outside of it")
		}
	}
	if i.fragments > 0 && (i.fragTable < superSize || i.fragTable >= i.Size) {
		return nil, damaged("a table lies outside of it")
	}
	return i, nil
}

func short(err error, what string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return damaged("it ends within %s", what)
	}
	return fmt.Errorf("read %s: %w", what, err)
}

// read reads n bytes at a place within the image.
func (i *Image) read(at int64, n int, what string) ([]byte, error) {
	if at < 0 || at > i.Size-int64(n) {
		return nil, damaged("%s lies outside of it", what)
	}
	b := make([]byte, n)
	if _, err := i.r.ReadAt(b, at); err != nil {
		return nil, short(err, what)
	}
	return b, nil
}

// unpack undoes zlib, for at most limit bytes.
func unpack(b []byte, limit int) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, damaged("a block cannot be unpacked: %v", err)
	}
	out, err := io.ReadAll(io.LimitReader(z, int64(limit)+1)) // to its end, where its checksum is
	if err != nil {
		return nil, damaged("a block cannot be unpacked: %v", err)
	}
	if len(out) > limit {
		return nil, damaged("a block is larger than blocks are")
	}
	return out, nil
}

// meta reads a block of metadata, and tells where the next one begins.
func (i *Image) meta(at int64) (b []byte, next int64, err error) {
	head, err := i.read(at, 2, "a table")
	if err != nil {
		return nil, 0, err
	}
	n := int(binary.LittleEndian.Uint16(head))
	plain := n&metaPlain != 0
	n &^= metaPlain
	if n == 0 || n > metaSize {
		return nil, 0, damaged("a block of a table has %d bytes", n)
	}
	if b, err = i.read(at+2, n, "a table"); err != nil {
		return nil, 0, err
	}
	if !plain {
		if b, err = unpack(b, metaSize); err != nil {
			return nil, 0, err
		}
	}
	return b, at + 2 + int64(n), nil
}

// A table reads what lies one behind the other over blocks of metadata.
type table struct {
	i    *Image
	rest []byte
	next int64
	seen int
}

// table begins offset bytes into the block at start.
func (i *Image) table(start int64, offset int) (*table, error) {
	b, next, err := i.meta(start)
	if err != nil {
		return nil, err
	}
	if offset > len(b) {
		return nil, damaged("a place in a table lies outside of it")
	}
	return &table{i: i, rest: b[offset:], next: next}, nil
}

// take reads the next n bytes.
func (t *table) take(n int) ([]byte, error) {
	if t.seen += n; t.seen > maxMeta {
		return nil, damaged("a table is too long")
	}
	if n <= len(t.rest) {
		b := t.rest[:n]
		t.rest = t.rest[n:]
		return b, nil
	}
	out := bytes.Clone(t.rest)
	for len(out) < n {
		b, next, err := t.i.meta(t.next)
		if err != nil {
			return nil, err
		}
		if len(b) == 0 {
			return nil, damaged("a block of a table is empty")
		}
		t.next = next
		m := min(n-len(out), len(b))
		out = append(out, b[:m]...)
		t.rest = b[m:]
	}
	return out, nil
}
