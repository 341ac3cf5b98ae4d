//go:build !windows

package ptyhost

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"termic/internal/fault"
)

func TestStartAndExit(t *testing.T) {
	h := testHost(t)
	var tapped bytes.Buffer
	exits := make(chan ExitStatus, 2)
	spec := shellSpec(t, "printf 'hello\\nworld'; exit 3")
	spec.Tap = func(p []byte) { tapped.Write(p) }
	spec.OnExit = func(s ExitStatus) { exits <- s }
	term := start(t, h, spec)
	want := ExitStatus{Code: 3, Cause: CauseExit}
	if got := waitDone(t, term); got != want {
		t.Errorf("exit %+v, want %+v", got, want)
	}
	if got := <-exits; got != want {
		t.Errorf("told exit %+v, want %+v", got, want)
	}
	if tapped.String() != "hello\r\nworld" {
		t.Errorf("tapped %q", tapped.String())
	}
	data, from, total := term.Log(0)
	if string(data) != "hello\r\nworld" || from != 0 || total != 12 {
		t.Errorf("log %q from %d of %d", data, from, total)
	}
	if s := term.Screen(); s.Lines[0] != "hello" || s.Lines[1] != "world" || s.Seq != 12 {
		t.Errorf("screen %+v", s)
	}
	if err := term.Write(context.Background(), []byte("x")); !errors.Is(err, ErrExited) {
		t.Errorf("write after exit: %v", err)
	}
	if len(exits) > 0 {
		t.Error("exit was told twice")
	}
	if !h.Forget(term.ID()) {
		t.Error("an ended terminal should be forgotten")
	}
	if _, ok := h.Get(term.ID()); ok {
		t.Error("still there after Forget")
	}
}

func TestExitBySignal(t *testing.T) {
	term := start(t, testHost(t), shellSpec(t, "kill -9 $$"))
	if got := waitDone(t, term); got != (ExitStatus{Code: -1, Signal: "SIGKILL", Cause: CauseSignal}) {
		t.Errorf("exit %+v", got)
	}
}

// The exit of a program that crashes is seen at once, even while its child holds the terminal.
func TestExitIsSeenAtOnce(t *testing.T) {
	term := start(t, testHost(t), shellSpec(t, "trap '' HUP; (trap '' HUP TERM; sleep 100) & sleep 0.05; kill -SEGV $$"))
	began := time.Now()
	got := waitDone(t, term)
	if got.Signal != "SIGSEGV" || time.Since(began) > 2*time.Second {
		t.Errorf("exit %+v after %v", got, time.Since(began))
	}
}

func TestStartRefusals(t *testing.T) {
	h := testHost(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("#!/does/not/exist\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	garbage := filepath.Join(dir, "garbage")
	if err := os.WriteFile(garbage, []byte("\x00\x01garbage"), 0o700); err != nil {
		t.Fatal(err)
	}
	good := Spec{ID: "x", Argv: []string{"/bin/sh"}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}}
	for name, c := range map[string]struct {
		change func(*Spec)
		want   fault.Code
		text   string
	}{
		"no id":           {func(s *Spec) { s.ID = "" }, fault.InvalidArgument, "id"},
		"no program":      {func(s *Spec) { s.Argv = nil }, fault.InvalidArgument, "no program"},
		"unknown program": {func(s *Spec) { s.Argv = []string{"nope-nope"} }, fault.NotFound, "nope-nope was not found"},
		"unknown path":    {func(s *Spec) { s.Argv = []string{"/nope/nope"} }, fault.NotFound, "was not found"},
		"not executable":  {func(s *Spec) { s.Argv = []string{file} }, fault.Forbidden, "not executable"},
		"a folder":        {func(s *Spec) { s.Argv = []string{dir} }, fault.InvalidArgument, "folder"},
		"no interpreter":  {func(s *Spec) { s.Argv = []string{script} }, fault.NotFound, "interpreter"},
		"garbage":         {func(s *Spec) { s.Argv = []string{garbage} }, fault.InvalidArgument, "can run"},
		"missing dir":     {func(s *Spec) { s.Dir = dir + "/gone" }, fault.NotFound, "does not exist"},
		"dir is a file":   {func(s *Spec) { s.Dir = file }, fault.InvalidArgument, "not a folder"},
		"relative dir":    {func(s *Spec) { s.Dir = "x" }, fault.InvalidArgument, "absolute"},
		"size":            {func(s *Spec) { s.Size = Size{1, 1} }, fault.InvalidArgument, "columns"},
		"zero byte":       {func(s *Spec) { s.Argv = []string{"/bin/sh", "a\x00b"} }, fault.InvalidArgument, "zero byte"},
	} {
		spec := good
		c.change(&spec)
		_, err := h.Start(spec)
		f := fault.From(err)
		if f == nil || f.Code != c.want || !strings.Contains(f.Message, c.text) {
			t.Errorf("%s: %v, want %s with %q", name, err, c.want, c.text)
		}
	}
	if len(h.Live()) != 0 {
		t.Error("something runs")
	}
	if _, ok := h.Get("x"); ok {
		t.Error("a start that failed left a terminal")
	}
}

func TestIdsAreUniqueAmongTheLiving(t *testing.T) {
	h := testHost(t)
	first := start(t, h, shellSpec(t, "read x"))
	if _, err := h.Start(shellSpec(t, "true")); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("second start: %v", err)
	}
	if h.Forget(first.ID()) {
		t.Error("a running terminal was forgotten")
	}
	if err := first.Write(context.Background(), []byte("\n")); err != nil {
		t.Fatal(err)
	}
	waitDone(t, first)
	again := start(t, h, shellSpec(t, "true"))
	waitDone(t, again)
}

func TestNothingStartsAfterClose(t *testing.T) {
	h := New(Options{})
	term := start(t, h, shellSpec(t, "sleep 100"))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := h.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if got := term.Exit(); got.Cause != CauseEnded {
		t.Errorf("exit %+v", got)
	}
	if _, err := h.Start(shellSpec(t, "true")); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("start after close: %v", err)
	}
}

// Starts that race with Close either fail or are ended.
func TestCloseRacesWithStart(t *testing.T) {
	h := New(Options{Grace: 200 * time.Millisecond})
	var wg sync.WaitGroup
	var mu sync.Mutex
	var started []*Terminal
	for i := range 8 {
		wg.Go(func() {
			spec := shellSpec(t, "sleep 100")
			spec.ID = fmt.Sprint("race", i)
			if term, err := h.Start(spec); err == nil {
				mu.Lock()
				started = append(started, term)
				mu.Unlock()
			}
		})
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := h.Close(ctx); err != nil {
		t.Error(err)
	}
	wg.Wait()
	for _, term := range started {
		if alive(term.Pid()) {
			t.Errorf("process %d survived Close", term.Pid())
		}
	}
}

// P1: what is pasted arrives whole, although the kernel takes 4 KiB at a time and nobody reads for a while.
func TestP1LongPaste(t *testing.T) {
	h := testHost(t)
	for _, size := range []int{10 << 10, 1 << 20} {
		spec := childSpec(t, "sum", fmt.Sprint(size), "200ms")
		spec.ID += fmt.Sprint(size)
		term := start(t, h, spec)
		waitFor(t, term, "ready")
		data := bytes.Repeat([]byte("paste me\x1b[\x00\xff"), size/12+1)[:size]
		if err := term.Write(context.Background(), data); err != nil {
			t.Fatal(err)
		}
		waitFor(t, term, fmt.Sprintf("sum %x", sha256.Sum256(data)))
	}
}

// Writes of several callers are delivered whole, one after the other.
func TestWritesDoNotMix(t *testing.T) {
	const writers, size = 6, 4000
	term := start(t, testHost(t), childSpec(t, "sum", fmt.Sprint(writers*size), "0s"))
	waitFor(t, term, "ready")
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			if err := term.Write(context.Background(), bytes.Repeat([]byte{byte('a' + i)}, size)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	out := waitFor(t, term, "sum ")
	// Any order of whole blocks is right: one of the 6! digests. Trying them all is cheap enough.
	order := make([]int, writers)
	for i := range order {
		order[i] = i
	}
	if !anyOrder(order, 0, func() bool {
		h := sha256.New()
		for _, i := range order {
			h.Write(bytes.Repeat([]byte{byte('a' + i)}, size))
		}
		return strings.Contains(out, fmt.Sprintf("sum %x", h.Sum(nil)))
	}) {
		t.Error("blocks were mixed")
	}
}

func anyOrder(a []int, k int, ok func() bool) bool {
	if k == len(a) {
		return ok()
	}
	for i := k; i < len(a); i++ {
		a[k], a[i] = a[i], a[k]
		if anyOrder(a, k+1, ok) {
			return true
		}
		a[k], a[i] = a[i], a[k]
	}
	return false
}

// A program that does not read delays its own writer only, and the writer learns how far it came.
func TestWriteToDeafProgram(t *testing.T) {
	h := testHost(t)
	deaf := start(t, h, childSpec(t, "deaf"))
	other := shellSpec(t, "read x; echo got $x")
	other.ID += "other"
	well := start(t, h, other)
	waitFor(t, deaf, "ready")
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	stuck := make(chan error, 1)
	go func() { stuck <- deaf.Write(ctx, make([]byte, 1<<20)) }()
	if err := well.Write(context.Background(), []byte("on\n")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, well, "got on")
	var we *WriteError
	if err := <-stuck; !errors.As(err, &we) || !errors.Is(err, context.DeadlineExceeded) || we.Of != 1<<20 || we.Written >= we.Of {
		t.Errorf("stuck write: %v", err)
	}
	// The next one is not spoilt by the deadline of the one before: it waits, too.
	ctx2, cancel2 := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel2()
	began := time.Now()
	if err := deaf.Write(ctx2, make([]byte, 1<<20)); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) < 90*time.Millisecond {
		t.Errorf("second write after %v: %v", time.Since(began), err)
	}
	// The queue is bounded.
	full := false
	for range WriteQueueLen + 2 {
		full = full || !deaf.in.post(make([]byte, 8192))
	}
	if !full {
		t.Error("the queue has no bound")
	}
	if err := deaf.Write(context.Background(), make([]byte, 8192)); !errors.Is(err, ErrQueueFull) {
		t.Errorf("write to a full queue: %v", err)
	}
	go func() { stuck <- deaf.End(context.Background(), 100*time.Millisecond) }()
	if err := <-stuck; err != nil {
		t.Errorf("ending a deaf program: %v", err)
	}
}

// P24: Ctrl-C goes to the program, and to nobody else.
func TestP24CtrlC(t *testing.T) {
	term := start(t, testHost(t), childSpec(t, "sigint"))
	waitFor(t, term, "ready")
	if err := term.Write(context.Background(), []byte{3}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, term, "interrupted")
	if got := waitDone(t, term); got.Code != 0 {
		t.Errorf("exit %+v", got)
	}
}

// P4: the program sees the real size from its first byte on.
func TestP4Size(t *testing.T) {
	h := testHost(t)
	spec := shellSpec(t, "stty size; read x; stty size")
	spec.Size = Size{Cols: 132, Rows: 40}
	term := start(t, h, spec)
	waitFor(t, term, "40 132")
	for _, c := range []struct {
		size    Size
		changed bool
		bad     bool
	}{{Size{132, 40}, false, false}, {Size{0, 0}, false, true}, {Size{1, 24}, false, true}, {Size{5000, 24}, false, true},
		{Size{1000, 500}, false, true}, {Size{100, 30}, true, false}, {Size{100, 30}, false, false}} {
		changed, err := term.Resize(c.size)
		if changed != c.changed || (err != nil) != c.bad {
			t.Errorf("resize to %v: changed %v, %v", c.size, changed, err)
		}
	}
	if got := term.Screen().Size; got != (Size{100, 30}) {
		t.Errorf("screen has %v", got)
	}
	if err := term.Write(context.Background(), []byte("\n")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, term, "30 100")
}

// A program gets descriptors 0, 1 and 2, whatever else is open, without CLOEXEC, at the time.
func TestNoInheritedDescriptors(t *testing.T) {
	openLeaky(t, 20)
	h := testHost(t)
	for i := range 20 {
		spec := shellSpec(t, `for f in /proc/$$/fd/*; do echo "fd ${f##*/}=$(readlink $f)"; done`)
		spec.ID += fmt.Sprint(i)
		term := start(t, h, spec)
		waitDone(t, term)
		data, _, _ := term.Log(0)
		// The shell itself opens the folder, and then a pipe, as the lowest free number, 3: so nothing else is there.
		n := 0
		for _, line := range strings.Fields(strings.ReplaceAll(string(data), "fd ", "")) {
			fd, target, _ := strings.Cut(line, "=")
			if !slices.Contains([]string{"0", "1", "2", "3"}, fd) {
				t.Errorf("inherited %s", line)
			}
			if strings.HasPrefix(target, "/dev/pts/") {
				n++
			}
		}
		if n != 3 {
			t.Errorf("descriptors %q", data)
		}
	}
}

// Starting leaves neither threads nor descriptors behind.
func TestStartsLeaveNothing(t *testing.T) {
	h := testHost(t)
	count := func(dir string) int {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Skip("no /proc here: " + err.Error())
		}
		return len(entries)
	}
	run := func() {
		term := start(t, h, shellSpec(t, "true"))
		<-term.gone
		h.Forget(term.ID())
	}
	for range 10 {
		run()
	}
	fds, threads := count("/proc/self/fd"), count("/proc/self/task")
	for range 100 {
		run()
	}
	if now := count("/proc/self/fd"); now > fds+2 {
		t.Errorf("%d descriptors, %d before", now, fds)
	}
	if now := count("/proc/self/task"); now > threads+5 {
		t.Errorf("%d threads, %d before", now, threads)
	}
}

func TestEnvironmentOfProgram(t *testing.T) {
	spec := shellSpec(t, "env | sort")
	spec.Env = append(spec.Env, "A=1", "A=2", "=bad", "nonsense")
	term := start(t, testHost(t), spec)
	waitDone(t, term)
	data, _, _ := term.Log(0)
	out := strings.Fields(string(data))
	for _, want := range []string{"A=2", MarkerName + "=" + spec.ID, "TERM=xterm-256color"} {
		if !slices.Contains(out, want) {
			t.Errorf("no %s in %q", want, out)
		}
	}
	if slices.Contains(out, "A=1") || os.Getenv("HOME") != "" && strings.Contains(string(data), "HOME=") {
		t.Errorf("environment %q", out)
	}
}

func TestForeground(t *testing.T) {
	term := start(t, testHost(t), Spec{ID: "fg", Argv: []string{"/bin/sh", "-i"}, Dir: t.TempDir(),
		Env: []string{"PATH=/usr/bin:/bin", "PS1=prompt>", "ENV="}})
	waitFor(t, term, "prompt>")
	p, err := term.Foreground()
	if err != nil || p.Pid != term.Pid() || p.Start != term.Started() || p.Start == 0 {
		t.Fatalf("at the prompt: %+v, %v", p, err)
	}
	self, _ := os.Executable()
	if err := term.Write(context.Background(), []byte(childVar+"=sigint "+self+"\n")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, term, "ready")
	q, err := term.Foreground()
	if err != nil || q.Pid == p.Pid || q.Name == "" {
		t.Errorf("with a program: %+v, %v", q, err)
	}
}

// A quiet terminal costs nothing: its goroutines sleep, and none of its threads do work.
func TestQuietTerminalsDoNotWake(t *testing.T) {
	h := testHost(t)
	for i := range 20 {
		spec := shellSpec(t, "echo up; read x")
		spec.ID = fmt.Sprint("quiet", i)
		waitFor(t, start(t, h, spec), "up")
	}
	before, ok := switches()
	if !ok {
		t.Skip("this kernel does not count context switches")
	}
	time.Sleep(time.Second) // the time over which is measured
	after, _ := switches()
	if n := after - before; n > 60 { // the runtime's own: sysmon and the sleep above
		t.Errorf("%d context switches in a second with 20 quiet terminals", n)
	}
}

// switches counts the voluntary context switches of all threads.
func switches() (int, bool) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return 0, false
	}
	sum := 0
	for _, task := range tasks {
		raw, err := os.ReadFile("/proc/self/task/" + task.Name() + "/status")
		if err != nil {
			continue
		}
		_, rest, ok := strings.Cut(string(raw), "voluntary_ctxt_switches:")
		var n int
		if _, err := fmt.Sscan(rest, &n); ok && err == nil {
			sum += n
		}
	}
	return sum, true
}
