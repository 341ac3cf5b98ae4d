package selfrun

import (
	"cmp"
	"context"
	"crypto/sha1" //nolint:gosec // git names contents by it
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

// Entry is one file of a base, as git keeps it.
type Entry struct {
	Mode string // as git writes it: 100644, 100755, 120000 (a link), 160000 (another repository)
	Hash string // name of the content, in hexadecimal: SHA-1 or SHA-256
}

// How says what became of a file.
type How string

// What can become of a file.
const (
	Added    How = "added"
	Modified How = "modified"
	Deleted  How = "deleted"
)

// Change is a file that runs by itself and that a tree has other than its base.
type Change struct {
	Path string // in the tree, with slashes
	Kind Kind
	How  How
	Rule string // the entry of the list
}

// Report is what Changed found.
type Report struct {
	Changes []Change // by kind, then by path
	// Complete is false when the tree has more than was looked at; then the worst must be assumed.
	Complete bool
}

// Bounds of one look at a tree.
const (
	maxEntries = 500_000  // files and folders
	maxChanges = 2000     // changes that are told
	maxContent = 64 << 20 // bytes of one file that are compared; a larger one counts as modified
	maxDeep    = 128      // folders in one another
)

// Changed compares a tree with a base: every file of the base by its path, as `git ls-tree -r -z` lists them. Take the
// list from the main repository and a commit that no cage chose.
//
// An error says that the tree could not be opened or the context ended.
func (l *List) Changed(ctx context.Context, tree string, base map[string]Entry) (Report, error) {
	root, err := openFolder(tree)
	if err != nil {
		return Report{}, fmt.Errorf("open %s: %w", tree, err)
	}
	defer root.Close()
	s := &look{list: l, ctx: ctx, base: base, seen: map[string]bool{}, left: maxEntries}
	s.out.Complete = true
	if err := s.folder(root, "", 0); err != nil {
		return Report{}, err
	}
	for _, p := range slices.Sorted(maps.Keys(base)) {
		if r, is := l.Match(p); is && !s.seen[p] && !slices.Contains(strings.Split(p, "/"), skipped) {
			s.add(p, r, Deleted)
		}
	}
	slices.SortFunc(s.out.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Kind.rank(), b.Kind.rank()), cmp.Compare(a.Path, b.Path))
	})
	return s.out, nil
}

// skipped is the folder that is not looked into: nobody works in it, and it is large.
const skipped = "node_modules"

// ownRepository stands for a rule where a folder is a repository.
const ownRepository = "a repository of its own"

// entry is one name of a folder. What is neither a folder nor a link may be anything.
type entry struct {
	name         string
	folder, link bool
}

// look is one comparison under way.
type look struct {
	list *List
	ctx  context.Context
	base map[string]Entry
	seen map[string]bool
	left int
	out  Report
}

func (s *look) add(p string, r Rule, how How) {
	if len(s.out.Changes) >= maxChanges {
		s.out.Complete = false
		return
	}
	s.out.Changes = append(s.out.Changes, Change{Path: p, Kind: r.Kind, How: how, Rule: r.Name})
}

// folder looks at one folder of the tree.
func (s *look) folder(dir *folder, name string, deep int) error {
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	entries, more := dir.list(s.left)
	s.left -= len(entries)
	if more || deep > maxDeep {
		s.out.Complete = false
		return nil
	}
	if name != "" && isRepository(entries) {
		s.add(name, Rule{Name: ownRepository, Kind: Git}, s.how(name))
	}
	for _, e := range entries {
		p := path.Join(name, e.name)
		if name == "" && strings.EqualFold(e.name, ".git") {
			continue // the tree's own; its content is pinned, and the pointer is never believed
		}
		if s.base[p].Mode == "160000" {
			// A repository in the repository: what its pointer leads to, and its files, are none of the base.
			s.add(p, Rule{Name: ownRepository, Kind: Git}, Modified)
			continue
		}
		if e.folder && !strings.EqualFold(e.name, ".git") {
			if err := s.inside(dir, e.name, p, deep); err != nil {
				return err
			}
			continue
		}
		if r, is := s.list.Match(p); is {
			s.compare(dir, e, p, r)
		}
	}
	return nil
}

// inside looks at a folder in a folder.
func (s *look) inside(dir *folder, name, p string, deep int) error {
	if name == skipped {
		return nil
	}
	sub, err := dir.open(name)
	if err != nil {
		// It is gone, was replaced, or is closed to us.
		r, is := s.list.Match(p + "/x")
		if !is {
			r = Rule{Name: "a folder that cannot be read", Kind: Tool}
		}
		s.add(p, r, Modified)
		return nil
	}
	defer sub.Close()
	return s.folder(sub, p, deep+1)
}

// isRepository reports whether a folder is laid out as git's own are: git takes one for a repository from inside.
func isRepository(entries []entry) bool {
	found := 0
	for _, e := range entries {
		switch strings.ToLower(e.name) {
		case "head", "objects", "refs":
			found++
		}
	}
	return found == 3
}

// compare adds a file of the list if it is not what the base has.
func (s *look) compare(dir *folder, e entry, p string, r Rule) {
	s.seen[p] = true
	was, had := s.base[p]
	if had && s.same(dir, e, was) {
		return
	}
	s.add(p, r, s.how(p))
}

// how is what became of a path that is there and is not as it was.
func (s *look) how(p string) How {
	if _, had := s.base[p]; had {
		return Modified
	}
	return Added
}

// same reports whether a file of the tree is what the base has.
func (s *look) same(dir *folder, e entry, was Entry) bool {
	var h hash.Hash
	switch len(was.Hash) {
	case sha1.Size * 2:
		h = sha1.New() //nolint:gosec // git names contents by it
	case sha256.Size * 2:
		h = sha256.New()
	default:
		return false
	}
	if e.link {
		to, err := dir.readlink(e.name)
		if err != nil || was.Mode != "120000" {
			return false
		}
		fmt.Fprintf(h, "blob %d\x00%s", len(to), to)
		return hex.EncodeToString(h.Sum(nil)) == was.Hash
	}
	f, size, executable, err := dir.file(e.name)
	if err != nil {
		return false
	}
	defer f.Close()
	mode := "100644"
	if executable {
		mode = "100755"
	}
	if size > maxContent || was.Mode != mode {
		return false
	}
	fmt.Fprintf(h, "blob %d\x00", size)
	n, err := io.Copy(h, io.LimitReader(f, size+1))
	return err == nil && n == size && hex.EncodeToString(h.Sum(nil)) == was.Hash
}

// ParseTree reads what `git ls-tree -r -z --full-tree COMMIT` prints.
func ParseTree(out []byte) (map[string]Entry, error) {
	entries := map[string]Entry{}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if line == "" {
			continue
		}
		head, name, ok := strings.Cut(line, "\t")
		f := strings.Fields(head)
		if !ok || len(f) != 3 || name == "" {
			return nil, fmt.Errorf("%.80q is no line of a tree", line)
		}
		entries[name] = Entry{Mode: f[0], Hash: f[2]}
	}
	return entries, nil
}
