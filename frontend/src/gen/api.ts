// Made from the verb table by `make gen`. Do not edit.

/** The kinds of failure; the set is closed. */
export type FaultCode =
  | "invalid_argument"
  | "not_found"
  | "ambiguous"
  | "conflict"
  | "unsupported"
  | "forbidden"
  | "unregistered_project"
  | "apply_conflict"
  | "unavailable"
  | "needs_consent"
  | "internal";

/** A failure, in words that a person may read. */
export interface Fault {
  code: FaultCode;
  message: string;
  /** What to do next. */
  hint?: string;
  data?: Record<string, unknown>;
}

// States of an approval.
export const ApprovalPending = "pending";
/** and carried out; how that went is in its job */
export const ApprovalApproved = "approved";
export const ApprovalDenied = "denied";
export const ApprovalExpired = "expired";
/** what it was about, or who asked, changed before it was decided */
export const ApprovalStale = "stale";
/** its job was cancelled */
export const ApprovalWithdrawn = "withdrawn";

// Kinds of CageLayer.
export const LayerTask = "task";
export const LayerProject = "project";
/** .termic.yaml, consented */
export const LayerRepo = "repo";
export const LayerAgent = "agent";
export const LayerSettings = "settings";
export const LayerBuiltIn = "builtin";

// States of a check and of its targets. A check is down when any of its targets is.
export const CheckUp = "up";
export const CheckDown = "down";
/** not looked at yet */
export const CheckUnknown = "unknown";

// MCPRevision is the revision of the Model Context Protocol that the endpoint speaks and clients must speak, the only one.
export const MCPRevision = "2026-07-28";

// States of a job.
/** for an approval; nothing was done yet */
export const JobWaiting = "waiting";
export const JobRunning = "running";
export const JobDone = "done";
export const JobFailed = "failed";
export const JobCancelled = "cancelled";
/** the app ended while it ran; it is never run again by itself */
export const JobInterrupted = "interrupted";

// Sides on which a pane is split.
/** the second stands beside the first */
export const SplitRight = "right";
export const SplitBelow = "below";

// Task states, as they are stored and shown.
/** accepted; its worktree or first agent is under way */
export const TaskCreating = "creating";
export const TaskLive = "live";
/** creation did not succeed; Error says why */
export const TaskFailed = "failed";
/** its folder was deleted behind our back; Recreate or archive it */
export const TaskMissing = "missing";
export const TaskArchived = "archived";

// Work states of a tab or a task. Absent means unknown.
export const WorkWorking = "working";
export const WorkNeedsInput = "needs_input";
export const WorkDone = "done";
export const WorkIdle = "idle";
/** no running agent */
export const WorkInactive = "inactive";

// Outcomes of a wait.
export const OutcomeDone = "done";
export const OutcomeNeedsInput = "needs_input";
export const OutcomeTimeout = "timeout";
export const OutcomeNotDelivered = "not_delivered";

// Ways in which a prompt was taken.
/** typed, and seen to arrive */
export const SendDelivered = "delivered";
/** the agent is busy or not ready; it follows */
export const SendQueued = "queued";
/** an agent was started for it */
export const SendSpawned = "spawned";
/** taken for a task that the sender may not read: nothing else is told */
export const SendAccepted = "accepted";

// Whether a live program can use the MCP endpoint.
/** its token is good */
export const MCPConnected = "connected";
/** it is older than the endpoint's bind: it must be started again to connect */
export const MCPRestart = "restart";

// Kinds of denial.
export const DenyHost = "host";
export const DenyRead = "read";
export const DenyWrite = "write";
export const DenyOther = "other";

// States of what a repository proposes.
/** it only tightens: nothing to consent to */
export const RepoKnobs = "knobs";
/** its lists and scripts have no effect until the owner consents */
export const RepoWaiting = "waiting";
export const RepoAgreed = "agreed";
/** it cannot be read, and no agent starts until it can */
export const RepoBroken = "broken";

// Faces of named tokens. A token is good on one of them and worthless on the other.
/** the MCP endpoint */
export const TokenMCP = "mcp";
/** the browser and the API */
export const TokenWeb = "web";

// How it stands with newer releases.
/** not asked for: updates.check is off */
export const UpdatesOff = "off";
/** switched on, but there is no address or no key */
export const UpdatesUnset = "unset";
/** switched on, and not yet answered */
export const UpdatesUnasked = "unasked";
/** there is none */
export const UpdatesCurrent = "current";
/** there is one */
export const UpdatesNewer = "newer";
/** a release is known, and this build has no version that could be compared with it */
export const UpdatesUnknown = "unknown";

/** What task_list takes. */
export interface TaskListParams {
  /** only tasks of this project */
  project?: string;
  /** skip work state and changes */
  quiet?: boolean;
  /** list archived tasks instead, newest first */
  archived?: boolean;
  /** only tasks with these words in name, branch, agent or project */
  find?: string;
  /** only tasks archived before the one with this id */
  before?: string;
  /** with archived: at most this many; 100 when left out, at most 1000 */
  limit?: number;
}

/** What task_status takes. */
export interface TaskStatusParams {
  /** task: exact id, name, or project/name */
  task?: string;
  /** project to look in: name or id */
  project?: string;
}

/** What task_new takes. */
export interface TaskNewParams {
  /** name of the task; may be left out only with from */
  name?: string;
  /** project: name or id */
  project?: string;
  /** first prompt, delivered when the agent is ready */
  prompt?: string;
  /** prompt of the library to send first, before the text of prompt */
  promptRef?: string;
  /** id of an agent; the project or the settings choose one when left out */
  agent?: string;
  /** own worktree, or the main checkout */
  mode?: "worktree" | "main";
  /** branch or commit to start from */
  base?: string;
  /** branch name instead of one made from the name */
  branch?: string;
  /** adopt this existing worktree folder */
  from?: string;
  /** session id that the agent resumes */
  resume?: string;
  /** cage of the task */
  sandbox?: "off" | "monitor" | "enforce-fs" | "enforce";
  /** let the caged agent drive tasks over MCP */
  mcp?: boolean;
  /** projects that it may act on; its own when left out */
  projects?: string[];
  /** agents that it may start; its own when left out */
  agents?: string[];
  /** start the agent with its own permission prompts off */
  yolo?: boolean;
  /** secrets that its agents get into their environment, by name; those of the project when left out, none for an empty one */
  secrets?: string[];
  /** make the task without starting its agent */
  noAgent?: boolean;
  /** show it in the window */
  open?: boolean;
  /** answer when the agent settled; settling is a heuristic */
  wait?: boolean;
  /** longest wait; milliseconds */
  timeoutMs?: number;
  /** a repeat with the same key is answered like the first call (kept 24 hours) */
  idempotency_key?: string;
}

/** What task_send takes. */
export interface TaskSendParams {
  /** task: exact id, name, or project/name */
  task?: string;
  /** project to look in: name or id */
  project?: string;
  /** text to deliver */
  prompt?: string;
  /** prompt of the library, sent before the text */
  promptRef?: string;
  /** start the agent again with its last session if it is not running */
  resume?: boolean;
  /** start a new agent tab */
  fresh?: boolean;
  /** tab: id, index or title */
  tab?: string;
  /** type it this many times, at most 100, each time once the agent has settled */
  repeat?: number;
  /** answer when the agent settled; settling is a heuristic */
  wait?: boolean;
  /** longest wait; milliseconds */
  timeoutMs?: number;
  /** a repeat with the same key is answered like the first call (kept 24 hours) */
  idempotency_key?: string;
}

/** What task_wait takes. */
export interface TaskWaitParams {
  /** task: exact id, name, or project/name */
  task?: string;
  /** project to look in: name or id */
  project?: string;
  /** wait for this tab only: id, index or title */
  tab?: string;
  /** longest wait; milliseconds */
  timeoutMs?: number;
}

/** What task_result takes. */
export interface TaskResultParams {
  /** task: exact id, name, or project/name */
  task?: string;
  /** project to look in: name or id */
  project?: string;
}

/** What task_log takes. */
export interface TaskLogParams {
  /** task: exact id, name, or project/name */
  task?: string;
  /** project to look in: name or id */
  project?: string;
  /** the task's own shell instead of its agent */
  shell?: boolean;
  /** tab: id, index or title */
  tab?: string;
  /** only the newest bytes, at most 262144 */
  lastBytes?: number;
  /** the newest text, screen and scrollback, without control sequences */
  plain?: boolean;
}

/** What task_diff takes. */
export interface TaskDiffParams {
  /** task: exact id, name, or project/name */
  task?: string;
  /** project to look in: name or id */
  project?: string;
  /** with the patch itself */
  full?: boolean;
}

/** What task_open takes. */
export interface TaskOpenParams {
  /** task: exact id, name, or project/name */
  task?: string;
  /** project to look in: name or id */
  project?: string;
}

/** What task_rename takes. */
export interface TaskRenameParams {
  /** task: exact id, name, or project/name */
  task?: string;
  /** project to look in: name or id */
  project?: string;
  /** new name; branch and folder keep theirs */
  name: string;
}

/** What task_apply takes. */
export interface TaskApplyParams {
  /** task: exact id, name, or project/name */
  task: string;
  /** project to look in: name or id */
  project?: string;
  /** consent to files that run by themselves and that a caged agent may have written */
  acceptFiles?: boolean;
  /** a repeat with the same key is answered like the first call (kept 24 hours) */
  idempotency_key?: string;
}

/** What task_archive takes. */
export interface TaskArchiveParams {
  /** task: exact id, name, or project/name */
  task: string;
  /** project to look in: name or id */
  project?: string;
  /** consent to losing what exists only here; a backup ref is left */
  discard?: boolean;
  /** delete the branch as well */
  deleteBranch?: boolean;
  /** a repeat with the same key is answered like the first call (kept 24 hours) */
  idempotency_key?: string;
}

/** What task_tab takes. */
export interface TaskTabParams {
  /** task: exact id, name, or project/name */
  task?: string;
  /** project to look in: name or id */
  project?: string;
  /** kind of tab; caged-shell: a terminal in the task's cage; default: the task's own agent */
  kind?: "agent" | "terminal" | "shell" | "caged-shell" | "default";
  /** agent of an agent tab */
  agentId?: string;
  /** start the program of this tab again: id, index or title */
  restart?: string;
  /** prompt for the new agent */
  prompt?: string;
  /** prompt of the library, sent before the text */
  promptRef?: string;
  /** session id that the agent resumes */
  resume?: string;
  /** consent to files that run by themselves and that a caged agent may have written */
  acceptFiles?: boolean;
  /** answer when the agent settled; settling is a heuristic */
  wait?: boolean;
  /** longest wait; milliseconds */
  timeoutMs?: number;
  /** a repeat with the same key is answered like the first call (kept 24 hours) */
  idempotency_key?: string;
}

/** What task_tab_close takes. */
export interface TaskTabCloseParams {
  /** task: exact id, name, or project/name */
  task?: string;
  /** project to look in: name or id */
  project?: string;
  /** tab: id, index or title */
  tab: string;
  /** close it even if it is the task's first agent */
  allowDefault?: boolean;
  /** a repeat with the same key is answered like the first call (kept 24 hours) */
  idempotency_key?: string;
}

/** What task_agents takes. */
export type TaskAgentsParams = Record<string, never>;

/** What prompts takes. */
export interface PromptsParams {
  /** prompt id or title; with it, the text is shown */
  selector?: string;
}

/** What project_list takes. */
export type ProjectListParams = Record<string, never>;

/** What project_add takes. */
export interface ProjectAddParams {
  /** absolute path of the folder */
  path: string;
  /** name; the folder's own when left out */
  name?: string;
  /** add a folder that is no git repository */
  nonGit?: boolean;
}

/** What project_remove takes. */
export interface ProjectRemoveParams {
  /** project: name or id */
  name: string;
  /** consent to losing what exists only in its tasks; backup refs are left */
  discard?: boolean;
  /** a repeat with the same key is answered like the first call (kept 24 hours) */
  idempotency_key?: string;
}

/** What health takes. */
export type HealthParams = Record<string, never>;

/** What job_list takes. */
export interface JobListParams {
  /** only jobs in this state */
  state?: "waiting" | "running" | "done" | "failed" | "cancelled" | "interrupted";
  /** only jobs about this task */
  task?: string;
  /** only jobs older than the one with this id */
  before?: string;
  /** at most this many, newest first; 100 when left out, at most 1000 */
  limit?: number;
}

/** What job_get takes. */
export interface JobGetParams {
  /** id of the job */
  job: string;
}

/** What job_events takes. */
export interface JobEventsParams {
  /** id of the job; the newest events of all jobs when left out */
  job?: string;
  /** only events with a greater seq */
  after?: number;
}

/** What job_log takes. */
export interface JobLogParams {
  /** id of the job */
  job: string;
  /** only lines with a greater seq */
  after?: number;
}

/** What job_wait takes. */
export interface JobWaitParams {
  /** id of the job */
  job: string;
  /** longest wait; milliseconds */
  timeoutMs?: number;
}

/** What job_cancel takes. */
export interface JobCancelParams {
  /** id of the job */
  job: string;
}

/** What approval_list takes. */
export interface ApprovalListParams {
  /** only those in this state; pending when left out */
  state?: "pending" | "approved" | "denied" | "expired" | "stale" | "withdrawn" | "all";
  /** only those older than the one with this id */
  before?: string;
  /** at most this many, newest first; 100 when left out, at most 1000 */
  limit?: number;
}

/** What approval_get takes. */
export interface ApprovalGetParams {
  /** id of the approval */
  approval: string;
}

/** What approval_decide takes. */
export interface ApprovalDecideParams {
  /** id of the approval */
  approval: string;
  /** approve: do it now; deny: never do it */
  decision: "approve" | "deny";
  /** why, for whoever asked */
  reason?: string;
}

/** What task_plan takes. */
export interface TaskPlanParams {
  /** task: exact id, name, or project/name */
  task?: string;
  /** project to look in: name or id */
  project?: string;
}

/** What task_drift takes. */
export interface TaskDriftParams {
  /** task: exact id, name, or project/name */
  task?: string;
  /** project to look in: name or id */
  project?: string;
}

/** What check_list takes. */
export interface CheckListParams {
  /** only checks in this state */
  state?: "up" | "down" | "unknown";
  /** at most this many; 100 when left out, at most 1000 */
  limit?: number;
  /** leave out this many before */
  offset?: number;
}

/** What check_get takes. */
export interface CheckGetParams {
  /** name of the check */
  name: string;
}

/** What check_add takes. */
export interface CheckAddParams {
  /** name of the check: letters, digits, - and _, at most 64 of them */
  name: string;
  /** what is looked at; command is for the owner alone */
  kind: "http" | "tls" | "dns" | "tcp" | "metric" | "command";
  /** what to look at: a URL; host[:port]; name[@resolver]; host:port; URL#metric{label="value"}; a program with arguments. Can be given more than once */
  targets: string[];
  /** http: text that the page must hold */
  expect?: string;
  /** tls: days for which the certificate must still be valid */
  minDays?: number;
  /** dns: address that the name must have */
  expectAddr?: string;
  /** metric: how it is compared with value */
  op?: ">" | ">=" | "<" | "<=" | "==" | "!=";
  /** metric: the number that it is compared with */
  value?: string;
  /** time between two looks, 10s to 24h; 60s when left out; milliseconds */
  everyMs?: number;
  /** time that a look at a target may take, up to 60s; 10s when left out; milliseconds */
  lookMs?: number;
  /** looks that may fail in a row before a target counts as down; none when left out */
  retries?: number;
}

/** What check_update takes. */
export interface CheckUpdateParams {
  /** name of the check */
  name: string;
  /** call it so from now on; triggers that follow it by its name must be changed too */
  rename?: string;
  /** look at these instead; those that stay keep their state */
  targets?: string[];
  /** http: text that the page must hold */
  expect?: string;
  /** tls: days for which the certificate must still be valid */
  minDays?: number;
  /** dns: address that the name must have */
  expectAddr?: string;
  /** metric: how it is compared with value */
  op?: ">" | ">=" | "<" | "<=" | "==" | "!=";
  /** metric: the number that it is compared with */
  value?: string;
  /** time between two looks, 10s to 24h; 60s when left out; milliseconds */
  everyMs?: number;
  /** time that a look at a target may take, up to 60s; 10s when left out; milliseconds */
  lookMs?: number;
  /** looks that may fail in a row before a target counts as down; none when left out */
  retries?: number;
  /** take back expect, minDays, expectAddr or retries */
  clear?: string[];
}

/** What check_set_enabled takes. */
export interface CheckSetEnabledParams {
  /** name of the check */
  name: string;
  /** whether it is made */
  to: "on" | "off";
}

/** What check_delete takes. */
export interface CheckDeleteParams {
  /** name of the check */
  name: string;
}

/** What check_snooze takes. */
export interface CheckSnoozeParams {
  /** name of the check */
  name: string;
  /** how long, up to 30 days; 1h when left out; milliseconds */
  forMs?: number;
  /** end it now */
  end?: boolean;
}

/** What check_probe takes. */
export interface CheckProbeParams {
  /** name of the check */
  name: string;
  /** only this target of it */
  target?: string;
}

/** What netgroup_list takes. */
export type NetgroupListParams = Record<string, never>;

/** What netgroup_add takes. */
export interface NetgroupAddParams {
  /** name of the netgroup: letters, digits, - and _, at most 64 of them */
  name: string;
  /** addresses and networks, such as 192.0.2.0/24; one with ! in front is taken out of the others */
  members: string[];
  /** what it is for */
  note?: string;
}

/** What netgroup_update takes. */
export interface NetgroupUpdateParams {
  /** name of the netgroup */
  name: string;
  /** all that is to be in it from now on */
  members?: string[];
  /** what it is for; none takes it back */
  note?: string;
}

/** What netgroup_delete takes. */
export interface NetgroupDeleteParams {
  /** name of the netgroup */
  name: string;
}

/** What event_list takes. */
export interface EventListParams {
  /** only events of this kind */
  kind?: "check_flip" | "task_settled" | "branch_moved" | "schedule_fired" | "webhook";
  /** only events of this project: name or id */
  project?: string;
  /** only events since this time (RFC 3339), or since so long ago, such as 2h */
  since?: string;
  /** only events with a smaller seq */
  before?: number;
  /** at most this many, newest first; 100 when left out, at most 1000 */
  limit?: number;
}

/** What event_explain takes. */
export interface EventExplainParams {
  /** id of the event */
  event: string;
}

/** What trigger_list takes. */
export interface TriggerListParams {
  /** only those whose name comes after this one */
  after?: string;
  /** at most this many; 100 when left out, at most 1000 */
  limit?: number;
}

/** What trigger_add takes. */
export interface TriggerAddParams {
  /** name of the trigger */
  name: string;
  /** kind of event that it follows */
  kind?: "check_flip" | "task_settled" | "branch_moved" | "schedule_fired" | "webhook";
  /** only events whose subject is like this pattern, such as nightly-* */
  subject?: string;
  /** only events of this project: name or id */
  project?: string;
  /** only events with this fact, such as outcome=done or up=false; all of them, where there are more */
  facts?: string[];
  /** what follows: a new task, or a prompt to a task */
  do?: "task_new" | "task_send";
  /** for task_send: the task, by exact id, name or project/name */
  task?: string;
  /** for task_new: the project, by name or id */
  into?: string;
  /** for task_new: the name of the task; {date} and {time} are filled in */
  taskName?: string;
  /** for task_new: agent id */
  agent?: string;
  /** for task_new: branch or commit to start from */
  base?: string;
  /** for task_new: cage of the task */
  sandbox?: "off" | "monitor" | "enforce-fs" | "enforce";
  /** fixed text of the prompt */
  prompt?: string;
  /** append what is known of the event to the prompt, marked as untrusted data */
  withFacts?: boolean;
  /** append nothing any more */
  noFacts?: boolean;
}

/** What trigger_update takes. */
export interface TriggerUpdateParams {
  /** name or id of the trigger */
  name: string;
  /** kind of event that it follows */
  kind?: "check_flip" | "task_settled" | "branch_moved" | "schedule_fired" | "webhook";
  /** only events whose subject is like this pattern, such as nightly-* */
  subject?: string;
  /** only events of this project: name or id */
  project?: string;
  /** only events with this fact, such as outcome=done or up=false; all of them, where there are more */
  facts?: string[];
  /** follow events of every subject */
  anySubject?: boolean;
  /** follow events of every project */
  anyProject?: boolean;
  /** follow events whatever their facts are */
  anyFacts?: boolean;
  /** switch it on, also after it stopped, if its creator may do that now */
  enable?: boolean;
  /** switch it off */
  disable?: boolean;
  /** what follows: a new task, or a prompt to a task */
  do?: "task_new" | "task_send";
  /** for task_send: the task, by exact id, name or project/name */
  task?: string;
  /** for task_new: the project, by name or id */
  into?: string;
  /** for task_new: the name of the task; {date} and {time} are filled in */
  taskName?: string;
  /** for task_new: agent id */
  agent?: string;
  /** for task_new: branch or commit to start from */
  base?: string;
  /** for task_new: cage of the task */
  sandbox?: "off" | "monitor" | "enforce-fs" | "enforce";
  /** fixed text of the prompt */
  prompt?: string;
  /** append what is known of the event to the prompt, marked as untrusted data */
  withFacts?: boolean;
  /** append nothing any more */
  noFacts?: boolean;
}

/** What trigger_delete takes. */
export interface TriggerDeleteParams {
  /** name or id of the trigger */
  name: string;
}

/** What schedule_list takes. */
export interface ScheduleListParams {
  /** only those whose name comes after this one */
  after?: string;
  /** at most this many; 100 when left out, at most 1000 */
  limit?: number;
}

/** What schedule_add takes. */
export interface ScheduleAddParams {
  /** name of the schedule */
  name: string;
  /** five fields as in cron, such as '0 9 * * mon-fri', or @hourly, @daily, @weekly, @monthly, @yearly */
  cron?: string;
  /** time between two runs, such as 30m; at least 5s */
  every?: string;
  /** time zone such as Europe/Berlin; that of the machine when left out */
  zone?: string;
  /** put each run off by up to this, such as 5m; at most 12h */
  jitter?: string;
  /** what comes of runs that were missed while Termic did not run or the machine slept: nothing (when left out), or one run for all of them */
  missed?: "skip" | "once";
  /** run also while what the run before began goes on */
  overlap?: boolean;
  /** leave a run out while what the one before began goes on, as when nothing is said */
  noOverlap?: boolean;
  /** what follows: a new task, or a prompt to a task */
  do?: "task_new" | "task_send";
  /** for task_send: the task, by exact id, name or project/name */
  task?: string;
  /** for task_new: the project, by name or id */
  into?: string;
  /** for task_new: the name of the task; {date} and {time} are filled in */
  taskName?: string;
  /** for task_new: agent id */
  agent?: string;
  /** for task_new: branch or commit to start from */
  base?: string;
  /** for task_new: cage of the task */
  sandbox?: "off" | "monitor" | "enforce-fs" | "enforce";
  /** fixed text of the prompt */
  prompt?: string;
  /** append what is known of the event to the prompt, marked as untrusted data */
  withFacts?: boolean;
  /** append nothing any more */
  noFacts?: boolean;
}

/** What schedule_update takes. */
export interface ScheduleUpdateParams {
  /** name or id of the schedule */
  name: string;
  /** five fields as in cron, such as '0 9 * * mon-fri', or @hourly, @daily, @weekly, @monthly, @yearly */
  cron?: string;
  /** time between two runs, such as 30m; at least 5s */
  every?: string;
  /** time zone such as Europe/Berlin; that of the machine when left out */
  zone?: string;
  /** put each run off by up to this, such as 5m; at most 12h */
  jitter?: string;
  /** what comes of runs that were missed while Termic did not run or the machine slept: nothing (when left out), or one run for all of them */
  missed?: "skip" | "once";
  /** run also while what the run before began goes on */
  overlap?: boolean;
  /** leave a run out while what the one before began goes on, as when nothing is said */
  noOverlap?: boolean;
  /** switch it on, also after it stopped, if its creator may do that now */
  enable?: boolean;
  /** switch it off */
  disable?: boolean;
  /** what follows: a new task, or a prompt to a task */
  do?: "task_new" | "task_send";
  /** for task_send: the task, by exact id, name or project/name */
  task?: string;
  /** for task_new: the project, by name or id */
  into?: string;
  /** for task_new: the name of the task; {date} and {time} are filled in */
  taskName?: string;
  /** for task_new: agent id */
  agent?: string;
  /** for task_new: branch or commit to start from */
  base?: string;
  /** for task_new: cage of the task */
  sandbox?: "off" | "monitor" | "enforce-fs" | "enforce";
  /** fixed text of the prompt */
  prompt?: string;
  /** append what is known of the event to the prompt, marked as untrusted data */
  withFacts?: boolean;
  /** append nothing any more */
  noFacts?: boolean;
}

/** What schedule_delete takes. */
export interface ScheduleDeleteParams {
  /** name or id of the schedule */
  name: string;
}

/** What schedule_run_now takes. */
export interface ScheduleRunNowParams {
  /** name or id of the schedule */
  name: string;
}

/** What hook_add takes. */
export interface HookAddParams {
  /** name of the hook: letters, digits, - and _, at most 64 of them */
  name: string;
}

/** What hook_list takes. */
export type HookListParams = Record<string, never>;

/** What hook_delete takes. */
export interface HookDeleteParams {
  /** name of the hook: letters, digits, - and _, at most 64 of them */
  name: string;
}

/** What secret_list takes. */
export type SecretListParams = Record<string, never>;

/** What secret_set takes. */
export interface SecretSetParams {
  /** name of the variable: capital letters, digits and _, at most 64 of them */
  name: string;
  /** the value, at most 32 KiB of text */
  value?: string;
  /** what it is for; shown to whoever may read the list */
  note?: string;
}

/** What secret_delete takes. */
export interface SecretDeleteParams {
  /** name of the secret */
  name: string;
  /** also while tasks or projects name it, whose agents do not start then, and where the keyring does not answer */
  force?: boolean;
}

/** What task_restore takes. */
export interface TaskRestoreParams {
  /** task: exact id, name, or project/name */
  task: string;
  /** project to look in: name or id */
  project?: string;
}

/** What task_signals takes. */
export interface TaskSignalsParams {
  /** task: exact id, name, or project/name */
  task?: string;
  /** project to look in: name or id */
  project?: string;
  /** tab of an agent: id, index or title; the first agent's when left out */
  tab?: string;
}

/** What task_race takes. */
export interface TaskRaceParams {
  /** name of the race; each task is called after it and its agent */
  name: string;
  /** project: name or id */
  project?: string;
  /** id of an agent that runs; from 2 to 8 of them, the same one twice as well */
  agents: string[];
  /** prompt for every agent, delivered when it is ready */
  prompt?: string;
  /** prompt of the library to send first, before the text of prompt */
  promptRef?: string;
  /** branch or commit that all of them start from */
  base?: string;
  /** cage of the tasks */
  sandbox?: "off" | "monitor" | "enforce-fs" | "enforce";
  /** start the agents with their own permission prompts off */
  yolo?: boolean;
  /** a repeat with the same key is answered like the first call (kept 24 hours) */
  idempotency_key?: string;
}

/** What task_stop takes. */
export interface TaskStopParams {
  /** task: exact id, name, or project/name */
  task: string;
  /** project to look in: name or id */
  project?: string;
}

/** What task_stage takes. */
export interface TaskStageParams {
  /** task: exact id, name, or project/name */
  task: string;
  /** project to look in: name or id */
  project?: string;
  /** files or folders in the worktree */
  paths?: string[];
  /** every changed file */
  all?: boolean;
  /** take them out of what is staged; the files stay as they are */
  unstage?: boolean;
  /** the seen of each path as task_diff gave it; one that changed since is refused */
  seen?: string[];
}

/** What task_discard takes. */
export interface TaskDiscardParams {
  /** task: exact id, name, or project/name */
  task: string;
  /** project to look in: name or id */
  project?: string;
  /** files or folders in the worktree; none lists what can be undone */
  paths?: string[];
  /** discard what is staged as well */
  staged?: boolean;
  /** put back what this discard took away: its id, or last */
  undo?: string;
  /** the seen of each path as task_diff gave it; one that changed since is refused */
  seen?: string[];
}

/** What task_commit takes. */
export interface TaskCommitParams {
  /** task: exact id, name, or project/name */
  task?: string;
  /** project to look in: name or id */
  project?: string;
  /** message of the commit */
  message: string;
  /** stage every changed file first */
  all?: boolean;
}

/** What task_edit takes. */
export interface TaskEditParams {
  /** task: exact id, name, or project/name */
  task?: string;
  /** project to look in: name or id */
  project?: string;
  /** file or folder in the worktree, with :LINE behind it for a line; none opens the worktree */
  path?: string;
  /** in the project's main checkout instead */
  main?: boolean;
  /** consent to files that run by themselves and that a caged agent may have written */
  acceptFiles?: boolean;
}

/** What task_tab_set takes. */
export interface TaskTabSetParams {
  /** task: exact id, name, or project/name */
  task?: string;
  /** project to look in: name or id */
  project?: string;
  /** tab: id, index or title */
  tab: string;
  /** name that it has from now on, whatever its program says */
  name?: string;
  /** take the name back: its own title shows again */
  ownTitle?: boolean;
  /** show it in the strip by its mark alone, and spare it when the others are closed */
  pin?: boolean;
  /** take that back */
  unpin?: boolean;
  /** its place in the strip, from 1 */
  position?: number;
}

/** What task_tab_reopen takes. */
export interface TaskTabReopenParams {
  /** task: exact id, name, or project/name */
  task?: string;
  /** project to look in: name or id */
  project?: string;
  /** id of a closed tab; the one that was closed last when left out */
  tab?: string;
  /** consent to files that run by themselves and that a caged agent may have written */
  acceptFiles?: boolean;
}

/** What task_move takes. */
export interface TaskMoveParams {
  /** task: exact id, name, or project/name */
  task: string;
  /** project to look in: name or id */
  project?: string;
  /** its place in the sidebar among the tasks of its project, from 1 */
  position: number;
}

/** What task_queue takes. */
export interface TaskQueueParams {
  /** task: exact id, name, or project/name */
  task?: string;
  /** project to look in: name or id */
  project?: string;
  /** take these prompts out of the queue, by id; all for every one */
  cancel?: string[];
  /** let this prompt change places with the one before it */
  up?: string;
}

/** What task_sandbox takes. */
export interface TaskSandboxParams {
  /** task: exact id, name, or project/name */
  task: string;
  /** project to look in: name or id */
  project?: string;
  /** how the agent is caged */
  mode?: "off" | "monitor" | "enforce-fs" | "enforce";
  /** let the caged agent drive tasks over MCP */
  mcp?: boolean;
  /** take that back */
  noMcp?: boolean;
  /** projects that it may act on; its own when empty */
  projects?: string[];
  /** agents that it may start; its own when empty */
  agents?: string[];
  /** files and folders that the cage may read as well */
  read?: string[];
  /** files and folders that the cage may change as well */
  write?: string[];
  /** hosts that the cage may reach as well */
  hosts?: string[];
  /** secrets that its agents get into their environment, by name */
  secrets?: string[];
  /** consent to files that run by themselves and that a caged agent may have written */
  acceptFiles?: boolean;
}

/** What sandbox_allow takes. */
export interface SandboxAllowParams {
  /** task: exact id, name, or project/name */
  task: string;
  /** project to look in: name or id */
  project?: string;
  /** host that may be reached, as it was refused */
  host?: string;
  /** file or folder that may be read */
  read?: string;
  /** file or folder that may be changed */
  write?: string;
  /** for this task (the default), every task of its project, or its agent in every task */
  for?: "task" | "project" | "agent";
}

/** What sandbox_groups takes. */
export interface SandboxGroupsParams {
  /** ask the package tools again */
  fresh?: boolean;
}

/** What project_settings takes. */
export interface ProjectSettingsParams {
  /** project: name or id */
  name: string;
  /** agent of its new tasks; none for the one of the settings */
  agent?: string;
  /** heading of the sidebar under which it stands; none for none */
  group?: string;
  /** cage of its new tasks; default is the one of the settings */
  sandbox?: "default" | "off" | "monitor" | "enforce-fs" | "enforce";
  /** let caged agents of its new tasks drive tasks over MCP */
  mcp?: boolean;
  /** take that back */
  noMcp?: boolean;
  /** projects that they may act on; their own when empty */
  projects?: string[];
  /** agents that they may start; their own when empty */
  agents?: string[];
  /** files and folders that cages of its tasks may read as well */
  read?: string[];
  /** files and folders that cages of its tasks may change as well */
  write?: string[];
  /** hosts that cages of its tasks may reach as well */
  hosts?: string[];
  /** secrets that the agents of its new tasks get, by name, where you make the task */
  secrets?: string[];
}

/** What project_refs takes. */
export interface ProjectRefsParams {
  /** project: name or id */
  name: string;
  /** put these refs back, by the names that are shown; all for every one */
  undo?: string[];
  /** leave these as they are and forget about them; all for every one */
  keep?: string[];
}

/** What project_git takes. */
export interface ProjectGitParams {
  /** project: name or id */
  name: string;
}

/** What project_find takes. */
export interface ProjectFindParams {
  /** folder to look in; your home when left out */
  path?: string;
}

/** What project_consent takes. */
export interface ProjectConsentParams {
  /** project: name or id */
  name: string;
  /** consent to the content with this digest, as it was shown */
  digest?: string;
  /** take the consent back */
  withdraw?: boolean;
}

/** What project_move takes. */
export interface ProjectMoveParams {
  /** project: name or id */
  name: string;
  /** its place in the sidebar among all projects, from 1; the projects of a group stay together */
  position: number;
}

/** What path takes. */
export interface PathParams {
  /** task: exact id, name, or project/name */
  task?: string;
  /** project to look in: name or id */
  project?: string;
}

/** What ledger takes. */
export interface LedgerParams {
  /** only rows about this task or project id */
  task?: string;
  /** only calls of this principal, as the ledger names it: owner, client:NAME, task:ID */
  principal?: string;
  /** only calls of this verb */
  verb?: string;
  /** only calls through this face, as the ledger names it: window, cli, mcp, web, api */
  face?: string;
  /** only calls that ended so: ok, refused for every other end, or a code */
  outcome?: string;
  /** only rows with a smaller seq */
  before?: number;
  /** at most this many rows, newest first; 100 when left out, at most 1000 */
  limit?: number;
}

/** What ledger_export takes. */
export interface LedgerExportParams {
  /** only rows about this task or project id */
  task?: string;
  /** only calls of this principal, as the ledger names it: owner, client:NAME, task:ID */
  principal?: string;
  /** only calls of this verb */
  verb?: string;
  /** only calls through this face, as the ledger names it: window, cli, mcp, web, api */
  face?: string;
  /** only calls that ended so: ok, refused for every other end, or a code */
  outcome?: string;
  /** new file to write, one JSON object in each line; absolute, or below ~ */
  file: string;
}

/** What settings_get takes. */
export interface SettingsGetParams {
  /** dotted key, such as terminal.font_size; all settings when left out */
  key?: string;
}

/** What settings_set takes. */
export interface SettingsSetParams {
  /** dotted key, such as terminal.font_size */
  key: string;
  /** value, written as TOML writes it; a bare word is text */
  value: string;
}

/** What settings_reset takes. */
export interface SettingsResetParams {
  /** dotted key, such as terminal.font_size, or a whole entry, such as prompts.ID */
  key: string;
}

/** What theme_list takes. */
export type ThemeListParams = Record<string, never>;

/** What mcp_status takes. */
export type McpStatusParams = Record<string, never>;

/** What mcp_enable takes. */
export interface McpEnableParams {
  /** take a port that the system assigns; clients that know the old one must be set up again */
  newPort?: boolean;
}

/** What mcp_disable takes. */
export type McpDisableParams = Record<string, never>;

/** What mcp_rotate takes. */
export type McpRotateParams = Record<string, never>;

/** What token_new takes. */
export interface TokenNewParams {
  /** name of the token: letters, digits, - and _, at most 64 of them */
  name: string;
  /** what it may do: read; read and write, where what destroys waits for approval; or read and decide approvals (readonly when left out) */
  scope?: "readonly" | "operator" | "approve";
  /** a project that it reaches; every one when left out */
  projects?: string[];
  /** make it for the browser and the API of serve --web-addr, not for the MCP endpoint; its value is shown once */
  web?: boolean;
}

/** What token_list takes. */
export type TokenListParams = Record<string, never>;

/** What token_set takes. */
export interface TokenSetParams {
  /** name of the token */
  name: string;
  /** what it may do from now on */
  scope?: "readonly" | "operator" | "approve";
  /** a project that it reaches, in place of those that it reached */
  projects?: string[];
  /** let it reach every project */
  allProjects?: boolean;
}

/** What token_revoke takes. */
export interface TokenRevokeParams {
  /** name of the token */
  name: string;
}

/** What client_list takes. */
export type ClientListParams = Record<string, never>;

/** What client_plan takes. */
export interface ClientPlanParams {
  /** client: claude, codex, ... */
  client: string;
  /** what unregistering would change */
  remove?: boolean;
  /** although no version of the client is known to speak the endpoint's revision */
  anyway?: boolean;
  /** let termic itself print the token instead of a shell command */
  termic?: boolean;
}

/** What client_register takes. */
export interface ClientRegisterParams {
  /** client: claude, codex, ... */
  client: string;
  /** although no version of the client is known to speak the endpoint's revision */
  anyway?: boolean;
  /** let termic itself print the token instead of a shell command */
  termic?: boolean;
  /** consent to what would be lost */
  yes?: boolean;
  /** only if it is what client show has shown */
  digest?: string;
}

/** What client_unregister takes. */
export interface ClientUnregisterParams {
  /** client: claude, codex, ... */
  client: string;
  /** consent to what would be lost */
  yes?: boolean;
  /** only if it is what client show --remove has shown */
  digest?: string;
}

/** What client_verify takes. */
export interface ClientVerifyParams {
  /** client: claude, codex, ... */
  client: string;
}

/** What quit takes. */
export interface QuitParams {
  /** really end the app; without it, say what would end */
  commit?: boolean;
}

/** What doctor takes. */
export type DoctorParams = Record<string, never>;

/** What update_check takes. */
export interface UpdateCheckParams {
  /** ask now, instead of telling what was found last */
  now?: boolean;
}

/** What window_state takes. */
export interface WindowStateParams {
  /** only look: what is meant for the page stays for it */
  peek?: boolean;
}

/** What task_layout takes. */
export interface TaskLayoutParams {
  /** task: exact id, name, or project/name */
  task: string;
  /** project to look in: name or id */
  project?: string;
  /** the layout, as JSON of the type Layout */
  layout: string;
}

/** What window_set takes. */
export interface WindowSetParams {
  /** width of the sidebar in pixels */
  sidebar?: number;
  /** width of the right panel in pixels */
  panel?: number;
  /** what to fold in the sidebar: the id of a project or a task, or group: with a name */
  fold?: string;
  /** what to unfold there */
  unfold?: string;
  /** where the window is and how big, as JSON of the type WindowShape */
  shape?: string;
}

/** What task_drop takes. */
export interface TaskDropParams {
  /** task: exact id, name, or project/name */
  task: string;
  /** project to look in: name or id */
  project?: string;
  /** tab on which they were dropped: id, index or title */
  tab: string;
  /** absolute paths of files */
  paths: string[];
}

/** What window_link takes. */
export interface WindowLinkParams {
  /** link that begins with termic://open or termic://new */
  link: string;
}

/** Every verb that the window may call, with what it takes and what it gives. */
export interface Verbs {
  /** List tasks with their state and how much they changed. */
  task_list: { params: TaskListParams; result: TaskListResult };
  /** Show a task with its tabs and what each is doing. */
  task_status: { params: TaskStatusParams; result: TaskStatusResult };
  /** Create a task in its own worktree, start its agent, and deliver a first prompt. */
  task_new: { params: TaskNewParams; result: TaskNewResult };
  /** Deliver a prompt to a task's agent, or queue it while the agent is busy. */
  task_send: { params: TaskSendParams; result: TaskSendResult };
  /** Wait until a task's agent settled; settling is a heuristic. */
  task_wait: { params: TaskWaitParams; result: TaskWaitResult };
  /** Read the last message of a task's agent; untrusted text. */
  task_result: { params: TaskResultParams; result: TaskResultResult };
  /** Read the newest output of a task's terminal; untrusted text. */
  task_log: { params: TaskLogParams; result: TaskLogResult };
  /** Show what a task changed against its base, untracked files included. */
  task_diff: { params: TaskDiffParams; result: TaskDiffResult };
  /** Show a task in the window. */
  task_open: { params: TaskOpenParams; result: TaskOpenResult };
  /** Rename a task; its branch and folder keep their names. */
  task_rename: { params: TaskRenameParams; result: TaskRenameResult };
  /** Put a task's changes into the project's main checkout, uncommitted. */
  task_apply: { params: TaskApplyParams; result: TaskApplyResult };
  /** End a task's terminals and remove its worktree; refused while work exists nowhere else. */
  task_archive: { params: TaskArchiveParams; result: TaskArchiveResult };
  /** Open another tab in a task: an agent, or a terminal. */
  task_tab: { params: TaskTabParams; result: TaskTabResult };
  /** End a tab's program and close the tab. */
  task_tab_close: { params: TaskTabCloseParams; result: TaskTabCloseResult };
  /** List the agents that tasks can run. */
  task_agents: { params: TaskAgentsParams; result: TaskAgentsResult };
  /** List the prompt library, or show one prompt. */
  prompts: { params: PromptsParams; result: PromptsResult };
  /** List projects. */
  project_list: { params: ProjectListParams; result: ProjectListResult };
  /** Add a folder as a project; adding it again changes nothing. */
  project_add: { params: ProjectAddParams; result: ProjectAddResult };
  /** Archive every task of a project and forget the project; its repository is left alone. */
  project_remove: { params: ProjectRemoveParams; result: ProjectRemoveResult };
  /** Tell how the app is: what runs, what waits, and what is wrong. */
  health: { params: HealthParams; result: HealthResult };
  /** List what was asked for by anybody, newest first, and how it ended. */
  job_list: { params: JobListParams; result: JobListResult };
  /** Show a job, and its result once it ended. */
  job_get: { params: JobGetParams; result: JobResult };
  /** Show the steps of a job, or the newest of all jobs. */
  job_events: { params: JobEventsParams; result: JobEventsResult };
  /** Read what a job printed; untrusted text. */
  job_log: { params: JobLogParams; result: JobLogResult };
  /** Wait until a job ended. */
  job_wait: { params: JobWaitParams; result: JobResult };
  /** Cancel a job: take its prompt out of the queue, or cut it short. */
  job_cancel: { params: JobCancelParams; result: JobResult };
  /** List calls that wait for approval. */
  approval_list: { params: ApprovalListParams; result: ApprovalListResult };
  /** Show what an approval would do. */
  approval_get: { params: ApprovalGetParams; result: ApprovalResult };
  /** Approve a call that waits, which carries it out, or deny it; whoever asked cannot decide. */
  approval_decide: { params: ApprovalDecideParams; result: ApprovalDecideResult };
  /** Show which files applying a task would change, and which conflict. */
  task_plan: { params: TaskPlanParams; result: ApplyPlan };
  /** Show how the base of a task moved, and what conflicts now. */
  task_drift: { params: TaskDriftParams; result: TaskDriftResult };
  /** List checks and how each target stands, what is down first; untrusted text. */
  check_list: { params: CheckListParams; result: CheckListResult };
  /** Show a check and how its targets stand. */
  check_get: { params: CheckGetParams; result: CheckResult };
  /** Look at a page, a certificate, a name, a port or a metric again and again. */
  check_add: { params: CheckAddParams; result: CheckResult };
  /** Change what a check looks at, or how often. */
  check_update: { params: CheckUpdateParams; result: CheckResult };
  /** Switch a check on or off. */
  check_set_enabled: { params: CheckSetEnabledParams; result: CheckResult };
  /** Forget a check. */
  check_delete: { params: CheckDeleteParams; result: CheckDeleteResult };
  /** Let a check raise no events for a while; it is made all the same. */
  check_snooze: { params: CheckSnoozeParams; result: CheckResult };
  /** Look at the targets of a check now; nothing is kept of it. */
  check_probe: { params: CheckProbeParams; result: CheckProbeResult };
  /** List the named sets of addresses. */
  netgroup_list: { params: NetgroupListParams; result: NetgroupListResult };
  /** Name a set of addresses. */
  netgroup_add: { params: NetgroupAddParams; result: NetgroupResult };
  /** Change a named set of addresses; cages that run keep the old one. */
  netgroup_update: { params: NetgroupUpdateParams; result: NetgroupResult };
  /** Forget a named set of addresses that is not in use. */
  netgroup_delete: { params: NetgroupDeleteParams; result: NetgroupDeleteResult };
  /** List what happened, newest first: checks that flip, tasks that settle, branches that move. */
  event_list: { params: EventListParams; result: EventListResult };
  /** Show what each trigger made of an event, and why. */
  event_explain: { params: EventExplainParams; result: EventExplainResult };
  /** List triggers: what follows by itself from which events. */
  trigger_list: { params: TriggerListParams; result: TriggerListResult };
  /** Let events start a task or send a prompt, with your rights as they are then. */
  trigger_add: { params: TriggerAddParams; result: TriggerResult };
  /** Change a trigger, or switch it on or off. */
  trigger_update: { params: TriggerUpdateParams; result: TriggerResult };
  /** Delete a trigger; what it did stays in the list of events. */
  trigger_delete: { params: TriggerDeleteParams; result: TriggerDeleteResult };
  /** List schedules: what happens by itself at which times, and when next. */
  schedule_list: { params: ScheduleListParams; result: ScheduleListResult };
  /** Start a task or send a prompt at set times, with your rights as they are then. */
  schedule_add: { params: ScheduleAddParams; result: ScheduleResult };
  /** Change a schedule, or switch it on or off. */
  schedule_update: { params: ScheduleUpdateParams; result: ScheduleResult };
  /** Delete a schedule; what it did stays in the list of events. */
  schedule_delete: { params: ScheduleDeleteParams; result: ScheduleDeleteResult };
  /** Let a schedule act now, and tell what came of it; its times stay as they are. */
  schedule_run_now: { params: ScheduleRunNowParams; result: ScheduleRunResult };
  /** Take signed requests of a name on the browser face, each of which is an event; its secret is shown once. */
  hook_add: { params: HookAddParams; result: HookAddResult };
  /** List the names under which signed requests are taken. */
  hook_list: { params: HookListParams; result: HookListResult };
  /** Take no more requests of a name, and forget its secret. */
  hook_delete: { params: HookDeleteParams; result: HookDeleteResult };
  /** List secrets by name, with what names them; never a value. */
  secret_list: { params: SecretListParams; result: SecretListResult };
  /** Keep a value for agents, from standard input or a file; terminals that run keep the older one. */
  secret_set: { params: SecretSetParams; result: SecretSetResult };
  /** Forget a secret and its value; refused while tasks or projects name it. */
  secret_delete: { params: SecretDeleteParams; result: SecretDeleteResult };
  /** Bring an archived task back with its branch and what was left uncommitted. */
  task_restore: { params: TaskRestoreParams; result: TaskRestoreResult };
  /** Show what a task's agent says of its state, and what was made of it. */
  task_signals: { params: TaskSignalsParams; result: TaskSignalsResult };
  /** Give one prompt to several agents, each in a task of its own from the same commit. */
  task_race: { params: TaskRaceParams; result: TaskRaceResult };
  /** End every terminal of a task; its tabs stay and can be started again. */
  task_stop: { params: TaskStopParams; result: TaskStopResult };
  /** Stage changed files of a task, or take them out of what is staged. */
  task_stage: { params: TaskStageParams; result: TaskStageResult };
  /** Discard changes of a task's files, keep them for 30 days, and put them back. */
  task_discard: { params: TaskDiscardParams; result: TaskDiscardResult };
  /** Commit what is staged in a task; no hook runs and nothing is signed. */
  task_commit: { params: TaskCommitParams; result: TaskCommitResult };
  /** Open a file of a task, or its worktree, in the person's editor. */
  task_edit: { params: TaskEditParams; result: TaskEditResult };
  /** Name a tab, pin it, or give it another place in the strip. */
  task_tab_set: { params: TaskTabSetParams; result: TaskTabSetResult };
  /** Open the tab again that was closed last; an agent takes up its conversation where it can. */
  task_tab_reopen: { params: TaskTabReopenParams; result: TaskTabResult };
  /** Give a task another place in the sidebar, among the tasks of its project. */
  task_move: { params: TaskMoveParams; result: TaskMoveResult };
  /** Show the prompts that wait for the agents of a task, take some out, or move one up. */
  task_queue: { params: TaskQueueParams; result: TaskQueueResult };
  /** Show how the agents of a task are caged, or change it; a change ends its terminals. */
  task_sandbox: { params: TaskSandboxParams; result: TaskSandboxResult };
  /** Allow a host or a path that a cage refused; agents that run must be started again. */
  sandbox_allow: { params: SandboxAllowParams; result: SandboxAllowResult };
  /** Show which hosts the named groups stand for. */
  sandbox_groups: { params: SandboxGroupsParams; result: SandboxGroupsResult };
  /** Show or change what holds for the tasks of a project. */
  project_settings: { params: ProjectSettingsParams; result: ProjectSettingsResult };
  /** Show the refs that changed while a caged agent ran, and put them back. */
  project_refs: { params: ProjectRefsParams; result: ProjectRefsResult };
  /** Show the branches and worktrees of a project. */
  project_git: { params: ProjectGitParams; result: ProjectGitResult };
  /** Look for git repositories that could be projects. */
  project_find: { params: ProjectFindParams; result: ProjectFindResult };
  /** Show what the .termic.yaml of a project proposes, and agree to it. */
  project_consent: { params: ProjectConsentParams; result: ProjectConsentResult };
  /** Give a project another place in the sidebar. */
  project_move: { params: ProjectMoveParams; result: ProjectMoveResult };
  /** Print the folder of a task. */
  path: { params: PathParams; result: PathResult };
  /** Show the newest rows of the ledger and whether its chain is whole. */
  ledger: { params: LedgerParams; result: LedgerResult };
  /** Check the whole ledger and write it into a new file, one JSON object in each line; it holds names and outcomes, never contents. */
  ledger_export: { params: LedgerExportParams; result: LedgerExportResult };
  /** Show settings. */
  settings_get: { params: SettingsGetParams; result: SettingsResult };
  /** Change one setting; the rest of the file keeps every byte. */
  settings_set: { params: SettingsSetParams; result: SettingsResult };
  /** Take one setting out of the file, so that its default holds. */
  settings_reset: { params: SettingsResetParams; result: SettingsResult };
  /** Show the colour themes that you wrote, and what is wrong with them. */
  theme_list: { params: ThemeListParams; result: ThemeListResult };
  /** Show whether the MCP endpoint serves, where, and which file has its token. */
  mcp_status: { params: McpStatusParams; result: MCPResult };
  /** Switch the MCP endpoint on, on the port it had before. */
  mcp_enable: { params: McpEnableParams; result: MCPResult };
  /** Switch the MCP endpoint off; calls under way end. */
  mcp_disable: { params: McpDisableParams; result: MCPResult };
  /** Replace the token of the MCP endpoint; the old one is worthless at once. */
  mcp_rotate: { params: McpRotateParams; result: MCPResult };
  /** Make a token for a client outside, with a scope, in a file of its own. */
  token_new: { params: TokenNewParams; result: TokenResult };
  /** List the named tokens, their scopes and their files. */
  token_list: { params: TokenListParams; result: TokenListResult };
  /** Change what a named token may do; calls that it let in end. */
  token_set: { params: TokenSetParams; result: TokenResult };
  /** Make a named token worthless at once; calls that it let in end. */
  token_revoke: { params: TokenRevokeParams; result: TokenRevokeResult };
  /** Show with which MCP clients the endpoint can be registered, and how that stands. */
  client_list: { params: ClientListParams; result: ClientListResult };
  /** Show what registering with a client would write, and what can be copied instead. */
  client_plan: { params: ClientPlanParams; result: ClientPlanResult };
  /** Register the MCP endpoint with a client, or repair the registration. */
  client_register: { params: ClientRegisterParams; result: ClientWriteResult };
  /** Take a registration back; the client's file is as it was. */
  client_unregister: { params: ClientUnregisterParams; result: ClientWriteResult };
  /** Connect as a client would, and say in words what is wrong. */
  client_verify: { params: ClientVerifyParams; result: ClientReport };
  /** Say what ending the app would end, or end it. */
  quit: { params: QuitParams; result: QuitResult };
  /** Check the machine and the app, and say how to mend what is wrong. */
  doctor: { params: DoctorParams; result: DoctorResult };
  /** Tell whether there is a newer release; asked for only once the settings want it. */
  update_check: { params: UpdateCheckParams; result: UpdateResult };
  /** Everything that the window shows beside terminals and diffs. */
  window_state: { params: WindowStateParams; result: WindowState };
  /** Keep how the window shows the tabs of a task. */
  task_layout: { params: TaskLayoutParams; result: Layout };
  /** Keep how the window is cut up. */
  window_set: { params: WindowSetParams; result: WindowLook };
  /** Put the paths of files into words for a terminal, without typing them. */
  task_drop: { params: TaskDropParams; result: TaskDropResult };
  /** Show in the window what a termic:// link asks for; a link does nothing by itself. */
  window_link: { params: WindowLinkParams; result: WindowLinkResult };
}

export type VerbName = keyof Verbs;
export type Params<V extends VerbName> = Verbs[V]["params"];
export type Result<V extends VerbName> = Verbs[V]["result"];

/** TaskListResult is the result of task_list, sorted by project and name; archived tasks by when they were archived, newest first. */
export interface TaskListResult {
  tasks: TaskSummary[];
  /** of archived ones: how many fit, whatever before and limit say */
  total?: number;
}

/** TaskStatusResult is the result of task_status. */
export interface TaskStatusResult {
  task: TaskDetail;
}

/** TaskNewResult is the result of task_new: the task was accepted; task_status and task_wait tell how it goes on. */
export interface TaskNewResult {
  task: TaskSummary;
  job?: string;
  prompt_id?: string;
  wait?: WaitOutcome;
}

/** TaskSendResult is the result of task_send. */
export interface TaskSendResult {
  task_id: string;
  tab_id: string;
  mode: string;
  prompt_id: string;
  /** false: this agent gives no sign of settling */
  capable: boolean;
  /** State is what the agent did when the prompt was queued behind it: working, or needs_input, which a person answers in its terminal before the prompt follows. Detail is what it asks; untrusted text. */
  state?: string;
  detail?: string;
  job?: string;
  wait?: WaitOutcome;
}

/** TaskWaitResult is the result of task_wait. */
export interface TaskWaitResult extends WaitOutcome {
  task_id: string;
}

/** TaskResultResult is the result of task_result. Text is the agent's own last message: untrusted. */
export interface TaskResultResult {
  task_id: string;
  agent: string;
  transcript: string;
  text: string;
  truncated: boolean;
}

/** TaskLogResult is the result of task_log. Data is what the program printed: untrusted. */
export interface TaskLogResult {
  task_id: string;
  tab_id: string;
  /** agent, shell, terminal */
  source: string;
  data: string;
  /** older output was dropped */
  truncated: boolean;
  /** bytes ever printed */
  total: number;
}

/** TaskDiffResult is the result of task_diff: everything that the task has and its base has not. */
export interface TaskDiffResult extends DiffStat {
  task_id: string;
  base: string;
  files: FileChange[];
  commits: Commit[];
  diff?: string;
  /** diff was cut at diff_bytes */
  truncated?: boolean;
  diff_bytes?: number;
  /** Back are files that were changed since the last commit, and are just as in the base by that: a change that was committed is taken back. They do not count among files. */
  back?: FileChange[];
  /** InProgress is what the worktree is in the middle of: merge, rebase, ...; empty: nothing. */
  in_progress?: string;
}

/** TaskOpenResult is the result of task_open. */
export interface TaskOpenResult {
  task_id?: string;
  /** false: the app runs without a window */
  raised: boolean;
}

/** TaskRenameResult is the result of task_rename. */
export interface TaskRenameResult {
  task: TaskSummary;
  old_name: string;
  job?: string;
}

/** TaskApplyResult is the result of task_apply. */
export interface TaskApplyResult {
  task_id: string;
  tracked_files: number;
  untracked_files: number;
  conflicts?: string[];
  job?: string;
}

/** TaskArchiveResult is the result of task_archive. */
export interface TaskArchiveResult {
  task_id: string;
  name: string;
  project: string;
  killed_agents: number;
  backup_ref?: string;
  job?: string;
}

/** TaskTabResult is the result of task_tab. */
export interface TaskTabResult {
  task_id: string;
  tab_id: string;
  agent?: string;
  title: string;
  prompt?: TaskSendResult;
  warnings?: string[];
  job?: string;
}

/** TaskTabCloseResult is the result of task_tab_close. */
export interface TaskTabCloseResult {
  task_id: string;
  tab_id: string;
  title: string;
  tab_kind: string;
  was_default: boolean;
  killed_pty: boolean;
  job?: string;
}

/** TaskAgentsResult is the result of task_agents. */
export interface TaskAgentsResult {
  agents: ListedAgent[];
}

/** PromptsResult is the result of prompts. */
export interface PromptsResult {
  prompts: Prompt[];
}

/** ProjectListResult is the result of project_list. */
export interface ProjectListResult {
  projects: Project[];
}

/** ProjectAddResult is the result of project_add; adding a project again answers with the one there is. */
export interface ProjectAddResult {
  project: Project;
  existed: boolean;
  job?: string;
}

/** ProjectRemoveResult is the result of project_remove. The repository itself is left alone. */
export interface ProjectRemoveResult {
  name: string;
  removed_tasks: number;
  backup_refs?: string[];
  job?: string;
}

/** HealthResult is the result of health: how the app is, as far as the caller may know. It names no folder and no task. */
export interface HealthResult {
  /** there is no problem */
  ok: boolean;
  version: string;
  /** RFC 3339, UTC */
  started: string;
  /** that are not archived */
  tasks: TaskCounts;
  /** a prompt that waits is a running job */
  jobs_running: number;
  /** sentences */
  problems: string[];
}

/** JobListResult is the result of job_list. */
export interface JobListResult {
  /** newest first */
  jobs: Job[];
}

/** JobResult is the result of job_get, job_wait and job_cancel. */
export interface JobResult {
  job: Job;
}

/** JobEventsResult is the result of job_events. */
export interface JobEventsResult {
  /** empty in a list over all jobs */
  job?: string;
  /** oldest first; over all jobs the newest 100 */
  events: JobEvent[];
}

/** JobLogResult is the result of job_log. */
export interface JobLogResult {
  job: string;
  /** oldest first, at most 1000 */
  lines: JobLine[];
}

/** ApprovalListResult is the result of approval_list. */
export interface ApprovalListResult {
  /** newest first */
  approvals: Approval[];
}

/** ApprovalResult is the result of approval_get. */
export interface ApprovalResult {
  approval: Approval;
}

/** ApprovalDecideResult is the result of approval_decide. */
export interface ApprovalDecideResult {
  approval: Approval;
  /** ok, or the error code of what was carried out; denied */
  outcome: string;
  /** why it failed */
  message?: string;
  /** what carrying it out gave */
  result?: unknown;
}

/** ApplyPlan is what applying a task would do now. It holds no content. */
export interface ApplyPlan {
  task_id: string;
  task: string;
  project: string;
  /** by path, at most 500 */
  files: PlannedFile[];
  /** of all files */
  total: number;
  /** how many of them are added, copies included */
  added: number;
  /** changed */
  modified: number;
  /** taken away */
  deleted: number;
  /** of the patch, as task_apply tells it */
  tracked_files: number;
  /** copied */
  untracked_files: number;
  /** files that would have conflict marks, at most 500 */
  conflicts: string[];
  warnings?: string[];
  /** why nothing would be written */
  refused?: PlanRefusal;
}

/** TaskDriftResult is the result of task_drift. It holds no content. */
export interface TaskDriftResult {
  task_id: string;
  task: string;
  project: string;
  /** what the task started from */
  base_ref: string;
  /** where that was */
  base_commit: string;
  /** where it is */
  base_now: string;
  moved: boolean;
  /** it does not come after what it was */
  rewritten?: boolean;
  /** commits of the task that the base has not */
  ahead: number;
  /** commits of the base that the task has not */
  behind: number;
  /** that the base changed meanwhile, at most 500 */
  base_files: string[];
  base_total: number;
  /** that the task changed, at most 500 */
  task_files: string[];
  task_total: number;
  /** of them, what does not merge, at most 500 */
  conflicts: string[];
  /** ConflictsKnown is false where the machine's git is too old to tell. */
  conflicts_known: boolean;
}

/** CheckListResult is the result of check_list: what is down first, then by name. */
export interface CheckListResult {
  checks: Check[];
  /** that fit, with those beyond the limit */
  total: number;
  /** among all */
  down: number;
}

/** CheckResult is the result of verbs that show one check. */
export interface CheckResult {
  check: Check;
}

/** CheckDeleteResult is the result of check_delete. */
export interface CheckDeleteResult {
  name: string;
}

/** CheckProbeResult is the result of check_probe, in the order of the targets. */
export interface CheckProbeResult {
  results: ProbeResult[];
}

/** NetgroupListResult is the result of netgroup_list. */
export interface NetgroupListResult {
  netgroups: Netgroup[];
}

/** NetgroupResult is the result of netgroup_add and netgroup_update. */
export interface NetgroupResult {
  netgroup: Netgroup;
  /** Kept says in words what keeps the addresses from before the change. */
  kept?: string;
}

/** NetgroupDeleteResult is the result of netgroup_delete. */
export interface NetgroupDeleteResult {
  name: string;
}

/** EventListResult is the result of event_list. */
export interface EventListResult {
  /** newest first */
  events: Happening[];
}

/** EventExplainResult is the result of event_explain. */
export interface EventExplainResult {
  event: Happening;
  /** those that matched first */
  rules: Explained[];
}

/** TriggerListResult is the result of trigger_list. */
export interface TriggerListResult {
  /** by name */
  triggers: Trigger[];
  /** how many there are */
  total: number;
}

/** TriggerResult is the result of trigger_add and trigger_update. */
export interface TriggerResult {
  trigger: Trigger;
}

/** TriggerDeleteResult is the result of trigger_delete. */
export interface TriggerDeleteResult {
  name: string;
}

/** ScheduleListResult is the result of schedule_list. */
export interface ScheduleListResult {
  /** by name */
  schedules: Schedule[];
  /** how many there are */
  total: number;
}

/** ScheduleResult is the result of schedule_add and schedule_update. */
export interface ScheduleResult {
  schedule: Schedule;
}

/** ScheduleDeleteResult is the result of schedule_delete. */
export interface ScheduleDeleteResult {
  name: string;
}

/** ScheduleRunResult is the result of schedule_run_now. */
export interface ScheduleRunResult {
  name: string;
  firing: Firing;
}

/** HookAddResult is the result of hook_add. */
export interface HookAddResult {
  hook: Hook;
  /** shown this once */
  secret: string;
}

/** HookListResult is the result of hook_list. */
export interface HookListResult {
  /** by name */
  hooks: Hook[];
}

/** HookDeleteResult is the result of hook_delete. */
export interface HookDeleteResult {
  name: string;
}

/** SecretListResult is the result of secret_list, sorted by name. */
export interface SecretListResult {
  secrets: Secret[];
}

/** SecretSetResult is the result of secret_set. */
export interface SecretSetResult {
  secret: Secret;
  /** Why says, where the value is in a file, why it is in no keyring: a sentence without an end. */
  why?: string;
  /** Holders are the terminals that go on with an older value until they are started again. */
  holders: SecretHolder[];
}

/** SecretDeleteResult is the result of secret_delete. */
export interface SecretDeleteResult {
  name: string;
  /** Why says, after force, why the value may be in the keyring still: a sentence without an end. */
  why?: string;
  /** terminals that go on with the value until they end */
  holders: SecretHolder[];
}

/** TaskRestoreResult is the result of task_restore. */
export interface TaskRestoreResult {
  task: TaskSummary;
  job?: string;
}

/** TaskSignalsResult is the result of task_signals: what an agent's program said of itself, and what was made of it. */
export interface TaskSignalsResult {
  task_id: string;
  tab_id: string;
  agent: string;
  state: string;
  /** the kind of evidence for it */
  source: string;
  why?: string;
  /** untrusted text */
  detail?: string;
  since: string;
  /** its settling can be seen */
  capable: boolean;
  /** at rest, but its screen says that work goes on */
  held?: boolean;
  /** its settings say that it can be seen to finish */
  work_done: boolean;
  /** oldest first, at most 64 */
  signals: AgentSignal[];
}

/** TaskRaceResult is the result of task_race: every task was accepted. */
export interface TaskRaceResult {
  /** id that its tasks share */
  race: string;
  /** branch that they start from */
  base: string;
  /** where that was */
  commit: string;
  tasks: TaskSummary[];
  /** one for each */
  jobs?: string[];
  job?: string;
}

/** TaskStopResult is the result of task_stop. */
export interface TaskStopResult {
  task_id: string;
  ended: number;
  job?: string;
}

/** TaskStageResult is the result of task_stage. */
export interface TaskStageResult {
  task_id: string;
  /** untrusted text */
  paths: string[];
  /** for task_discard: a staged version that was nowhere else is kept */
  undo?: string;
  warnings?: string[];
  job?: string;
}

/** TaskDiscardResult is the result of task_discard. */
export interface TaskDiscardResult {
  task_id: string;
  /** id of what was discarded now */
  undo?: string;
  /** id of what was put back now */
  undone?: string;
  /** that were discarded or put back; untrusted text */
  paths: string[];
  /** what can be put back, newest first */
  kept: Discarded[];
  warnings?: string[];
  job?: string;
}

/** TaskCommitResult is the result of task_commit. */
export interface TaskCommitResult {
  task_id: string;
  commit: string;
  /** empty: on no branch */
  branch?: string;
  subject: string;
  files: number;
  /** such as hooks that did not run */
  warnings?: string[];
  job?: string;
}

/** TaskEditResult is the result of task_edit. */
export interface TaskEditResult {
  task_id: string;
  /** name of its program */
  editor: string;
  /** that was opened */
  path: string;
  line?: number;
  /** of an editor that lives in a terminal */
  tab_id?: string;
  warnings?: string[];
}

/** TaskTabSetResult is the result of task_tab_set. */
export interface TaskTabSetResult {
  task_id: string;
  tab: TabStatus;
}

/** TaskMoveResult is the result of task_move. */
export interface TaskMoveResult {
  task_id: string;
  name: string;
  /** that it has now */
  position: number;
}

/** TaskQueueResult is the result of task_queue: what is left to be typed, for each tab in this order. */
export interface TaskQueueResult {
  task_id: string;
  prompts: QueuedPrompt[];
}

/** TaskSandboxResult is the result of task_sandbox. */
export interface TaskSandboxResult {
  task_id: string;
  mode: string;
  cage: Cage;
  /** terminals that were ended by the change */
  ended: number;
  /** what was tightened, and by what */
  warnings?: string[];
  /** Restart: an agent runs that was started before the lists were what they are, and keeps what it was given. */
  restart?: boolean;
  /** every list that the cage of the task's agent is composed from */
  layers?: CageLayer[];
  /** names of those that its agents start with */
  secrets?: string[];
}

/** SandboxAllowResult is the result of sandbox_allow. Agents that run keep the cage that they have. */
export interface SandboxAllowResult {
  task_id: string;
  kind: string;
  target: string;
  for: string;
  /** false: it was allowed there already */
  changed: boolean;
  /** an agent of the task runs, and must be started again to have it */
  restart: boolean;
}

/** SandboxGroupsResult is the result of sandbox_groups. */
export interface SandboxGroupsResult {
  groups: HostGroup[];
}

/** ProjectSettingsResult is the result of project_settings. */
export interface ProjectSettingsResult {
  project: Project;
}

/** ProjectRefsResult is the result of project_refs. */
export interface ProjectRefsResult {
  name: string;
  /** that are still changed */
  refs: RefChange[];
  /** that were put back; Backup keeps what nothing else leads to now */
  undone?: RefChange[];
  /** that were left as they are */
  kept?: RefChange[];
  /** why refs cannot be compared now */
  problem?: string;
}

/** ProjectGitResult is the result of project_git. */
export interface ProjectGitResult {
  name: string;
  /** newest commit first */
  branches: Branch[];
  /** there are more branches than these */
  more?: boolean;
  /** the main checkout first */
  worktrees: Worktree[];
}

/** ProjectFindResult is the result of project_find. */
export interface ProjectFindResult {
  /** that was looked in */
  folder: string;
  /** what was used last first */
  repositories: FoundRepository[];
  /** the look was ended early: there may be others */
  more?: boolean;
}

/** ProjectConsentResult is the result of project_consent. */
export interface ProjectConsentResult {
  name: string;
  /** absent without a .termic.yaml */
  repo?: Repo;
  /** the file itself; untrusted */
  text?: string;
}

/** ProjectMoveResult is the result of project_move. */
export interface ProjectMoveResult {
  id: string;
  name: string;
  /** that it has now */
  position: number;
}

/** PathResult is the result of path. */
export interface PathResult {
  task_id: string;
  path: string;
}

/** LedgerResult is the result of ledger. */
export interface LedgerResult {
  rows: LedgerRow[];
  /** that match, whatever before and limit say */
  total: number;
  /** there are more than total: only so many are counted */
  more?: boolean;
  /** "whole", or where it is broken */
  chain: string;
}

/** LedgerExportResult is the result of ledger_export. */
export interface LedgerExportResult {
  file: string;
  rows: number;
  /** of the whole ledger: "whole", or where it is broken */
  chain: string;
}

/** SettingsResult is the result of settings_get and settings_set. */
export interface SettingsResult {
  file: string;
  settings: Record<string, unknown>;
  read_only?: boolean;
  /** why the file was not taken, with its line */
  problem?: string;
  /** keys of the file that are not known, with their lines */
  notes?: string;
  key?: string;
  value?: unknown;
}

/** ThemeListResult is the result of theme_list: the colour themes that the person wrote. */
export interface ThemeListResult {
  /** where their files are */
  folder: string;
  themes: Theme[];
  /** files that were left out, in sentences */
  problems?: string[];
}

/** MCPResult is the result of every verb about the MCP endpoint. URL and TokenFile are empty while it does not serve. */
export interface MCPResult {
  /** as the settings say */
  enabled: boolean;
  url: string;
  /** path; the token itself is in no result */
  token_file: string;
  /** why it does not serve although it is enabled */
  error?: string;
  /** what to do about that */
  hint?: string;
  /** the port that is kept for it, bound or not */
  port?: number;
  /** requests without a right token since it was bound */
  denied?: number;
}

/** TokenResult is the result of token_new and token_set. */
export interface TokenResult {
  token: Token;
  /** of a new token of the browser face, and nowhere else ever again */
  value?: string;
}

/** TokenListResult is the result of token_list. */
export interface TokenListResult {
  /** by name */
  tokens: Token[];
}

/** TokenRevokeResult is the result of token_revoke. */
export interface TokenRevokeResult {
  name: string;
}

/** ClientListResult is the result of client_list. */
export interface ClientListResult {
  clients: ClientState[];
}

/** ClientPlanResult is the result of client_plan. Diff holds text of the person's file. */
export interface ClientPlanResult {
  client: ClientState;
  /** none, add, repair, replace, remove */
  act: string;
  file: string;
  /** the file behind the links of file, if there are any */
  target?: string;
  diff?: string;
  /** the client's own commands, where it writes its file itself */
  runs?: string[][];
  losses?: string[];
  notes?: string[];
  /** of all of this: register and unregister take it */
  digest: string;
}

/** ClientWriteResult is the result of client_register and client_unregister. */
export interface ClientWriteResult {
  client: ClientState;
  act: string;
  file: string;
  /** the copy that was put beside the file */
  backup?: string;
  /** after a registration, if the endpoint serves */
  verify?: ClientReport;
}

/** ClientReport is the result of client_verify: what came of connecting as the client would. */
export interface ClientReport {
  id: string;
  ok: boolean;
  summary: string;
  hint?: string;
  steps: ClientStep[];
  notes?: string[];
  server?: string;
  tools?: number;
}

/** QuitResult is the result of quit. */
export interface QuitResult {
  running: boolean;
  tasks_with_agents: number;
  live_agents: number;
  working_tasks: number;
  quitting: boolean;
}

/** DoctorResult is the result of doctor. */
export interface DoctorResult {
  version: string;
  findings: Finding[];
}

/** UpdateResult is the result of update_check. Nothing of it comes from a feed that was not signed as it should be. */
export interface UpdateResult {
  /** that runs */
  version: string;
  /** off, unset, unasked, current, newer, unknown */
  state: string;
  /** the newest release that is known */
  latest?: string;
  /** https address of a page about it */
  page?: string;
  /** that is asked, or would be */
  address?: string;
  /** when it was asked last; RFC 3339, UTC */
  asked?: string;
  /** when an answer was believed last */
  found?: string;
  /** why the last look found nothing, or why none is made */
  error?: string;
  /** what to do about that */
  hint?: string;
}

/** WindowState is everything that the window shows beside terminals and diffs; the window asks again when Rev moved. */
export interface WindowState {
  rev: number;
  version: string;
  projects: Project[];
  /** of each project in the order of the sidebar, from the top */
  tasks: TaskDetail[];
  agents: ListedAgent[];
  /** sentences that the person should see, such as a settings file that does not parse */
  notices?: string[];
  /** task that task_open asked to show, once */
  focus?: string;
  /** what a link asks for, once */
  link?: LinkOffer;
  tasks_dir: string;
  /** the person's home folder: the window writes a ~ for it, as shells do */
  home: string;
  /** absent in an app without an endpoint */
  mcp?: MCPResult;
  /** how many wait to be decided */
  approvals?: number;
  /** how many checks are down, of those that are switched on and not snoozed */
  down?: number;
  updates: UpdateResult;
  /** what this machine can enforce, from open to tight */
  cages: CageOffer[];
  /** registrations that no longer fit */
  stale_clients?: StaleClient[];
  /** of the tasks that have one */
  layouts: Layout[];
  look: WindowLook;
  /** for each task, the tab that would be opened again */
  closed: ClosedTab[];
}

/** Layout is how the window shows the tabs of a task. A tab that no pane shows is in the strip alone. */
export interface Layout {
  task_id: string;
  /** absent: one pane, which shows the tab of Focus */
  root?: Pane;
  /** id of the tab whose pane had the keys last */
  focus?: string;
  /** id of the tab that is the person's terminal below all panes */
  bottom?: string;
  /** that one is shown */
  open?: boolean;
  /** of it, in pixels; absent: as the window chooses */
  height?: number;
}

/** WindowLook is how the window is cut up. */
export interface WindowLook {
  /** width in pixels; 0: as the window chooses */
  sidebar: number;
  panel: number;
  /** what is folded in the sidebar: ids of projects and tasks, and group: with the name of a group */
  folded: string[];
  /** of the window itself, as it was kept last */
  shape?: WindowShape;
}

/** TaskDropResult is the result of task_drop. Nothing was typed. */
export interface TaskDropResult {
  task_id: string;
  tab_id: string;
  /** to be typed: the paths, quoted for a shell, each with a blank behind it */
  text: string;
  /** those that the cage of the tab's program does not let it read */
  unreadable: string[];
}

/** WindowLinkResult is the result of window_link. */
export interface WindowLinkResult {
  /** open: a task is shown; new: the dialog for a new task is filled in */
  kind: string;
  /** of open */
  task_id?: string;
}

/** Event is one line that a streaming verb tells before its result. Readers skip kinds that they do not know. */
export interface Event {
  /** created, setup, prompt_queued, prompt_delivered, state, heartbeat */
  event: string;
  line?: string;
  state?: string;
  task?: TaskSummary;
  prompt_id?: string;
}

/** AttachResult says which terminal was attached, and at the end why it ended. */
export interface AttachResult {
  task_id: string;
  tab_id: string;
  /** detached, exited, archived, closed, lagged */
  reason?: string;
  exit?: Exit;
}

/** TaskSummary is one row of task_list. */
export interface TaskSummary {
  id: string;
  name: string;
  project: string;
  agent: string;
  branch: string;
  base_branch: string;
  path: string;
  is_main_checkout: boolean;
  /** RFC 3339, UTC */
  created: string;
  state: string;
  error?: string;
  parent_id?: string;
  /** id that the tasks of one race share */
  race?: string;
  sandbox: string;
  work_state?: string;
  /** what it waits for; untrusted text of the agent */
  detail?: string;
  open_tabs?: number;
  queued?: number;
  diff?: DiffStat;
  /** why diff is absent */
  diff_error?: string;
  /** RFC 3339, UTC */
  archived?: string;
}

/** TaskDetail is a task with its tabs. */
export interface TaskDetail extends TaskSummary {
  dirty_files?: number;
  tabs: TabStatus[];
  port: number;
  /** lines of its creation */
  log?: string[];
  /** of its creation */
  warnings?: string[];
  /** its agents are started so that they never ask */
  yolo?: boolean;
  cage?: Cage;
  /** names of those that its agents start with */
  secrets?: string[];
  /** what its cages refused, or would refuse; newest first */
  denials?: Denial[];
  /** refs beside its own that changed while its caged agents ran */
  refs?: RefChange[];
}

/** WaitOutcome is how a wait ended. */
export interface WaitOutcome {
  outcome: string;
  state?: string;
  /** untrusted text */
  detail?: string;
}

/** DiffStat counts the changes of a task against its base: commits, staged, unstaged and untracked files. */
export interface DiffStat {
  files_changed: number;
  insertions: number;
  deletions: number;
  untracked: number;
}

/** FileChange is one changed file. */
export interface FileChange {
  path: string;
  old_path?: string;
  /** added, modified, deleted, renamed, copied, typechange, untracked, unmerged */
  status: string;
  insertions: number;
  deletions: number;
  binary?: boolean;
  staged?: boolean;
  unstaged?: boolean;
  /** Seen stands for the uncommitted content of the file as it is shown here. task_stage and task_discard take it back, and leave a file alone that is not like that any more. Empty where nothing is uncommitted. */
  seen?: string;
  /** Also is another path that belongs to this change and is to be named along with it: of a rename, the old one. */
  also?: string;
}

/** Commit is one commit of a task's branch that its base lacks. */
export interface Commit {
  id: string;
  subject: string;
  /** RFC 3339 */
  time: string;
}

/** ListedAgent is one agent of the registry. */
export interface ListedAgent {
  id: string;
  name: string;
  /** builtin, custom */
  kind: string;
  enabled: boolean;
  /** absent: not known yet */
  installed?: boolean;
  usable: boolean;
  path?: string;
  /** why it is not usable */
  reason?: string;
  can_resume: boolean;
  /** when arguments of its start connect it to the MCP endpoint: caged, always, never; absent of an agent without such arguments */
  connect?: string;
}

/** Prompt is one entry of the prompt library. */
export interface Prompt {
  id: string;
  title: string;
  builtin: boolean;
  enabled: boolean;
  body?: string;
}

/** Project is a repository or folder that the person added. */
export interface Project {
  id: string;
  name: string;
  root_path: string;
  base_branch?: string;
  remote?: string;
  non_git?: boolean;
  bare?: boolean;
  default_agent?: string;
  /** names of those that tasks of the owner get, where no others are named */
  secrets?: string[];
  /** heading of the sidebar under which it stands */
  group?: string;
  tasks: number;
  /** its folder is gone */
  missing?: boolean;
  /** cage of its new tasks; absent: that of the settings */
  sandbox?: string;
  /** absent while nothing is set */
  cage?: Cage;
  /** absent without a .termic.yaml in its folder */
  repo?: Repo;
}

/** TaskCounts counts tasks by what they are, and agents by what they do. */
export interface TaskCounts {
  live: number;
  creating: number;
  failed: number;
  /** their folder is gone */
  missing: number;
  /** tasks in which an agent works */
  working: number;
  /** tasks in which one waits for a person */
  needs_input: number;
  /** prompts that wait */
  queued: number;
}

/** Job is one writing call. It says who asked for what, and how that went; it holds no argument. */
export interface Job {
  id: string;
  verb: string;
  /** who asked */
  principal: string;
  /** through which face */
  face: string;
  task_id?: string;
  project_id?: string;
  state: string;
  /** id of the approval that it waits or waited for */
  approval?: string;
  /** ok or an error code; empty while it runs */
  outcome?: string;
  /** why it failed */
  message?: string;
  /** RFC 3339, UTC */
  started: string;
  ended?: string;
  /** what the call gave, where that was kept; not in lists */
  result?: unknown;
}

/** JobEvent is a step in the life of a job. */
export interface JobEvent {
  seq: number;
  /** RFC 3339, UTC */
  time: string;
  /** asked, waiting, approved, queued, delivering, ended */
  kind: string;
  text?: string;
  /** in a list over all jobs */
  job?: string;
}

/** JobLine is a line that a job printed; untrusted text. */
export interface JobLine {
  seq: number;
  /** RFC 3339, UTC */
  time: string;
  line: string;
}

/** Approval is a call that waits until somebody else allows it. Nothing of it was done as long as its state is not approved. */
export interface Approval {
  id: string;
  /** which waits for it, and says how it went */
  job: string;
  state: string;
  verb: string;
  /** who asked */
  principal: string;
  /** through which face */
  face: string;
  task_id?: string;
  /** its name when it was asked */
  task?: string;
  project_id: string;
  /** its name when it was asked */
  project: string;
  /** what approving does, in a sentence */
  summary: string;
  /** RFC 3339, UTC */
  created: string;
  /** at the latest */
  expires: string;
  decided_by?: string;
  /** the face */
  decided_on?: string;
  decided?: string;
  reason?: string;
  /** Digest stands for the state and the arguments that the approval is bound to. */
  digest: string;
  /** as they were given; not in lists */
  arguments?: unknown;
  /** what was found when it was asked; not in lists */
  plan?: ApprovalPlan;
}

/** PlannedFile is a path that would be written or go. */
export interface PlannedFile {
  path: string;
  /** add, modify, delete, copy */
  action: string;
}

/** PlanRefusal says why applying would be refused. */
export interface PlanRefusal {
  code: string;
  message: string;
  hint?: string;
}

/** Check is something that is looked at again and again. */
export interface Check {
  name: string;
  kind: string;
  state: string;
  /** of the state */
  since?: string;
  enabled: boolean;
  snoozed_until?: string;
  targets: CheckTarget[];
  every_ms: number;
  timeout_ms: number;
  retries?: number;
  expect?: string;
  min_days?: number;
  expect_addr?: string;
  op?: string;
  value?: string;
  created_by: string;
  created: string;
}

/** ProbeResult is what one look found. */
export interface ProbeResult {
  target: string;
  up: boolean;
  duration_ms: number;
  netgroup: string;
  /** untrusted */
  detail: string;
}

/** Netgroup is a set of addresses with a name. */
export interface Netgroup {
  name: string;
  members: string[];
  note?: string;
  /** UsedBy are the lists of hosts that name it, in words. */
  used_by?: string[];
  updated: string;
}

/** Happening is an event: something that happened, to which triggers may react. Its subject and its facts may be written by whoever brought it about: untrusted text. */
export interface Happening {
  id: string;
  seq: number;
  /** RFC 3339, UTC */
  time: string;
  kind: string;
  /** the name of what it happened to */
  subject: string;
  task_id?: string;
  project_id?: string;
  /** ids of the caged tasks that may have brought it about */
  cages?: string[];
  /** an object; long texts are cut in lists */
  facts: unknown;
  /** event_explain has them whole */
  facts_cut?: boolean;
  /** how many firings led here, one by way of the other */
  depth?: number;
  /** firings that did something, or are about to */
  acted: number;
  /** firings of which nothing came */
  unacted: number;
}

/** Explained is what one rule made of an event. */
export interface Explained {
  /** its name */
  rule: string;
  rule_id: string;
  matched: boolean;
  /** it did not match */
  why?: string;
  /** where it matched */
  firing?: Firing;
}

/** Trigger is a rule that follows events. */
export interface Trigger extends RuleView {
  kind: string;
  subject?: string;
  project_id?: string;
  /** name=value, by name */
  facts: string[];
}

/** Schedule is a rule that acts at its times. */
export interface Schedule extends RuleView {
  cron?: string;
  every?: string;
  zone?: string;
  jitter?: string;
  missed: string;
  overlap: boolean;
  /** the next runs, RFC 3339 in the zone of the schedule; none while it is off */
  next: string[];
}

/** Firing is one time that a rule acted, or was about to. */
export interface Firing {
  /** RFC 3339, UTC */
  time: string;
  /** waiting, acting, done, refused, failed, held, skipped, missed or unknown */
  outcome: string;
  detail?: string;
  /** id of the event that it followed */
  event?: string;
  verb: string;
  /** that it made or sent to */
  task_id?: string;
  job?: string;
}

/** Hook is a name under which the browser face takes signed requests. */
export interface Hook {
  name: string;
  /** empty while the browser face does not serve */
  url?: string;
  /** that holds its secret, readable by the user alone */
  file: string;
  /** RFC 3339, UTC */
  created: string;
}

/** Secret is what is told of a secret: never its value. */
export interface Secret {
  name: string;
  note?: string;
  /** "keyring" of the platform, or "file": in the data folder, of the owner's alone */
  kept_in: string;
  /** RFC 3339, UTC */
  created: string;
  /** when its value was set last */
  updated: string;
  used?: string;
  /** ids of the tasks that name it, archived ones apart, as far as the caller may know of them */
  tasks: string[];
  /** ids of the projects whose new tasks name it, in the same manner */
  projects: string[];
}

/** SecretHolder is a terminal that runs with a value that was replaced or deleted. */
export interface SecretHolder {
  task_id: string;
  /** its name */
  task: string;
  tab_id: string;
  /** its title */
  tab: string;
}

/** AgentSignal is one thing that an agent's program said, or that was decided from it. */
export interface AgentSignal {
  time: string;
  /** title, status report, progress, notification, shell mark, bell; state for what was decided */
  kind: string;
  /** untrusted text */
  text: string;
  times: number;
}

/** Discarded is something that was discarded and can be put back. */
export interface Discarded {
  id: string;
  /** RFC 3339, UTC */
  time: string;
  /** at most 20; untrusted text */
  paths: string[];
  files: number;
  /** Unstaged is set for a staged version that task_stage took out of the index; the file itself was left alone. */
  unstaged?: boolean;
}

/** TabStatus is a tab of a task. */
export interface TabStatus {
  id: string;
  /** from 1, as the strip shows it */
  index: number;
  /** agent, shell, terminal, script */
  kind: string;
  agent?: string;
  /** untrusted text */
  title: string;
  state?: string;
  /** untrusted text */
  detail?: string;
  is_default: boolean;
  /** title is the name that the person gave it */
  named?: boolean;
  pinned?: boolean;
  live: boolean;
  queued: number;
  /** how its last program ended */
  exit?: Exit;
  session_id?: string;
  /** of a live program that gets a token: MCPConnected or MCPRestart; empty while the endpoint does not serve */
  mcp?: string;
  /** of a live agent; absent of other programs, which are not caged */
  cage?: CageInForce;
}

/** QueuedPrompt is a prompt that waits for its agent. */
export interface QueuedPrompt {
  id: string;
  tab_id: string;
  /** its beginning, where Truncated */
  text: string;
  bytes: number;
  truncated?: boolean;
  /** it is being typed now, and cannot be taken back */
  typing?: boolean;
  /** how often it is typed once more after that */
  repeats?: number;
  /** id of the task whose caged agent sent it */
  from_task?: string;
  created: string;
}

/** Cage is what beside its mode is set for the cage of a task, or for those of a project's tasks. */
export interface Cage {
  /** the caged agent may drive tasks over MCP */
  mcp: boolean;
  /** names of the projects that it may act on; empty: its own only */
  projects: string[];
  /** agents that it may start; empty: its own only */
  agents: string[];
  read: string[];
  write: string[];
  hosts: string[];
}

/** CageLayer is one of the lists that a cage is composed from. What is granted is their union. */
export interface CageLayer {
  kind: string;
  read?: string[];
  write?: string[];
  hosts?: string[];
}

/** HostGroup is a name that stands for several hosts in a list of a cage. A cage gets what it stands for when it is built. */
export interface HostGroup {
  /** as it is written in a list, with its @ */
  name: string;
  /** one sentence without its full stop */
  doc: string;
  hosts: string[];
  /** sentences: what could not be found out, and why */
  notes?: string[];
}

/** RefChange is a branch, a tag or another ref of the repository that changed while a caged agent ran, which could have done it. Who did it is not known: it may have been the user. */
export interface RefChange {
  /** full name, or refs/stash@{commit} for a stash that is gone; untrusted text */
  ref: string;
  /** commit, or ref: and the name of another ref; empty: it was not there */
  old?: string;
  /** empty: it is gone */
  new?: string;
  /** RFC 3339, UTC */
  noted: string;
  /** ref that keeps what it led to */
  backup?: string;
  /** ids of the tasks whose caged agents ran */
  tasks: string[];
}

/** Branch is a branch that a task can start from. */
export interface Branch {
  /** as base takes it: main, origin/main */
  name: string;
  /** what was fetched of a remote's branch */
  remote?: boolean;
  commit: string;
  /** of its commit */
  time?: string;
}

/** Worktree is a folder in which the repository is checked out. */
export interface Worktree {
  path: string;
  /** empty when it is at a commit */
  branch?: string;
  /** the main checkout */
  main?: boolean;
  /** name of the live task that works in it */
  task?: string;
  /** its folder is not there */
  gone?: boolean;
  locked?: boolean;
}

/** FoundRepository is a git repository on this machine. */
export interface FoundRepository {
  path: string;
  /** RFC 3339, UTC: when git last wrote in it */
  last?: string;
  /** name of the project that it is already */
  project?: string;
}

/** Repo is what the .termic.yaml of a project's folder says. All of it is untrusted text. */
export interface Repo {
  state: string;
  /** of its content; consent is to this */
  digest?: string;
  problem?: string;
  /** at least this tight */
  mode?: string;
  no_mcp?: boolean;
  /** at most these */
  projects?: string[];
  /** at most these */
  agents?: string[];
  /** proposals, as are the following */
  read?: string[];
  write?: string[];
  hosts?: string[];
  scripts?: Script[];
}

/** LedgerRow is one row of the ledger. */
export interface LedgerRow {
  seq: number;
  /** RFC 3339 with nanoseconds, UTC */
  time: string;
  /** asked, done */
  phase: string;
  call: string;
  principal: string;
  face: string;
  verb: string;
  target?: string;
  outcome?: string;
  duration_ms: number;
  shape: string;
}

/** Theme is one colour theme. Every value is a plain colour, #rgb to #rrggbbaa. */
export interface Theme {
  /** as appearance.theme takes it */
  id: string;
  name: string;
  /** dark or light: whose colours hold for what is left out */
  scheme: string;
  ui: Record<string, string>;
  terminal: Record<string, string>;
  /** values that were dropped, in sentences */
  problems?: string[];
}

/** Token is a named token. The value of one for the MCP endpoint is in File alone, and a new one each time that the endpoint is bound; that of one for the browser face is with whoever made it. */
export interface Token {
  name: string;
  /** mcp or web */
  face: string;
  /** readonly, operator or approve */
  scope: string;
  /** it reaches every project */
  all_projects: boolean;
  /** names of those that it reaches otherwise */
  projects: string[];
  /** RFC 3339, UTC */
  created: string;
  /** of the face; empty while it does not serve */
  url: string;
  /** that holds the value; empty while the endpoint does not serve */
  file: string;
}

/** ClientState is how the registration with one client stands. Its texts are for people. */
export interface ClientState {
  id: string;
  name: string;
  installed: boolean;
  /** as it says; empty if it was not asked */
  version?: string;
  /** this version can reach the endpoint, as far as is known */
  usable: boolean;
  /** if it is not usable */
  why?: string;
  /** some version is known to reach the endpoint: it can be registered */
  offered: boolean;
  file: string;
  registered: boolean;
  /** the entry is not of Termic's making */
  foreign?: boolean;
  /** it would reach the endpoint by what is written */
  ok: boolean;
  /** keys that somebody changed in the entry */
  edits?: string[];
  /** what no longer fits */
  stale?: string[];
  /** entries of the same name that win in some place */
  shadows?: ClientShadow[];
  /** why its file cannot be read or edited */
  problem?: string;
  /** what to do about that */
  fix?: string;
  notes?: string[];
  /** what can be put in place by hand; absent where nothing would work, or without an address */
  block?: ClientBlock;
}

/** ClientStep is one thing that was tried. */
export interface ClientStep {
  /** entry, command, connect, discover, list */
  name: string;
  ok: boolean;
  words: string;
}

/** Finding is one line of doctor. */
export interface Finding {
  name: string;
  /** ok, note, warn, fail */
  level: string;
  detail: string;
  fix?: string;
}

/** LinkOffer is what a link asks the window to fill in, or why it was refused. All of it is untrusted text. */
export interface LinkOffer {
  /** id */
  project?: string;
  name?: string;
  prompt?: string;
  /** id of one that is here */
  agent?: string;
  /** agent that the link asks for and that is not here */
  missing?: string;
  branch?: string;
  base?: string;
  /** why there is nothing to fill in, in a sentence without its full stop */
  refused?: string;
  /** what to do about that */
  hint?: string;
}

/** CageOffer says whether this machine can cage a task in one mode. */
export interface CageOffer {
  mode: string;
  can: boolean;
  /** why it cannot, in one sentence */
  reason?: string;
  /** what to do about it */
  fix?: string;
}

/** StaleClient is a registration that no longer fits, as the window offers to mend it. */
export interface StaleClient {
  id: string;
  name: string;
  stale: string[];
}

/** ClosedTab is a tab that can be opened again. */
export interface ClosedTab {
  task_id: string;
  /** untrusted text */
  title: string;
  closed: string;
}

/** Pane shows a tab, or is two panes beside or above each other. */
export interface Pane {
  /** id; of a pane that is not split */
  tab?: string;
  /** right, below */
  split?: string;
  /** of the first, from 0.1 to 0.9 */
  share?: number;
  first?: Pane;
  second?: Pane;
}

/** WindowShape is where the window was and how big, in the units of the desktop. Its zero value is that of a window that was never shown. */
export interface WindowShape {
  width: number;
  height: number;
  x: number;
  y: number;
  /** X and Y are known */
  placed: boolean;
  maximised: boolean;
}

/** Exit says how a program ended. */
export interface Exit {
  code: number;
  signal?: string;
}

/** Denial is something that a cage refused; the same thing again only counts. */
export interface Denial {
  kind: string;
  /** host with port, or path; untrusted text */
  target: string;
  tab_id?: string;
  count: number;
  /** RFC 3339, UTC */
  last: string;
  /** one sentence */
  reason?: string;
  /** only recorded: an enforcing cage would have refused it */
  would_deny?: boolean;
}

/** ApprovalPlan is what carrying out a call would do. */
export interface ApprovalPlan {
  summary: string;
  /** of task_apply */
  apply?: ApplyPlan;
  /** whose worktrees would go */
  tasks?: PlannedTask[];
  /** agents that would be ended, among others */
  ends?: PlannedEnd[];
  /** branches */
  deletes?: string[];
}

/** CheckTarget is how one target of a check stands. */
export interface CheckTarget {
  target: string;
  state: string;
  /** of the state */
  since?: string;
  /** the newest look */
  ran?: string;
  /** of the newest look */
  duration_ms: number;
  netgroup?: string;
  /** untrusted */
  detail?: string;
}

/** RuleView is what triggers and schedules have in common. */
export interface RuleView {
  id: string;
  name: string;
  do: string;
  task?: string;
  into?: string;
  task_name?: string;
  agent?: string;
  base?: string;
  sandbox?: string;
  prompt?: string;
  with_facts?: boolean;
  /** as whom it acts */
  creator: string;
  enabled: boolean;
  /** why Termic stopped it */
  stopped?: string;
  /** its newest firing */
  last?: Firing;
  /** RFC 3339, UTC */
  created: string;
  updated: string;
}

/** CageInForce is what really holds around the program of a tab: what was provisioned when it was started, whatever is stored by now. In the modes off and monitor there are no walls. */
export interface CageInForce {
  mode: string;
  /** RFC 3339, UTC */
  since: string;
  /** what holds, from the outermost: "mounts", "network namespace", "landlock 7", "seccomp" */
  walls?: string[];
  /** on processes, memory and open files */
  limits?: string[];
  /** sentences: what does not hold here, and what the owner should know */
  notes?: string[];
  /** its programs run as root, without capabilities */
  as_root?: boolean;
  /** what is stored differs: the program must be started again to have it */
  restart?: boolean;
}

/** Script is a command that a repository proposes. */
export interface Script {
  /** setup, run, archive */
  name: string;
  command: string;
}

/** ClientShadow is an entry of the same name that wins over ours in some place. */
export interface ClientShadow {
  scope: string;
  file: string;
  where: string;
  words: string;
}

/** ClientBlock is what a person can copy. */
export interface ClientBlock {
  where: string;
  /** sh, toml, json */
  language: string;
  text: string;
}

/** PlannedTask is a task whose worktree would be removed. */
export interface PlannedTask {
  task_id: string;
  name: string;
  branch?: string;
  /** what exists nowhere else */
  losses?: Loss[];
  /** that would be ended */
  agents: number;
  /** terminals beside them */
  others?: number;
}

/** PlannedEnd is a tab whose program would be ended. */
export interface PlannedEnd {
  tab_id: string;
  title: string;
  agent?: string;
  running: boolean;
  working?: boolean;
  /** prompts that would never be typed */
  queued?: number;
}

/** Loss is something that archiving a task would destroy and that exists nowhere else. */
export interface Loss {
  /** dirty, staged, untracked, ignored, unpushed, stash, rebase, locked, submodule, repository */
  kind: string;
  count: number;
  /** the first few */
  items?: string[];
}

