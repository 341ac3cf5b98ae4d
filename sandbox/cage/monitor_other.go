//go:build !linux

package cage

// Monitor watches a program that is in no cage. There is none on this system.
type Monitor struct{}

// NewMonitor refuses.
func NewMonitor(string, string, Watch, View, bool) (*Monitor, error) { return nil, errNone() }

// Prefix is empty.
func (*Monitor) Prefix() []string { return nil }

// Begun never ends.
func (*Monitor) Begun() <-chan struct{} { return nil }

// Unseen is 0.
func (*Monitor) Unseen() uint64 { return 0 }

// Close does nothing.
func (*Monitor) Close() {}
