package worktree

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // git names objects by it
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"path"
	"slices"
	"strconv"
	"strings"

	"termic/internal/fault"
)

// maxTreeList bounds the list of one commit's files, and what is read of its folders, in bytes: some two million files.
const maxTreeList = 256 << 20

// TreeList lists every file of a commit as `git ls-tree -r -z --full-tree` prints it, in another order. commit comes from the
// caller, and is a full id: what is listed is what the id stands for, whatever lies in the repository.
//
// Git believes what it finds under the name of an object, and what its graph of commits says; whoever can write there could
// let a commit have other files. So commit and folders are read as they are, and each must have the content that it is named
// after. A repository in which one has not is fault.Conflict; a commit that is not there whole is fault.NotFound.
func (r *Repo) TreeList(ctx context.Context, commit string) ([]byte, error) {
	if !isID(commit) {
		return nil, fault.New(fault.InvalidArgument, "%q is no commit", printable(commit, 80))
	}
	left := int64(maxTreeList)
	found, err := r.objects(ctx, "commit", []string{commit}, &left)
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(string(found[commit]), "\n")
	root, ok := strings.CutPrefix(first, "tree ")
	if !ok || len(root) != len(commit) || !isID(root) {
		return nil, fault.New(fault.NotFound, "%s is no commit", printable(commit, 80))
	}
	var out bytes.Buffer
	for level := map[string][]string{root: {""}}; len(level) > 0; {
		ids := keys(level)
		if found, err = r.objects(ctx, "tree", ids, &left); err != nil {
			return nil, err
		}
		next := map[string][]string{}
		for _, id := range ids {
			entries, err := treeEntries(found[id], len(commit)/2)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				for _, dir := range level[id] {
					name := path.Join(dir, e.name)
					if left -= int64(len(name)) + 64; left < 0 { // a folder may stand in many places
						return nil, tooMany(commit)
					}
					if e.kind == "tree" {
						next[e.id] = append(next[e.id], name)
						continue
					}
					fmt.Fprintf(&out, "%s %s %s\t%s\x00", e.mode, e.kind, e.id, name)
				}
			}
		}
		level = next
	}
	return out.Bytes(), nil
}

func tooMany(commit string) error {
	return fault.New(fault.Unsupported, "The commit %s has more files than Termic reads", printable(commit, 80))
}

func keys(m map[string][]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// isID reports whether s is the full name of an object.
func isID(s string) bool {
	return (len(s) == 2*sha1.Size || len(s) == 2*sha256.Size) && strings.Trim(s, "0123456789abcdef") == ""
}

// objects reads objects of one kind by their ids, each of which must be the name of what is read. left is how much may still
// be read, in bytes.
func (r *Repo) objects(ctx context.Context, kind string, ids []string, left *int64) (map[string][]byte, error) {
	out, err := r.git.run(ctx, command{at: r.here(), args: []string{"cat-file", "--batch"}, max: *left,
		stdin: strings.NewReader(strings.Join(ids, "\n") + "\n"), env: []string{"GIT_NO_REPLACE_OBJECTS=1"}})
	switch {
	case exitOf(err) >= 0:
		return nil, damaged(kind, ids[0], said(err))
	case err != nil:
		return nil, err
	case out.Truncated:
		return nil, tooMany(ids[0])
	}
	*left -= int64(len(out.Stdout))
	found, rest := map[string][]byte{}, out.Stdout
	for _, id := range ids {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		head := strings.Fields(string(line))
		if len(head) == 2 && head[0] == id && head[1] == "missing" {
			return nil, fault.New(fault.NotFound, "The %s %s is not in the repository any more", kind, id)
		}
		if len(head) != 3 || head[0] != id {
			return nil, damaged(kind, id, "git cannot read it")
		}
		size, err := strconv.Atoi(head[2])
		if err != nil || size < 0 || size >= len(after) || head[1] != kind {
			return nil, damaged(kind, id, "it is a "+printable(head[1], 20))
		}
		if nameOf(kind, after[:size], len(id)) != id {
			return nil, damaged(kind, id, "its content has another name")
		}
		found[id], rest = after[:size], after[size+1:]
	}
	return found, nil
}

// damaged says that an object is not what it is named after.
func damaged(kind, id, why string) error {
	return fault.New(fault.Conflict, "The %s %s in the repository is not what it is named after, so nothing can be compared with it", kind, id).
		WithHint("A caged agent may have exchanged it; `git fsck` lists what is wrong. Fetch it again, or take it from a copy. (%s)", why)
}

// nameOf is the name that git gives to a content.
func nameOf(kind string, content []byte, digits int) string {
	var h hash.Hash = sha1.New() //nolint:gosec // git names objects by it
	if digits == 2*sha256.Size {
		h = sha256.New()
	}
	fmt.Fprintf(h, "%s %d\x00", kind, len(content))
	_, _ = h.Write(content) // it never fails
	return hex.EncodeToString(h.Sum(nil))
}

// treeEntry is one line of a folder.
type treeEntry struct{ mode, kind, id, name string }

// treeEntries reads a folder as git keeps it: mode, a space, the name, a zero, and the id in bytes.
func treeEntries(raw []byte, idBytes int) ([]treeEntry, error) {
	var out []treeEntry
	for len(raw) > 0 {
		head, rest, ok := bytes.Cut(raw, []byte{0})
		mode, name, has := strings.Cut(string(head), " ")
		if !ok || !has || name == "" || strings.Contains(name, "/") || len(rest) < idBytes {
			return nil, fault.New(fault.Conflict, "A folder in the repository cannot be read").WithHint("`git fsck` lists what is wrong.")
		}
		e := treeEntry{mode: mode, kind: "blob", id: hex.EncodeToString(rest[:idBytes]), name: name}
		switch mode {
		case "40000", "040000":
			e.kind = "tree"
		case "160000":
			e.kind = "commit"
		}
		out, raw = append(out, e), rest[idBytes:]
	}
	return out, nil
}
