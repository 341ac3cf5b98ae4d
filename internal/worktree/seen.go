package worktree

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"termic/internal/fault"
)

// A signature tells one state of a changed file from another: what the index has of it, and what lies there. Kinds say how
// it was made, so that it can be compared with one of the same making.
const (
	byContent = "c"
	byStamp   = "s" // of a large file: size, times and number, without reading it

	maxSigned    = 4 << 20  // bytes of a file that is read for its signature
	maxSignedAll = 64 << 20 // bytes of all files of one diff
)

func kindOf(seen string) string { return seen[:min(1, len(seen))] }

// sign makes the signature of a file. Whoever shows content makes it before reading that: then what is shown is as old as
// the signature, or newer, and a change in between is noticed.
func (c *change) sign(f *changedFile, kind string) string {
	index := f.index.mode + " " + f.index.id
	switch {
	case f.conflict:
		index = "conflict"
	case f.intent:
		index = "intent"
	}
	return signature(c.root, f.path, index, kind)
}

func signature(root *os.Root, name, index, kind string) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\x00%s\x00", kind, index)
	p := filepath.FromSlash(name)
	st, err := lstat(root, name)
	switch {
	case err != nil || st == nil:
		fmt.Fprint(sum, "-")
	case st.Mode()&fs.ModeSymlink != 0:
		to, err := root.Readlink(p)
		fmt.Fprintf(sum, "l%s %v", to, err)
	case !st.Mode().IsRegular():
		fmt.Fprintf(sum, "o%s", st.Mode().Type())
	default:
		fmt.Fprintf(sum, "f%v ", st.Mode()&0o100 != 0)
		if kind == byStamp {
			fmt.Fprint(sum, stampOf(st))
			break
		}
		f, err := openFile(root, name)
		if err != nil {
			fmt.Fprint(sum, "unreadable")
			break
		}
		_, err = io.Copy(sum, f)
		f.Close()
		if err != nil {
			fmt.Fprint(sum, "unreadable")
		}
	}
	return kind + hex.EncodeToString(sum.Sum(nil)[:8])
}

// signatures are those of every file of a status that differs from HEAD, by path. They are made before the files are read
// for anything else.
func (r *Repo) signatures(at place, st Status) (map[string]string, error) {
	root, err := os.OpenRoot(at.workTree)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "The worktree cannot be opened")
	}
	defer root.Close()
	c := &change{root: root, files: map[string]*changedFile{}}
	for _, f := range st.files {
		c.note(f)
		if f.Worktree == 'R' || f.Worktree == 'C' { // noted to come, and like a file that went
			k := c.files[f.Path]
			k.intent, k.index = true, entry{mode: "0", path: f.Path}
		}
	}
	out := make(map[string]string, len(c.files))
	left := int64(maxSignedAll)
	for name, f := range c.files {
		kind := byContent
		if fi, err := root.Lstat(filepath.FromSlash(name)); err == nil && fi.Mode().IsRegular() {
			if fi.Size() > min(left, maxSigned) {
				kind = byStamp
			} else {
				left -= fi.Size()
			}
		}
		out[name] = c.sign(f, kind)
	}
	return out, nil
}

// stamp tells one state of a file from another without reading it. The time of the last change is the kernel's own; no
// program sets it.
type stamp struct {
	mode                  fs.FileMode
	size, written, change int64
	number                uint64
}

func (s stamp) String() string {
	return fmt.Sprintf("%o %d %d %d %d", s.mode, s.size, s.written, s.change, s.number)
}

func stampOf(st fs.FileInfo) stamp {
	change, number := changedAt(st)
	return stamp{mode: st.Mode(), size: st.Size(), written: st.ModTime().UnixNano(), change: change, number: number}
}

// newBlobHash is a hash that gives git's id of a file of size bytes once these are written to it.
func (r *Repo) newBlobHash(size int64) hash.Hash {
	var h hash.Hash
	if len(r.zeros) == 40 {
		h = sha1.New()
	} else {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", size)
	return h
}

// fileNow is the file at a path as a tree of git would have it, byte for byte. Mode "0": nothing is there.
func (r *Repo) fileNow(root *os.Root, name string) (entry, error) {
	p := filepath.FromSlash(name)
	st, err := lstat(root, name)
	switch {
	case err != nil:
		return entry{}, unreadable(err, name)
	case st == nil || st.IsDir():
		return entry{mode: "0", path: name}, nil
	case st.Mode()&fs.ModeSymlink != 0:
		to, err := root.Readlink(p)
		if err != nil {
			return entry{}, unreadable(err, name)
		}
		to = filepath.ToSlash(to)
		h := r.newBlobHash(int64(len(to)))
		_, err = io.Copy(h, strings.NewReader(to))
		return entry{"120000", hex.EncodeToString(h.Sum(nil)), name}, err
	case !st.Mode().IsRegular():
		return entry{mode: "odd", path: name}, nil
	}
	f, err := openFile(root, name)
	if err != nil {
		return entry{}, unreadable(err, name)
	}
	defer f.Close()
	if st, err = f.Stat(); err != nil {
		return entry{}, unreadable(err, name)
	}
	h := r.newBlobHash(st.Size())
	if n, err := io.Copy(h, f); err != nil || n != st.Size() {
		return entry{mode: "odd", path: name}, err // it is being written
	}
	mode := "100644"
	if st.Mode()&0o100 != 0 {
		mode = "100755"
	}
	return entry{mode, hex.EncodeToString(h.Sum(nil)), name}, nil
}
