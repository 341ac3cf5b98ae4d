package cage

import (
	"io"
	"net"
	"os"
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

// await returns the first event that matches.
func (s *seen) await(t *testing.T, match func(Event) bool) Event {
	t.Helper()
	for end := time.After(10 * time.Second); ; {
		s.mu.Lock()
		i := slices.IndexFunc(s.events, match)
		s.mu.Unlock()
		if i >= 0 {
			return s.events[i]
		}
		select {
		case <-s.more:
		case <-end:
			t.Fatalf("no such event among %+v", s.events)
		}
	}
}

func TestWatch(t *testing.T) {
	dir := folder(t)
	put(t, dir+"/rw/f", "x")
	put(t, dir+"/ro/f", "x")
	put(t, dir+"/hidden/f", "x")
	must(t, os.Symlink("/work/rw", dir+"/rw/up"))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	for _, what := range []Watching{WatchWrites, WatchAll} {
		s := newSeen()
		v := with(systemView(t), Mount{Source: dir + "/rw", Target: "/work/rw", Write: true}, Mount{Source: dir + "/ro", Target: "/work/ro"}, Mount{Source: dir + "/hidden", Target: "/work/hidden", Write: true})
		v.Pins = []string{dir + "/rw/f"}
		v.Links = append(v.Links, Link{"/shortcut", "/work/rw"})
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
			{[]string{"write", "/work/rw/new", "x"}, "write", "/work/rw/new", false},
			{[]string{"write", "/shortcut/by-link", "x"}, "write", "/shortcut/by-link", false},
			{[]string{"append", "/work/rw/f", "x"}, "write", "/work/rw/f", true},
			{[]string{"append", "/work/ro/f", "x"}, "write", "/work/ro/f", true},
			{[]string{"write", "/usr/bin/x", "x"}, "write", "/usr/bin/x", true},
			{[]string{"append", "/work/hidden/in/f", "x"}, "write", "/work/hidden/in/f", true},
			{[]string{"append", "/home/nobody/.bashrc", "x"}, "write", "/home/nobody/.bashrc", true},
			{[]string{"mkdir", "/work/ro/d"}, "make", "/work/ro/d", true},
			{[]string{"mkdir", "/tmp/d"}, "make", "/tmp/d", false},
			{[]string{"rename", "/work/rw/new", "/work/ro/new"}, "remove", "/work/rw/new", false},
			{[]string{"rename", "/work/rw/new", "/work/ro/new2"}, "make", "/work/ro/new2", true},
			{[]string{"remove", "/work/ro/f"}, "remove", "/work/ro/f", true},
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
		if got := o.do("write", "/work/rw/f2", "x"); got != "ok" { // watching lets through what is allowed
			t.Error(got)
		}
		if what == WatchAll {
			o.do("read", "/work/ro/f")
			o.do("read", "/etc/no-such-file")
			o.do("read", "/home/nobody/secret")
			s.await(t, func(e Event) bool { return e.Op == "read" && e.Path == "/work/ro/f" && !e.Refused })
			s.await(t, func(e Event) bool { return e.Op == "read" && e.Path == "/etc/no-such-file" && !e.Refused })
			s.await(t, func(e Event) bool { return e.Op == "read" && e.Path == "/home/nobody/secret" && e.Refused })
		} else if slices.ContainsFunc(s.events, func(e Event) bool { return e.Op == "read" }) {
			t.Errorf("reads are told: %+v", s.events)
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
