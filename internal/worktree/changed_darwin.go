package worktree

import (
	"io/fs"
	"syscall"
)

// changedAt is when content or mode of a file last changed, in nanoseconds, and its number.
func changedAt(st fs.FileInfo) (int64, uint64) {
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		return s.Ctimespec.Nano(), s.Ino
	}
	return 0, 0
}
