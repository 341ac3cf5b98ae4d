package agent

import "regexp"

// Kind is the recipe of one agent: how to start it and how to read it. A Kind is a value; its slices and maps are
// shared and never written after the Registry was made.
type Kind struct {
	ID      string // stable, unique without case: claude, codex, ...
	Name    string // for a person
	Command string // program name, looked up on PATH, or an absolute path
	Args    []string
	// AlwaysArgs come after Args and stay when a person writes other Args. They keep one task's agent apart from another's.
	AlwaysArgs []string
	Env        map[string]string // added to the child's environment

	// MCPArgs connect one spawn to the MCP endpoint, at {MCP_URL} and with the token that it has in TERMIC_MCP_TOKEN,
	// without writing to any file, and in the place of what the agent's own settings call by the same name.
	MCPArgs []string
	Connect Connect // when MCPArgs are used

	YoloArgs       []string // added when the agent shall not ask for permission
	ResumeArgs     []string // resume the newest conversation of the working directory; may be a subcommand
	SessionIDArgs  []string // start a conversation under an id that we chose, {UUID}
	ResumeIDArgs   []string // resume the conversation {UUID}
	NameArgs       []string // give the conversation a name, {TASK_NAME} or {TASK_SLUG}; not used on a resume
	UnattendedArgs []string // added when nobody watches the start: no update menu, no daemon shared between tasks

	Signals  Signals
	Hints    Hints
	WorkDone bool // false: the work state of this agent is never told and waits on it are refused

	// Special holds the runes that, as the first visible of a prompt, make the agent take it for a command of its own.
	// Deliver puts Guard before such a prompt, so that it arrives as text (see Guarded).
	Special string
	// Guard is the text put before a prompt that begins with one of Special. Empty means one space.
	Guard string
	// Mentions holds the runes that, as the first of the last word, open a list of completions in which an Enter would
	// choose instead of sending. Deliver puts a space behind such a prompt.
	Mentions string
	// PasteLines and PasteUnits are the most line breaks and UTF-16 units of one paste that the agent takes as if they were
	// typed. A longer paste it marks for its model as foreign text, so Deliver pastes a prompt in pieces. Zero: no bound.
	PasteLines, PasteUnits int

	Result ResultSource // where its last answer can be read

	SandboxPaths []string // of its own, for a cage
	SandboxHosts []string
	LoginStays   bool // a login that it refreshed in a cage stays there

	Builtin  bool
	Disabled bool
}

// Signals are the patterns over texts that an agent sends by title or notification. All are applied to cleaned text.
type Signals struct {
	Busy      []*regexp.Regexp // titles that mean: at work
	Idle      []*regexp.Regexp // titles that mean: at rest; says nothing about whether a question is open
	Attention []*regexp.Regexp // titles and notifications that mean: a person is needed. When set, other notifications do not count
	Ignore    []*regexp.Regexp // notifications that mean nothing
	Pending   []*regexp.Regexp // rows near the bottom of the screen that mean: work goes on in the background
	Reports   bool             // it is known to report by OSC 7501, so its settling can be seen from the start
}

// Hints are patterns over the rows of the screen.
type Hints struct {
	// Composer matches a row of the input field in which a prompt is typed. Its first group, when there is one, is what
	// stands in the field. The lowest matching row counts.
	Composer []*regexp.Regexp
	// Framed: the field has a border above it; what looks like it without one is a quote of it in the transcript.
	Framed bool
	// Cursor: the field has the visible cursor in it.
	Cursor bool
	// Placeholder matches field contents that stand for "empty", such as a greyed suggestion.
	Placeholder []*regexp.Regexp
	// Modal matches a row of a dialog, menu, trust question or login page in which an Enter would do harm. Menus and
	// yes/no questions are recognised without a hint.
	Modal []*regexp.Regexp
	// Ready matches a row that must be there before the first byte is typed; for agents without a known composer.
	Ready []*regexp.Regexp
	// Footer is the greatest number of non-blank rows below the composer; a row higher up is not the field but a quote
	// of it in the transcript. Zero means 6.
	Footer int
}

// Connect says when an agent that has a token is connected to the MCP endpoint by the arguments of its spawn. The list of
// tools takes room in every conversation.
type Connect string

// When an agent is connected.
const (
	ConnectCaged  Connect = "caged"  // in a cage with the MCP box, where it has no other way; what is meant by none
	ConnectAlways Connect = "always" // wherever it has a token
	ConnectNever  Connect = "never"
)

// Connects reports whether a spawn with a token is connected by its arguments. caged: the token is that of a cage.
func (k Kind) Connects(caged bool) bool {
	return len(k.MCPArgs) > 0 && (k.Connect == ConnectAlways || caged && k.Connect != ConnectNever)
}

// ResultSource names the transcript format of an agent.
type ResultSource string

// The transcript formats that Result can read. None means that the agent should leave its result in a file.
const (
	ResultNone   ResultSource = ""
	ResultClaude ResultSource = "claude"
	ResultCodex  ResultSource = "codex"
)

// CanResume reports whether some conversation can be taken up again at all.
func (k Kind) CanResume() bool { return len(k.ResumeIDArgs) > 0 || len(k.ResumeArgs) > 0 }

// MintsSession reports whether Launch chooses the id of a new conversation.
func (k Kind) MintsSession() bool { return len(k.SessionIDArgs) > 0 }

// Capable reports whether the settling of this kind can be seen before it has sent anything.
func (k Kind) Capable() bool {
	return k.WorkDone && (k.Signals.Reports || (len(k.Signals.Busy) > 0 && len(k.Signals.Idle) > 0))
}
