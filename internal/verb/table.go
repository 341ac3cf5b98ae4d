package verb

import (
	"slices"

	"termic/internal/core"
	"termic/internal/fault"
	"termic/internal/grant"
)

// Shorthands of the table.
var (
	reads    = Effect{Kind: Reads, Idempotent: true}
	writes   = Effect{Kind: Writes}
	sets     = Effect{Kind: Writes, Idempotent: true}
	destroys = Effect{Kind: Destroys}
	drives   = Effect{Kind: Writes, OpenWorld: true}
	waits    = []int{fault.ExitNeedsInput, fault.ExitTimeout, fault.ExitNotDelivered}
)

const endpointIsTheOwners = "a caller must not switch or renew its own door"

const cagesAreTheOwners = "what a cage allows is the owner's to say"

const looksAreTheOwners = "how the window shows things is its owner's to say"

const tokensAreTheOwners = "who may come in is the owner's to say"

const clientsAreTheOwners = "the files of the person's programs are the person's"

const agentsHaveGit = "an agent has git of its own in its worktree"

func onlyOfTheWindow(why string) map[grant.Face]string {
	return map[grant.Face]string{grant.MCP: why, grant.CLI: why}
}

func notOnMCP(why string) map[grant.Face]string { return map[grant.Face]string{grant.MCP: why} }

// table is every verb, in the order in which help and tools/list show them. Its golden file is testdata/table.golden.
var table = slices.Concat(tasks, checks, reactions, secrets, owners, locals)

// tasks are the verbs that work on tasks and projects, and those that tell how that goes.
var tasks = []Verb{
	define(Verb{Name: "task_list", CLI: "list", Aliases: []string{"ls"}, Class: grant.Full, Effect: reads,
		Doc: "List tasks with their state and how much they changed"}, (*core.Core).TaskList),
	define(Verb{Name: "task_status", CLI: "status", Class: grant.Scoped, Effect: reads, CwdTarget: true,
		Doc: "Show a task with its tabs and what each is doing"}, (*core.Core).TaskStatus),
	define(Verb{Name: "task_new", Job: true, CLI: "new", Class: grant.Scoped, Effect: drives, Streams: true, Exits: waits,
		Doc: "Create a task in its own worktree, start its agent, and deliver a first prompt"}, (*core.Core).TaskNew),
	define(Verb{Name: "task_send", Job: true, CLI: "send", Class: grant.Scoped, Effect: drives, CwdTarget: true, Streams: true, Exits: waits,
		Doc: "Deliver a prompt to a task's agent, or queue it while the agent is busy"}, (*core.Core).TaskSend),
	define(Verb{Name: "task_wait", CLI: "wait", Class: grant.Scoped, Effect: reads, CwdTarget: true, Streams: true, Exits: waits,
		Doc: "Wait until a task's agent settled; settling is a heuristic"}, (*core.Core).TaskWait),
	define(Verb{Name: "task_result", CLI: "result", Class: grant.Scoped, Effect: reads, Untrusted: true, CwdTarget: true,
		Doc: "Read the last message of a task's agent; untrusted text"}, (*core.Core).TaskResult),
	define(Verb{Name: "task_log", CLI: "logs", Aliases: []string{"log"}, Class: grant.Scoped, Effect: reads, Untrusted: true, CwdTarget: true,
		Doc: "Read the newest output of a task's terminal; untrusted text"}, (*core.Core).TaskLog),
	define(Verb{Name: "task_diff", CLI: "diff", Class: grant.Scoped, Effect: reads, Untrusted: true, CwdTarget: true,
		Doc: "Show what a task changed against its base, untracked files included"}, (*core.Core).TaskDiff),
	define(Verb{Name: "task_open", CLI: "open", Class: grant.Full, Effect: sets, CwdTarget: true, AnyTarget: true,
		Doc: "Show a task in the window"}, (*core.Core).TaskOpen),
	define(Verb{Name: "task_rename", Job: true, CLI: "rename", Class: grant.Full, Effect: sets, CwdTarget: true,
		Doc: "Rename a task; its branch and folder keep their names"}, (*core.Core).TaskRename),
	define(Verb{Name: "task_apply", Job: true, CLI: "apply", Class: grant.Full, Effect: destroys, Exits: []int{fault.ExitConflicts},
		Doc: "Put a task's changes into the project's main checkout, uncommitted"}, (*core.Core).TaskApply),
	define(Verb{Name: "task_archive", Job: true, CLI: "archive", Class: grant.Full, Effect: destroys,
		Doc: "End a task's terminals and remove its worktree; refused while work exists nowhere else"}, (*core.Core).TaskArchive),
	define(Verb{Name: "task_tab", Job: true, CLI: "tab", Class: grant.Scoped, Effect: drives, CwdTarget: true, Streams: true, Exits: waits,
		Doc: "Open another tab in a task: an agent, or a terminal"}, (*core.Core).TaskTab),
	define(Verb{Name: "task_tab_close", Job: true, CLI: "tab close", Class: grant.Scoped, Effect: destroys, CwdTarget: true,
		Doc: "End a tab's program and close the tab"}, (*core.Core).TaskTabClose),
	define(Verb{Name: "task_agents", CLI: "agents", Class: grant.Scoped, Effect: reads,
		Doc: "List the agents that tasks can run"}, (*core.Core).TaskAgents),
	define(Verb{Name: "prompts", CLI: "prompts", Aliases: []string{"prompts show"}, Class: grant.Scoped, Effect: reads,
		Doc: "List the prompt library, or show one prompt"}, (*core.Core).Prompts),
	define(Verb{Name: "project_list", CLI: "project list", Aliases: []string{"project ls"}, Class: grant.Full, Effect: reads,
		Doc: "List projects"}, (*core.Core).ProjectList),
	define(Verb{Name: "project_add", Job: true, CLI: "project add", Class: grant.Full, Effect: sets,
		Doc: "Add a folder as a project; adding it again changes nothing"}, (*core.Core).ProjectAdd),
	define(Verb{Name: "project_remove", Job: true, CLI: "project remove", Aliases: []string{"project rm"}, Class: grant.Full, Effect: destroys,
		Doc: "Archive every task of a project and forget the project; its repository is left alone"}, (*core.Core).ProjectRemove),

	define(Verb{Name: "health", CLI: "health", Class: grant.Full, Effect: reads, Toolset: Jobs,
		Doc: "Tell how the app is: what runs, what waits, and what is wrong"}, (*core.Core).Health),
	define(Verb{Name: "job_list", CLI: "job list", Aliases: []string{"job ls"}, Class: grant.Full, Effect: reads, Toolset: Jobs,
		Doc: "List what was asked for by anybody, newest first, and how it ended"}, (*core.Core).JobList),
	define(Verb{Name: "job_get", CLI: "job show", Class: grant.Full, Effect: reads, Toolset: Jobs,
		Doc: "Show a job, and its result once it ended"}, (*core.Core).JobGet),
	define(Verb{Name: "job_events", CLI: "job events", Class: grant.Full, Effect: reads, Toolset: Jobs,
		Doc: "Show the steps of a job, or the newest of all jobs"}, (*core.Core).JobEvents),
	define(Verb{Name: "job_log", CLI: "job log", Class: grant.Full, Effect: reads, Untrusted: true, Toolset: Jobs,
		Doc: "Read what a job printed; untrusted text"}, (*core.Core).JobLog),
	define(Verb{Name: "job_wait", CLI: "job wait", Class: grant.Full, Effect: reads, Toolset: Jobs,
		Doc: "Wait until a job ended"}, (*core.Core).JobWait),
	define(Verb{Name: "job_cancel", CLI: "job cancel", Class: grant.Full, Effect: sets, Toolset: Jobs,
		Doc: "Cancel a job: take its prompt out of the queue, or cut it short"}, (*core.Core).JobCancel),

	define(Verb{Name: "approval_list", CLI: "approval list", Aliases: []string{"approval ls"}, Class: grant.Full, Effect: reads, Untrusted: true, Toolset: Approvals,
		Doc: "List calls that wait for approval"}, (*core.Core).ApprovalList),
	define(Verb{Name: "approval_get", CLI: "approval show", Class: grant.Full, Effect: reads, Untrusted: true, Toolset: Approvals,
		Doc: "Show what an approval would do"}, (*core.Core).ApprovalGet),
	define(Verb{Name: "approval_decide", CLI: "approval decide", Class: grant.Owner, Named: grant.Approve, Effect: destroys, Toolset: Approvals,
		Doc: "Approve a call that waits, which carries it out, or deny it; whoever asked cannot decide"}, (*core.Core).ApprovalDecide),
	define(Verb{Name: "task_plan", CLI: "plan", Class: grant.Full, Effect: reads, Untrusted: true, CwdTarget: true, Toolset: Approvals,
		Doc: "Show which files applying a task would change, and which conflict"}, (*core.Core).TaskPlan),
	define(Verb{Name: "task_drift", CLI: "drift", Class: grant.Full, Effect: reads, Untrusted: true, CwdTarget: true, Toolset: Approvals,
		Doc: "Show how the base of a task moved, and what conflicts now"}, (*core.Core).TaskDrift),
}

// owners are the verbs that only the owner has.
var owners = []Verb{
	define(Verb{Name: "task_restore", Job: true, CLI: "restore", Class: grant.Owner, Effect: writes, NotOn: notOnMCP("undoing an archive is the owner's"),
		Doc: "Bring an archived task back with its branch and what was left uncommitted"}, (*core.Core).TaskRestore),
	define(Verb{Name: "task_signals", CLI: "signals", Class: grant.Owner, Effect: reads, Untrusted: true, CwdTarget: true, NotOn: notOnMCP("task_status has the state; how it was found is the owner's to look into"),
		Doc: "Show what a task's agent says of its state, and what was made of it"}, (*core.Core).TaskSignals),
	define(Verb{Name: "task_race", Job: true, CLI: "race", Class: grant.Owner, Effect: drives, NotOn: notOnMCP("an agent creates its tasks one by one"),
		Doc: "Give one prompt to several agents, each in a task of its own from the same commit"}, (*core.Core).TaskRace),
	define(Verb{Name: "task_stop", Job: true, CLI: "stop", Class: grant.Owner, Effect: destroys, NotOn: notOnMCP("an agent closes tabs one by one"),
		Doc: "End every terminal of a task; its tabs stay and can be started again"}, (*core.Core).TaskStop),
	define(Verb{Name: "task_stage", Job: true, CLI: "stage", Class: grant.Owner, Effect: writes, NotOn: notOnMCP(agentsHaveGit),
		Doc: "Stage changed files of a task, or take them out of what is staged"}, (*core.Core).TaskStage),
	define(Verb{Name: "task_discard", Job: true, CLI: "discard", Class: grant.Owner, Effect: destroys, NotOn: notOnMCP(agentsHaveGit),
		Doc: "Discard changes of a task's files, keep them for 30 days, and put them back"}, (*core.Core).TaskDiscard),
	define(Verb{Name: "task_commit", Job: true, CLI: "commit", Class: grant.Owner, Effect: writes, CwdTarget: true, NotOn: notOnMCP(agentsHaveGit),
		Doc: "Commit what is staged in a task; no hook runs and nothing is signed"}, (*core.Core).TaskCommit),
	define(Verb{Name: "task_edit", CLI: "edit", Class: grant.Owner, Effect: drives, CwdTarget: true, NotOn: notOnMCP("the editor is the person's"),
		Doc: "Open a file of a task, or its worktree, in the person's editor"}, (*core.Core).TaskEdit),
	define(Verb{Name: "task_tab_set", CLI: "tab set", Class: grant.Owner, Effect: sets, CwdTarget: true, NotOn: notOnMCP(looksAreTheOwners),
		Doc: "Name a tab, pin it, or give it another place in the strip"}, (*core.Core).TaskTabSet),
	define(Verb{Name: "task_tab_reopen", CLI: "tab reopen", Class: grant.Owner, Effect: writes, CwdTarget: true, NotOn: notOnMCP("what the owner closed is the owner's to open"),
		Doc: "Open the tab again that was closed last; an agent takes up its conversation where it can"}, (*core.Core).TaskTabReopen),
	define(Verb{Name: "task_move", CLI: "move", Class: grant.Owner, Effect: sets, NotOn: notOnMCP(looksAreTheOwners),
		Doc: "Give a task another place in the sidebar, among the tasks of its project"}, (*core.Core).TaskMove),
	define(Verb{Name: "task_queue", CLI: "queue", Class: grant.Owner, Effect: writes, CwdTarget: true, NotOn: notOnMCP("what waits for whom is the owner's to order"),
		Doc: "Show the prompts that wait for the agents of a task, take some out, or move one up"}, (*core.Core).TaskQueue),
	define(Verb{Name: "task_sandbox", CLI: "sandbox", Class: grant.Owner, Effect: destroys, NotOn: notOnMCP(cagesAreTheOwners),
		Doc: "Show how the agents of a task are caged, or change it; a change ends its terminals"}, (*core.Core).TaskSandbox),
	define(Verb{Name: "sandbox_allow", CLI: "sandbox allow", Class: grant.Owner, Effect: sets, NotOn: notOnMCP(cagesAreTheOwners),
		Doc: "Allow a host or a path that a cage refused; agents that run must be started again"}, (*core.Core).SandboxAllow),
	define(Verb{Name: "sandbox_groups", CLI: "sandbox groups", Class: grant.Owner, Effect: reads, NotOn: notOnMCP(cagesAreTheOwners),
		Doc: "Show which hosts the named groups stand for"}, (*core.Core).SandboxGroups),
	define(Verb{Name: "project_settings", CLI: "project settings", Class: grant.Owner, Effect: sets, NotOn: notOnMCP(cagesAreTheOwners),
		Doc: "Show or change what holds for the tasks of a project"}, (*core.Core).ProjectSettings),
	define(Verb{Name: "project_refs", CLI: "project refs", Class: grant.Owner, Effect: sets, NotOn: notOnMCP("whose commits a repository keeps is for its owner to say"),
		Doc: "Show the refs that changed while a caged agent ran, and put them back"}, (*core.Core).ProjectRefs),
	define(Verb{Name: "project_git", CLI: "project git", Class: grant.Owner, Effect: reads, NotOn: notOnMCP("an agent starts from the base that the project has"),
		Doc: "Show the branches and worktrees of a project"}, (*core.Core).ProjectGit),
	define(Verb{Name: "project_find", CLI: "project find", Class: grant.Owner, Effect: reads, NotOn: notOnMCP("what lies on the machine is not an agent's to look through"),
		Doc: "Look for git repositories that could be projects"}, (*core.Core).ProjectFind),
	define(Verb{Name: "project_consent", CLI: "project consent", Class: grant.Owner, Effect: sets, NotOn: notOnMCP("what a repository proposes is for the owner to judge"),
		Doc: "Show what the .termic.yaml of a project proposes, and agree to it"}, (*core.Core).ProjectConsent),
	define(Verb{Name: "project_move", CLI: "project move", Class: grant.Owner, Effect: sets, NotOn: notOnMCP(looksAreTheOwners),
		Doc: "Give a project another place in the sidebar"}, (*core.Core).ProjectMove),
	define(Verb{Name: "attach", CLI: "attach", Class: grant.Owner, Effect: writes, CwdTarget: true, Streams: true,
		NotOn: map[grant.Face]string{grant.MCP: "a terminal is no tool call", grant.Window: "the window attaches through its own stream"},
		Exits: []int{fault.ExitClosed}, Doc: "Join a task's terminal from this one"}, (*core.Core).AttachVerb),
	define(Verb{Name: "path", CLI: "path", Class: grant.Owner, Effect: reads, CwdTarget: true, NotOn: notOnMCP("task_status has the path"),
		Doc: "Print the folder of a task"}, (*core.Core).Path),
	define(Verb{Name: "ledger", CLI: "ledger", Class: grant.Owner, Effect: reads, NotOn: notOnMCP("the record of every caller is the owner's"),
		Doc: "Show the newest rows of the ledger and whether its chain is whole"}, (*core.Core).Ledger),
	define(Verb{Name: "ledger_export", CLI: "ledger export", Class: grant.Owner, Effect: writes, NotOn: notOnMCP("the record of every caller is the owner's"),
		Doc: "Check the whole ledger and write it into a new file, one JSON object in each line; it holds names and outcomes, never contents"}, (*core.Core).LedgerExport),
	define(Verb{Name: "settings_get", CLI: "settings get", Class: grant.Owner, Effect: reads, NotOn: notOnMCP("settings are the owner's"),
		Doc: "Show settings"}, (*core.Core).SettingsGet),
	define(Verb{Name: "settings_set", CLI: "settings set", Class: grant.Owner, Effect: sets, NotOn: notOnMCP("settings are the owner's"),
		Doc: "Change one setting; the rest of the file keeps every byte"}, (*core.Core).SettingsSet),
	define(Verb{Name: "settings_reset", CLI: "settings reset", Class: grant.Owner, Effect: sets, NotOn: notOnMCP("settings are the owner's"),
		Doc: "Take one setting out of the file, so that its default holds"}, (*core.Core).SettingsReset),
	define(Verb{Name: "theme_list", CLI: "theme list", Class: grant.Owner, Effect: reads, NotOn: notOnMCP("colours are the person's"),
		Doc: "Show the colour themes that you wrote, and what is wrong with them"}, (*core.Core).ThemeList),
	define(Verb{Name: "mcp_status", CLI: "mcp status", Class: grant.Owner, Effect: reads, NotOn: notOnMCP(endpointIsTheOwners),
		Doc: "Show whether the MCP endpoint serves, where, and which file has its token"}, (*core.Core).MCPStatus),
	define(Verb{Name: "mcp_enable", CLI: "mcp enable", Class: grant.Owner, Effect: sets, NotOn: notOnMCP(endpointIsTheOwners),
		Doc: "Switch the MCP endpoint on, on the port it had before"}, (*core.Core).MCPEnable),
	define(Verb{Name: "mcp_disable", CLI: "mcp disable", Class: grant.Owner, Effect: sets, NotOn: notOnMCP(endpointIsTheOwners),
		Doc: "Switch the MCP endpoint off; calls under way end"}, (*core.Core).MCPDisable),
	define(Verb{Name: "mcp_rotate", CLI: "mcp rotate", Class: grant.Owner, Effect: writes, NotOn: notOnMCP(endpointIsTheOwners),
		Doc: "Replace the token of the MCP endpoint; the old one is worthless at once"}, (*core.Core).MCPRotate),
	define(Verb{Name: "token_new", CLI: "token new", Class: grant.Owner, Effect: writes, NotOn: notOnMCP(tokensAreTheOwners),
		Doc: "Make a token for a client outside, with a scope, in a file of its own"}, (*core.Core).TokenNew),
	define(Verb{Name: "token_list", CLI: "token list", Aliases: []string{"token ls"}, Class: grant.Owner, Effect: reads, NotOn: notOnMCP(tokensAreTheOwners),
		Doc: "List the named tokens, their scopes and their files"}, (*core.Core).TokenList),
	define(Verb{Name: "token_set", CLI: "token set", Class: grant.Owner, Effect: sets, NotOn: notOnMCP(tokensAreTheOwners),
		Doc: "Change what a named token may do; calls that it let in end"}, (*core.Core).TokenSet),
	define(Verb{Name: "token_revoke", CLI: "token revoke", Class: grant.Owner, Effect: sets, NotOn: notOnMCP(tokensAreTheOwners),
		Doc: "Make a named token worthless at once; calls that it let in end"}, (*core.Core).TokenRevoke),
	define(Verb{Name: "client_list", CLI: "client list", Class: grant.Owner, Effect: reads, NotOn: notOnMCP(clientsAreTheOwners),
		Doc: "Show with which MCP clients the endpoint can be registered, and how that stands"}, (*core.Core).ClientList),
	define(Verb{Name: "client_plan", CLI: "client show", Class: grant.Owner, Effect: reads, NotOn: notOnMCP(clientsAreTheOwners),
		Doc: "Show what registering with a client would write, and what can be copied instead"}, (*core.Core).ClientPlan),
	define(Verb{Name: "client_register", CLI: "client register", Class: grant.Owner, Effect: sets, NotOn: notOnMCP(clientsAreTheOwners),
		Doc: "Register the MCP endpoint with a client, or repair the registration"}, (*core.Core).ClientRegister),
	define(Verb{Name: "client_unregister", CLI: "client unregister", Class: grant.Owner, Effect: sets, NotOn: notOnMCP(clientsAreTheOwners),
		Doc: "Take a registration back; the client's file is as it was"}, (*core.Core).ClientUnregister),
	define(Verb{Name: "client_verify", CLI: "client verify", Class: grant.Owner, Effect: reads, NotOn: notOnMCP(clientsAreTheOwners),
		Doc: "Connect as a client would, and say in words what is wrong"}, (*core.Core).ClientVerify),
	define(Verb{Name: "quit", CLI: "quit", Class: grant.Owner, Effect: destroys, NotOn: notOnMCP("ending the app is the owner's"),
		Doc: "Say what ending the app would end, or end it"}, (*core.Core).Quit),
	define(Verb{Name: "doctor", CLI: "doctor", Class: grant.Owner, Effect: reads, NotOn: notOnMCP("tells about the machine, not about tasks"),
		Doc: "Check the machine and the app, and say how to mend what is wrong"}, (*core.Core).Doctor),
	define(Verb{Name: "update_check", CLI: "update", Class: grant.Owner, Effect: Effect{Kind: Reads, Idempotent: true, OpenWorld: true}, NotOn: notOnMCP("tells about the program, not about tasks"),
		Doc: "Tell whether there is a newer release; asked for only once the settings want it"}, (*core.Core).UpdateCheck),
	define(Verb{Name: "window_state", Class: grant.Owner, Effect: reads,
		NotOn: map[grant.Face]string{grant.MCP: "the window's own view", grant.CLI: "the window's own view; list and status tell the same"},
		Doc:   "Everything that the window shows beside terminals and diffs"}, (*core.Core).WindowState),
	define(Verb{Name: "task_layout", Class: grant.Owner, Effect: sets, NotOn: onlyOfTheWindow("it says how the window shows the tabs of a task"),
		Doc: "Keep how the window shows the tabs of a task"}, (*core.Core).TaskLayout),
	define(Verb{Name: "window_set", Class: grant.Owner, Effect: sets, NotOn: onlyOfTheWindow("it says how the window is cut up"),
		Doc: "Keep how the window is cut up"}, (*core.Core).WindowSet),

	define(Verb{Name: "task_drop", Class: grant.Owner, Effect: reads, NotOn: onlyOfTheWindow("files are dropped on the window"),
		Doc: "Put the paths of files into words for a terminal, without typing them"}, (*core.Core).TaskDrop),
	define(Verb{Name: "window_link", CLI: "link", Class: grant.Owner, Effect: sets, NotOn: notOnMCP("a link is for the person to click"),
		Doc: "Show in the window what a termic:// link asks for; a link does nothing by itself"}, (*core.Core).WindowLink),
}

// locals are answered by the command line itself.
var locals = []Verb{
	local[struct{}](Verb{Name: "version", CLI: "version", Class: grant.Owner, Effect: reads, Doc: "Print the version"}),
	local[HeadersParams](Verb{Name: "mcp_headers", CLI: "mcp headers", Class: grant.Owner, Effect: reads, Doc: "Print the headers with the endpoint's token, for a client to run; the app need not run"}),
	local[CompletionParams](Verb{Name: "completion", CLI: "completion", Class: grant.Owner, Effect: reads, Doc: "Print what lets a shell complete the words after termic"}),
	local[HelpParams](Verb{Name: "help", CLI: "help", Class: grant.Owner, Effect: reads, Doc: "Explain the program or one verb"}),
	local[LoginParams](Verb{Name: "login", CLI: "login", Class: grant.Owner, Effect: writes, Doc: "Log in to a Termic on another machine, with a token from standard input, for --remote"}),
	local[LogoutParams](Verb{Name: "logout", CLI: "logout", Class: grant.Owner, Effect: writes, Doc: "Forget a login to another machine; its token stays good until it is revoked there"}),
	local[ServeParams](Verb{Name: "serve", CLI: "serve", Class: grant.Owner, Effect: writes, Doc: "Run the app without a window until it is told to end"}),
}

// HelpParams are the parameters of help.
type HelpParams struct {
	Verb string `json:"verb,omitempty" cli:"rest" doc:"verb to explain"`
	Man  bool   `json:"man,omitempty" cli:"man" doc:"print the manual page of everything, in the form that man reads"`
}

// CompletionParams are the parameters of completion.
type CompletionParams struct {
	Shell string `json:"shell" cli:"arg" enum:"bash|zsh|fish|words" doc:"the shell; words is for its script, and completes standard input"`
}

// HeadersParams are the parameters of mcp_headers.
type HeadersParams struct {
	Bearer bool `json:"bearer,omitempty" cli:"bearer" doc:"print the token as Authorization, as Claude Code needs it"`
}

// LoginParams are the parameters of login.
type LoginParams struct {
	URL         string `json:"url" cli:"arg" doc:"where its browser face is, such as https://192.0.2.1:8443"`
	Fingerprint string `json:"fingerprint,omitempty" cli:"fingerprint" doc:"of its key, as serve prints it there; the only key that is then talked to"`
	Name        string `json:"name,omitempty" cli:"name" doc:"what to call it; its host when left out"`
}

// LogoutParams are the parameters of logout.
type LogoutParams struct {
	Which string `json:"which" cli:"arg" doc:"the login: its name, or the address of the other machine"`
}

// ServeParams are the parameters of serve.
type ServeParams struct {
	LogFormat string   `json:"logFormat,omitempty" cli:"log-format" enum:"text|json" doc:"form of the log on standard error"`
	LogLevel  string   `json:"logLevel,omitempty" cli:"log-level" enum:"debug|info|warn|error" doc:"least level that is logged"`
	WebAddr   string   `json:"webAddr,omitempty" cli:"web-addr" doc:"also serve the browser face and the API at this address and port, over TLS; loopback where only a port is given"`
	WebHost   []string `json:"webHost,omitempty" cli:"web-host" with:"webAddr" doc:"a name by which a proxy in front of the browser face is called"`
	WebPlain  bool     `json:"webPlain,omitempty" cli:"web-plain" with:"webHost" doc:"leave TLS to that proxy, which runs on this machine"`
}
