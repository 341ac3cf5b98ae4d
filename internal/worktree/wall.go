package worktree

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"termic/internal/childproc"
	"termic/internal/fault"
)

// Wall makes a place in which a program sees nothing of the machine but the system's programs and these paths, and has no
// network. Files and folders of read are there for reading, those of write for writing too; what does not exist is left
// out.
type Wall func(read, write []string) childproc.Starter

// Behind returns the same repository for trees that a cage can write at any moment, while git reads them. Whatever reads
// the files of a tree runs behind the wall: a folder that becomes a link to somewhere else in the middle of a walk leads
// nowhere there. Filters and merge drivers are off, as for every Repo that is not Plain.
func (r *Repo) Behind(wall Wall) *Repo {
	c := *r
	c.plain, c.wall = false, wall
	return &c
}

// readers are the commands that walk through a tree and read its files.
var readers = []string{"status", "diff", "add", "ls-files", "check-attr"}

// exitFatal is the exit code of a git that died, as git's own die() sets it.
const exitFatal = 128

// unsteady gives a git that died over the files of a tree its sentence. An agent moves and removes them at any moment, and
// git takes a file that is gone between two looks for a fault.
func unsteady(c command, err *gitError) error {
	if c.at.workTree == "" || err.code != exitFatal || !slices.Contains(readers, c.args[0]) {
		return err
	}
	return fault.Wrap(err, fault.Unavailable, "git could not read the files of this worktree").
		WithHint("Did they change meanwhile? Try again. git says: %s", said(err))
}

// steadyTries is how often a look at a tree begins anew because the tree moved under it.
const steadyTries = 3

// steady looks at a tree until git gets through it.
func steady[T any](ctx context.Context, look func() (T, error)) (T, error) {
	for try := 1; ; try++ {
		v, err := look()
		if exitOf(err) != exitFatal || fault.CodeOf(err) != fault.Unavailable || try == steadyTries || ctx.Err() != nil {
			return v, err
		}
	}
}

// elsewhere is how a command is started: behind the wall of its place, if it reads the tree.
func (g *Git) elsewhere(c command) childproc.Starter {
	// It fills a folder of ours by the attributes that the tree names, and elsewhere the tree itself.
	fills := c.args[0] == "checkout-index" && c.index != ""
	if c.at.wall == nil || c.at.workTree == "" || !fills && !slices.Contains(readers, c.args[0]) {
		return nil
	}
	read := []string{c.at.workTree, c.at.common, g.bin}
	home := ""
	for _, v := range append(slices.Clone(g.env), c.env...) {
		name, value, _ := strings.Cut(v, "=")
		switch name {
		case "HOME":
			home = value
		case "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM":
			read = append(read, value)
		}
	}
	if home != "" {
		read = append(read, filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config/git"))
	}
	write := []string{filepath.Join(c.at.common, "objects")} // add writes the content of what it adds
	if c.index != "" {
		write = append(write, filepath.Dir(c.index))
	}
	return c.at.wall(read, write)
}

// maxNote bounds a file of git's own notes that is read whole.
const maxNote = 1 << 20

// plainNotes refuses an administrative folder in which a cage has put something else in the place of git's files: git
// would wait for a pipe until its time has run out.
func plainNotes(admin string) error {
	for _, name := range []string{"HEAD", "index", "commondir", "gitdir", "config.worktree"} {
		st, err := os.Lstat(filepath.Join(admin, name))
		if err == nil && !st.Mode().IsRegular() {
			return fault.New(fault.Conflict, "git's own file %s of this worktree is not a file any more", name).
				WithHint("The agent has put something else into %s. Take that away, or archive the task with discard.", admin)
		}
	}
	return nil
}

// openIn opens a regular file of a folder that an agent may write, such as a worktree's administrative folder. No link
// leads out of the folder, and a pipe in the file's place is not waited for.
func openIn(dir, name string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return openFile(root, name)
}

// openFile opens a plain file below a folder. What was one a moment ago may be a pipe by now, and opening that would wait
// for as long as whoever put it there likes.
func openFile(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		_ = f.Close()
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(root.Name(), name), Err: fs.ErrInvalid}
	}
	return f, nil
}

// readIn reads a small file as openIn does.
func readIn(dir, name string) ([]byte, error) {
	f, err := openIn(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxNote))
}
