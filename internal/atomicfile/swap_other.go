//go:build !linux && !darwin

package atomicfile

func swap(_, _ string) error { return ErrNoSwap }

// SwapAt lets two names in an open folder change places in one step; there is no such step here.
func SwapAt(_ int, _, _ string) error { return ErrNoSwap }
