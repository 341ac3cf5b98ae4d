package worktree

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestBranches: own and fetched branches, newest first, without the HEAD of a remote; and never more than a person can use.
func TestBranches(t *testing.T) {
	w := newWorld(t)
	up := w.repo("up")
	w.run(up, "branch", "feature/ünï'q'")
	w.write(up, "later.txt", "x")
	w.run(w.dir, "clone", "-q", up, "clone")
	w.run(up, "add", "-A")
	w.run(up, "-c", "alias.late=!GIT_COMMITTER_DATE=2040-01-01T00:00:00Z git commit -q -m newest", "late")
	clone := filepath.Join(w.dir, "clone")
	w.run(clone, "fetch", "-q")
	r := w.open(clone)
	list, more, err := r.Branches(t.Context())
	if err != nil || more {
		t.Fatal(err, more)
	}
	var got []string
	for _, b := range list {
		kind := "own "
		if b.Remote {
			kind = "fetched "
		}
		if len(b.Commit) != 40 || b.Time.IsZero() {
			t.Errorf("branch %+v", b)
		}
		got = append(got, kind+b.Name)
	}
	if want := "fetched origin/main|own main|fetched origin/feature/ünï'q'"; len(got) != 3 || got[0] != "fetched origin/main" {
		t.Errorf("got %s, want %s", strings.Join(got, "|"), want)
	}
	var script strings.Builder
	head := strings.TrimSpace(w.run(clone, "rev-parse", "HEAD"))
	for i := range MaxBranches + 5 {
		script.WriteString("create refs/heads/b" + strings.Repeat("x", i%3) + strconv.Itoa(i) + " " + head + "\n")
	}
	w.write(clone, "script", script.String())
	w.run(clone, "config", "core.logAllRefUpdates", "false")
	w.run(clone, "-c", "alias.many=!git update-ref --stdin <script", "many")
	if list, more, err = r.Branches(t.Context()); err != nil || !more || len(list) > MaxBranches {
		t.Errorf("%d branches, more %v, %v", len(list), more, err)
	}
}
