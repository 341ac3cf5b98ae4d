package core

import (
	"slices"
	"sync"
)

// making is what the creations that are under way have said so far, by task. It is stored with the task when its creation
// ends; until then this is all there is of it, so that a slow fetch or hook is not waited for in silence. Safe for
// concurrent use.
type making struct {
	mu    sync.Mutex
	lines map[string][]string
}

// add appends a line, unless the task has maxLog of them; it reports whether it did.
func (m *making) add(task, line string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.lines[task]) >= maxLog {
		return false
	}
	if m.lines == nil {
		m.lines = map[string][]string{}
	}
	m.lines[task] = append(m.lines[task], line)
	return true
}

// of returns the lines of a task, oldest first.
func (m *making) of(task string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.lines[task])
}

// forget drops the lines of a task whose creation has ended.
func (m *making) forget(task string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.lines, task)
}
