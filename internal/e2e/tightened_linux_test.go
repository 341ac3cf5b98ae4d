package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/internal/api"
	"termic/internal/fault"
)

// TestTreeOfATightenedTask: a task whose cage comes from the .termic.yaml of its project alone, and one whose cage was taken
// away since, are looked at as a tree that a cage writes is: behind the wall, and without programs that its files name.
func TestTreeOfATightenedTask(t *testing.T) {
	for what, loosened := range map[string]bool{"tightened": false, "let out": true} {
		t.Run(what, func(t *testing.T) { treeOfATightenedTask(t, loosened) })
	}
}

func treeOfATightenedTask(t *testing.T, loosened bool) {
	r := newRig(t)
	fire, fired := filepath.Join(r.home, "fire"), filepath.Join(r.home, "fired")
	must(t, os.WriteFile(fire, []byte("#!/bin/sh\n: > '"+fired+"'\ncat\n"), 0o755))
	global, err := os.OpenFile(filepath.Join(r.home, ".gitconfig"), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = fmt.Fprintf(global, "[filter \"users\"]\n\tclean = %s\n\tsmudge = %s\n", fire, fire)
	must(t, err)
	must(t, global.Close())
	n := r.newTask("tight", "osc7501", "")
	call[json.RawMessage](r, "task_stop", map[string]any{"task": n.Task.ID})
	yaml := filepath.Join(r.repo, ".termic.yaml")
	must(t, os.WriteFile(yaml, []byte("sandbox:\n  mode: enforce\n"), 0o600))
	call[json.RawMessage](r, "task_tab", map[string]any{"task": n.Task.ID})
	c := r.cageOf(n.Task.ID)
	keys := filepath.Join(r.home, "keys")
	must(t, os.MkdirAll(keys, 0o700))
	must(t, os.WriteFile(filepath.Join(keys, "id"), []byte("the private key\n"), 0o600))
	out := c.run("ls '" + keys + "'; mkdir d && echo tracked > d/id && git add d && git -c user.name=a -c user.email=a@example.invalid commit -qm d && echo '* filter=users' > .gitattributes && echo more >> README.md && " +
		"(setsid sh -c 'while [ ! -e stop ]; do mv d e; ln -s \"" + keys + "\" d; rm d; mv e d; done' >/dev/null 2>&1 &)")
	if strings.Contains(out, "id") {
		t.Fatalf("it is in no cage: %s", out)
	}
	if loosened {
		must(t, os.WriteFile(filepath.Join(c.path, "stop"), nil, 0o600))
		call[json.RawMessage](r, "task_stop", map[string]any{"task": c.id})
		must(t, os.Remove(yaml))
	}
	for range 6 {
		got, err := try[json.RawMessage](r, "task_diff", map[string]any{"task": c.id, "full": true})
		if strings.Contains(string(got), "private key") {
			t.Fatalf("the diff left the tree: %s", got)
		}
		if fault.CodeOf(err) == fault.Internal {
			t.Errorf("task_diff: %v", err)
		}
	}
	must(t, os.WriteFile(filepath.Join(c.path, "stop"), nil, 0o600))
	_, err = try[json.RawMessage](r, "task_stage", map[string]any{"task": c.id, "paths": []string{"README.md"}})
	t.Log("staged:", err)
	_, err = try[api.TaskApplyResult](r, "task_apply", map[string]any{"task": c.id, "acceptFiles": true})
	t.Log("applied:", err)
	call[json.RawMessage](r, "task_status", map[string]any{"task": c.id})
	_, err = try[json.RawMessage](r, "task_archive", map[string]any{"task": c.id})
	t.Log("archived:", err)
	if _, err := os.Lstat(fired); err == nil {
		t.Error("a filter ran that the files of the cage chose")
	}
}
