//go:build linux

package inside

import "golang.org/x/sys/unix"

const (
	nativeArch = unix.AUDIT_ARCH_AARCH64
	x32Bit     = 0
)

// deniedHere are calls that only this architecture refuses by a number of its own.
var deniedHere = [...]uint32{unix.SYS_LOOKUP_DCOOKIE}

// watchedHere are calls that not every architecture has.
var watchedHere = [...]WatchedCall{
	{unix.SYS_RENAMEAT, OpRemove, 0, 1, -1},
	{unix.SYS_RENAMEAT, OpMake, 2, 3, -1},
}
