package worktree

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"termic/internal/fault"
)

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
	return a.writePatch(ctx, a.against, tree)
}

// writePatch writes the difference of two trees to a file.
func (a *application) writePatch(ctx context.Context, from, to string) error {
	a.patch = filepath.Join(a.tmp, "patch")
	f, err := os.OpenFile(a.patch, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = a.r.git.run(ctx, command{at: a.dst, stdout: f, args: []string{"diff-tree", "--patch", "--binary", "--full-index", "--find-renames", "-r",
		"--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", from, to}})
	if err != nil {
		return err
	}
	a.files, err = countFiles(f)
	return err
}

// countFiles counts the files of a patch. No line of content can be taken for a header: content lines begin with a sign,
// and binary ones hold no space. A file that became a link has two headers alike.
func countFiles(f *os.File) (int, error) {
	if _, err := f.Seek(0, 0); err != nil {
		return 0, err
	}
	n, start, last := 0, true, ""
	b := bufio.NewReaderSize(f, 64<<10)
	for {
		part, more, err := b.ReadLine()
		if err != nil {
			return n, nil
		}
		if line := string(part); start && strings.HasPrefix(line, "diff --git ") {
			if line != last {
				n++
			}
			last = line
		}
		start = !more
	}
}

// patchPaths are the paths that the patch writes or takes away, as git reads it: the trees that it was made from lie where a cage
// may write.
func (a *application) patchPaths(ctx context.Context) ([]string, error) {
	if a.patch == "" {
		return nil, nil
	}
	recs, err := a.r.git.records(ctx, command{at: a.dst, args: []string{"apply", "--numstat", "-z", "--", a.patch}})
	if err != nil {
		return nil, err
	}
	var out []string
	seen := map[string]bool{}
	for _, c := range a.pending {
		out, seen[c.path] = append(out, c.path), true
	}
	for _, rec := range recs {
		f := strings.SplitN(rec, "\t", 3)
		if len(f) != 3 {
			return nil, errors.New("apply: unknown record " + printable(rec, 80))
		}
		if !seen[f[2]] {
			out = append(out, f[2])
		}
	}
	return out, nil
}

// rehearse applies the patch to a copy of dst's index, where it can spoil nothing.
func (a *application) rehearse(ctx context.Context) error {
	g, index := a.r.git, filepath.Join(a.tmp, "rehearsal")
	if _, err := g.run(ctx, command{at: a.dst, index: index, args: []string{"read-tree", a.dstTree}, writes: true}); err != nil {
		return err
	}
	_, err := g.run(ctx, command{at: a.dst, index: index, writes: true, args: []string{"apply", "--cached", "--3way", "--whitespace=nowarn", "--", a.patch}})
	if err != nil && exitOf(err) < 0 {
		return err
	}
	failed := err
	if a.conflicts, err = a.unmerged(ctx, index); err != nil {
		return err
	}
	if failed != nil {
		return a.merge(ctx, failed)
	}
	tree, err := g.text(ctx, command{at: a.dst, index: index, args: []string{"write-tree"}, writes: true})
	if err == nil && tree == a.dstTree { // all of it was merged before
		a.nothingToPatch()
	}
	return err
}

func (a *application) nothingToPatch() { a.patch, a.pending, a.files, a.conflicts = "", nil, 0, nil }

// merge is the second try when the patch alone does not fit: a merge of the trees knows renames on both sides, so it
// sees that a file which the task renamed was renamed here as well, edited since. If it is clean, its outcome is what is
// patched in. If not, the patch with its conflict marks is what the user gets, or, when git can make none (a file was
// changed here and deleted there), a refusal with the merge's list of conflicts. failed is why the patch did not fit.
func (a *application) merge(ctx context.Context, failed error) error {
	tree, names, err := a.mergeTrees(ctx)
	if err != nil {
		return err
	}
	switch {
	case tree == a.dstTree:
		a.nothingToPatch()
		return nil
	case tree != "":
		a.conflicts = nil
		if a.pending, err = a.treeDiff(ctx, a.dstTree, tree); err != nil {
			return err
		}
		return a.writePatch(ctx, a.dstTree, tree)
	case len(a.conflicts) > 0:
		return nil
	case len(names) == 0:
		names = changedPaths(a.pending)
	}
	return fault.Wrap(failed, fault.ApplyConflict, "The change does not fit the main checkout, and nothing was changed").
		WithHint("Merge or rebase the task's branch instead. git says: %s", said(failed)).
		WithData("conflicts", names).WithData("written", false)
}

// mergeTrees merges the task's tree and dst's in memory. tree is "" when there are conflicts, in the files names, or when
// this git (older than 2.38) cannot do it.
func (a *application) mergeTrees(ctx context.Context) (tree string, names []string, err error) {
	g := a.r.git
	if !g.version.atLeast(2, 38) {
		return "", nil, nil
	}
	start, err := a.r.commitTree(ctx, a.dst, a.against+"^{tree}", "start", nil)
	if err != nil {
		return "", nil, err
	}
	var sides [2]string
	for i, t := range []string{a.dstTree, a.srcTree} {
		if sides[i], err = a.r.commitTree(ctx, a.dst, t, "side", []string{start}); err != nil {
			return "", nil, err
		}
	}
	res, err := g.run(ctx, command{at: a.dst, writes: true,
		args: []string{"merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", sides[0], sides[1]}})
	recs := splitNUL(string(res.Stdout))
	switch {
	case err == nil && len(recs) == 1:
		return recs[0], nil, nil
	case exitOf(err) == 1 && len(recs) > 1:
		return "", unique(recs[1:]), nil
	case exitOf(err) >= 0:
		return "", nil, nil // git has no answer; the patch stands
	case err == nil:
		err = errors.New("merge-tree: unknown answer")
	}
	return "", nil, err
}

func changedPaths(changes []treeChange) []string {
	var out []string
	for _, c := range changes[:min(len(changes), maxItems)] {
		out = append(out, c.path)
	}
	return out
}
