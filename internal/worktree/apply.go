package worktree

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"

	"termic/internal/fault"
)

// Applied says what Apply changed.
type Applied struct {
	Tracked   int      // files of the patch; 0 when all of it was there already
	Untracked int      // untracked files that were copied
	Conflicts []string // files with conflict marks now, or in the way; see Apply
	Warnings  []string // sentences for the user
	Tree      string   // id of everything that the task had; for ApplySince the next time
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
	return r.ApplySince(ctx, wt, base, "", nil)
}

// ApplySince is Apply for a task that was applied before: since is the Tree of that time. Where Root still has what was
// applied then, the task's newer version simply takes its place; without knowing, the same lines changed once more would
// look like a conflict. since comes from the caller and not from the repository, where a cage could have written it: it
// says what in Root may be replaced. A tree that is gone by now counts as "".
//
// arriving is asked right before the first write, with every path that will be written or go, and with the digest of what is
// written to what, as PlanApply gives it: an error ends it there. What was found in the worktree earlier says nothing about that,
// since its agent may go on writing; what it writes after the question is taken back, and the error is fault.Conflict. Nil:
// nobody is asked.
func (r *Repo) ApplySince(ctx context.Context, wt, base, since string, arriving func(paths []string, digest string) error) (Applied, error) {
	a, err := r.newApply(ctx, wt)
	if err != nil {
		return Applied{}, err
	}
	defer a.close()
	a.since = since
	done, blocked, err := a.ready(ctx, base)
	if done || err != nil {
		return Applied{Conflicts: blocked}, err
	}
	if arriving != nil {
		paths, err := a.paths(ctx)
		if err == nil {
			err = a.seal(ctx)
		}
		if err == nil {
			err = arriving(paths, a.digest())
		}
		if err != nil {
			return Applied{}, err
		}
	}
	return a.write(ctx)
}

// ready finds out everything that can be known before the first write. done: there is nothing to write.
func (a *application) ready(ctx context.Context, base string) (done bool, blocked []string, err error) {
	if err := a.plan(ctx, base); err != nil {
		return false, nil, err
	}
	if dirty := a.dstStatus.files; len(dirty) > 0 {
		same, err := a.alreadyThere(ctx)
		if err != nil || same {
			return same, nil, err
		}
		return false, nil, fault.New(fault.Conflict, "The main checkout has %s", uncommitted(len(dirty))).
			WithHint("Commit or stash them in %s, then apply again.", printable(a.r.root, 200)).WithData("files", firstPaths(dirty))
	}
	if blocked, err = a.blocked(ctx); err == nil && len(blocked) > 0 {
		err = conflictError("In the main checkout, %s of the task would be overwritten; nothing was changed", blocked, false).
			WithHint("Move them away in %s, then apply again.", printable(a.r.root, 200))
	}
	return false, blocked, err
}

// paths are what write will write, as the finished patch and the list of copies say.
func (a *application) paths(ctx context.Context) ([]string, error) {
	out, err := a.patchPaths(ctx)
	for _, f := range a.untracked {
		out = append(out, f.Path)
	}
	return out, err
}

func conflictError(format string, paths []string, written bool) *fault.Error {
	files := "1 file"
	if len(paths) != 1 {
		files = fmt.Sprintf("%d files", len(paths))
	}
	return fault.New(fault.ApplyConflict, format, files).WithData("conflicts", paths).WithData("written", written)
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

	since     string           // tree of the last time; "" = none
	against   string           // commit or tree that the change starts from
	srcTree   string           // tracked files of the task
	sealed    string           // tree of all of the task, untracked files too; "" = nobody asked
	dstTree   string           // what dst holds of tracked files
	unmoved   map[string]entry // of the last time, what dst still has
	inDst     map[string]bool  // files of dstTree that the start has not
	changes   []treeChange     // against -> the task's tracked files
	pending   []treeChange     // those that dst lacks
	patch     string           // file; "" = no tracked change to make
	files     int              // in the patch
	conflicts []string         // of the rehearsal
	untracked []FileStatus     // of src
	loosened  []string         // untracked in src, but treated as tracked
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
	if a.src, err = r.enter(ctx, wt); err != nil {
		return nil, err
	}
	if a.dst, err = r.enter(ctx, r.root); err != nil {
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
		case f.Index == '?' && unkeepable(f.Path):
			a.warnings = append(a.warnings, printable(f.Path, 200)+" has a name that git keeps for itself and was not copied")
		case f.Index == '?':
			a.untracked = append(a.untracked, f)
		}
	}
	if err := a.readTrees(ctx); err != nil {
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
	if err := a.advance(ctx, own); err != nil {
		return err
	}
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

// readTrees writes both sides as trees and finds the task's changes. A file that the task took out of the index and left
// on disk is for the main checkout a changed file, not one that goes and comes back untracked.
func (a *application) readTrees(ctx context.Context) error {
	var err error
	if a.dstTree, err = a.trackedTree(ctx, a.dst, a.dstStatus, nil); err != nil {
		return err
	}
	if err := a.readSource(ctx, nil); err != nil {
		return err
	}
	asTracked := map[string]bool{}
	for _, c := range a.changes {
		asTracked[c.path] = c.mode == "0"
	}
	if err := a.adopted(ctx, asTracked); err != nil {
		return err
	}
	var loosened []string
	a.untracked = slices.DeleteFunc(a.untracked, func(f FileStatus) bool {
		if asTracked[f.Path] {
			loosened = append(loosened, f.Path)
		}
		return asTracked[f.Path]
	})
	if a.loosened = loosened; len(loosened) == 0 {
		return nil
	}
	return a.readSource(ctx, loosened)
}

func (a *application) readSource(ctx context.Context, more []string) (err error) {
	if a.srcTree, err = a.trackedTree(ctx, a.src, a.srcStatus, more); err == nil {
		a.changes, err = a.treeDiff(ctx, a.against, a.srcTree)
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
// and not found by git, which would look into submodules. more are files that count as tracked.
func (a *application) trackedTree(ctx context.Context, at place, st Status, more []string) (string, error) {
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
	for _, name := range more {
		names.WriteString(name + "\x00")
	}
	g := a.r.git
	if names.Len() > 0 {
		_, err := g.run(ctx, command{at: at, index: index, stdin: strings.NewReader(names.String()), writes: true,
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

// alreadyThere reports whether a dirty dst has all that the task has, and nothing uncommitted that the task has
// otherwise: a repeated Apply.
func (a *application) alreadyThere(ctx context.Context) (bool, error) {
	if len(a.pending) > 0 {
		return false, nil
	}
	loose := map[string]bool{}
	for _, f := range a.untracked {
		state, err := a.compareUntracked(f.Path, nil)
		if err != nil || state == copyFree || state == copyBlocked {
			return false, err
		}
		loose[f.Path] = true
	}
	differ, err := a.treeDiff(ctx, a.srcTree, a.dstTree)
	if err != nil {
		return false, err
	}
	other := map[string]bool{}
	for _, c := range differ {
		other[c.path] = !loose[c.path]
	}
	for _, c := range a.changes {
		other[c.path] = false // merged with what dst has of its own
	}
	for _, f := range a.dstStatus.files {
		if f.Index == '?' && !loose[f.Path] || other[f.Path] || other[f.OldPath] {
			return false, nil
		}
	}
	return true, nil
}

// uncommitted counts changes in words.
func uncommitted(n int) string {
	if n == 1 {
		return "1 uncommitted change"
	}
	return fmt.Sprintf("%d uncommitted changes", n)
}
