package api

// WebLogin says whose token a page or a program has: the answer of /api/v1/session.
type WebLogin struct {
	Name        string   `json:"name"`              // of the token
	Scope       string   `json:"scope"`             // readonly, operator or approve
	AllProjects bool     `json:"all_projects"`      // it reaches every project
	Verbs       []string `json:"verbs"`             // that it has, in the order of the table
	Version     string   `json:"version"`           // of the app
	Expires     string   `json:"expires,omitempty"` // of a login, RFC 3339, UTC
	Key         string   `json:"key,omitempty"`     // of a login that was made a moment ago: what the page sends with its cookie
}
