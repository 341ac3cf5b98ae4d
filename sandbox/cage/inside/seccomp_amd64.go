//go:build linux

package inside

import "golang.org/x/sys/unix"

const (
	nativeArch = unix.AUDIT_ARCH_X86_64
	x32Bit     = 0x40000000 // marks the numbers of the x32 interface
)

// deniedHere are calls that only this architecture has.
var deniedHere = [...]uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_USELIB, unix.SYS_LOOKUP_DCOOKIE}
