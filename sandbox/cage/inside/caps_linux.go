package inside

import (
	"errors"
	"runtime"

	"golang.org/x/sys/unix"

	"termic/sandbox/cage/wire"
)

// dropCapabilities leaves this thread, and all that it executes, without any capability and without a way to one.
func dropCapabilities() error {
	for c := uintptr(0); ; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) && c > 0 {
			break // the kernel knows no more
		}
		if err != nil {
			return failed(wire.StepCaps, "", err)
		}
	}
	// Root would get all of them back at the next execution.
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, secureBits, 0, 0, 0); err != nil {
		return failed(wire.StepCaps, "", err)
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return failed(wire.StepCaps, "", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return failed(wire.StepCaps, "", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return failed(wire.StepCaps, "", err)
	}
	runtime.KeepAlive(none)
	return nil
}

// From linux/securebits.h: each bit and, one above, its lock. Root is nobody special; a change of user id changes no
// capability; none is kept over one; none becomes ambient.
const secureBits = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<5 | 1<<6 | 1<<7
