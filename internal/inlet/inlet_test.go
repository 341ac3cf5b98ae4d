package inlet

import (
	"fmt"
	"log/slog"
	"testing"
)

// TestASourceWaitsForItselfAlone: whoever guesses slows nobody else down, however many ports it comes from.
func TestASourceWaitsForItselfAlone(t *testing.T) {
	b := NewBackoff(slog.New(slog.DiscardHandler), "test", Host)
	for i := range 50 {
		if b.Fail(fmt.Sprintf("192.0.2.1:%d", 1000+i)) > 0 {
			b.Woke()
		}
	}
	if got := b.Fail("192.0.2.1:9"); got != FailMost {
		t.Errorf("it waits %v", got)
	}
	b.Woke()
	if got := b.Fail("192.0.2.2:9"); got != 0 {
		t.Errorf("somebody else waits %v", got)
	}
	b.Clear("192.0.2.2:1")
	if got := b.Fail("192.0.2.1:9"); got != FailMost {
		t.Errorf("a right token of somebody else freed it: %v", got)
	}
}

func TestHost(t *testing.T) {
	for from, want := range map[string]string{"192.0.2.1:80": "192.0.2.1", "[::ffff:192.0.2.1]:80": "192.0.2.1", "[2001:db8:1:2:3::4]:80": "2001:db8:1:2::/64",
		"[fe80::1%eth0]:80": "fe80::/64", "nonsense": "nonsense"} {
		if got := Host(from); got != want {
			t.Errorf("%s: %s, want %s", from, got, want)
		}
	}
}

// TestSourcesAreBounded: more sources than are kept take no more memory, and still wait.
func TestSourcesAreBounded(t *testing.T) {
	b := NewBackoff(slog.New(slog.DiscardHandler), "test", Host)
	for i := range 3 * maxSources {
		b.Fail(fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255))
	}
	if len(b.row) > maxSources {
		t.Errorf("%d are kept", len(b.row))
	}
	b.Fail("192.0.2.1:1")
	if got := b.Fail("192.0.2.1:1"); got != FailStep && got != 0 || b.Asleep() > FailAsleep {
		t.Errorf("%v, %d wait", got, b.Asleep())
	}
}
