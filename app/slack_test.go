package app

import (
	"runtime"
	"testing"
)

// A resting app is not collected for every few MiB of garbage: that took an eighth of the processor from a stream of calls.
func TestARestingAppHasSlack(t *testing.T) {
	p := newProfile(t)
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.NextGC < 2*slackBytes {
		t.Errorf("the next collection is due at %d bytes; want at least %d", m.NextGC, 2*slackBytes)
	}
	runtime.KeepAlive(p.app)
}
