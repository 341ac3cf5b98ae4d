package agent

import (
	"testing"
)

// codexAsks is codex's screen while it asks for permission.
var codexAsks = Screen{Lines: []string{"› do it", "", "• Running touch zzz", "", "  Would you like to run the following command?", "", "  Environment: local", "",
	"  Reason: because", "", "  $ touch zzz", "", "", "› 1. Yes, proceed (y)", "  2. Yes, and don't ask again for commands that start with `touch zzz` (p)",
	"  3. No, and tell Codex what to do differently (esc)", "", "  Press enter to confirm or esc to cancel"}, CursorX: 99, CursorY: 17}

func TestQuestion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		k    Kind
		s    Screen
		want string
	}{
		{"codex", codex(), codexAsks, "Would you like to run the following command? Environment: local Reason: because $ touch zzz"},
		{"a bare menu", Kind{}, Screen{Lines: []string{"> 1. Update now", "  2. Skip"}}, "> 1. Update now"},
		{"no dialog", codex(), Screen{Lines: []string{"› Ask Codex to do anything"}, CursorX: 2, CursorVisible: true}, ""},
	} {
		if got := c.k.question(c.s); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A question that is reported without its words is told with those on the screen, and without any when there are none.
func TestQuestionIsWordedByTheScreen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		paint, then string
		want        State
	}{
		{"painted later", "", "", State{Work: NeedsInput, Why: "permission", Detail: "Would you like to run the following command? Environment: local Reason: because $ touch zzz"}},
		{"never painted", "never", "", State{Work: NeedsInput, Why: "permission"}},
		{"answered before", "never", "\x1b]7501;state=working:app=codex\x1b\\", State{Work: Working}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clock := newFakeClock()
			screen := Screen{Lines: []string{"› "}, CursorX: 2, CursorVisible: true}
			d := NewDetector(DetectorOptions{Kind: codex(), Clock: clock, Screen: func() Screen { return screen }})
			d.Submitted("p")
			d.Feed([]byte("\x1b]7501;state=working:app=codex\x1b\\\x1b]7501;state=blocked:app=codex:kind=permission\x1b\\"))
			if s := d.State(); s.Work != Working {
				t.Fatalf("told before its words were looked for: %+v", s)
			}
			clock.advance(questionEvery)
			if c.paint == "" {
				screen = codexAsks
			}
			d.Feed([]byte(c.then + "x"))
			clock.advance(QuestionWait)
			if s := d.State(); s.Work != c.want.Work || s.Why != c.want.Why || s.Detail != c.want.Detail {
				t.Errorf("state %+v, want %+v", s, c.want)
			}
			if _, waits := d.NextDeadline(); waits && c.want.Work == NeedsInput {
				t.Error("something is still awaited")
			}
		})
	}
}
