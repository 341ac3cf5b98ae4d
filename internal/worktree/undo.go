package worktree

import (
	"context"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"termic/internal/fault"
)

// maxNotes bounds what a kept commit says about its files, in bytes.
const maxNotes = 64 << 20

// Undo puts back what Discard or Unstage took away: files byte for byte, and what the index had of them. commit is
// Discarded.Commit, as the caller has kept it: what a ref leads to, a cage could have changed.
//
// Where a file or what is staged of it is neither as the discard left it nor as it was before, Undo is fault.Conflict
// (data.files) and changes nothing, and so it is where something else lies in the place. A discard that was cut off in the
// middle is undone as well. fault.NotFound says that what was kept is gone.
func (r *Repo) Undo(ctx context.Context, wt, commit string) (Discarded, error) {
	pieces, err := r.keptPieces(ctx, commit)
	if err != nil {
		return Discarded{}, err
	}
	return changing(ctx, r, wt, func(c *change) (Discarded, error) { return c.undo(ctx, pieces) })
}

// keptPieces reads what a kept commit says about its files.
func (r *Repo) keptPieces(ctx context.Context, commit string) ([]piece, error) {
	if len(commit) != len(r.zeros) || strings.Trim(commit, "0123456789abcdef") != "" {
		return nil, fault.New(fault.InvalidArgument, "%q is not the id of a commit", printable(commit, 80))
	}
	res, err := r.git.run(ctx, command{at: r.here(), args: []string{"cat-file", "blob", commit + ":" + keptNotes}, max: maxNotes})
	if exitOf(err) >= 0 || err == nil && res.Truncated {
		return nil, fault.Wrap(err, fault.NotFound, "What was kept of the discarded files is gone from the repository")
	}
	if err != nil {
		return nil, err
	}
	var pieces []piece
	if err := json.Unmarshal(res.Stdout, &pieces); err != nil {
		return nil, fault.Wrap(err, fault.Unsupported, "What was kept of the discarded files cannot be read")
	}
	for _, p := range pieces {
		if !filepath.IsLocal(filepath.FromSlash(p.path())) || slices.ContainsFunc(strings.Split(p.path(), "/"), isGitName) {
			return nil, fault.New(fault.Unsupported, "%q cannot be put back", printable(p.path(), 200))
		}
	}
	return pieces, nil
}

func isGitName(part string) bool { return strings.EqualFold(part, ".git") }

func (c *change) undo(ctx context.Context, pieces []piece) (Discarded, error) {
	var out Discarded
	for _, p := range pieces {
		out.Paths = append(out.Paths, p.path())
	}
	files, index, err := c.toUndo(ctx, pieces)
	if err != nil {
		return out, err
	}
	tmp, err := c.contents(ctx, files, 0)
	if err != nil {
		return out, err
	}
	defer tmp.Close()
	if err := c.formerIndex(ctx, index); err != nil {
		return out, err
	}
	if err := c.hold(ctx); err != nil {
		return out, err
	}
	if err := c.stillAfter(files); err != nil {
		return out, err
	}
	ctx = context.WithoutCancel(ctx)
	c.sweep(pieces)
	if err := c.putFrom(tmp, files, 0); err != nil {
		return out, err
	}
	if len(index) == 0 {
		return out, nil
	}
	if err := c.intend(ctx, index); err != nil {
		return out, err
	}
	return out, c.install()
}

// toUndo finds the files and the entries of the index that are not as they were before, and refuses what has changed since.
func (c *change) toUndo(ctx context.Context, pieces []piece) (files, index []piece, err error) {
	have, err := c.entries(ctx)
	if err != nil {
		return nil, nil, err
	}
	var moved []string
	leaving := map[string]bool{}
	for _, p := range pieces {
		now, ok := have[p.path()]
		if !ok {
			now = half{Mode: "0"}
		}
		if f := c.files[p.path()]; f != nil && f.intent {
			now = half{Mode: "0", Intent: true}
		}
		if now != p.Index[0] {
			index = append(index, p)
		}
		other := now != p.Index[0] && now != p.Index[1]
		if p.File != nil {
			e, err := c.r.fileNow(c.root, p.path())
			if err != nil {
				return nil, nil, err
			}
			disk := half{Mode: e.mode, ID: e.id}
			if disk != p.File[0] {
				files = append(files, p)
			}
			other = other || disk != p.File[0] && disk != p.File[1]
			leaving[p.path()] = true
		}
		if other {
			moved = append(moved, p.path())
		}
	}
	if len(moved) > 0 {
		return nil, nil, changedSince(moved)
	}
	if err := c.free(files, 0, leaving); err != nil {
		return nil, nil, err
	}
	return files, index, c.freeEntries(index, have)
}

func changedSince(paths []string) error {
	return fault.New(fault.Conflict, "%s changed since it was discarded, so nothing was put back", printable(paths[0], 200)).
		WithHint("Commit or move away what is there now, and undo it again.").WithData("files", paths[:min(len(paths), maxItems)])
}

// entries is what the index has, by path. A file with a conflict has mode "unmerged".
func (c *change) entries(ctx context.Context) (map[string]half, error) {
	recs, err := c.r.git.records(ctx, command{at: c.at, index: c.index, args: []string{"ls-files", "--stage", "-z"}, max: maxTreeList})
	if err != nil {
		return nil, err
	}
	out := make(map[string]half, len(recs))
	for _, rec := range recs {
		head, name, ok := strings.Cut(rec, "\t")
		f := strings.Fields(head)
		if !ok || len(f) != 3 {
			return nil, fault.New(fault.Internal, "ls-files: unknown record")
		}
		if out[name] = (half{Mode: f[0], ID: f[1]}); f[2] != "0" {
			out[name] = half{Mode: "unmerged"}
		}
	}
	return out, nil
}

func (c *change) freeEntries(index []piece, have map[string]half) error {
	if len(index) == 0 {
		return nil
	}
	names, moving := make(map[string]bool, len(have)), map[string]bool{}
	for name := range have {
		names[name] = true
	}
	var add []entry
	for _, p := range index {
		moving[p.path()] = true
		h := p.Index[0]
		if h.Intent {
			h.Mode = "100644"
		}
		add = append(add, entry{h.Mode, h.ID, p.path()})
	}
	if name, other := inTheWay(add, names, moving); name != "" {
		return blockedBy(name, other)
	}
	return nil
}

// formerIndex puts back what the index had, but for files that were only noted to come.
func (c *change) formerIndex(ctx context.Context, index []piece) error {
	var add []entry
	for _, p := range index {
		add = append(add, entry{p.Index[0].Mode, p.Index[0].ID, p.path()})
	}
	return c.r.updateIndex(ctx, c.at, c.index, add)
}

// intend notes the files again that were only noted to come. They are there by now.
func (c *change) intend(ctx context.Context, index []piece) error {
	var names []string
	for _, p := range index {
		if p.Index[0].Intent {
			names = append(names, p.path())
		}
	}
	if len(names) == 0 {
		return nil
	}
	_, err := c.r.git.run(ctx, command{at: c.at, index: c.index, stdin: nulls(names), writes: true,
		args: []string{"add", "--intent-to-add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"}})
	return err
}

// stillAfter looks once more, right before the first file is written.
func (c *change) stillAfter(files []piece) error {
	for _, p := range files {
		e, err := c.r.fileNow(c.root, p.path())
		if err != nil {
			return err
		}
		if now := (half{Mode: e.mode, ID: e.id}); now != p.File[0] && now != p.File[1] {
			return changedSince([]string{p.path()})
		}
	}
	return nil
}

// sweep removes half-written files that an app which was killed has left beside those of the pieces.
func (c *change) sweep(pieces []piece) {
	seen := map[string]bool{}
	for _, p := range pieces {
		dir := "."
		if above := parents(p.path()); len(above) > 0 {
			dir = above[0]
		}
		if seen[dir] {
			continue
		}
		seen[dir] = true
		list, err := fs.ReadDir(c.root.FS(), dir)
		if err != nil {
			continue // it is not there
		}
		for _, e := range list {
			if strings.HasPrefix(e.Name(), placing) && !e.IsDir() {
				_ = c.root.Remove(filepath.Join(filepath.FromSlash(dir), e.Name())) // it is in nobody's way
			}
		}
	}
}
