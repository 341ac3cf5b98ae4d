//go:build !windows

package agent

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestPipesAreNotWaitedFor: a pipe in the place of a folder or a transcript would make a plain open wait for ever.
func TestPipesAreNotWaitedFor(t *testing.T) {
	for _, at := range []string{".claude/projects", ".claude/projects/-w", ".claude/projects/-w/one.jsonl", ".codex/sessions"} {
		home := t.TempDir()
		path := filepath.Join(home, at)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		for _, r := range []ResultSource{ResultClaude, ResultCodex} {
			for _, id := range []string{"", "one"} {
				go func() {
					_, err := Result(ResultQuery{Kind: Kind{Name: string(r), Result: r}, Home: home, Dir: "/w", SessionID: id, Confined: true})
					done <- err
				}()
				select {
				case err := <-done:
					if err == nil {
						t.Errorf("%s, %s: an answer", at, r)
					}
				case <-time.After(10 * time.Second):
					t.Fatalf("%s, %s: it waits", at, r)
				}
			}
		}
	}
}
