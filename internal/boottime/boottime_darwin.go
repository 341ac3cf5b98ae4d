package boottime

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now is the time since the machine was booted. On macOS the monotonic clock goes on while the machine is asleep. An error means
// that this machine cannot tell.
func Now() (time.Duration, error) {
	var ts unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return time.Duration(ts.Nano()), err
}
