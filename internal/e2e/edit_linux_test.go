package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
)

// fakeEditor writes an editor that writes down what it is told, and returns how to read that.
func (r *rig) fakeEditor(name string) (path string, told func() string) {
	r.t.Helper()
	log := filepath.Join(r.home, name+".told")
	path = filepath.Join(r.home, "bin "+name, name)
	must(r.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(r.t, os.WriteFile(path, []byte("#!/bin/sh\n{ printf '%s|' \"$@\"; echo; env; } >'"+log+".new' && mv '"+log+".new' '"+log+"'\nsleep 1\n"), 0o700))
	return path, func() string {
		r.t.Helper()
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			if text, err := os.ReadFile(log); err == nil {
				must(r.t, os.Remove(log))
				return string(text)
			}
			if time.Now().After(deadline) {
				r.t.Fatalf("the editor %s was never started", name)
			}
		}
	}
}

func (r *rig) setEditor(command string) {
	r.t.Helper()
	call[api.SettingsResult](r, "settings_set", map[string]any{"key": "general.editor", "value": command})
}

// TestEdit opens files of a task in an editor of the person's.
func TestEdit(t *testing.T) {
	r := newRig(t)
	task := r.live(r.newTask("edited", "osc7501", "").Task.ID)
	edit := func(path string) map[string]any { return map[string]any{"task": task.ID, "path": path} }
	for name, text := range map[string]string{"a b.txt": "x\n", "sub/odd:7": "x\n", "-dash": "x\n"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(task.Path, name)), 0o700))
		must(t, os.WriteFile(filepath.Join(task.Path, name), []byte(text), 0o600))
	}
	must(t, os.Symlink("/etc/passwd", filepath.Join(task.Path, "out")))
	must(t, os.Symlink("/etc", filepath.Join(task.Path, "outdir")))
	path, told := r.fakeEditor("mine")
	r.setEditor("'" + path + "' --at {LINE} {FILE} in={DIR}")
	for name, want := range map[string]string{
		"a b.txt:12":   "--at|12|" + task.Path + "/a b.txt|in=" + task.Path + "|",
		"a b.txt:12:3": "--at|12|" + task.Path + "/a b.txt|in=" + task.Path + "|",
		"sub/odd:7":    "--at|1|" + task.Path + "/sub/odd:7|in=" + task.Path + "|",
		"sub/odd:7:9":  "--at|9|" + task.Path + "/sub/odd:7|in=" + task.Path + "|",
		"-dash":        "--at|1|" + task.Path + "/-dash|in=" + task.Path + "|",
		"sub":          "--at|1|" + task.Path + "/sub|in=" + task.Path + "/sub|",
		"":             "--at|1|" + task.Path + "|in=" + task.Path + "|",
	} {
		got := call[api.TaskEditResult](r, "task_edit", edit(name))
		argv, env, _ := strings.Cut(told(), "\n")
		if argv != want || got.Editor != "mine" || len(got.Warnings) != 0 {
			t.Errorf("%q: %s, %+v; want %s", name, argv, got, want)
		}
		if strings.Contains(env, "TERMIC_") || !strings.Contains(env, "HOME="+r.home) {
			t.Errorf("the environment of an editor: %s", env)
		}
	}
	for name, code := range map[string]fault.Code{"out": fault.InvalidArgument, "outdir/passwd": fault.InvalidArgument, "../": fault.InvalidArgument,
		"/etc/passwd": fault.InvalidArgument, "nosuch": fault.NotFound, "nosuch:3": fault.NotFound} {
		refused(r, code, "task_edit", edit(name))
	}
	r.setEditor("no-such-editor")
	if f := refused(r, fault.NotFound, "task_edit", edit("a b.txt")); !strings.Contains(f.Message, "no-such-editor was not found") {
		t.Error(f.Message)
	}
	r.setEditor("false")
	if f := refused(r, fault.Unavailable, "task_edit", edit("a b.txt")); !strings.Contains(f.Message, "ended at once") {
		t.Error(f.Message)
	}

	main := edit("README.md")
	main["main"] = true
	r.setEditor("'" + path + "' {FILE}")
	if got := call[api.TaskEditResult](r, "task_edit", main); got.Path != filepath.Join(r.repo, "README.md") || !strings.HasPrefix(told(), got.Path+"|") {
		t.Errorf("in the main checkout: %+v", got)
	}

	// One that lives in a terminal gets a tab.
	vim, toldVim := r.fakeEditor("vim")
	r.setEditor("'" + vim + "' +{LINE} {FILE}")
	got := call[api.TaskEditResult](r, "task_edit", edit("a b.txt:3"))
	if argv, _, _ := strings.Cut(toldVim(), "\n"); argv != "+3|"+task.Path+"/a b.txt|" || got.TabID == "" {
		t.Errorf("vim was told %s, %+v", argv, got)
	}
	r.until(task.ID, "with a tab for vim", func(d api.TaskDetail) bool {
		return len(d.Tabs) == 2 && d.Tabs[1].ID == got.TabID && d.Tabs[1].Kind == "terminal"
	})
}

// TestEditWhereACageWrites: the owner is asked first about what would run by itself in an editor.
func TestEditWhereACageWrites(t *testing.T) {
	r := newRig(t)
	c := r.cageTask("writer", "enforce-fs", nil)
	path, told := r.fakeEditor("mine")
	r.setEditor("'" + path + "' {FILE}")
	c.run("echo text > plain.txt")
	got := call[api.TaskEditResult](r, "task_edit", map[string]any{"task": c.id, "path": "plain.txt"})
	if told(); len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "may run what the agent wrote") {
		t.Errorf("%+v", got)
	}
	c.run("mkdir -p .vscode && echo '{}' > .vscode/tasks.json")
	r.asksAbout("added .vscode/tasks.json", "task_edit", map[string]any{"task": c.id, "path": "plain.txt"})
	call[api.TaskEditResult](r, "task_edit", map[string]any{"task": c.id, "path": "plain.txt", "acceptFiles": true})
	told()
	c.run("echo '{}' > .vscode/settings.json") // it goes on writing, so it is asked about again
	r.asksAbout("added .vscode/settings.json, added .vscode/tasks.json", "task_edit", map[string]any{"task": c.id})
}
