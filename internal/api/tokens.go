package api

// TokenNewParams are the parameters of token_new.
type TokenNewParams struct {
	Name     string   `json:"name" cli:"arg" doc:"name of the token: letters, digits, - and _, at most 64 of them"`
	Scope    string   `json:"scope,omitempty" cli:"scope" enum:"readonly|operator|approve" doc:"what it may do: read; read and write, where what destroys waits for approval; or read and decide approvals (readonly when left out)"`
	Projects []string `json:"projects,omitempty" cli:"project" doc:"a project that it reaches; every one when left out"`
	Web      bool     `json:"web,omitempty" cli:"web" doc:"make it for the browser and the API of serve --web-addr, not for the MCP endpoint; its value is shown once"`
}

// TokenListParams are the parameters of token_list.
type TokenListParams struct{}

// TokenSetParams are the parameters of token_set. What is left out stays.
type TokenSetParams struct {
	Name        string   `json:"name" cli:"arg" doc:"name of the token"`
	Scope       string   `json:"scope,omitempty" cli:"scope" enum:"readonly|operator|approve" doc:"what it may do from now on"`
	Projects    []string `json:"projects,omitempty" cli:"project" doc:"a project that it reaches, in place of those that it reached"`
	AllProjects bool     `json:"allProjects,omitempty" cli:"all-projects" not:"projects" doc:"let it reach every project"`
}

// TokenRevokeParams are the parameters of token_revoke.
type TokenRevokeParams struct {
	Name string `json:"name" cli:"arg" doc:"name of the token"`
}

// Faces of named tokens. A token is good on one of them and worthless on the other.
const (
	TokenMCP = "mcp" // the MCP endpoint
	TokenWeb = "web" // the browser and the API
)

// Token is a named token. The value of one for the MCP endpoint is in File alone, and a new one each time that the endpoint is
// bound; that of one for the browser face is with whoever made it.
type Token struct {
	Name        string   `json:"name"`
	Face        string   `json:"face"`         // mcp or web
	Scope       string   `json:"scope"`        // readonly, operator or approve
	AllProjects bool     `json:"all_projects"` // it reaches every project
	Projects    []string `json:"projects"`     // names of those that it reaches otherwise
	Created     string   `json:"created"`      // RFC 3339, UTC
	URL         string   `json:"url"`          // of the face; empty while it does not serve
	File        string   `json:"file"`         // that holds the value; empty while the endpoint does not serve
}

// TokenListResult is the result of token_list.
type TokenListResult struct {
	Tokens []Token `json:"tokens"` // by name
}

// TokenResult is the result of token_new and token_set.
type TokenResult struct {
	Token Token  `json:"token"`
	Value string `json:"value,omitempty"` // of a new token of the browser face, and nowhere else ever again
}

// TokenRevokeResult is the result of token_revoke.
type TokenRevokeResult struct {
	Name string `json:"name"`
}
