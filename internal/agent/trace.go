package agent

import (
	"strconv"
	"strings"
	"time"
)

// MaxTrace is how many entries a Detector remembers of what its program said: enough to see how a state came about.
const MaxTrace = 64

// Traced is one thing that was heard or decided. Equal ones that follow each other are one, with their number: a spinner in a
// title says the same many times a second.
type Traced struct {
	At    time.Time // of the latest
	Kind  string    // what said it: a Source, or "state" for what was decided
	Text  string    // untrusted
	Times int
}

// trace is the newest entries, oldest first. It is guarded by the Detector's mu.
type trace []Traced

func (t *trace) add(now time.Time, kind, text string) {
	list := *t
	if n := len(list); n > 0 && list[n-1].Kind == kind && list[n-1].Text == text {
		list[n-1].At, list[n-1].Times = now, list[n-1].Times+1
		return
	}
	if len(list) == MaxTrace {
		copy(list, list[1:])
		list = list[:MaxTrace-1]
	}
	*t = append(list, Traced{At: now, Kind: kind, Text: text, Times: 1})
}

// Trace returns what was heard and decided last, oldest first. It is for a person who asks why an agent is said to be at work:
// how a title or a report was read, and what followed from it.
func (d *Detector) Trace() []Traced {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]Traced(nil), d.trace...)
}

// heard notes a signal that may tell a state. Modes and questions of the program tell none.
func (d *Detector) heard(s Signal) {
	kind, text := SourceNone, s.Text
	switch s.Kind {
	case SigStatus:
		kind, text = SourceStatus, words(s.State, s.Why, s.Text, s.App)
	case SigTitle:
		kind = SourceTitle
	case SigNotify:
		kind = SourceNotify
	case SigAttention:
		kind, text = SourceNotify, words("asks for attention", s.Text)
	case SigProgress:
		kind, text = SourceProgress, words(progressWord(s.N), percent(s.Pct))
	case SigShell:
		kind, text = SourceShell, s.State
	case SigBell:
		kind = SourceBell
	default:
		return
	}
	d.trace.add(d.now, kind.String(), text)
}

func words(parts ...string) string {
	var some []string
	for _, p := range parts {
		if p != "" {
			some = append(some, p)
		}
	}
	return strings.Join(some, ", ")
}

func progressWord(n int) string {
	list := [...]string{"none", "running", "error", "running", "warning"}
	if n < 0 || n >= len(list) {
		return ""
	}
	return list[n]
}

func percent(p int) string {
	if p < 0 {
		return ""
	}
	return strconv.Itoa(p) + "%"
}
