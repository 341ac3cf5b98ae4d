package repofind

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// repo makes what looks like a repository, used so many hours ago.
func repo(t *testing.T, dir string, hours int) {
	t.Helper()
	head := filepath.Join(dir, ".git", "HEAD")
	if err := os.MkdirAll(filepath.Dir(head), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(head, []byte("ref: refs/heads/main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-time.Duration(hours) * time.Hour)
	if err := os.Chtimes(head, at, at); err != nil {
		t.Fatal(err)
	}
}

func paths(r Found, dir string) []string {
	var out []string
	for _, one := range r.Repositories {
		rel, _ := filepath.Rel(dir, one.Path)
		out = append(out, filepath.ToSlash(rel))
	}
	return out
}

func TestLook(t *testing.T) {
	dir := t.TempDir()
	for name, hours := range map[string]int{
		"src/old": 90, "src/new": 1, "src/new/nested": 0, "a/b/c/deep": 5, "a/b/c/d/deeper": 2, ".hidden/repo": 0, "x/node_modules/pack": 0, "termic/tasks/mine": 0,
	} {
		repo(t, filepath.Join(dir, filepath.FromSlash(name)), hours)
	}
	// A worktree of another repository, a folder of git without a HEAD, and a link that leads round.
	for _, name := range []string{"src/tree", "src/broken/.git"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(name)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "src", "tree", ".git"), []byte("gitdir: /elsewhere\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = os.Symlink(dir, filepath.Join(dir, "src", "round")) // where links cannot be made there is none to follow
	got, err := Look(context.Background(), dir, filepath.Join(dir, "termic")+string(filepath.Separator))
	if err != nil || got.More {
		t.Fatal(got, err)
	}
	if want := []string{"src/new", "a/b/c/deep", "src/old"}; !slices.Equal(paths(got, dir), want) {
		t.Errorf("found %v, want %v", paths(got, dir), want)
	}
	self, err := Look(context.Background(), filepath.Join(dir, "src", "new"))
	if err != nil || len(self.Repositories) != 1 {
		t.Errorf("a repository itself: %v %v", self, err)
	}
	if _, err := Look(context.Background(), filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a folder that is not there has repositories")
	}
}

func TestLookStops(t *testing.T) {
	dir := t.TempDir()
	for i := range MaxFound + 3 {
		repo(t, filepath.Join(dir, fmt.Sprintf("r%03d", i)), i)
	}
	got, err := Look(context.Background(), dir)
	if err != nil || !got.More || len(got.Repositories) != MaxFound {
		t.Errorf("%d, more %v, %v", len(got.Repositories), got.More, err)
	}
	ended, end := context.WithCancel(context.Background())
	end()
	if got, err := Look(ended, dir); err != nil || !got.More || len(got.Repositories) != 0 {
		t.Errorf("after its end: %v %v", got, err)
	}
}
