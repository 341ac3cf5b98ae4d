package core

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"termic/internal/store"
)

// TestHomesOfArchivedTasks: logins go soon after an archive, homes when conversations are not kept any longer; those of live
// tasks stay, and no link leads out of a home.
func TestHomesOfArchivedTasks(t *testing.T) {
	r := newIDRig(t)
	outside := t.TempDir()
	must(t, os.WriteFile(filepath.Join(outside, "auth.json"), []byte("the user's own"), 0o600))
	homes := filepath.Join(r.dataDir, "homes")
	home := func(id string) string {
		dir := filepath.Join(homes, id)
		for _, name := range []string{".claude/.credentials.json", ".claude/projects/p/talk.jsonl", ".cache/deep/er/file"} {
			must(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700))
			must(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
		}
		must(t, os.Symlink(outside, filepath.Join(dir, ".codex"))) // as a cage may leave it
		deep := filepath.Join(dir, ".cache/deep")
		must(t, os.Chmod(deep, 0o500))
		t.Cleanup(func() { _ = os.Chmod(deep, 0o700) }) // or the test's own folder cannot be removed
		return dir
	}
	there := func(name string) bool { _, err := os.Lstat(name); return err == nil }
	now := time.Now()
	archived := func(name string, ago time.Duration) (string, store.Tab) {
		task, tab := r.placed(name, "monitor", false, store.TabAgent, "silent")
		_, err := r.store.UpdateTab(t.Context(), tab.ID, func(t *store.Tab) error { t.SessionID, t.SessionUsed = "talk", true; return nil })
		must(t, err)
		if ago > 0 {
			_, err := r.store.UpdateTask(t.Context(), task.ID, func(t *store.Task) error { t.ArchivedAt = now.Add(-ago); return nil })
			must(t, err)
		}
		return home(task.ID), tab
	}
	live, _ := archived("live", 0)
	fresh, _ := archived("fresh", loginsStay/2)
	recent, recentTab := archived("recent", 2*loginsStay)
	old, oldTab := archived("old", homesStay+time.Hour)
	nobodys := home("01KDYV0000000000000000000A")
	other := filepath.Join(homes, "lock")
	must(t, os.WriteFile(other, nil, 0o600))
	r.sweep(t.Context(), now)
	const login, talk = ".claude/.credentials.json", ".claude/projects/p/talk.jsonl"
	for _, dir := range []string{live, fresh} {
		if !there(filepath.Join(dir, login)) || !there(filepath.Join(dir, talk)) {
			t.Errorf("%s lost something", dir)
		}
	}
	if there(filepath.Join(recent, login)) || !there(filepath.Join(recent, talk)) {
		t.Error("of a task that was archived not long ago, exactly the logins should go")
	}
	if there(old) || there(nobodys) || !there(other) {
		t.Error("homes that are of no use stay, or something else went")
	}
	if !there(filepath.Join(outside, "auth.json")) {
		t.Error("the user's own login was deleted through a link")
	}
	for tab, used := range map[string]bool{recentTab.ID: true, oldTab.ID: false} {
		if got, err := r.store.Tab(t.Context(), tab); err != nil || got.SessionUsed != used {
			t.Errorf("the conversation of a tab: %+v, %v", got, err)
		}
	}
}
