package sandbox

import (
	"termic/sandbox/cage"
	"termic/sandbox/proxy"
)

// The words of the mechanisms below, for whoever starts programs through this package.
type (
	Size      = cage.Size
	Limits    = cage.Limits
	Exit      = cage.Exit
	Decision  = proxy.Decision
	Upstream  = proxy.Upstream
	Act       = cage.Event
	Monitored = cage.Monitor
)

// What became of a request to a host.
const (
	HostBlocked    = proxy.Blocked
	HostWouldBlock = proxy.WouldBlock
)

// Watch prepares to watch a program that is in no cage: what a cage of the policy would refuse is told as refused. dir is
// a folder that only this user can enter. See Monitored for what watching changes.
func (p Policy) Watch(dir, helper string, reads bool, on func(Act)) (*Monitored, error) {
	w := cage.Watch{What: cage.WatchWrites, On: on}
	if reads {
		w.What = cage.WatchAll
	}
	return cage.NewMonitor(dir, helper, w, p.cageView(), p.OwnNetwork())
}

// cageView is the tree of the policy in the words of the cage.
func (p Policy) cageView() cage.View {
	v := p.View()
	out := cage.View{Covers: v.Covers, Pins: v.Pins}
	for _, m := range v.Mounts {
		out.Mounts = append(out.Mounts, cage.Mount{Source: m.Source, Target: m.Target, Write: m.Write, Plain: m.Plain})
	}
	for _, link := range v.Links {
		out.Links = append(out.Links, cage.Link{Path: link.Path, To: link.To})
	}
	return out
}
