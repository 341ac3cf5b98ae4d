package core

import (
	"fmt"
	"testing"
	"time"

	"termic/internal/api"
	"termic/internal/store"
	"termic/sandbox"
)

// Whoever tries many hosts does not push out which files were refused, and of the hosts the newest stay.
func TestRefusalsMakeWayWithinTheirKind(t *testing.T) {
	d, at := newDenials(), time.Unix(1_700_000_000, 0)
	d.add("t", api.Denial{Kind: api.DenyWrite, Target: "/etc/passwd"}, at)
	for i := range 3 * maxDenials {
		d.add("t", api.Denial{Kind: api.DenyHost, Target: fmt.Sprintf("h%d.example", i)}, at.Add(time.Duration(i)*time.Second))
	}
	count, newest := map[string]int{}, ""
	for _, v := range d.of("t") {
		if count[v.Kind]++; v.Kind == api.DenyHost && newest == "" {
			newest = v.Target
		}
	}
	if count[api.DenyWrite] != 1 || count[api.DenyHost] != maxDenials || newest != fmt.Sprintf("h%d.example", 3*maxDenials-1) {
		t.Errorf("kept %v, newest host %s", count, newest)
	}
}

// What the C library asks in every program is not told as something that was refused.
func TestTheNameServiceIsNoRefusal(t *testing.T) {
	c := &Core{denials: newDenials(), beacon: newBeacon()}
	l := &liveTab{task: store.Task{ID: "t"}}
	hear := c.hearActs(l, false)
	hear(sandbox.Act{Op: "connect", Path: "/var/run/nscd/socket", Refused: true})
	hear(sandbox.Act{Op: "connect", Path: "/run/user/0/bus", Refused: true})
	if got := c.denials.of("t"); len(got) != 1 || got[0].Target != "/run/user/0/bus" {
		t.Errorf("told: %+v", got)
	}
}
