package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A preparation is an empty file or folder, or a link, that has to be there before a cage starts.
type preparation struct {
	path string
	dir  bool
	link string // what the link says; empty = no link
}

// Prepare makes what the cage needs and what is not there yet: empty files in the repository whose pins would have nothing
// to hold on to (they mean nothing to git while they are empty), the cage's own view of the repository, and in the private
// home the links that lead to grants. It must have succeeded before the cage is started. What is there is left alone.
func (p Policy) Prepare() error {
	for _, m := range p.prepare {
		if err := m.make(); err != nil {
			return fmt.Errorf("prepare a cage: %w", err)
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
	if m.dir {
		return os.MkdirAll(m.path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(m.path), 0o755); err != nil {
		return err
	}
	if m.link != "" {
		if err := os.Symlink(m.link, m.path); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	}
	f, err := os.OpenFile(m.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}
