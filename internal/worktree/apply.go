package worktree

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"termic/internal/fault"
)

// Applied says what Apply changed.
type Applied struct {
	Tracked   int      // files of the patch; 0 when all of it was there already
	Untracked int      // untracked files that were copied
	Conflicts []string // files with conflict marks now, or in the way; see Apply
	Warnings  []string // sentences for the user
}

// Apply carries everything that the worktree at wt has over its base (as Diff shows it) into Root, the checkout that the
// Repo was opened on. Nothing is committed: tracked changes end up in the index and the files, by `git apply --3way`, and
// untracked files are copied. The worktree stays as it is, and Apply may be repeated: what Root has already is left out,
// so the second time changes nothing, whether the first was committed or not.
//
// Everything that can be known is found out before the first write: Root must be clean (fault.Conflict, data.files) and
// in the middle of nothing; a bare repository, or Root itself as wt, is fault.Unsupported; a file that would be
// overwritten is fault.ApplyConflict with data.written false. If the change and Root's own commits touch the same
// lines, the rest is applied, the conflict marks are in Root, and the error is fault.ApplyConflict with data.written true.
// In both, data.conflicts is the list of files. Any other failure takes back what it wrote.
func (r *Repo) Apply(ctx context.Context, wt, base string) (Applied, error) {
	a, err := r.newApply(ctx, wt)
	if err != nil {
		return Applied{}, err
	}
	defer a.close()
	if err := a.plan(ctx, base); err != nil {
		return Applied{}, err
	}
	if dirty := a.dstStatus.files; len(dirty) > 0 {
		same, err := a.alreadyThere(ctx)
		if err != nil || same {
			return Applied{}, err
		}
		return Applied{}, fault.New(fault.Conflict, "The main checkout has %d uncommitted changes", len(dirty)).
			WithHint("Commit or stash them in %s, then apply again.", printable(r.root, 200)).WithData("files", firstPaths(dirty))
	}
	if blocked, err := a.blocked(); err != nil || len(blocked) > 0 {
		if err == nil {
			err = conflictError("%d files of the task are in the main checkout with other content; nothing was changed", blocked, false).
				WithHint("Move them away in %s, then apply again.", printable(r.root, 200))
		}
		return Applied{Conflicts: blocked}, err
	}
	return a.write(ctx)
}

func conflictError(format string, paths []string, written bool) *fault.Error {
	return fault.New(fault.ApplyConflict, format, len(paths)).WithData("conflicts", paths).WithData("written", written)
}

func firstPaths(files []FileStatus) []string {
	var out []string
	for _, f := range files[:min(len(files), maxItems)] {
		out = append(out, f.Path)
	}
	return out
}

// application is one Apply under way. It has no goroutine.
type application struct {
	r                    *Repo
	src, dst             place
	srcRoot, dstRoot     *os.Root
	srcStatus, dstStatus Status
	tmp                  string // folder for indexes and the patch

	off       []setting       // keeps filters and drivers from running
	against   string          // commit or tree that the change starts from
	dstTree   string          // what dst holds of tracked files
	inDst     map[string]bool // files of dstTree that the start has not
	changes   []treeChange    // against -> the task's tracked files
	pending   []treeChange    // those that dst lacks
	patch     string          // file; "" = no tracked change to make
	files     int             // in the patch
	conflicts []string        // of the rehearsal
	untracked []FileStatus    // of src
	warnings  []string
	copied    []string // files that were made in dst, for taking back
}

// newApply checks both sides and opens them.
func (r *Repo) newApply(ctx context.Context, wt string) (*application, error) {
	if r.root == "" {
		return nil, fault.New(fault.Unsupported, "A bare repository has no checkout to apply to").WithHint("Push or merge the branch instead.")
	}
	a := &application{r: r}
	var err error
	if a.src, err = r.in(wt); err != nil {
		return nil, err
	}
	if a.dst, err = r.in(r.root); err != nil {
		return nil, err
	}
	if a.src.workTree == a.dst.workTree {
		return nil, fault.New(fault.Unsupported, "The task works in the main checkout itself, so there is nothing to apply")
	}
	if a.srcStatus, err = r.status(ctx, a.src); err != nil {
		return nil, err
	}
	if a.dstStatus, err = r.status(ctx, a.dst); err != nil {
		return nil, err
	}
	if what := a.dstStatus.InProgress; what != "" {
		return nil, fault.New(fault.Conflict, "The main checkout is in the middle of a %s", what).WithHint("Finish or abort it, then apply again.")
	}
	if n := a.dstStatus.Conflicted; n > 0 {
		return nil, fault.New(fault.Conflict, "The main checkout has %d files with unresolved conflicts", n).
			WithHint("Resolve them in %s, commit, then apply again.", printable(r.root, 200)).WithData("files", firstPaths(a.dstStatus.files))
	}
	if n := a.srcStatus.Conflicted; n > 0 {
		return nil, fault.New(fault.Conflict, "The task has %d files with unresolved conflicts", n).WithHint("Resolve them in the task first.")
	}
	if a.off, err = r.passive(ctx, a.dst); err != nil {
		return nil, err
	}
	return a, a.open()
}

func (a *application) open() (err error) {
	if a.tmp, err = os.MkdirTemp("", "termic-apply-"); err == nil {
		if a.srcRoot, err = os.OpenRoot(a.src.workTree); err == nil {
			a.dstRoot, err = os.OpenRoot(a.dst.workTree)
		}
	}
	if err != nil {
		a.close()
		return fault.Wrap(err, fault.Unavailable, "The checkouts cannot be opened")
	}
	return nil
}

func (a *application) close() {
	if a.srcRoot != nil {
		a.srcRoot.Close()
	}
	if a.dstRoot != nil {
		a.dstRoot.Close()
	}
	if a.tmp != "" {
		_ = os.RemoveAll(a.tmp)
	}
}

// plan finds out what is to be done, and rehearses the patch on a copy of dst's index.
func (a *application) plan(ctx context.Context, base string) error {
	var d Diff
	var err error
	if a.against, err = a.r.against(ctx, a.src, base, &d); err != nil {
		return err
	}
	for _, f := range a.srcStatus.files {
		switch {
		case f.Index == '?' && strings.HasSuffix(f.Path, "/"):
			a.warnings = append(a.warnings, printable(f.Path, 200)+" is a repository of its own and was not copied")
		case f.Index == '?':
			a.untracked = append(a.untracked, f)
		}
	}
	srcTree, err := a.trackedTree(ctx, a.src, a.srcStatus)
	if err != nil {
		return err
	}
	if a.dstTree, err = a.trackedTree(ctx, a.dst, a.dstStatus); err != nil {
		return err
	}
	if a.changes, err = a.treeDiff(ctx, a.against, srcTree); err != nil {
		return err
	}
	own, err := a.treeDiff(ctx, a.against, a.dstTree)
	if err != nil {
		return err
	}
	a.inDst = map[string]bool{}
	for _, c := range own {
		a.inDst[c.path] = c.mode != "0"
	}
	a.pending = notIn(a.changes, own)
	if len(a.pending) == 0 {
		return nil
	}
	if err := a.makePatch(ctx); err != nil {
		return err
	}
	err = a.rehearse(ctx)
	if len(a.dstStatus.files) > 0 && fault.CodeOf(err) == fault.ApplyConflict {
		return nil // that dst is not clean is told first
	}
	return err
}

// notIn returns the changes whose outcome is not already there; own are the changes of the other side from the same start.
func notIn(changes, own []treeChange) []treeChange {
	now := make(map[string]entry, len(own))
	for _, c := range own {
		now[c.path] = c.entry
	}
	var out []treeChange
	for _, c := range changes {
		if have, ok := now[c.path]; !ok || have != c.entry {
			out = append(out, c)
		}
	}
	return out
}

// trackedTree writes the tracked files of a checkout as a tree, by a copy of its index. Files are handed over one by one
// and not found by git, which would look into submodules.
func (a *application) trackedTree(ctx context.Context, at place, st Status) (string, error) {
	index, done, err := copyIndex(at)
	if err != nil {
		return "", err
	}
	defer done()
	var names strings.Builder
	for _, f := range st.files {
		if f.Index != '?' && f.Worktree != '.' && !f.Conflict && !f.Submodule {
			names.WriteString(f.Path + "\x00")
		}
	}
	g := a.r.git
	if names.Len() > 0 {
		_, err := g.run(ctx, command{at: at, index: index, config: a.off, stdin: strings.NewReader(names.String()), writes: true,
			args: []string{"update-index", "--add", "--remove", "--replace", "-z", "--stdin"}})
		if err != nil {
			return "", fault.Wrap(err, fault.Conflict, "The changed files could not be read").WithHint("Did they change meanwhile? Try again. git says: %s", said(err))
		}
	}
	return g.text(ctx, command{at: at, index: index, args: []string{"write-tree"}, writes: true})
}

func (a *application) treeDiff(ctx context.Context, from, to string) ([]treeChange, error) {
	recs, err := a.r.git.records(ctx, command{at: a.dst, args: []string{"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", "--no-textconv", from, to}})
	if err != nil {
		return nil, err
	}
	return parseTreeDiff(recs)
}

// makePatch writes the pending changes to a file, renames found, so that they follow files that dst moved or edited.
func (a *application) makePatch(ctx context.Context) error {
	g, index := a.r.git, filepath.Join(a.tmp, "wanted")
	if _, err := g.run(ctx, command{at: a.dst, index: index, args: []string{"read-tree", a.against + "^{tree}"}, writes: true}); err != nil {
		return err
	}
	entries := make([]entry, len(a.pending))
	for i, c := range a.pending {
		entries[i] = c.entry
	}
	if err := a.r.updateIndex(ctx, a.dst, index, entries); err != nil {
		return err
	}
	tree, err := g.text(ctx, command{at: a.dst, index: index, args: []string{"write-tree"}, writes: true})
	if err != nil {
		return err
	}
	a.patch = filepath.Join(a.tmp, "patch")
	f, err := os.OpenFile(a.patch, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = g.run(ctx, command{at: a.dst, stdout: f, args: []string{"diff-tree", "--patch", "--binary", "--full-index", "--find-renames", "-r",
		"--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", a.against, tree}})
	if err != nil {
		return err
	}
	a.files, err = countFiles(f)
	return err
}

// countFiles counts the files of a patch. No line of content can be taken for a header: content lines begin with a sign,
// and binary ones hold no space.
func countFiles(f *os.File) (int, error) {
	if _, err := f.Seek(0, 0); err != nil {
		return 0, err
	}
	n, start := 0, true
	b := bufio.NewReaderSize(f, 64<<10)
	for {
		part, more, err := b.ReadLine()
		if err != nil {
			return n, nil
		}
		if start && strings.HasPrefix(string(part), "diff --git ") {
			n++
		}
		start = !more
	}
}

// rehearse applies the patch to a copy of dst's index, where it can spoil nothing.
func (a *application) rehearse(ctx context.Context) error {
	g, index := a.r.git, filepath.Join(a.tmp, "rehearsal")
	if _, err := g.run(ctx, command{at: a.dst, index: index, args: []string{"read-tree", a.dstTree}, writes: true}); err != nil {
		return err
	}
	_, err := g.run(ctx, command{at: a.dst, index: index, config: a.off, writes: true, args: []string{"apply", "--cached", "--3way", "--whitespace=nowarn", "--", a.patch}})
	if err != nil && exitOf(err) < 0 {
		return err
	}
	failed := err
	if a.conflicts, err = a.unmerged(ctx, index); err != nil {
		return err
	}
	if failed != nil && len(a.conflicts) == 0 {
		return fault.Wrap(failed, fault.ApplyConflict, "The change does not fit the main checkout, and nothing was changed").
			WithHint("Merge or rebase the task's branch instead. git says: %s", said(failed)).
			WithData("conflicts", changedPaths(a.pending)).WithData("written", false)
	}
	if failed == nil {
		tree, err := g.text(ctx, command{at: a.dst, index: index, args: []string{"write-tree"}, writes: true})
		if err != nil {
			return err
		}
		if tree == a.dstTree { // all of it was merged before
			a.patch, a.pending, a.files = "", nil, 0
		}
	}
	return nil
}

func changedPaths(changes []treeChange) []string {
	var out []string
	for _, c := range changes[:min(len(changes), maxItems)] {
		out = append(out, c.path)
	}
	return out
}

// unmerged lists the files in conflict of an index; "" = dst's own.
func (a *application) unmerged(ctx context.Context, index string) ([]string, error) {
	recs, err := a.r.git.records(ctx, command{at: a.dst, index: index, args: []string{"ls-files", "--unmerged", "-z"}})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, rec := range recs {
		if _, path, ok := strings.Cut(rec, "\t"); ok && !contains(out, path) {
			out = append(out, path)
		}
	}
	sort.Strings(out)
	return out, nil
}

// alreadyThere reports whether the changes in a dirty dst are just those of the task: a repeated Apply.
func (a *application) alreadyThere(ctx context.Context) (bool, error) {
	if len(a.pending) > 0 || a.dstStatus.Conflicted > 0 {
		return false, nil
	}
	ours := map[string]bool{}
	for _, c := range a.changes {
		ours[c.path] = true
	}
	for _, f := range a.untracked {
		state, err := a.compareUntracked(f.Path, nil)
		if err != nil || state != copySame {
			return false, err
		}
		ours[f.Path] = true
	}
	for _, f := range a.dstStatus.files {
		if !ours[f.Path] || f.OldPath != "" && !ours[f.OldPath] {
			return false, nil
		}
	}
	return true, nil
}

// write makes the change. dst is clean, so that a failure can be taken back by going back to its HEAD.
func (a *application) write(ctx context.Context) (Applied, error) {
	out := Applied{Warnings: a.warnings}
	if a.patch != "" {
		if err := a.applyPatch(ctx); err != nil {
			return Applied{}, err
		}
		out.Tracked = a.files
	}
	n, err := a.copyUntracked()
	if err != nil {
		a.takeBack(ctx)
		return Applied{}, fault.Wrap(err, fault.Unavailable, "The untracked files could not be copied, and nothing was changed")
	}
	out.Untracked = n
	if a.patch == "" {
		return out, nil
	}
	if out.Conflicts, err = a.unmerged(ctx, ""); err != nil {
		return out, err
	}
	if len(out.Conflicts) > 0 {
		return out, conflictError("The change was applied, with conflicts in %d files", out.Conflicts, true).
			WithHint("Resolve them in %s.", printable(a.r.root, 200)).WithData("tracked_files", out.Tracked).WithData("untracked_files", out.Untracked)
	}
	return out, nil
}

// applyPatch runs the patch for real. git compares times before it compares content, so the index is refreshed first.
func (a *application) applyPatch(ctx context.Context) error {
	g := a.r.git
	_, err := g.run(ctx, command{at: a.dst, config: a.off, writes: true, args: []string{"update-index", "-q", "--refresh"}})
	if err != nil && exitOf(err) != 1 {
		return err
	}
	_, err = g.run(ctx, command{at: a.dst, config: a.off, writes: true, timeout: g.createTimeout, args: []string{"apply", "--3way", "--whitespace=nowarn", "--", a.patch}})
	if err == nil {
		return nil
	}
	if exitOf(err) == 1 && len(a.conflicts) > 0 {
		marked, lookErr := a.unmerged(ctx, "")
		if lookErr == nil && len(marked) > 0 {
			return nil
		}
	}
	a.takeBack(ctx)
	if exitOf(err) < 0 {
		return err
	}
	return fault.Wrap(err, fault.Unavailable, "git could not apply the change, and nothing was changed").WithHint("git says: %s", said(err))
}

// takeBack brings dst back to its HEAD after a failed write. It was clean, and every file that the change adds was not
// there, so nothing else can be lost.
func (a *application) takeBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	var errs []error
	for _, name := range a.copied {
		errs = append(errs, clear1(a.dstRoot, name))
	}
	for _, c := range a.pending {
		if c.oldMode == "000000" {
			errs = append(errs, clear1(a.dstRoot, c.path))
		}
	}
	if a.dstStatus.Head != "" {
		_, err := a.r.git.run(ctx, command{at: a.dst, config: a.off, writes: true, args: []string{"reset", "--hard", "--quiet", "HEAD"}})
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		a.r.git.log.ErrorContext(ctx, "a failed apply was not wholly taken back", "root", a.r.root, "err", err)
	}
}
