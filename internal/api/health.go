package api

// HealthParams are the parameters of health.
type HealthParams struct{}

// HealthResult is the result of health: how the app is, as far as the caller may know. It names no folder and no task.
type HealthResult struct {
	OK       bool       `json:"ok"` // there is no problem
	Version  string     `json:"version"`
	Started  string     `json:"started"`      // RFC 3339, UTC
	Tasks    TaskCounts `json:"tasks"`        // that are not archived
	Jobs     int        `json:"jobs_running"` // a prompt that waits is a running job
	Problems []string   `json:"problems"`     // sentences
}

// TaskCounts counts tasks by what they are, and agents by what they do.
type TaskCounts struct {
	Live       int `json:"live"`
	Creating   int `json:"creating"`
	Failed     int `json:"failed"`
	Missing    int `json:"missing"`     // their folder is gone
	Working    int `json:"working"`     // tasks in which an agent works
	NeedsInput int `json:"needs_input"` // tasks in which one waits for a person
	Queued     int `json:"queued"`      // prompts that wait
}
