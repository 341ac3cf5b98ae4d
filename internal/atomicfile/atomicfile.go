// Package atomicfile replaces files in one step, so that a reader and a crash see the old content or the new one, never
// a part.
//
// What it promises: the new content is durable when [WriteFile] returns nil. After an error the target is as it was,
// except that after one that wraps [ErrNotSynced] the new content is there, whole, but may not survive a power cut.
// A symbolic link stays a link and the file that it leads to is replaced, through any chain, also when that file does
// not exist yet; so a file that a dotfile manager keeps elsewhere is written where it is kept. An existing file keeps
// its mode, and its owner and group where the process may set them. What is not a regular file is refused.
//
// What it does not cover: hard links (the other names keep the old content, since a new file takes the place of this
// one), extended attributes and ACLs, and two writers at once (the last one wins whole; who reads, changes and writes
// needs a lock of its own, or [Over] where the other writer has none).
package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// maxLinks is how many links a chain may have before it is called a loop; Linux allows 40.
const maxLinks = 40

// Errors that WriteFile and Resolve wrap.
var (
	ErrLoop       = errors.New("the symbolic links lead in a circle")
	ErrNotRegular = errors.New("not a regular file")
	ErrNotSynced  = errors.New("the folder could not be synced")
	ErrChanged    = errors.New("another program has written the file")
)

// Option changes how WriteFile works.
type Option func(*options)

type options struct {
	keepEqual, exactMode bool
	over                 *expected
}

// KeepEqual leaves a file alone, with its time of change, when it has the very bytes already (and, with ExactMode, the
// mode).
func KeepEqual() Option { return func(o *options) { o.keepEqual = true } }

// ExactMode gives the file the mode even if it exists with another one; for secrets.
func ExactMode() Option { return func(o *options) { o.exactMode = true } }

// WriteFile puts data at path, with exactly mode (whatever the umask) when the file is new. The folder must
// exist. The temporary file is made beside the target, so that the rename never crosses devices.
func WriteFile(path string, data []byte, mode fs.FileMode, opts ...Option) error {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	target, err := Resolve(path)
	if err != nil {
		return err
	}
	old, err := os.Lstat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return fmt.Errorf("look at %s: %w", target, err)
	case !old.Mode().IsRegular():
		return fmt.Errorf("replace %s: %w", target, ErrNotRegular)
	}
	if old != nil {
		if !o.exactMode {
			mode = old.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
		}
		if o.keepEqual && old.Mode().Perm() == mode.Perm() && old.Size() == int64(len(data)) {
			have, err := os.ReadFile(target)
			if err != nil {
				return fmt.Errorf("compare with %s: %w", target, err)
			}
			if bytes.Equal(have, data) {
				return nil
			}
		}
	}
	return replace(target, old, data, mode, o.over)
}

// replace puts a complete temporary file in the place of target, if over allows it.
func replace(target string, old fs.FileInfo, data []byte, mode fs.FileMode, over *expected) error {
	temp, err := writeTemp(target, old, data, mode)
	if err != nil {
		return err
	}
	if over != nil {
		if err := over.putOver(temp, target, data); err != nil {
			return err
		}
	} else if err := os.Rename(temp, target); err != nil {
		return fmt.Errorf("put the new file in place: %w", errors.Join(err, os.Remove(temp)))
	}
	if err := SyncDir(filepath.Dir(target)); err != nil {
		return fmt.Errorf("%w: %w", ErrNotSynced, err)
	}
	return nil
}

// writeTemp writes a temporary file beside target, durable and with its final mode, or leaves nothing behind.
func writeTemp(target string, old fs.FileInfo, data []byte, mode fs.FileMode) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*.tmp")
	if err != nil {
		return "", fmt.Errorf("make a temporary file beside %s: %w", target, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreClosed(f.Close()), os.Remove(f.Name()))
		}
	}()
	if old != nil {
		// Before the mode: a change of owner clears the setuid and setgid bits. Only root can give a file away, so a
		// refusal is no error; the mode is what keeps others out.
		keepOwner(f, old)
	}
	if err := f.Chmod(mode); err != nil {
		return "", fmt.Errorf("set mode of temporary file: %w", err)
	}
	if _, err := f.Write(data); err != nil {
		return "", fmt.Errorf("write temporary file: %w", err)
	}
	if err := f.Sync(); err != nil {
		return "", fmt.Errorf("sync temporary file: %w", err)
	}
	if err := f.Close(); err != nil {
		return "", fmt.Errorf("close temporary file: %w", err)
	}
	return f.Name(), nil
}

func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// Resolve follows the chain of symbolic links at path to the file that it leads to, which need not exist. Links in the
// folders on the way are left to the kernel.
func Resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("absolute path: %w", err)
	}
	for range maxLinks {
		st, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return path, nil
		}
		if err != nil {
			return "", fmt.Errorf("look at %s: %w", path, err)
		}
		if st.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", fmt.Errorf("read link %s: %w", path, err)
		}
		if !filepath.IsAbs(to) {
			// The link is relative to where it really stands: ".." after a linked folder does not undo that link.
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", fmt.Errorf("follow folder of %s: %w", path, err)
			}
			to = dir + string(filepath.Separator) + to
		}
		path, err = cleanReal(to)
		if err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("follow %s: %w", path, ErrLoop)
}

// cleanReal cleans a path without letting ".." cancel a linked folder: the folder is resolved first if it exists.
func cleanReal(path string) (string, error) {
	dir, base := filepath.Split(path)
	if base == "" || base == "." || base == ".." {
		return filepath.Clean(path), nil
	}
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return filepath.Clean(path), nil
	}
	if err != nil {
		return "", fmt.Errorf("follow folder %s: %w", dir, err)
	}
	return filepath.Join(real, base), nil
}
