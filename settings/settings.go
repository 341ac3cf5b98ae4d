// Package settings holds the typed settings of Termic and the file settings.toml that a person may edit by hand.
//
// What it promises:
//
//   - One literal table, [Table], says of each setting what it means, its unit, its limits and its default; the manual
//     and the settings page are made from it.
//   - A file that does not parse is kept as it is. The app runs on the last good settings (defaults at start),
//     [File.ReadOnly] is true, patches are refused, and [File.Problem] says why, with the line.
//   - A value that is out of range or of the wrong type loses only its own key: the last good value stays (the default
//     at start) and the problem is named with its line. Unknown keys are kept and noted.
//   - A patch changes only the named keys; every other byte of the file stays, including comments and line ends. The
//     file is read again before each patch, so that a hand edit made meanwhile is not lost. Patches are serialised, the
//     file is replaced in one step, symbolic links are followed and the mode is kept.
//   - A hand edit is taken up while the app runs.
//
// What it does not cover: what agents and prompts come built in (a person's entry overrides only the fields that it
// has), and secrets: there are none in this file.
package settings

// Settings is one consistent set of values. Get returns copies, so a holder may keep and change its own.
type Settings struct {
	General    General
	Tasks      Tasks
	Terminal   Terminal
	Appearance Appearance
	MCP        MCP
	Sandbox    Sandbox
	Notify     Notify
	Queue      Queue
	Git        Git
	Updates    Updates
	Agents     []Agent           // in the order of the file
	Prompts    []Prompt          // in the order of the file
	Keys       map[string]string // action -> shortcut; "" switches it off
}

// General is [general].
type General struct {
	CLIEnabled bool
	LogLevel   string // debug, info, warn, error
	Editor     string // command with its arguments; empty: whatever there is
}

// Tasks is [tasks].
type Tasks struct {
	Dir               string // absolute, ~ is already replaced by the home folder
	BranchPrefix      string // may be empty
	FetchBeforeCreate bool
	DefaultMode       string // worktree, main
	DefaultAgent      string // empty: the first that is installed
}

// Terminal is [terminal].
type Terminal struct {
	FontFamily      string // empty: the system's monospace font
	FontSize        int    // pixels
	ScrollbackLines int
	CopyOnSelect    bool
	Clipboard       string // ask, allow, never
}

// Appearance is [appearance].
type Appearance struct {
	Theme  string // system, dark, light
	Review string // side-by-side, unified
}

// MCP is [mcp].
type MCP struct {
	Enabled   bool
	Toolsets  []string // beside the core: jobs, approvals, operations
	Resources bool     // termic-res:// addresses are offered
}

// Sandbox is [sandbox].
type Sandbox struct {
	DefaultMode string // off, monitor, enforce-fs, enforce
	// What every cage allows beside the lists of its project and task. Paths are as they were written.
	Read, Write, Hosts []string
	RecordReads        bool // refused reads are recorded too
	DeepMonitor        bool // the mode monitor watches files and addresses, not only the proxy
	MemoryMiB          int  // of one cage; 0 = three quarters of the machine's
	Processes          int  // of one cage, threads among them
}

// Notify is [notifications]: of what the desktop tells while nobody looks at the window.
type Notify struct {
	NeedsInput bool
	Done       bool
	Failed     bool
}

// Queue is [queue].
type Queue struct {
	IntervalSeconds int // least time between two automatic sends to one tab
}

// Git is [git].
type Git struct {
	Path string // empty: git of PATH
}

// Updates is [updates]: whether and where it is asked for a newer release.
type Updates struct {
	Check   bool
	Address string // empty: the one that the build names
	Key     string // in the words of ssh; empty: the one that the build has
}

// Agent is one [[agents]] entry: an agent of the person's own, or an override of a built-in with the same id. A nil
// field was not set, so that an override replaces only what it names; an empty list was set to nothing.
type Agent struct {
	ID            string
	Name          string // empty: not set
	Command       string // empty: not set
	Args          []string
	Env           map[string]string
	SandboxPaths  []string
	SandboxHosts  []string
	ReturnLogin   *bool // a login that was refreshed in a cage is taken back; nil: yes
	Disabled      *bool
	WorkDone      *bool // its settling can be noticed
	ResumeArgs    []string
	SessionIDArgs []string
	ResumeIDArgs  []string
	YoloArgs      []string
	MCPArgs       []string
	MCPConnect    string // caged, always, never; empty: not set
	Signals       Signals
}

// Signals are regular expressions by which an agent's state is read from its title or notices; nil: not set.
type Signals struct {
	Busy      []string
	Idle      []string
	Attention []string
	Pending   []string
}

// Prompt is one [[prompts]] entry: a text of the library, or an override of a built-in with the same id.
type Prompt struct {
	ID       string
	Title    string
	Body     string
	Disabled bool
}

// Problem is something in the file that was not taken.
type Problem struct {
	Line int    // from 1; 0: the file as a whole
	Key  string // dotted; may be empty
	Text string // one sentence for the person
}
