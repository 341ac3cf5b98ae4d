package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// elsewhere answers whether the main checkout has what a worktree has, byte for byte: work that was applied, or copied
// there, is not lost with the worktree, whether it was committed since or not.
type elsewhere struct {
	tree, main *os.Root // either may be nil: then nothing is elsewhere
	until      time.Time
}

func (r *Repo) elsewhere(at place) *elsewhere {
	e := &elsewhere{until: time.Now().Add(maxIgnoredTime)}
	if r.main == "" {
		return e
	}
	var err error
	if e.tree, err = os.OpenRoot(at.workTree); err != nil {
		return &elsewhere{}
	}
	if e.main, err = os.OpenRoot(r.main); err != nil {
		e.main = nil
	}
	return e
}

func (e *elsewhere) close() {
	for _, root := range []*os.Root{e.tree, e.main} {
		if root != nil {
			_ = root.Close() // opened for reading
		}
	}
}

// has reports whether the state of a changed file, its absence included, is in the main checkout as well. What is too
// much to compare is not.
func (e *elsewhere) has(f FileStatus) bool {
	if f.Conflict || f.Submodule || f.Index != '.' && f.Index != '?' && f.Worktree != '.' {
		return false // a third version is in the index
	}
	return e.same(f.Path) && (f.OldPath == "" || e.same(f.OldPath))
}

func (e *elsewhere) same(name string) bool {
	if e.tree == nil || e.main == nil || time.Now().After(e.until) {
		return false
	}
	p := filepath.FromSlash(name)
	a, errA := e.tree.Lstat(p)
	b, errB := e.main.Lstat(p)
	if errA != nil || errB != nil {
		return errors.Is(errA, fs.ErrNotExist) && (errors.Is(errB, fs.ErrNotExist) || isNotDir(errB))
	}
	switch {
	case a.Mode().Type() == fs.ModeSymlink && b.Mode().Type() == fs.ModeSymlink:
		x, errX := e.tree.Readlink(p)
		y, errY := e.main.Readlink(p)
		return errX == nil && errY == nil && x == y
	case !a.Mode().IsRegular() || !b.Mode().IsRegular() || a.Mode()&0o100 != b.Mode()&0o100 || a.Size() != b.Size() || a.Size() > maxElsewhere:
		return false
	}
	same, err := sameContent(e.tree, e.main, name)
	return err == nil && same
}

// maxApplied bounds the files of commits that are compared with the main checkout.
const maxApplied = 10_000

// applied reports whether the main checkout has every file that the commits of a branch have changed, just as the worktree
// has it. What cannot be told is not applied.
func (r *Repo) applied(ctx context.Context, h *holdings) bool {
	if h.gone || r.main == "" || h.tip == "" || h.head != h.tip {
		return false // commits that no branch has, or nothing to compare
	}
	main, err := r.git.text(ctx, command{at: r.here(), args: []string{"rev-parse", "--verify", "--quiet", "HEAD^{commit}"}})
	if err != nil {
		return false
	}
	base, err := r.git.text(ctx, command{at: r.here(), args: []string{"merge-base", "--end-of-options", main, h.tip}})
	if err != nil {
		return false
	}
	names, err := r.git.records(ctx, command{at: r.here(), args: []string{"diff-tree", "-r", "-z", "--name-only", "--no-renames", "--end-of-options", base, h.tip}})
	if err != nil || len(names) > maxApplied {
		return false
	}
	e := r.elsewhere(h.at)
	defer e.close()
	return !slices.ContainsFunc(names, func(name string) bool { return !e.same(name) })
}

// maxElsewhere bounds the size in bytes of a file that is compared with the main checkout's.
const maxElsewhere = 64 << 20
