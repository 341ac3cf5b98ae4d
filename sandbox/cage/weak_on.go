//go:build weakcage

package cage

import "termic/sandbox/cage/wire"

// Layers by name, for a test that shows what each of them is good for.
var layers = map[string]uint64{"mounts": wire.WeakView, "net": wire.WeakNet, "landlock": wire.WeakLandlock, "seccomp": wire.WeakSeccomp, "self-exec": wire.WeakSelfExec}

// Weaken leaves one layer of a cage out: "mounts", "net", "landlock", "seccomp" or "self-exec". It exists only in a build
// with the tag weakcage, and only a helper of such a build obeys.
func Weaken(s *Spec, layer string) bool {
	bit, ok := layers[layer]
	s.weak |= weakness(bit)
	return ok
}
