//go:build !weakcage

package attack

import (
	"os"
	"testing"
)

// TestEveryLayerIsNeeded builds this test with a cage whose layers can be left out, and runs TestLayersLeftOut in it.
func TestEveryLayerIsNeeded(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT SHOWN in short mode: that each layer of the cage holds something")
	}
	uid := testUser
	if os.Getuid() != 0 {
		uid = os.Getuid()
	}
	runAs(t, uid, build(t, "weakcage"), "TestLayersLeftOut")
}
