package api

// This file holds how the window shows what there is: nothing in it changes what a program does.

// Sides on which a pane is split.
const (
	SplitRight = "right" // the second stands beside the first
	SplitBelow = "below"
)

// Limits of a layout.
const (
	MaxPanes    = 6
	LeastShare  = 0.1 // of a split that one of its two parts has
	LeastBottom = 80  // pixels
	MostBottom  = 4000
)

// Layout is how the window shows the tabs of a task. A tab that no pane shows is in the strip alone.
type Layout struct {
	TaskID string `json:"task_id"`
	Root   *Pane  `json:"root,omitempty"`   // absent: one pane, which shows the tab of Focus
	Focus  string `json:"focus,omitempty"`  // id of the tab whose pane had the keys last
	Bottom string `json:"bottom,omitempty"` // id of the tab that is the person's terminal below all panes
	Open   bool   `json:"open,omitempty"`   // that one is shown
	Height int    `json:"height,omitempty"` // of it, in pixels; absent: as the window chooses
}

// Pane shows a tab, or is two panes beside or above each other.
type Pane struct {
	Tab    string  `json:"tab,omitempty"`   // id; of a pane that is not split
	Split  string  `json:"split,omitempty"` // right, below
	Share  float64 `json:"share,omitempty"` // of the first, from 0.1 to 0.9
	First  *Pane   `json:"first,omitempty"`
	Second *Pane   `json:"second,omitempty"`
}

// TaskLayoutParams are the parameters of task_layout.
type TaskLayoutParams struct {
	NamedTarget
	Layout string `json:"layout" cli:"-" doc:"the layout, as JSON of the type Layout"`
}

// WindowLook is how the window is cut up.
type WindowLook struct {
	Sidebar int      `json:"sidebar"` // width in pixels; 0: as the window chooses
	Panel   int      `json:"panel"`
	Folded  []string `json:"folded"` // what is folded in the sidebar: ids of projects and tasks, and group: with the name of a group

	Shape *WindowShape `json:"shape,omitempty"` // of the window itself, as it was kept last
}

// WindowSetParams are the parameters of window_set.
type WindowSetParams struct {
	Sidebar int64  `json:"sidebar,omitempty" cli:"-" doc:"width of the sidebar in pixels"`
	Panel   int64  `json:"panel,omitempty" cli:"-" doc:"width of the right panel in pixels"`
	Fold    string `json:"fold,omitempty" cli:"-" doc:"what to fold in the sidebar: the id of a project or a task, or group: with a name"`
	Unfold  string `json:"unfold,omitempty" cli:"-" not:"fold" doc:"what to unfold there"`
	Shape   string `json:"shape,omitempty" cli:"-" doc:"where the window is and how big, as JSON of the type WindowShape"`
}

// TaskMoveParams are the parameters of task_move.
type TaskMoveParams struct {
	NamedTarget
	Position int64 `json:"position" cli:"position" doc:"its place in the sidebar among the tasks of its project, from 1"`
}

// TaskMoveResult is the result of task_move.
type TaskMoveResult struct {
	TaskID   string `json:"task_id"`
	Name     string `json:"name"`
	Position int    `json:"position"` // that it has now
}

// ProjectMoveParams are the parameters of project_move.
type ProjectMoveParams struct {
	Name     string `json:"name" cli:"arg" doc:"project: name or id" tool:"-"`
	Position int64  `json:"position" cli:"position" doc:"its place in the sidebar among all projects, from 1; the projects of a group stay together"`
}

// ProjectMoveResult is the result of project_move.
type ProjectMoveResult struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Position int    `json:"position"` // that it has now
}

// TaskTabSetParams are the parameters of task_tab_set. Without any beside the tab, it only shows.
type TaskTabSetParams struct {
	Target
	Tab      string `json:"tab" cli:"tab" doc:"tab: id, index or title"`
	Name     string `json:"name,omitempty" cli:"name" doc:"name that it has from now on, whatever its program says"`
	OwnTitle bool   `json:"ownTitle,omitempty" cli:"own-title" not:"name" doc:"take the name back: its own title shows again"`
	Pin      bool   `json:"pin,omitempty" cli:"pin" doc:"show it in the strip by its mark alone, and spare it when the others are closed"`
	Unpin    bool   `json:"unpin,omitempty" cli:"unpin" not:"pin" doc:"take that back"`
	Position int64  `json:"position,omitempty" cli:"position" doc:"its place in the strip, from 1"`
}

// TaskTabSetResult is the result of task_tab_set.
type TaskTabSetResult struct {
	TaskID string    `json:"task_id"`
	Tab    TabStatus `json:"tab"`
}

// TaskTabReopenParams are the parameters of task_tab_reopen.
type TaskTabReopenParams struct {
	Target
	Tab         string `json:"tab,omitempty" cli:"tab" doc:"id of a closed tab; the one that was closed last when left out"`
	AcceptFiles bool   `json:"acceptFiles,omitempty" cli:"accept-files" face:"window|cli" doc:"consent to files that run by themselves and that a caged agent may have written"`
}

// ClosedTab is a tab that can be opened again.
type ClosedTab struct {
	TaskID string `json:"task_id"`
	Title  string `json:"title"` // untrusted text
	Closed string `json:"closed"`
}
