package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/grant"
)

// TestDroppedFilesThatACageHides: what is said of a dropped file is what the caged program finds when it reads it.
func TestDroppedFilesThatACageHides(t *testing.T) {
	r := newRig(t)
	outside, listed := t.TempDir(), t.TempDir()
	c := r.cageTask("drops", "enforce-fs", nil)
	call[json.RawMessage](r, "sandbox_allow", map[string]any{"task": c.id, "read": listed})
	tab := r.tabOf(c.id)
	call[api.TaskStopResult](r, "task_stop", map[string]any{"task": c.id})
	call[api.TaskTabResult](r, "task_tab", map[string]any{"task": c.id, "restart": tab})
	c = r.cageOf(c.id)
	files := map[string]bool{
		filepath.Join(c.path, "in the worktree"): true,
		filepath.Join(listed, "it's allowed"):    true,
		filepath.Join(outside, "elsewhere"):      false,
		filepath.Join(r.home, "at home"):         false,
	}
	var paths []string
	for path := range files {
		must(t, os.WriteFile(path, []byte("seen\n"), 0o644))
		paths = append(paths, path)
	}
	for link, to := range map[string]string{filepath.Join(c.path, "link out"): filepath.Join(outside, "elsewhere")} {
		must(t, os.Symlink(to, link))
		files[link], paths = false, append(paths, link)
	}
	params, err := json.Marshal(map[string]any{"task": c.id, "tab": tab, "paths": paths})
	must(t, err)
	raw, err := r.app.Dispatcher.Call(t.Context(), grant.OwnerOn(grant.Window), "task_drop", params, nil)
	must(t, err)
	var got api.TaskDropResult
	must(t, json.Unmarshal(raw, &got))
	for path, readable := range files {
		if said := !slices.Contains(got.Unreadable, path); said != readable {
			t.Errorf("%s is said to be readable: %v", path, said)
		}
		params, err := json.Marshal(map[string]any{"task": c.id, "tab": tab, "paths": []string{path}})
		must(t, err)
		raw, err := r.app.Dispatcher.Call(t.Context(), grant.OwnerOn(grant.Window), "task_drop", params, nil)
		must(t, err)
		var one api.TaskDropResult
		must(t, json.Unmarshal(raw, &one))
		if found := strings.HasPrefix(c.run("cat "+one.Text), "seen\n"); found != readable {
			t.Errorf("%s: reading it in the cage gives %v, want %v", path, found, readable)
		}
	}
}
