package boottime

import (
	"time"

	"golang.org/x/sys/windows"
)

// Now is the time since the machine was booted, asleep or not.
func Now() (time.Duration, error) { return windows.DurationSinceBoot(), nil }
