package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// foreignSockets returns the sockets that processes outside hold in what is granted: a cage could talk to them. They are
// taken from the kernel's list, so a large tree costs nothing; a socket that is made later is not among them. On macOS
// sockets are denied by the profile instead.
func (c *composer) foreignSockets() []string {
	if c.w.GOOS != "linux" {
		return nil
	}
	text, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		at := strings.IndexByte(line, '/')
		if at < 0 {
			continue // without a name, or an abstract one
		}
		real, _, err := resolve(filepath.Clean(strings.TrimSuffix(line[at:], "\n")))
		if err != nil {
			continue
		}
		if slices.ContainsFunc(c.grants, func(g grant) bool { return covers(g.path, real) }) && !coveredBy(real, c.deny) {
			out = append(out, real)
		}
	}
	return sorted(out)
}
