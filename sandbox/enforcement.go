package sandbox

// Enforcement is the report of a running cage: what really holds, not what was wished for. The shield in the window shows
// it, and so do task_status and the doctor.
type Enforcement struct {
	Mode   Mode     `json:"mode"`
	System string   `json:"system"`          // "namespaces", "seatbelt", "none"
	Walls  []string `json:"walls,omitempty"` // what holds, from the outermost: "mounts", "network namespace", "landlock 7", "seccomp"
	Limits []string `json:"limits,omitempty"`
	Notes  []string `json:"notes,omitempty"` // sentences: what does not hold here, and what the owner should know
	AsRoot bool     `json:"as_root,omitempty"`
}
