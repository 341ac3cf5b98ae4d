package worktree

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termic/internal/fault"
)

// lines are the entries of a list, sorted.
func lines(list string) []string {
	out := splitNUL(list)
	slices.Sort(out)
	return out
}

// TestTreeList: the list is that of git, in every format of objects.
func TestTreeList(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			w := newWorld(t)
			dir := filepath.Join(w.dir, "repo")
			w.must(os.MkdirAll(dir, 0o755))
			w.run(dir, "init", "-q", "--object-format="+format)
			for _, name := range []string{"a.txt", "dir/b.txt", "dir/deep er/é\n.txt", "same/one/x", "same/two/x"} {
				w.write(dir, name, filepath.Base(name))
			}
			w.must(os.Symlink("a.txt", filepath.Join(dir, "link")))
			w.must(os.Chmod(filepath.Join(dir, "a.txt"), 0o755))
			first := w.commit(dir, "first")
			w.run(dir, "update-index", "--add", "--cacheinfo", "160000,"+first+",sub")
			w.run(dir, "commit", "-qm", "with a submodule")
			head := w.run(dir, "rev-parse", "HEAD")
			got, err := w.open(dir).TreeList(context.Background(), head)
			w.must(err)
			want := lines(w.run(dir, "ls-tree", "-r", "-z", "--full-tree", head))
			if len(want) != 7 || !slices.Equal(lines(string(got)), want) {
				t.Errorf("got %q, want %q", lines(string(got)), want)
			}
			w.run(dir, "repack", "-qad")
			if again, err := w.open(dir).TreeList(context.Background(), head); err != nil || !bytes.Equal(again, got) {
				t.Errorf("from a pack: %q %v", again, err)
			}
			w.run(dir, "commit", "-q", "--allow-empty-message", "--allow-empty", "-m", "")
			empty := strings.TrimSpace(w.run(dir, "mktree", "--missing", "-z"))
			none := w.run(dir, "commit-tree", empty, "-m", "nothing")
			if list, err := w.open(dir).TreeList(context.Background(), none); err != nil || len(list) > 0 {
				t.Errorf("of nothing: %q %v", list, err)
			}
		})
	}
}

// exchange puts a content into the place of a loose object.
func (w *world) exchange(dir, id, kind, content string) {
	w.t.Helper()
	var buf bytes.Buffer
	z := zlib.NewWriter(&buf)
	fmt.Fprintf(z, "%s %d\x00%s", kind, len(content), content)
	w.must(z.Close())
	at := filepath.Join(dir, ".git/objects", id[:2], id[2:])
	w.must(os.Chmod(at, 0o600))
	w.must(os.WriteFile(at, buf.Bytes(), 0o600))
}

// TestTreeListIsNotDeceived: whoever can write into the repository cannot let a commit have other files.
func TestTreeListIsNotDeceived(t *testing.T) {
	raw := func(w *world, dir, kind, id string) string { return w.run(dir, "cat-file", kind, id) + "\n" }
	for name, act := range map[string]func(w *world, dir, commit, evil string){
		"another folder": func(w *world, dir, commit, evil string) {
			w.exchange(dir, w.run(dir, "rev-parse", commit+"^{tree}"), "tree", raw(w, dir, "tree", evil+"^{tree}"))
		},
		"another folder below": func(w *world, dir, commit, evil string) {
			w.exchange(dir, w.run(dir, "rev-parse", commit+":dir"), "tree", raw(w, dir, "tree", evil+":dir"))
		},
		"another commit": func(w *world, dir, commit, evil string) {
			w.exchange(dir, commit, "commit", raw(w, dir, "commit", evil))
		},
		"a file for a folder": func(w *world, dir, commit, evil string) {
			w.exchange(dir, w.run(dir, "rev-parse", commit+":dir"), "blob", "x")
		},
		"a folder for the commit": func(w *world, dir, commit, evil string) {
			w.exchange(dir, commit, "tree", raw(w, dir, "tree", evil+"^{tree}"))
		},
		"replaced": func(w *world, dir, commit, evil string) { w.run(dir, "replace", commit, evil) },
		"replaced folder": func(w *world, dir, commit, evil string) {
			w.run(dir, "replace", commit+"^{tree}", evil+"^{tree}")
		},
		"a graph that says otherwise": func(w *world, dir, commit, evil string) {
			w.run(dir, "commit-graph", "write", "--reachable")
			at := filepath.Join(dir, ".git/objects/info/commit-graph")
			graph, err := os.ReadFile(at)
			w.must(err)
			id := func(rev string) []byte {
				var b []byte
				_, err := fmt.Sscanf(w.run(dir, "rev-parse", rev), "%x", &b)
				w.must(err)
				return b
			}
			was, is := id(commit+"^{tree}"), id(evil+"^{tree}")
			if !bytes.Contains(graph, was) {
				w.t.Fatal("the graph names no folders")
			}
			w.must(os.Chmod(at, 0o600))
			w.must(os.WriteFile(at, bytes.ReplaceAll(graph, was, is), 0o600))
		},
		"gone": func(w *world, dir, commit, evil string) { w.must(os.Remove(objectAt(dir, commit))) },
		"gone folder": func(w *world, dir, commit, evil string) {
			w.must(os.Remove(objectAt(dir, w.run(dir, "rev-parse", commit+":dir"))))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			dir := w.repo("repo")
			commit := w.run(dir, "rev-parse", "HEAD")
			r := w.open(dir)
			want, err := r.TreeList(context.Background(), commit)
			w.must(err)
			w.write(dir, "dir/.mcp.json", "{}")
			w.write(dir, ".mcp.json", "{}")
			evil := w.commit(dir, "evil")
			act(w, dir, commit, evil)
			got, err := r.TreeList(context.Background(), commit)
			switch fault.CodeOf(err) {
			case "":
				if !bytes.Equal(got, want) {
					t.Errorf("it has %q, and had %q", lines(string(got)), lines(string(want)))
				}
			case fault.Conflict, fault.NotFound:
				if strings.HasPrefix(name, "gone") != (fault.CodeOf(err) == fault.NotFound) {
					t.Errorf("%v", err)
				}
			default:
				t.Errorf("%v", err)
			}
		})
	}
}

func objectAt(dir, id string) string { return filepath.Join(dir, ".git/objects", id[:2], id[2:]) }

// TestTreeListIsBounded: folders that stand in one another many times over are not listed for ever.
func TestTreeListIsBounded(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("repo")
	tree := w.run(dir, "rev-parse", "HEAD:dir")
	for range 8 {
		var in strings.Builder
		for i := range 12 {
			fmt.Fprintf(&in, "040000 tree %s\t%d\n", tree, i)
		}
		list := filepath.Join(w.dir, "list")
		w.must(os.WriteFile(list, []byte(in.String()), 0o600))
		tree = w.run(dir, "-c", "alias.mk=!git mktree < '"+list+"'", "mk")
	}
	bomb := w.run(dir, "commit-tree", tree, "-m", "bomb")
	if _, err := w.open(dir).TreeList(context.Background(), bomb); fault.CodeOf(err) != fault.Unsupported {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"", "HEAD", "-h", "main", strings.Repeat("A", 40)} {
		if _, err := w.open(dir).TreeList(context.Background(), name); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%q: %v", name, err)
		}
	}
}
