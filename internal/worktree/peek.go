package worktree

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxPeeked bounds the packed refs that are searched without git, in bytes: ten thousand branches or so.
const maxPeeked = 1 << 20

// peek is resolve for the base that nearly every task has, a branch of the repository or of a remote that is a plain ref, and
// without git, whose start is the better part of the time until a task is accepted. ok = false: ask git. Nobody has looked
// whether the commit is there; whatever begins at it finds out.
func (r *Repo) peek(base string, more []string) (b Base, rest []string, ok bool) {
	if checkBranch(base) != nil || strings.HasPrefix(base, "refs/") {
		return b, nil, false
	}
	names := append([]string{"refs/heads/" + base, "refs/remotes/" + base}, more...)
	found, ok := r.refFiles(names)
	if !ok {
		return b, nil, false
	}
	for i, id := range found[:2] {
		if id != "" {
			return Base{Ref: names[i], Name: base, Commit: id}, found[2:], true
		}
	}
	return b, nil, false
}

// Foresee says which branch Create would make first and at which commit, as far as that is seen without git: nothing is said of a base
// that may be fetched before, and of a name that is taken. Whatever it says may be wrong by then.
func (r *Repo) Foresee(o CreateOptions) (branch, commit string, ok bool) {
	if o.Fetch && strings.Contains(o.Base, "/") || checkBranch(o.Branch) != nil {
		return "", "", false
	}
	base, found, ok := r.peek(o.Base, []string{"refs/heads/" + o.Branch, "refs/remotes/origin/" + o.Branch})
	if !ok || found[0] != "" || found[1] != "" && !o.BranchTyped {
		return "", "", false
	}
	return o.Branch, cmp.Or(o.Commit, base.Commit), true
}

// refFiles reads refs as git does: each from its own file, and otherwise from the packed ones, which are read afterwards. It
// answers "" for those that are not there, and ok = false where only git can tell.
func (r *Repo) refFiles(names []string) (found []string, ok bool) {
	if _, err := os.Lstat(filepath.Join(r.common, "reftable")); !errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	found = make([]string, len(names))
	for i, name := range names {
		st, err := os.Lstat(filepath.Join(r.common, filepath.FromSlash(name)))
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), err == nil && st.IsDir():
			continue
		case err != nil || !st.Mode().IsRegular():
			return nil, false
		}
		text, err := readIn(r.common, name)
		id := strings.TrimSuffix(string(text), "\n")
		if err != nil || !r.isID(id) {
			return nil, false // a symbolic one, or one that is just being written
		}
		found[i] = id
	}
	packed, ok := r.packedRefs()
	if !ok {
		return nil, false
	}
	for i, name := range names {
		if found[i] != "" {
			continue
		}
		at := bytes.Index(packed, []byte(" "+name+"\n"))
		if at < 0 {
			continue
		}
		start := at - len(r.zeros)
		if start < 0 || start > 0 && packed[start-1] != '\n' || !r.isID(string(packed[start:at])) {
			return nil, false
		}
		found[i] = string(packed[start:at])
	}
	return found, true
}

// packedRefs is the file with the packed refs; it is empty where there is none.
func (r *Repo) packedRefs() (text []byte, ok bool) {
	f, err := openIn(r.common, "packed-refs")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true
	}
	if err != nil {
		return nil, false
	}
	defer f.Close()
	text, err = io.ReadAll(io.LimitReader(f, maxPeeked+1))
	return text, err == nil && len(text) <= maxPeeked
}

// isID reports whether s is the whole id of an object of this repository.
func (r *Repo) isID(s string) bool {
	return len(s) == len(r.zeros) && strings.Trim(s, "0123456789abcdef") == ""
}
