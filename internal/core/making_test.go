package core

import (
	"slices"
	"strconv"
	"testing"
)

// What a creation says is told in its order, bounded, apart from other tasks, and gone when it is over.
func TestMaking(t *testing.T) {
	var m making
	for i := range maxLog {
		if !m.add("a", strconv.Itoa(i)) {
			t.Fatalf("line %d was not taken", i)
		}
	}
	if m.add("a", "more") {
		t.Error("a creation keeps more lines than it may")
	}
	m.add("b", "other")
	got := m.of("a")
	if len(got) != maxLog || got[0] != "0" || got[maxLog-1] != strconv.Itoa(maxLog-1) {
		t.Errorf("%d lines, from %q", len(got), got[0])
	}
	got[0] = "changed"
	if m.of("a")[0] != "0" {
		t.Error("a reader can change what is kept")
	}
	m.forget("a")
	if len(m.of("a")) != 0 || !slices.Equal(m.of("b"), []string{"other"}) {
		t.Errorf("after one ended: %q and %q", m.of("a"), m.of("b"))
	}
}
