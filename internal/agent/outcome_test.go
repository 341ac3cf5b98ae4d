package agent

import (
	"testing"
	"time"

	"termic/internal/fault"
)

// look is one observation of a table, at seconds after the start of the wait.
type look struct {
	at int
	o  Observation
}

// over is what a wait came to, and when.
type over struct {
	at      int // seconds; -1 = never
	outcome string
	code    fault.Code
}

// TestOutcome is the table of waits. Between two looks of a row the wait is looked at whenever Verdict.Next asks.
func TestOutcome(t *testing.T) {
	t.Parallel()
	st := func(w Work, worked bool) State { return State{Work: w, PromptWorked: worked, Capable: true} }
	live := func(s State, p Phase) Observation { return Observation{Present: true, Live: true, State: s, Phase: p} }
	queued := func(s State, p Phase, n int) Observation { o := live(s, p); o.Queued = n; return o }
	failed := live(st(Idle, false), PhaseFailed)
	failed.Reason = "a dialog is up"
	gone := Observation{}
	archived := Observation{Missing: "archived"}
	stopped := Observation{Present: true}
	sent := func(w Work, worked bool, ago int) State {
		s := st(w, worked)
		s.Submits, s.Submitted = 2, at(-ago)
		return s
	}
	deaf := live(State{Work: Idle}, PhaseNone)
	for _, c := range []struct {
		name  string
		w     Watch
		looks []look
		want  over
	}{
		{"nothing asked, at rest", Watch{}, []look{{0, live(st(Idle, false), PhaseNone)}}, over{0, "done", ""}},
		{"nothing asked, at work, then done", Watch{}, []look{{0, live(st(Working, true), PhaseNone)}, {7, live(st(Done, true), PhaseNone)}}, over{7, "done", ""}},
		{"nothing asked, a prompt of another was just typed", Watch{}, []look{{0, live(sent(Idle, false, 1), PhaseNone)}, {2, live(sent(Working, true, 1), PhaseNone)}, {9, live(sent(Done, true, 1), PhaseNone)}}, over{9, "done", ""}},
		{"nothing asked, a prompt of another was typed and never showed work", Watch{}, []look{{0, live(sent(Idle, false, 10), PhaseNone)}}, over{20, "done", ""}},
		{"nothing asked, a prompt of another was typed long ago", Watch{}, []look{{0, live(sent(Idle, false, 90), PhaseNone)}}, over{0, "done", ""}},
		{"nothing asked, a prompt of another is answered", Watch{}, []look{{0, live(sent(Done, true, 1), PhaseNone)}}, over{0, "done", ""}},
		{"nothing asked, a question", Watch{}, []look{{0, live(st(NeedsInput, false), PhaseNone)}}, over{0, "needs_input", ""}},
		{"nothing asked, more in the queue", Watch{}, []look{{0, queued(st(Done, true), PhaseNone, 1)}, {9, live(st(Working, true), PhaseNone)}, {12, live(st(Done, true), PhaseNone)}}, over{12, "done", ""}},
		{"a question before the queue gets its grace", Watch{}, []look{{0, queued(st(NeedsInput, true), PhaseNone, 1)}}, over{30, "needs_input", ""}},
		{"a question before the queue, answered", Watch{}, []look{{0, queued(st(NeedsInput, true), PhaseNone, 1)}, {20, live(st(Working, true), PhaseNone)}, {40, live(st(Done, true), PhaseNone)}}, over{40, "done", ""}},
		{"the time runs out", Watch{Deadline: at(5)}, []look{{0, live(st(Working, true), PhaseNone)}, {60, live(st(Done, true), PhaseNone)}}, over{5, "timeout", ""}},
		{"the deadline comes first", Watch{Deadline: at(5)}, []look{{6, live(st(Done, true), PhaseNone)}}, over{6, "timeout", ""}},
		{"no sign of settling", Watch{}, []look{{0, deaf}}, over{0, "", fault.Unsupported}},
		{"no sign of settling yet: just begun", Watch{}, []look{{0, live(State{Since: at(-3)}, PhaseNone)}}, over{12, "", fault.Unsupported}},
		{"no sign of settling yet: the first prompt is queued", Watch{}, []look{{0, queued(State{}, PhaseNone, 1)}, {60, live(sent(Working, true, -60), PhaseNone)}, {70, live(sent(Done, true, -60), PhaseNone)}}, over{70, "done", ""}},
		{"no sign of settling yet: just given a prompt", Watch{}, []look{{0, live(State{Submits: 1, Submitted: at(-10)}, PhaseNone)}}, over{20, "", fault.Unsupported}},
		{"no sign of settling, given a prompt long ago", Watch{}, []look{{0, live(State{Submits: 1, Submitted: at(-31)}, PhaseNone)}}, over{0, "", fault.Unsupported}},
		{"no agent", Watch{}, []look{{0, stopped}}, over{0, "", fault.Unsupported}},
		{"the agent goes away", Watch{}, []look{{0, live(st(Working, true), PhaseNone)}, {3, stopped}}, over{3, "", fault.Unavailable}},
		{"archived meanwhile", Watch{}, []look{{0, live(st(Working, true), PhaseNone)}, {3, archived}}, over{3, "", fault.Conflict}},
		{"missing for a moment", Watch{}, []look{{0, gone}, {10, live(st(Working, true), PhaseNone)}, {12, gone}, {20, live(st(Done, true), PhaseNone)}}, over{20, "done", ""}},
		{"missing for good", Watch{}, []look{{0, gone}}, over{15, "", fault.NotFound}},

		{"own prompt: the old done is no answer", Watch{Prompt: "p"}, []look{{0, live(st(Done, false), PhaseExpected)}, {1, live(st(Done, false), PhaseDelivered)}, {2, live(st(Working, true), PhaseDelivered)}, {9, live(st(Done, true), PhaseDelivered)}}, over{9, "done", ""}},
		{"own prompt: a new program's done is trusted", Watch{Prompt: "p", TrustDone: true}, []look{{0, live(st(Done, false), PhaseDelivered)}}, over{0, "done", ""}},
		{"own prompt: a new program's idle is not", Watch{Prompt: "p", TrustDone: true}, []look{{0, live(st(Idle, false), PhaseDelivered)}}, over{30, "done", ""}},
		{"own prompt: no work seen, the grace decides", Watch{Prompt: "p"}, []look{{0, live(st(Idle, false), PhaseExpected)}, {4, live(st(Idle, false), PhaseDelivered)}}, over{34, "done", ""}},
		{"own prompt: an old question is no answer", Watch{Prompt: "p"}, []look{{0, live(st(NeedsInput, false), PhaseDelivered)}, {3, live(st(Working, true), PhaseDelivered)}, {5, live(st(NeedsInput, true), PhaseDelivered)}}, over{5, "needs_input", ""}},
		{"own prompt: failed", Watch{Prompt: "p"}, []look{{0, live(st(Idle, false), PhaseExpected)}, {2, failed}}, over{2, "not_delivered", ""}},
		{"own prompt: no word", Watch{Prompt: "p"}, []look{{0, live(st(Idle, false), PhaseExpected)}}, over{90, "not_delivered", ""}},
		{"own prompt: no word, no program", Watch{Prompt: "p"}, []look{{0, stopped}, {1, Observation{Present: true, Phase: PhaseExpected}}}, over{90, "not_delivered", ""}},
		{"own prompt: queued for long", Watch{Prompt: "p"}, []look{{0, queued(st(Working, true), PhaseQueued, 2)}, {600, live(st(Working, true), PhaseDelivered)}, {700, live(st(Done, true), PhaseDelivered)}}, over{700, "done", ""}},
		{"own prompt: dropped from the queue", Watch{Prompt: "p"}, []look{{0, queued(st(Working, true), PhaseQueued, 1)}, {5, live(st(Idle, true), PhaseGone)}}, over{35, "not_delivered", ""}},
		{"own prompt: queued behind a question", Watch{Prompt: "p"}, []look{{0, queued(st(NeedsInput, true), PhaseQueued, 1)}}, over{30, "needs_input", ""}},
		{"own prompt: unconfirmed, then seen at work", Watch{Prompt: "p"}, []look{{0, live(st(Unknown, false), PhaseUnconfirmed)}, {3, live(st(Working, true), PhaseUnconfirmed)}, {8, live(st(Done, true), PhaseUnconfirmed)}}, over{8, "done", ""}},
		{"own prompt: an agent without signs had its time", Watch{Prompt: "p", Deadline: at(100)}, []look{{0, live(State{}, PhaseUnconfirmed)}}, over{30, "done", ""}},
		{"own prompt: the agent ends", Watch{Prompt: "p"}, []look{{0, live(st(Working, true), PhaseDelivered)}, {4, Observation{Present: true, Phase: PhaseDelivered}}}, over{4, "", fault.Unavailable}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.w.Started = at(0)
			got := play(c.w, c.looks)
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// at is a moment of the table.
func at(seconds int) time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(seconds) * time.Second)
}

// play runs a wait over its looks and an hour beyond.
func play(w Watch, looks []look) over {
	for i, l := range looks {
		end := 3600 * 10
		if i+1 < len(looks) {
			end = looks[i+1].at
		}
		for now := at(l.at); now.Before(at(end)); {
			l.o.Now = now
			var v Verdict
			w, v = Outcome(w, l.o)
			if v.Over {
				return over{int(now.Sub(at(0)) / time.Second), v.Outcome, fault.CodeOf(v.Err)}
			}
			if v.Next.IsZero() || !v.Next.After(now) {
				break
			}
			now = v.Next
		}
	}
	return over{at: -1}
}

// Every wait that has a deadline ends by it.
func TestEveryWaitEnds(t *testing.T) {
	t.Parallel()
	for _, w := range []Work{Unknown, Idle, Working, NeedsInput, Done} {
		for p := PhaseNone; p <= PhaseGone; p++ {
			for _, o := range []Observation{{}, {Present: true}, {Present: true, Live: true}, {Present: true, Live: true, Queued: 1}} {
				o.State, o.Phase = State{Work: w, Capable: true}, p
				if got := play(Watch{Started: at(0), Deadline: at(50), Prompt: "p"}, []look{{0, o}}); got.at < 0 || got.at > 50 {
					t.Errorf("%v %v %+v: %+v", w, p, o, got)
				}
			}
		}
	}
}
