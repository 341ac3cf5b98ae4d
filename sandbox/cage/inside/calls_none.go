//go:build linux && !amd64 && !arm64

package inside

import "golang.org/x/sys/unix"

// A WatchedCall is a system call that a watcher is told of; none here.
type WatchedCall struct {
	Nr               uint32
	Op               Op
	Dir, Path, Flags int
}

// Op is what a call does with a path or an address.
type Op byte

// The operations.
const (
	OpOpen Op = iota + 1
	OpWrite
	OpRemove
	OpMake
	OpConnect
)

// WritingFlags are those of an open that may change something.
const WritingFlags = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC

// WatchedCalls is empty: this architecture has no list of numbers.
func WatchedCalls() []WatchedCall { return nil }

func installWatch(bool) (int, error) { return -1, unix.ENOSYS }
