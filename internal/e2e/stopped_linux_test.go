package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"termic/internal/api"
	"termic/internal/fault"
)

// stat is what the kernel says of a process: its parent and its state; false for one that is gone or only not collected yet.
func stat(pid int) (parent int, state string, ok bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, "", false
	}
	f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	parent, err = strconv.Atoi(f[1])
	return parent, f[0], err == nil && f[0] != "Z"
}

// programsOf are the processes that were told of a task, and cageOf the first process of the cage that they are in.
func programsOf(t *testing.T, task string) (pids []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	must(t, err)
	for _, p := range all {
		env, err := os.ReadFile(p)
		if err == nil && bytes.Contains(env, []byte("TERMIC_TASK_ID="+task+"\x00")) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(p)))
			must(t, err)
			pids = append(pids, pid)
		}
	}
	return pids
}

// cageWith is the first process of a task's cage and the programs in it, once there are so many: a program that is about to
// become another one has no environment to be known by.
func cageWith(t *testing.T, task string, app, least int) (first int, programs []int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if programs = programsOf(t, task); len(programs) >= least {
			return firstOf(t, task, app), programs
		}
		if time.Now().After(end) {
			t.Fatalf("the cage of %s has the programs %v, fewer than %d", task, programs, least)
		}
	}
}

// firstOf is the first process of a task's cage: the child of the app from which its programs come.
func firstOf(t *testing.T, task string, app int) int {
	t.Helper()
	for _, pid := range programsOf(t, task) {
		for p := pid; p > 1; {
			parent, _, ok := stat(p)
			if !ok {
				break
			}
			if parent == app && p != pid {
				return p
			}
			p = parent
		}
	}
	t.Fatalf("the cage of %s has no first process: programs %v", task, programsOf(t, task))
	return 0
}

// allGone waits until processes have ended.
func allGone(t *testing.T, what string, pids ...int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		var left []string
		for _, pid := range pids {
			if parent, state, ok := stat(pid); ok {
				name, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm") // for the message
				left = append(left, fmt.Sprintf("%d (%s) %s of %d", pid, strings.TrimSpace(string(name)), state, parent))
			}
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: of %d processes live %s", what, len(pids), strings.Join(left, ", "))
		}
	}
}

// TestStoppedCages stops and kills the processes of cages from outside, as a person, the system or another program may. Nothing
// opens by that, and nothing hangs for good: a stopped cage can be ended, one whose first process is killed has ended.
func TestStoppedCages(t *testing.T) {
	r := newRig(t)
	secret := filepath.Join(r.home, "secret")
	must(t, os.WriteFile(secret, []byte("kept"), 0o600))
	for what, act := range map[string]func(c *walled, first int, programs []int){
		"the first process is stopped": func(c *walled, first int, _ []int) {
			must(t, unix.Kill(first, unix.SIGSTOP))
			if out := c.run("cat '" + secret + "'; curl -s -m 3 https://example.com || echo refused"); strings.Contains(out, "kept") || !strings.Contains(out, "refused") {
				t.Errorf("the walls with a stopped first process: %s", out)
			}
		},
		"every program is stopped": func(_ *walled, first int, programs []int) {
			for _, pid := range append(programs, first) {
				must(t, unix.Kill(pid, unix.SIGSTOP))
			}
		},
		"stopped and continued": func(c *walled, first int, programs []int) {
			for _, sig := range []unix.Signal{unix.SIGSTOP, unix.SIGCONT} {
				for _, pid := range append(programs, first) {
					must(t, unix.Kill(pid, sig))
				}
			}
			if out := c.run("cat '" + secret + "'; echo goes on"); strings.Contains(out, "kept") || !strings.Contains(out, "goes on") {
				t.Errorf("after a stop: %s", out)
			}
		},
		"the first process is killed": func(c *walled, first int, programs []int) {
			must(t, unix.Kill(first, unix.SIGKILL))
			allGone(t, "killed", programs...)
			r.until(c.id, "ended", func(d api.TaskDetail) bool { return !d.Tabs[0].Live })
		},
	} {
		c := r.cageTask(what, "enforce", nil)
		c.run("(setsid sleep 1000 >/dev/null 2>&1 &)") // one that goes its own way
		first, programs := cageWith(t, c.id, os.Getpid(), 2)
		act(c, first, programs)
		begin := time.Now()
		call[json.RawMessage](r, "task_stop", map[string]any{"task": c.id})
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%s: the end took %s", what, took)
		}
		allGone(t, what, append(programs, first)...)
	}
}

// boxed makes a task in a cage, with an agent that runs, and returns its id. A machine that cannot cage skips loudly.
func (k *killer) boxed(agent string) string {
	k.t.Helper()
	var made api.TaskNewResult
	if err := k.ask(k.t.Context(), "task_new", map[string]any{"name": "boxed", "project": "repo", "agent": agent, "sandbox": "enforce"}, &made); fault.CodeOf(err) == fault.Unsupported {
		k.t.Skipf("NOT TESTED: this machine cannot cage a task: %v", err)
	} else if err != nil {
		k.t.Fatal(err)
	}
	k.detail(made.Task.ID, "live", func(d api.TaskDetail) bool { return len(d.Tabs) > 0 && d.Tabs[0].Live })
	return made.Task.ID
}

// detail waits until a task is as wanted.
func (k *killer) detail(id, what string, ok func(api.TaskDetail) bool) api.TaskDetail {
	k.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) { // another process: nothing tells of a change
		var s api.TaskStatusResult
		must(k.t, k.ask(k.t.Context(), "task_status", map[string]any{"task": id}, &s))
		if ok(s.Task) {
			return s.Task
		}
		if time.Now().After(end) {
			k.t.Fatalf("the task is not %s: %+v\n%s", what, s.Task, k.out.String())
		}
	}
}

// inside lets the agent of a task run a shell command, and returns what it printed.
func (k *killer) inside(id, command string) string {
	k.t.Helper()
	path := k.detail(id, "there", func(d api.TaskDetail) bool { return d.Path != "" }).Path
	file := filepath.Join(path, "seen")
	var none json.RawMessage
	must(k.t, k.ask(k.t.Context(), "task_send", map[string]any{"task": id, "prompt": "#run seen " + command}, &none))
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if b, err := os.ReadFile(file); err == nil {
			must(k.t, os.Remove(file))
			return string(b)
		}
		if time.Now().After(end) {
			k.t.Fatalf("nothing came\n%s", k.out.String())
		}
	}
}

// TestStoppedApp stops the app while a caged agent works, and kills it while the first process of the cage is stopped. What
// was under way goes on afterwards; what such a kill leaves is ended by the next start.
func TestStoppedApp(t *testing.T) {
	r := newRig(t)
	r.stop()
	k := &killer{rig: r, bin: program(t)}
	k.serve()
	t.Cleanup(func() { _, _ = k.cmd.Process.Kill(), k.cmd.Wait() })
	var none json.RawMessage
	must(t, k.ask(t.Context(), "project_add", map[string]any{"path": r.repo, "name": "repo"}, &none))
	id := k.boxed("osc7501")
	look := "sleep 1; curl -s -m 4 https://example.com || echo refused; ls '" + r.data + "/termic.db' || echo hidden"
	app := k.cmd.Process.Pid
	stopped := time.AfterFunc(300*time.Millisecond, func() {
		_ = unix.Kill(app, unix.SIGSTOP)
		time.Sleep(3 * time.Second)
		_ = unix.Kill(app, unix.SIGCONT)
	})
	defer stopped.Stop()
	if out := k.inside(id, look); !strings.Contains(out, "refused") || !strings.Contains(out, "hidden") {
		t.Errorf("while the app was stopped: %s", out)
	}
	if out := k.inside(id, look); !strings.Contains(out, "refused") {
		t.Errorf("afterwards: %s", out)
	}
	first, programs := cageWith(t, id, app, 1)
	must(t, unix.Kill(first, unix.SIGSTOP))
	k.kill()
	k.serve()
	allGone(t, "after a kill of the app", append(programs, first)...)
}
