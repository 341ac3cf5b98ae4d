package agent

import (
	"fmt"
	"strings"
	"testing"
)

// TestTrace: what a program said and what followed stand in the order in which they came, the same thing once with its number, and
// never more than can be read.
func TestTrace(t *testing.T) {
	clock := newFakeClock()
	d := NewDetector(DetectorOptions{Kind: Kind{ID: "x", WorkDone: true}, Clock: clock})
	d.Feed([]byte("\x1b]0;a\x07\x1b]0;a\x07\x1b]0;b\x07"))
	d.Submitted("p")
	d.Feed([]byte("\x1b]7501;state=working\x1b\\\x1b]9;4;1;40\x1b\\"))
	d.Feed([]byte("\x1b]7501;state=blocked\x1b\\"))
	var got []string
	for _, e := range d.Trace() {
		got = append(got, fmt.Sprintf("%s %q x%d", e.Kind, e.Text, e.Times))
	}
	all := strings.Join(got, "\n")
	for _, want := range []string{`title "a" x2`, `title "b" x1`, `status report "working" x1`, `state "working, by status report" x1`, `progress "running, 40%" x1`,
		`state "needs_input, by status report, question" x1`} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is missing in\n%s", want, all)
		}
	}
	if i, j := strings.Index(all, `status report "working"`), strings.Index(all, `state "working`); i > j {
		t.Errorf("the cause stands behind what followed:\n%s", all)
	}
	for i := range 3 * MaxTrace {
		d.Feed(fmt.Appendf(nil, "\x1b]0;title %d\x07", i))
	}
	list := d.Trace()
	if len(list) != MaxTrace || list[MaxTrace-1].Text != fmt.Sprintf("title %d", 3*MaxTrace-1) {
		t.Errorf("%d entries, the last is %+v", len(list), list[len(list)-1])
	}
	list[0].Text = "mine" // a copy
	if d.Trace()[0].Text == "mine" {
		t.Error("the trace was handed out itself")
	}
}
