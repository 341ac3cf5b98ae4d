package api

// States of a job.
const (
	JobWaiting     = "waiting" // for an approval; nothing was done yet
	JobRunning     = "running"
	JobDone        = "done"
	JobFailed      = "failed"
	JobCancelled   = "cancelled"
	JobInterrupted = "interrupted" // the app ended while it ran; it is never run again by itself
)

// JobParams name one job: those of job_get and job_cancel.
type JobParams struct {
	Job string `json:"job" cli:"arg" doc:"id of the job" tool:"-"`
}

// JobEventsParams are the parameters of job_events.
type JobEventsParams struct {
	Job   string `json:"job,omitempty" cli:"arg" doc:"id of the job; the newest events of all jobs when left out" tool:"all jobs when left out"`
	After int64  `json:"after,omitempty" cli:"after" doc:"only events with a greater seq"`
}

// JobLogParams are the parameters of job_log.
type JobLogParams struct {
	Job   string `json:"job" cli:"arg" doc:"id of the job" tool:"-"`
	After int64  `json:"after,omitempty" cli:"after" doc:"only lines with a greater seq"`
}

// JobWaitParams are the parameters of job_wait.
type JobWaitParams struct {
	Job       string `json:"job" cli:"arg" doc:"id of the job" tool:"-"`
	TimeoutMs int64  `json:"timeoutMs,omitempty" cli:"timeout" unit:"ms" doc:"longest wait" tool:"-"`
}

// JobListParams are the parameters of job_list.
type JobListParams struct {
	State  string `json:"state,omitempty" cli:"state" enum:"waiting|running|done|failed|cancelled|interrupted" doc:"only jobs in this state" tool:"-"`
	Task   string `json:"task,omitempty" cli:"task" doc:"only jobs about this task" tool:"-"`
	Before string `json:"before,omitempty" cli:"before" doc:"only jobs older than the one with this id"`
	Limit  int64  `json:"limit,omitempty" cli:"limit" doc:"at most this many, newest first; 100 when left out, at most 1000" tool:"100 when left out, at most 1000"`
}

// Job is one writing call. It says who asked for what, and how that went; it holds no argument.
type Job struct {
	ID        string `json:"id"`
	Verb      string `json:"verb"`
	Principal string `json:"principal"` // who asked
	Face      string `json:"face"`      // through which face
	TaskID    string `json:"task_id,omitempty"`
	ProjectID string `json:"project_id,omitempty"`
	State     string `json:"state"`
	Approval  string `json:"approval,omitempty"` // id of the approval that it waits or waited for
	Outcome   string `json:"outcome,omitempty"`  // ok or an error code; empty while it runs
	Message   string `json:"message,omitempty"`  // why it failed
	Started   string `json:"started"`            // RFC 3339, UTC
	Ended     string `json:"ended,omitempty"`
	Result    any    `json:"result,omitempty"` // what the call gave, where that was kept; not in lists
}

// JobListResult is the result of job_list.
type JobListResult struct {
	Jobs []Job `json:"jobs"` // newest first
}

// JobResult is the result of job_get, job_wait and job_cancel.
type JobResult struct {
	Job Job `json:"job"`
}

// JobEvent is a step in the life of a job.
type JobEvent struct {
	Seq  int64  `json:"seq"`
	Time string `json:"time"` // RFC 3339, UTC
	Kind string `json:"kind"` // asked, waiting, approved, queued, delivering, ended
	Text string `json:"text,omitempty"`
	Job  string `json:"job,omitempty"` // in a list over all jobs
}

// JobEventsResult is the result of job_events.
type JobEventsResult struct {
	Job    string     `json:"job,omitempty"` // empty in a list over all jobs
	Events []JobEvent `json:"events"`        // oldest first; over all jobs the newest 100
}

// JobLine is a line that a job printed; untrusted text.
type JobLine struct {
	Seq  int64  `json:"seq"`
	Time string `json:"time"` // RFC 3339, UTC
	Line string `json:"line"`
}

// JobLogResult is the result of job_log.
type JobLogResult struct {
	Job   string    `json:"job"`
	Lines []JobLine `json:"lines"` // oldest first, at most 1000
}
