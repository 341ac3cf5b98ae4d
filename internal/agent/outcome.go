package agent

import (
	"time"

	"termic/internal/fault"
)

// The patience of a wait.
const (
	// DeliveryTimeout is how long a prompt may go without any word about it before it counts as not delivered.
	DeliveryTimeout = 90 * time.Second
	// PopulateGrace is how long a target may be absent, without a break, before that is an error: a task that is just
	// made, or restored, has no tab for a moment.
	PopulateGrace = 15 * time.Second
	// QueueGrace is how long a queued prompt may be gone from the queue, unsent, before it counts as dropped, and how
	// long a question may stand before a queued prompt before the wait answers with it.
	QueueGrace = 30 * time.Second
	// IdleGrace is how long after a confirmed delivery a settled state is taken for the answer although no work was
	// seen: some prompts are answered faster than any sign, or need none.
	IdleGrace = 30 * time.Second
)

// Phase says what became of the prompt that a wait is about.
type Phase uint8

// The phases of a prompt.
const (
	PhaseNone        Phase = iota // the wait is about no prompt of its own
	PhaseExpected                 // asked for, no word yet
	PhaseQueued                   // waits in the queue, or is being typed
	PhaseDelivered                // sent, and seen to be taken
	PhaseUnconfirmed              // sent; whether it was taken cannot be told
	PhaseFailed                   // it will not be delivered
	PhaseGone                     // left the queue without being sent
)

// Observation is what is known at one moment about the target of a wait.
type Observation struct {
	Now     time.Time
	Present bool   // the task and the tab exist
	Missing string // why not, when they cannot come back: "archived", "closed". Empty = they may appear yet
	Live    bool   // the tab has a running program
	State   State  // of its Detector
	Queued  int    // prompts in its queue
	Phase   Phase  // of the prompt of this wait
	Reason  string // for PhaseFailed: one sentence for a person
}

// Watch is a wait: what it is about, and what it remembers between two looks. Its zero value with Started set waits
// for no prompt and without a deadline. It is a value: Outcome returns the next one.
type Watch struct {
	Started  time.Time
	Deadline time.Time // zero = none
	Prompt   string    // id of the prompt that is waited for; empty = for whatever is under way
	// TrustDone: a settled state that is there at the first look may be the answer. True for a program that was started
	// for this prompt; false where an older answer may still show.
	TrustDone bool

	active    bool      // a running program was seen
	absent    time.Time // since when the target is missing without a break
	gone      time.Time // since when the prompt is neither queued nor sent
	asking    time.Time // since when a question stands before the queued prompt
	delivered time.Time
}

// Verdict is what a wait comes to at one moment.
type Verdict struct {
	Over    bool
	Outcome string // done, needs_input, timeout, not_delivered; empty when Err is set or it is not over
	State   Work
	Detail  string    // what the agent asks (untrusted), or why a prompt was not delivered
	Err     error     // a fault.Error: the wait cannot come to an outcome
	Next    time.Time // look again no later than this, though nothing changes; zero = when something changes
}

// Outcomes of a wait, as the wire names them.
const (
	outcomeDone         = "done"
	outcomeNeedsInput   = "needs_input"
	outcomeTimeout      = "timeout"
	outcomeNotDelivered = "not_delivered"
)

// Outcome decides how a wait stands. It is the only function that does, for every face. It is pure: call it at every
// change and at Verdict.Next, and hand the returned Watch to the next call.
//
// Settling is heuristic for agents that do not report it; State.Source tells how good the evidence is.
func Outcome(w Watch, o Observation) (Watch, Verdict) {
	v := Verdict{State: o.State.Work, Detail: o.State.Detail}
	if !o.Live {
		v.State, v.Detail = Inactive, ""
	}
	if past(w.Deadline, o.Now) {
		return w, v.over(outcomeTimeout)
	}
	v.soonest(w.Deadline)
	if o.Phase == PhaseFailed {
		v.Detail = o.Reason
		return w, v.over(outcomeNotDelivered)
	}
	if o.Phase == PhaseExpected && o.Queued == 0 {
		at := w.Started.Add(DeliveryTimeout)
		if past(at, o.Now) {
			v.Detail = "nothing was heard of the prompt"
			return w, v.over(outcomeNotDelivered)
		}
		v.soonest(at)
	}
	if !o.Present {
		return w.missing(o, v)
	}
	w.absent = time.Time{}
	if !o.Live {
		return w.inactive(o, v)
	}
	w.active = true
	if w.Prompt == "" && o.Queued == 0 && o.State.mute() {
		return w.mute(o, v)
	}
	switch o.Phase {
	case PhaseQueued, PhaseGone:
		return w.queued(o, v)
	case PhaseExpected:
		return w, v
	case PhaseDelivered, PhaseUnconfirmed:
		if w.delivered.IsZero() {
			w.delivered = o.Now
		}
	}
	return w.settled(o, v)
}

// missing handles a target that is not there.
func (w Watch) missing(o Observation, v Verdict) (Watch, Verdict) {
	if o.Missing != "" {
		return w, v.fail(fault.New(fault.Conflict, "The target was %s while it was waited for", o.Missing))
	}
	if w.absent.IsZero() {
		w.absent = o.Now
	}
	at := w.absent.Add(PopulateGrace)
	if past(at, o.Now) {
		return w, v.fail(fault.New(fault.NotFound, "There is nothing here to wait for").WithHint("List the tabs with task_status."))
	}
	v.soonest(at)
	return w, v
}

// inactive handles a tab without a running program: an agent that went away has not answered.
func (w Watch) inactive(o Observation, v Verdict) (Watch, Verdict) {
	switch {
	case w.active:
		return w, v.fail(fault.New(fault.Unavailable, "The agent ended while it was waited for").WithHint("Its last output is in task_log."))
	case w.Prompt == "":
		return w, v.fail(fault.New(fault.Unsupported, "No agent runs here, so there is nothing to wait for").WithHint("Start one with task_send and resume or fresh."))
	case o.Phase == PhaseDelivered || o.Phase == PhaseUnconfirmed:
		return w, v.fail(fault.New(fault.Unavailable, "The agent ended after it was given the prompt").WithHint("Its last output is in task_log."))
	}
	return w, v // it is being started for the prompt; the delivery tells how that ends
}

// mute handles an agent that gave no sign of settling so far. One that has just begun, or was just given a prompt, may
// give its first sign yet: many kinds are only known by what they show.
func (w Watch) mute(o Observation, v Verdict) (Watch, Verdict) {
	at := o.State.Since.Add(PopulateGrace)
	if o.State.Submits > 0 {
		at = o.State.Submitted.Add(IdleGrace)
	}
	if past(at, o.Now) {
		return w, v.fail(fault.New(fault.Unsupported, "This agent gives no sign of settling, so it cannot be waited for").
			WithHint("Read what it prints with task_log."))
	}
	v.soonest(at)
	return w, v
}

// queued handles a prompt that is not sent yet.
func (w Watch) queued(o Observation, v Verdict) (Watch, Verdict) {
	if o.Phase == PhaseGone && o.State.Work != Working {
		if w.gone.IsZero() {
			w.gone = o.Now
		}
		at := w.gone.Add(QueueGrace)
		if past(at, o.Now) {
			v.Detail = "the prompt left the queue without being sent"
			return w, v.over(outcomeNotDelivered)
		}
		v.soonest(at)
		return w, v
	}
	w.gone = time.Time{}
	return w.asked(o, v)
}

// asked handles a question that stands before queued prompts: a person may answer it at once, so the wait gives them a
// while before it answers with the question.
func (w Watch) asked(o Observation, v Verdict) (Watch, Verdict) {
	if o.State.Work != NeedsInput {
		w.asking = time.Time{}
		return w, v
	}
	if w.asking.IsZero() {
		w.asking = o.Now
	}
	at := w.asking.Add(QueueGrace)
	if past(at, o.Now) {
		return w, v.over(outcomeNeedsInput)
	}
	v.soonest(at)
	return w, v
}

// settled decides whether the state is the answer: it must have settled, with nothing left in the queue, and it must
// belong to the prompt at hand.
func (w Watch) settled(o Observation, v Verdict) (Watch, Verdict) {
	if o.Queued > 0 {
		return w.asked(o, v)
	}
	if o.State.Work == NeedsInput && (w.Prompt == "" || o.State.PromptWorked || w.TrustDone || w.graceOver(o.Now, &v)) {
		return w, v.over(outcomeNeedsInput)
	}
	if o.State.Work == Unknown && w.Prompt != "" && w.graceOver(o.Now, &v) {
		return w, v.over(outcomeDone) // it took the prompt and never gave a sign: there is nothing more to wait for
	}
	if !o.State.Work.Settled() || o.State.Work == NeedsInput {
		return w, v
	}
	if at := o.State.Fresh(o.Now); w.Prompt == "" && !at.IsZero() {
		v.soonest(at) // the newest prompt of another is under way, though the agent does not show it yet
		return w, v
	}
	own := w.Prompt == "" || o.State.PromptWorked || w.TrustDone && o.State.Work == Done || w.graceOver(o.Now, &v)
	if !own {
		return w, v
	}
	return w, v.over(outcomeDone)
}

// graceOver reports that a delivered prompt had its time to show work, and otherwise notes when it will have had it.
func (w Watch) graceOver(now time.Time, v *Verdict) bool {
	if w.delivered.IsZero() {
		return false
	}
	at := w.delivered.Add(IdleGrace)
	if past(at, now) {
		return true
	}
	v.soonest(at)
	return false
}

func (v Verdict) over(outcome string) Verdict {
	v.Over, v.Outcome, v.Next = true, outcome, time.Time{}
	return v
}

func (v Verdict) fail(err error) Verdict {
	v.Over, v.Err, v.Next = true, err, time.Time{}
	return v
}

// soonest moves Next forward.
func (v *Verdict) soonest(at time.Time) {
	if !at.IsZero() && (v.Next.IsZero() || at.Before(v.Next)) {
		v.Next = at
	}
}
