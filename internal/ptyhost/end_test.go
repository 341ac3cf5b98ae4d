//go:build !windows

package ptyhost

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"termic/internal/fault"
)

// writePid is shell text that stores a background child's pid where readPid finds it.
func writePid(path string) string {
	return fmt.Sprintf("echo $! > %s.tmp; mv %s.tmp %s", path, path, path)
}

func end(t testing.TB, term *Terminal, grace time.Duration) time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	began := time.Now()
	if err := term.End(ctx, grace); err != nil {
		t.Fatal(err)
	}
	if !term.ended() {
		t.Error("not ended after End")
	}
	return time.Since(began)
}

// P11: what a terminal started does not outlive it, whatever it ignores, whichever group it is in.
func TestP11GrandchildrenEnd(t *testing.T) {
	for name, script := range map[string]string{
		"ignores HUP":          `trap "" HUP; sleep 999 & %s; wait`,
		"ignores HUP and TERM": `(trap "" HUP TERM; while :; do sleep 999; done) & %s; wait`,
		"own group":            `set -m; sleep 999 & %s; wait`,
		"stopped":              `set -m; sleep 999 & %s; kill -STOP $!; read x`,
		"nohup":                `nohup sleep 999 >/dev/null 2>&1 & %s; wait`,
	} {
		t.Run(name, func(t *testing.T) {
			pidFile := filepath.Join(t.TempDir(), "pid")
			term := start(t, testHost(t), shellSpec(t, fmt.Sprintf(script, writePid(pidFile))))
			pid := readPid(t, pidFile)
			end(t, term, 300*time.Millisecond)
			if alive(pid) || alive(term.Pid()) {
				t.Error("something is left")
			}
		})
	}
}

// A program that ends by itself takes what it started with it, without End.
func TestExitEndsTheSession(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	term := start(t, testHost(t), shellSpec(t, `(trap "" HUP TERM; while :; do sleep 999; done) & `+writePid(pidFile)+`; read x`))
	pid := readPid(t, pidFile)
	if err := term.Write(context.Background(), []byte("\n")); err != nil {
		t.Fatal(err)
	}
	waitDone(t, term)
	<-term.gone
	if alive(pid) {
		t.Error("the child of an ended program is left")
	}
}

// A program that saves its work on TERM gets the time for it.
func TestTermComesFirst(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "saved")
	term := start(t, testHost(t), shellSpec(t, fmt.Sprintf(`trap 'sleep 0.2; echo x > %s; exit 0' TERM; echo ready; while :; do sleep 0.05; done`, saved)))
	waitFor(t, term, "ready")
	took := end(t, term, 5*time.Second)
	if _, err := os.Stat(saved); err != nil {
		t.Error("it was not given time to save")
	}
	if took > 3*time.Second {
		t.Errorf("took %v although it ended by itself", took)
	}
	if got := term.Exit(); got.Cause != CauseEnded || got.Code != 0 {
		t.Errorf("exit %+v", got)
	}
}

// A shell at its prompt ignores TERM; closing it must not take the whole grace.
func TestInteractiveShellEndsAtOnce(t *testing.T) {
	argv := []string{"/bin/bash", "--norc", "-i"}
	if _, err := os.Stat(argv[0]); err != nil {
		argv = []string{"/bin/sh", "-i"}
	}
	term := start(t, testHost(t), Spec{ID: "shell", Argv: argv, Dir: t.TempDir(),
		Env: []string{"PATH=/usr/bin:/bin", "PS1=prompt>", "ENV=", "HOME=" + t.TempDir()}})
	waitFor(t, term, ">")
	if took := end(t, term, 20*time.Second); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

// A child that leaves the session by a double fork and ignores HUP and TERM is found by the mark in its environment.
// Another terminal, and a foreign process, stay.
func TestEscapedProcessEnds(t *testing.T) {
	h := testHost(t)
	foreign := exec.Command("sleep", "999")
	if err := foreign.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { foreign.Process.Kill(); foreign.Wait() }()
	other := shellSpec(t, "read x")
	other.ID += "other"
	neighbour := start(t, h, other)

	pidFile := filepath.Join(t.TempDir(), "pid")
	spec := childSpec(t, "escape", "once", pidFile)
	term := start(t, h, spec)
	pid := readPid(t, pidFile)
	if p, ok := readProcess(pid); !ok || p.sid == term.Pid() {
		t.Fatalf("it did not leave the session: %+v", p)
	}
	end(t, term, 200*time.Millisecond)
	if alive(pid) {
		t.Error("it got away")
	}
	if !alive(neighbour.Pid()) || !alive(foreign.Process.Pid) {
		t.Error("a stranger was ended")
	}
}

func TestEndObeysContext(t *testing.T) {
	term := start(t, testHost(t), shellSpec(t, `trap "" HUP TERM; echo ready; while :; do sleep 999; done`))
	waitFor(t, term, "ready")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	err := term.End(ctx, time.Hour)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if err != nil && fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("%v", err)
	}
	waitDone(t, term) // KILL was sent when the context ended
}

// killedHost runs a host in a process of its own, which starts script in a terminal; kill kills that process.
func killedHost(t *testing.T, id, script string, env ...string) (r Remnant, kill func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, id, script)
	cmd.Env = append(uniqueEnv(os.Environ(), childVar+"=host"), env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if _, serr := fmt.Sscanf(line, "remnant %d %d %s", &r.Pid, &r.Start, &r.Boot); err != nil || serr != nil {
		t.Fatalf("host said %q: %v %v", line, err, serr)
	}
	r.ID, r.Pgid, r.Sid = id, r.Pid, r.Pid
	kill = func() { cmd.Process.Kill(); cmd.Wait() }
	t.Cleanup(kill)
	return r, kill
}

// What a killed app left behind is ended at the next start: by session while its leader lives, by the mark afterwards.
func TestEndRemnants(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	stay := `trap "" HUP TERM; (trap "" HUP TERM; while :; do sleep 999; done) & ` // the leader follows
	for _, c := range []struct {
		name, script string
		change       func(*Remnant)
		markers      []string
		ends         bool
	}{
		{"leader lives", stay + "%s; while :; do sleep 999; done", nil, nil, true},
		{"without its mark", "trap '' HUP TERM; env -i PATH=$PATH sh -c 'trap \"\" HUP TERM; while :; do sleep 999; done' & %s; while :; do sleep 999; done", nil, nil, true},
		{"leader gone", stay + "%s; exit", nil, nil, true},
		{"other start time", stay + "%s; while :; do sleep 999; done", func(r *Remnant) { r.Start--; r.ID = "unknown" }, nil, false},
		{"other boot", stay + "%s; while :; do sleep 999; done", func(r *Remnant) { r.Boot = "other" }, nil, false},
		{"by task", stay + "%s; exit", func(r *Remnant) { *r = Remnant{ID: "unknown", Boot: r.Boot} }, []string{"TERMIC_TASK_ID=01TESTTASK"}, true},
		{"other task", stay + "%s; exit", func(r *Remnant) { *r = Remnant{ID: "unknown", Boot: r.Boot} }, []string{"TERMIC_TASK_ID=01TESTTAS", "TERMIC_TASK_ID=", "=x"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			pidFile := filepath.Join(t.TempDir(), "pid")
			id := "R-" + strings.ReplaceAll(c.name, " ", "-")
			r, kill := killedHost(t, id, fmt.Sprintf(c.script, writePid(pidFile)), "TERMIC_TASK_ID=01TESTTASK")
			pid := readPid(t, pidFile)
			kill()
			if !alive(pid) {
				t.Fatal("it did not survive the app: nothing is shown")
			}
			if c.change != nil {
				c.change(&r)
			}
			n, err := EndRemnants(ctx, []Remnant{r}, c.markers, 100*time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			if alive(pid) == c.ends || (n > 0) != c.ends {
				t.Errorf("alive %v, ended %d, want ended %v", alive(pid), n, c.ends)
			}
			if !c.ends { // clean up what this test made
				if _, err := EndRemnants(ctx, nil, []string{MarkerName + "=" + id}, 50*time.Millisecond); err != nil || alive(pid) {
					t.Errorf("clean-up: %v", err)
				}
			}
		})
	}
}

// What shows its mark no longer, once it was asked to end or from its start, is ended all the same: a program that starts
// another one with a clean environment when it is asked, and one whose first thread has ended.
func TestEndHidesItsMark(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	stays := `trap "" HUP TERM; while :; do sleep 999; done`
	for _, c := range []struct{ name, script string }{
		{"clean environment", `trap "" HUP; trap 'trap "" TERM; exec env -i "PATH=$PATH" sh -c '"'"'` + stays + `'"'"'' TERM; %s; while :; do sleep 999 & wait; done`},
		{"without its first thread", "exec env " + childVar + "=headless " + self + " %s"},
	} {
		if c.name != "clean environment" && runtime.GOOS != "linux" {
			continue // elsewhere a process ends with its first thread, or does not look dead
		}
		t.Run(c.name, func(t *testing.T) {
			pidFile := filepath.Join(t.TempDir(), "pid")
			write := strings.Replace(writePid(pidFile), "$!", "$$", 1)
			if c.name != "clean environment" {
				write = pidFile
			}
			id := "H-" + strings.ReplaceAll(c.name, " ", "-")
			_, kill := killedHost(t, id, fmt.Sprintf(c.script, write))
			pid := readPid(t, pidFile)
			t.Cleanup(func() { // only if the test fails
				if alive(pid) {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			})
			kill()
			if !alive(pid) {
				t.Fatal("it did not survive the app: nothing is shown")
			}
			n, err := EndRemnants(context.Background(), nil, []string{MarkerName + "=" + id}, 200*time.Millisecond)
			if err != nil || n == 0 || alive(pid) {
				t.Errorf("ended %d, %v; alive %v", n, err, alive(pid))
			}
		})
	}
}

// A process that got the number of a remnant later is not touched.
func TestRemnantsSpareStrangers(t *testing.T) {
	cmd := exec.Command("sleep", "999")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	p, ok := readProcess(cmd.Process.Pid)
	if !ok {
		t.Fatal("cannot see it")
	}
	for _, r := range []Remnant{
		{ID: "a", Pid: p.pid, Pgid: p.pid, Sid: p.sid, Start: p.start + 1, Boot: bootID()},
		{ID: "b", Pid: p.pid, Pgid: p.pid, Sid: p.sid, Start: p.start, Boot: "another boot"},
		{ID: "c", Pid: p.pid, Pgid: p.pid, Sid: p.sid, Start: p.start},
		{ID: "d", Pid: p.pid, Pgid: p.pid, Sid: p.pid, Start: p.start, Boot: bootID()},
		{},
	} {
		n, err := EndRemnants(context.Background(), []Remnant{r}, nil, time.Millisecond)
		if n != 0 || err != nil || !alive(p.pid) {
			t.Fatalf("%+v: ended %d, %v, alive %v", r, n, err, alive(p.pid))
		}
	}
}

// The app never ends itself or what started it, even with the mark in its own environment.
func TestRoundUpSparesItself(t *testing.T) {
	all, err := listProcesses()
	if err != nil {
		t.Fatal(err)
	}
	spare := ancestors(all)
	for _, pid := range []int{1, os.Getpid(), os.Getppid()} {
		if !spare[pid] {
			t.Errorf("process %d is not spared", pid)
		}
	}
}

func TestReadProcess(t *testing.T) {
	p, ok := readProcess(os.Getpid())
	if !ok || p.pid != os.Getpid() || p.ppid != os.Getppid() || p.start == 0 || p.name == "" || p.dead {
		t.Errorf("%+v", p)
	}
	if _, ok := readProcess(1 << 30); ok {
		t.Error("a process that does not exist")
	}
	if bootID() == "" {
		t.Error("no boot id")
	}
}
