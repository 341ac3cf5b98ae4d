package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"termic/internal/api"
	"termic/internal/fault"
)

// These run in the virtual machines of `make test-kernels`, where a home is on NFS for real: TERMIC_TEST_NETWORK is a folder of the tester's there,
// TERMIC_TEST_SERVED the same folder as the server has it, and TERMIC_TEST_SERVER a program that stops and starts the server; empty for who may not.

// netHome is a home, a repository and worktrees on the network, and state in a local folder.
func netHome(t *testing.T) *faulty {
	t.Helper()
	root := netFolder(t)
	f := &faulty{killer: &killer{rig: layRig(t, "error", root, filepath.Join(t.TempDir(), "data")), bin: program(t)}}
	f.begin()
	return f
}

// netFolder is a new folder on the network.
func netFolder(t *testing.T) string {
	t.Helper()
	net := os.Getenv("TERMIC_TEST_NETWORK")
	if net == "" {
		t.Skip("it runs with make test-kernels")
	}
	root, err := os.MkdirTemp(net, "home")
	must(t, err)
	return root
}

// served is a path of netFolder as the server has it.
func served(t *testing.T, path string) string {
	t.Helper()
	rel, err := filepath.Rel(os.Getenv("TERMIC_TEST_NETWORK"), path)
	must(t, err)
	return filepath.Join(os.Getenv("TERMIC_TEST_SERVED"), rel)
}

// TestNetHomeState: state is not kept on the network. Wherever the folder comes from it is refused in words, and nothing is put into it; a link
// to a local one is taken.
func TestNetHomeState(t *testing.T) {
	root := netFolder(t)
	local := filepath.Join(t.TempDir(), "data")
	f := &faulty{killer: &killer{rig: layRig(t, "error", root, local), bin: program(t)}}
	for name, env := range map[string]map[string]string{
		"named":        {"TERMIC_DATA_DIR": filepath.Join(root, "named"), "HOME": root},
		"of the home":  {"TERMIC_DATA_DIR": "", "XDG_DATA_HOME": "", "HOME": root},
		"of XDG":       {"TERMIC_DATA_DIR": "", "XDG_DATA_HOME": filepath.Join(root, "xdg"), "HOME": "/tmp"},
		"behind links": {"TERMIC_DATA_DIR": filepath.Join(t.TempDir(), "link"), "HOME": root},
	} {
		f.env = env
		if name == "behind links" {
			must(t, os.Mkdir(filepath.Join(root, "behind"), 0o700))
			must(t, os.Symlink(filepath.Join(root, "behind"), env["TERMIC_DATA_DIR"]))
		}
		out := f.fails("serve")
		if !strings.Contains(out, "is on a network file system (NFS)") || !strings.Contains(out, "TERMIC_DATA_DIR") {
			t.Errorf("%s: %s", name, out)
		}
	}
	for _, dir := range []string{"named", ".local/share/termic", "xdg/termic", "behind"} {
		if names, err := os.ReadDir(filepath.Join(root, dir)); err != nil || len(names) > 0 {
			t.Errorf("%s: %v %v", dir, names, err)
		}
	}
	must(t, os.Symlink(local, filepath.Join(root, "there")))
	f.env = map[string]string{"TERMIC_DATA_DIR": filepath.Join(root, "there"), "HOME": root, "SHELL": "/bin/sh"}
	f.serve()
	f.end()
}

// TestNetHomeWork: tasks, a cage, a second app, an app that is killed.
func TestNetHomeWork(t *testing.T) {
	f := netHome(t)
	path := f.runs(f.task).Path
	if !strings.HasPrefix(path, os.Getenv("TERMIC_TEST_NETWORK")) {
		t.Fatalf("the worktree is at %s", path)
	}
	f.whole("one")
	f.must("task_send", map[string]any{"task": f.task, "prompt": "#write hello.txt hi\n#say done", "wait": true, "timeoutMs": 60000}, new(any))
	var d api.TaskDiffResult
	f.must("task_diff", map[string]any{"task": f.task}, &d)
	if d.Untracked != 1 {
		t.Errorf("diff: %+v", d)
	}
	f.must("task_apply", map[string]any{"task": f.task}, new(any))
	if b, err := os.ReadFile(filepath.Join(f.repo, "hello.txt")); err != nil || string(b) != "hi\n" {
		t.Errorf("applied: %q %v", b, err)
	}
	if out := f.fails("serve"); !strings.Contains(out, "running already") || !strings.Contains(out, strconv.Itoa(f.cmd.Process.Pid)) {
		t.Errorf("a second one says %q", out)
	}
	f.kill()
	f.serve()
	f.resumes()
	f.whole("one")
	t.Run("caged", func(t *testing.T) {
		defer func(outer *testing.T) { f.t = outer }(f.t)
		f.t = t
		id := f.boxed("osc7501")
		if out := f.inside(id, "echo here; touch here && ls here"); !strings.Contains(out, "here\nhere") {
			t.Errorf("in the cage: %q", out)
		}
		f.must("task_archive", map[string]any{"task": id, "discard": true, "deleteBranch": true}, new(any))
	})
	f.must("task_archive", map[string]any{"task": f.task, "discard": true, "deleteBranch": true}, new(any))
	if _, err := os.Stat(path); err == nil {
		t.Error("the worktree of an archived task is still there")
	}
}

// TestNetHomeServerAway: while the server is gone the app answers whatever is not about files, ends what is about them with a sentence or waits, and
// goes on when the server is back.
func TestNetHomeServerAway(t *testing.T) {
	f := netHome(t)
	server := os.Getenv("TERMIC_TEST_SERVER")
	if server == "" {
		t.Skip("NOT TESTED: only root can stop the server; it is stopped in the run of root's")
	}
	control := func(what string) {
		t.Helper()
		if out, err := exec.Command(server, what).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v %s", what, err, out)
		}
	}
	f.outlives(func() { control("stop") }, func() { control("start") })
}

// TestFaultServerAway is the same on a file system of FUSE whose server is stopped, for machines without a virtual one.
func TestFaultServerAway(t *testing.T) {
	if os.Getenv("TERMIC_FAULTS") == "" {
		t.Skip("it runs with make faults")
	}
	bindfs, err := exec.LookPath("bindfs")
	if err != nil {
		t.Skip("NOT TESTED: there is no bindfs to hold up a file system with")
	}
	dir := t.TempDir()
	root := filepath.Join(dir, "home")
	must(t, errors.Join(os.Mkdir(root, 0o700), os.Mkdir(filepath.Join(dir, "behind"), 0o700)))
	server := exec.Command(bindfs, "-f", "-o", "attr_timeout=1,entry_timeout=1", filepath.Join(dir, "behind"), root)
	must(t, server.Start())
	t.Cleanup(func() {
		must(t, server.Process.Signal(unix.SIGCONT))
		must(t, server.Process.Signal(unix.SIGTERM))
		_ = server.Wait() // its status is that of the signal
	})
	var before, now unix.Stat_t
	must(t, unix.Stat(dir, &before))
	for range 500 {
		if must(t, unix.Stat(root, &now)); now.Dev != before.Dev {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if now.Dev == before.Dev {
		t.Skip("NOT TESTED: this machine lets nobody mount with FUSE")
	}
	f := &faulty{killer: &killer{rig: layRig(t, "error", root, filepath.Join(t.TempDir(), "data")), bin: program(t)}}
	f.begin()
	f.outlives(func() { must(t, server.Process.Signal(unix.SIGSTOP)) }, func() { must(t, server.Process.Signal(unix.SIGCONT)) })
}

// outlives goes through half a minute without the server of the home.
func (f *faulty) outlives(stop, start func()) {
	t := f.t
	f.whole("one")
	stop()
	back := start
	defer func() { back() }()
	begin := time.Now()
	diff := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		diff <- f.ask(ctx, "task_diff", map[string]any{"task": f.task}, new(any))
	}()
	for round := 0; time.Since(begin) < 30*time.Second; round++ {
		quick := map[string]map[string]any{"health": {}, "task_list": {"quiet": true}, "project_list": {}, "ledger": {}, "task_rename": {"task": f.task, "name": fmt.Sprintf("name %d", round)}, "task_log": {"task": f.task}}
		for verb, params := range quick {
			f.within(3*time.Second, begin, verb, params)
		}
		// What counts changes gives up after ten seconds, and says so.
		var l api.TaskListResult
		f.within(15*time.Second, begin, "task_list", map[string]any{}, &l)
		var s api.TaskStatusResult
		f.within(15*time.Second, begin, "task_status", map[string]any{"task": f.task}, &s)
		if len(l.Tasks) == 1 && (l.Tasks[0].State != api.TaskLive || l.Tasks[0].Diff == nil && l.Tasks[0].DiffError == "") || s.Task.State != api.TaskLive {
			t.Errorf("after %s without a server: %+v", time.Since(begin), l.Tasks)
		}
	}
	f.must("task_rename", map[string]any{"task": f.task, "name": "two"}, new(any))
	start()
	back = func() {}
	if err := <-diff; err != nil && fault.CodeOf(err) == fault.Internal {
		t.Errorf("the differences that were asked for meanwhile: %v", err)
	}
	for end := time.Now().Add(90 * time.Second); ; time.Sleep(500 * time.Millisecond) { // a client of NFS takes its time to find the server again
		err := f.ask(t.Context(), "task_diff", map[string]any{"task": f.task}, new(any))
		if err == nil {
			break
		}
		if fault.CodeOf(err) == fault.Internal || time.Now().After(end) {
			t.Fatalf("the server is back, and there are no differences: %v", err)
		}
	}
	f.whole("two")
}

// within asks for what is to be answered soon, though the server is away.
func (f *faulty) within(limit time.Duration, since time.Time, verb string, params map[string]any, out ...any) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), limit)
	defer cancel()
	if err := f.ask(ctx, verb, params, append(out, new(any))[0]); err != nil {
		f.t.Errorf("%s after the server went away, %s gives no answer within %s: %v", time.Since(since), verb, limit, err)
	}
}

// TestNetHomeStale: a worktree that goes on the server, behind the back of this machine, is told of in words; other tasks do not notice.
func TestNetHomeStale(t *testing.T) {
	f := netHome(t)
	var n api.TaskNewResult
	f.must("task_new", map[string]any{"name": "gone", "project": "repo", "agent": "osc7501"}, &n)
	path := f.runs(n.Task.ID).Path
	must(t, os.RemoveAll(served(t, path)))
	time.Sleep(2 * time.Second) // for one second this machine believes what it has seen of a file
	for _, verb := range []string{"task_diff", "task_apply", "task_drift", "task_plan"} {
		err := f.ask(t.Context(), verb, map[string]any{"task": n.Task.ID}, new(any))
		if g := fault.From(err); err == nil || g.Code == fault.Internal || g.Message == "" || g.Hint == "" {
			t.Errorf("%s: %v", verb, err)
		}
	}
	f.whole("one")
	f.kill()
	f.serve()
	f.resumes()
	f.whole("one")
	if err := f.ask(t.Context(), "task_archive", map[string]any{"task": n.Task.ID, "discard": true}, new(any)); fault.CodeOf(err) == fault.Internal && err != nil {
		t.Errorf("archive: %v", err)
	}
}
