package e2e

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite"

	"termic/internal/api"
	"termic/internal/fault"
)

// faulty is the real program on a profile of its own, with a project and a task, to which something happens.
type faulty struct {
	*killer
	task string
}

// newFaulty makes one whose data folder is a small disk of its own, if size says how large.
func newFaulty(t *testing.T, size string) *faulty {
	t.Helper()
	if os.Getenv("TERMIC_FAULTS") == "" {
		t.Skip("it runs with make faults")
	}
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: what happens to a disk takes root")
	}
	r := rigLogging(t, "error")
	r.stop()
	if size != "" {
		settings, err := os.ReadFile(filepath.Join(r.data, "settings.toml"))
		must(t, err)
		must(t, os.RemoveAll(r.data))
		must(t, os.Mkdir(r.data, 0o700))
		must(t, unix.Mount("termic-test", r.data, "tmpfs", 0, "mode=700,size="+size))
		t.Cleanup(func() { must(t, unix.Unmount(r.data, unix.MNT_DETACH)) })
		must(t, os.WriteFile(filepath.Join(r.data, "settings.toml"), settings, 0o600))
	}
	return &faulty{killer: &killer{rig: r, bin: program(t)}}
}

// begin starts the app with a task.
func (f *faulty) begin() {
	f.t.Helper()
	f.serve()
	f.t.Cleanup(f.end)
	f.must("project_add", map[string]any{"path": f.repo, "name": "repo"}, new(any))
	var n api.TaskNewResult
	f.must("task_new", map[string]any{"name": "one", "project": "repo", "agent": "osc7501"}, &n)
	f.task = n.Task.ID
	f.runs(f.task)
}

func (f *faulty) end() {
	if f.cmd == nil || f.cmd.ProcessState != nil {
		return
	}
	_ = f.cmd.Process.Signal(os.Interrupt)
	_ = f.cmd.Wait() // what is tested was looked at before
}

func (f *faulty) must(verb string, params map[string]any, out any) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), 2*time.Minute)
	defer cancel()
	if err := f.ask(ctx, verb, params, out); err != nil {
		f.t.Fatalf("%s: %v\n%s", verb, err, f.out.String())
	}
}

// refused asks for something that cannot be done now, and wants a sentence with a word in it and something to do.
func (f *faulty) refused(word, verb string, params map[string]any) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), 2*time.Minute)
	defer cancel()
	err := f.ask(ctx, verb, params, new(any))
	if err == nil {
		f.t.Errorf("%s was done", verb)
		return
	}
	g := fault.From(err)
	if g.Code == fault.Internal || !strings.Contains(g.Message+" "+g.Hint, word) || g.Hint == "" {
		f.t.Errorf("%s: %v (%s), hint %q; want %q and what to do", verb, err, fault.CodeOf(err), g.Hint, word)
	}
}

// runs waits until the agent of a task is live.
func (f *faulty) runs(id string) api.TaskDetail {
	f.t.Helper()
	var s api.TaskStatusResult
	for range 600 {
		f.must("task_status", map[string]any{"task": id}, &s)
		if s.Task.State == api.TaskLive && len(s.Task.Tabs) > 0 && s.Task.Tabs[0].Live {
			return s.Task
		}
		time.Sleep(100 * time.Millisecond)
	}
	f.t.Fatalf("it does not run: %+v", s.Task)
	return s.Task
}

// whole wants everything as it was: the task by its name, the chain of the ledger, and an agent that answers.
func (f *faulty) whole(name string) {
	f.t.Helper()
	var s api.TaskStatusResult
	f.must("task_status", map[string]any{"task": f.task}, &s)
	if s.Task.Name != name {
		f.t.Errorf("the task is called %q, want %q", s.Task.Name, name)
	}
	var l api.LedgerResult
	f.must("ledger", map[string]any{}, &l)
	if l.Chain != "whole" {
		f.t.Errorf("the chain of the ledger is %s", l.Chain)
	}
	var sent api.TaskSendResult
	f.must("task_send", map[string]any{"task": f.task, "prompt": "#say still here", "wait": true, "timeoutMs": 60000}, &sent)
	if sent.Wait == nil || sent.Wait.Outcome != api.OutcomeDone {
		f.t.Errorf("the agent does not answer: %+v", sent)
	}
}

// resumes starts the agent of the task again, after the app was started again.
func (f *faulty) resumes() {
	f.t.Helper()
	f.must("task_send", map[string]any{"task": f.task, "prompt": "#say again", "resume": true, "wait": true, "timeoutMs": 120000}, new(any))
}

// TestFaultDiskFull: nothing is half written while the disk is full, and everything goes on when it is not any more.
func TestFaultDiskFull(t *testing.T) {
	f := newFaulty(t, "48m")
	f.begin()
	ballast := filepath.Join(f.data, "ballast")
	out, err := os.Create(ballast)
	must(t, err)
	block := make([]byte, 1<<20)
	for size := len(block); size > 0; { // until not a byte fits
		if _, err := out.Write(block[:size]); errors.Is(err, unix.ENOSPC) {
			size /= 2
		} else {
			must(t, err)
		}
	}
	must(t, out.Close())
	for range 30 { // what the database has room for yet
		if f.ask(t.Context(), "task_rename", map[string]any{"task": f.task, "name": "filler"}, new(any)) != nil {
			break
		}
		must(t, f.ask(t.Context(), "task_rename", map[string]any{"task": f.task, "name": "one"}, new(any)))
	}
	f.refused("disk is full", "task_rename", map[string]any{"task": f.task, "name": "other"})
	f.refused("full", "settings_set", map[string]any{"key": "general.cli_enabled", "value": "true"})
	must(t, os.Remove(ballast))
	var s api.TaskStatusResult
	f.must("task_status", map[string]any{"task": f.task}, &s)
	if n := s.Task.Name; n != "one" && n != "filler" {
		t.Errorf("the task is called %q", n)
	}
	f.must("task_rename", map[string]any{"task": f.task, "name": "two"}, new(any))
	f.whole("two")
}

// TestFaultReadOnly: a disk that the kernel makes read-only under the app, as it does after an error, keeps what it has; the app says so, still
// shows what is there, and goes on when it is started on a disk that can be written again.
func TestFaultReadOnly(t *testing.T) {
	f := newFaulty(t, "")
	mount := f.onDisk(filepath.Join(t.TempDir(), "disk"))
	f.begin()
	f.whole("one") // it has a conversation to come back to
	if out, err := exec.Command("mount", "-o", "remount,abort", f.data).CombinedOutput(); err != nil {
		t.Fatalf("mount: %v %s", err, out)
	}
	f.refused("disk", "task_rename", map[string]any{"task": f.task, "name": "other"})
	f.refused("disk", "settings_set", map[string]any{"key": "general.cli_enabled", "value": "true"})
	var s api.TaskStatusResult
	f.must("task_status", map[string]any{"task": f.task}, &s)
	if s.Task.Name != "one" || !s.Task.Tabs[0].Live {
		t.Errorf("the task: %+v", s.Task)
	}
	f.end()
	must(t, unix.Unmount(f.data, 0))
	mount()
	f.serve()
	f.resumes()
	f.whole("one")
}

// onDisk moves the data folder to a file system of its own in a file, and returns what mounts that again.
func (f *faulty) onDisk(file string) func() {
	f.t.Helper()
	for _, c := range [][]string{{"truncate", "--size=64M", file}, {"mke2fs", "-q", "-t", "ext4", "-d", f.data, file}} {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			f.t.Skipf("NOT TESTED: no disk can be made here: %v %s", err, out)
		}
	}
	mount := func() {
		if out, err := exec.Command("mount", "-o", "loop", file, f.data).CombinedOutput(); err != nil {
			f.t.Skipf("NOT TESTED: no disk can be mounted here: %v %s", err, out)
		}
		must(f.t, os.Chmod(f.data, 0o700))
	}
	mount()
	f.t.Cleanup(func() { must(f.t, unix.Unmount(f.data, unix.MNT_DETACH)) })
	return mount
}

// TestFaultReadOnlyAtStart: where nothing can be kept, nothing starts.
func TestFaultReadOnlyAtStart(t *testing.T) {
	f := newFaulty(t, "64m")
	f.begin()
	f.end()
	must(t, unix.Mount("", f.data, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	out := f.fails("serve")
	if !strings.Contains(out, f.data) || !strings.Contains(out, "read-only") && !strings.Contains(out, "written") {
		t.Errorf("it says %q", out)
	}
	must(t, unix.Mount("", f.data, "", unix.MS_REMOUNT, ""))
}

// fails runs the program, which must end with an error, and returns what it says.
func (f *faulty) fails(args ...string) string {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, f.bin, args...)
	cmd.Env = f.environ()
	out, err := cmd.CombinedOutput()
	if err == nil || ctx.Err() != nil {
		f.t.Errorf("termic %v: %v\n%s", args, err, out)
	}
	if strings.Contains(string(out), "panic") || !strings.Contains(string(out), "termic: ") {
		f.t.Errorf("termic %v has no sentence: %s", args, out)
	}
	return string(out)
}

// TestFaultDatabaseLocked: a program that holds the database makes a change wait, and then fail with a sentence; it is done when asked for
// again.
func TestFaultDatabaseLocked(t *testing.T) {
	f := newFaulty(t, "")
	f.begin()
	db, err := sql.Open("sqlite", filepath.Join(f.data, "termic.db"))
	must(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.Exec("BEGIN IMMEDIATE")
	must(t, err)
	f.refused("", "task_rename", map[string]any{"task": f.task, "name": "other"})
	_, err = db.Exec("ROLLBACK")
	must(t, err)
	f.whole("one")
}

// TestFaultDatabaseTorn: a database that is none any more is left as it is, and nothing starts on another one in its place.
func TestFaultDatabaseTorn(t *testing.T) {
	for name, tear := range map[string]func(string) error{
		"cut off":     func(p string) error { return os.Truncate(p, 5000) },
		"overwritten": func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("not a database ", 4000)), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFaulty(t, "")
			f.begin()
			f.end()
			db := filepath.Join(f.data, "termic.db")
			for _, rest := range []string{"-wal", "-shm"} {
				_ = os.Remove(db + rest) // after a clean end there is none
			}
			must(t, tear(db))
			before, err := os.ReadFile(db)
			must(t, err)
			out := f.fails("serve")
			if !strings.Contains(out, db) {
				t.Errorf("it says %q", out)
			}
			if after, err := os.ReadFile(db); err != nil || string(after) != string(before) {
				t.Errorf("the database was changed: %v", err)
			}
		})
	}
}

// TestFaultGit: a git that is missing is named at the start, and one that hangs is ended, with a sentence, and harms nothing.
func TestFaultGit(t *testing.T) {
	f := newFaulty(t, "")
	real, err := exec.LookPath("git")
	must(t, err)
	bin := filepath.Join(f.home, "bin")
	must(t, os.Mkdir(bin, 0o700))
	hang := filepath.Join(f.home, "hang")
	must(t, os.WriteFile(filepath.Join(bin, "git"), fmt.Appendf(nil, "#!/bin/sh\n[ ! -e '%s' ] || exec sleep 1000\nexec '%s' \"$@\"\n", hang, real), 0o700))
	profile := filepath.Join(f.home, ".profile") // the app takes the PATH of a login shell
	without := filepath.Join(f.home, "without")
	must(t, os.WriteFile(without, fmt.Appendf(nil, "#!/bin/sh\nexec unshare --mount --propagation private sh -c 'mount --bind /dev/null \"%s\" && exec \"$0\" \"$@\"' '%s' \"$@\"\n", real, f.bin), 0o700))
	program := f.bin
	f.bin = without
	if out := f.fails("serve"); !strings.Contains(out, "git ") || !strings.Contains(out, "hint: ") {
		t.Errorf("without a git that runs it says %q", out)
	}
	f.bin = program
	f.env["PATH"] = bin + ":" + os.Getenv("PATH")
	must(t, os.WriteFile(profile, fmt.Appendf(nil, "PATH='%s':$PATH\n", bin), 0o600))
	f.begin()
	must(t, os.WriteFile(hang, nil, 0o600))
	f.refused("did not finish", "task_diff", map[string]any{"task": f.task})
	must(t, os.Remove(hang))
	f.whole("one")
	f.must("task_diff", map[string]any{"task": f.task}, new(any))
}

// TestFaultNoDescriptors: an app that may open nothing more says so, and goes on when it may.
func TestFaultNoDescriptors(t *testing.T) {
	f := newFaulty(t, "")
	f.begin()
	pid := f.cmd.Process.Pid
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	must(t, err)
	var was unix.Rlimit
	must(t, unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &was))
	must(t, unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(len(open) + 2), Max: was.Max}, nil))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	err = f.ask(ctx, "task_tab", map[string]any{"task": f.task, "kind": "terminal"}, new(any)) // the socket itself may not be answered
	cancel()
	if err == nil {
		t.Error("a terminal was started without a descriptor")
	}
	must(t, unix.Prlimit(pid, unix.RLIMIT_NOFILE, &was, nil))
	f.whole("one")
	f.must("task_tab", map[string]any{"task": f.task, "kind": "terminal"}, new(any))
}

// TestFaultNoTerminals: a machine without another pseudo-terminal refuses a tab with a sentence, and the others live.
func TestFaultNoTerminals(t *testing.T) {
	f := newFaulty(t, "")
	script := filepath.Join(f.home, "few")
	must(t, os.WriteFile(script, fmt.Appendf(nil, "#!/bin/sh\nexec unshare --mount --propagation private sh -c 'mount -t devpts -o newinstance,ptmxmode=0666,mode=620,max=3 devpts /dev/pts && mount --bind /dev/pts/ptmx /dev/ptmx && exec \"$0\" \"$@\"' '%s' \"$@\"\n", f.bin), 0o700))
	f.bin = script
	f.begin()
	var err error
	for range 6 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		err = f.ask(ctx, "task_tab", map[string]any{"task": f.task, "kind": "terminal"}, new(any))
		cancel()
		if err != nil {
			break
		}
	}
	if err == nil {
		t.Fatal("there is a terminal after all")
	}
	if g := fault.From(err); g.Code != fault.Unavailable || g.Hint == "" {
		t.Errorf("with no terminal left: %v (%s), hint %q", err, g.Code, g.Hint)
	}
	f.whole("one")
}

// TestFaultCageKilled: the first process of a cage is killed from outside. The cage is gone with all that was in it, the tab says so, and
// starts again.
func TestFaultCageKilled(t *testing.T) {
	f := newFaulty(t, "")
	f.begin()
	var n api.TaskNewResult
	f.must("task_new", map[string]any{"name": "caged", "project": "repo", "agent": "osc7501", "sandbox": "enforce"}, &n)
	d := f.runs(n.Task.ID)
	var in []int
	for _, p := range ofTask(t, n.Task.ID) {
		pid, _, _ := strings.Cut(p, " ")
		id, err := strconv.Atoi(pid)
		must(t, err)
		in = append(in, id)
	}
	first := initOfCage(t, f.cmd.Process.Pid)
	if first == 0 || len(in) == 0 {
		t.Fatalf("no cage was found: %v", in)
	}
	must(t, syscall.Kill(first, syscall.SIGKILL))
	var s api.TaskStatusResult
	for range 200 {
		f.must("task_status", map[string]any{"task": n.Task.ID}, &s)
		if !s.Task.Tabs[0].Live {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if s.Task.Tabs[0].Live || len(ofTask(t, n.Task.ID)) > 0 {
		t.Fatalf("it lives: %+v, %v", s.Task.Tabs[0], ofTask(t, n.Task.ID))
	}
	f.must("task_tab", map[string]any{"task": n.Task.ID, "restart": d.Tabs[0].ID}, new(any))
	f.runs(n.Task.ID)
	f.whole("one")
}

// initOfCage is the process that is the first of a namespace of its own below a process, seen from outside; 0 for none.
func initOfCage(t *testing.T, below int) int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/status")
	must(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		var pids []string
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, "NSpid:"); ok {
				pids = strings.Fields(rest)
			}
		}
		if len(pids) < 2 || pids[len(pids)-1] != "1" {
			continue
		}
		if pid, err := strconv.Atoi(pids[0]); err == nil && descends(pid, below) {
			return pid
		}
	}
	return 0
}

// descends reports whether a process was started by another, or by one that it started.
func descends(pid, from int) bool {
	for range 64 {
		if pid == from {
			return true
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || pid <= 1 {
			return false
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if pid, err = strconv.Atoi(fields[1]); err != nil {
			return false
		}
	}
	return false
}

// TestFaultTwoApps: a second app on the same profile leaves the first alone.
func TestFaultTwoApps(t *testing.T) {
	f := newFaulty(t, "")
	f.begin()
	if out := f.fails("serve"); !strings.Contains(out, "running already") || !strings.Contains(out, strconv.Itoa(f.cmd.Process.Pid)) {
		t.Errorf("it says %q", out)
	}
	f.whole("one")
}
