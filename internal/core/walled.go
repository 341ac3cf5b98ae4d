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

// wasWalled is what is known of the programs of a task that have ended; zero for none.
type wasWalled struct {
	ran     time.Time // the last of all, those included that were only watched
	ended   time.Time // the last in a cage
	shared  time.Time // the last of those whose cage had no network of its own
	port    int       // the first of the task's
	project string
	could   sandbox.Capability // of the last program
}

// note takes in that a program in a cage ended, or one that was only watched.
func (w *walledTasks) note(t store.Task, could sandbox.Capability, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.by == nil {
		w.by = map[string]wasWalled{}
	}
	was := w.by[t.ID]
	was.ran, was.port, was.project, was.could = now, t.Port, t.ProjectID, could
	if caged(t) {
		was.ended = now
	}
	if sandbox.Mode(t.Sandbox) == sandbox.EnforceFs {
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
		if endedSince(was.shared, since) || endedSince(was.ended, since) && ownsPort(was.port, ports) {
			out = append(out, id)
		}
	}
	return out
}

func endedSince(at, since time.Time) bool { return !at.IsZero() && !at.Before(since) }

// ranIn are the tasks that are chosen by their project and by what they could do, of which a program in a cage, or one that was watched, ended since a time.
func (w *walledTasks) ranIn(chosen func(project string, could sandbox.Capability) bool, since time.Time) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for id, was := range w.by {
		if endedSince(was.ran, since) && chosen(was.project, was.could) {
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
