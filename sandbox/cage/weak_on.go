//go:build weakcage

package cage

import (
	"os"
	"strings"

	"termic/sandbox/cage/wire"
)

// Layers by name, for a test that shows what each of them is good for.
var layers = map[string]uint64{"mounts": wire.WeakView, "net": wire.WeakNet, "landlock": wire.WeakLandlock, "seccomp": wire.WeakSeccomp, "self-exec": wire.WeakSelfExec}

// WeakEnv names the variable with which a test leaves layers out of every cage that is started: their names, joined by
// commas.
const WeakEnv = "TERMIC_WEAKCAGE"

// Weaken leaves one layer of a cage out: "mounts", "net", "landlock", "seccomp" or "self-exec". It exists only in a build
// with the tag weakcage, and only a helper of such a build obeys.
func Weaken(s *Spec, layer string) {
	bit, ok := layers[layer]
	if !ok {
		panic("cage: there is no layer " + layer)
	}
	s.weak |= weakness(bit)
}

// weaken does what WeakEnv asks for.
func weaken(s *Spec) {
	for name := range strings.SplitSeq(os.Getenv(WeakEnv), ",") {
		if name != "" {
			Weaken(s, name)
		}
	}
}
