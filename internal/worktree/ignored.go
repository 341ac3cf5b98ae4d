package worktree

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"termic/internal/fault"
)

// Bounds of the walk through ignored files. Past them files are still counted as a loss, only no longer measured.
const (
	maxIgnoredWalk    = 200_000         // files
	maxIgnoredTime    = 3 * time.Second // of walking and comparing
	maxIgnoredCompare = 1 << 20         // bytes of a file that is compared with the main checkout's
)

// ignoredHeld counts the ignored files of a checkout that the main checkout does not have just so, and describes them:
// one line for each file or folder that an ignore rule matched. Links are not counted; what they lead to stays. The digest is over
// the names, sizes and times of what was counted.
func (r *Repo) ignoredHeld(ctx context.Context, at place) (count int, items []string, digest string, err error) {
	names, err := r.git.records(ctx, command{at: at, args: []string{"ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"}})
	if err != nil || len(names) == 0 {
		return 0, nil, "", err
	}
	root, err := os.OpenRoot(at.workTree)
	if err != nil {
		return 0, nil, "", fault.Wrap(err, fault.Unavailable, "The worktree cannot be opened")
	}
	defer root.Close()
	w := &ignoredWalk{root: root, until: time.Now().Add(maxIgnoredTime), sum: sha256.New()}
	if r.main != "" {
		if w.main, err = os.OpenRoot(r.main); err == nil {
			defer w.main.Close()
		}
	}
	for _, name := range names {
		before, size := w.files, w.bytes
		w.visit(strings.TrimSuffix(name, "/"))
		switch n := w.files - before; {
		case n > 0 && strings.HasSuffix(name, "/"):
			items = append(items, fmt.Sprintf("%s (%d files, %s; not kept by the backup)", printable(name, 200), n, sizeText(w.bytes-size)))
		case n > 0:
			items = append(items, fmt.Sprintf("%s (%s; not kept by the backup)", printable(name, 200), sizeText(w.bytes-size)))
		}
	}
	if w.cut { // how far it came says nothing
		items = append([]string{"more files than were counted"}, items...)
		w.sum.Reset()
		fmt.Fprintf(w.sum, "%q", names)
	}
	return w.files, items, hex.EncodeToString(w.sum.Sum(nil)), nil
}

// ignoredWalk adds up files through os.Root.
type ignoredWalk struct {
	root, main *os.Root // main may be nil
	until      time.Time
	files      int
	bytes      int64
	cut        bool
	sum        hash.Hash
}

func (w *ignoredWalk) visit(name string) {
	_ = fs.WalkDir(w.root.FS(), name, func(p string, d fs.DirEntry, err error) error {
		if d == nil || err != nil && !d.IsDir() {
			return nil
		}
		if err != nil { // a folder that cannot be read may hold anything
			w.files++
			return fs.SkipDir
		}
		if w.files >= maxIgnoredWalk || time.Now().After(w.until) {
			w.cut = true
			w.files++
			return fs.SkipAll
		}
		if !d.Type().IsRegular() {
			return nil
		}
		info, err := d.Info()
		if err == nil && !w.sameInMain(p, info) {
			w.files++
			w.bytes += info.Size()
			fmt.Fprintf(w.sum, "%q %s\n", p, stampOf(info))
		}
		return nil
	})
}

// sameInMain reports whether the main checkout has the very same file: a copy made for the worktree is no loss.
func (w *ignoredWalk) sameInMain(name string, info fs.FileInfo) bool {
	if w.main == nil || info.Size() > maxIgnoredCompare {
		return false
	}
	st, err := w.main.Stat(filepath.FromSlash(name))
	if err != nil || st.Size() != info.Size() || !st.Mode().IsRegular() {
		return false
	}
	same, err := sameContent(w.root, w.main, name)
	return err == nil && same
}

// sameContent compares the bytes of a file in two roots.
func sameContent(a, b *os.Root, name string) (bool, error) {
	fa, err := openFile(a, name)
	if err != nil {
		return false, err
	}
	defer fa.Close()
	fb, err := openFile(b, name)
	if err != nil {
		return false, err
	}
	defer fb.Close()
	return sameBytes(fa, fb)
}

func sameBytes(a, b io.Reader) (bool, error) {
	x, y := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, errA := io.ReadFull(a, x)
		m, errB := io.ReadFull(b, y)
		if n != m || !bytes.Equal(x[:n], y[:m]) {
			return false, nil
		}
		endA := errA == io.EOF || errA == io.ErrUnexpectedEOF
		endB := errB == io.EOF || errB == io.ErrUnexpectedEOF
		switch {
		case endA && endB:
			return true, nil
		case errA != nil && !endA:
			return false, errA
		case errB != nil && !endB:
			return false, errB
		case endA != endB:
			return false, nil
		}
	}
}

func sizeText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

// isNotDir reports that a part of a path is a file.
func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// parents returns the folders above a slash-separated name, the nearest first.
func parents(name string) []string {
	var out []string
	for d := path.Dir(name); d != "." && d != "/"; d = path.Dir(d) {
		out = append(out, d)
	}
	return out
}
