package store

import "time"

// Limits of what a row may hold.
const (
	MaxName = 200                 // bytes of a name or title
	MaxText = 1 << 20             // bytes of a prompt, and of each list written as JSON; the faces cap prompts at 900 KiB
	MaxPath = 4096                // bytes of a path, PATH_MAX of Linux
	KeyLife = 24 * time.Hour      // how long an idempotency key is remembered
	KeepEnd = 30 * 24 * time.Hour // how long ended jobs, finished prompts and closed tabs are kept
)

// Project is a repository or folder that the person added. Names are unique without regard to ASCII case, root paths
// are unique; both only among projects that were not removed.
type Project struct {
	ID           string // made by AddProject when empty
	Name         string
	RootPath     string // absolute
	BaseBranch   string // empty: found anew each time
	Remote       string
	NonGit       bool
	Bare         bool
	DefaultAgent string
	Sandbox      string // mode of its new tasks; empty: as the settings say
	MCP          bool   // of its new tasks, as are the next two; see Task
	MCPProjects  []string
	MCPAgents    []string
	SandboxRead  []string // beside a task's own lists, at each start; see Task
	SandboxWrite []string
	SandboxHosts []string
	Secrets      []string // names of those that its new tasks name; see Task
	Group        string   // heading of the sidebar under which it stands; empty: under none
	Position     int      // order in the sidebar, from 1; made by AddProject when 0
	Created      time.Time
	Removed      time.Time // zero while it is there; a removed project only keeps the history of its tasks
}

// Task is one piece of agent work. Names are unique within a project, without regard to ASCII case, among tasks that
// are not archived.
type Task struct {
	ID         string // made by CreateTask when empty
	ProjectID  string
	Name       string
	Branch     string
	BaseRef    string // what the task started from, as asked for: branch, tag or commit
	BaseCommit string // what that was
	Path       string // its worktree, or the main checkout
	Agent      string // agent id
	State      string // api.TaskCreating, TaskLive, TaskFailed, TaskMissing, TaskArchived
	Error      string // why it failed
	IsMain     bool   // works in the main checkout
	ParentID   string // task whose agent created it; empty for a person's
	Depth      int    // number of ancestors
	Sandbox    string // off, monitor, enforce-fs, enforce
	MCP        bool
	// MCPProjects are project ids that the agent may act on; nil: its own project only.
	MCPProjects []string
	// MCPAgents are ids of the agents that the agent may start; nil: those of its own kind only.
	MCPAgents []string
	// What the cage allows beside what every cage does: folders and files to read, to write, and hosts to reach.
	SandboxRead, SandboxWrite, SandboxHosts []string
	// FromCage is set for a task that a caged agent created. Its lists are all that it has, whatever its project allows;
	// no secret of the project reaches it, and its scripts run in its cage.
	FromCage bool
	// Race joins the tasks that one prompt was given to, each with an agent of its own; empty for all others.
	Race string
	// Secrets are the names of those that its agents get into their environment. Empty for a task FromCage.
	Secrets []string
	Yolo    bool
	// Port is the first of a block of PortBlock ports. CreateTask reserves one when 0; it is free again once the task
	// is archived, and a task that comes back gets another if its block was taken meanwhile.
	Port         int
	Position     int // order within the project, from 1; made by CreateTask when 0. The sidebar shows the highest first
	Created      time.Time
	ArchivedAt   time.Time // zero while it is not archived
	BackupRef    string    // ref that keeps what archiving would have lost
	ReusedBranch bool      // the branch existed before the task
	Warnings     []string  // of its creation
	Log          []string  // lines of its creation
	AppliedTree  string    // id of the git tree that was applied last; empty when none was
	Revision     int64     // grows with each change of the row, from 1
}

// Archived reports whether the task was archived.
func (t *Task) Archived() bool { return !t.ArchivedAt.IsZero() }

// Kinds of tab.
const (
	TabAgent    = "agent"
	TabShell    = "shell"
	TabTerminal = "terminal"    // a command of the user's own
	TabCaged    = "caged-shell" // a shell of the person's in the cage of the task
	TabScript   = "script"      // a command that a repository proposed and the owner agreed to
)

// Tab is a place for a terminal within a task. At most one open tab of a task is its default.
type Tab struct {
	ID          string // made by CreateTab when empty
	TaskID      string
	Kind        string // TabAgent, TabShell, TabTerminal, TabCaged, TabScript
	Agent       string // agent id of an agent tab
	Title       string
	Command     []string // of a terminal or script tab
	IsDefault   bool
	SessionID   string // the agent's own id of its conversation
	SessionUsed bool   // a prompt was submitted in it, so it can be resumed
	Position    int    // order in the strip, from 1; made by CreateTab when 0
	Created     time.Time
	ClosedAt    time.Time // zero while it is open
	Exited      bool      // its last program ended as ExitCode and ExitSignal say
	ExitCode    int
	ExitSignal  string
	Name        string // that the person gave it; empty: its title says what it is
	Pinned      bool
}

// States of a queued prompt.
const (
	PromptQueued     = "queued"
	PromptDelivering = "delivering" // bytes may have been typed
	PromptDelivered  = "delivered"
	PromptFailed     = "failed"
	PromptCancelled  = "cancelled"
	PromptUnknown    = "unknown" // the app ended while it was being delivered
)

// Prompt is a text on its way to the agent of a tab.
type Prompt struct {
	ID     string // made by EnqueuePrompt when empty
	TabID  string
	TaskID string // filled in by EnqueuePrompt
	// FromTask is the task whose caged agent sent it; empty for everybody else. Whether it may still be typed is asked
	// again when it is.
	FromTask   string
	Capability string // what the agent that sent it was provisioned with, as JSON; empty without FromTask
	Text       string
	State      string
	// Job is the job that sent it, which ends with it; empty for none.
	Job     string
	Repeats int    // how often it is typed once more after it was delivered
	Reason  string // why it failed, was cancelled or is unknown
	Seq     int64  // order of arrival over all tabs; made by EnqueuePrompt
	Created time.Time
	Updated time.Time
}

// Terminal is a running child of a PTY, written down so that what survives a killed app can be found and told from a
// stranger that got the same process number.
type Terminal struct {
	ID         string // made by PutTerminal when empty
	TabID      string
	TaskID     string
	PID        int
	PGID       int
	SID        int
	StartTicks uint64 // start time of the process in clock ticks since boot
	BootID     string // identity of the boot that StartTicks counts from
	Capability string // what an agent was provisioned with, as JSON; empty for other programs
	Created    time.Time
}

// Consent says that the owner agreed to what a repository proposes for its tasks.
type Consent struct {
	ProjectID string
	Digest    string // of the content that was agreed to
	Created   time.Time
}

// Token is what the owner said of a token for clients outside. Its value is not kept.
type Token struct {
	ID         string   // made by AddToken; no other token ever has it, whatever its name is
	Name       string   // unique without regard to ASCII case
	Scope      string   // readonly, operator or approve
	Everywhere bool     // it reaches every project
	Projects   []string // ids of those that it reaches otherwise; none when there are none
	Created    time.Time
}

// States of a job.
const (
	JobWaiting     = "waiting" // for an approval; nothing was changed yet
	JobRunning     = "running"
	JobDone        = "done"
	JobFailed      = "failed"
	JobCancelled   = "cancelled"
	JobInterrupted = "interrupted" // the app ended while it ran
)

// Job is one writing call, for those who come back to ask how it went.
type Job struct {
	ID        string // made by StartJob when empty
	Verb      string
	Principal string
	Token     string // id of the named token that asked; empty for others
	Face      string
	Target    string
	State     string
	Outcome   string // ok, or a fault code
	Message   string // what a failed one said, for people
	Result    string // JSON of what the call gave; empty for none, and where it was longer than MaxJobResult
	Started   time.Time
	Ended     time.Time
}

// JobEnd says how a job ended.
type JobEnd struct {
	State, Outcome, Message, Result string // as those of Job
}

// JobEvent is a step in the life of a job.
type JobEvent struct {
	Seq  int64 // grows from event to event, over all jobs
	Time time.Time
	Kind string // asked, queued, ended, ...
	Text string // for people
	Job  string // that it is about
}

// JobLine is a line of what a job printed; untrusted text.
type JobLine struct {
	Seq  int64 // grows from line to line, over all jobs
	Time time.Time
	Line string
}

// JobReach is what a caller who does not see everything knows of: jobs about these projects and their tasks, and those that it
// asked for itself and that came to be about nothing. What it asked for about more than it reaches now is not among them.
type JobReach struct {
	Projects []string
	Token    string // id of its token; empty for none
}

// JobFilter picks jobs, newest first.
type JobFilter struct {
	ID, State, Verb, Target string    // empty: all
	Before                  string    // only jobs whose id is smaller; empty: all
	Within                  *JobReach // nil: all
	Limit                   int       // at most this many, 1 to 1000; 0: 100
}

// States of an approval.
const (
	ApprovalPending   = "pending"
	ApprovalApproved  = "approved"
	ApprovalDenied    = "denied"
	ApprovalExpired   = "expired"
	ApprovalStale     = "stale"     // what it was about changed before it was decided
	ApprovalWithdrawn = "withdrawn" // its job was cancelled
)

// Approval is a call that waits until somebody else allows it.
type Approval struct {
	ID        string // made by AddApproval when empty
	Job       string // that waits for it
	Token     string // id of the token that asked
	Principal string // who asked, as in the ledger
	Face      string
	Verb      string
	TaskID    string // empty for what is about a project
	ProjectID string
	Arguments string // JSON object, as it was given
	Digest    string // of verb and arguments
	Bound     string // JSON: digests of what it was decided upon
	Plan      string // JSON: what was shown
	State     string
	Created   time.Time
	Expires   time.Time // by the wall clock; it may end earlier
	DecidedBy string    // principal; empty where nobody decided
	DecidedOn string    // face
	Reason    string    // for people
	Decided   time.Time // when it left the state pending
}

// ApprovalFilter picks approvals, newest first.
type ApprovalFilter struct {
	ID, State, Token, Job string
	Before                string    // only those whose id is smaller; empty: all
	Within                *JobReach // nil: all
	Limit                 int       // at most this many, 1 to 1000; 0: 100
}

// Verdict says how an approval ended.
type Verdict struct {
	State, By, On, Reason string // as those of Approval
}

// Intent says what is about to be done outside of the store, so that a start after a crash can finish it or undo it.
type Intent struct {
	ID      string // made by BeginIntent when empty
	Kind    string
	Payload []byte // JSON
	Created time.Time
}

// IdempotencyKey names one call of one principal. Digest is over the arguments.
type IdempotencyKey struct {
	Face      string
	Principal string
	Verb      string
	Key       string
	Digest    string
}

// Phases of a ledger row.
const (
	PhaseAsked = "asked" // a writing call was let through and begins
	PhaseDone  = "done"  // a call ended
)

// LedgerRow is one line of the audit record. It never holds values of arguments, only their shape.
type LedgerRow struct {
	Seq       int64     // made by Append
	Time      time.Time // made by Append when zero
	Phase     string
	Call      string // id that joins asked and done
	Principal string
	Face      string
	Verb      string
	Target    string // task or project id
	Outcome   string // ok, or a fault code
	Duration  time.Duration
	Shape     string // names and types of the arguments
	PrevHash  string // hash of the row before; made by Append
	Hash      string // SHA-256, hexadecimal; made by Append
}

// LedgerFilter picks ledger rows, newest first.
type LedgerFilter struct {
	Target    string
	Principal string
	Verb      string
	Face      string
	Outcome   string // LedgerRefused: every end but ok
	Before    int64  // only rows with a smaller Seq; 0: all
	Limit     int    // at most this many, 1 to 1000; 0: 100
}
