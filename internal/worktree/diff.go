package worktree

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
)

// Limits of a Diff.
const (
	defaultPatch = 4 << 20  // bytes of patch when DiffOptions does not say
	maxUntracked = 20000    // untracked files whose lines are counted; more are listed without numbers
	maxCounted   = 64 << 20 // bytes of an untracked file whose lines are counted: git reads all of it, holes too

)

// DiffOptions limit a Diff.
type DiffOptions struct {
	Patch    bool  // with the text of the change
	MaxBytes int64 // of Patch; 0 = 4 MiB
	StatOnly bool  // leave out Files and Commits
}

// Diff is everything that a worktree has and its base has not.
type Diff struct {
	Base       Base
	MergeBase  string // the commit that the worktree is compared with; "" in a repository without commits
	Stat       api.DiffStat
	Files      []api.FileChange
	Back       []api.FileChange // changed since the last commit, and just as in the base by that
	Commits    []api.Commit     // newest first, at most 500
	Patch      []byte
	InProgress string // what the worktree is in the middle of: rebase, merge, ...; "" = nothing
	Truncated  bool   // Patch was cut at MaxBytes, or there are more than 20000 untracked files, or ones above 64 MiB, or files that git cannot compare
	TotalBytes int64  // of the whole patch
}

// Diff compares the files of the worktree at wt, as they are on disk, with the merge base of base and the worktree's
// HEAD: commits, staged, unstaged and untracked changes together. The merge base and not the tip of base, because what
// base got since the worktree left it is not the worktree's doing; against the tip it would show as deletions. When
// base moves on and is merged into the worktree, the merge base moves along. Histories without a common commit are
// compared with base itself. Where files change under git's look, the look is repeated a few times, and after that it is
// fault.Unavailable.
//
// Untracked files count as wholly added. Counts of binary files are 0. Any failure of git is an error, never a zero; a
// repository without commits is no failure: everything in it is untracked or staged, and compared with nothing.
func (r *Repo) Diff(ctx context.Context, wt, base string, o DiffOptions) (Diff, error) {
	at, err := r.enter(ctx, wt)
	if err != nil {
		return Diff{}, err
	}
	return steady(ctx, func() (Diff, error) { return r.diff(ctx, at, base, o) })
}

func (r *Repo) diff(ctx context.Context, at place, base string, o DiffOptions) (Diff, error) {
	d := Diff{}
	against, err := r.against(ctx, at, base, &d)
	if err != nil {
		return Diff{}, err
	}
	st, err := r.status(ctx, at)
	if err != nil {
		return Diff{}, err
	}
	d.InProgress = st.InProgress
	var seen map[string]string
	if !o.StatOnly { // before git reads the files for what is shown
		if seen, err = r.signatures(at, st); err != nil {
			return Diff{}, err
		}
	}
	index, done, err := r.untrackedIndex(ctx, at, st, &d)
	if err != nil {
		return Diff{}, err
	}
	defer done()
	spared, tracked, undo, err := r.spared(ctx, at, st)
	if err != nil {
		return Diff{}, err
	}
	defer undo()
	parts := []part{{command{at: at, index: tracked}, []string{"--find-renames", against}}}
	if index != "" {
		parts = append(parts, part{command{at: at, index: index}, []string{"--no-renames"}})
	}
	if err := r.compare(ctx, parts, &d); err != nil {
		return Diff{}, err
	}
	d.add(spared)
	d.merge(st, seen)
	if o.Patch {
		if err := r.patch(ctx, parts, o.MaxBytes, &d); err != nil {
			return Diff{}, err
		}
	}
	if o.StatOnly {
		d.Files, d.Back = nil, nil
		return d, nil
	}
	d.Commits, err = r.commitsSince(ctx, at, d.MergeBase)
	return d, err
}

// against finds the commit or tree to compare with and notes it in d.
func (r *Repo) against(ctx context.Context, at place, base string, d *Diff) (string, error) {
	b, err := r.ResolveBase(ctx, base)
	if isEmpty(err) {
		return r.emptyTree(ctx)
	}
	if err != nil {
		return "", err
	}
	d.Base = b
	d.MergeBase, err = r.mergeBase(ctx, at, b.Commit)
	return d.MergeBase, err
}

// mergeBase returns the commit where the checkout at left base; base itself when there is none, or no HEAD.
func (r *Repo) mergeBase(ctx context.Context, at place, base string) (string, error) {
	mb, err := r.git.text(ctx, command{at: at, args: []string{"merge-base", "--end-of-options", base, "HEAD"}})
	if exitOf(err) == 1 {
		return base, nil // unrelated histories
	}
	if exitOf(err) > 1 {
		if _, headErr := r.git.text(ctx, command{at: at, args: []string{"rev-parse", "--verify", "--quiet", "HEAD^{commit}"}}); exitOf(headErr) == 1 {
			return base, nil // unborn
		}
	}
	if err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "git could not find where this worktree left its base").WithHint("git says: %s", said(err))
	}
	return mb, nil
}

// emptyTree returns the id of the tree without files, written to the repository in case it is not there.
func (r *Repo) emptyTree(ctx context.Context) (string, error) {
	return r.git.text(ctx, command{at: r.here(), args: []string{"hash-object", "-t", "tree", "-w", "--stdin"}, writes: true})
}

// diffArgs are those of every diff: no programs but git, no configuration that changes the form.
func (r *Repo) diffArgs(more ...string) []string {
	return append([]string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--submodule=short",
		"--src-prefix=a/", "--dst-prefix=b/", r.submodules()}, more...)
}

// part is one of the two comparisons of a Diff: tracked files against the base, and untracked ones against nothing. They
// are apart so that an untracked file is never taken for a tracked one that was renamed.
type part struct {
	command command
	args    []string
}

// compare fills d.Files.
func (r *Repo) compare(ctx context.Context, parts []part, d *Diff) error {
	for i, p := range parts {
		p.command.args = append(r.diffArgs("--raw", "--numstat", "-z", "--abbrev=40"), append(p.args, "--")...)
		out, err := r.git.text(ctx, p.command)
		if err != nil {
			return err
		}
		files, err := parseDiff(out)
		if err != nil {
			return err
		}
		if i == 0 {
			d.Files = files
			continue
		}
		at := d.byPath()
		for _, f := range files {
			f.Status = "untracked"
			if j, ok := at[f.Path]; ok { // was taken out of the index and left on disk
				f.Deletions = d.Files[j].Deletions
				d.Files[j] = f
				continue
			}
			d.Files = append(d.Files, f)
		}
	}
	return nil
}

// add lists files that git was not let compare.
func (d *Diff) add(spared []api.FileChange) {
	at := d.byPath()
	for _, f := range spared {
		if _, ok := at[f.Path]; !ok { // one that was committed as well is there already
			d.Files = append(d.Files, f)
		}
		d.Truncated = true
	}
}

func (d *Diff) byPath() map[string]int {
	at := make(map[string]int, len(d.Files))
	for i, f := range d.Files {
		at[f.Path] = i
	}
	return at
}

// untrackedIndex makes an index that notes the untracked files and nothing else, so that git itself shows them as added.
// It is "" when there are none. done removes it.
func (r *Repo) untrackedIndex(ctx context.Context, at place, st Status, d *Diff) (index string, done func(), err error) {
	root, err := os.OpenRoot(at.workTree)
	if err != nil {
		return "", nil, fault.Wrap(err, fault.Unavailable, "The worktree cannot be opened")
	}
	defer root.Close()
	var names bytes.Buffer
	count := 0
	for _, f := range st.files {
		if f.Index != '?' || strings.HasSuffix(f.Path, "/") { // a folder is a repository of its own
			continue
		}
		if unkeepable(f.Path) { // git would take none of the others either
			d.Truncated = true
			continue
		}
		if _, ok := canCompare(root, f.Path, maxCounted); !ok {
			d.Truncated = true
			continue
		}
		if count++; count > maxUntracked {
			d.Truncated = true
			break
		}
		names.WriteString(f.Path + "\x00")
	}
	if count == 0 {
		return "", func() {}, nil
	}
	index, done, err = tempIndex()
	if err != nil {
		return "", nil, err
	}
	_, err = r.git.run(ctx, command{at: at, index: index, stdin: &names, writes: true,
		args: []string{"add", "--intent-to-add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"}})
	if err != nil {
		done()
		return "", nil, fault.Wrap(err, fault.Conflict, "The untracked files could not be read").
			WithHint("Did they change meanwhile? Try again. git says: %s", said(err))
	}
	return index, done, nil
}

// tempIndex returns a path for another index, in a folder of its own. done removes it.
func tempIndex() (index string, done func(), err error) {
	dir, err := os.MkdirTemp("", "termic-index-")
	if err != nil {
		return "", nil, fault.Wrap(err, fault.Unavailable, "No temporary folder could be made")
	}
	return filepath.Join(dir, "index"), func() { _ = os.RemoveAll(dir) }, nil
}

// copyIndex copies the index of a checkout, its time included: by it git tells the files that changed within the same tick
// of the clock as the index, and a later copy would make it miss them. A checkout without one gives a path where none is.
func copyIndex(at place) (index string, done func(), err error) {
	index, done, err = tempIndex()
	if err != nil {
		return "", nil, err
	}
	if err := copyFile(at.gitDir, "index", index); err != nil && !os.IsNotExist(err) {
		done()
		return "", nil, fault.Wrap(err, fault.Unavailable, "The index of the worktree cannot be read")
	}
	return index, done, nil
}

func copyFile(dir, name, to string) error {
	src, err := openIn(dir, name)
	if err != nil {
		return err
	}
	defer src.Close()
	st, err := src.Stat()
	if err != nil {
		return err
	}
	if err := copyTo(to, src); err != nil {
		return err
	}
	return os.Chtimes(to, st.ModTime(), st.ModTime())
}

func copyTo(path string, src io.Reader) error {
	dst, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if closeErr := dst.Close(); err == nil {
		err = closeErr
	}
	return err
}

// merge adds to the files of the diff what the status knows: which are untracked, staged, unstaged, and untracked ones
// that the diff was spared; then it sums up.
func (d *Diff) merge(st Status, seen map[string]string) {
	at := d.byPath()
	from := map[string]int{}
	for i, f := range d.Files {
		if f.Status == "renamed" {
			from[f.OldPath] = i
		}
	}
	for _, f := range st.files {
		i, ok := at[f.Path]
		if j, old := from[f.Path]; !ok && old && f.Index != '?' { // the half of a rename that went
			d.Files[j].Staged, d.Files[j].Unstaged = d.Files[j].Staged || f.Index != '.', d.Files[j].Unstaged || f.Worktree != '.'
			d.Files[j].Also = f.Path
			continue
		}
		switch {
		case !ok && f.Index == '?':
			d.Files = append(d.Files, api.FileChange{Path: f.Path, Status: "untracked"})
		case !ok:
			d.Back = append(d.Back, backOf(f, seen[f.Path]))
		case f.Index == '?':
			d.Files[i].Status = "untracked"
		case f.Conflict:
			d.Files[i].Status = "unmerged"
		default:
			d.Files[i].Staged, d.Files[i].Unstaged = d.Files[i].Staged || f.Index != '.', d.Files[i].Unstaged || f.Worktree != '.'
		}
	}
	for i, f := range d.Files {
		d.Files[i].Seen = seen[f.Path]
		d.Stat.Insertions += f.Insertions
		d.Stat.Deletions += f.Deletions
		if f.Status == "untracked" {
			d.Stat.Untracked++
		}
	}
	d.Stat.FilesChanged = len(d.Files)
}

// backOf is a file whose change takes back one that was committed: against the base there is none.
func backOf(f FileStatus, seen string) api.FileChange {
	letter := f.Worktree
	if letter == '.' {
		letter = f.Index
	}
	c := api.FileChange{Path: f.Path, OldPath: f.OldPath, Status: statusNames[letter], Staged: f.Index != '.', Unstaged: f.Worktree != '.', Seen: seen}
	if f.Conflict {
		c.Status, c.Staged, c.Unstaged = "unmerged", false, false
	}
	return c
}

// patch adds the text of the change, cut at limit bytes; the rest is read and counted.
func (r *Repo) patch(ctx context.Context, parts []part, limit int64, d *Diff) error {
	if limit <= 0 {
		limit = defaultPatch
	}
	for _, p := range parts {
		c := p.command
		c.args, c.max = append(r.diffArgs("--patch"), append(p.args, "--")...), limit
		res, err := r.git.run(ctx, c)
		if err != nil {
			return err
		}
		room := max(0, limit-int64(len(d.Patch)))
		d.Patch = append(d.Patch, res.Stdout[:min(int64(len(res.Stdout)), room)]...)
		d.TotalBytes += res.Total
	}
	d.Truncated = d.Truncated || d.TotalBytes > int64(len(d.Patch))
	return nil
}

// commitsSince lists the commits of the checkout that from lacks.
func (r *Repo) commitsSince(ctx context.Context, at place, from string) ([]api.Commit, error) {
	if from == "" {
		return nil, nil // without a commit in the repository there is none in the worktree
	}
	if _, err := r.git.text(ctx, command{at: at, args: []string{"rev-parse", "--verify", "--quiet", "HEAD^{commit}"}}); exitOf(err) == 1 {
		return nil, nil // unborn
	}
	recs, err := r.git.records(ctx, command{at: at, args: []string{"log", "-z", "--no-color", "--no-show-signature", "--no-decorate",
		"--max-count=500", "--format=%H%x1f%cI%x1f%s", "--end-of-options", from + "..HEAD"}})
	if err != nil {
		return nil, err
	}
	var out []api.Commit
	for _, rec := range recs {
		if f := strings.SplitN(rec, "\x1f", 3); len(f) == 3 {
			out = append(out, api.Commit{ID: f[0], Time: f[1], Subject: f[2]})
		}
	}
	return out, nil
}
