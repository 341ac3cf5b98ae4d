package core

import (
	"slices"
	"sync"
	"time"

	"termic/internal/store"
	"termic/sandbox"
)

// walledTasks remembers of each task when the last of its programs in a cage ended. What somebody finds out may have been brought about by
// one that is gone by the time that it is told: an agent can end itself at the right moment. Its zero value has none.
type walledTasks struct {
	mu sync.Mutex // guards the following
	by map[string]wasWalled
}

// wasWalled is what is known of the programs of a task that have ended.
type wasWalled struct {
	ended  time.Time // the last of all
	shared time.Time // the last of those whose cage had no network of its own; zero for none
	port   int       // the first of the task's
}

// note takes in that a program in a cage ended.
func (w *walledTasks) note(t store.Task, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.by == nil {
		w.by = map[string]wasWalled{}
	}
	was := w.by[t.ID]
	if was.ended, was.port = now, t.Port; sandbox.Mode(t.Sandbox) == sandbox.EnforceFs {
		was.shared = now
	}
	w.by[t.ID] = was
}

// answeredAt are the tasks of which a program in a cage may have answered at one of some ports of this machine, at any time since then:
// those whose ports they are, and each one whose cage had no network of its own.
func (w *walledTasks) answeredAt(ports map[int]bool, since time.Time) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for id, was := range w.by {
		if !was.shared.IsZero() && !was.shared.Before(since) || !was.ended.Before(since) && ownsPort(was.port, ports) {
			out = append(out, id)
		}
	}
	return out
}

// ownsPort reports whether one of some ports is among those of a task, by the first of these.
func ownsPort(first int, ports map[int]bool) bool {
	for port := range ports {
		if first > 0 && port >= first && port < first+store.PortBlock {
			return true
		}
	}
	return false
}

// walledNow are the tasks of which a program in a cage may answer now at one of some ports of this machine.
func (c *Core) walledNow(ports map[int]bool) []string {
	var out []string
	for _, l := range c.liveInWalls("") {
		if caged(l.task) && (sandbox.Mode(l.task.Sandbox) == sandbox.EnforceFs || ownsPort(l.task.Port, ports)) && !slices.Contains(out, l.task.ID) {
			out = append(out, l.task.ID)
		}
	}
	return out
}
