package api

// States of an approval.
const (
	ApprovalPending   = "pending"
	ApprovalApproved  = "approved" // and carried out; how that went is in its job
	ApprovalDenied    = "denied"
	ApprovalExpired   = "expired"
	ApprovalStale     = "stale"     // what it was about, or who asked, changed before it was decided
	ApprovalWithdrawn = "withdrawn" // its job was cancelled
)

// ApprovalParams name one approval.
type ApprovalParams struct {
	Approval string `json:"approval" cli:"arg" doc:"id of the approval" tool:"-"`
}

// ApprovalListParams are the parameters of approval_list.
type ApprovalListParams struct {
	State  string `json:"state,omitempty" cli:"state" enum:"pending|approved|denied|expired|stale|withdrawn|all" doc:"only those in this state; pending when left out" tool:"pending when left out"`
	Before string `json:"before,omitempty" cli:"before" doc:"only those older than the one with this id"`
	Limit  int64  `json:"limit,omitempty" cli:"limit" doc:"at most this many, newest first; 100 when left out, at most 1000" tool:"100 when left out, at most 1000"`
}

// ApprovalDecideParams are the parameters of approval_decide.
type ApprovalDecideParams struct {
	Approval string `json:"approval" cli:"arg" doc:"id of the approval" tool:"-"`
	Decision string `json:"decision" cli:"arg" enum:"approve|deny" doc:"approve: do it now; deny: never do it" tool:"-"`
	Reason   string `json:"reason,omitempty" cli:"reason" doc:"why, for whoever asked"`
}

// Approval is a call that waits until somebody else allows it. Nothing of it was done as long as its state is not approved.
type Approval struct {
	ID        string `json:"id"`
	Job       string `json:"job"` // which waits for it, and says how it went
	State     string `json:"state"`
	Verb      string `json:"verb"`
	Principal string `json:"principal"` // who asked
	Face      string `json:"face"`      // through which face
	TaskID    string `json:"task_id,omitempty"`
	Task      string `json:"task,omitempty"` // its name when it was asked
	ProjectID string `json:"project_id"`
	Project   string `json:"project"` // its name when it was asked
	Summary   string `json:"summary"` // what approving does, in a sentence
	Created   string `json:"created"` // RFC 3339, UTC
	Expires   string `json:"expires"` // at the latest
	DecidedBy string `json:"decided_by,omitempty"`
	DecidedOn string `json:"decided_on,omitempty"` // the face
	Decided   string `json:"decided,omitempty"`
	Reason    string `json:"reason,omitempty"`
	// Digest stands for the state and the arguments that the approval is bound to.
	Digest    string        `json:"digest"`
	Arguments any           `json:"arguments,omitempty"` // as they were given; not in lists
	Plan      *ApprovalPlan `json:"plan,omitempty"`      // what was found when it was asked; not in lists
}

// ApprovalPlan is what carrying out a call would do.
type ApprovalPlan struct {
	Summary string        `json:"summary"`
	Apply   *ApplyPlan    `json:"apply,omitempty"`   // of task_apply
	Tasks   []PlannedTask `json:"tasks,omitempty"`   // whose worktrees would go
	Ends    []PlannedEnd  `json:"ends,omitempty"`    // agents that would be ended, among others
	Deletes []string      `json:"deletes,omitempty"` // branches
}

// PlannedTask is a task whose worktree would be removed.
type PlannedTask struct {
	TaskID string `json:"task_id"`
	Name   string `json:"name"`
	Branch string `json:"branch,omitempty"`
	Losses []Loss `json:"losses,omitempty"` // what exists nowhere else
	Agents int    `json:"agents"`           // that would be ended
	Others int    `json:"others,omitempty"` // terminals beside them
}

// PlannedEnd is a tab whose program would be ended.
type PlannedEnd struct {
	TabID   string `json:"tab_id"`
	Title   string `json:"title"`
	Agent   string `json:"agent,omitempty"`
	Running bool   `json:"running"`
	Working bool   `json:"working,omitempty"`
	Queued  int    `json:"queued,omitempty"` // prompts that would never be typed
}

// ApprovalListResult is the result of approval_list.
type ApprovalListResult struct {
	Approvals []Approval `json:"approvals"` // newest first
}

// ApprovalResult is the result of approval_get.
type ApprovalResult struct {
	Approval Approval `json:"approval"`
}

// ApprovalDecideResult is the result of approval_decide.
type ApprovalDecideResult struct {
	Approval Approval `json:"approval"`
	Outcome  string   `json:"outcome"`           // ok, or the error code of what was carried out; denied
	Message  string   `json:"message,omitempty"` // why it failed
	Result   any      `json:"result,omitempty"`  // what carrying it out gave
}

// RaisedResult is the answer to a call that waits for approval, in place of its own result.
type RaisedResult struct {
	Job      string   `json:"job"`
	Approval Approval `json:"approval"`
}
