package worktree

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"termic/internal/fault"
	"termic/internal/ids"
)

// placing is the name that a file has for the moment in which it is written, before it takes its place.
const placing = ".termic-placing-"

// unmoved refuses files that changed since they were looked at, before the first of them is touched.
func (d *discard) unmoved() error {
	leaving := map[string]bool{}
	for _, p := range d.pieces {
		leaving[p.path()] = p.File != nil
		if p.File == nil {
			continue
		}
		if err := d.sameStamp(p.path()); err != nil {
			return err
		}
	}
	return d.free(d.pieces, 1, leaving)
}

func (d *discard) sameStamp(name string) error {
	st, err := lstat(d.root, name)
	if err != nil {
		return unreadable(err, name)
	}
	was, had := d.stamps[name]
	if st == nil && !had || st != nil && had && (stampOf(st) == was || st.IsDir() && was.mode.IsDir()) {
		return nil
	}
	return fault.New(fault.Conflict, "%s changed at this very moment, so nothing was discarded", printable(name, 200)).
		WithHint("Look at it again, and repeat it if that is still meant.").WithData("path", name).WithData("changed", true)
}

// free refuses to put files where something else lies: a file or link where a folder is needed, a folder with more in it
// where a file is to be. leaving are the files that go.
func (c *change) free(pieces []piece, side int, leaving map[string]bool) error {
	for _, p := range pieces {
		if p.File == nil || p.File[side].Mode == "0" {
			continue
		}
		name := p.path()
		for _, dir := range parents(name) {
			if st, err := lstat(c.root, dir); err == nil && st != nil && !st.IsDir() && !leaving[dir] {
				return blockedBy(name, dir)
			}
		}
		st, err := lstat(c.root, name)
		if err != nil || st == nil || !st.IsDir() {
			continue
		}
		other, err := c.otherIn(name, leaving)
		if err != nil {
			return err
		}
		if other != "" {
			return blockedBy(name, other)
		}
	}
	return nil
}

// otherIn finds a file in a folder that does not go; "" when there is none.
func (c *change) otherIn(folder string, leaving map[string]bool) (string, error) {
	found := ""
	err := fs.WalkDir(c.root.FS(), folder, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !e.IsDir() && !leaving[name] {
			found = name
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "The folder %s cannot be read", printable(folder, 200))
	}
	return found, nil
}

// takeAway makes the files as they were prepared. If one changes in the middle of it, those before it are put back.
func (d *discard) takeAway(ctx context.Context) error {
	var did []piece
	for _, gone := range []bool{true, false} {
		for _, p := range d.pieces {
			if p.File == nil || p.File[0] == p.File[1] || (p.File[1].Mode == "0") != gone {
				continue
			}
			err := d.sameStamp(p.path())
			if err == nil {
				did = append(did, p)
				err = d.put(p.path(), p.File[1], d.tmp, p.path())
			}
			if err == nil {
				continue
			}
			if back := d.putAll(ctx, did, 0); back != nil {
				return fault.Wrap(errors.Join(err, back), fault.Unavailable, "The files could not all be discarded, and not all of them could be put back").
					WithHint("They are kept in %s.", d.k.Ref)
			}
			return err
		}
	}
	return nil
}

// put makes the file at a path like one of another folder, or removes it. It is there in one step: a file that is
// half-written has another name.
func (c *change) put(name string, h half, from *os.Root, source string) error {
	p := filepath.FromSlash(name)
	if h.Mode == "0" {
		if st, err := lstat(c.root, name); err != nil || st == nil || st.IsDir() {
			return err // a folder took its place; what is in it is told apart
		}
		return placed(clear1(c.root, name), name)
	}
	if st, err := lstat(c.root, name); err == nil && st != nil && st.IsDir() {
		if err := removeEmpty(c.root, name); err != nil {
			return placed(err, name)
		}
	}
	var content io.Reader
	if h.Mode == "120000" {
		to, err := from.Readlink(filepath.FromSlash(source))
		if err != nil {
			return placed(err, name)
		}
		content = strings.NewReader(filepath.ToSlash(to))
	} else {
		f, err := openFile(from, source)
		if err != nil {
			return placed(err, name)
		}
		defer f.Close()
		content = f
	}
	beside := filepath.Join(filepath.Dir(p), placing+ids.New())
	err := writeEntry(content, c.root, entry{mode: h.Mode, path: filepath.ToSlash(beside)})
	if err == nil {
		err = c.root.Rename(beside, p)
	}
	if err != nil {
		_ = c.root.Remove(beside)
	}
	return placed(err, name)
}

func placed(err error, name string) error {
	if err == nil {
		return nil
	}
	return fault.Wrap(err, fault.Unavailable, "%s could not be written", printable(name, 200)).
		WithHint("Is the disk full, or is the folder write-protected?")
}

// removeEmpty removes a folder in which there are only folders.
func removeEmpty(root *os.Root, name string) error {
	entries, err := fs.ReadDir(root.FS(), name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrExist}
		}
		if err := removeEmpty(root, name+"/"+e.Name()); err != nil {
			return err
		}
	}
	return root.Remove(filepath.FromSlash(name))
}

// putAll makes files as one side of the pieces has them, from the repository. Each content is compared with its id: a cage
// can write the repository's objects.
func (c *change) putAll(ctx context.Context, pieces []piece, side int) error {
	tmp, err := c.contents(ctx, pieces, side)
	if err != nil {
		return err
	}
	defer tmp.Close()
	return c.putFrom(tmp, pieces, side)
}

// contents writes the files of one side of the pieces into a folder of ours, each by its path.
func (c *change) contents(ctx context.Context, pieces []piece, side int) (*os.Root, error) {
	dir, err := os.MkdirTemp(filepath.Dir(c.index), "back-")
	var tmp *os.Root
	if err == nil {
		tmp, err = os.OpenRoot(dir)
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "No temporary folder could be made")
	}
	var files []entry
	for _, p := range pieces {
		if p.File != nil && p.File[side].Mode != "0" {
			files = append(files, entry{p.File[side].Mode, p.File[side].ID, p.path()})
		}
	}
	err = c.r.writeBlobs(ctx, c.at, tmp, files)
	for _, f := range files {
		if err != nil {
			break
		}
		var have entry
		if have, err = c.r.fileNow(tmp, f.path); err == nil && have != f {
			err = fault.New(fault.Unavailable, "What was kept of %s is damaged in the repository", printable(f.path, 200)).
				WithHint("Nothing was put back. `git fsck` tells what is wrong.")
		}
	}
	if err != nil {
		_ = tmp.Close()
		return nil, err
	}
	return tmp, nil
}

func (c *change) putFrom(tmp *os.Root, pieces []piece, side int) error {
	for _, gone := range []bool{true, false} {
		for _, p := range pieces {
			if p.File == nil || (p.File[side].Mode == "0") != gone {
				continue
			}
			if err := c.put(p.path(), p.File[side], tmp, p.path()); err != nil {
				return err
			}
		}
	}
	return nil
}
