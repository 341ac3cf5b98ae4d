package core

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"termic/internal/api"
	"termic/internal/store"
)

// TestFoldersAreLookedAt on a real disk: there, not there, there again.
func TestFoldersAreLookedAt(t *testing.T) {
	f := newFolders()
	dir := filepath.Join(t.TempDir(), "tree")
	for _, step := range []struct {
		do   func(string) error
		gone bool
	}{{func(string) error { return nil }, true}, {func(d string) error { return os.Mkdir(d, 0o700) }, false}, {os.Remove, true}} {
		if err := step.do(dir); err != nil {
			t.Fatal(err)
		}
		if got := f.gone(dir); got != step.gone {
			t.Errorf("gone: %v", got)
		}
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if f.gone(filepath.Join(dir, "below a file")) {
		t.Error("what cannot be looked at is not gone") // ENOTDIR
	}
	c := &Core{folders: f}
	for state, want := range map[string]bool{api.TaskLive: true, api.TaskMissing: true, api.TaskCreating: false, api.TaskFailed: false, api.TaskArchived: false} {
		if got := c.missing(store.Task{State: state, Path: "/nowhere/at/all"}); got != want {
			t.Errorf("%s: %v", state, got)
		}
	}
}

// TestFoldersOfAServerThatIsAway: 200 of them hold nobody for long, each is asked for once, and the answer counts when it comes.
func TestFoldersOfAServerThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away, asked := make(chan struct{}), atomic.Int64{}
		f := newFolders()
		f.stat = func(path string) error {
			asked.Add(1)
			if path == "/local" {
				return nil
			}
			<-away
			return os.ErrNotExist
		}
		for round, most := range []time.Duration{lookTime + 199*lookAgain, 0} {
			begin := time.Now()
			for i := range 200 {
				if f.gone(filepath.Join("/net", string(rune('a'+i)))) {
					t.Error("a folder that gives no answer is gone")
				}
				if f.gone("/local") {
					t.Error("the local one is gone")
				}
			}
			if took := time.Since(begin); took > most {
				t.Errorf("round %d took %s, want at most %s", round, took, most)
			}
		}
		if n := asked.Load(); n != 200+400 {
			t.Errorf("%d looks", n)
		}
		close(away)
		synctest.Wait()
		if !f.gone("/net/a") || len(f.stuck) > 0 {
			t.Errorf("the server is back, and %d looks are still without an answer", len(f.stuck))
		}
	})
}
