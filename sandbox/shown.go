package sandbox

import (
	"os"
	"runtime"
	"slices"
)

// BuiltIn is what every cage of an agent holds on this system without being listed anywhere: the system's folders that
// are there, for reading, and the hosts of the agent's own service. It is for showing; Compose adds both by itself.
func BuiltIn(agentID string) (read, hosts []string) {
	for _, root := range systemRoots[runtime.GOOS] {
		if _, err := os.Stat(root); err == nil {
			read = append(read, root)
		}
	}
	return read, slices.Clone(agentHosts[agentID])
}
