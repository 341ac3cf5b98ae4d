package api

// This file holds what comes to the window from outside, and where the window is.

// WindowStateParams are the parameters of window_state.
type WindowStateParams struct {
	Peek bool `json:"peek,omitempty" cli:"-" doc:"only look: what is meant for the page stays for it"`
}

// WindowState is everything that the window shows beside terminals and diffs; the window asks again when Rev moved.
type WindowState struct {
	Rev       uint64        `json:"rev"`
	Version   string        `json:"version"`
	Projects  []Project     `json:"projects"`
	Tasks     []TaskDetail  `json:"tasks"` // of each project in the order of the sidebar, from the top
	Agents    []ListedAgent `json:"agents"`
	Notices   []string      `json:"notices,omitempty"` // sentences that the person should see, such as a settings file that does not parse
	Focus     string        `json:"focus,omitempty"`   // task that task_open asked to show, once
	Link      *LinkOffer    `json:"link,omitempty"`    // what a link asks for, once
	TasksDir  string        `json:"tasks_dir"`
	Home      string        `json:"home"`                // the person's home folder: the window writes a ~ for it, as shells do
	MCP       *MCPResult    `json:"mcp,omitempty"`       // absent in an app without an endpoint
	Approvals int           `json:"approvals,omitempty"` // how many wait to be decided
	Down      int           `json:"down,omitempty"`      // how many checks are down, of those that are switched on and not snoozed
	Updates   UpdateResult  `json:"updates"`
	Cages     []CageOffer   `json:"cages"` // what this machine can enforce, from open to tight

	StaleClients []StaleClient `json:"stale_clients,omitempty"` // registrations that no longer fit

	Layouts []Layout    `json:"layouts"` // of the tasks that have one
	Look    WindowLook  `json:"look"`
	Closed  []ClosedTab `json:"closed"` // for each task, the tab that would be opened again
}

// WindowShape is where the window was and how big, in the units of the desktop. Its zero value is that of a window that was
// never shown.
type WindowShape struct {
	Width     int  `json:"width"`
	Height    int  `json:"height"`
	X         int  `json:"x"`
	Y         int  `json:"y"`
	Placed    bool `json:"placed"` // X and Y are known
	Maximised bool `json:"maximised"`
}

// WindowLinkParams are the parameters of window_link.
type WindowLinkParams struct {
	Link string `json:"link" cli:"arg" doc:"link that begins with termic://open or termic://new"`
}

// WindowLinkResult is the result of window_link.
type WindowLinkResult struct {
	Kind   string `json:"kind"`              // open: a task is shown; new: the dialog for a new task is filled in
	TaskID string `json:"task_id,omitempty"` // of open
}

// LinkOffer is what a link asks the window to fill in, or why it was refused. All of it is untrusted text.
type LinkOffer struct {
	Project string `json:"project,omitempty"` // id
	Name    string `json:"name,omitempty"`
	Prompt  string `json:"prompt,omitempty"`
	Agent   string `json:"agent,omitempty"`   // id of one that is here
	Missing string `json:"missing,omitempty"` // agent that the link asks for and that is not here
	Branch  string `json:"branch,omitempty"`
	Base    string `json:"base,omitempty"`
	Refused string `json:"refused,omitempty"` // why there is nothing to fill in, in a sentence without its full stop
	Hint    string `json:"hint,omitempty"`    // what to do about that
}

// TaskDropParams are the parameters of task_drop.
type TaskDropParams struct {
	NamedTarget
	Tab   string   `json:"tab" cli:"-" doc:"tab on which they were dropped: id, index or title"`
	Paths []string `json:"paths" cli:"-" doc:"absolute paths of files"`
}

// TaskDropResult is the result of task_drop. Nothing was typed.
type TaskDropResult struct {
	TaskID     string   `json:"task_id"`
	TabID      string   `json:"tab_id"`
	Text       string   `json:"text"`       // to be typed: the paths, quoted for a shell, each with a blank behind it
	Unreadable []string `json:"unreadable"` // those that the cage of the tab's program does not let it read
}
