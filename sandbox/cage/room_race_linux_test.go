//go:build race

package cage

// The race detector's own data counts as the program's.
const limitedMemory = 1 << 30
