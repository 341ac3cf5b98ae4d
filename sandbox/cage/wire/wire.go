// Package wire is what the app and the helper of a cage say to each other over one SEQPACKET socket pair.
//
// The app sends Setup; the helper answers with Entered (the process that is the cage's first), then Built with
// descriptors, or Failed. The app sends Run; the helper answers Started or Failed. Then the app may send Signal and
// Dial, and the helper sends Dialed for each Dial and Exited once. End of file means that the other side is gone.
//
// It promises that a helper of another Version refuses a Setup, that a message is bounded in size, and that
// descriptors arrive with the message that they belong to. It does not cover what the messages cause.
package wire

import "fmt"

// Version is that of everything in this package. It changes with any change of it.
const Version = 3

// Kind tells the messages apart.
type Kind byte

// The kinds.
const (
	KindSetup Kind = iota + 1
	KindEntered
	KindBuilt
	KindFailed
	KindRun
	KindStarted
	KindExited
	KindSignal
	KindDial
	KindDialed
)

// A Message can be sent and received.
type Message interface {
	kind() Kind
	encode(*encoder)
	decode(*decoder)
}

// Mount is a grant.
type Mount struct {
	Source, Target string
	Write, Plain   bool
	Dev, Ino       uint64
}

// Link is a symbolic link of the root.
type Link struct{ Path, To string }

// Setup describes the cage to build. Its encoding begins with Version.
type Setup struct {
	Mounts       []Mount
	Links        []Link
	Covers, Pins []string
	TmpBytes     int64
	Net          bool
	Ports        []int
	Terminal     bool
	Cols, Rows   uint16
	PidMax       int64 // bound of process ids; 0 = leave it
	NumProcs     int64 // RLIMIT_NPROC; 0 = leave it
	Data         int64 // RLIMIT_DATA in bytes; 0 = leave it
	OpenFiles    int64 // RLIMIT_NOFILE; 0 = leave it
	NeedLandlock int   // the lowest ABI of Landlock that will do; 0 = without is fine
	Watch        byte  // what the app is told of, see WatchWrites
	Weak         uint64
}

// Entered says which process is the cage's first, as the host counts.
type Entered struct{ Pid int }

// Built says that the root stands and every wall is up. Its descriptors are the listeners in the order of Setup.Ports,
// then the terminal's master if one was asked for, then the listener of a watch if
// Watched.
type Built struct {
	Landlock int  // ABI in use, 0 = none
	PidMax   bool // the bound on process ids holds
	Watched  bool // the listener of what was to be watched came along
}

// Failed says which step of the way could not be made, and why.
type Failed struct {
	Step  Step
	Path  string // what it was about; may be empty
	Errno int    // 0 = no system call refused; Text says more
	Text  string // for a developer
}

func (f *Failed) Error() string {
	s := "cage: step " + string(f.Step)
	if f.Path != "" {
		s += " at " + f.Path
	}
	if f.Text != "" {
		s += ": " + f.Text
	}
	return s
}

// Step names a part of the way to a running program.
type Step string

// The steps, in their order.
const (
	StepVersion  Step = "version"   // the helper is of another version
	StepSpec     Step = "spec"      // what was asked for contradicts itself
	StepClone    Step = "clone"     // new namespaces
	StepLoopback Step = "loopback"  // bring the network's loopback up
	StepListen   Step = "listen"    // listen on a port
	StepOpen     Step = "open"      // open a source of a grant
	StepChanged  Step = "changed"   // a source is not what it was when it was granted
	StepRoot     Step = "root"      // make the new root
	StepMount    Step = "mount"     // put a grant in its place
	StepProc     Step = "proc"      // mount a /proc of the cage's own
	StepDev      Step = "dev"       // the small /dev and the terminals
	StepCover    Step = "cover"     // hide a path
	StepPin      Step = "pin"       // make a path read-only
	StepPivot    Step = "pivot"     // leave the old root
	StepNested   Step = "nested"    // switch off further user namespaces
	StepCaps     Step = "caps"      // drop capabilities
	StepLandlock Step = "landlock"  //
	StepSeccomp  Step = "seccomp"   //
	StepSelfExec Step = "self-exec" // execute the helper again, under all of it
	StepStdio    Step = "stdio"     // descriptors 0 to 2
	StepDir      Step = "dir"       // the working folder
	StepLook     Step = "look"      // find the program
	StepExec     Step = "exec"      // execute it
)

// Run says what to start. Its descriptors are 0, 1 and 2 of the program, or none with a terminal.
type Run struct {
	Argv, Env []string
	Dir       string
}

// Started says that the program was executed.
type Started struct{ Pid int } // as the cage counts

// Exited says how it ended. After it the cage ends.
type Exited struct{ Code, Signal int }

// Signal asks to signal every process of the cage but the first.
type Signal struct{ Number int }

// Dial asks for a socket that is being connected to a port of the cage's loopback.
type Dial struct {
	ID   uint64
	Port int
	Six  bool // to ::1 instead of 127.0.0.1
}

// Dialed answers Dial, with one descriptor if Errno is 0. The connect may still be under way.
type Dialed struct {
	ID    uint64
	Errno int
}

func (*Setup) kind() Kind   { return KindSetup }
func (*Entered) kind() Kind { return KindEntered }
func (*Built) kind() Kind   { return KindBuilt }
func (*Failed) kind() Kind  { return KindFailed }
func (*Run) kind() Kind     { return KindRun }
func (*Started) kind() Kind { return KindStarted }
func (*Exited) kind() Kind  { return KindExited }
func (*Signal) kind() Kind  { return KindSignal }
func (*Dial) kind() Kind    { return KindDial }
func (*Dialed) kind() Kind  { return KindDialed }

// blank gives an empty message of a kind.
func blank(k Kind) (Message, error) {
	switch k {
	case KindSetup:
		return &Setup{}, nil
	case KindEntered:
		return &Entered{}, nil
	case KindBuilt:
		return &Built{}, nil
	case KindFailed:
		return &Failed{}, nil
	case KindRun:
		return &Run{}, nil
	case KindStarted:
		return &Started{}, nil
	case KindExited:
		return &Exited{}, nil
	case KindSignal:
		return &Signal{}, nil
	case KindDial:
		return &Dial{}, nil
	case KindDialed:
		return &Dialed{}, nil
	}
	return nil, fmt.Errorf("the cage's helper and the app disagree: unknown message %d", k)
}

// What Setup.Watch asks for. The listener comes as the last descriptor of Built.
const (
	WatchNothing byte = iota
	WatchWrites       // connects, removals, and opens that may change something
	WatchAll          // and all other opens
)

// Layers that Setup.Weak leaves out. Only a helper of a test build obeys.
const (
	WeakView     uint64 = 1 << iota // keep the host's tree
	WeakNet                         // keep the host's network
	WeakLandlock                    // no Landlock
	WeakSeccomp                     // no seccomp
	WeakSelfExec                    // no second execution, and stay traceable
)
