package worktree

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"termic/internal/fault"
)

// RestoreOptions describe a worktree that comes back.
type RestoreOptions struct {
	Path      string
	Branch    string
	BackupRef string            // Removed.BackupRef; "" = none was left
	Commit    string            // Removed.Head: where the branch starts again when it and the backup are gone
	Guarded   bool              // as in CreateOptions
	Progress  func(line string) // may be nil
}

// Restore creates a worktree again that was removed, or whose folder was deleted. The branch is checked out if it is
// there, and made again from the backup or Commit if not. What the backup holds beyond its commit is put back as it was:
// changed and untracked files byte for byte, and the index. No hook is run. The backup ref stays.
//
// If the branch has moved since, its files win and the backup is left for the user, with a warning. If Path is taken, the
// next free number is put behind it. Errors: fault.NotFound when neither branch, backup nor commit is there,
// fault.Conflict when another worktree has the branch. After an error nothing of it is left behind.
func (r *Repo) Restore(ctx context.Context, o RestoreOptions) (Created, error) {
	if err := r.checkPath(o.Path); err != nil {
		return Created{}, err
	}
	if _, err := os.Lstat(o.Path); errors.Is(err, os.ErrNotExist) {
		if err := r.Forget(ctx, o.Path); err != nil {
			return Created{}, err
		}
	}
	b := &builder{repo: r, guarded: o.Guarded, progress: o.Progress}
	var saved snapshot
	if o.BackupRef != "" {
		var err error
		if saved, err = r.readBackup(ctx, o.BackupRef); err != nil {
			return Created{}, err
		}
	}
	if err := b.formerBranch(ctx, o, saved); err != nil {
		return Created{}, err
	}
	if err := b.build(ctx, o.Path, false); err != nil {
		return Created{}, err
	}
	if b.path != canonical(o.Path) {
		b.warn("%s is taken; the worktree is restored as %s", o.Path, b.path)
	}
	if err := b.fillFrom(ctx, o, saved); err != nil {
		b.undo(ctx)
		return Created{}, err
	}
	if at, err := r.in(b.path); err == nil {
		b.submodules(ctx, at)
		b.pointers(ctx, at)
	}
	return Created{Path: b.path, Branch: b.branch, BaseRef: b.branch, BaseCommit: b.commit, ReusedBranch: b.reused, Warnings: b.warnings}, nil
}

// readBackup reads a backup ref, which is a snapshot or, when only a branch was deleted, its last commit.
func (r *Repo) readBackup(ctx context.Context, ref string) (snapshot, error) {
	if !strings.HasPrefix(ref, BackupPrefix) {
		return snapshot{}, fault.New(fault.InvalidArgument, "%s is not the name of a backup", printable(ref, 200))
	}
	s, err := r.readSnapshot(ctx, ref)
	if fault.CodeOf(err) == fault.Unsupported {
		found, err := r.commits(ctx, r.here(), ref)
		if err != nil {
			return s, err
		}
		return snapshot{head: found[0], tip: found[0]}, nil
	}
	return s, err
}

// formerBranch settles on the branch and commit to check out.
func (b *builder) formerBranch(ctx context.Context, o RestoreOptions, saved snapshot) error {
	branch := o.Branch
	if saved.commit != "" && saved.branch == "" { // HEAD was detached, as in the middle of a rebase
		b.commit = saved.head
		b.warn("The worktree was on no branch when it was removed; it comes back the same, without the operation that was in progress")
		return nil
	}
	if saved.commit != "" && saved.branch != branch {
		b.warn("The worktree had left its branch %s for %s", branch, saved.branch)
		branch = saved.branch
	}
	if saved.commit != "" && saved.head == "" {
		return fault.New(fault.Unsupported, "The worktree had no commit yet, so there is no branch to restore").
			WithHint("Its files are in %s.", o.BackupRef)
	}
	if branch == "" && o.Commit != "" {
		b.commit = o.Commit
		return nil
	}
	if err := checkBranch(branch); err != nil {
		return err
	}
	names := []string{"refs/heads/" + branch}
	for _, c := range []string{saved.tip, saved.head, o.Commit} {
		if c != "" && !(c == saved.tip && saved.branch != "" && saved.branch != o.Branch) {
			names = append(names, c)
		}
	}
	found, err := b.repo.commits(ctx, b.repo.here(), names...)
	if err != nil {
		return err
	}
	for _, c := range found {
		if b.commit = c; c != "" {
			break
		}
	}
	if b.commit == "" {
		return fault.New(fault.NotFound, "The branch %s is gone, and there is no backup of it", branch)
	}
	return b.typedBranch(ctx, branch, found[0], "")
}

// fillFrom puts back what the snapshot holds beyond its commit.
func (b *builder) fillFrom(ctx context.Context, o RestoreOptions, saved snapshot) error {
	if saved.commit == "" {
		return nil
	}
	at, err := b.repo.in(b.path)
	if err != nil {
		return err
	}
	if at.config, err = b.repo.neutral(ctx, at); err != nil { // files come back byte for byte
		return err
	}
	if b.commit != saved.head {
		b.warn("The branch %s moved since the worktree was removed, so its uncommitted work was not put back; it is in %s (git stash apply --index %s)",
			b.branch, o.BackupRef, o.BackupRef)
		return nil
	}
	b.say("Putting uncommitted work back")
	return b.repo.putBack(ctx, at, saved)
}

// putBack makes files and index of a fresh checkout of saved.head those of the snapshot.
func (r *Repo) putBack(ctx context.Context, at place, saved snapshot) error {
	recs, err := r.git.records(ctx, command{at: at, args: []string{"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", "--no-textconv", saved.head, saved.commit}})
	if err != nil {
		return err
	}
	files, err := parseTreeDiff(recs)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(at.workTree)
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "The worktree cannot be opened")
	}
	defer root.Close()
	var write []entry
	for _, f := range files {
		if f.mode == "160000" || f.oldMode == "160000" {
			continue // a submodule; the index has it
		}
		if err := clear1(root, f.path); err != nil {
			return fault.Wrap(err, fault.Unavailable, "%s could not be put back", printable(f.path, 200))
		}
		if f.mode != "0" {
			write = append(write, f.entry)
		}
	}
	if err := r.writeBlobs(ctx, at, root, write); err != nil {
		return err
	}
	if _, err := r.git.run(ctx, command{at: at, args: []string{"read-tree", "-i", "-m", saved.index + "^{tree}"}, writes: true}); err != nil {
		return err
	}
	_, err = r.git.run(ctx, command{at: at, args: []string{"update-index", "-q", "--refresh"}, writes: true})
	if exitOf(err) == 1 { // some files differ from the index, as they did before
		err = nil
	}
	return err
}

// noMode is what git writes for a side of a difference where there is no file.
const noMode = "000000"

// treeChange is one difference of two trees.
type treeChange struct {
	entry
	oldMode, oldID string
}

// parseTreeDiff reads `git diff-tree -r -z --raw --no-renames`: a record ":mode mode id id letter", then the name.
func parseTreeDiff(recs []string) ([]treeChange, error) {
	var out []treeChange
	for i := 0; i+1 < len(recs); i += 2 {
		f := strings.Fields(strings.TrimPrefix(recs[i], ":"))
		if len(f) != 5 || recs[i+1] == "" || !strings.HasPrefix(recs[i], ":") {
			return nil, errors.New("diff-tree: unknown record " + strconv.Quote(printable(recs[i], 80)))
		}
		c := treeChange{entry: entry{mode: f[1], id: f[3], path: recs[i+1]}, oldMode: f[0], oldID: f[2]}
		if f[4] == "D" {
			c.mode, c.id = "0", ""
		}
		out = append(out, c)
	}
	if len(recs)%2 != 0 {
		return nil, errors.New("diff-tree: a record without its name")
	}
	return out, nil
}

// clear1 removes one file or link, and the folders that are empty then.
func clear1(root *os.Root, name string) error {
	p := filepath.FromSlash(name)
	if err := root.Remove(p); err != nil && !errors.Is(err, os.ErrNotExist) && !isNotDir(err) {
		return err
	}
	for _, d := range parents(name) {
		// Remove takes files as well, and one may lie where a folder was to be.
		if st, err := root.Lstat(filepath.FromSlash(d)); err != nil || !st.IsDir() || root.Remove(filepath.FromSlash(d)) != nil {
			break
		}
	}
	return nil
}

// writeBlobs writes stored files into root, byte for byte, one git for all of them.
func (r *Repo) writeBlobs(ctx context.Context, at place, root *os.Root, files []entry) error {
	if len(files) == 0 {
		return nil
	}
	var ask strings.Builder
	for _, f := range files {
		ask.WriteString(f.id + "\n")
	}
	pr, pw := io.Pipe()
	ran := make(chan error, 1)
	go func() { // owned by this call: git ends when it has answered all, or when the reader is closed below
		_, err := r.git.run(ctx, command{at: at, args: []string{"cat-file", "--batch"}, stdin: strings.NewReader(ask.String()), stdout: pw, timeout: r.git.createTimeout})
		pw.CloseWithError(err)
		ran <- err
	}()
	b := bufio.NewReaderSize(pr, 64<<10)
	var err error
	for _, f := range files {
		if err = writeBlob(b, root, f); err != nil {
			break
		}
	}
	pr.CloseWithError(err)
	if runErr := <-ran; err == nil {
		err = runErr
	}
	if err != nil && fault.CodeOf(err) == fault.Internal {
		err = fault.Wrap(err, fault.Unavailable, "The uncommitted work could not be put back")
	}
	return err
}

// writeBlob reads one answer of cat-file, "id blob size" and the bytes, into a file.
func writeBlob(b *bufio.Reader, root *os.Root, f entry) error {
	head, err := b.ReadString('\n')
	if err != nil {
		return err
	}
	words := strings.Fields(head)
	if len(words) != 3 || words[0] != f.id || words[1] != "blob" {
		return fmt.Errorf("cat-file: %q is not the file %s", printable(head, 80), printable(f.path, 200))
	}
	size, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil {
		return err
	}
	if err := writeEntry(io.LimitReader(b, size), root, f); err != nil {
		return err
	}
	_, err = b.ReadByte() // the newline behind the content
	return err
}

func writeEntry(content io.Reader, root *os.Root, f entry) error {
	p := filepath.FromSlash(f.path)
	if dir := filepath.Dir(p); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if f.mode == "120000" {
		to, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		return root.Symlink(filepath.FromSlash(string(to)), p)
	}
	perm := os.FileMode(0o644)
	if f.mode == "100755" {
		perm = 0o755
	}
	dst, err := root.OpenFile(p, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, content)
	if closeErr := dst.Close(); err == nil {
		err = closeErr
	}
	return err
}
