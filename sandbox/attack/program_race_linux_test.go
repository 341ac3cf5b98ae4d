//go:build race

package attack

import "testing"

// program is the test program that attacks and is the cage's helper. Under the race detector it is built without: what
// the detector takes of memory is beyond the limits of a cage.
func program(t *testing.T) string { return build(t) }
