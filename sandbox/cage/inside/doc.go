// Package inside is the helper of a cage: the process that builds the root, puts up the walls, and then is the cage's
// first process.
//
// It runs in three parts, each an execution of the same program. "enter" makes the new namespaces. "build" is the first
// process in them: it holds the capabilities of its own namespaces, makes the listeners and the root, gives up
// everything, and executes itself once more. "run" comes up behind all walls with every one of its threads, starts the
// program, and reaps.
//
// It promises that each part either succeeds or says which step failed and ends, and that at the end of file of its
// socket it ends with everything in the cage. It decides nothing: what is granted comes in wire.Setup. It imports little
// and keeps little in memory, since one runs for each cage.
package inside

// Args are the arguments that make a program of ours the helper of a cage.
var Args = [2]string{"be-child", "cage"}

// The parts, as the third argument.
const (
	partEnter   = "enter"    // with a network of its own
	partEnterFs = "enter-fs" // on the host's network
	partBuild   = "build"
	partRun     = "run"
	partProbe   = "probe" // no part of a cage: what runs in one that is tried

	partWatchWrites = "watch-writes" // no part of a cage either: a program outside of one that is watched
	partWatchAll    = "watch-all"
)

// EnterArgs are all arguments of the first part, without the program's name.
func EnterArgs(net bool) []string {
	if net {
		return []string{Args[0], Args[1], partEnter}
	}
	return []string{Args[0], Args[1], partEnterFs}
}

// WatchArgs are the arguments, without the program's name, that come before those of a program that is to be watched
// outside of a cage. Its listener is sent to the socket at path.
func WatchArgs(all bool, path string) []string {
	if all {
		return []string{Args[0], Args[1], partWatchAll, path}
	}
	return []string{Args[0], Args[1], partWatchWrites, path}
}

// ProbeArgs are the arguments, without the program's name, with which a program of ours does nothing and ends well.
func ProbeArgs() []string { return []string{Args[0], Args[1], partProbe} }
