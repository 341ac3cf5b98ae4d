package cage

import (
	"os"
	"time"
)

// Mount is one grant: a folder with everything below it, or one file.
type Mount struct {
	Source string // on the host; absolute, clean, and without a link in any component, or the start fails
	Target string // in the cage; absolute and clean; empty = Source
	Write  bool   // false = read-only, submounts too

	// Plain: no link, pipe or device can be made in it and below, in mounts that lie there too. The wall that does this holds
	// for folders, so none can be made either in folders on the way from another writable mount to it, nor in new ones beside
	// them. It needs Landlock.
	Plain bool

	// Dev and Ino, when not both zero, are what stat said of Source when the grant was decided; a start that finds
	// something else there fails.
	Dev, Ino uint64
}

// Link is a symbolic link in the built root. Its path must not lie inside a Mount.
type Link struct {
	Path string // in the cage, absolute
	To   string // as readlink gives it
}

// View is the file tree of a cage. Everything else is absent, except for what every cage has: /proc of its own
// processes, a small /dev, and private, empty /tmp, /var/tmp and /dev/shm.
type View struct {
	Mounts []Mount
	Links  []Link

	// Covers are host paths that are hidden wherever a Mount would show them, under any of their names, and stay hidden
	// when somebody outside replaces them. Each must exist, and may not be a link. A Mount whose Source lies below a
	// cover is a grant of its own and stays visible.
	Covers []string

	// Pins are host paths that are read-only wherever a Mount would show them writable. Each must exist, and may not be a link. They, and the folders on the way to them, cannot be renamed or removed in the cage.
	Pins []string

	// TmpBytes bounds each of the private temporary file systems; 0 = what the kernel takes (half of the memory).
	TmpBytes int64
}

// Size is that of a terminal, in cells.
type Size struct{ Cols, Rows uint16 }

// Limits bound all processes of a cage together. Zero means that nothing is asked for. What holds is in Enforcement: a
// machine that offers no way to hold one is no reason to refuse the start.
type Limits struct {
	Processes int64 // processes and threads
	Memory    int64 // bytes
	OpenFiles int64 // descriptors of each process
}

// Spec says what to start and in what cage.
type Spec struct {
	Argv []string // the program, looked for in the cage through PATH of Env, and its arguments
	Env  []string // the whole environment
	Dir  string   // working folder in the cage
	View View

	// Net gives the cage a network namespace of its own in which only loopback exists. Without it the network is that
	// of the host.
	Net bool

	// Ports are listened on at 127.0.0.1 in the cage's own network; Cage.Listener gives the listeners to the caller.
	// 1024 or above. They need Net.
	Ports []int

	// Terminal, if set, opens a pseudo-terminal of that size for the program; otherwise Stdio are its descriptors 0, 1
	// and 2, where nil stands for the null device. The caller keeps and closes its own copies of Stdio.
	Terminal *Size
	Stdio    [3]*os.File

	Limits Limits

	// HelperPath is the program termic-cage; empty = the one of the profile where AppArmor wants one, else the
	// one beside the running program, or else the running program itself, which must then call BeChild first.
	HelperPath string

	// StartTimeout bounds the way to the started program; 0 = 20 seconds.
	StartTimeout time.Duration

	// Watch, if set, is told what the programs of the cage try.
	Watch *Watch

	weak weakness // layers that a test build leaves out; always empty in others
}

// Exit is how the program of a cage ended.
type Exit struct {
	Code   int    // exit code; -1 if a signal ended it, or the whole cage
	Signal string // such as "killed", "terminated"; empty for an exit
}

// Limit is what holds of one of the Limits.
type Limit struct {
	Value int64  // 0 = not limited
	By    string // "cgroup v2", "cgroup v1", "pid_max", "rlimit", or "" when nothing holds it
	Note  string // what to know about it, for a person; may be empty
}

// Enforcement says what holds for a cage that was started.
type Enforcement struct {
	Namespaces []string // of "user", "mount", "pid", "ipc", "uts", "net"
	View       bool     // the root was built from the grants
	Landlock   int      // ABI of the kernel in use; 0 = this kernel has none
	Seccomp    bool     // the list of forbidden system calls holds
	SelfExec   bool     // the first process runs under the same walls, in every thread
	Root       bool     // the user is root: the cage runs as uid 0 without any capability, and what it writes is root's

	Watched bool // what Spec.Watch asked for is told; a kernel that cannot is no reason to refuse the start

	Processes, Memory, OpenFiles Limit

	Helper string // the program that built the cage
}
