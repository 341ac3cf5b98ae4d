package agent

import "time"

// Clock is the time that detectors and deliveries live by.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f once after d, on a goroutine of its own, unless stop was called first.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// SystemClock is the real one. Its readings are monotonic.
type SystemClock struct{}

// Now returns the time.
func (SystemClock) Now() time.Time { return time.Now() }

// AfterFunc is time.AfterFunc.
func (SystemClock) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
