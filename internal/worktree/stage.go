package worktree

import (
	"bufio"
	"context"
	"io"
	"strings"

	"termic/internal/fault"
)

// Staged says what Stage did.
type Staged struct {
	Paths    []string // sorted
	Warnings []string // sentences for the user
}

// Stage puts the chosen files into the index as they are on disk: changed, new and deleted ones. A name of a rename stands
// for both. Where filters are off (see Plain), a file that is stored through one is refused, since it would be stored in
// another form. A file with a conflict counts as resolved, once its marks are gone.
//
// Errors: fault.InvalidArgument for a path outside of the worktree, fault.NotFound for one that is nowhere,
// fault.Conflict for one without a change, for one that is not as it was seen (data.changed), and while another git holds
// the index. After an error the index is as it was.
func (r *Repo) Stage(ctx context.Context, wt string, o Choice) (Staged, error) {
	return changing(ctx, r, wt, func(c *change) (Staged, error) {
		out, err := c.stage(ctx, o)
		if err != nil || len(out.Paths) == 0 {
			return out, err
		}
		if err := c.hold(ctx); err != nil {
			return Staged{}, err
		}
		return out, c.install()
	})
}

// stage is Stage for the copy of the index.
func (c *change) stage(ctx context.Context, o Choice) (Staged, error) {
	files, err := c.pick(ctx, o, func(f *changedFile) bool { return f.unstaged }, func(f *changedFile) error {
		return fault.New(fault.Conflict, "%s is staged already", printable(f.path, 200))
	})
	if err != nil {
		return Staged{}, err
	}
	var out Staged
	var take []*changedFile
	for _, f := range files {
		switch {
		case f.nested && exactly(o, f):
			return Staged{}, nestedRefused(f)
		case f.nested:
			out.Warnings = append(out.Warnings, printable(f.path, 200)+" is a repository of its own and was not staged")
		case f.submodule && !c.r.plain && exactly(o, f):
			return Staged{}, submoduleRefused(f)
		case f.submodule && !c.r.plain:
			out.Warnings = append(out.Warnings, printable(f.path, 200)+" is a submodule and was not staged")
		default:
			take = append(take, f)
		}
	}
	if len(take) == 0 {
		return out, nil
	}
	if err := c.stageable(ctx, take); err != nil {
		return Staged{}, err
	}
	out.Paths = pathsOf(take)
	if err := c.storable(out.Paths); err != nil {
		return Staged{}, err
	}
	args := []string{"add", "--all", "--force"}
	if c.r.git.version.atLeast(2, 34) {
		args = append(args, "--sparse")
	}
	_, err = c.r.git.run(ctx, command{at: c.at, index: c.index, stdin: nulls(out.Paths), writes: true, timeout: c.r.git.createTimeout,
		args: append(args, "--pathspec-from-file=-", "--pathspec-file-nul")})
	if exitOf(err) >= 0 {
		return Staged{}, fault.Wrap(err, fault.Conflict, "git could not stage the files").WithHint("git says: %s", said(err))
	}
	return out, err
}

// storable refuses more than is worth keeping in a repository, before git reads it all; see MaxKept.
func (c *change) storable(paths []string) error {
	p := packer{root: c.root, names: paths}
	return p.weigh("What was chosen", MaxKept)
}

// exactly reports whether a choice names a file itself.
func exactly(o Choice, f *changedFile) bool {
	for _, p := range o.Paths {
		if strings.TrimSuffix(p, "/") == f.path {
			return true
		}
	}
	return false
}

// stageable refuses files that git would not store as they are meant.
func (c *change) stageable(ctx context.Context, files []*changedFile) error {
	for _, f := range files {
		if f.submodule {
			continue
		}
		e, err := c.fileKind(f.path)
		if err != nil {
			return err
		}
		if e == "odd" {
			return fault.New(fault.Unsupported, "%s is neither file nor link", printable(f.path, 200)).WithHint("git keeps files and links alone.")
		}
		if !f.conflict {
			continue
		}
		marked, err := c.marked(f.path)
		if err != nil {
			return err
		}
		if marked {
			return fault.New(fault.Conflict, "%s still has conflict marks", printable(f.path, 200)).
				WithHint("Resolve them in the file, and save it.").WithData("files", []string{f.path})
		}
	}
	return c.unfiltered(ctx, files)
}

// fileKind is "file", "link", "none" or "odd".
func (c *change) fileKind(name string) (string, error) {
	st, err := lstat(c.root, name)
	switch {
	case err != nil:
		return "", unreadable(err, name)
	case st == nil || st.IsDir():
		return "none", nil
	case st.Mode().IsRegular():
		return "file", nil
	case isLink(st):
		return "link", nil
	}
	return "odd", nil
}

// maxMarked bounds what is read of one file to find conflict marks, in bytes.
const maxMarked = 16 << 20

// marked reports whether a file has the marks that git leaves around a conflict.
func (c *change) marked(name string) (bool, error) {
	kind, err := c.fileKind(name)
	if err != nil || kind != "file" {
		return false, err
	}
	f, err := openFile(c.root, name)
	if err != nil {
		return false, unreadable(err, name)
	}
	defer f.Close()
	b := bufio.NewReaderSize(io.LimitReader(f, maxMarked), 64<<10)
	begun := false
	for {
		line, err := b.ReadSlice('\n')
		switch {
		case strings.HasPrefix(string(line), "<<<<<<< "):
			begun = true
		case begun && strings.HasPrefix(string(line), ">>>>>>> "):
			return true, nil
		}
		for err == bufio.ErrBufferFull { // the rest of a long line
			_, err = b.ReadSlice('\n')
		}
		if err != nil {
			return false, nil // the end, or what cannot be read is judged by git
		}
	}
}

// unfiltered refuses files that a filter belongs to which does not run here.
func (c *change) unfiltered(ctx context.Context, files []*changedFile) error {
	off := map[string]bool{}
	for _, s := range c.at.config {
		if rest, ok := strings.CutPrefix(s.key, "filter."); ok {
			off[rest[:strings.LastIndexByte(rest, '.')]] = true
		}
	}
	if len(off) == 0 {
		return nil
	}
	recs, err := c.r.git.records(ctx, command{at: c.at, index: c.index, stdin: nulls(pathsOf(files)), args: []string{"check-attr", "-z", "--stdin", "filter"}})
	if err != nil {
		return err
	}
	for i := 0; i+2 < len(recs); i += 3 {
		if off[recs[i+2]] && c.files[recs[i]] != nil {
			kind, err := c.fileKind(recs[i])
			if err != nil || kind != "file" {
				continue
			}
			return fault.New(fault.Unsupported, "%s is stored through the filter %q, and no filter runs where a caged agent writes", printable(recs[i], 200), printable(recs[i+2], 60)).
				WithHint("Stage and commit it with git in a terminal of the task.").WithData("files", []string{recs[i]})
		}
	}
	return nil
}

// Unstage makes the index have the chosen files as HEAD has them; what lies on disk stays. A version that is in the index
// and nowhere else, because the file has changed since, is kept first as Discard keeps what it takes: keep is called for it
// as there. Errors are those of Stage.
func (r *Repo) Unstage(ctx context.Context, wt string, o Choice, k Keeping) (Discarded, error) {
	return changing(ctx, r, wt, func(c *change) (Discarded, error) {
		files, err := c.pick(ctx, o, func(f *changedFile) bool { return f.staged && !f.conflict }, func(f *changedFile) error {
			if f.conflict {
				return conflictRefused(f)
			}
			return fault.New(fault.Conflict, "%s is not staged", printable(f.path, 200))
		})
		if err != nil || len(files) == 0 {
			return Discarded{}, err
		}
		d := &discard{change: c, k: k, restages: true}
		for _, f := range files {
			d.pieces = append(d.pieces, piece{Path: []byte(f.path), Index: [2]half{halfOf(f), {Mode: f.head.mode, ID: f.head.id}}})
			// A deletion is not a version, and what lies on disk is one already.
			d.loses = d.loses || f.unstaged && f.index.mode != "0" && !f.submodule
		}
		return d.run(ctx)
	})
}

func conflictRefused(f *changedFile) error {
	return fault.New(fault.Conflict, "%s has a conflict", printable(f.path, 200)).
		WithHint("Resolve it in the file first, then stage it; or abort the merge in a terminal of the task.").WithData("files", []string{f.path})
}
