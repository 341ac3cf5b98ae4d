//go:build darwin || windows

package keyring

import (
	"runtime"
	"testing"
)

// skipOwn skips a test that would write into the user's own keyring.
func skipOwn(t *testing.T) bool {
	if runtime.GOOS == "darwin" {
		t.Skip("SKIPPED: it would write into your login keychain")
	}
	return false
}
