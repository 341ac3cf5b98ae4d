package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"termic/build/appimage/squash"
)

// Names in the cache folder beside those of digests. What begins with one of the prefixes and is not locked was left by a start that ended early.
const (
	lockName  = ".lock" // held by whoever unpacks or removes
	newPrefix = ".new-"
	oldPrefix = ".old-"
)

// unpacked returns the folder in base that holds this image, whole. Whoever comes first unpacks it; the folder stays locked for this program and what it
// becomes, so that a newer version that cleans up leaves it alone.
func (a *appImage) unpacked(base string) (string, error) {
	if len(payload) == 0 {
		return "", a.verify() // which says why
	}
	entries, err := a.entries()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, payload)
	if hold(dir) && whole(dir, entries) {
		return dir, nil
	}
	unlock, err := lock(filepath.Join(base, lockName))
	if err != nil {
		return "", otherCache("Termic cannot be unpacked: %w", err)
	}
	defer unlock()
	if hold(dir) && whole(dir, entries) { // somebody else was quicker
		return dir, nil
	}
	if err := a.verify(); err != nil {
		return "", err
	}
	if err := a.unpack(base, dir); err != nil {
		return "", err
	}
	sweep(base, payload)
	if !hold(dir) || !whole(dir, entries) {
		return "", otherCache("What was unpacked into %s is not there any more", dir)
	}
	return dir, nil
}

// unpack writes the image beside dir and gives it that name when all of it is on the disk.
func (a *appImage) unpack(base, dir string) error {
	fresh, err := os.MkdirTemp(base, newPrefix)
	if err != nil {
		return otherCache("Termic cannot be unpacked: %w", err)
	}
	defer os.RemoveAll(fresh) // which finds nothing, once it has its name
	if err := a.write(fresh, func(string) bool { return true }); err != nil {
		return err
	}
	if err := away(base, dir); err != nil { // not whole: a cleaner of caches was there, or the power failed
		return otherCache("Termic cannot be unpacked: %w", err)
	}
	if err := os.Rename(fresh, dir); err != nil {
		return otherCache("Termic cannot be unpacked: %w", err)
	}
	return nil
}

// away takes a folder out of the way. Programs that run from it go on.
func away(base, dir string) error {
	old, err := os.MkdirTemp(base, oldPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(old)
	if err := os.Rename(dir, filepath.Join(old, "folder")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// write unpacks what is wanted into dir, which exists, and makes sure that it is on the disk. It leaves dir.
func (a *appImage) write(dir string, wanted func(path string) bool) error {
	entries, err := a.entries()
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir) // what leads out of it is refused
	if err != nil {
		return otherCache("Termic cannot be unpacked: %w", err)
	}
	defer root.Close()
	entries = slices.DeleteFunc(entries, func(e squash.Entry) bool { return !wanted(e.Path) })
	for _, e := range entries {
		if err := a.entry(root, e); err != nil {
			return a.failed(dir, err)
		}
	}
	for _, e := range slices.Backward(entries) { // folders last, since what is put into one changes its time
		if e.Mode.IsDir() {
			if err := errors.Join(root.Chmod(e.Path, e.Mode.Perm()), root.Chtimes(e.Path, e.Time, e.Time)); err != nil {
				return a.failed(dir, err)
			}
		}
	}
	return a.failed(dir, syncFolder(dir))
}

func (a *appImage) failed(dir string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, squash.ErrDamaged):
		return a.damage(err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return otherCache("There is no room to unpack Termic into %s (%w)", dir, err)
	}
	return otherCache("Termic cannot be unpacked into %s: %w", dir, err)
}

func (a *appImage) entry(root *os.Root, e squash.Entry) error {
	if parent := filepath.Dir(e.Path); parent != "." { // of one that a pattern chose
		if err := root.MkdirAll(parent, 0o755); err != nil {
			return err
		}
	}
	switch e.Mode.Type() {
	case fs.ModeDir:
		return root.MkdirAll(e.Path, 0o755)
	case fs.ModeSymlink:
		return root.Symlink(e.Link, e.Path)
	}
	f, err := root.OpenFile(e.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(a.image.Copy(f, e), f.Chmod(e.Mode.Perm()), f.Sync(), f.Close())
	return errors.Join(err, root.Chtimes(e.Path, e.Time, e.Time))
}

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// whole tells whether all of an image is in a folder, by kind, mode, size and time. The bytes are not compared at every start: only the user can
// have changed them.
func whole(dir string, entries []squash.Entry) bool {
	for _, e := range entries {
		st, err := os.Lstat(filepath.Join(dir, e.Path))
		if err != nil || st.Mode().Type() != e.Mode.Type() {
			return false
		}
		if sys, ok := st.Sys().(*syscall.Stat_t); !ok || int(sys.Uid) != os.Geteuid() {
			return false
		}
		if st.Mode()&fs.ModeSymlink != 0 {
			if to, err := os.Readlink(filepath.Join(dir, e.Path)); err != nil || to != e.Link {
				return false
			}
			continue
		}
		if st.Mode() != e.Mode || st.Mode().IsRegular() && (st.Size() != e.Size || !st.ModTime().Equal(e.Time)) {
			return false
		}
	}
	return true
}

// sweep removes what other versions left, unless one of them runs from it, and what starts left that ended early. What cannot be
// removed is tried again by the next version.
func sweep(base, keep string) {
	names, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, n := range names {
		path := filepath.Join(base, n.Name())
		switch {
		case strings.HasPrefix(n.Name(), newPrefix), strings.HasPrefix(n.Name(), oldPrefix):
			_ = os.RemoveAll(path)
		case n.Name() != keep && len(n.Name()) == len(keep) && n.IsDir() && free(path):
			_ = away(base, path)
		}
	}
}
