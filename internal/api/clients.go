package api

// MCPRevision is the revision of the Model Context Protocol that the endpoint speaks and clients must speak, the only one.
const MCPRevision = "2026-07-28"

// ClientListParams are the parameters of client_list.
type ClientListParams struct{}

// ClientParams name a client.
type ClientParams struct {
	Client string `json:"client" cli:"arg" doc:"client: claude, codex, ..." tool:"-"`
}

// ClientPlanParams are the parameters of client_plan.
type ClientPlanParams struct {
	ClientParams
	Remove bool `json:"remove,omitempty" cli:"remove" doc:"what unregistering would change"`
	Anyway bool `json:"anyway,omitempty" cli:"anyway" doc:"although no version of the client is known to speak the endpoint's revision"`
	Termic bool `json:"termic,omitempty" cli:"termic" doc:"let termic itself print the token instead of a shell command"`
}

// ClientRegisterParams are the parameters of client_register.
type ClientRegisterParams struct {
	ClientParams
	Anyway bool   `json:"anyway,omitempty" cli:"anyway" doc:"although no version of the client is known to speak the endpoint's revision"`
	Termic bool   `json:"termic,omitempty" cli:"termic" doc:"let termic itself print the token instead of a shell command"`
	Yes    bool   `json:"yes,omitempty" cli:"yes,y" doc:"consent to what would be lost"`
	Digest string `json:"digest,omitempty" cli:"digest" doc:"only if it is what client show has shown"`
}

// ClientUnregisterParams are the parameters of client_unregister.
type ClientUnregisterParams struct {
	ClientParams
	Yes    bool   `json:"yes,omitempty" cli:"yes,y" doc:"consent to what would be lost"`
	Digest string `json:"digest,omitempty" cli:"digest" doc:"only if it is what client show --remove has shown"`
}

// ClientListResult is the result of client_list.
type ClientListResult struct {
	Clients []ClientState `json:"clients"`
}

// ClientState is how the registration with one client stands. Its texts are for people.
type ClientState struct {
	ID         string         `json:"id"`
	Name       string         `json:"name"`
	Installed  bool           `json:"installed"`
	Version    string         `json:"version,omitempty"` // as it says; empty if it was not asked
	Usable     bool           `json:"usable"`            // this version can reach the endpoint, as far as is known
	Why        string         `json:"why,omitempty"`     // if it is not usable
	Offered    bool           `json:"offered"`           // some version is known to reach the endpoint: it can be registered
	File       string         `json:"file"`
	Registered bool           `json:"registered"`
	Foreign    bool           `json:"foreign,omitempty"` // the entry is not of Termic's making
	OK         bool           `json:"ok"`                // it would reach the endpoint by what is written
	Edits      []string       `json:"edits,omitempty"`   // keys that somebody changed in the entry
	Stale      []string       `json:"stale,omitempty"`   // what no longer fits
	Shadows    []ClientShadow `json:"shadows,omitempty"` // entries of the same name that win in some place
	Problem    string         `json:"problem,omitempty"` // why its file cannot be read or edited
	Fix        string         `json:"fix,omitempty"`     // what to do about that
	Notes      []string       `json:"notes,omitempty"`

	Block *ClientBlock `json:"block,omitempty"` // what can be put in place by hand; absent where nothing would work, or without an address
}

// ClientShadow is an entry of the same name that wins over ours in some place.
type ClientShadow struct {
	Scope string `json:"scope"`
	File  string `json:"file"`
	Where string `json:"where"`
	Words string `json:"words"`
}

// ClientPlanResult is the result of client_plan. Diff holds text of the person's file.
type ClientPlanResult struct {
	Client ClientState `json:"client"`
	Act    string      `json:"act"` // none, add, repair, replace, remove
	File   string      `json:"file"`
	Target string      `json:"target,omitempty"` // the file behind the links of file, if there are any
	Diff   string      `json:"diff,omitempty"`
	Runs   [][]string  `json:"runs,omitempty"` // the client's own commands, where it writes its file itself
	Losses []string    `json:"losses,omitempty"`
	Notes  []string    `json:"notes,omitempty"`
	Digest string      `json:"digest"` // of all of this: register and unregister take it
}

// ClientBlock is what a person can copy.
type ClientBlock struct {
	Where    string `json:"where"`
	Language string `json:"language"` // sh, toml, json
	Text     string `json:"text"`
}

// ClientWriteResult is the result of client_register and client_unregister.
type ClientWriteResult struct {
	Client ClientState   `json:"client"`
	Act    string        `json:"act"`
	File   string        `json:"file"`
	Backup string        `json:"backup,omitempty"` // the copy that was put beside the file
	Verify *ClientReport `json:"verify,omitempty"` // after a registration, if the endpoint serves
}

// ClientReport is the result of client_verify: what came of connecting as the client would.
type ClientReport struct {
	ID      string       `json:"id"`
	OK      bool         `json:"ok"`
	Summary string       `json:"summary"`
	Hint    string       `json:"hint,omitempty"`
	Steps   []ClientStep `json:"steps"`
	Notes   []string     `json:"notes,omitempty"`
	Server  string       `json:"server,omitempty"`
	Tools   int          `json:"tools,omitempty"`
}

// ClientStep is one thing that was tried.
type ClientStep struct {
	Name  string `json:"name"` // entry, command, connect, discover, list
	OK    bool   `json:"ok"`
	Words string `json:"words"`
}

// StaleClient is a registration that no longer fits, as the window offers to mend it.
type StaleClient struct {
	ID    string   `json:"id"`
	Name  string   `json:"name"`
	Stale []string `json:"stale"`
}
