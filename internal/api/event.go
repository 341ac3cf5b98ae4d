package api

// Event is one line that a streaming verb tells before its result. Readers skip kinds that they do not know.
type Event struct {
	Event  string       `json:"event"` // created, setup, prompt_queued, prompt_delivered, state, heartbeat
	Line   string       `json:"line,omitempty"`
	State  string       `json:"state,omitempty"`
	Task   *TaskSummary `json:"task,omitempty"`
	Prompt string       `json:"prompt_id,omitempty"`
}

// TaskRef is how a caller names a task.
type TaskRef struct {
	Task    string
	Project string
	Cwd     string
}

// Ref returns the target as it was named.
func (t Target) Ref() TaskRef { return TaskRef(t) }

// Ref returns the target as it was named.
func (t NamedTarget) Ref() TaskRef { return TaskRef{Task: t.Task, Project: t.Project} }

// AttachHandle carries a live terminal from the handler of attach to a presenter in the same process. It is never
// marshalled.
type AttachHandle struct {
	AttachResult
	Handle any `json:"-"`
}
