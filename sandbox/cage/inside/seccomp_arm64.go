//go:build linux

package inside

import "golang.org/x/sys/unix"

const (
	nativeArch = unix.AUDIT_ARCH_AARCH64
	x32Bit     = 0
)

// deniedHere are calls that only this architecture refuses by a number of its own.
var deniedHere = [...]uint32{unix.SYS_LOOKUP_DCOOKIE}
