package agent

import "time"

// What the Detector does when a moment has come. All functions of this file need d.mu.

// ceiling is the moment at which a sign of work that may be stuck is no longer believed.
func (d *Detector) ceiling() time.Time {
	if d.st.Work != Working || d.status.seen || !d.saysBusy() {
		return time.Time{}
	}
	return d.last.Add(AbsoluteCeiling)
}

// past reports that an awaited moment has come.
func past(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

// wantsScreen reports whether something is due that looks at the screen.
func (d *Detector) wantsScreen(now time.Time) bool {
	return past(d.settleAt, now) || past(d.noticeAt, now) || past(d.sampleAt, now) || past(d.ceiling(), now) || past(d.worded.at, now) ||
		past(d.checkAt, now) && !now.Before(d.last.Add(DialogQuiet))
}

// due does everything whose moment has come. s is the screen, or nil.
func (d *Detector) due(now time.Time, s *Screen) {
	d.now = now
	if past(d.flickerAt, now) {
		d.flickerAt = time.Time{}
		if d.st.Work == Done && d.saysBusy() && !d.status.seen {
			d.work(now, d.loudest())
		}
	}
	if past(d.noticeAt, now) {
		d.noticeAt = time.Time{}
		if !d.status.seen && !d.saysBusy() && !d.pending(s) {
			d.ask(SourceNotify, "notification", d.notice)
		}
	}
	if past(d.worded.at, now) {
		d.word(now, s)
	}
	if past(d.settleAt, now) {
		d.settleAt = time.Time{}
		d.verdict(now, s, d.settleBy)
	}
	if past(d.ceiling(), now) {
		d.progress.busy, d.shell.busy, d.title.busy = false, false, false
		d.verdict(now, s, SourceOutput)
	}
	if past(d.sampleAt, now) {
		d.sampleAt = time.Time{}
		d.sample(now, s)
	}
	if past(d.checkAt, now) {
		d.check(now, s)
	}
}

// loudest is the strongest source that says "at work".
func (d *Detector) loudest() Source {
	switch {
	case d.progress.busy:
		return SourceProgress
	case d.shell.busy:
		return SourceShell
	}
	return SourceTitle
}

// verdict ends a turn: held while rows say that work goes on, a question when a dialog is on the screen, else done.
func (d *Detector) verdict(now time.Time, s *Screen, by Source) {
	if d.st.Work != Working && d.st.Work != NeedsInput && by != SourceStatus {
		return
	}
	if d.pending(s) {
		if d.heldSince.IsZero() {
			d.heldSince = now
		}
		if now.Sub(d.heldSince) < AbsoluteCeiling {
			if d.st.Work != Working {
				d.work(now, by)
				d.heldSince = now
			}
			d.st.Held = true
			d.settleAt, d.settleBy = now.Add(SampleEvery), by
			return
		}
	}
	if s != nil && !d.status.seen {
		if row, ok := d.kind.dialog(*s); ok {
			d.ask(SourceScreen, "dialog", row)
			return
		}
	}
	d.done(now, by)
}

// word tells a question that was reported without its words, once they are on the screen or the wait for them is over.
func (d *Detector) word(now time.Time, s *Screen) {
	text := ""
	if s != nil {
		text = d.kind.question(*s)
	}
	if text == "" && now.Before(d.worded.until) {
		d.worded.at = now.Add(questionEvery)
		return
	}
	why := d.worded.why
	d.worded = unworded{}
	d.set(now, NeedsInput, SourceStatus, why, text)
}

// pending reports rows near the bottom that say that work goes on in the background.
func (d *Detector) pending(s *Screen) bool {
	if s == nil || len(d.kind.Signals.Pending) == 0 {
		return false
	}
	for _, row := range s.tail(pendingRows) {
		if anyMatch(d.kind.Signals.Pending, row) {
			return true
		}
	}
	return false
}

// pendingRows is how far up from the bottom rows of background work are looked for.
const pendingRows = 8

// sample judges by silence an agent that says nothing. Silence is weak: it is not asked while any signal says "at
// work", and an agent that never gave a signal is said to need a look, not to be done.
func (d *Detector) sample(now time.Time, s *Screen) {
	if d.st.Work != Working || d.status.seen || d.saysBusy() || !d.settleAt.IsZero() {
		return
	}
	quiet := now.Sub(d.last)
	var hash uint64
	if s != nil {
		hash = s.hash()
	}
	if hash == d.sampleHash && quiet >= SampleEvery {
		d.sampleSame++
	} else {
		d.sampleSame = 0
	}
	d.sampleHash = hash
	still := quiet >= QuietFor && d.sampleSame >= SameSamples && (s == nil || hash != d.submitHash)
	if !still && quiet < HardCeiling {
		d.sampleAt = now.Add(SampleEvery)
		return
	}
	if d.spoke {
		d.verdict(now, s, SourceOutput)
	} else {
		d.ask(SourceOutput, "quiet", "")
	}
	if d.st.Work != Working {
		d.byQuiet = true
	}
}

// check looks at a resting agent's screen for a dialog, or for a composer, which means that it is ready.
func (d *Detector) check(now time.Time, s *Screen) {
	if quiet := d.last.Add(DialogQuiet); now.Before(quiet) {
		d.checkAt = quiet
		return
	}
	d.checkAt = time.Time{}
	if s == nil || !d.looksForDialog() {
		return
	}
	if row, ok := d.kind.dialog(*s); ok {
		d.set(now, NeedsInput, SourceScreen, "dialog", row)
		return
	}
	switch {
	case d.st.Work == NeedsInput && d.st.PromptWorked:
		d.done(now, SourceScreen)
	case d.st.Work == NeedsInput:
		d.set(now, Idle, SourceScreen, "", "")
	case d.st.Work == Unknown:
		if _, ok := d.kind.composer(*s); ok {
			d.set(now, Idle, SourceScreen, "", "")
		}
	}
}
