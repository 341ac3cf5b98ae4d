package api

// Target picks a task. On the command line an absent task means the task of the current folder, where the verb allows
// it; over other faces the task is required.
type Target struct {
	Task    string `json:"task,omitempty" cli:"arg" doc:"task: exact id, name, or project/name" tool:"-"`
	Project string `json:"project,omitempty" cli:"project" doc:"project to look in: name or id" tool:"-"`
	Cwd     string `json:"cwd,omitempty" cli:"-" face:"cli" doc:"folder that picks the task when none is named"`
}

// NamedTarget picks a task by name only: verbs that destroy or write elsewhere never take it from the current folder.
type NamedTarget struct {
	Task    string `json:"task" cli:"arg" doc:"task: exact id, name, or project/name" tool:"-"`
	Project string `json:"project,omitempty" cli:"project" doc:"project to look in: name or id" tool:"-"`
}

// Once lets a call be repeated without being done twice.
type Once struct {
	IdempotencyKey string `json:"idempotency_key,omitempty" cli:"idempotency-key" doc:"a repeat with the same key is answered like the first call (kept 24 hours)" tool:"-"`
}

// Key is the key.
func (o Once) Key() string { return o.IdempotencyKey }

// TaskListParams are the parameters of task_list.
type TaskListParams struct {
	Project string `json:"project,omitempty" cli:"project" doc:"only tasks of this project"`
	Quiet   bool   `json:"quiet,omitempty" cli:"quiet,q" doc:"skip work state and changes"`
	// Archived adds tasks that were archived: the history page of the window and `list --archived`.
	Archived bool   `json:"archived,omitempty" cli:"archived" face:"window|cli" doc:"list archived tasks instead, newest first"`
	Find     string `json:"find,omitempty" cli:"find" face:"window|cli" doc:"only tasks with these words in name, branch, agent or project"`
	Before   string `json:"before,omitempty" cli:"before" face:"window|cli" doc:"only tasks archived before the one with this id"`
	Limit    int64  `json:"limit,omitempty" cli:"limit" face:"window|cli" doc:"with archived: at most this many; 100 when left out, at most 1000"`
}

// TaskNewParams are the parameters of task_new.
type TaskNewParams struct {
	Name           string   `json:"name,omitempty" cli:"arg" doc:"name of the task; may be left out only with from" tool:"-"`
	Project        string   `json:"project,omitempty" cli:"project" doc:"project: name or id" tool:"-"`
	Prompt         string   `json:"prompt,omitempty" cli:"prompt,p" doc:"first prompt, delivered when the agent is ready" tool:"first prompt"`
	PromptRef      string   `json:"promptRef,omitempty" cli:"prompt-ref,P" face:"window|cli" doc:"prompt of the library to send first, before the text of prompt"`
	Agent          string   `json:"agent,omitempty" cli:"agent" doc:"id of an agent; the project or the settings choose one when left out" tool:"agent id; see task_agents"`
	Mode           string   `json:"mode,omitempty" cli:"mode" class:"full" enum:"worktree|main" doc:"own worktree, or the main checkout"`
	Base           string   `json:"base,omitempty" cli:"base" doc:"branch or commit to start from"`
	Branch         string   `json:"branch,omitempty" cli:"branch" face:"window|cli" doc:"branch name instead of one made from the name"`
	From           string   `json:"from,omitempty" cli:"from" face:"window|cli" not:"mode|base|branch" doc:"adopt this existing worktree folder"`
	Resume         string   `json:"resume,omitempty" cli:"resume" face:"window|cli" doc:"session id that the agent resumes"`
	Sandbox        string   `json:"sandbox,omitempty" cli:"sandbox" class:"full" enum:"off|monitor|enforce-fs|enforce" doc:"cage of the task"`
	MCP            bool     `json:"mcp,omitempty" cli:"mcp" class:"full" doc:"let the caged agent drive tasks over MCP"`
	Projects       []string `json:"projects,omitempty" cli:"projects" class:"full" doc:"projects that it may act on; its own when left out"`
	Agents         []string `json:"agents,omitempty" cli:"agents" class:"full" doc:"agents that it may start; its own when left out"`
	Yolo           bool     `json:"yolo,omitempty" cli:"yolo" face:"window|cli" doc:"start the agent with its own permission prompts off"`
	Secrets        []string `json:"secrets,omitempty" cli:"secret" face:"window|cli" doc:"secrets that its agents get into their environment, by name; those of the project when left out, none for an empty one"`
	NoAgent        bool     `json:"noAgent,omitempty" cli:"no-agent" face:"window|cli" doc:"make the task without starting its agent"`
	Open           bool     `json:"open,omitempty" cli:"open" face:"window|cli" doc:"show it in the window"`
	Wait           bool     `json:"wait,omitempty" cli:"wait" doc:"answer when the agent settled; settling is a heuristic" tool:"answer once the agent settled (a heuristic)"`
	TimeoutMs      int64    `json:"timeoutMs,omitempty" cli:"timeout" unit:"ms" with:"wait" doc:"longest wait" tool:"-"`
	IdempotencyKey string   `json:"idempotency_key,omitempty" cli:"idempotency-key" doc:"a repeat with the same key is answered like the first call (kept 24 hours)" tool:"a repeat is answered like the first call for 24 hours"`
	Cwd            string   `json:"cwd,omitempty" cli:"-" face:"cli" doc:"folder that picks the project when none is named"`
}

// Key is the idempotency key.
func (p TaskNewParams) Key() string { return p.IdempotencyKey }

// TaskRaceParams are the parameters of task_race.
type TaskRaceParams struct {
	Name           string   `json:"name" cli:"arg" doc:"name of the race; each task is called after it and its agent"`
	Project        string   `json:"project,omitempty" cli:"project" doc:"project: name or id"`
	Agents         []string `json:"agents" cli:"agent" doc:"id of an agent that runs; from 2 to 8 of them, the same one twice as well"`
	Prompt         string   `json:"prompt,omitempty" cli:"prompt,p" doc:"prompt for every agent, delivered when it is ready"`
	PromptRef      string   `json:"promptRef,omitempty" cli:"prompt-ref,P" doc:"prompt of the library to send first, before the text of prompt"`
	Base           string   `json:"base,omitempty" cli:"base" doc:"branch or commit that all of them start from"`
	Sandbox        string   `json:"sandbox,omitempty" cli:"sandbox" enum:"off|monitor|enforce-fs|enforce" doc:"cage of the tasks"`
	Yolo           bool     `json:"yolo,omitempty" cli:"yolo" doc:"start the agents with their own permission prompts off"`
	IdempotencyKey string   `json:"idempotency_key,omitempty" cli:"idempotency-key" doc:"a repeat with the same key is answered like the first call (kept 24 hours)"`
	Cwd            string   `json:"cwd,omitempty" cli:"-" face:"cli" doc:"folder that picks the project when none is named"`
}

// Key is the idempotency key.
func (p TaskRaceParams) Key() string { return p.IdempotencyKey }

// TaskStatusParams are the parameters of task_status.
type TaskStatusParams struct{ Target }

// TaskSendParams are the parameters of task_send.
type TaskSendParams struct {
	Target
	Prompt    string `json:"prompt,omitempty" cli:"rest" doc:"text to deliver"`
	PromptRef string `json:"promptRef,omitempty" cli:"prompt-ref,P" face:"window|cli" doc:"prompt of the library, sent before the text"`
	Resume    bool   `json:"resume,omitempty" cli:"resume" not:"fresh|tab" doc:"start the agent again with its last session if it is not running" tool:"restart an ended agent with its last session"`
	Fresh     bool   `json:"fresh,omitempty" cli:"fresh" not:"tab" doc:"start a new agent tab"`
	Tab       string `json:"tab,omitempty" cli:"tab" doc:"tab: id, index or title" tool:"id, index or title"`
	Here      bool   `json:"-" cli:"here" face:"cli" doc:"the task this terminal belongs to (TERMIC_TASK_ID)"`
	Repeat    int64  `json:"repeat,omitempty" cli:"repeat" face:"window|cli" not:"wait" doc:"type it this many times, at most 100, each time once the agent has settled"`
	Wait      bool   `json:"wait,omitempty" cli:"wait" doc:"answer when the agent settled; settling is a heuristic" tool:"answer once the agent settled (a heuristic)"`
	TimeoutMs int64  `json:"timeoutMs,omitempty" cli:"timeout" unit:"ms" with:"wait" doc:"longest wait" tool:"-"`
	Once
}

// TaskWaitParams are the parameters of task_wait.
type TaskWaitParams struct {
	Target
	Tab       string `json:"tab,omitempty" cli:"tab" doc:"wait for this tab only: id, index or title" tool:"only this: id, index or title"`
	TimeoutMs int64  `json:"timeoutMs,omitempty" cli:"timeout" unit:"ms" doc:"longest wait" tool:"-"`
}

// TaskResultParams are the parameters of task_result.
type TaskResultParams struct{ Target }

// TaskLogParams are the parameters of task_log.
type TaskLogParams struct {
	Target
	Shell     bool   `json:"shell,omitempty" cli:"shell" class:"full" doc:"the task's own shell instead of its agent" tool:"its shell, not its agent"`
	Tab       string `json:"tab,omitempty" cli:"tab" doc:"tab: id, index or title" tool:"id, index or title"`
	LastBytes int64  `json:"lastBytes,omitempty" cli:"last-bytes" doc:"only the newest bytes, at most 262144"`
	Plain     bool   `json:"plain,omitempty" cli:"plain" doc:"the newest text, screen and scrollback, without control sequences" tool:"without control sequences"`
}

// TaskDiffParams are the parameters of task_diff.
type TaskDiffParams struct {
	Target
	Full bool `json:"full,omitempty" cli:"full" doc:"with the patch itself"`
}

// TaskOpenParams are the parameters of task_open.
type TaskOpenParams struct{ Target }

// TaskRenameParams are the parameters of task_rename.
type TaskRenameParams struct {
	Target
	Name string `json:"name" cli:"name" doc:"new name; branch and folder keep theirs"`
}

// TaskApplyParams are the parameters of task_apply.
type TaskApplyParams struct {
	NamedTarget
	AcceptFiles bool `json:"acceptFiles,omitempty" cli:"accept-files" face:"window|cli" doc:"consent to files that run by themselves and that a caged agent may have written"`
	Yes         bool `json:"-" cli:"yes,y" face:"cli" doc:"do not ask"`
	Once
}

// TaskArchiveParams are the parameters of task_archive.
type TaskArchiveParams struct {
	NamedTarget
	Discard      bool `json:"discard,omitempty" cli:"discard" doc:"consent to losing what exists only here; a backup ref is left"`
	DeleteBranch bool `json:"deleteBranch,omitempty" cli:"delete-branch" doc:"delete the branch as well"`
	Yes          bool `json:"-" cli:"yes,y" face:"cli" doc:"do not ask"`
	Once
}

// TaskRestoreParams are the parameters of task_restore.
type TaskRestoreParams struct{ NamedTarget }

// TaskTabParams are the parameters of task_tab.
type TaskTabParams struct {
	Target
	Kind        string `json:"kind,omitempty" cli:"kind" class:"full" enum:"agent|terminal|shell|caged-shell|default" doc:"kind of tab; caged-shell: a terminal in the task's cage; default: the task's own agent" tool:"default: the task's own agent"`
	AgentID     string `json:"agentId,omitempty" cli:"agent" doc:"agent of an agent tab"`
	Restart     string `json:"restart,omitempty" cli:"restart" face:"window|cli" doc:"start the program of this tab again: id, index or title"`
	Prompt      string `json:"prompt,omitempty" cli:"prompt,p" doc:"prompt for the new agent"`
	PromptRef   string `json:"promptRef,omitempty" cli:"prompt-ref,P" face:"window|cli" doc:"prompt of the library, sent before the text"`
	Resume      string `json:"resume,omitempty" cli:"resume" face:"window|cli" doc:"session id that the agent resumes"`
	AcceptFiles bool   `json:"acceptFiles,omitempty" cli:"accept-files" face:"window|cli" doc:"consent to files that run by themselves and that a caged agent may have written"`
	Wait        bool   `json:"wait,omitempty" cli:"wait" doc:"answer when the agent settled; settling is a heuristic" tool:"answer once the agent settled (a heuristic)"`
	TimeoutMs   int64  `json:"timeoutMs,omitempty" cli:"timeout" unit:"ms" with:"wait" doc:"longest wait" tool:"-"`
	Once
}

// TaskTabCloseParams are the parameters of task_tab_close.
type TaskTabCloseParams struct {
	Target
	Tab          string `json:"tab" cli:"tab" doc:"tab: id, index or title" tool:"id, index or title"`
	AllowDefault bool   `json:"allowDefault,omitempty" cli:"yes,y" doc:"close it even if it is the task's first agent"`
	Once
}

// TaskAgentsParams are the parameters of task_agents.
type TaskAgentsParams struct{}

// PromptsParams are the parameters of prompts.
type PromptsParams struct {
	Selector string `json:"selector,omitempty" cli:"arg" doc:"prompt id or title; with it, the text is shown" tool:"id or title; shows its text"`
}

// TaskSandboxParams are the parameters of task_sandbox. Without any beside the task, it only shows. A list replaces the one
// there is; an empty one, or one of a single empty text, sets it back to what holds by itself.
type TaskSandboxParams struct {
	NamedTarget
	Mode        string   `json:"mode,omitempty" cli:"mode" enum:"off|monitor|enforce-fs|enforce" doc:"how the agent is caged"`
	MCP         bool     `json:"mcp,omitempty" cli:"mcp" doc:"let the caged agent drive tasks over MCP"`
	NoMCP       bool     `json:"noMcp,omitempty" cli:"no-mcp" not:"mcp" doc:"take that back"`
	Projects    []string `json:"projects,omitempty" cli:"projects" doc:"projects that it may act on; its own when empty"`
	Agents      []string `json:"agents,omitempty" cli:"agents" doc:"agents that it may start; its own when empty"`
	Read        []string `json:"read,omitempty" cli:"read" doc:"files and folders that the cage may read as well"`
	Write       []string `json:"write,omitempty" cli:"write" doc:"files and folders that the cage may change as well"`
	Hosts       []string `json:"hosts,omitempty" cli:"hosts" list:"hosts" doc:"hosts that the cage may reach as well"`
	Secrets     []string `json:"secrets,omitempty" cli:"secret" doc:"secrets that its agents get into their environment, by name"`
	AcceptFiles bool     `json:"acceptFiles,omitempty" cli:"accept-files" doc:"consent to files that run by themselves and that a caged agent may have written"`
	Yes         bool     `json:"-" cli:"yes,y" face:"cli" doc:"do not ask"`
}

// SandboxAllowParams are the parameters of sandbox_allow: exactly one of host, read and write.
type SandboxAllowParams struct {
	NamedTarget
	Host  string `json:"host,omitempty" cli:"host" doc:"host that may be reached, as it was refused"`
	Read  string `json:"read,omitempty" cli:"read" doc:"file or folder that may be read"`
	Write string `json:"write,omitempty" cli:"write" doc:"file or folder that may be changed"`
	For   string `json:"for,omitempty" cli:"for" enum:"task|project|agent" doc:"for this task (the default), every task of its project, or its agent in every task"`
}

// SandboxGroupsParams are the parameters of sandbox_groups.
type SandboxGroupsParams struct {
	Fresh bool `json:"fresh,omitempty" cli:"fresh" doc:"ask the package tools again"`
}

// ProjectSettingsParams are the parameters of project_settings: the defaults of its tasks. Without any beside the name,
// it only shows. Lists are as in task_sandbox.
type ProjectSettingsParams struct {
	Name     string   `json:"name" cli:"arg" doc:"project: name or id" tool:"-"`
	Agent    string   `json:"agent,omitempty" cli:"agent" doc:"agent of its new tasks; none for the one of the settings"`
	Group    string   `json:"group,omitempty" cli:"group" doc:"heading of the sidebar under which it stands; none for none"`
	Sandbox  string   `json:"sandbox,omitempty" cli:"sandbox" enum:"default|off|monitor|enforce-fs|enforce" doc:"cage of its new tasks; default is the one of the settings"`
	MCP      bool     `json:"mcp,omitempty" cli:"mcp" doc:"let caged agents of its new tasks drive tasks over MCP"`
	NoMCP    bool     `json:"noMcp,omitempty" cli:"no-mcp" not:"mcp" doc:"take that back"`
	Projects []string `json:"projects,omitempty" cli:"projects" doc:"projects that they may act on; their own when empty"`
	Agents   []string `json:"agents,omitempty" cli:"agents" doc:"agents that they may start; their own when empty"`
	Read     []string `json:"read,omitempty" cli:"read" doc:"files and folders that cages of its tasks may read as well"`
	Write    []string `json:"write,omitempty" cli:"write" doc:"files and folders that cages of its tasks may change as well"`
	Hosts    []string `json:"hosts,omitempty" cli:"hosts" list:"hosts" doc:"hosts that cages of its tasks may reach as well"`
	Secrets  []string `json:"secrets,omitempty" cli:"secret" doc:"secrets that the agents of its new tasks get, by name, where you make the task"`
}

// ProjectRefsParams are the parameters of project_refs. Without undo and keep, it only shows.
type ProjectRefsParams struct {
	Name string   `json:"name" cli:"arg" doc:"project: name or id" tool:"-"`
	Undo []string `json:"undo,omitempty" cli:"undo" doc:"put these refs back, by the names that are shown; all for every one"`
	Keep []string `json:"keep,omitempty" cli:"keep" doc:"leave these as they are and forget about them; all for every one"`
}

// ProjectGitParams are the parameters of project_git.
type ProjectGitParams struct {
	Name string `json:"name" cli:"arg" doc:"project: name or id"`
}

// ProjectConsentParams are the parameters of project_consent. Without digest and withdraw, it only shows.
type ProjectConsentParams struct {
	Name     string `json:"name" cli:"arg" doc:"project: name or id" tool:"-"`
	Digest   string `json:"digest,omitempty" cli:"digest" doc:"consent to the content with this digest, as it was shown"`
	Withdraw bool   `json:"withdraw,omitempty" cli:"withdraw" not:"digest" doc:"take the consent back"`
}

// ProjectListParams are the parameters of project_list.
type ProjectListParams struct{}

// ProjectAddParams are the parameters of project_add.
type ProjectAddParams struct {
	Path   string `json:"path" cli:"arg" doc:"absolute path of the folder"`
	Name   string `json:"name,omitempty" cli:"name" face:"window|cli" doc:"name; the folder's own when left out"`
	NonGit bool   `json:"nonGit,omitempty" cli:"non-git" doc:"add a folder that is no git repository"`
}

// ProjectRemoveParams are the parameters of project_remove.
type ProjectRemoveParams struct {
	Name    string `json:"name" cli:"arg" doc:"project: name or id" tool:"-"`
	Discard bool   `json:"discard,omitempty" cli:"discard" doc:"consent to losing what exists only in its tasks; backup refs are left"`
	Yes     bool   `json:"-" cli:"yes,y" face:"cli" doc:"do not ask"`
	Once
}

// AttachParams are the parameters of attach.
type AttachParams struct {
	Target
	Shell  bool   `json:"shell,omitempty" cli:"shell" doc:"the task's own shell instead of its agent" tool:"its shell, not its agent"`
	Tab    string `json:"tab,omitempty" cli:"tab" doc:"tab: id, index or title" tool:"id, index or title"`
	Resize bool   `json:"resize,omitempty" cli:"resize" doc:"give the terminal the size of this one"`
	// DetachKeys is read by the client only.
	DetachKeys string `json:"-" cli:"detach-keys" face:"cli" doc:"keys that detach; ctrl-\\ when left out"`
}

// PathParams are the parameters of path.
type PathParams struct{ Target }

// QuitParams are the parameters of quit. The default is a preview: the harmless direction.
type QuitParams struct {
	Commit bool `json:"commit,omitempty" cli:"commit" doc:"really end the app; without it, say what would end"`
}

// SettingsGetParams are the parameters of settings_get.
type SettingsGetParams struct {
	Key string `json:"key,omitempty" cli:"arg" doc:"dotted key, such as terminal.font_size; all settings when left out"`
}

// SettingsSetParams are the parameters of settings_set.
type SettingsSetParams struct {
	Key   string `json:"key" cli:"arg" doc:"dotted key, such as terminal.font_size"`
	Value string `json:"value" cli:"arg" empty:"yes" doc:"value, written as TOML writes it; a bare word is text"`
}

// SettingsResetParams are the parameters of settings_reset.
type SettingsResetParams struct {
	Key string `json:"key" cli:"arg" doc:"dotted key, such as terminal.font_size, or a whole entry, such as prompts.ID"`
}

// DoctorParams are the parameters of doctor.
type DoctorParams struct {
	Bundle string `json:"-" cli:"bundle" doc:"also write what may be needed to report a fault into this new file, without tokens, prompts or contents"`
}

// LedgerPick picks rows of the ledger; what is left out picks all.
type LedgerPick struct {
	Task      string `json:"task,omitempty" cli:"task" doc:"only rows about this task or project id"`
	Principal string `json:"principal,omitempty" cli:"who" doc:"only calls of this principal, as the ledger names it: owner, client:NAME, task:ID"`
	Verb      string `json:"verb,omitempty" cli:"verb" doc:"only calls of this verb"`
	Face      string `json:"face,omitempty" cli:"face" doc:"only calls through this face, as the ledger names it: window, cli, mcp, web, api"`
	Outcome   string `json:"outcome,omitempty" cli:"outcome" doc:"only calls that ended so: ok, refused for every other end, or a code"`
}

// LedgerParams are the parameters of ledger.
type LedgerParams struct {
	LedgerPick
	Before int64 `json:"before,omitempty" cli:"before" doc:"only rows with a smaller seq"`
	Limit  int64 `json:"limit,omitempty" cli:"limit" doc:"at most this many rows, newest first; 100 when left out, at most 1000"`
}

// LedgerExportParams are the parameters of ledger_export.
type LedgerExportParams struct {
	LedgerPick
	File string `json:"file" cli:"arg" doc:"new file to write, one JSON object in each line; absolute, or below ~"`
}

// ThemeListParams are the parameters of theme_list.
type ThemeListParams struct{}

// TaskQueueParams are the parameters of task_queue. Without cancel and up, it only shows.
type TaskQueueParams struct {
	Target
	Cancel []string `json:"cancel,omitempty" cli:"cancel" doc:"take these prompts out of the queue, by id; all for every one"`
	Up     string   `json:"up,omitempty" cli:"up" doc:"let this prompt change places with the one before it"`
}

// TaskSignalsParams are the parameters of task_signals.
type TaskSignalsParams struct {
	Target
	Tab string `json:"tab,omitempty" cli:"tab" doc:"tab of an agent: id, index or title; the first agent's when left out"`
}

// TaskStopParams are the parameters of task_stop: every terminal of the task is ended, its tabs stay.
type TaskStopParams struct {
	NamedTarget
	Yes bool `json:"-" cli:"yes,y" face:"cli" doc:"do not ask"`
}

// MCPStatusParams are the parameters of mcp_status.
type MCPStatusParams struct{}

// MCPEnableParams are the parameters of mcp_enable.
type MCPEnableParams struct {
	NewPort bool `json:"newPort,omitempty" cli:"new-port" doc:"take a port that the system assigns; clients that know the old one must be set up again"`
}

// MCPDisableParams are the parameters of mcp_disable.
type MCPDisableParams struct{}

// MCPRotateParams are the parameters of mcp_rotate.
type MCPRotateParams struct{}
