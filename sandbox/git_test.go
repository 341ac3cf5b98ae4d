package sandbox

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSubmodulesArePinned: what git would run in a submodule is read-only, however deep it lies and whatever its name has in it. A folder
// that an earlier cage replaced by a link is not followed.
func TestSubmodulesArePinned(t *testing.T) {
	h := newHouse(t)
	for _, m := range []string{"plain", "with/a/slash", "plain/modules/nested"} {
		h.file(h.admin+"/modules/"+m+"/HEAD", "ref: refs/heads/main\n")
		h.file(h.admin+"/modules/"+m+"/config", "[core]\n")
		h.dirs(h.admin + "/modules/" + m + "/hooks")
	}
	h.file(h.root+"/elsewhere/HEAD", "ref: refs/heads/main\n")
	h.link(h.root+"/elsewhere", h.admin+"/modules/planted")
	h.file(h.admin+"/modules/a-file", "no folder\n")

	want := map[string]bool{"plain": true, "with/a/slash": true, "plain/modules/nested": true, "planted": false, "a-file": false, "with": false}
	for _, goos := range []string{"linux", "darwin"} {
		p := h.compose(func(w *Wish) { w.GOOS = goos })
		for m, pinned := range want {
			for _, name := range []string{"config", "hooks"} {
				path := filepath.Join(h.admin, "modules", m, name)
				if got := slices.Contains(p.pinned, path); got != pinned {
					t.Errorf("%s: %s is pinned: %v, want %v", goos, path, got, pinned)
				}
				made := slices.ContainsFunc(p.prepare, func(m preparation) bool { return filepath.Join(m.root, m.path) == path })
				if want := pinned && goos == "linux"; made != want {
					t.Errorf("%s: something is made for the pin of %s: %v, want %v", goos, path, made, want)
				}
			}
		}
		if i := slices.IndexFunc(p.pinned, func(path string) bool { return strings.HasPrefix(path, h.root+"/elsewhere") }); i >= 0 {
			t.Errorf("%s: the link was followed: %s", goos, p.pinned[i])
		}
	}
}

// TestBorrowedObjects: a repository that borrows objects shows them to the cage, read-only, by absolute and by relative paths; what is no
// folder of objects, and what lies in Termic's own folder, is not shown however the repository names it.
func TestBorrowedObjects(t *testing.T) {
	h := newHouse(t)
	for _, dir := range []string{h.root + "/one/objects", h.root + "/two/objects", h.root + "/three/keys", h.data + "/objects"} {
		h.file(dir+"/x", "x")
	}
	h.link(h.data+"/objects", h.root+"/four/objects")
	relative, err := filepath.Rel(h.git+"/objects", h.root+"/two/objects")
	if err != nil {
		t.Fatal(err)
	}
	h.file(h.git+"/objects/info/alternates", "# borrowed\n\n"+strings.Join([]string{h.root + "/one/objects", relative, h.root + "/three/keys",
		h.data + "/objects", h.root + "/four/objects", h.root + "/nothing/objects"}, "\n")+"\n")
	p := h.compose()
	for path, want := range map[string]bool{h.root + "/one/objects/x": true, h.root + "/two/objects/x": true, h.root + "/three/keys/x": false,
		h.data + "/objects/x": false, h.root + "/four/objects/x": false} {
		if got := p.Reads(path); got != want {
			t.Errorf("%s can be read: %v, want %v", path, got, want)
		}
		if m := source(p.View().Mounts, path); m != nil && m.Write {
			t.Errorf("%s can be written", path)
		}
	}
}

// TestPinnedFiles: the files of a worktree that outside programs run are read-only in its cage, if they are there and are files.
func TestPinnedFiles(t *testing.T) {
	h := newHouse(t)
	h.file(h.wt+"/.envrc", "export A=1\n")
	h.dirs(h.wt + "/folder")
	h.link("/etc/passwd", h.wt+"/link")
	p := h.compose(func(w *Wish) { w.Pinned = []string{".envrc", "folder", "link", "nothing"} })
	for name, want := range map[string]bool{".envrc": true, "folder": false, "link": false, "nothing": false} {
		if got := slices.Contains(p.View().Pins, h.wt+"/"+name); got != want {
			t.Errorf("%s is pinned: %v, want %v", name, got, want)
		}
	}
}
