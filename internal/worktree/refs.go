package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"termic/internal/fault"
)

// WatchPrefix is where the old places of refs are kept that somebody moved, so that no clean-up of git takes the commits.
const WatchPrefix = "refs/termic/watch/"

// Bounds of a look at loose refs without git.
const (
	maxLoose   = 20_000 // files and folders below refs; with more, git is asked each time
	maxRefFile = 4096   // bytes of one
)

// Ref is what a ref leads to. The zero value is a ref that is not there.
type Ref struct {
	ID string // of the object
	To string // of a symbolic ref: the name of the other one
}

// Same reports whether nothing moved. That a symbolic ref leads to another object now is a change of the other one.
func (r Ref) Same(o Ref) bool { return r.To == o.To && (r.To != "" || r.ID == o.ID) }

// Refs is what every ref of a repository leads to, by full name.
type Refs struct {
	At      map[string]Ref
	Stashes []string // the commits of all stashes, oldest first; nil where the repository keeps its refs in tables
}

// RefChange is a ref that two Refs have differently. A stash that is gone is one as well, named by StashName.
type RefChange struct {
	Name     string
	Old, New Ref
}

// StashName names one stash, which has no name of its own that would stay.
func StashName(commit string) string { return stashRef + "@{" + commit + "}" }

const stashRef = "refs/stash"

// Refs asks git for all refs.
func (r *Repo) Refs(ctx context.Context) (Refs, error) {
	out, err := r.git.text(ctx, command{at: r.here(), args: []string{"for-each-ref", "--format=%(refname)%00%(objectname)%00%(symref)"}})
	if err != nil {
		return Refs{}, err
	}
	refs := Refs{At: map[string]Ref{}}
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\x00")
		if len(f) != 3 {
			return Refs{}, errors.New("for-each-ref: unknown line " + printable(line, 80))
		}
		refs.At[f[0]] = Ref{ID: f[1], To: f[2]}
	}
	log, err := readIn(r.common, "logs/"+stashRef)
	if err != nil {
		return refs, nil // there is none, or it is in a table
	}
	for line := range strings.Lines(string(log)) {
		if f := strings.Fields(line); len(f) > 1 {
			refs.Stashes = append(refs.Stashes, f[1])
		}
	}
	return refs, nil
}

// Changes are the refs of now that are not as they were in r. A stash that came is no change, one that went is.
func (r Refs) Changes(now Refs) []RefChange {
	var out []RefChange
	for name, was := range r.At {
		if is := now.At[name]; name != stashRef && !was.Same(is) {
			out = append(out, RefChange{name, was, is})
		}
	}
	for name, is := range now.At {
		if _, had := r.At[name]; !had && name != stashRef {
			out = append(out, RefChange{name, Ref{}, is})
		}
	}
	for _, commit := range r.Stashes {
		if !contains(now.Stashes, commit) && now.At[stashRef].ID != commit {
			out = append(out, RefChange{StashName(commit), Ref{ID: commit}, Ref{}})
		}
	}
	return out
}

// RefsMark is a text that changes whenever a ref does, made without git: from the content of loose refs, since times can
// be set by whoever may write them, and from the time of the packed ones and of what checkouts note of themselves. fault.Conflict says that something lies among
// the refs that git would hang on.
func (r *Repo) RefsMark() (string, error) {
	sum := sha256.New()
	for _, name := range []string{"packed-refs", "reftable/tables.list"} {
		if st, err := os.Stat(filepath.Join(r.common, name)); err == nil {
			fmt.Fprintln(sum, name, st.Size(), st.ModTime().UnixNano())
		}
	}
	if tables, err := readIn(r.common, "reftable/tables.list"); err == nil {
		fmt.Fprintf(sum, "%s", tables)
	}
	for _, name := range append(r.checkoutLogs(), filepath.Join("logs", stashRef)) {
		if log, err := os.Lstat(filepath.Join(r.common, name)); err == nil {
			fmt.Fprintln(sum, name, log.Size(), log.ModTime().UnixNano())
		}
	}
	root, err := os.OpenRoot(filepath.Join(r.common, "refs"))
	if err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "The refs of the repository cannot be read")
	}
	defer root.Close()
	seen := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if seen++; seen > maxLoose {
			return errManyRefs
		}
		if err != nil || d.IsDir() {
			return nil // it went while we looked: the next look finds out
		}
		return markRef(root, sum, name)
	})
	if errors.Is(err, errManyRefs) {
		return "", nil
	}
	return hex.EncodeToString(sum.Sum(nil)), err
}

var errManyRefs = errors.New("too many loose refs to read without git")

// markRef adds one loose ref. Git opens whatever has the name of a ref, and waits for a pipe until its time has run out.
func markRef(root *os.Root, sum hash.Hash, name string) error {
	strange := fault.New(fault.Conflict, "refs/%s is not a ref but something that git would wait for", printable(name, 200)).
		WithHint("A caged agent may have put it there. Take it away from the repository's git folder.")
	st, err := root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return nil
	}
	fmt.Fprintf(sum, "%s\x00", name)
	switch {
	case st.Mode()&os.ModeSymlink != 0:
		to, err := root.Readlink(filepath.FromSlash(name))
		if err != nil || !strings.HasPrefix(filepath.ToSlash(to), "refs/") { // the old form of a symbolic ref
			return strange
		}
		fmt.Fprintf(sum, "-> %s\n", to)
		return nil
	case !st.Mode().IsRegular():
		return strange
	}
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	_, _ = io.Copy(sum, io.LimitReader(f, maxRefFile))
	return nil
}

// KeepRef makes a ref below WatchPrefix to what a ref led to, and returns its name. Keeping the same again changes
// nothing.
func (r *Repo) KeepRef(ctx context.Context, name, id string) (string, error) {
	flat := strings.NewReplacer("%", "%25", "/", "%2F", "@{", "-", "}", "").Replace(strings.TrimPrefix(name, "refs/"))
	if len(flat) > 120 { // a name of a file, with room for git's lock
		sum := sha256.Sum256([]byte(name))
		flat = hex.EncodeToString(sum[:])
	}
	ref := WatchPrefix + flat + "-" + id[:min(len(id), 12)]
	_, err := r.git.run(ctx, command{at: r.here(), args: []string{"update-ref", ref, id}, writes: true})
	return ref, err
}

// DropKept deletes a ref that KeepRef made.
func (r *Repo) DropKept(ctx context.Context, ref string) error {
	if !strings.HasPrefix(ref, WatchPrefix) {
		return fault.New(fault.InvalidArgument, "%q is no ref of a watch", printable(ref, 200))
	}
	_, err := r.git.run(ctx, command{at: r.here(), args: []string{"update-ref", "-d", ref}, writes: true})
	return err
}

// PutBack makes a ref lead to where it led before a change, if it is still as the change left it: else it is
// fault.Conflict, and nothing was done. A branch that is new and checked out somewhere is not taken away.
func (r *Repo) PutBack(ctx context.Context, c RefChange) error {
	args := []string{"update-ref", "--no-deref", "--create-reflog", "-m", "termic: put back", c.Name, c.Old.ID, orZeros(c.New.ID, r.zeros)}
	switch {
	case strings.HasPrefix(c.Name, stashRef+"@{"):
		args = []string{"update-ref", "--create-reflog", "-m", "put back by Termic", stashRef, c.Old.ID}
	case c.Old.To != "":
		args = []string{"symbolic-ref", "-m", "termic: put back", c.Name, c.Old.To}
	case c.Old.ID == "":
		if err := r.notCheckedOut(ctx, c.Name); err != nil {
			return err
		}
		args = []string{"update-ref", "--no-deref", "-d", c.Name, c.New.ID}
	}
	_, err := r.git.run(ctx, command{at: r.here(), args: args, writes: true})
	if exitOf(err) >= 0 {
		return fault.Wrap(err, fault.Conflict, "%s cannot be put back", printable(c.Name, 200)).WithHint("git says: %s", said(err))
	}
	return err
}

func orZeros(id, zeros string) string {
	if id == "" {
		return zeros
	}
	return id
}

func (r *Repo) notCheckedOut(ctx context.Context, ref string) error {
	list, err := r.List(ctx)
	if err != nil {
		return err
	}
	for _, e := range list {
		if !e.Bare && e.Branch != "" && "refs/heads/"+e.Branch == ref {
			return fault.New(fault.Conflict, "The branch %s is checked out in %s", printable(e.Branch, 200), printable(e.Path, 200)).
				WithHint("Switch to another branch there first.")
		}
	}
	return nil
}
