//go:build !race

package cage

// limitedMemory is enough for the helper, and for little else.
const limitedMemory = 256 << 20
