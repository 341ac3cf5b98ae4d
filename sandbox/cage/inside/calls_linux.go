//go:build linux && (amd64 || arm64)

package inside

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// A WatchedCall is a system call that a watcher is told of.
type WatchedCall struct {
	Nr    uint32
	Op    Op
	Dir   int // index of the argument that is the folder of a relative path; -1 = the working folder
	Path  int // index of the argument that points to the path, or to the address
	Flags int // index of the argument that holds the flags of an open; -1 = none, or behind a pointer
}

// Op is what a call does with a path or an address.
type Op byte

// The operations.
const (
	OpOpen Op = iota + 1 // reading or writing, by its flags
	OpWrite
	OpRemove
	OpMake
	OpConnect
)

// cwd stands for the working folder in Dir.
const cwd = -1

// watchedCalls are those of every architecture. A call with two paths stands here twice.
var watchedCalls = [...]WatchedCall{
	{unix.SYS_OPENAT, OpOpen, 0, 1, 2},
	{unix.SYS_OPENAT2, OpOpen, 0, 1, -1},
	{unix.SYS_CONNECT, OpConnect, cwd, 1, -1},
	{unix.SYS_UNLINKAT, OpRemove, 0, 1, -1},
	{unix.SYS_MKDIRAT, OpMake, 0, 1, -1},
	{unix.SYS_SYMLINKAT, OpMake, 1, 2, -1},
	{unix.SYS_LINKAT, OpMake, 2, 3, -1},
	{unix.SYS_RENAMEAT2, OpRemove, 0, 1, -1},
	{unix.SYS_RENAMEAT2, OpMake, 2, 3, -1},
	{unix.SYS_TRUNCATE, OpWrite, cwd, 0, -1},
}

// WatchedCalls lists what a watcher is told of on this machine.
func WatchedCalls() []WatchedCall {
	return append(watchedCalls[:len(watchedCalls):len(watchedCalls)], watchedHere[:]...)
}

// WritingFlags are those of an open that may change something.
const WritingFlags = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC

// watchFilter tells a watcher of the watched calls, of opens only when they are for writing unless all is set. Everything
// else goes on.
func watchFilter(all bool) []unix.SockFilter {
	var p program
	p.load(offArch)
	p.unless(nativeArch, answerAllow) // another filter refuses those
	p.load(offNr)
	seen := map[uint32]bool{}
	for _, c := range WatchedCalls() {
		if seen[c.Nr] {
			continue
		}
		seen[c.Nr] = true
		if c.Flags < 0 || all {
			p.when(c.Nr, unix.SECCOMP_RET_USER_NOTIF)
			continue
		}
		p.call(c.Nr, func(p *program) {
			p.load(offArgs + 8*uint32(c.Flags))
			p.ifAny(WritingFlags, unix.SECCOMP_RET_USER_NOTIF)
		})
	}
	p.answer(answerAllow)
	return p.ops
}

// installWatch puts the filter over this thread and what comes from it, and returns the descriptor at which a watcher
// listens. From here on a watched call waits for an answer.
func installWatch(all bool) (int, error) {
	ops := watchFilter(all)
	prog := unix.SockFprog{Len: uint16(len(ops)), Filter: &ops[0]}
	// A watched call that a signal interrupts is not begun anew while the watcher has it; since Linux 5.19.
	for _, flags := range []uintptr{unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER} {
		fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
		if errno == 0 {
			unix.CloseOnExec(int(fd))
			return int(fd), nil
		}
		if errno != unix.EINVAL {
			return -1, errno
		}
	}
	return -1, unix.EINVAL
}
