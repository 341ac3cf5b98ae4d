package ptyhost

import (
	"fmt"
	"strings"
	"testing"
)

// TestPlainTextHasTheHistory: the text is what was printed, colours and wrapping taken back, from the newest line up.
func TestPlainTextHasTheHistory(t *testing.T) {
	e := newEmulator(Size{Rows: 4, Cols: 20}, 100)
	var want strings.Builder
	for i := range 30 {
		line := fmt.Sprintf("line %d", i)
		if i == 5 {
			line = strings.Repeat("long ", 9) + "end"
		}
		want.WriteString(line + "\n")
		e.write([]byte("\x1b[1;3" + fmt.Sprint(i%8) + "m\x1b]8;;http://x.invalid/\x1b\\" + line + "\x1b]8;;\x1b\\\x1b[0m\r\n"))
	}
	if got, cut := e.plain(1 << 20); got != want.String() || cut {
		t.Errorf("cut %v:\n%q\nwant\n%q", cut, got, want.String())
	}
	got, cut := e.plain(200)
	if !cut || !strings.HasSuffix(want.String(), got) || !strings.Contains(got, "line 26\n") || strings.Contains(got, "line 3\n") {
		t.Errorf("cut %v: %q", cut, got)
	}
	e.write([]byte("\x1b[?1049h\x1b[Hfull screen"))
	if got, cut := e.plain(1 << 20); got != "full screen\n" || cut {
		t.Errorf("full screen, cut %v: %q", cut, got)
	}
}
