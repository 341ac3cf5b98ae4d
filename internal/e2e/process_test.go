package e2e

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"termic/internal/api"
)

// stubborn is an agent whose child leaves its session, ignores HUP and TERM, and is adopted by init.
const stubborn = `#!/bin/sh
trap '' HUP
setsid sh -c 'trap "" HUP TERM; sleep 3000 & sleep 3000' </dev/null >/dev/null 2>&1 &
( ( trap '' HUP TERM; sleep 3000 ) & )
echo up
sleep 3000
`

// dump is an agent that writes its environment and its open descriptors to files and waits.
const dump = `#!/bin/sh
env > "$HOME/env.txt"
ls -l /proc/$$/fd > "$HOME/fd.txt"
mv "$HOME/env.txt" "$HOME/env.done"
sleep 3000
`

// addAgent puts a script among the agents of a rig that is not started.
func (r *rig) addAgent(id, script, command string) {
	r.t.Helper()
	must(r.t, os.MkdirAll(filepath.Dir(command), 0o700))
	must(r.t, os.WriteFile(command, []byte(script), 0o700))
	f, err := os.OpenFile(filepath.Join(r.data, "settings.toml"), os.O_APPEND|os.O_WRONLY, 0o600)
	must(r.t, err)
	_, err = f.WriteString("[[agents]]\nid = \"" + id + "\"\ncommand = \"" + filepath.Base(command) + "\"\n")
	must(r.t, err)
	must(r.t, f.Close())
}

// ofTask lists the processes whose environment names a task.
func ofTask(t *testing.T, id string) (out []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	must(t, err)
	for _, f := range files {
		if env, err := os.ReadFile(f); err == nil && strings.Contains(string(env), "TERMIC_TASK_ID="+id) {
			cmd, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline")) // it may be gone by now
			out = append(out, filepath.Base(filepath.Dir(f))+" "+strings.ReplaceAll(string(cmd), "\x00", " "))
		}
	}
	return out
}

// stubbornTask starts the stubborn agent and waits until all of its children are there.
func (r *rig) stubbornTask() string {
	r.t.Helper()
	r.addProject()
	n := call[api.TaskNewResult](r, "task_new", map[string]any{"name": "S", "project": "repo", "agent": "stubborn"})
	r.live(n.Task.ID)
	for end := time.Now().Add(20 * time.Second); len(ofTask(r.t, n.Task.ID)) < 5; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("the agent's children are not there: %v", ofTask(r.t, n.Task.ID))
		}
	}
	return n.Task.ID
}

// P11: nothing of a tab outlives its close, and nothing of the app its end: not a child that left the session and
// ignores every polite signal. A program that is not ours is not touched.
func TestNothingOutlivesItsTerminal(t *testing.T) {
	r := newRig(t)
	r.addAgent("stubborn", stubborn, filepath.Join(r.home, ".local/bin/stubborn"))
	r.env["PATH"] = filepath.Join(r.home, ".local/bin") + ":" + os.Getenv("PATH")
	r.stop()
	r.start()
	bystander := exec.Command("sleep", "3000")
	must(t, bystander.Start())
	defer func() { _ = bystander.Process.Kill(); _ = bystander.Wait() }()

	id := r.stubbornTask()
	call[any](r, "task_stop", map[string]any{"task": id})
	if left := ofTask(t, id); len(left) > 0 {
		t.Errorf("left after stop: %q", left)
	}
	call[api.TaskTabResult](r, "task_tab", map[string]any{"task": id})
	r.live(id)
	r.stop()
	if left := ofTask(t, id); len(left) > 0 {
		t.Errorf("left after the end of the app: %q", left)
	}
	if err := bystander.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the bystander is gone: %v", err)
	}
}

// Decision 90: what a killed app left behind is ended by the next start.
func TestLeftoversOfAKilledApp(t *testing.T) {
	r := newRig(t)
	r.addAgent("stubborn", stubborn, filepath.Join(r.home, ".local/bin/stubborn"))
	r.env["PATH"] = filepath.Join(r.home, ".local/bin") + ":" + os.Getenv("PATH")
	r.stop()
	k := &killer{rig: r, bin: program(t)}
	k.serve()
	must(t, k.ask(t.Context(), "project_add", map[string]any{"path": r.repo, "name": "repo"}, new(any)))
	var n api.TaskNewResult
	must(t, k.ask(t.Context(), "task_new", map[string]any{"name": "S", "project": "repo", "agent": "stubborn"}, &n))
	for end := time.Now().Add(30 * time.Second); len(ofTask(t, n.Task.ID)) < 5; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the agent's children are not there: %v", ofTask(t, n.Task.ID))
		}
	}
	k.kill()
	if len(ofTask(t, n.Task.ID)) == 0 {
		t.Fatal("nothing outlived the kill, so there is nothing to show")
	}
	r.start()
	if left := ofTask(t, n.Task.ID); len(left) > 0 {
		t.Errorf("left after the restart: %q", left)
	}
}

// P13, P17, P20, S24: an app started from a desktop finds what the login shell finds, and an agent gets an environment
// of its own: no variable of the app's packaging or of an outer terminal, and no descriptor but its terminal.
func TestEnvironmentOfAnAgent(t *testing.T) {
	r := newRig(t)
	r.stop()
	r.addAgent("dump", dump, filepath.Join(r.home, "tools/dump"))
	must(t, os.WriteFile(filepath.Join(r.home, ".profile"), []byte("echo PATH=/evil\nexport PATH=\"$HOME/tools:$PATH\"\nexport FROM_RC=yes\n"), 0o600))
	for k, v := range map[string]string{"PATH": "/usr/bin:/bin", "TERM": "dumb", "TMUX": "x", "NO_COLOR": "1", "TERM_PROGRAM": "other", "LD_LIBRARY_PATH": "/tmp/.mount_x/lib",
		"PYTHONHOME": "/tmp/.mount_x", "GTK_PATH": "/tmp/.mount_x", "GST_PLUGIN_PATH": "/tmp/.mount_x", "APPDIR": "/tmp/.mount_x", "APPIMAGE": "/x.AppImage", "CLAUDECODE": "1"} {
		r.env[k] = v
	}
	leak, err := os.Open("/dev/null")
	must(t, err)
	defer leak.Close()
	r.start()
	r.addProject()
	n := call[api.TaskNewResult](r, "task_new", map[string]any{"name": "E", "project": "repo", "agent": "dump"})
	r.until(n.Task.ID, "dumped", func(api.TaskDetail) bool { _, err := os.Stat(filepath.Join(r.home, "env.done")); return err == nil })
	f, err := os.Open(filepath.Join(r.home, "env.done"))
	must(t, err)
	defer f.Close()
	env := map[string]string{}
	for s := bufio.NewScanner(f); s.Scan(); {
		k, v, _ := strings.Cut(s.Text(), "=")
		env[k] = v
	}
	for k, want := range map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor", "TERM_PROGRAM": "termic", "FROM_RC": "yes", "TERMIC_TASK": "E",
		"TERMIC_TASK_ID": n.Task.ID, "TERMIC_SANDBOX": "0", "TERMIC_SANDBOX_MODE": "off", "HOME": r.home} {
		if env[k] != want {
			t.Errorf("%s=%q, want %q", k, env[k], want)
		}
	}
	for _, k := range []string{"TERMIC_DATA_DIR", "TMUX", "NO_COLOR", "LD_LIBRARY_PATH", "PYTHONHOME", "GTK_PATH", "GST_PLUGIN_PATH", "APPDIR", "APPIMAGE", "CLAUDECODE", "TERMIC_MCP_TOKEN"} {
		if v, ok := env[k]; ok {
			t.Errorf("%s=%q leaked", k, v)
		}
	}
	if !strings.Contains(env["PATH"], filepath.Join(r.home, "tools")) || strings.Contains(env["PATH"], "/evil") || env["TERMIC_PORT"] == "" || env["TERMIC_HELP"] == "" {
		t.Errorf("PATH=%q TERMIC_PORT=%q TERMIC_HELP=%q", env["PATH"], env["TERMIC_PORT"], env["TERMIC_HELP"])
	}
	fds, err := os.ReadFile(filepath.Join(r.home, "fd.txt"))
	must(t, err)
	for _, line := range strings.Split(strings.TrimSpace(string(fds)), "\n")[1:] {
		if !strings.Contains(line, "/dev/pts/") && !strings.Contains(line, "/dump") && !strings.Contains(line, "/fd.txt") { // the shell keeps its script open
			t.Errorf("the agent has a descriptor of ours: %s", line)
		}
	}
}
