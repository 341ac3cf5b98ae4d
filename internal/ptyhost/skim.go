package ptyhost

import "time"

// Bounds of skimming.
const (
	// SkimDelay is the least time between two pictures of a flood: what is typed into it is seen no later than that, and
	// nobody reads what is shown for less.
	SkimDelay = 33 * time.Millisecond
	// SkimRest is the least that is printed between two pictures as long as it is a flood: a megabyte or two in a second, which
	// any viewer draws in passing.
	SkimRest = 64 << 10
	// skimLines is the history in a picture of a flood. Somebody who scrolls must see that there is more; all of it comes then.
	skimLines = 200
	// toldBytes bounds the commands that were passed over.
	toldBytes = 128 << 10
)

// Follow says whether the viewer shows the end of what is printed, and nothing of it is held fast, as by a selection. Such a
// viewer does not slow a flood down. When it is a whole window behind, it skims: it gets a picture of the screen now and then,
// and the whole state with its history once the flood is over or it does not follow any more. Commands that say nothing of the
// screen, such as a copy to the clipboard (OSC 52), are handed on in any case, if they are no longer than 64 KiB.
func (a *Attachment) Follow(follows bool) {
	a.t.mu.Lock()
	defer a.t.mu.Unlock()
	a.follows = follows
	a.signal()
}

// startSkimming takes note that the viewer is a whole window behind; t.mu must be held.
func (a *Attachment) startSkimming() {
	a.skims, a.drawing = true, false
	a.unsync()
}

// skim returns the next picture of a flood, or the whole state when it is over; t.mu must be held.
func (a *Attachment) skim(now time.Time) (f Frame, wait time.Duration) {
	t := a.t
	over := !a.follows || t.exited
	switch since := now.Sub(a.lastFrame); {
	case over: // what the viewer still draws is little, or it is asked for at once
	case a.drawing, a.sent-a.acked > a.pace.window/2:
		return Frame{}, 0 // an Ack will signal
	case since < SkimDelay:
		return Frame{}, SkimDelay - since
	case t.ring.end-a.sent < SkimRest:
		over = true
	}
	if over {
		return a.resync(now), 0
	}
	f = a.picture(skimLines)
	a.sent, a.liveFrom, a.resized = t.ring.end, t.ring.end, false // not acked: the next picture waits for that
	a.drawing, a.lastFrame = true, now
	return f, 0
}

// picture is a frame with the present state. For a viewer that skims, the commands since the last one come in a frame behind
// it, and then what the output is in the midst of; t.mu must be held.
func (a *Attachment) picture(lines int) Frame {
	t := a.t
	state, rest := t.screen.snapshot(lines)
	if a.skims {
		a.due = t.told.since(a.sent)
	}
	if len(a.due) > 0 {
		a.due = append(a.due, rest...)
	} else {
		state = append(state, rest...)
	}
	return Frame{Kind: FrameSnapshot, Seq: t.ring.end, Size: t.size, Data: state, Mute: true}
}

// passedOver is the frame behind a picture; t.mu must be held.
func (a *Attachment) passedOver() Frame {
	f := Frame{Kind: FrameOutput, Seq: a.sent, Data: a.due, Mute: a.t.answerer != nil && a.t.answerer != a}
	a.due = nil
	return f
}

// told holds commands that a snapshot says nothing of, for viewers that skim: the newest ones, at most toldBytes.
type told struct {
	list  []command
	bytes int
}

// command is one of them, with its introducer and terminator. end is the number of the byte behind it.
type command struct {
	end  uint64
	text []byte
}

func (l *told) add(c command) {
	l.list = append(l.list, c)
	l.bytes += len(c.text)
	for l.bytes > toldBytes {
		l.drop(1)
	}
}

func (l *told) drop(n int) {
	for _, c := range l.list[:n] {
		l.bytes -= len(c.text)
	}
	if l.list = l.list[n:]; len(l.list) == 0 {
		l.list = nil
	}
}

// since returns the commands that end behind that byte.
func (l *told) since(seq uint64) (text []byte) {
	for _, c := range l.list {
		if c.end > seq {
			text = append(text, c.text...)
		}
	}
	return text
}

// keepTold takes the commands of a chunk that begins at that byte, and forgets those that every viewer has; t.mu must be
// held. Any that sees the terminal may follow from now on, and skim before it was given what is under way.
func (t *Terminal) keepTold(commands []command, from uint64) {
	for _, c := range commands {
		t.told.add(command{from + c.end, c.text})
	}
	if len(t.told.list) == 0 {
		return
	}
	least := t.ring.end
	for a := range t.viewers {
		if !a.hidden {
			least = min(least, a.sent)
		}
	}
	n := 0
	for n < len(t.told.list) && t.told.list[n].end <= least {
		n++
	}
	t.told.drop(n)
}
