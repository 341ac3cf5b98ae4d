package cage

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// seen collects events.
type seen struct {
	mu     sync.Mutex
	events []Event
	more   chan struct{}
}

func newSeen() *seen { return &seen{more: make(chan struct{}, 1)} }

func (s *seen) on(e Event) {
	s.mu.Lock()
	s.events = append(s.events, e)
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
}

func (s *seen) all() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

// await returns the first event that matches.
func (s *seen) await(t *testing.T, match func(Event) bool) Event {
	t.Helper()
	for end := time.After(10 * time.Second); ; {
		events := s.all()
		if i := slices.IndexFunc(events, match); i >= 0 {
			return events[i]
		}
		select {
		case <-s.more:
		case <-end:
			t.Fatalf("no such event among %+v", events)
		}
	}
}

func TestWatch(t *testing.T) {
	dir := folder(t)
	put(t, dir+"/rw/f", "x")
	put(t, dir+"/ro/f", "x")
	put(t, dir+"/hidden/f", "x")
	must(t, os.Symlink("/tree/rw", dir+"/rw/up"))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	for _, what := range []Watching{WatchWrites, WatchAll} {
		s := newSeen()
		v := with(systemView(t), Mount{Source: dir + "/rw", Target: "/tree/rw", Write: true}, Mount{Source: dir + "/ro", Target: "/tree/ro"}, Mount{Source: dir + "/hidden", Target: "/tree/hidden", Write: true})
		v.Pins = []string{dir + "/rw/f"}
		v.Links = append(v.Links, Link{"/shortcut", "/tree/rw"})
		put(t, dir+"/hidden/in/f", "x")
		v.Covers = []string{dir + "/hidden/in"}
		o := newObedient(t, Spec{View: v, Net: true, Watch: &Watch{What: what, On: s.on}})
		if !o.Enforcement().Watched {
			t.Fatal("nothing is watched")
		}
		for _, tt := range []struct {
			act     []string
			op      string
			what    string
			refused bool
		}{
			{[]string{"write", "/tree/rw/new", "x"}, "write", "/tree/rw/new", false},
			{[]string{"write", "/shortcut/by-link", "x"}, "write", "/shortcut/by-link", false},
			{[]string{"append", "/tree/rw/f", "x"}, "write", "/tree/rw/f", true},
			{[]string{"append", "/tree/ro/f", "x"}, "write", "/tree/ro/f", true},
			{[]string{"write", "/usr/bin/x", "x"}, "write", "/usr/bin/x", true},
			{[]string{"append", "/tree/hidden/in/f", "x"}, "write", "/tree/hidden/in/f", true},
			{[]string{"append", "/home/nobody/.bashrc", "x"}, "write", "/home/nobody/.bashrc", true},
			{[]string{"mkdir", "/tree/ro/d"}, "make", "/tree/ro/d", true},
			{[]string{"mkdir", "/tmp/d"}, "make", "/tmp/d", false},
			{[]string{"rename", "/tree/rw/new", "/tree/ro/new"}, "remove", "/tree/rw/new", false},
			{[]string{"rename", "/tree/rw/new", "/tree/ro/new2"}, "make", "/tree/ro/new2", true},
			{[]string{"remove", "/tree/ro/f"}, "remove", "/tree/ro/f", true},
			{[]string{"connect", "tcp", "192.0.2.7:443"}, "connect", "192.0.2.7:443", true},
			{[]string{"connect", "tcp", l.Addr().String()}, "connect", l.Addr().String(), false},
			{[]string{"connect", "unix", "/run/docker.sock"}, "connect", "/run/docker.sock", true},
		} {
			o.do(tt.act...)
			e := s.await(t, func(e Event) bool { return e.Op == tt.op && e.Path+e.Address == tt.what })
			if e.Refused != tt.refused || e.Pid == 0 {
				t.Errorf("%v: %+v", tt.act, e)
			}
		}
		if got := o.do("write", "/tree/rw/f2", "x"); got != "ok" { // watching lets through what is allowed
			t.Error(got)
		}
		if what == WatchAll {
			o.do("read", "/tree/ro/f")
			o.do("read", "/etc/no-such-file")
			o.do("read", "/home/nobody/secret")
			s.await(t, func(e Event) bool { return e.Op == "read" && e.Path == "/tree/ro/f" && !e.Refused })
			s.await(t, func(e Event) bool { return e.Op == "read" && e.Path == "/etc/no-such-file" && !e.Refused })
			s.await(t, func(e Event) bool { return e.Op == "read" && e.Path == "/home/nobody/secret" && e.Refused })
		} else if slices.ContainsFunc(s.all(), func(e Event) bool { return e.Op == "read" }) {
			t.Errorf("reads are told: %+v", s.all())
		}
		begin := time.Now()
		o.Kill()
		o.Wait()
		if time.Since(begin) > time.Second {
			t.Error("the watcher does not end")
		}
	}
}

// TestWatchedProgramsRun has ordinary programs in a watched cage, with a callback that never returns in time.
func TestWatchedProgramsRun(t *testing.T) {
	block := make(chan struct{})
	dir := folder(t)
	must(t, os.Mkdir(dir+"/w", 0o700))
	script := "cd " + dir + "/w; for i in 1 2 3 4 5 6 7 8 9; do for j in $(seq 100); do echo x > f$i-$j; done; done; git init -q . && ls | wc -l"
	r, w, err := os.Pipe()
	must(t, err)
	c, err := Start(t.Context(), filled(Spec{Argv: []string{"sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin", "HOME=/tmp"}, View: with(systemView(t), Mount{Source: dir + "/w", Write: true}),
		Net: true, Stdio: [3]*os.File{nil, w, w}, Watch: &Watch{What: WatchAll, On: func(Event) { <-block }}}))
	must(t, w.Close())
	if err != nil {
		t.Fatal(words(err))
	}
	out, err := io.ReadAll(r) // to the end of every program
	must(t, err)
	must(t, r.Close())
	if c.Unseen() == 0 {
		t.Error("nothing was lost, so the callback did not block")
	}
	close(block)
	if exit := c.Wait(); strings.TrimSpace(string(out)) != "900" || exit.Code != 0 {
		t.Errorf("%q %+v", out, exit)
	}
}

// TestMonitor watches a program outside of a cage: it does what it did before, and what a cage would refuse is told.
func TestMonitor(t *testing.T) {
	dir := folder(t)
	put(t, dir+"/w/f", "x")
	put(t, dir+"/outside/f", "x")
	put(t, dir+"/outside/secret", "x")
	self, err := os.Executable()
	must(t, err)
	for _, what := range []Watching{WatchWrites, WatchAll} {
		s := newSeen()
		m, err := NewMonitor(dir, "", Watch{What: what, On: s.on}, with(View{Covers: []string{dir + "/outside/secret"}}, Mount{Source: dir}, Mount{Source: dir + "/w", Write: true}), true)
		must(t, err)
		script := "echo x >> w/f; echo x >> outside/f; cat outside/f outside/secret >/dev/null; " + self + " " + toolName + " connect tcp 127.0.0.1:9; exit 5"
		argv := append(m.Prefix(), "sh", "-c", script)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "MARK=1")
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 5 || !strings.Contains(string(out), "ECONNREFUSED") {
			t.Fatalf("%v\n%s", err, out)
		}
		<-m.Begun()
		s.await(t, func(e Event) bool { return e.Op == "write" && e.Path == dir+"/w/f" && !e.Refused })
		s.await(t, func(e Event) bool { return e.Op == "write" && e.Path == dir+"/outside/f" && e.Refused })
		s.await(t, func(e Event) bool { return e.Op == "connect" && e.Address == "127.0.0.1:9" })
		if what == WatchAll {
			s.await(t, func(e Event) bool { return e.Op == "read" && e.Path == dir+"/outside/f" && !e.Refused })
			s.await(t, func(e Event) bool { return e.Op == "read" && e.Path == dir+"/outside/secret" && e.Refused })
		}
		m.Close()
		if b, err := os.ReadFile(dir + "/outside/f"); err != nil || !strings.HasSuffix(string(b), "x\n") {
			t.Errorf("the write was stopped: %q, %v", b, err)
		}
	}
}

// TestMonitorOfNobody: a program runs although nobody listens, and a monitor ends although no program came.
func TestMonitorOfNobody(t *testing.T) {
	m, err := NewMonitor(folder(t), "", Watch{What: WatchAll, On: func(Event) {}}, View{}, false)
	must(t, err)
	argv := append(m.Prefix(), "echo", "hello")
	m.Close()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil || string(out) != "hello\n" {
		t.Errorf("%q, %v", out, err)
	}
}
