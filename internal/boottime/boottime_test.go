package boottime

import (
	"testing"
	"time"
)

// TestNow: it goes on, at the pace of the clock.
func TestNow(t *testing.T) {
	first, err := Now()
	if err != nil || first <= 0 {
		t.Fatalf("%v, %v", first, err)
	}
	begin := time.Now()
	for time.Since(begin) < 20*time.Millisecond {
		if now, err := Now(); err != nil || now < first {
			t.Fatalf("%v after %v, %v", now, first, err)
		}
	}
	now, err := Now()
	if passed := now - first; err != nil || passed < 15*time.Millisecond || passed > 5*time.Second {
		t.Errorf("%v passed, %v", passed, err)
	}
}
