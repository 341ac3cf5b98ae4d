package cage

// weakness names layers that are left out, to show that a probe notices. Only a build with the tag weakcage can set one,
// and only a helper of such a build obeys it.
type weakness uint64
