package inlet

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestEachFailureWaitsLonger: the first one not at all, and never longer than the most.
func TestEachFailureWaitsLonger(t *testing.T) {
	b := NewBackoff(slog.New(slog.DiscardHandler), "test", nil)
	for i := range 40 {
		want := min(time.Duration(i)*FailStep, FailMost)
		if got := b.Fail(fmt.Sprintf("192.0.2.%d:1", i)); got != want { // without a source, all count together
			t.Errorf("failure %d waits %v, want %v", i, got, want)
		}
		if want > 0 {
			b.Woke()
		}
	}
	b.Clear("198.51.100.1:1")
	if got := b.Fail("192.0.2.1:1"); got != 0 {
		t.Errorf("after a right token it waits %v", got)
	}
	if b.Count() != 41 || b.Asleep() != 0 {
		t.Errorf("%d were counted, %d are asleep", b.Count(), b.Asleep())
	}
}

// TestFewAreAsleep: more failures than may wait are answered at once, and one that woke makes room for another.
func TestFewAreAsleep(t *testing.T) {
	b := NewBackoff(slog.New(slog.DiscardHandler), "test", nil)
	b.Fail("a")
	for i := range FailAsleep {
		if b.Fail("a") == 0 || b.Asleep() != i+1 {
			t.Fatalf("failure %d does not wait; %d do", i, b.Asleep())
		}
	}
	if got := b.Fail("a"); got != 0 || b.Asleep() != FailAsleep {
		t.Errorf("one more waits %v, %d are asleep", got, b.Asleep())
	}
	b.Woke()
	if first, second := b.Fail("a"), b.Fail("a"); first == 0 || second != 0 || b.Asleep() != FailAsleep {
		t.Errorf("after one woke, the next two wait %v and %v, and %d are asleep", first, second, b.Asleep())
	}
}

// TestFailuresAreToldSeldom: a line each ten seconds, with how many there were since the last one, and with the address alone.
func TestFailuresAreToldSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		b := NewBackoff(slog.New(slog.NewTextHandler(&out, nil)), "the endpoint", Host)
		lines := func() string { s := out.String(); out.Reset(); return s }
		for i := range 3 {
			b.Fail(fmt.Sprintf("192.0.2.1:%d", i))
		}
		if got := lines(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "count=1 last_from=192.0.2.1:0") || !strings.Contains(got, "the endpoint: ") {
			t.Errorf("after three: %q", got)
		}
		time.Sleep(failLogEach - time.Nanosecond)
		if b.Fail("192.0.2.1:4"); lines() != "" {
			t.Error("a line before its time")
		}
		time.Sleep(time.Nanosecond)
		if b.Fail("192.0.2.1:5"); !strings.Contains(lines(), "count=4 last_from=192.0.2.1:5") { // all but the one that was told
			t.Error("the next line is not what came meanwhile")
		}
	})
}

// TestAKnownSourceIsKept: when the table is full, a new source takes the place of one, and none is taken from one that is there already.
func TestAKnownSourceIsKept(t *testing.T) {
	b := NewBackoff(slog.New(slog.DiscardHandler), "test", Host)
	at := func(i int) string { return fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255) }
	for i := range maxSources {
		b.Fail(at(i))
	}
	for i := range maxSources {
		b.Fail(at(i))
	}
	for i := range maxSources {
		if b.row[Host(at(i))] != 2 {
			t.Fatalf("source %d has %d failures in a table that had room", i, b.row[Host(at(i))])
		}
	}
	if b.Fail("192.0.2.1:1"); len(b.row) != maxSources || b.row["192.0.2.1"] != 1 {
		t.Errorf("%d sources are kept, and the new one has %d", len(b.row), b.row["192.0.2.1"])
	}
}

func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if Pause(t.Context(), time.Second); time.Since(start) != time.Second {
			t.Errorf("it took %v", time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		if Pause(ctx, time.Hour); time.Since(start) != time.Second {
			t.Errorf("a client that went away was waited for %v", time.Since(start))
		}
	})
}
