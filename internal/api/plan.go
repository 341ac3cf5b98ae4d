package api

// TaskPlanParams are the parameters of task_plan.
type TaskPlanParams struct{ Target }

// TaskDriftParams are the parameters of task_drift.
type TaskDriftParams struct{ Target }

// PlannedFile is a path that would be written or go.
type PlannedFile struct {
	Path   string `json:"path"`
	Action string `json:"action"` // add, modify, delete, copy
}

// PlanRefusal says why applying would be refused.
type PlanRefusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// ApplyPlan is what applying a task would do now. It holds no content.
type ApplyPlan struct {
	TaskID    string        `json:"task_id"`
	Task      string        `json:"task"`
	Project   string        `json:"project"`
	Files     []PlannedFile `json:"files"`           // by path, at most 500
	Total     int           `json:"total"`           // of all files
	Added     int           `json:"added"`           // how many of them are added, copies included
	Modified  int           `json:"modified"`        // changed
	Deleted   int           `json:"deleted"`         // taken away
	Tracked   int           `json:"tracked_files"`   // of the patch, as task_apply tells it
	Untracked int           `json:"untracked_files"` // copied
	Conflicts []string      `json:"conflicts"`       // files that would have conflict marks, at most 500
	Warnings  []string      `json:"warnings,omitempty"`
	Refused   *PlanRefusal  `json:"refused,omitempty"` // why nothing would be written
}

// TaskDriftResult is the result of task_drift. It holds no content.
type TaskDriftResult struct {
	TaskID     string   `json:"task_id"`
	Task       string   `json:"task"`
	Project    string   `json:"project"`
	BaseRef    string   `json:"base_ref"`    // what the task started from
	BaseCommit string   `json:"base_commit"` // where that was
	BaseNow    string   `json:"base_now"`    // where it is
	Moved      bool     `json:"moved"`
	Rewritten  bool     `json:"rewritten,omitempty"` // it does not come after what it was
	Ahead      int      `json:"ahead"`               // commits of the task that the base has not
	Behind     int      `json:"behind"`              // commits of the base that the task has not
	BaseFiles  []string `json:"base_files"`          // that the base changed meanwhile, at most 500
	BaseTotal  int      `json:"base_total"`
	TaskFiles  []string `json:"task_files"` // that the task changed, at most 500
	TaskTotal  int      `json:"task_total"`
	Conflicts  []string `json:"conflicts"` // of them, what does not merge, at most 500
	// ConflictsKnown is false where the machine's git is too old to tell.
	ConflictsKnown bool `json:"conflicts_known"`
}
