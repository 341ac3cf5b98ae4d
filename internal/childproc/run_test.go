//go:build unix

package childproc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func sh(script string) Cmd {
	return Cmd{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=/usr/bin:/bin"}}
}

func TestRunKeepsOutputAndCode(t *testing.T) {
	var lines []string
	c := sh("cat; printf 'one\\ntwo\\rthree\\033[0m' >&2; exit 3")
	c.Stdin = strings.NewReader("in\n")
	c.OnLine = func(l string) { lines = append(lines, l) }
	r, err := Run(context.Background(), c)
	if err != nil || r.Code != 3 || string(r.Stdout) != "in\n" || r.Stderr != "one\ntwo\rthree\x1b[0m" {
		t.Errorf("%+v, %v", r, err)
	}
	if got := strings.Join(lines, "|"); got != "one|two|three[0m" {
		t.Errorf("lines %q", got)
	}
}

func TestRunBoundsOutput(t *testing.T) {
	c := sh("head -c 100000 /dev/zero; head -c 100000 /dev/zero >&2")
	c.MaxOutput = 1000
	r, err := Run(context.Background(), c)
	if err != nil || len(r.Stdout) != 1000 || !r.Truncated || r.Total != 100000 || len(r.Stderr) != DefaultMaxErrors {
		t.Errorf("%d bytes, truncated %v, total %d, %d of errors, %v", len(r.Stdout), r.Truncated, r.Total, len(r.Stderr), err)
	}
}

func TestRunAddsNothingToTheEnvironment(t *testing.T) {
	t.Setenv("SECRET_OF_OURS", "x")
	for _, env := range [][]string{nil, {}, {"A=1"}} {
		c := Cmd{Path: "/usr/bin/env", Env: env}
		r, err := Run(context.Background(), c)
		if err != nil || strings.TrimSpace(string(r.Stdout)) != strings.Join(env, "\n") {
			t.Errorf("environment %q, %v", r.Stdout, err)
		}
	}
}

func TestRunFailsToStart(t *testing.T) {
	r, err := Run(context.Background(), Cmd{Path: filepath.Join(t.TempDir(), "none")})
	if !errors.Is(err, os.ErrNotExist) || r.Code != -1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// The child ignores the polite signal and so does its own child; both are gone when Run has returned.
func TestRunEndsTheWholeGroup(t *testing.T) {
	for _, how := range []string{"timeout", "context"} {
		t.Run(how, func(t *testing.T) {
			pidFile := filepath.Join(t.TempDir(), "pid")
			c := sh("trap '' TERM; (trap '' TERM; sh -c 'trap \"\" TERM; echo $$ >" + pidFile + ".new; mv " + pidFile + ".new " + pidFile + "; while :; do sleep 1; done') & while :; do sleep 1; done")
			c.Grace = 200 * time.Millisecond
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if how == "timeout" {
				c.Timeout = 2 * time.Second
			} else {
				go func() { // ends with the file or with the test's context
					for ctx.Err() == nil {
						if _, err := os.Stat(pidFile); err == nil {
							cancel()
							return
						}
						time.Sleep(10 * time.Millisecond)
					}
				}()
			}
			start := time.Now()
			r, err := Run(ctx, c)
			if err == nil || r.TimedOut != (how == "timeout") || time.Since(start) > 30*time.Second {
				t.Fatalf("%+v, %v after %s", r, err, time.Since(start))
			}
			if how == "context" && !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			b, err := os.ReadFile(pidFile)
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
			if err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(5 * time.Second); alive(pid); {
				if time.Now().After(deadline) {
					t.Fatalf("process %d lives on", pid)
				}
				time.Sleep(10 * time.Millisecond) // signals are delivered, but not yet acted on
			}
		})
	}
}

// alive reports whether a process runs; a zombie that nobody reaped yet does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func TestRunDoesNotWaitForAGrandchildThatKeepsThePipe(t *testing.T) {
	c := sh("sleep 60 & echo done")
	c.Grace = 200 * time.Millisecond
	start := time.Now()
	r, err := Run(context.Background(), c)
	if err != nil || r.Code != 0 || string(r.Stdout) != "done\n" || time.Since(start) > 30*time.Second {
		t.Errorf("%+v, %v after %s", r, err, time.Since(start))
	}
}

func TestRunGivesNoTerminal(t *testing.T) {
	r, err := Run(context.Background(), sh("if (exec </dev/tty) 2>/dev/null; then echo tty; fi; read x && echo read; ps -o pid=,sid= -p $$ | awk '{print ($1==$2)}'"))
	if err != nil || strings.Contains(string(r.Stdout), "tty") || strings.Contains(string(r.Stdout), "read") {
		t.Errorf("%q, %v", r.Stdout, err)
	}
}

// TestRunTellsThatItStarted: while the program runs, and not for one that cannot be started.
func TestRunTellsThatItStarted(t *testing.T) {
	in, feed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	c := sh("read line; echo \"$line\"")
	c.Stdin, c.Timeout = in, 10*time.Second
	told := 0
	c.Started = func() {
		told++
		_, _ = feed.WriteString("go on\n") // what the program ends by
		_ = feed.Close()
	}
	if r, err := Run(context.Background(), c); err != nil || string(r.Stdout) != "go on\n" || told != 1 {
		t.Errorf("%q, %v, told %d times", r.Stdout, err, told)
	}
	c = sh("true")
	c.Path, c.Started = "/nowhere/at/all", func() { told++ }
	if _, err := Run(context.Background(), c); err == nil || told != 1 {
		t.Errorf("%v, told %d times", err, told)
	}
}
