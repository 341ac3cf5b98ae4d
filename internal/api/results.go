package api

import "encoding/json"

// Task states, as they are stored and shown.
const (
	TaskCreating = "creating" // accepted; its worktree or first agent is under way
	TaskLive     = "live"
	TaskFailed   = "failed"  // creation did not succeed; Error says why
	TaskMissing  = "missing" // its folder was deleted behind our back; Recreate or archive it
	TaskArchived = "archived"
)

// Work states of a tab or a task. Absent means unknown.
const (
	WorkWorking    = "working"
	WorkNeedsInput = "needs_input"
	WorkDone       = "done"
	WorkIdle       = "idle"
	WorkInactive   = "inactive" // no running agent
)

// Outcomes of a wait.
const (
	OutcomeDone         = "done"
	OutcomeNeedsInput   = "needs_input"
	OutcomeTimeout      = "timeout"
	OutcomeNotDelivered = "not_delivered"
)

// Ways in which a prompt was taken.
const (
	SendDelivered = "delivered" // typed, and seen to arrive
	SendQueued    = "queued"    // the agent is busy or not ready; it follows
	SendSpawned   = "spawned"   // an agent was started for it
	SendAccepted  = "accepted"  // taken for a task that the sender may not read: nothing else is told
)

// DiffStat counts the changes of a task against its base: commits, staged, unstaged and untracked files.
type DiffStat struct {
	FilesChanged int `json:"files_changed"`
	Insertions   int `json:"insertions"`
	Deletions    int `json:"deletions"`
	Untracked    int `json:"untracked"`
}

// TaskSummary is one row of task_list.
type TaskSummary struct {
	ID             string    `json:"id"`
	Name           string    `json:"name"`
	Project        string    `json:"project"`
	Agent          string    `json:"agent"`
	Branch         string    `json:"branch"`
	BaseBranch     string    `json:"base_branch"`
	Path           string    `json:"path"`
	IsMainCheckout bool      `json:"is_main_checkout"`
	Created        string    `json:"created"` // RFC 3339, UTC
	State          string    `json:"state"`
	Error          string    `json:"error,omitempty"`
	ParentID       string    `json:"parent_id,omitempty"`
	Race           string    `json:"race,omitempty"` // id that the tasks of one race share
	Sandbox        string    `json:"sandbox"`
	WorkState      string    `json:"work_state,omitempty"`
	Detail         string    `json:"detail,omitempty"` // what it waits for; untrusted text of the agent
	OpenTabs       *int      `json:"open_tabs,omitempty"`
	Queued         int       `json:"queued,omitempty"`
	Diff           *DiffStat `json:"diff,omitempty"`
	DiffError      string    `json:"diff_error,omitempty"` // why diff is absent
	Archived       string    `json:"archived,omitempty"`   // RFC 3339, UTC
}

// TabStatus is a tab of a task.
type TabStatus struct {
	ID        string `json:"id"`
	Index     int    `json:"index"` // from 1, as the strip shows it
	Kind      string `json:"kind"`  // agent, shell, terminal, script
	Agent     string `json:"agent,omitempty"`
	Title     string `json:"title"` // untrusted text
	State     string `json:"state,omitempty"`
	Detail    string `json:"detail,omitempty"` // untrusted text
	IsDefault bool   `json:"is_default"`
	Named     bool   `json:"named,omitempty"` // title is the name that the person gave it
	Pinned    bool   `json:"pinned,omitempty"`
	Live      bool   `json:"live"`
	Queued    int    `json:"queued"`
	Exit      *Exit  `json:"exit,omitempty"` // how its last program ended
	SessionID string `json:"session_id,omitempty"`
	MCP       string `json:"mcp,omitempty"` // of a live program that gets a token: MCPConnected or MCPRestart; empty while the endpoint does not serve

	Cage *CageInForce `json:"cage,omitempty"` // of a live agent; absent of other programs, which are not caged
}

// Whether a live program can use the MCP endpoint.
const (
	MCPConnected = "connected" // its token is good
	MCPRestart   = "restart"   // it is older than the endpoint's bind: it must be started again to connect
)

// Exit says how a program ended.
type Exit struct {
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
}

// TaskDetail is a task with its tabs.
type TaskDetail struct {
	TaskSummary
	DirtyFiles *int        `json:"dirty_files,omitempty"`
	Tabs       []TabStatus `json:"tabs"`
	Port       int         `json:"port"`
	Log        []string    `json:"log,omitempty"`      // lines of its creation
	Warnings   []string    `json:"warnings,omitempty"` // of its creation
	Yolo       bool        `json:"yolo,omitempty"`     // its agents are started so that they never ask
	Cage       *Cage       `json:"cage,omitempty"`
	Secrets    []string    `json:"secrets,omitempty"` // names of those that its agents start with
	Denials    []Denial    `json:"denials,omitempty"` // what its cages refused, or would refuse; newest first
	Refs       []RefChange `json:"refs,omitempty"`    // refs beside its own that changed while its caged agents ran
}

// RefChange is a branch, a tag or another ref of the repository that changed while a caged agent ran, which could have
// done it. Who did it is not known: it may have been the user.
type RefChange struct {
	Ref    string `json:"ref"`              // full name, or refs/stash@{commit} for a stash that is gone; untrusted text
	Old    string `json:"old,omitempty"`    // commit, or ref: and the name of another ref; empty: it was not there
	New    string `json:"new,omitempty"`    // empty: it is gone
	Noted  string `json:"noted"`            // RFC 3339, UTC
	Backup string `json:"backup,omitempty"` // ref that keeps what it led to

	Tasks []string `json:"tasks"` // ids of the tasks whose caged agents ran
}

// ProjectRefsResult is the result of project_refs.
type ProjectRefsResult struct {
	Name    string      `json:"name"`
	Refs    []RefChange `json:"refs"`              // that are still changed
	Undone  []RefChange `json:"undone,omitempty"`  // that were put back; Backup keeps what nothing else leads to now
	Kept    []RefChange `json:"kept,omitempty"`    // that were left as they are
	Problem string      `json:"problem,omitempty"` // why refs cannot be compared now
}

// ProjectGitResult is the result of project_git.
type ProjectGitResult struct {
	Name      string     `json:"name"`
	Branches  []Branch   `json:"branches"`       // newest commit first
	More      bool       `json:"more,omitempty"` // there are more branches than these
	Worktrees []Worktree `json:"worktrees"`      // the main checkout first
}

// Branch is a branch that a task can start from.
type Branch struct {
	Name   string `json:"name"`             // as base takes it: main, origin/main
	Remote bool   `json:"remote,omitempty"` // what was fetched of a remote's branch
	Commit string `json:"commit"`
	Time   string `json:"time,omitempty"` // of its commit
}

// Worktree is a folder in which the repository is checked out.
type Worktree struct {
	Path   string `json:"path"`
	Branch string `json:"branch,omitempty"` // empty when it is at a commit
	Main   bool   `json:"main,omitempty"`   // the main checkout
	Task   string `json:"task,omitempty"`   // name of the live task that works in it
	Gone   bool   `json:"gone,omitempty"`   // its folder is not there
	Locked bool   `json:"locked,omitempty"`
}

// Cage is what beside its mode is set for the cage of a task, or for those of a project's tasks.
type Cage struct {
	MCP      bool     `json:"mcp"`      // the caged agent may drive tasks over MCP
	Projects []string `json:"projects"` // names of the projects that it may act on; empty: its own only
	Agents   []string `json:"agents"`   // agents that it may start; empty: its own only
	Read     []string `json:"read"`
	Write    []string `json:"write"`
	Hosts    []string `json:"hosts"`
}

// Kinds of denial.
const (
	DenyHost  = "host"
	DenyRead  = "read"
	DenyWrite = "write"
	DenyOther = "other"
)

// Denial is something that a cage refused; the same thing again only counts.
type Denial struct {
	Kind   string `json:"kind"`
	Target string `json:"target"` // host with port, or path; untrusted text
	TabID  string `json:"tab_id,omitempty"`
	Count  int64  `json:"count"`
	Last   string `json:"last"`                 // RFC 3339, UTC
	Reason string `json:"reason,omitempty"`     // one sentence
	Would  bool   `json:"would_deny,omitempty"` // only recorded: an enforcing cage would have refused it
}

// TaskListResult is the result of task_list, sorted by project and name; archived tasks by when they were archived, newest first.
type TaskListResult struct {
	Tasks []TaskSummary `json:"tasks"`
	Total int           `json:"total,omitempty"` // of archived ones: how many fit, whatever before and limit say
}

// TaskStatusResult is the result of task_status.
type TaskStatusResult struct {
	Task TaskDetail `json:"task"`
}

// TaskSandboxResult is the result of task_sandbox.
type TaskSandboxResult struct {
	TaskID   string   `json:"task_id"`
	Mode     string   `json:"mode"`
	Cage     Cage     `json:"cage"`
	Ended    int      `json:"ended"`              // terminals that were ended by the change
	Warnings []string `json:"warnings,omitempty"` // what was tightened, and by what

	// Restart: an agent runs that was started before the lists were what they are, and keeps what it was given.
	Restart bool        `json:"restart,omitempty"`
	Layers  []CageLayer `json:"layers,omitempty"`  // every list that the cage of the task's agent is composed from
	Secrets []string    `json:"secrets,omitempty"` // names of those that its agents start with
}

// SandboxAllowResult is the result of sandbox_allow. Agents that run keep the cage that they have.
type SandboxAllowResult struct {
	TaskID  string `json:"task_id"`
	Kind    string `json:"kind"`
	Target  string `json:"target"`
	For     string `json:"for"`
	Changed bool   `json:"changed"` // false: it was allowed there already
	Restart bool   `json:"restart"` // an agent of the task runs, and must be started again to have it
}

// SandboxGroupsResult is the result of sandbox_groups.
type SandboxGroupsResult struct {
	Groups []HostGroup `json:"groups"`
}

// HostGroup is a name that stands for several hosts in a list of a cage. A cage gets what it stands for when it is built.
type HostGroup struct {
	Name  string   `json:"name"` // as it is written in a list, with its @
	Doc   string   `json:"doc"`  // one sentence without its full stop
	Hosts []string `json:"hosts"`
	Notes []string `json:"notes,omitempty"` // sentences: what could not be found out, and why
}

// WaitOutcome is how a wait ended.
type WaitOutcome struct {
	Outcome string `json:"outcome"`
	State   string `json:"state,omitempty"`
	Detail  string `json:"detail,omitempty"` // untrusted text
}

// TaskNewResult is the result of task_new: the task was accepted; task_status and task_wait tell how it goes on.
type TaskNewResult struct {
	Task   TaskSummary  `json:"task"`
	Job    string       `json:"job,omitempty"`
	Prompt string       `json:"prompt_id,omitempty"`
	Wait   *WaitOutcome `json:"wait,omitempty"`
}

// TaskRaceResult is the result of task_race: every task was accepted.
type TaskRaceResult struct {
	Race   string        `json:"race"`   // id that its tasks share
	Base   string        `json:"base"`   // branch that they start from
	Commit string        `json:"commit"` // where that was
	Tasks  []TaskSummary `json:"tasks"`
	Jobs   []string      `json:"jobs,omitempty"` // one for each
	Job    string        `json:"job,omitempty"`
}

// TaskSendResult is the result of task_send.
type TaskSendResult struct {
	TaskID  string `json:"task_id"`
	TabID   string `json:"tab_id"`
	Mode    string `json:"mode"`
	Prompt  string `json:"prompt_id"`
	Capable bool   `json:"capable"` // false: this agent gives no sign of settling
	// State is what the agent did when the prompt was queued behind it: working, or needs_input, which a person answers in its
	// terminal before the prompt follows. Detail is what it asks; untrusted text.
	State  string       `json:"state,omitempty"`
	Detail string       `json:"detail,omitempty"`
	Job    string       `json:"job,omitempty"`
	Wait   *WaitOutcome `json:"wait,omitempty"`
}

// MarshalJSON leaves everything but the word out of an answer about a task that the sender may not read.
func (r TaskSendResult) MarshalJSON() ([]byte, error) {
	if r.Mode == SendAccepted {
		return []byte(`{"mode":"accepted"}`), nil
	}
	type plain TaskSendResult
	return json.Marshal(plain(r))
}

// TaskWaitResult is the result of task_wait.
type TaskWaitResult struct {
	TaskID string `json:"task_id"`
	WaitOutcome
}

// TaskResultResult is the result of task_result. Text is the agent's own last message: untrusted.
type TaskResultResult struct {
	TaskID     string `json:"task_id"`
	Agent      string `json:"agent"`
	Transcript string `json:"transcript"`
	Text       string `json:"text"`
	Truncated  bool   `json:"truncated"`
}

// TaskLogResult is the result of task_log. Data is what the program printed: untrusted.
type TaskLogResult struct {
	TaskID    string `json:"task_id"`
	TabID     string `json:"tab_id"`
	Source    string `json:"source"` // agent, shell, terminal
	Data      string `json:"data"`
	Truncated bool   `json:"truncated"` // older output was dropped
	Total     uint64 `json:"total"`     // bytes ever printed
}

// FileChange is one changed file.
type FileChange struct {
	Path       string `json:"path"`
	OldPath    string `json:"old_path,omitempty"`
	Status     string `json:"status"` // added, modified, deleted, renamed, copied, typechange, untracked, unmerged
	Insertions int    `json:"insertions"`
	Deletions  int    `json:"deletions"`
	Binary     bool   `json:"binary,omitempty"`
	Staged     bool   `json:"staged,omitempty"`
	Unstaged   bool   `json:"unstaged,omitempty"`
	// Seen stands for the uncommitted content of the file as it is shown here. task_stage and task_discard take it back, and
	// leave a file alone that is not like that any more. Empty where nothing is uncommitted.
	Seen string `json:"seen,omitempty"`
	// Also is another path that belongs to this change and is to be named along with it: of a rename, the old one.
	Also string `json:"also,omitempty"`
}

// Commit is one commit of a task's branch that its base lacks.
type Commit struct {
	ID      string `json:"id"`
	Subject string `json:"subject"`
	Time    string `json:"time"` // RFC 3339
}

// TaskDiffResult is the result of task_diff: everything that the task has and its base has not.
type TaskDiffResult struct {
	TaskID string `json:"task_id"`
	Base   string `json:"base"`
	DiffStat
	Files     []FileChange `json:"files"`
	Commits   []Commit     `json:"commits"`
	Diff      string       `json:"diff,omitempty"`
	Truncated bool         `json:"truncated,omitempty"` // diff was cut at diff_bytes
	DiffBytes int64        `json:"diff_bytes,omitempty"`
	// Back are files that were changed since the last commit, and are just as in the base by that: a change that was
	// committed is taken back. They do not count among files.
	Back []FileChange `json:"back,omitempty"`
	// InProgress is what the worktree is in the middle of: merge, rebase, ...; empty: nothing.
	InProgress string `json:"in_progress,omitempty"`
}

// TaskOpenResult is the result of task_open.
type TaskOpenResult struct {
	TaskID string `json:"task_id,omitempty"`
	Raised bool   `json:"raised"` // false: the app runs without a window
}

// TaskRenameResult is the result of task_rename.
type TaskRenameResult struct {
	Task    TaskSummary `json:"task"`
	OldName string      `json:"old_name"`
	Job     string      `json:"job,omitempty"`
}

// TaskApplyResult is the result of task_apply.
type TaskApplyResult struct {
	TaskID         string   `json:"task_id"`
	TrackedFiles   int      `json:"tracked_files"`
	UntrackedFiles int      `json:"untracked_files"`
	Conflicts      []string `json:"conflicts,omitempty"`
	Job            string   `json:"job,omitempty"`
}

// SelfRun is a file that runs by itself, or steers an agent, and that is not as a task began with. A refusal with
// needs_consent lists them as files.
type SelfRun struct {
	Path string `json:"path"` // in the tree, with slashes; untrusted text
	Kind string `json:"kind"` // agent, git, shell, editor, tool, instructions, ci, termic
	How  string `json:"how"`  // added, modified, deleted
}

// Loss is something that archiving a task would destroy and that exists nowhere else.
type Loss struct {
	Kind  string   `json:"kind"` // dirty, staged, untracked, ignored, unpushed, stash, rebase, locked, submodule, repository
	Count int      `json:"count"`
	Items []string `json:"items,omitempty"` // the first few
}

// TaskArchiveResult is the result of task_archive.
type TaskArchiveResult struct {
	TaskID       string `json:"task_id"`
	Name         string `json:"name"`
	Project      string `json:"project"`
	KilledAgents int    `json:"killed_agents"`
	BackupRef    string `json:"backup_ref,omitempty"`
	Job          string `json:"job,omitempty"`
}

// TaskRestoreResult is the result of task_restore.
type TaskRestoreResult struct {
	Task TaskSummary `json:"task"`
	Job  string      `json:"job,omitempty"`
}

// TaskTabResult is the result of task_tab.
type TaskTabResult struct {
	TaskID string          `json:"task_id"`
	TabID  string          `json:"tab_id"`
	Agent  string          `json:"agent,omitempty"`
	Title  string          `json:"title"`
	Prompt *TaskSendResult `json:"prompt,omitempty"`

	Warnings []string `json:"warnings,omitempty"`
	Job      string   `json:"job,omitempty"`
}

// TaskTabCloseResult is the result of task_tab_close.
type TaskTabCloseResult struct {
	TaskID     string `json:"task_id"`
	TabID      string `json:"tab_id"`
	Title      string `json:"title"`
	Kind       string `json:"tab_kind"`
	WasDefault bool   `json:"was_default"`
	KilledPTY  bool   `json:"killed_pty"`
	Job        string `json:"job,omitempty"`
}

// ListedAgent is one agent of the registry.
type ListedAgent struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Kind      string `json:"kind"` // builtin, custom
	Enabled   bool   `json:"enabled"`
	Installed *bool  `json:"installed,omitempty"` // absent: not known yet
	Usable    bool   `json:"usable"`
	Path      string `json:"path,omitempty"`
	Reason    string `json:"reason,omitempty"` // why it is not usable
	CanResume bool   `json:"can_resume"`
	Connect   string `json:"connect,omitempty"` // when arguments of its start connect it to the MCP endpoint: caged, always, never; absent of an agent without such arguments
}

// TaskAgentsResult is the result of task_agents.
type TaskAgentsResult struct {
	Agents []ListedAgent `json:"agents"`
}

// Prompt is one entry of the prompt library.
type Prompt struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Builtin bool   `json:"builtin"`
	Enabled bool   `json:"enabled"`
	Body    string `json:"body,omitempty"`
}

// PromptsResult is the result of prompts.
type PromptsResult struct {
	Prompts []Prompt `json:"prompts"`
}

// Project is a repository or folder that the person added.
type Project struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	RootPath     string   `json:"root_path"`
	BaseBranch   string   `json:"base_branch,omitempty"`
	Remote       string   `json:"remote,omitempty"`
	NonGit       bool     `json:"non_git,omitempty"`
	Bare         bool     `json:"bare,omitempty"`
	DefaultAgent string   `json:"default_agent,omitempty"`
	Secrets      []string `json:"secrets,omitempty"` // names of those that tasks of the owner get, where no others are named
	Group        string   `json:"group,omitempty"`   // heading of the sidebar under which it stands
	Tasks        int      `json:"tasks"`
	Missing      bool     `json:"missing,omitempty"` // its folder is gone
	Sandbox      string   `json:"sandbox,omitempty"` // cage of its new tasks; absent: that of the settings
	Cage         *Cage    `json:"cage,omitempty"`    // absent while nothing is set
	Repo         *Repo    `json:"repo,omitempty"`    // absent without a .termic.yaml in its folder
}

// States of what a repository proposes.
const (
	RepoKnobs   = "knobs"   // it only tightens: nothing to consent to
	RepoWaiting = "waiting" // its lists and scripts have no effect until the owner consents
	RepoAgreed  = "agreed"
	RepoBroken  = "broken" // it cannot be read, and no agent starts until it can
)

// Repo is what the .termic.yaml of a project's folder says. All of it is untrusted text.
type Repo struct {
	State    string   `json:"state"`
	Digest   string   `json:"digest,omitempty"` // of its content; consent is to this
	Problem  string   `json:"problem,omitempty"`
	Mode     string   `json:"mode,omitempty"` // at least this tight
	NoMCP    bool     `json:"no_mcp,omitempty"`
	Projects []string `json:"projects,omitempty"` // at most these
	Agents   []string `json:"agents,omitempty"`   // at most these
	Read     []string `json:"read,omitempty"`     // proposals, as are the following
	Write    []string `json:"write,omitempty"`
	Hosts    []string `json:"hosts,omitempty"`
	Scripts  []Script `json:"scripts,omitempty"`
}

// Script is a command that a repository proposes.
type Script struct {
	Name    string `json:"name"` // setup, run, archive
	Command string `json:"command"`
}

// ProjectSettingsResult is the result of project_settings.
type ProjectSettingsResult struct {
	Project Project `json:"project"`
}

// ProjectConsentResult is the result of project_consent.
type ProjectConsentResult struct {
	Name string `json:"name"`
	Repo *Repo  `json:"repo,omitempty"` // absent without a .termic.yaml
	Text string `json:"text,omitempty"` // the file itself; untrusted
}

// ProjectListResult is the result of project_list.
type ProjectListResult struct {
	Projects []Project `json:"projects"`
}

// ProjectAddResult is the result of project_add; adding a project again answers with the one there is.
type ProjectAddResult struct {
	Project Project `json:"project"`
	Existed bool    `json:"existed"`
	Job     string  `json:"job,omitempty"`
}

// ProjectRemoveResult is the result of project_remove. The repository itself is left alone.
type ProjectRemoveResult struct {
	Name         string   `json:"name"`
	RemovedTasks int      `json:"removed_tasks"`
	BackupRefs   []string `json:"backup_refs,omitempty"`
	Job          string   `json:"job,omitempty"`
}

// AttachResult says which terminal was attached, and at the end why it ended.
type AttachResult struct {
	TaskID string `json:"task_id"`
	TabID  string `json:"tab_id"`
	Reason string `json:"reason,omitempty"` // detached, exited, archived, closed, lagged
	Exit   *Exit  `json:"exit,omitempty"`
}

// PathResult is the result of path.
type PathResult struct {
	TaskID string `json:"task_id"`
	Path   string `json:"path"`
}

// QuitResult is the result of quit.
type QuitResult struct {
	Running         bool `json:"running"`
	TasksWithAgents int  `json:"tasks_with_agents"`
	LiveAgents      int  `json:"live_agents"`
	WorkingTasks    int  `json:"working_tasks"`
	Quitting        bool `json:"quitting"`
}

// SettingsResult is the result of settings_get and settings_set.
type SettingsResult struct {
	File     string         `json:"file"`
	Settings map[string]any `json:"settings"`
	ReadOnly bool           `json:"read_only,omitempty"`
	Problem  string         `json:"problem,omitempty"` // why the file was not taken, with its line
	Notes    string         `json:"notes,omitempty"`   // keys of the file that are not known, with their lines
	Key      string         `json:"key,omitempty"`
	Value    any            `json:"value,omitempty"`
}

// Finding is one line of doctor.
type Finding struct {
	Name   string `json:"name"`
	Level  string `json:"level"` // ok, note, warn, fail
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

// DoctorResult is the result of doctor.
type DoctorResult struct {
	Version  string    `json:"version"`
	Findings []Finding `json:"findings"`
}

// LedgerRow is one row of the ledger.
type LedgerRow struct {
	Seq        int64  `json:"seq"`
	Time       string `json:"time"`  // RFC 3339 with nanoseconds, UTC
	Phase      string `json:"phase"` // asked, done
	Call       string `json:"call"`
	Principal  string `json:"principal"`
	Face       string `json:"face"`
	Verb       string `json:"verb"`
	Target     string `json:"target,omitempty"`
	Outcome    string `json:"outcome,omitempty"`
	DurationMs int64  `json:"duration_ms"`
	Shape      string `json:"shape"`
}

// LedgerResult is the result of ledger.
type LedgerResult struct {
	Rows  []LedgerRow `json:"rows"`
	Total int64       `json:"total"`          // that match, whatever before and limit say
	More  bool        `json:"more,omitempty"` // there are more than total: only so many are counted
	Chain string      `json:"chain"`          // "whole", or where it is broken
}

// LedgerExportResult is the result of ledger_export.
type LedgerExportResult struct {
	File  string `json:"file"`
	Rows  int64  `json:"rows"`
	Chain string `json:"chain"` // of the whole ledger: "whole", or where it is broken
}

// ExportedRow is a line of an exported ledger. With prev_hash and hash, whoever has all rows can see that none was changed.
type ExportedRow struct {
	LedgerRow
	PrevHash string `json:"prev_hash"`
	Hash     string `json:"hash"`
}

// VersionResult is the result of version.
type VersionResult struct {
	App      string `json:"app"`
	Version  string `json:"version"`
	Protocol int    `json:"protocol"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// TaskQueueResult is the result of task_queue: what is left to be typed, for each tab in this order.
type TaskQueueResult struct {
	TaskID  string         `json:"task_id"`
	Prompts []QueuedPrompt `json:"prompts"`
}

// QueuedPrompt is a prompt that waits for its agent.
type QueuedPrompt struct {
	ID        string `json:"id"`
	TabID     string `json:"tab_id"`
	Text      string `json:"text"` // its beginning, where Truncated
	Bytes     int    `json:"bytes"`
	Truncated bool   `json:"truncated,omitempty"`
	Typing    bool   `json:"typing,omitempty"`    // it is being typed now, and cannot be taken back
	Repeats   int    `json:"repeats,omitempty"`   // how often it is typed once more after that
	FromTask  string `json:"from_task,omitempty"` // id of the task whose caged agent sent it
	Created   string `json:"created"`
}

// TaskStopResult is the result of task_stop.
type TaskStopResult struct {
	TaskID string `json:"task_id"`
	Ended  int    `json:"ended"`
	Job    string `json:"job,omitempty"`
}

// MCPResult is the result of every verb about the MCP endpoint. URL and TokenFile are empty while it does not serve.
type MCPResult struct {
	Enabled   bool   `json:"enabled"` // as the settings say
	URL       string `json:"url"`
	TokenFile string `json:"token_file"`       // path; the token itself is in no result
	Error     string `json:"error,omitempty"`  // why it does not serve although it is enabled
	Hint      string `json:"hint,omitempty"`   // what to do about that
	Port      int    `json:"port,omitempty"`   // the port that is kept for it, bound or not
	Denied    uint64 `json:"denied,omitempty"` // requests without a right token since it was bound
}
