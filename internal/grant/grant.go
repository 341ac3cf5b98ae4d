// Package grant holds the rules of authority: who a caller is and how far its class reaches, and which token gives what.
// Nothing here reads a clock, a file or the network.
//
// Possession of a credential is the identity. Nothing that a caller asserts about itself is ever used: a presenter
// turns a credential into a Caller once, and every later decision looks at that Caller alone.
//
// It promises that a token gives exactly the grant it was minted for, for as long as it was not revoked, and that no
// token ever makes an owner. It does not cover where tokens are kept and handed out, nor what a verb asks for.
package grant

// Class is the rank of a caller.
type Class string

// The classes, from the widest. Operator, readonly and approve are for named tokens and are compared by name, never
// by order: operator and approve are disjoint on purpose.
const (
	Owner    Class = "owner"    // the window, in process, and the CLI through its socket
	Full     Class = "full"     // the per-bind token file; each task without a cage
	Scoped   Class = "scoped"   // a caged task
	ReadOnly Class = "readonly" // a named token that reads
	Operator Class = "operator" // a named token that reads and writes
	Approve  Class = "approve"  // a named token that reads and decides
)

// rank orders the classes that widen one another. A class without a rank covers only itself.
var rank = map[Class]int{Owner: 3, Full: 2, Scoped: 1}

// Covers reports whether a caller of class c may use what asks for class need. An unknown class covers nothing.
func (c Class) Covers(need Class) bool {
	have, ok := rank[c]
	want, known := rank[need]
	return ok && known && have >= want
}

// Named reports whether tokens that the owner mints by name have a class.
func (c Class) Named() bool { return c == ReadOnly || c == Operator || c == Approve }

// Includes reports whether a named class has what the named class need has: each may read, and beyond that each has its own
// alone, so that no token both raises an approval and decides it.
func (c Class) Includes(need Class) bool { return c.Named() && (need == ReadOnly || need == c) }

// Face is the presenter through which a call came.
type Face string

// The faces. Their names are stored in the ledger.
const (
	Window Face = "window"
	CLI    Face = "cli"
	MCP    Face = "mcp"
	Web    Face = "web" // a person in a browser, with a token of the browser face
	API    Face = "api" // a program with such a token
	// What acts by itself, for whoever made the rule.
	Trigger  Face = "trigger"
	Schedule Face = "schedule"
)

// ByRule reports whether nobody asks at this moment: a rule acts that somebody made before.
func (f Face) ByRule() bool { return f == Trigger || f == Schedule }

// Caller is who asks. It is made by exactly one function per face and never changed afterwards.
type Caller struct {
	Principal string // "owner", "task:<id>", "client:<name>", "outside"
	// Token is the id of the named token; empty for others. Unlike its name, no other token ever has it.
	Token string
	Face  Face
	Class Class
	Task  string // the task that a task's token belongs to; empty for others
	// Terminal is the tab whose running program the token was minted for; empty for others. What that program may do at
	// most is kept with it.
	Terminal string
	// Projects are the ids of the projects that a scoped caller may act on, or a named token reaches. Not to be changed.
	Projects []string
	// Everywhere is set for a named token that reaches every project. Without it an empty list of projects is none.
	Everywhere bool
}

// OwnerOn is the person who owns the app, on the window or the CLI.
func OwnerOn(f Face) Caller { return Caller{Principal: "owner", Face: f, Class: Owner} }
