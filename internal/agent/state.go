package agent

import "time"

// Work is what an agent is doing, as far as can be told.
type Work string

// The work states. Their names are those of the wire, where Unknown is left out.
const (
	Unknown    Work = ""            // no sign yet
	Idle       Work = "idle"        // at rest; nothing was asked of it, or what was is settled and seen
	Working    Work = "working"     // at work
	NeedsInput Work = "needs_input" // it waits for a person: a permission, a question, a dialog
	Done       Work = "done"        // it worked on the newest prompt and came to rest; revoked when it goes on
	Inactive   Work = "inactive"    // the program has exited
)

// String names the state; Unknown is "unknown".
func (w Work) String() string {
	if w == Unknown {
		return "unknown"
	}
	return string(w)
}

// Settled reports a state that ends a wait.
func (w Work) Settled() bool { return w == Idle || w == NeedsInput || w == Done }

// Source is the kind of evidence behind a state. A greater one outranks a lesser one.
type Source uint8

// The sources, weakest first.
const (
	SourceNone     Source = iota
	SourceOutput          // bytes flowed, or stopped flowing
	SourceBell            // a BEL
	SourceScreen          // a dialog or a composer is on the screen
	SourceTitle           // the window title matched
	SourceNotify          // OSC 9, 777, 1337
	SourceShell           // OSC 133
	SourceProgress        // OSC 9;4
	SourceStatus          // OSC 7501
	SourceProcess         // the program exited
)

var sourceNames = [...]string{"none", "output", "bell", "screen", "title", "notification", "shell mark", "progress", "status report", "process"}

// String names the source for a person who asks why.
func (s Source) String() string {
	if int(s) < len(sourceNames) {
		return sourceNames[s]
	}
	return "unknown"
}

// State is what a Detector knows at one moment. It is a value and comparable.
type State struct {
	Work   Work
	Detail string // what it waits for, in the agent's own words; untrusted
	Why    string // kind of NeedsInput: permission, question, dialog, notification, bell, quiet; agents may report others
	Source Source
	Since  time.Time // when Work last changed

	// Capable: the settling of this agent can be seen, so that waiting on it makes sense. False for agents that never
	// gave a sign beyond their output.
	Capable bool
	// Held: the agent came to rest, but rows on its screen say that work goes on in the background.
	Held bool
	// Progress is a percentage while the agent tells one, otherwise -1.
	Progress int

	Submits      uint64    // prompts submitted in this terminal, by us or by hand. From 1 on the agent knows its session id
	Prompt       string    // id of the newest prompt; empty when it was typed by hand
	Submitted    time.Time // when that was
	PromptWorked bool      // it was seen at work, asking, or newly done since the newest prompt

	WorkSeq uint64 // times that it began to work
	DoneSeq uint64 // times that it became done; with what a person has seen, this makes the badge
}

// mute reports that nothing was seen so far by which a wait could come to an end.
func (s State) mute() bool { return !s.Capable && s.Work != NeedsInput }

// Fresh reports until when a state of rest may be that from before the newest prompt: an agent may take seconds to show
// that it has begun. Zero when it cannot be: the agent has shown work since, or never does.
func (s State) Fresh(now time.Time) (until time.Time) {
	if !s.Capable || s.PromptWorked || s.Submits == 0 || s.Work == Working || s.Work == NeedsInput {
		return time.Time{}
	}
	if at := s.Submitted.Add(IdleGrace); now.Before(at) {
		return at
	}
	return time.Time{}
}
