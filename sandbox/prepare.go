package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"termic/internal/fault"
)

// A preparation is an empty file or folder, or a link, that has to be there before a cage starts. It is made below root and
// nowhere else, whatever links a cage has put on the way: earlier cages could write there.
type preparation struct {
	root string // is made if it is missing
	path string // relative to root
	dir  bool
	link string // what the link says; empty = no link
}

// Prepare makes what the cage needs and what is not there yet: empty files in the repository whose pins would have nothing
// to hold on to (they mean nothing to git while they are empty), the cage's own view of the repository, and in the private
// home the links that lead to grants. It must have succeeded before the cage is started. What is there is left alone.
func (p Policy) Prepare() error {
	for _, m := range p.prepare {
		if err := m.make(); err != nil {
			return fault.Wrap(err, fault.Unavailable, "The cage cannot be built: %q cannot be made", filepath.Join(m.root, m.path)).
				WithHint("Look at what stands there: nothing is made through a link.")
		}
	}
	return nil
}

// Remove takes away what Prepare made for this start alone. Call it when the cage has ended.
func (p Policy) Remove() error {
	if p.gitView == nil {
		return nil
	}
	return os.RemoveAll(p.gitView.dir)
}

func (m preparation) make() error {
	if err := os.MkdirAll(m.root, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(m.root)
	if err != nil {
		return err
	}
	defer root.Close()
	if m.dir {
		return root.MkdirAll(m.path, 0o755)
	}
	if err := root.MkdirAll(filepath.Dir(m.path), 0o755); err != nil {
		return err
	}
	if m.link != "" {
		err = root.Symlink(m.link, m.path)
	} else {
		var f *os.File
		if f, err = root.OpenFile(m.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err == nil {
			err = f.Close()
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
