package agent

import (
	"regexp"
	"time"
)

// The rules of the Detector. All functions of this file need d.mu.

// signal takes one signal of the parser.
func (d *Detector) signal(s Signal) {
	switch s.Kind {
	case SigPaste:
		d.paste = s.On
	case SigAltScreen:
		d.alt = s.On
	case SigReset:
		d.paste, d.alt = false, false
	case SigStatusQuery:
		if d.reply != nil {
			d.reply([]byte(StatusAnswer))
		}
	}
	d.heard(s)
	if !d.kind.WorkDone {
		return
	}
	switch s.Kind {
	case SigStatus:
		d.reported(s)
	case SigProgress:
		d.progressed(s)
	case SigShell:
		d.shellMark(s)
	case SigTitle:
		d.titled(s.Text)
	case SigNotify, SigAttention:
		d.spoke = true
		d.notified(s)
	case SigBell:
		d.bell()
	}
}

// reported takes a status report: the agent's own word, which outranks all else.
func (d *Detector) reported(s Signal) {
	before := d.status
	d.spoke, d.talks = true, true
	d.status = report{state: s.State, at: d.now, seen: s.State != "clear"}
	d.worded = unworded{}
	d.st.Capable = true
	switch s.State {
	case "working":
		d.busy(SourceStatus)
	case "blocked":
		d.settleAt, d.sampleAt, d.heldSince, d.st.Held = time.Time{}, time.Time{}, time.Time{}, false
		if d.st.Submits > 0 {
			d.st.PromptWorked = true
		}
		why := s.Why
		if why == "" {
			why = "question"
		}
		if s.Text == "" && d.screen != nil {
			// It says that it asks but not what: the screen will, in a moment.
			d.worded = unworded{at: d.now.Add(questionEvery), until: d.now.Add(QuestionWait), why: why}
			return
		}
		d.set(d.now, NeedsInput, SourceStatus, why, s.Text)
	case "done":
		// A done counts when work was seen, or when it is news: an agent may be faster than its own reports.
		if d.st.Submits > 0 && !d.st.PromptWorked && before.state != "done" {
			d.st.PromptWorked = true
			d.settle(SourceStatus, d.statusSettle())
			return
		}
		d.rest(SourceStatus, d.statusSettle())
	case "idle":
		if d.st.Work == Working && d.st.Source < SourceStatus && !before.seen {
			// Weaker signs said "at work", and the agent itself, at its first word, says that it is not: codex says so
			// when its start-up ends, which may be after its first prompt was typed.
			d.settleAt, d.sampleAt, d.st.PromptWorked = time.Time{}, time.Time{}, false
			d.set(d.now, Idle, SourceStatus, "", "")
			return
		}
		d.rest(SourceStatus, d.statusSettle())
	case "clear":
		switch d.st.Work {
		case Working:
			d.settle(SourceStatus, SettleDelay)
		case NeedsInput:
			d.set(d.now, Idle, SourceStatus, "", "")
		}
	}
}

// statusSettle is zero unless background rows must be looked at first.
func (d *Detector) statusSettle() time.Duration {
	if len(d.kind.Signals.Pending) > 0 && d.screen != nil {
		return StatusSettle
	}
	return 0
}

// progressed takes a progress report.
func (d *Detector) progressed(s Signal) {
	d.spoke = true
	d.progress = reading{busy: s.N != 0, at: d.now}
	d.st.Progress = -1
	if s.N != 0 {
		d.st.Progress = s.Pct
		d.busy(SourceProgress)
		return
	}
	d.rest(SourceProgress, SettleDelay)
}

// shellMark takes a shell integration mark: C begins a command, D ends it, A and B are its prompt.
func (d *Detector) shellMark(s Signal) {
	d.spoke = true
	d.shell = reading{busy: s.State == "C", at: d.now}
	switch s.State {
	case "C":
		d.busy(SourceShell)
	case "D":
		d.rest(SourceShell, 0)
	default:
		d.rest(SourceShell, SettleDelay)
	}
}

// titled takes a window title. Programs repeat theirs many times a second; only a change is news.
func (d *Detector) titled(text string) {
	if text == d.lastName {
		return
	}
	d.lastName = text
	g := d.kind.Signals
	switch {
	case anyMatch(g.Attention, text):
		d.spoke = true
		d.title = reading{at: d.now}
		if !d.status.seen {
			d.ask(SourceTitle, "notification", text)
		}
	case anyMatch(g.Busy, text):
		d.spoke = true
		d.title = reading{busy: true, at: d.now}
		d.busy(SourceTitle)
	case anyMatch(g.Idle, text):
		d.spoke = true
		d.title = reading{at: d.now}
		d.rest(SourceTitle, SettleDelay)
	case d.title.busy:
		// It says nothing any more: from here on silence decides.
		d.title = reading{at: d.now}
		if d.st.Work == Working && !d.saysBusy() && d.settleAt.IsZero() {
			d.sampleAt, d.sampleSame = d.now.Add(SampleEvery), 0
		}
	}
}

// notified takes a notification. It is judged from the timer, where the screen may be looked at.
func (d *Detector) notified(s Signal) {
	g := d.kind.Signals
	text := s.Text
	if s.Kind == SigAttention {
		text = ""
	} else if anyMatch(g.Ignore, text) || len(g.Attention) > 0 && !anyMatch(g.Attention, text) {
		return
	}
	if d.status.seen || d.saysBusy() {
		return
	}
	d.notice, d.noticeAt = text, d.now
}

// bell counts only for agents that say nothing else, and not as the answer to a key.
func (d *Detector) bell() {
	if d.spoke || d.st.Submits == 0 || d.st.Work == Done || d.now.Sub(d.typedAt) < HandsOff || d.now.Sub(d.submitAt) < OutputFrom {
		return
	}
	d.ask(SourceBell, "bell", "")
	d.byQuiet = true // as weak as silence: output that goes on revokes it
}

// ask tells that a person is needed.
func (d *Detector) ask(by Source, why, text string) {
	d.settleAt, d.sampleAt = time.Time{}, time.Time{}
	if d.st.Submits > 0 {
		d.st.PromptWorked = true
	}
	d.set(d.now, NeedsInput, by, why, text)
}

// saysBusy reports whether a source below the status reports says that the agent is at work.
func (d *Detector) saysBusy() bool { return d.progress.busy || d.shell.busy || d.title.busy }

// busier reports whether a source that outranks by says that the agent is at work.
func (d *Detector) busier(by Source) bool {
	return by < SourceProgress && d.progress.busy || by < SourceShell && d.shell.busy || by < SourceTitle && d.title.busy
}

// busy takes a sign of work.
func (d *Detector) busy(by Source) {
	d.talks = true
	d.st.Capable = d.kind.WorkDone
	if by < SourceStatus && d.status.seen || d.st.Submits == 0 {
		return // reports outrank it; before the first prompt it is the flash of a start-up
	}
	if d.st.Work == Done && by < SourceStatus && d.now.Sub(d.doneAt) < StickyDone {
		d.flickerAt = d.doneAt.Add(StickyDone)
		return
	}
	d.work(d.now, by)
}

// work enters the working state.
func (d *Detector) work(now time.Time, by Source) {
	d.settleAt, d.noticeAt, d.sampleAt, d.flickerAt, d.heldSince = time.Time{}, time.Time{}, time.Time{}, time.Time{}, time.Time{}
	d.st.Held, d.st.PromptWorked = false, true
	if by == SourceOutput {
		d.sampleAt, d.sampleSame = now.Add(SampleEvery), 0
	}
	if d.st.Work == Working {
		d.st.Source = max(d.st.Source, by)
		return
	}
	d.st.WorkSeq++
	d.set(now, Working, by, "", "")
}

// rest takes a sign of rest; the verdict falls after the delay.
func (d *Detector) rest(by Source, delay time.Duration) {
	if by < SourceStatus && d.status.seen || d.busier(by) {
		return
	}
	if d.st.Submits == 0 {
		if d.st.Work == Unknown || d.st.Work == NeedsInput && by == SourceStatus {
			d.set(d.now, Idle, by, "", "")
		}
		return
	}
	switch d.st.Work {
	case Working:
		d.settle(by, delay)
	case NeedsInput:
		// The question is over when the source that told it says so.
		if d.st.PromptWorked && by >= d.st.Source {
			d.settle(by, delay)
		}
	case Unknown:
		d.set(d.now, Idle, by, "", "")
	case Done:
		if by == SourceStatus && d.status.state == "idle" {
			d.set(d.now, Idle, by, "", "")
		}
	}
}

// settle awaits the verdict, or gives it at once where nothing has to be looked at.
func (d *Detector) settle(by Source, delay time.Duration) {
	d.settleBy = by
	if delay == 0 && (d.screen == nil || len(d.kind.Signals.Pending) == 0) {
		d.done(d.now, by)
		return
	}
	d.settleAt = d.now.Add(delay)
}

// done enters the done state.
func (d *Detector) done(now time.Time, by Source) {
	d.settleAt, d.sampleAt, d.heldSince = time.Time{}, time.Time{}, time.Time{}
	d.st.Held = false // also where the turn is not over
	if !d.st.PromptWorked || d.st.Work == Done {
		return
	}
	d.doneAt = now
	d.st.DoneSeq++
	d.set(now, Done, by, "", "")
}

// submit begins the turn of a new prompt: what was seen before says nothing about it.
func (d *Detector) submit(now time.Time, id string, hash uint64) {
	d.st.Submits++
	d.st.Prompt = id
	d.submitAt, d.submitHash = now, hash
	d.st.Submitted = now
	d.settleAt, d.noticeAt, d.flickerAt, d.heldSince = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	d.st.Held, d.byQuiet = false, false
	d.doneAt = time.Time{}
	if d.st.Work != Working {
		// What a start-up flash left behind is no sign of this turn, and the same title again is news.
		d.progress.busy, d.shell.busy, d.title.busy, d.lastName = false, false, false, ""
	}
	// A prompt that is sent to a working agent joins the turn under way.
	d.st.PromptWorked = d.st.Work == Working
	switch d.st.Work {
	case Done:
		d.set(now, Idle, SourceNone, "", "")
	case NeedsInput:
		if !d.status.seen {
			d.set(now, Idle, SourceNone, "", "")
		}
	}
}

// output takes the mere fact of output.
func (d *Detector) output(now time.Time) {
	if !d.kind.WorkDone {
		return
	}
	hands := now.Sub(d.typedAt) < HandsOff
	switch {
	case d.status.seen:
	case d.kind.Signals.Reports:
		// Its own word will come.
	case d.st.Submits > 0 && !d.talks && !d.st.PromptWorked:
		if age := now.Sub(d.submitAt); age >= OutputFrom && age <= OutputTo && d.st.Work != NeedsInput {
			d.work(now, SourceOutput)
		}
	case d.byQuiet && !hands:
		if d.burstAt.IsZero() || now.Sub(d.burstAt) > OutputTo {
			d.burstAt = now
		} else if now.Sub(d.burstAt) >= ResumeGap {
			d.work(now, SourceOutput)
		}
	}
	if d.screen != nil && d.looksForDialog() {
		d.checkAt = now.Add(DialogQuiet)
	}
}

// looksForDialog reports whether a dialog on the screen would be news: the agent rests and has not said why.
func (d *Detector) looksForDialog() bool {
	switch d.st.Work {
	case Unknown, Idle:
	case NeedsInput:
		return d.st.Source == SourceScreen
	default:
		return false
	}
	return !d.status.seen || d.st.Submits == 0 || d.status.at.Before(d.submitAt)
}

// set changes the state.
func (d *Detector) set(now time.Time, w Work, by Source, why, detail string) {
	if d.st.Work != w {
		d.st.Since = now
		d.trace.add(now, "state", words(w.String(), "by "+by.String(), why))
	}
	d.st.Work, d.st.Source, d.st.Why, d.st.Detail = w, by, why, detail
	if w != Working {
		d.st.Progress = -1
		d.st.Held, d.heldSince = false, time.Time{}
	}
	if w != Done && w != NeedsInput || by != SourceOutput {
		d.byQuiet = false
	}
	d.burstAt = time.Time{}
}

func anyMatch(list []*regexp.Regexp, s string) bool {
	for _, re := range list {
		if re.MatchString(s) {
			return true
		}
	}
	return false
}
