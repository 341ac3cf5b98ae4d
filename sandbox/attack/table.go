package attack

// Verdict is what came of a try.
type Verdict string

// The verdicts.
const (
	Out  Verdict = "out"  // the try succeeded
	Held Verdict = "held" // it did not
)

// Column is a way to be started, and an index into Row.Want.
type Column int

// The columns.
const (
	Open      Column = iota // no cage: modes off and monitor, and the positive control of every row
	FilesOnly               // enforce-fs
	Full                    // enforce, without the MCP box
	FullMCP                 // enforce, with the MCP box
	Columns                 // how many there are
)

// String names the column as reports do.
func (c Column) String() string {
	return [...]string{"open", "enforce-fs", "enforce", "enforce+mcp"}[c]
}

// What a row may need of the machine, so that the uncaged try can succeed at all.
const (
	NeedsRoot     = "root"     // only root can do it uncaged; as a user the verdict is checked but not counted
	NeedsPrepared = "prepared" // root has to prepare the ground: a bind mount, a setuid file
)

// Access is what a probe touches, for judges that cannot run it.
type Access string

// The kinds of access.
const (
	ReadFile    Access = "read"         // Touch.At is a path
	WriteFile   Access = "write"        // Touch.At is a path
	ConnectTCP  Access = "connect-tcp"  // Touch.At is host:port
	ConnectUnix Access = "connect-unix" // Touch.At is a path
)

// Touch is one access to one thing.
type Touch struct {
	Access Access
	At     string
}

// Row is the table's word on one probe.
type Row struct {
	Name  string           // kind/what, unique
	Does  string           // the try, in a clause
	Want  [Columns]Verdict // what must come of it
	Why   string           // for a row that gets out of a cage: why that is so; required there
	Needs string           // what the uncaged try needs; empty = nothing
	Lacks string           // what a machine may be without, so that the uncaged try fails; empty = it must succeed
	Wide  bool             // tried in a cage whose grants are wide: they surround the data folder
	Place bool             // tried in a cage in the main checkout itself
	Wall  bool             // held by Landlock alone: a kernel without it lets the try out

	Touch func(Ground) Touch // the one access it comes down to; nil = there is no such single access
}

// Table lists all rows, in the order in which they are tried: what may disturb others comes late.
func Table() []Row {
	var all []Row
	for _, rows := range [][]Row{
		fileRows(), metaRows(), unixRows(), inetRows(), proxyRows(), familyRows(), gitRows(), placeRows(), procRows(), ttyRows(), nsRows(), mountRows(),
		kernelRows(), deviceRows(), neighbourRows(), writeRows(), plantRows(), wideRows(), limitRows(), lastRows(),
	} {
		all = append(all, rows...)
	}
	return all
}

// held is a row that every cage holds.
func held(name, does string) Row {
	return Row{Name: name, Does: does, Want: [Columns]Verdict{Out, Held, Held, Held}}
}

// network is a row that only a cage with its own network holds.
func network(name, does string) Row {
	return Row{Name: name, Does: does, Want: [Columns]Verdict{Out, Out, Held, Held},
		Why: "files only leaves the network open, by design"}
}

// out is a row that no cage holds, for the reason given.
func out(name, does, why string) Row {
	return Row{Name: name, Does: does, Want: [Columns]Verdict{Out, Out, Out, Out}, Why: why}
}

// root marks a row that only root can try uncaged.
func (r Row) root() Row { r.Needs = NeedsRoot; return r }

// prepared marks a row whose ground root has to prepare.
func (r Row) prepared() Row { r.Needs = NeedsPrepared; return r }

// lacking marks a row whose control may fail on a machine that is without something.
func (r Row) lacking(what string) Row { r.Lacks = what; return r }

// wall marks a row that Landlock alone holds.
func (r Row) wall() Row { r.Wall = true; return r }

// wide marks a row for the cage with wide grants.
func (r Row) wide() Row { r.Wide = true; return r }

// reads says that the row comes down to reading one path.
func (r Row) reads(at func(Ground) string) Row { return r.touches(ReadFile, at) }

// writes says that the row comes down to writing one path.
func (r Row) writes(at func(Ground) string) Row { return r.touches(WriteFile, at) }

func (r Row) touches(a Access, at func(Ground) string) Row {
	r.Touch = func(g Ground) Touch { return Touch{a, at(g)} }
	return r
}
