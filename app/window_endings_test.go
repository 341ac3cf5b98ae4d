package app

import (
	"testing"
	"time"
)

func TestAPageThatAlwaysCrashesIsLoadedAFewTimes(t *testing.T) {
	var e endings
	at := time.Now()
	for i, want := range []bool{true, true, true, false, false} {
		if e.again(at.Add(time.Duration(i)*time.Second)) != want {
			t.Errorf("ending %d", i+1)
		}
	}
	if !e.again(at.Add(2 * endingsIn)) {
		t.Error("what was long ago still counts")
	}
}
