package inside

import "termic/sandbox/cage/wire"

// weakened tells whether a layer is left out. weakenable is false but in a build with the tag weakcage, which is made for
// tests alone: they show that each layer holds something that the others do not.
func weakened(s *wire.Setup, layer uint64) bool { return weakenable && s.Weak&layer != 0 }
