package worktree

import (
	"bufio"
	"bytes"
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

// snapshot is the saved state of a worktree, in the shape of a stash: commit holds every file that is tracked or
// untracked, its first parent is HEAD, its second a commit of the index, and behind that one is all that should stay
// reachable. `git stash apply --index REF` understands it.
//
// Files are stored byte for byte: no filter, no conversion of line ends. The worktree and its index are not touched.
type snapshot struct {
	branch string // "" = detached
	head   string // "" = no commit yet
	tip    string // of the branch that the worktree was made for
	index  string // commit of the index
	commit string
}

// entry is a file for an index: mode "0" takes it out.
type entry struct{ mode, id, path string }

// save makes a snapshot. keep are more commits that must stay reachable through it.
func (r *Repo) save(ctx context.Context, at place, st Status, tip string, keep []string) (snapshot, error) {
	s := snapshot{branch: st.Branch, head: st.Head, tip: tip}
	index, done, err := copyIndex(at)
	if err != nil {
		return s, err
	}
	defer done()
	if err := r.resolveConflicts(ctx, at, index, st); err != nil {
		return s, err
	}
	indexTree, err := r.git.text(ctx, command{at: at, index: index, args: []string{"write-tree"}, writes: true})
	if err != nil {
		return s, err
	}
	files, err := r.store(ctx, at, st, filepath.Dir(index))
	if err != nil {
		return s, err
	}
	if err := r.updateIndex(ctx, at, index, files); err != nil {
		return s, err
	}
	tree, err := r.git.text(ctx, command{at: at, index: index, args: []string{"write-tree"}, writes: true})
	if err != nil {
		return s, err
	}
	var parents []string
	if s.head != "" {
		parents = append(parents, s.head)
	}
	if s.index, err = r.commitTree(ctx, at, indexTree, "Termic: index of "+s.name(), unique(append(append([]string(nil), parents...), keep...))); err != nil {
		return s, err
	}
	s.commit, err = r.commitTree(ctx, at, tree, s.message(), append(parents, s.index))
	return s, err
}

func (s snapshot) name() string {
	if s.branch == "" {
		return "a worktree without a branch"
	}
	return s.branch
}

// message names what the snapshot is of, in trailers that readSnapshot finds again.
func (s snapshot) message() string {
	return fmt.Sprintf("Termic: backup of %s\n\nEvery file of a worktree that was removed, as it was.\nPut it back: git stash apply --index <this commit>\n\n"+
		"Termic-Branch: %s\nTermic-Head: %s\nTermic-Tip: %s\nTermic-Index: %s\n", s.name(), s.branch, s.head, s.tip, s.index)
}

// readSnapshot reads what save wrote.
func (r *Repo) readSnapshot(ctx context.Context, ref string) (snapshot, error) {
	found, err := r.commits(ctx, r.here(), ref)
	if err != nil {
		return snapshot{}, err
	}
	if found[0] == "" {
		return snapshot{}, fault.New(fault.NotFound, "The backup %s is gone", printable(ref, 200))
	}
	s := snapshot{commit: found[0]}
	body, err := r.git.text(ctx, command{at: r.here(), args: []string{"show", "--no-patch", "--no-color", "--no-show-signature", "--format=%B", "--end-of-options", s.commit}})
	if err != nil {
		return snapshot{}, err
	}
	for _, line := range strings.Split(body, "\n") {
		key, value, _ := strings.Cut(line, ": ")
		switch key {
		case "Termic-Branch":
			s.branch = value
		case "Termic-Head":
			s.head = value
		case "Termic-Tip":
			s.tip = value
		case "Termic-Index":
			s.index = value
		}
	}
	if s.index == "" {
		return snapshot{}, fault.New(fault.Unsupported, "%s is not a backup that Termic made", printable(ref, 200))
	}
	return s, nil
}

// resolveConflicts takes our side of each unmerged file, since a tree has one version of a file. The file with its
// conflict marks is in the worktree and is saved from there.
func (r *Repo) resolveConflicts(ctx context.Context, at place, index string, st Status) error {
	if st.Conflicted == 0 {
		return nil
	}
	recs, err := r.git.records(ctx, command{at: at, index: index, args: []string{"ls-files", "--unmerged", "-z"}})
	if err != nil {
		return err
	}
	var out, ours []entry
	for _, rec := range recs {
		head, path, ok := strings.Cut(rec, "\t")
		f := strings.Fields(head)
		if !ok || len(f) != 3 {
			return errors.New("ls-files: unknown record of an unmerged file")
		}
		out = append(out, entry{mode: "0", path: path})
		if f[2] == "2" {
			ours = append(ours, entry{f[0], f[1], path})
		}
	}
	return r.updateIndex(ctx, at, index, append(out, ours...))
}

// updateIndex changes entries of an index of ours.
func (r *Repo) updateIndex(ctx context.Context, at place, index string, entries []entry) error {
	if len(entries) == 0 {
		return nil
	}
	var in bytes.Buffer
	write := func(removals bool) {
		for _, e := range entries {
			if (e.mode == "0") == removals {
				id := e.id
				if removals {
					id = r.zeros
				}
				fmt.Fprintf(&in, "%s %s\t%s\x00", e.mode, id, e.path)
			}
		}
	}
	write(true) // first, so that a file can take the place of a folder and the reverse
	write(false)
	_, err := r.git.run(ctx, command{at: at, index: index, stdin: &in, writes: true,
		args: []string{"update-index", "--add", "--replace", "-z", "--index-info"}})
	return err
}

// commitTree makes a commit in Termic's own name, so that no identity has to be set up.
func (r *Repo) commitTree(ctx context.Context, at place, tree, message string, parents []string) (string, error) {
	args := []string{"commit-tree", tree, "-F", "-"}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	return r.git.text(ctx, command{at: at, args: args, stdin: strings.NewReader(message), writes: true, env: []string{
		"GIT_AUTHOR_NAME=Termic", "GIT_AUTHOR_EMAIL=termic@localhost", "GIT_COMMITTER_NAME=Termic", "GIT_COMMITTER_EMAIL=termic@localhost"}})
}

// MaxKept is the most that Remove keeps of files that exist only in one worktree, in bytes. Git packs each as a whole, and
// takes minutes for more than that.
const MaxKept int64 = 8 << 30

// store writes the content of every changed and untracked file to the repository and returns the entries for an index.
// It goes through os.Root, so that no link of the tree leads outside, and through fast-import, which takes the bytes as
// they are and any number of files in one process. tmp is a folder for its list of ids.
func (r *Repo) store(ctx context.Context, at place, st Status, tmp string) ([]entry, error) {
	var names []string
	for _, f := range st.files {
		if f.Submodule || strings.HasSuffix(f.Path, "/") || f.Worktree == '.' && !f.Conflict {
			continue // a repository of its own, or the same in the index
		}
		names = append(names, f.Path)
	}
	out, err := r.storeFiles(ctx, at, names, tmp)
	for i, e := range out {
		out[i].path = keepable(e.path)
	}
	return out, err
}

// storeFiles is store for these files.
func (r *Repo) storeFiles(ctx context.Context, at place, names []string, tmp string) ([]entry, error) {
	root, err := os.OpenRoot(at.workTree)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "The worktree cannot be opened")
	}
	defer root.Close()
	p := &packer{root: root, names: names}
	if len(p.names) == 0 {
		return nil, nil
	}
	if err := p.weigh("What exists only here", MaxKept); err != nil {
		return nil, err
	}
	marks := filepath.Join(tmp, "marks")
	pr, pw := io.Pipe()
	fed := make(chan error, 1)
	go func() { // owned by this call: it ends when fast-import has read all, or when the pipe is closed below
		err := p.feed(pw)
		pw.CloseWithError(err)
		fed <- err
	}()
	_, err = r.git.run(ctx, command{at: at, stdin: pr, writes: true, timeout: r.git.createTimeout,
		args: []string{"fast-import", "--quiet", "--done", "--export-marks=" + marks}})
	pr.Close()
	if feedErr := <-fed; err == nil || fault.CodeOf(feedErr) == fault.Unavailable {
		err = feedErr // git only says that it was not told all
	}
	if err == nil && p.changed != "" {
		err = fault.New(fault.Conflict, "The file %s changed while it was saved", printable(p.changed, 200)).
			WithHint("End what still writes to the worktree, and try again.")
	}
	if err != nil {
		return nil, err
	}
	return p.entries(marks)
}

// packer feeds fast-import.
type packer struct {
	root    *os.Root
	names   []string
	out     []entry // in the order of names; id is filled in by entries
	changed string  // a file that shrank while it was read
}

// weigh refuses more than is worth keeping in a repository, before anything is written: an agent may have made a file of a
// terabyte that holds nothing, and git would write it all.
func (p *packer) weigh(what string, most int64) error {
	var total, largest int64
	var name string
	for _, n := range p.names {
		st, err := p.root.Lstat(filepath.FromSlash(n))
		if err != nil || !st.Mode().IsRegular() {
			continue // blob says what is wrong with it
		}
		if total += st.Size(); st.Size() > largest {
			largest, name = st.Size(), n
		}
	}
	if total <= most {
		return nil
	}
	return fault.New(fault.Conflict, "%s is too much to be kept: %d MiB, of which %s alone has %d MiB", what, total>>20, printable(name, 200), largest>>20).
		WithHint("At most %d MiB are kept. Delete the file, or move it out of the worktree, and try again.", most>>20)
}

func (p *packer) feed(w io.Writer) error {
	b := bufio.NewWriterSize(w, 64<<10)
	for i, name := range p.names {
		e, err := p.blob(b, i+1, name)
		if err != nil {
			return err
		}
		p.out = append(p.out, e)
	}
	b.WriteString("done\n")
	return b.Flush()
}

// blob writes one file. A file that is no longer there gets mode "0"; pipes, sockets and devices are no content.
func (p *packer) blob(w *bufio.Writer, mark int, name string) (entry, error) {
	path := filepath.FromSlash(name)
	st, err := p.root.Lstat(path)
	gone := entry{mode: "0", path: name}
	switch {
	case errors.Is(err, os.ErrNotExist) || isNotDir(err):
		return gone, nil
	case err != nil:
		return entry{}, unreadable(err, name)
	case st.Mode()&os.ModeSymlink != 0:
		to, err := p.root.Readlink(path)
		if err != nil {
			return entry{}, unreadable(err, name)
		}
		to = filepath.ToSlash(to)
		fmt.Fprintf(w, "blob\nmark :%d\ndata %d\n%s\n", mark, len(to), to)
		return entry{mode: "120000", path: name}, nil
	case !st.Mode().IsRegular():
		return gone, nil
	}
	f, err := openFile(p.root, name)
	if err != nil {
		return entry{}, unreadable(err, name)
	}
	defer f.Close()
	if st, err = f.Stat(); err != nil {
		return entry{}, unreadable(err, name)
	}
	fmt.Fprintf(w, "blob\nmark :%d\ndata %d\n", mark, st.Size())
	n, err := io.Copy(w, io.LimitReader(f, st.Size()))
	if err != nil {
		return entry{}, unreadable(err, name)
	}
	if n < st.Size() { // the length is promised already; the padded blob is never used
		p.changed = name
		if _, err := io.CopyN(w, zeros{}, st.Size()-n); err != nil {
			return entry{}, err
		}
	}
	w.WriteByte('\n')
	if st.Mode()&0o100 != 0 {
		return entry{mode: "100755", path: name}, nil
	}
	return entry{mode: "100644", path: name}, nil
}

func unreadable(err error, name string) error {
	return fault.Wrap(err, fault.Unavailable, "The file %s cannot be read, so it cannot be kept", printable(name, 200)).
		WithHint("Give yourself the permission to read it (`chmod u+rX`), or delete it, and try again.")
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// entries joins the files with the ids that fast-import wrote down, lines of ":mark id".
func (p *packer) entries(marks string) ([]entry, error) {
	text, err := os.ReadFile(marks)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		mark, id, ok := strings.Cut(strings.TrimPrefix(line, ":"), " ")
		n, err := strconv.Atoi(mark)
		if line == "" {
			continue
		}
		if !ok || err != nil || n < 1 || n > len(p.out) {
			return nil, errors.New("fast-import: unknown mark " + strconv.Quote(printable(line, 80)))
		}
		p.out[n-1].id = id
	}
	for _, e := range p.out {
		if e.mode != "0" && e.id == "" {
			return nil, errors.New("fast-import: a file without an id")
		}
	}
	return p.out, nil
}

func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if s != "" && !contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
