package sandbox

import (
	"termic/sandbox/cage"
	"termic/sandbox/proxy"
)

// The words of the mechanisms below, for whoever starts programs through this package.
type (
	Size     = cage.Size
	Limits   = cage.Limits
	Exit     = cage.Exit
	Decision = proxy.Decision
	Upstream = proxy.Upstream
)

// What became of a request to a host.
const (
	HostBlocked    = proxy.Blocked
	HostWouldBlock = proxy.WouldBlock
)
