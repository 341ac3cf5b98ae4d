package api

// TaskSignalsResult is the result of task_signals: what an agent's program said of itself, and what was made of it.
type TaskSignalsResult struct {
	TaskID   string        `json:"task_id"`
	TabID    string        `json:"tab_id"`
	Agent    string        `json:"agent"`
	State    string        `json:"state"`
	Source   string        `json:"source"` // the kind of evidence for it
	Why      string        `json:"why,omitempty"`
	Detail   string        `json:"detail,omitempty"` // untrusted text
	Since    string        `json:"since"`
	Capable  bool          `json:"capable"`        // its settling can be seen
	Held     bool          `json:"held,omitempty"` // at rest, but its screen says that work goes on
	WorkDone bool          `json:"work_done"`      // its settings say that it can be seen to finish
	Signals  []AgentSignal `json:"signals"`        // oldest first, at most 64
}

// AgentSignal is one thing that an agent's program said, or that was decided from it.
type AgentSignal struct {
	Time  string `json:"time"`
	Kind  string `json:"kind"` // title, status report, progress, notification, shell mark, bell; state for what was decided
	Text  string `json:"text"` // untrusted text
	Times int    `json:"times"`
}

// ThemeListResult is the result of theme_list: the colour themes that the person wrote.
type ThemeListResult struct {
	Folder   string   `json:"folder"` // where their files are
	Themes   []Theme  `json:"themes"`
	Problems []string `json:"problems,omitempty"` // files that were left out, in sentences
}

// Theme is one colour theme. Every value is a plain colour, #rgb to #rrggbbaa.
type Theme struct {
	ID       string            `json:"id"` // as appearance.theme takes it
	Name     string            `json:"name"`
	Scheme   string            `json:"scheme"` // dark or light: whose colours hold for what is left out
	UI       map[string]string `json:"ui"`
	Terminal map[string]string `json:"terminal"`
	Problems []string          `json:"problems,omitempty"` // values that were dropped, in sentences
}
