package boottime

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now is the time since the machine was booted. An error means that this machine cannot tell.
func Now() (time.Duration, error) {
	var ts unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts)
	return time.Duration(ts.Nano()), err
}
