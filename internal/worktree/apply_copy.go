package worktree

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"termic/internal/fault"
)

// copyState is how an untracked file of the task stands to the main checkout.
type copyState int

const (
	copyFree    copyState = iota // nothing is at its path
	copySame                     // the very same file or link is there
	copyBlocked                  // something else is there, or on the way to it
	copyOdd                      // no file and no link: a pipe, a socket, a device
)

// blocked lists the paths of dst where something would be overwritten: untracked files of the task that are there with
// other content, files that the patch adds where an ignored one lies or whose folder is an ignored file or link, and
// files that the patch touches while an index flag hides that they were changed.
func (a *application) blocked(ctx context.Context) ([]string, error) {
	hidden, err := a.hidden(ctx)
	if err != nil {
		return nil, err
	}
	leaving := map[string]bool{} // files that the patch takes away
	for _, c := range a.pending {
		if c.mode == "0" {
			leaving[c.path] = true
		}
	}
	var out []string
	for _, c := range a.pending {
		added := c.oldMode == noMode && c.mode != "160000"
		if hidden[c.path] || added && (a.untrackedAt(c.path) || a.barred(c.path, leaving)) {
			out = append(out, c.path)
		}
	}
	for _, f := range a.untracked {
		state, err := a.compareUntracked(f.Path, leaving)
		if err != nil {
			return nil, err
		}
		switch state {
		case copyBlocked:
			out = append(out, f.Path)
		case copyOdd:
			a.warnings = append(a.warnings, printable(f.Path, 200)+" is neither file nor link and was not copied")
		}
	}
	return out, nil
}

// untrackedAt reports whether dst has a file at a path that its tree does not have.
func (a *application) untrackedAt(name string) bool {
	st, err := a.dstRoot.Lstat(filepath.FromSlash(name))
	return err == nil && !st.IsDir() && !a.inDst[name]
}

// barred reports whether something that is no folder lies on the way to a path of dst. git would follow a link there out
// of the checkout, and stop at a file when half of the change is written.
func (a *application) barred(name string, leaving map[string]bool) bool {
	for _, dir := range parents(name) {
		st, err := a.dstRoot.Lstat(filepath.FromSlash(dir))
		if err == nil && !st.IsDir() && !leaving[dir] {
			return true
		}
	}
	return false
}

// hidden lists the tracked files of dst that were changed behind an "assume unchanged" or "skip worktree" flag. Status
// does not show them, so dst counts as clean.
func (a *application) hidden(ctx context.Context) (map[string]bool, error) {
	if len(a.pending) == 0 {
		return nil, nil
	}
	index, done, err := a.r.unhidden(ctx, a.dst)
	if err != nil || index == "" {
		return nil, err
	}
	defer done()
	st, err := a.r.statusBy(ctx, a.dst, index)
	out := map[string]bool{}
	for _, f := range st.files {
		out[f.Path] = f.Index != '?'
	}
	return out, err
}

// compareUntracked looks at the place in dst where an untracked file of the task is to go. leaving are the files that
// the patch takes away before.
func (a *application) compareUntracked(name string, leaving map[string]bool) (copyState, error) {
	p := filepath.FromSlash(name)
	if a.barred(name, leaving) {
		return copyBlocked, nil
	}
	src, err := a.srcRoot.Lstat(p)
	if err != nil {
		return copyFree, fault.Wrap(err, fault.Conflict, "%s changed while it was read", printable(name, 200)).WithHint("Try again.")
	}
	if !src.Mode().IsRegular() && src.Mode()&fs.ModeSymlink == 0 {
		return copyOdd, nil
	}
	dst, err := a.dstRoot.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist) || isNotDir(err) || err == nil && leaving[name]:
		return copyFree, nil
	case err != nil:
		return copyBlocked, nil
	case src.Mode()&fs.ModeSymlink != 0:
		return a.compareLinks(p, dst)
	case !dst.Mode().IsRegular() || dst.Size() != src.Size() || dst.Mode()&0o100 != src.Mode()&0o100:
		return copyBlocked, nil
	}
	same, err := sameContent(a.srcRoot, a.dstRoot, name)
	if err != nil || !same {
		return copyBlocked, err
	}
	return copySame, nil
}

func (a *application) compareLinks(p string, dst fs.FileInfo) (copyState, error) {
	if dst.Mode()&fs.ModeSymlink == 0 {
		return copyBlocked, nil
	}
	x, err1 := a.srcRoot.Readlink(p)
	y, err2 := a.dstRoot.Readlink(p)
	if err := errors.Join(err1, err2); err != nil || x != y {
		return copyBlocked, err
	}
	return copySame, nil
}

// copyUntracked copies the untracked files of the task that dst lacks, and returns how many. Links stay links, wherever
// they point to; the executable bit is kept.
func (a *application) copyUntracked() (int, error) {
	n := 0
	for _, f := range a.untracked {
		state, err := a.compareUntracked(f.Path, nil)
		if err != nil {
			return n, err
		}
		switch state {
		case copySame, copyOdd:
			continue
		case copyBlocked: // it was free a moment ago
			return n, fault.New(fault.Conflict, "%s appeared in the main checkout meanwhile", printable(f.Path, 200))
		}
		if err := a.copyOne(f.Path); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func (a *application) copyOne(name string) error {
	p := filepath.FromSlash(name)
	st, err := a.srcRoot.Lstat(p)
	if err != nil {
		return err
	}
	e := entry{mode: "100644", path: name}
	var content io.Reader
	if st.Mode()&fs.ModeSymlink != 0 {
		to, err := a.srcRoot.Readlink(p)
		if err != nil {
			return err
		}
		e.mode, content = "120000", strings.NewReader(filepath.ToSlash(to))
	} else {
		f, err := openFile(a.srcRoot, name)
		if err != nil {
			return err
		}
		defer f.Close()
		content = f
		if st.Mode()&0o100 != 0 {
			e.mode = "100755"
		}
	}
	a.copied = append(a.copied, name)
	return writeEntry(content, a.dstRoot, e)
}
