//go:build headless

package app

import (
	"context"
	"fmt"
)

// HasWindow says whether this build can open a window.
const HasWindow = false

// Window says that there is none.
func Window(_ context.Context, o Options, _ string) int {
	_, _ = fmt.Fprintln(o.LogTo, "termic: this build has no window; run `termic serve`")
	return 1
}
