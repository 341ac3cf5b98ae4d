package squash

import (
	"encoding/binary"
	"io/fs"
	"strings"
	"time"
)

// An Entry is a file, a folder or a link of an image.
type Entry struct {
	Path string      // from the root of the image, with "/", "." for the root itself
	Mode fs.FileMode // kind and permissions; never set-user-id and its like
	Time time.Time   // of the last change, in seconds
	Size int64       // bytes of a file; 0 of others
	Link string      // what a link says; "" of others. It may lead anywhere

	data data
}

// data is where the bytes of a file are.
type data struct {
	start    int64 // of the first block
	blocks   []uint32
	fragment uint32
	offset   uint32 // in the fragment
}

// The kinds of inodes. Each has a long form with a number that is seven higher.
const (
	kindFolder = 1
	kindFile   = 2
	kindLink   = 3
	long       = 7
)

// An inode, with what only folders have.
type inode struct {
	Entry
	listStart  uint32 // where the folder's list is, from the table of folders
	listOffset uint16
	listSize   uint32 // bytes of it
}

// Entries lists the image, folders before what is in them, in the order in which they were packed: by name.
func (i *Image) Entries() ([]Entry, error) {
	root, err := i.inode(i.root)
	if err != nil {
		return nil, err
	}
	if !root.Mode.IsDir() {
		return nil, damaged("its root is no folder")
	}
	root.Path = "."
	w := walk{i: i, entries: []Entry{root.Entry}}
	if err := w.folder(root, 1); err != nil {
		return nil, err
	}
	return w.entries, nil
}

// A walk gathers entries.
type walk struct {
	i       *Image
	entries []Entry
	size    int64
}

func (w *walk) folder(dir inode, depth int) error {
	if depth > MaxDepth {
		return damaged("there are more than %d folders in folders", MaxDepth)
	}
	children, err := w.i.list(dir)
	if err != nil {
		return err
	}
	for _, c := range children {
		n, err := w.i.inode(c.at)
		if err != nil {
			return err
		}
		if n.Path = c.name; dir.Path != "." {
			n.Path = dir.Path + "/" + c.name
		}
		if w.size += n.Size; w.size > MaxSize {
			return damaged("it unpacks to more than %d bytes", MaxSize)
		}
		if len(w.entries) >= MaxEntries {
			return damaged("it has more than %d entries", MaxEntries)
		}
		w.entries = append(w.entries, n.Entry)
		if n.Mode.IsDir() {
			if err := w.folder(n, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// A child is a name in a folder, and where its inode is.
type child struct {
	name string
	at   uint64
}

// list reads the names in a folder. They come sorted, so a name cannot be there twice.
func (i *Image) list(dir inode) ([]child, error) {
	const unlisted = 3 // "." and ".." count, and are not there
	if dir.listSize <= unlisted {
		return nil, nil
	}
	t, err := i.table(i.folders+int64(dir.listStart), int(dir.listOffset))
	if err != nil {
		return nil, err
	}
	var out []child
	le := binary.LittleEndian
	for end := int(dir.listSize) - unlisted; t.seen < end; {
		head, err := t.take(12)
		if err != nil {
			return nil, err
		}
		count, start := le.Uint32(head), le.Uint32(head[4:])
		if count >= 256 {
			return nil, damaged("a folder has a run of %d names", count)
		}
		for range count + 1 {
			b, err := t.take(8)
			if err != nil {
				return nil, err
			}
			at := uint64(start)<<16 | uint64(le.Uint16(b))
			name, err := t.take(int(le.Uint16(b[6:])) + 1)
			if err != nil {
				return nil, err
			}
			if !goodName(string(name)) || len(out) > 0 && out[len(out)-1].name >= string(name) {
				return nil, damaged("a folder has the name %q", name)
			}
			if len(out) >= MaxEntries {
				return nil, damaged("it has more than %d entries", MaxEntries)
			}
			out = append(out, child{string(name), at})
		}
	}
	return out, nil
}

func goodName(s string) bool {
	return s != "" && s != "." && s != ".." && len(s) <= 255 && !strings.ContainsAny(s, "/\x00")
}

// inode reads the inode at a place of the table.
func (i *Image) inode(at uint64) (inode, error) {
	var n inode
	if at>>48 != 0 {
		return n, damaged("an entry lies outside of it")
	}
	t, err := i.table(i.inodes+int64(at>>16), int(at&0xffff))
	if err != nil {
		return n, err
	}
	b, err := t.take(16)
	if err != nil {
		return n, err
	}
	le := binary.LittleEndian
	kind := le.Uint16(b)
	n.Mode = fs.FileMode(le.Uint16(b[2:])).Perm()
	n.Time = time.Unix(int64(le.Uint32(b[8:])), 0)
	switch kind {
	case kindFolder, kindFolder + long:
		return n, n.readFolder(t, kind)
	case kindFile, kindFile + long:
		return n, n.readFile(t, kind, i.blockSize)
	case kindLink, kindLink + long:
		return n, n.readLink(t)
	}
	return n, damaged("an entry is of a kind that is not read here (%d)", kind)
}

func (n *inode) readFolder(t *table, kind uint16) error {
	n.Mode |= fs.ModeDir
	le := binary.LittleEndian
	if kind == kindFolder {
		b, err := t.take(16)
		if err != nil {
			return err
		}
		n.listStart, n.listSize, n.listOffset = le.Uint32(b), uint32(le.Uint16(b[8:])), le.Uint16(b[10:])
		return nil
	}
	b, err := t.take(24)
	if err != nil {
		return err
	}
	n.listSize, n.listStart, n.listOffset = le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint16(b[18:])
	return nil
}

func (n *inode) readFile(t *table, kind uint16, blockSize uint32) error {
	le := binary.LittleEndian
	var size uint64
	if kind == kindFile {
		b, err := t.take(16)
		if err != nil {
			return err
		}
		size = uint64(le.Uint32(b[12:]))
		n.data = data{start: int64(le.Uint32(b)), fragment: le.Uint32(b[4:]), offset: le.Uint32(b[8:])}
	} else {
		b, err := t.take(40)
		if err != nil {
			return err
		}
		size = le.Uint64(b[8:])
		n.data = data{start: int64(le.Uint64(b)), fragment: le.Uint32(b[28:]), offset: le.Uint32(b[32:])}
	}
	if size > MaxSize || n.data.start < 0 {
		return damaged("a file has %d bytes", size)
	}
	n.Size = int64(size)
	count := size / uint64(blockSize)
	if n.data.fragment == noFragment && size%uint64(blockSize) > 0 {
		count++ // otherwise the end of the file is in the fragment
	}
	b, err := t.take(int(count) * 4)
	if err != nil {
		return err
	}
	for ; len(b) > 0; b = b[4:] {
		n.data.blocks = append(n.data.blocks, le.Uint32(b))
	}
	return nil
}

func (n *inode) readLink(t *table) error {
	n.Mode |= fs.ModeSymlink
	b, err := t.take(8)
	if err != nil {
		return err
	}
	size := binary.LittleEndian.Uint32(b[4:])
	if size == 0 || size > 4095 { // PATH_MAX, without the zero at its end
		return damaged("a link has %d bytes", size)
	}
	if b, err = t.take(int(size)); err != nil {
		return err
	}
	if n.Link = string(b); strings.ContainsRune(n.Link, 0) {
		return damaged("a link has a zero byte")
	}
	return nil
}
