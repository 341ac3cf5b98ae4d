package api

// CageOffer says whether this machine can cage a task in one mode.
type CageOffer struct {
	Mode   string `json:"mode"`
	Can    bool   `json:"can"`
	Reason string `json:"reason,omitempty"` // why it cannot, in one sentence
	Fix    string `json:"fix,omitempty"`    // what to do about it
}

// CageInForce is what really holds around the program of a tab: what was provisioned when it was started, whatever is
// stored by now. In the modes off and monitor there are no walls.
type CageInForce struct {
	Mode    string   `json:"mode"`
	Since   string   `json:"since"`             // RFC 3339, UTC
	Walls   []string `json:"walls,omitempty"`   // what holds, from the outermost: "mounts", "network namespace", "landlock 7", "seccomp"
	Limits  []string `json:"limits,omitempty"`  // on processes, memory and open files
	Notes   []string `json:"notes,omitempty"`   // sentences: what does not hold here, and what the owner should know
	AsRoot  bool     `json:"as_root,omitempty"` // its programs run as root, without capabilities
	Restart bool     `json:"restart,omitempty"` // what is stored differs: the program must be started again to have it
}

// Kinds of CageLayer.
const (
	LayerTask     = "task"
	LayerProject  = "project"
	LayerRepo     = "repo" // .termic.yaml, consented
	LayerAgent    = "agent"
	LayerSettings = "settings"
	LayerBuiltIn  = "builtin"
)

// CageLayer is one of the lists that a cage is composed from. What is granted is their union.
type CageLayer struct {
	Kind  string   `json:"kind"`
	Read  []string `json:"read,omitempty"`
	Write []string `json:"write,omitempty"`
	Hosts []string `json:"hosts,omitempty"`
}
