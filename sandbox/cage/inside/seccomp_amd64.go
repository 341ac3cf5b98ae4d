//go:build linux

package inside

import "golang.org/x/sys/unix"

const (
	nativeArch = unix.AUDIT_ARCH_X86_64
	x32Bit     = 0x40000000 // marks the numbers of the x32 interface
)

// deniedHere are calls that only this architecture has.
var deniedHere = [...]uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_USELIB, unix.SYS_LOOKUP_DCOOKIE}

// watchedHere are calls of old that newer architectures do without.
var watchedHere = [...]WatchedCall{
	{unix.SYS_OPEN, OpOpen, cwd, 0, 1},
	{unix.SYS_CREAT, OpWrite, cwd, 0, -1},
	{unix.SYS_UNLINK, OpRemove, cwd, 0, -1},
	{unix.SYS_RMDIR, OpRemove, cwd, 0, -1},
	{unix.SYS_RENAME, OpRemove, cwd, 0, -1},
	{unix.SYS_RENAME, OpMake, cwd, 1, -1},
	{unix.SYS_RENAMEAT, OpRemove, 0, 1, -1},
	{unix.SYS_RENAMEAT, OpMake, 2, 3, -1},
	{unix.SYS_MKDIR, OpMake, cwd, 0, -1},
	{unix.SYS_SYMLINK, OpMake, cwd, 1, -1},
	{unix.SYS_LINK, OpMake, cwd, 1, -1},
}
