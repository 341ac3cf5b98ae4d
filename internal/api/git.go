package api

// TaskStageParams are the parameters of task_stage.
type TaskStageParams struct {
	NamedTarget
	Paths   []string `json:"paths,omitempty" cli:"rest" doc:"files or folders in the worktree"`
	All     bool     `json:"all,omitempty" cli:"all,a" not:"paths" doc:"every changed file"`
	Unstage bool     `json:"unstage,omitempty" cli:"unstage" doc:"take them out of what is staged; the files stay as they are"`
	Seen    []string `json:"seen,omitempty" cli:"-" face:"window" doc:"the seen of each path as task_diff gave it; one that changed since is refused"`
}

// TaskDiscardParams are the parameters of task_discard. Without paths and undo, it only lists.
type TaskDiscardParams struct {
	NamedTarget
	Paths  []string `json:"paths,omitempty" cli:"rest" doc:"files or folders in the worktree; none lists what can be undone"`
	Staged bool     `json:"staged,omitempty" cli:"staged" doc:"discard what is staged as well"`
	Undo   string   `json:"undo,omitempty" cli:"undo" not:"paths|staged|seen" doc:"put back what this discard took away: its id, or last"`
	Seen   []string `json:"seen,omitempty" cli:"-" face:"window" doc:"the seen of each path as task_diff gave it; one that changed since is refused"`
	Yes    bool     `json:"-" cli:"yes,y" face:"cli" doc:"do not ask"`
}

// TaskCommitParams are the parameters of task_commit.
type TaskCommitParams struct {
	Target
	Message string `json:"message" cli:"message,m" doc:"message of the commit"`
	All     bool   `json:"all,omitempty" cli:"all,a" doc:"stage every changed file first"`
}

// TaskEditParams are the parameters of task_edit.
type TaskEditParams struct {
	Target
	Path        string `json:"path,omitempty" cli:"arg" doc:"file or folder in the worktree, with :LINE behind it for a line; none opens the worktree"`
	Main        bool   `json:"main,omitempty" cli:"main" doc:"in the project's main checkout instead"`
	AcceptFiles bool   `json:"acceptFiles,omitempty" cli:"accept-files" doc:"consent to files that run by themselves and that a caged agent may have written"`
}

// TaskEditResult is the result of task_edit.
type TaskEditResult struct {
	TaskID   string   `json:"task_id"`
	Editor   string   `json:"editor"` // name of its program
	Path     string   `json:"path"`   // that was opened
	Line     int      `json:"line,omitempty"`
	TabID    string   `json:"tab_id,omitempty"` // of an editor that lives in a terminal
	Warnings []string `json:"warnings,omitempty"`
}

// TaskStageResult is the result of task_stage.
type TaskStageResult struct {
	TaskID   string   `json:"task_id"`
	Paths    []string `json:"paths"`          // untrusted text
	Undo     string   `json:"undo,omitempty"` // for task_discard: a staged version that was nowhere else is kept
	Warnings []string `json:"warnings,omitempty"`
	Job      string   `json:"job,omitempty"`
}

// Discarded is something that was discarded and can be put back.
type Discarded struct {
	ID    string   `json:"id"`
	Time  string   `json:"time"`  // RFC 3339, UTC
	Paths []string `json:"paths"` // at most 20; untrusted text
	Files int      `json:"files"`
	// Unstaged is set for a staged version that task_stage took out of the index; the file itself was left alone.
	Unstaged bool `json:"unstaged,omitempty"`
}

// TaskDiscardResult is the result of task_discard.
type TaskDiscardResult struct {
	TaskID   string      `json:"task_id"`
	Undo     string      `json:"undo,omitempty"`   // id of what was discarded now
	Undone   string      `json:"undone,omitempty"` // id of what was put back now
	Paths    []string    `json:"paths"`            // that were discarded or put back; untrusted text
	Kept     []Discarded `json:"kept"`             // what can be put back, newest first
	Warnings []string    `json:"warnings,omitempty"`
	Job      string      `json:"job,omitempty"`
}

// TaskCommitResult is the result of task_commit.
type TaskCommitResult struct {
	TaskID   string   `json:"task_id"`
	Commit   string   `json:"commit"`
	Branch   string   `json:"branch,omitempty"` // empty: on no branch
	Subject  string   `json:"subject"`
	Files    int      `json:"files"`
	Warnings []string `json:"warnings,omitempty"` // such as hooks that did not run
	Job      string   `json:"job,omitempty"`
}
