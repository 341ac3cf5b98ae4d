//go:build !headless

package app

import (
	"io/fs"
	"os"

	"github.com/wailsapp/wails/v2/pkg/options/linux"
)

// noDMABuf is the switch of WebKitGTK that makes it draw without shared graphics memory. With the driver of NVIDIA and
// with no graphics card at all the window stays blank without it; elsewhere it only costs speed.
const noDMABuf = "WEBKIT_DISABLE_DMABUF_RENDERER"

// graphics is how the window is to be drawn.
type graphics struct {
	set    bool // set noDMABuf before the toolkit starts
	policy linux.WebviewGpuPolicy
}

// planGraphics looks at the machine. A value that the person set for the switch is kept, whatever it is, and TERMIC_GPU
// (always, never) overrides the policy.
func planGraphics(root fs.FS, getenv func(string) string) graphics {
	nodes, _ := fs.Glob(root, "dev/dri/renderD*") // the pattern is well formed
	_, err := fs.Stat(root, "proc/driver/nvidia/version")
	none, nvidia := len(nodes) == 0, err == nil
	g := graphics{set: getenv(noDMABuf) == "" && (none || nvidia), policy: linux.WebviewGpuPolicyOnDemand}
	if none {
		g.policy = linux.WebviewGpuPolicyNever
	}
	switch getenv("TERMIC_GPU") {
	case "always":
		g.policy = linux.WebviewGpuPolicyAlways
	case "never":
		g.policy = linux.WebviewGpuPolicyNever
	}
	return g
}

// hardware reports whether pages draw on a graphics processor.
func (g graphics) hardware() bool { return !g.set && g.policy != linux.WebviewGpuPolicyNever }

// prepare sets what the toolkit reads at its start. Children do not see it: their environment is built from a list.
func (g graphics) prepare() error {
	if !g.set {
		return nil
	}
	return os.Setenv(noDMABuf, "1")
}
