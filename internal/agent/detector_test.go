package agent

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// rig is a Detector with a clock and a screen of its own.
type rig struct {
	t    *testing.T
	c    *fakeClock
	d    *Detector
	mu   sync.Mutex
	rows []string
	log  []State
}

func newRig(t *testing.T, k Kind) *rig {
	r := &rig{t: t, c: newFakeClock()}
	r.d = NewDetector(DetectorOptions{Kind: k, Clock: r.c, Screen: r.screen, OnChange: func(s State) { r.log = append(r.log, s) }})
	t.Cleanup(r.d.Exited)
	return r
}

func (r *rig) screen() Screen {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Screen{Lines: append([]string(nil), r.rows...)}
}

func (r *rig) show(rows ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows = rows
}

// do runs a script: "+5s" moves the clock, "submit p", "type TEXT", "row TEXT" sets the screen, "rows" clears it,
// "=work" checks the state, anything else is output with the escapes of Go.
func (r *rig) do(steps ...string) {
	r.t.Helper()
	for i, s := range steps {
		switch {
		case strings.HasPrefix(s, "+"):
			d, err := time.ParseDuration(s[1:])
			if err != nil {
				r.t.Fatal(err)
			}
			r.c.advance(d)
		case strings.HasPrefix(s, "submit "):
			r.d.Submitted(s[7:])
		case strings.HasPrefix(s, "type "):
			r.d.Typed([]byte(s[5:]))
		case strings.HasPrefix(s, "row "):
			r.show(strings.Split(s[4:], "|")...)
		case s == "rows":
			r.show()
		case strings.HasPrefix(s, "="):
			st := r.d.State()
			want, by, _ := strings.Cut(s[1:], " by ")
			if st.Work.String() != want || by != "" && st.Source.String() != by {
				r.t.Fatalf("step %d of %q: %s by %s (%q), want %s", i, steps, st.Work, st.Source, st.Detail, s[1:])
			}
		default:
			r.d.Feed([]byte(s))
		}
	}
}

const (
	rptIdle    = "\x1b]7501;state=idle:app=x\x1b\\"
	rptWorking = "\x1b]7501;state=working:app=x\x1b\\"
	rptDone    = "\x1b]7501;state=done:app=x\x1b\\"
	rptBlocked = "\x1b]7501;state=blocked:app=x:kind=permission:msg=cm0gLXJm\x1b\\" // rm -rf
	rptClear   = "\x1b]7501;state=clear:app=x\x1b\\"
	spin       = "\x1b]0;⠋ x\x07"
	spin2      = "\x1b]0;⠙ x\x07"
	star       = "\x1b]0;✳ x\x07"
	busy94     = "\x1b]9;4;3\x1b\\"
	rest94     = "\x1b]9;4;0\x1b\\"
)

func TestDetector(t *testing.T) {
	t.Parallel()
	silentKind := Kind{ID: "silent", WorkDone: true}
	off := kindFakeFor(t)
	off.WorkDone = false
	for _, c := range []struct {
		name  string
		kind  Kind
		steps []string
	}{
		{"reports: the whole turn", claude(), []string{rptIdle, "=idle by status report", "submit p", "=idle", rptWorking, "=working", rptDone, "+1s", "=done by status report", rptIdle, "=idle"}},
		{"reports: the flash of a start-up is no work", codex(), []string{rptWorking, "=unknown", rptDone, "=idle", "submit p", rptWorking, "=working"}},
		{"reports: the end of a late start-up is no done", codex(), []string{"submit p", "+1s", "x", "+1s", rptIdle, "=idle", "+20s", "=idle", rptWorking, "=working", rptDone, "=done"}},
		{"reports: the old done is not the answer", codex(), []string{"submit a", rptWorking, rptDone, "=done", rptIdle, "submit b", "=idle", "+1s", "=idle", rptWorking, "=working"}},
		{"reports: a done without a working is news", codex(), []string{rptIdle, "submit a", rptDone, "=done"}},
		{"reports: the same done again is none", codex(), []string{"submit a", rptWorking, rptDone, "=done", "submit b", "=idle", rptDone, "=idle"}},
		{"reports: blocked asks, with the words of the agent", claude(), []string{"submit a", rptWorking, rptBlocked, "=needs_input by status report", rptWorking, "=working", rptDone, "+1s", "=done"}},
		{"reports: blocked before the first prompt", claude(), []string{rptBlocked, "=needs_input", rptIdle, "=idle"}},
		{"reports: refused, and at rest", claude(), []string{"submit a", rptWorking, rptBlocked, rptIdle, "+1s", "=done"}},
		{"reports outrank titles", claude(), []string{rptIdle, "submit a", rptWorking, star, "+20s", "=working", rptDone, "+1s", spin, "+20s", "=done"}},
		{"reports outrank notifications (I4)", claude(), []string{"submit a", rptWorking, rptDone, "+61s", "\x1b]9;Claude is waiting for your input\x07", "+1s", "=done", "\x1b]9;other\x07", "+1s", "=done"}},
		{"reports: done is revoked at once", claude(), []string{"submit a", rptWorking, rptDone, "+1s", "=done", rptWorking, "=working", rptDone, "+1s", "=done"}},
		{"reports: silence does not end work (I2)", claude(), []string{"submit a", rptWorking, "row x", "+2h", "=working"}},
		{"reports end with clear, titles take over", claude(), []string{"submit a", rptWorking, rptClear, "+1s", spin, "+20s", "=working", star, "+6s", "=done"}},

		{"titles: the whole turn", off.on(), []string{star, "=idle by title", "submit a", spin, "=working by title", star, "+4s", "=working", "+2s", "=done by title"}},
		{"titles: flicker between tools", off.on(), []string{"submit a", spin, star, "+3s", spin2, "+1s", star, "+3s", spin, "+1h", "=done by output"}},
		{"titles: a spinner of the splash is no work", off.on(), []string{spin, "=unknown", spin2, "+10s", "=unknown", "submit a", spin2, "=working"}},
		{"titles: idle does not count before work", off.on(), []string{star, "submit a", star, "+10s", "=idle", spin, "=working"}},
		{"titles: sticky done, then revoked", off.on(), []string{"submit a", spin, star, "+6s", "=done", spin, "=done", "+9s", "=working", star, "+6s", "=done"}},
		{"titles: sticky done, flicker only", off.on(), []string{"submit a", spin, star, "+6s", "=done", spin, "+1s", star, "+20s", "=done"}},
		{"titles: a stuck one meets the ceiling, silence alone does not", off.on(), []string{"submit a", spin, "+9m", "=working", "x", "+9m", "=working", "+2m", "=done by output"}},
		{"titles: attention wins", codex(), []string{"submit a", spin, "\x1b]0;[ ! ] Action Required | x\x07", "=needs_input by title", spin, "=working"}},
		{"titles: a star over a dialog asks", claude(), []string{"submit a", spin, "row Do you want to proceed?|❯ 1. Yes|  2. No", star, "+6s", "=needs_input by screen", spin, "=working"}},
		{"titles: an unknown one after a spinner leaves it to silence", off.on(), []string{"submit a", "row a", spin, "\x1b]0;bash\x07", "+1s", "row b", "x", "+30s", "=done by output"}},

		{"progress: the whole turn", silentKind, []string{"submit a", busy94, "=working by progress", rest94, "+4s", "=working", "+2s", "=done by progress"}},
		{"progress outranks titles", off.on(), []string{"submit a", busy94, star, "+20s", "=working", rest94, "+6s", "=done"}},
		{"progress at rest, but the title goes on", off.on(), []string{"submit a", busy94, rest94, "+3s", spin, "+20s", "=working"}},
		{"shell marks: done at once", silentKind, []string{"submit a", "\x1b]133;C\x07", "=working by shell mark", "\x1b]133;D;0\x07", "=done"}},
		{"shell marks: a prompt settles", silentKind, []string{"submit a", "\x1b]133;C\x07", "\x1b]133;A\x07", "+4s", "=working", "+2s", "=done"}},

		{"notification on top of a done (I4)", off.on(), []string{"submit a", spin, star, "+6s", "=done", "\x1b]9;needs your permission\x07", "+1s", "=needs_input by notification"}},
		{"notification while at work is passed over", off.on(), []string{"submit a", spin, "\x1b]9;beep\x07", "+1s", "=working"}},
		{"notification: ignored ones", claude(), []string{"submit a", spin, star, "+6s", "=done", "\x1b]9;Claude is waiting for your input\x07", "+1s", "=done", "\x1b]9;Claude needs your permission\x07", "+1s", "=needs_input"}},
		{"notification: the wanted ones only", codex(), []string{"submit a", spin, "\x1b]0;x\x07", "+6s", "=done", "\x1b]9;hello\x07", "+1s", "=done", "\x1b]9;Approval requested: ls\x07", "+1s", "=needs_input"}},
		{"attention request", silentKind, []string{"submit a", "\x1b]1337;RequestAttention=yes\x07", "+1s", "=needs_input by notification"}},

		{"pending rows hold a done, and let it go", off.on(), []string{"submit a", spin, "row |  Waiting for 2 background agents to finish|❯", star, "+6s", "=working", "+60s", "=working", "row ok", "+3s", "=done"}},
		{"pending rows: the ceiling wins", off.on(), []string{"submit a", spin, "row Waiting for 2 background agents", star, "+6s", "=working", "+9m", "=working", "+90s", "=done"}},
		{"pending rows hold a reported done", claude(), []string{"submit a", rptWorking, "row 3 shells still running", rptDone, "+1m", "=working", "rows", "+4s", "=done"}},
		{"a rest told after a done that is held is no first word", claude(), []string{"submit a", "row Waiting for 2 background agents", spin, rptDone, "+1s", "=working", rptIdle, "+1m", "=working", "rows", "+4s", "=done"}},

		{"silent: output is work, silence asks for a look (I6)", silentKind, []string{"row $", "submit a", "+100ms", "echo", "=unknown", "+300ms", "out", "=working by output", "row answer", "+11s", "=needs_input by output"}},
		{"silent: late output is no work", silentKind, []string{"submit a", "+6s", "tick", "=unknown"}},
		{"silent: goes on while it prints", silentKind, []string{"submit a", "+1s", "a", "row a", "+3s", "b", "row b", "+3s", "c", "row c", "+3s", "d", "=working"}},
		{"silent: the screen of the submit is no answer", silentKind, []string{"row q", "submit a", "+1s", "x", "+60s", "=working", "+60s", "=needs_input by output"}},
		{"silent: output that goes on revokes (I4)", silentKind, []string{"submit a", "+1s", "a", "row a", "+11s", "=needs_input", "+1m", "b", "=needs_input", "+1s", "c", "=working"}},
		{"silent: the echo of keys revokes nothing", silentKind, []string{"submit a", "+1s", "a", "row a", "+11s", "=needs_input", "type x", "x", "+400ms", "y", "=needs_input"}},
		{"silent: bell asks", silentKind, []string{"submit a", "+1s", "a", "=working", "\x07", "=needs_input by bell"}},
		{"silent: the bell of a key is none", silentKind, []string{"submit a", "+1s", "a", "=working", "type \t", "\x07", "=working"}},
		{"a bell of an agent that speaks is none", off.on(), []string{"submit a", spin, star, "+6s", "\x07", "=done"}},

		{"dialog at the start", claude(), []string{"hello", "row Do you trust the files in this folder?|❯ 1. No, exit|  2. Yes", "+2s", "=needs_input by screen", "row ────|❯ |────", "x", "+2s", "=idle by screen"}},
		{"composer at the start", claude(), []string{"hello", "row ────|❯ |────", "+2s", "=idle by screen"}},
		{"submit by hand", off.on(), []string{"type hello\r", spin, "=working"}},
		{"a pasted line break is no submit", off.on(), []string{"type \x1b[200~a\rb\x1b[201~", spin, "=unknown"}},
		{"work is not told", off, []string{"submit a", spin, rptWorking, "=unknown"}},
		{"exit", off.on(), []string{"submit a", spin, "=working"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, c.kind)
			r.do(c.steps...)
			r.d.Exited()
			if st := r.d.State(); st.Work != Inactive {
				t.Errorf("after the exit: %+v", st)
			}
			r.d.Feed([]byte(spin))
			if n := r.c.waiting(); n != 0 || r.d.State().Work != Inactive {
				t.Errorf("%d timers after the exit", n)
			}
			for i := 1; i < len(r.log); i++ {
				if r.log[i] == r.log[i-1] {
					t.Errorf("told twice: %+v", r.log[i])
				}
			}
		})
	}
}

// kindFakeFor is kindFake without its program, for tests that need none.
func kindFakeFor(t *testing.T) Kind {
	t.Helper()
	return Kind{ID: "fake", Name: "Fake", WorkDone: true, Signals: Signals{Idle: res(`^✳`), Busy: res(`^[\x{2800}-\x{28FF}]`),
		Pending: res(`(?i)waiting for \d+ background agents?`)}}
}

func (k Kind) on() Kind { k.WorkDone = true; return k }

// I2: 120 s without a byte while an explicit signal says "at work".
func TestI2SilenceIsWeak(t *testing.T) {
	t.Parallel()
	for name, busy := range map[string]string{"report": rptWorking, "title": spin, "progress": busy94, "shell mark": "\x1b]133;C\x07"} {
		r := newRig(t, kindFakeFor(t))
		r.do("submit a", busy, "row same", "+120s")
		if st := r.d.State(); st.Work != Working {
			t.Errorf("%s: %+v", name, st)
		}
	}
}

// I4: a done is revoked when the agent goes on, and counted again.
func TestI4DoneIsRevocable(t *testing.T) {
	t.Parallel()
	r := newRig(t, kindFakeFor(t))
	r.do("submit a", spin, star, "+6s", "=done", "+10s", spin2, "=working", star, "+6s", "=done")
	if st := r.d.State(); st.WorkSeq != 2 || st.DoneSeq != 2 || !st.PromptWorked {
		t.Errorf("%+v", st)
	}
}

// I6: an agent that never gives a sign is noticed all the same.
func TestI6SilentAgentIsNoticed(t *testing.T) {
	t.Parallel()
	r := newRig(t, Kind{ID: "quiet", WorkDone: true})
	r.do("row $", "submit a", "+1s", "thinking", "row answer", "+15s", "=needs_input by output")
	if st := r.d.State(); st.Capable || st.Why != "quiet" {
		t.Errorf("%+v", st)
	}
}

// A quiet agent causes no wake-up: nothing is awaited, and nothing fires in an hour.
func TestQuietAgentCausesNoWakeUp(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]string{
		"idle by report": {rptIdle}, "done": {"submit a", rptWorking, rptDone, "+5s"}, "idle by title": {star, "row ────|❯ |────", "+2s"},
		"silent, judged": {"submit a", "+1s", "x", "row y", "+100s"}, "fresh": {},
	} {
		r := newRig(t, claude())
		if strings.HasPrefix(name, "silent") {
			r = newRig(t, Kind{ID: "s", WorkDone: true})
		}
		r.do(steps...)
		r.c.advance(5 * time.Second)
		before := r.c.fired
		if at, ok := r.d.NextDeadline(); ok || r.c.waiting() != 0 {
			t.Errorf("%s: awaits %v", name, at)
		}
		r.c.advance(time.Hour)
		if r.c.fired != before {
			t.Errorf("%s: %d wake-ups", name, r.c.fired-before)
		}
	}
}

// A flood costs few timers, not one for each piece.
func TestFloodCostsFewTimers(t *testing.T) {
	t.Parallel()
	r := newRig(t, kindFakeFor(t))
	r.do("submit a", spin)
	for i := range 10000 {
		r.d.Feed([]byte(fmt.Sprintf("line %d\r\n", i)))
		r.c.advance(time.Millisecond)
	}
	if r.c.fired > 20 {
		t.Errorf("%d wake-ups in 10 s", r.c.fired)
	}
}

// The state of a prompt is its own: counters, id, session use.
func TestDetectorCounters(t *testing.T) {
	t.Parallel()
	r := newRig(t, claude())
	r.do(rptIdle)
	if st := r.d.State(); st.Submits != 0 || !st.Capable {
		t.Errorf("%+v", st)
	}
	r.do("submit a", "submit a")
	if st := r.d.State(); st.Submits != 1 || st.Prompt != "a" || st.PromptWorked {
		t.Errorf("a repeated Enter counts: %+v", st)
	}
	r.do(rptWorking, "submit b")
	if st := r.d.State(); st.Submits != 2 || st.Prompt != "b" || !st.PromptWorked || st.Work != Working {
		t.Errorf("a prompt to a working agent joins its turn: %+v", st)
	}
	r.do("\x1b]9;4;1;40\x07")
	if st := r.d.State(); st.Progress != 40 {
		t.Errorf("%+v", st)
	}
	r.do(rptDone, "+1s")
	if st := r.d.State(); st.Progress != -1 || st.DoneSeq != 1 {
		t.Errorf("%+v", st)
	}
}

// The query is answered at once, by the one side that is asked to.
func TestStatusQueryIsAnswered(t *testing.T) {
	t.Parallel()
	var sent []byte
	d := NewDetector(DetectorOptions{Kind: claude(), Clock: newFakeClock(), Reply: func(p []byte) { sent = append(sent, p...) }})
	d.Feed([]byte("\x1b]7501;?\x07\x1b[c"))
	if string(sent) != StatusAnswer {
		t.Errorf("%q", sent)
	}
	NewDetector(DetectorOptions{Kind: claude()}).Feed([]byte("\x1b]7501;?\x07"))
}

// OnChange may call the Detector, hears states in order and never two at a time.
func TestOnChangeIsSerial(t *testing.T) {
	t.Parallel()
	var d *Detector
	var mu sync.Mutex
	var last State
	inside := false
	d = NewDetector(DetectorOptions{Kind: kindFakeFor(t), OnChange: func(s State) {
		mu.Lock()
		defer mu.Unlock()
		if inside || s.WorkSeq < last.WorkSeq || s.Submits < last.Submits {
			t.Errorf("out of order: %+v after %+v", s, last)
		}
		inside, last = true, s
		_ = d.State()
		inside = false
	}})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 200 {
				switch (i + j) % 4 {
				case 0:
					d.Submitted(fmt.Sprint(i, j))
				case 1:
					d.Feed([]byte(spin))
				case 2:
					d.Feed([]byte(rptDone + rptWorking))
				case 3:
					d.Advance()
				}
			}
		})
	}
	all.Wait()
	d.Exited()
	mu.Lock()
	defer mu.Unlock()
	if last.Work != Inactive {
		t.Errorf("the last word was %+v", last)
	}
}

// The laws of the Detector, whatever comes: done only after work on a prompt, counters only grow, a state that is told
// is new, the end is the end.
func TestDetectorLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		kinds := []Kind{claude(), codex(), kindFakeFor(t), {ID: "s", WorkDone: true}}
		c := newFakeClock()
		var last State
		rows := []string{"x"}
		d := NewDetector(DetectorOptions{Kind: rapid.SampledFrom(kinds).Draw(rt, "kind"), Clock: c, Screen: func() Screen { return Screen{Lines: rows} },
			OnChange: func(s State) {
				switch {
				case s == last:
					rt.Fatalf("told twice: %+v", s)
				case s.WorkSeq < last.WorkSeq || s.DoneSeq < last.DoneSeq || s.Submits < last.Submits:
					rt.Fatalf("a counter fell: %+v after %+v", s, last)
				case s.Work == Done && (s.Submits == 0 || !s.PromptWorked || s.DoneSeq == 0):
					rt.Fatalf("done without work: %+v", s)
				case s.DoneSeq > last.DoneSeq && s.Work != Done:
					rt.Fatalf("counted a done that is none: %+v", s)
				case s.Held && s.Work != Working:
					rt.Fatalf("held at rest: %+v", s)
				case last.Work == Inactive:
					rt.Fatalf("after the end: %+v", s)
				}
				last = s
			}})
		outputs := []string{rptIdle, rptWorking, rptDone, rptBlocked, rptClear, spin, spin2, star, busy94, rest94, "\x1b]133;C\x07", "\x1b]133;D\x07",
			"\x1b]133;A\x07", "\x1b]9;note\x07", "\x07", "text", "\x1b[?2004h", "\x1b]0;[ ! ] Action Required\x07"}
		screens := [][]string{{"x"}, {"Waiting for 2 background agents"}, {"Do you trust the files?", "❯ 1. No", "  2. Yes"}, {"────", "❯ ", "────"}}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			switch rapid.IntRange(0, 6).Draw(rt, "step") {
			case 0, 1, 2:
				d.Feed([]byte(rapid.SampledFrom(outputs).Draw(rt, "output")))
			case 3:
				c.advance(time.Duration(rapid.IntRange(1, 20000).Draw(rt, "ms")) * time.Millisecond)
			case 4:
				d.Submitted(rapid.SampledFrom([]string{"a", "b", ""}).Draw(rt, "prompt"))
			case 5:
				rows = rapid.SampledFrom(screens).Draw(rt, "screen")
			case 6:
				d.Typed([]byte(rapid.SampledFrom([]string{"x", "\r", "\x1b[200~\r\x1b[201~"}).Draw(rt, "keys")))
			}
		}
		rows = []string{"x"}
		c.advance(time.Hour)
		if at, ok := d.NextDeadline(); ok {
			rt.Fatalf("an hour of quiet, and %v is awaited in %+v", at.Sub(c.Now()), d.State())
		}
		d.Exited()
		if last.Work != Inactive || c.waiting() != 0 {
			rt.Fatalf("the end: %+v, %d timers", last, c.waiting())
		}
	})
}
