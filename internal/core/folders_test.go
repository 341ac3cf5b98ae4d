package core

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
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
		if got := f.glance(dir); (got == deleted) != step.gone {
			t.Errorf("it looks like %v", got)
		}
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if f.glance(filepath.Join(dir, "below a file")) != present {
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
			switch path {
			case "/slow":
				time.Sleep(lookTime + time.Second)
				return nil
			case "/local":
				return nil
			}
			<-away
			return os.ErrNotExist
		}
		for round, most := range []time.Duration{lookTime + 199*lookAgain, 0} {
			begin := time.Now()
			for i := range 200 {
				if path := filepath.Join("/net", string(rune('a'+i))); f.glance(path) != silent {
					t.Error("a folder that gives no answer is there, or gone")
				}
				if f.glance("/local") != present {
					t.Error("the local one is not there")
				}
			}
			if took := time.Since(begin); took > most {
				t.Errorf("round %d took %s, want at most %s", round, took, most)
			}
		}
		if n := asked.Load(); n != 200+400 {
			t.Errorf("%d looks", n)
		}
		c := &Core{folders: f}
		err := c.usableTree(store.Task{Name: "far", State: api.TaskLive, Path: "/net/a"})
		if g := fault.From(err); g.Code != fault.Unavailable || !strings.Contains(g.Message, "gives no answer: /net/a") || g.Hint == "" {
			t.Errorf("%v", err)
		}
		if f.glance("/slow") != silent {
			t.Error("a glance waits")
		}
		if s := f.look("/slow", lookLong); s != present {
			t.Errorf("a slow one that was glanced at before is %v", s)
		}
		close(away)
		synctest.Wait()
		if f.glance("/net/a") != deleted || len(f.stuck) > 0 {
			t.Errorf("the server is back, and %d looks are still without an answer", len(f.stuck))
		}
	})
}
