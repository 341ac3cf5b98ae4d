package clientsetup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"termic/internal/fault"
)

// Limits of what is read. Clients' files are a few kilobytes; Claude Code's also holds what it remembers of each project.
const (
	maxConfig  = 8 << 20
	maxState   = 64 << 20
	maxReceipt = 2*maxConfig + 1<<20
)

// keptBackups is how many copies are kept beside a file.
const keptBackups = 5

// readFile reads a regular file that is not larger than limit. It does not wait for a pipe that lies there instead.
func readFile(path string, limit int64) (doc []byte, missing bool, err error) {
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("look at %s: %w", path, err)
	}
	if !st.Mode().IsRegular() {
		return nil, false, fmt.Errorf("read %s: not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false, fmt.Errorf("read %s: %w", path, err)
	}
	defer func() { _ = f.Close() }() // only read from
	doc, err = io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, false, fmt.Errorf("read %s: %w", path, err)
	}
	if int64(len(doc)) > limit {
		return nil, false, fmt.Errorf("read %s: larger than %d bytes", path, limit)
	}
	return doc, false, nil
}

// backupName is the end of a copy's name.
var backupName = regexp.MustCompile(`^\.termic-\d{8}-\d{6}\.\d{3}(-\d+)?$`)

// backUp puts a copy of a file beside it, for its owner alone, and takes the oldest ones away. It lies where the client
// looks, not behind a link, where it could end up in a repository of dotfiles.
func backUp(file string, doc []byte, now time.Time) (string, error) {
	name := file + now.UTC().Format(".termic-20060102-150405.000")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	for n := 1; errors.Is(err, fs.ErrExist) && n < 100; n++ {
		f, err = os.OpenFile(fmt.Sprintf("%s-%d", name, n), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	}
	if err != nil {
		return "", notBackedUp(file, err)
	}
	_, err = io.Copy(f, bytes.NewReader(doc))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", notBackedUp(file, errors.Join(err, os.Remove(f.Name())))
	}
	return f.Name(), pruneBackups(file)
}

func notBackedUp(file string, err error) error {
	return fault.Wrap(err, fault.Unavailable, "No copy of %s could be put beside it", file).
		WithHint("Nothing was changed. Check that you may write in that folder, and that the disk is not full.")
}

func pruneBackups(file string) error {
	var names []string
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return notBackedUp(file, err)
	}
	for _, e := range entries {
		rest, ok := bytes.CutPrefix([]byte(e.Name()), []byte(filepath.Base(file)))
		if ok && backupName.Match(rest) && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	for _, name := range names[:max(0, len(names)-keptBackups)] {
		if err := os.Remove(filepath.Join(filepath.Dir(file), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return notBackedUp(file, err)
		}
	}
	return nil
}

// writeSecret makes a new file that only its owner can read.
func writeSecret(path string, doc []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep an entry: %w", err)
	}
	_, err = f.Write(doc)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("keep an entry: %w", err)
	}
	return nil
}
