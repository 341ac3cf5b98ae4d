package worktree

import (
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"termic/internal/fault"
)

// Choice says which changed files of a worktree an act is about.
type Choice struct {
	// Paths are files or folders, with slashes, below the root of the worktree, or absolute; taken as they are written,
	// never as patterns. A folder stands for every changed file in it.
	Paths []string
	// Seen are the FileChange.Seen of Paths, in their order, as somebody saw them; empty ones are not compared. nil: nobody
	// looked. A file that is not as it was seen stops the act.
	Seen []string
	All  bool // every changed file, in the stead of Paths
}

// change is one act on the files and the index of a worktree. Git works on a copy of the index; it takes the place of the
// index at the end, if nobody else has changed that. It has no goroutine.
type change struct {
	r     *Repo
	at    place
	root  *os.Root
	index string // the copy
	done  func() // removes its folder
	was   []byte // the index as it was copied
	st    Status // by the copy; a rename is two files here
	files map[string]*changedFile
	names []string // keys of files, sorted
	lock  *os.File // git's own lock of the index, while it is held
	admin *os.Root
}

// changedFile is what is known of one path. Something can be taken out of the index and lie there untracked: then both
// hold.
type changedFile struct {
	path        string
	staged      bool  // the index differs from HEAD
	unstaged    bool  // the file differs from the index
	untracked   bool  // it is not in the index
	head, index entry // mode "0": not there
	intent      bool  // the index notes that it will come, without content
	conflict    bool
	submodule   bool
	nested      bool // an untracked repository of its own; path without its slash
}

const indexLock = "index.lock"

// change begins an act on the checkout at wt.
func (r *Repo) change(ctx context.Context, wt string) (*change, error) {
	at, err := r.enter(ctx, wt)
	if err != nil {
		return nil, err
	}
	// A full index: a split one would leave a part of the copy behind in the checkout's own folder.
	at.config = append(slices.Clone(at.config), setting{"core.splitIndex", "false"})
	c := &change{r: r, at: at}
	if c.index, c.done, err = copyIndex(at); err != nil {
		return nil, err
	}
	if err = c.open(ctx); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *change) open(ctx context.Context) (err error) {
	if c.was, err = os.ReadFile(c.index); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fault.Wrap(err, fault.Unavailable, "The index of the worktree cannot be read")
	}
	if c.root, err = os.OpenRoot(c.at.workTree); err == nil {
		c.admin, err = os.OpenRoot(c.at.gitDir)
	}
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "The worktree cannot be opened")
	}
	c.st, err = steady(ctx, func() (Status, error) { return c.r.statusWith(ctx, c.at, c.index, "--no-renames") })
	if err != nil {
		return err
	}
	c.files = map[string]*changedFile{}
	for _, f := range c.st.files {
		c.note(f)
	}
	for name := range c.files {
		c.names = append(c.names, name)
	}
	slices.Sort(c.names)
	return nil
}

func (c *change) note(f FileStatus) {
	name := strings.TrimSuffix(f.Path, "/")
	k := c.files[name]
	if k == nil {
		k = &changedFile{path: name, head: entry{mode: "0", path: name}, index: entry{mode: "0", path: name}}
		c.files[name] = k
	}
	k.conflict, k.submodule = k.conflict || f.Conflict, k.submodule || f.Submodule
	if f.Index == '?' {
		k.unstaged, k.untracked, k.nested = true, true, name != f.Path
		return
	}
	if f.Conflict {
		k.staged, k.unstaged = true, true
		return
	}
	k.staged, k.intent = f.Index != '.', f.Worktree == 'A'
	k.unstaged = k.unstaged || f.Worktree != '.'
	k.head, k.index = there(f.head), there(f.index)
	if k.intent {
		k.index = entry{mode: "0", path: name}
	}
}

// there is an entry of a status as an index takes it.
func there(e entry) entry {
	if strings.Trim(e.mode, "0") == "" {
		return entry{mode: "0", path: e.path}
	}
	return e
}

func (c *change) close() {
	if c.lock != nil {
		_ = c.lock.Close()
		_ = c.admin.Remove(indexLock) // ours: it was made by hold
	}
	for _, root := range []*os.Root{c.root, c.admin} {
		if root != nil {
			_ = root.Close()
		}
	}
	c.done()
}

// Waiting for whoever holds git's lock of an index: an agent's own git holds it for moments.
const (
	lockWait  = 2 * time.Second
	lockEvery = 25 * time.Millisecond
)

// hold takes git's lock of the index, and refuses if the index is not as it was copied.
func (c *change) hold(ctx context.Context) (err error) {
	until := time.Now().Add(lockWait)
	for {
		c.lock, err = c.admin.OpenFile(indexLock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if err == nil {
			break
		}
		c.lock = nil
		if !errors.Is(err, os.ErrExist) {
			return fault.Wrap(err, fault.Unavailable, "The index of the worktree cannot be written")
		}
		if time.Now().After(until) || ctx.Err() != nil {
			return fault.Wrap(err, fault.Conflict, "git is at work in this worktree: its index is locked").
				WithHint("Try again when it is done. If no git runs there, one was killed: delete %s.", printable(filepath.Join(c.at.gitDir, indexLock), 300))
		}
		time.Sleep(lockEvery)
	}
	now, err := readAll(c.at.gitDir, "index")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fault.Wrap(err, fault.Unavailable, "The index of the worktree cannot be read")
	}
	if string(now) != string(c.was) {
		return errMoved
	}
	return nil
}

// errMoved says that somebody else changed the index meanwhile. Nothing was done then.
var errMoved = errors.New("the index changed meanwhile")

func readAll(dir, name string) ([]byte, error) {
	f, err := openIn(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// install makes the copy the index. The lock is held, and is gone afterwards.
func (c *change) install() error {
	text, err := os.ReadFile(c.index)
	if errors.Is(err, os.ErrNotExist) {
		return nil // there was none, and nothing has been put into one
	}
	var st os.FileInfo
	if err == nil {
		st, err = os.Stat(c.index)
	}
	if err == nil {
		_, err = c.lock.Write(text)
	}
	if err == nil {
		if mode, merr := c.admin.Lstat("index"); merr == nil && mode.Mode().IsRegular() {
			err = c.lock.Chmod(mode.Mode().Perm())
		}
	}
	if cerr := c.lock.Close(); err == nil {
		err = cerr
	}
	c.lock = nil
	if err == nil { // its time says which files git has to look at again
		err = c.admin.Chtimes(indexLock, st.ModTime(), st.ModTime())
	}
	if err == nil {
		err = c.admin.Rename(indexLock, "index")
	}
	if err != nil {
		_ = c.admin.Remove(indexLock)
		return fault.Wrap(err, fault.Unavailable, "The index of the worktree cannot be written")
	}
	return nil
}

// tries is how often an act begins anew because the index changed under it.
const tries = 3

// changing runs an act, and again where somebody else was quicker.
func changing[T any](ctx context.Context, r *Repo, wt string, act func(*change) (T, error)) (T, error) {
	for try := 1; ; try++ {
		c, err := r.change(ctx, wt)
		if err != nil {
			var none T
			return none, err
		}
		v, err := act(c)
		c.close()
		switch {
		case !errors.Is(err, errMoved):
			return v, err
		case try == tries || ctx.Err() != nil:
			return v, fault.Wrap(err, fault.Conflict, "Something else staged or committed in this worktree at the same moment").
				WithHint("Look at the changes again, and repeat it.")
		}
	}
}

// inTree makes a path of a choice one below the root, with slashes; "." is the root.
func (c *change) inTree(p string) (string, error) {
	out := fault.New(fault.InvalidArgument, "%q is not a path in the worktree", printable(p, 200)).
		WithHint("Name files by their path below %s.", printable(c.at.workTree, 200))
	if p == "" || strings.ContainsRune(p, 0) {
		return "", out
	}
	if filepath.IsAbs(p) {
		rel, err := filepath.Rel(c.at.workTree, filepath.Join(canonical(filepath.Dir(p)), filepath.Base(p)))
		if err != nil {
			return "", out
		}
		p = filepath.ToSlash(rel)
	}
	p = path.Clean(p)
	if p == ".." || strings.HasPrefix(p, "../") || strings.HasPrefix(p, "/") {
		return "", out
	}
	return p, nil
}

// lstat looks at a path of a tree; nil where nothing is. Behind a link nothing is: what it leads to has another path.
func lstat(root *os.Root, name string) (os.FileInfo, error) {
	for _, dir := range slices.Backward(parents(name)) {
		if st, err := root.Lstat(filepath.FromSlash(dir)); err != nil || !st.IsDir() {
			return nil, absent(err)
		}
	}
	st, err := root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return nil, absent(err)
	}
	return st, nil
}

// absent makes an error that only says that nothing is there none.
func absent(err error) error {
	if errors.Is(err, os.ErrNotExist) || isNotDir(err) {
		return nil
	}
	return err
}

func isLink(st os.FileInfo) bool { return st.Mode()&os.ModeSymlink != 0 }

// inFolder reports whether a path is below a folder; every path is below ".".
func inFolder(name, folder string) bool { return folder == "." || strings.HasPrefix(name, folder+"/") }
