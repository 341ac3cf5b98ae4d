//go:build !windows

package ptyhost

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// childVar makes the test binary act as a program in a terminal.
const childVar = "PTYHOST_TEST_CHILD"

// The main goroutine runs on the first thread, which one of the programs ends.
func init() { runtime.LockOSThread() }

func TestMain(m *testing.M) {
	if mode := os.Getenv(childVar); mode != "" {
		runChild(mode, os.Args[1:])
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// runChild holds the programs that tests start.
func runChild(mode string, args []string) {
	switch mode {
	case "sum": // reads n bytes in raw mode after a pause in which nobody reads, prints their digest
		old, _ := term.MakeRaw(0)
		defer term.Restore(0, old)
		n, _ := strconv.Atoi(args[0])
		fmt.Print("ready\r\n")
		pause, _ := time.ParseDuration(args[1])
		time.Sleep(pause)
		h := sha256.New()
		io.CopyN(h, os.Stdin, int64(n))
		fmt.Printf("sum %x\r\n", h.Sum(nil))
	case "deaf": // never reads
		old, _ := term.MakeRaw(0)
		defer term.Restore(0, old)
		fmt.Print("ready\r\n")
		forever()
	case "sigint":
		c := make(chan os.Signal, 1)
		signal.Notify(c, os.Interrupt)
		fmt.Println("ready")
		<-c
		fmt.Println("interrupted")
	case "flood": // endless short lines, as yes prints them
		out := bufio.NewWriterSize(os.Stdout, 64<<10)
		for {
			out.WriteString("y\n")
		}
	case "print": // n bytes of text, then exit
		n, _ := strconv.Atoi(args[0])
		line := bytes.Repeat([]byte("0123456789abcdef"), 4)
		line[63] = '\n'
		block := bytes.Repeat(line, 1024)
		for ; n > 0; n -= len(block) {
			os.Stdout.Write(block[:min(n, len(block))])
		}
	case "ask": // sends a query, prints what comes back until a pause
		old, _ := term.MakeRaw(0)
		defer term.Restore(0, old)
		os.Stdout.WriteString(args[0])
		buf := make([]byte, 1)
		var got []byte
		for !strings.HasSuffix(string(got), args[1]) {
			if _, err := os.Stdin.Read(buf); err != nil {
				break
			}
			got = append(got, buf...)
		}
		fmt.Printf("got %q\r\n", got)
	case "escape": // leaves the session, forks twice, ignores HUP and TERM, and tells its pid
		escape(args)
	case "stay":
		signal.Ignore(syscall.SIGHUP, syscall.SIGTERM)
		os.WriteFile(args[0]+".tmp", []byte(strconv.Itoa(os.Getpid())), 0o600)
		os.Rename(args[0]+".tmp", args[0])
		forever()
	case "headless": // its first thread ends, and another one goes on
		signal.Ignore(syscall.SIGHUP, syscall.SIGTERM)
		go func() {
			for p, _ := readProcess(os.Getpid()); ; p, _ = readProcess(os.Getpid()) {
				if raw, _ := os.ReadFile("/proc/self/stat"); bytes.Contains(raw, []byte(") Z ")) || p.pid == 0 {
					break
				}
				time.Sleep(time.Millisecond)
			}
			os.WriteFile(args[0]+".tmp", []byte(strconv.Itoa(os.Getpid())), 0o600)
			os.Rename(args[0]+".tmp", args[0])
			forever()
		}()
		syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0) // of this thread alone: init keeps it the first one
	case "host": // starts a terminal and is then killed, as the app may be
		h := New(Options{})
		t, err := h.Start(Spec{ID: args[0], Argv: []string{"/bin/sh", "-c", args[1]}, Dir: "/", Env: os.Environ()})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		r := t.Remnant()
		fmt.Println("remnant", r.Pid, r.Start, r.Boot)
		forever()
	}
}

// escape starts this program again in a session of its own, from a process in between that ends at once.
func escape(args []string) {
	self, _ := os.Executable()
	mode, attr, first := "stay", &syscall.SysProcAttr{Setsid: true}, args[0] == "once"
	if args = args[1:]; first {
		mode, args = "escape", append([]string{"twice"}, args...)
	}
	env := append(os.Environ(), childVar+"="+mode)
	null, _ := os.OpenFile("/dev/null", os.O_RDWR, 0)
	fd := null.Fd()
	syscall.ForkExec(self, append([]string{self}, args...), &syscall.ProcAttr{Env: uniqueEnv(env), Files: []uintptr{fd, fd, fd}, Sys: attr})
	if first { // the leader stays: the end of its terminal is what is tested
		forever()
	}
}

func forever() {
	for {
		time.Sleep(time.Hour)
	}
}

// testHost makes a host that is closed with the test.
func testHost(t testing.TB) *Host {
	h := New(Options{Grace: 500 * time.Millisecond})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := h.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return h
}

// child is a Spec that runs this test binary in a mode.
func childSpec(t testing.TB, mode string, args ...string) Spec {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Spec{ID: fmt.Sprintf("T-%s-%d", t.Name(), os.Getpid()), Argv: append([]string{self}, args...), Dir: t.TempDir(),
		Env: []string{"PATH=/usr/bin:/bin", childVar + "=" + mode, "TERM=xterm-256color"}}
}

func shellSpec(t testing.TB, script string) Spec {
	return Spec{ID: fmt.Sprintf("T-%s-%d", t.Name(), os.Getpid()), Argv: []string{"/bin/sh", "-c", script}, Dir: t.TempDir(),
		Env: []string{"PATH=/usr/bin:/bin", "TERM=xterm-256color"}}
}

func start(t testing.TB, h *Host, spec Spec) *Terminal {
	t.Helper()
	term, err := h.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	return term
}

// waitFor waits until the output holds text, and returns it all. It is told of every chunk by a viewer.
func waitFor(t testing.TB, term *Terminal, text string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	a, err := term.Attach(AttachOptions{Pressure: Lag})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Detach("test")
	for {
		data, _, _ := term.Log(0)
		if strings.Contains(string(data), text) {
			return string(data)
		}
		f, err := a.Next(ctx)
		if err != nil {
			t.Fatalf("waiting for %q: %v; output %q", text, err, data)
		}
		a.Ack(f.Seq)
		if f.Kind == FrameExit {
			if data, _, _ = term.Log(0); strings.Contains(string(data), text) {
				return string(data)
			}
			t.Fatalf("program ended %+v before %q; output %q", f.Exit, text, data)
		}
	}
}

func waitDone(t testing.TB, term *Terminal) ExitStatus {
	t.Helper()
	select {
	case <-term.Done():
		return term.Exit()
	case <-time.After(20 * time.Second):
		t.Fatal("the program does not end")
		return ExitStatus{}
	}
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	p, ok := readProcess(pid)
	return ok && !p.dead
}

// openLeaky opens descriptors as C libraries do, without CLOEXEC.
func openLeaky(t testing.TB, n int) {
	for range n {
		fd, err := unix.Open("/dev/null", unix.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fd) })
	}
}

// readPid waits for a program to write its pid into a file.
func readPid(t testing.TB, path string) int {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if raw, err := os.ReadFile(path); err == nil && len(raw) > 0 {
			pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
			if err != nil || !alive(pid) {
				t.Fatalf("process %q does not run: %v", raw, err)
			}
			return pid
		}
	}
	t.Fatalf("no pid in %s", path)
	return 0
}
