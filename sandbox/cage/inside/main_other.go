//go:build !linux

package inside

// Main does nothing: there is no cage of this kind here.
func Main() bool { return false }
