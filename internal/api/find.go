package api

// ProjectFindParams are the parameters of project_find.
type ProjectFindParams struct {
	Path string `json:"path,omitempty" cli:"arg" doc:"folder to look in; your home when left out"`
}

// ProjectFindResult is the result of project_find.
type ProjectFindResult struct {
	Folder       string            `json:"folder"`         // that was looked in
	Repositories []FoundRepository `json:"repositories"`   // what was used last first
	More         bool              `json:"more,omitempty"` // the look was ended early: there may be others
}

// FoundRepository is a git repository on this machine.
type FoundRepository struct {
	Path    string `json:"path"`
	Last    string `json:"last,omitempty"`    // RFC 3339, UTC: when git last wrote in it
	Project string `json:"project,omitempty"` // name of the project that it is already
}
