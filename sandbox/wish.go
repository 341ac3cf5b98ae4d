package sandbox

// A Layer is one list of grants and denials, from one source. Layers are joined, so their order means nothing.
//
// A path is absolute or starts with $HOME, ~ or $WORKSPACE. It must exist, unless the layer is Optional: what is missing
// could later be planted as a link to somewhere else. Patterns are not understood and refused. A host is a rule of
// package hosts, "*" for every host, the name of a list such as @forges, the name of a netgroup such as @office:5432, which
// allows its public addresses whatever their name, or !@office, whose addresses nothing allows then.
type Layer struct {
	Name  string   // how a person knows it: "the project's settings", "the .termic.yaml of demo"
	Read  []string // files and folders that may be read
	Write []string // files and folders that may be read and written
	Deny  []string // hidden again, wherever a grant covers them; must exist, in every layer
	Hosts []string

	// Owner: the owner wrote it by hand. Only such a layer can grant writing in the real home; in all others a write
	// grant there counts as a read grant, and Policy.Warnings says so.
	Owner bool
	// Optional: a grant whose path does not exist is left out instead of refused.
	Optional bool
}

// SSHAgentEntry is what a list says to grant the socket of the user's ssh agent, whose path is another one after each login.
const SSHAgentEntry = "$SSH_AUTH_SOCK"

// A Wish is everything that a cage is composed from.
type Wish struct {
	Mode   Mode
	Layers []Layer // without the built-in ones, which Compose adds itself

	TaskID  string
	Project string // id of the task's project
	// Projects are the ids of the projects on which the task's token may act, Agents the ids of the agents that it may
	// start. The task's own project and agent are always among them.
	Projects, Agents []string
	// Netgroups are the members of the netgroups that lists may name, by their names in lower case.
	Netgroups map[string][]string
	// Agent is the id of the agent that is spawned. What the built-in table holds for it joins the layers.
	Agent string

	Worktree string // the task's tree, made by the app; granted for writing
	// InPlace: the worktree is the project's own checkout, so its .git folder lies inside it.
	InPlace bool
	// Pinned are files of the worktree, relative to it, that the cage may read alone if they are there.
	Pinned []string
	// Written are folders that cages of other tasks may write, as lists name them: links in them lead nowhere, as those in
	// what this cage may write.
	Written []string
	// GitDir is the admin folder of the worktree, GitCommonDir the folder that all worktrees share. Both are empty for a
	// tree without git.
	GitDir, GitCommonDir string
	// GitView is the folder for the cage's own view of the repository; empty = a new one beside HomeDir. Policy.Prepare
	// makes it, Policy.Remove takes it away.
	GitView string

	Home    string // the user's real home
	HomeDir string // the host's folder of the private home; on Linux it is mounted on Home
	DataDir string // Termic's own folder: hidden from every cage
	// Sockets are Termic's own sockets outside the data dir; hidden too.
	Sockets []string

	// SSHAgent is the socket of the user's ssh agent, absolute; empty = none runs. No cage sees it, unless a list of the
	// owner's names it for writing, as SSHAgentEntry.
	SSHAgent string

	Program string   // the agent's program, absolute
	Path    []string // the entries of PATH

	Secrets []string // names of the secrets that will be in the environment: they are part of what it can do, in every mode

	MCP                bool // the MCP box is checked
	MCPPort, ProxyPort int  // the doors, seen from inside; 0 = none yet
	Ports              []int

	GOOS string // "linux" or "darwin"; empty = this system
}
