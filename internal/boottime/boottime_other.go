//go:build !linux && !darwin && !windows

package boottime

import (
	"errors"
	"time"
)

// Now always fails: what this system has is not known.
func Now() (time.Duration, error) {
	return 0, errors.New("the time since boot is not known on this system")
}
