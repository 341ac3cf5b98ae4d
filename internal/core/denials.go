package core

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"termic/internal/api"
	"termic/sandbox"
)

// Bounds of what is remembered of refusals.
const (
	maxDenials   = 200         // different things of one kind and task; the ones not seen for longest make way
	denialNotice = time.Second // least time between two words to those who watch
)

// denials are what cages refused since the app was started, by task. The same thing again only counts.
type denials struct {
	mu    sync.Mutex // guards the following
	tasks map[string]map[string]*denial
	told  time.Time
}

type denial struct {
	api.Denial
	last time.Time
}

func newDenials() *denials { return &denials{tasks: map[string]map[string]*denial{}} }

// add takes note and reports whether those who watch should be told.
func (d *denials) add(taskID string, v api.Denial, at time.Time) (tell bool) {
	key := strings.Join([]string{v.Kind, v.Target, v.TabID, strconv.FormatBool(v.Would)}, "\x00")
	d.mu.Lock()
	defer d.mu.Unlock()
	of := d.tasks[taskID]
	if of == nil {
		of = map[string]*denial{}
		d.tasks[taskID] = of
	}
	have := of[key]
	if have == nil {
		makeRoom(of, v.Kind)
		have = &denial{Denial: v}
		of[key] = have
		tell = true
	}
	have.Count++
	have.Reason, have.last = v.Reason, at
	have.Last = at.UTC().Format(time.RFC3339)
	if tell = tell || at.Sub(d.told) > denialNotice; tell {
		d.told = at
	}
	return tell
}

// makeRoom drops what was not seen for longest of a kind that has its fill. A program that tries many hosts shall not push
// out which files were refused.
func makeRoom(of map[string]*denial, kind string) {
	n, oldest := 0, ""
	for k, o := range of {
		if o.Kind != kind {
			continue
		}
		n++
		if oldest == "" || o.last.Before(of[oldest].last) {
			oldest = k
		}
	}
	if n >= maxDenials {
		delete(of, oldest)
	}
}

// of is what was refused to a task, newest first.
func (d *denials) of(taskID string) []api.Denial {
	d.mu.Lock()
	all := make([]*denial, 0, len(d.tasks[taskID]))
	for _, v := range d.tasks[taskID] {
		copied := *v
		all = append(all, &copied)
	}
	d.mu.Unlock()
	slices.SortFunc(all, func(a, b *denial) int {
		if n := b.last.Compare(a.last); n != 0 {
			return n
		}
		return strings.Compare(a.Target, b.Target)
	})
	out := make([]api.Denial, len(all))
	for i, v := range all {
		out[i] = v.Denial
	}
	return out
}

// forget drops what was refused to a task: it was archived.
func (d *denials) forget(taskID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.tasks, taskID)
}

// nscd is the socket at which the C library of GNU asks for names of users in every program, whether anybody listens there
// or not (its nscd/nscd-client.h). That it is not there says nothing about what a program wants.
const nscd = "/var/run/nscd/socket"

// hearActs takes note of what a program tried and its cage refused, or a cage would refuse.
func (c *Core) hearActs(l *liveTab, would bool) func(sandbox.Act) {
	tab, task := l.tab.ID, l.task.ID // now: the rows change under the start, while the first acts come in
	return func(a sandbox.Act) {
		if !a.Refused {
			return
		}
		v := api.Denial{Kind: api.DenyOther, Target: l.walls.policy.Outside(a.Path), TabID: tab, Would: would}
		switch {
		case a.Op == "connect" && a.Path == "":
			v.Kind, v.Target, v.Reason = api.DenyHost, a.Address, "a connection past the proxy of the cage"
		case a.Op == "connect":
			v.Reason = "a socket that the cage does not have"
		case a.Op == "read":
			v.Kind = api.DenyRead
		default:
			v.Kind = api.DenyWrite
		}
		if v.Kind == api.DenyOther && v.Target == nscd {
			return
		}
		if v.Target != "" && c.denials.add(task, v, time.Now()) {
			c.beacon.change()
		}
	}
}

// hearHosts takes note of the hosts that the proxy of an agent refused, or would refuse.
func (c *Core) hearHosts(l *liveTab) func(sandbox.Decision) {
	tab, task := l.tab.ID, l.task.ID
	return func(d sandbox.Decision) {
		if d.Verdict != sandbox.HostBlocked && d.Verdict != sandbox.HostWouldBlock {
			return
		}
		target := d.Host
		if d.Port != 0 {
			target = net.JoinHostPort(d.Host, strconv.Itoa(int(d.Port)))
		}
		v := api.Denial{Kind: api.DenyHost, Target: target, TabID: tab, Reason: d.Detail, Would: d.Verdict == sandbox.HostWouldBlock}
		if c.denials.add(task, v, d.At) {
			c.beacon.change()
		}
	}
}
