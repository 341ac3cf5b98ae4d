package mcp

import "sync"

// calls bounds what each terminal has under way at the same time. An agent without a door of its own shares the
// connections of everybody else, and could keep them all with calls that wait.
type calls struct {
	most int

	mu    sync.Mutex // guards the following
	under map[string]int
}

// begin counts a call of a terminal and reports whether it may go on; then end must follow. Callers without a terminal
// are not counted.
func (c *calls) begin(terminal string) bool {
	if terminal == "" {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.under[terminal] >= c.most {
		return false
	}
	c.under[terminal]++
	return true
}

// end takes a call out of the count.
func (c *calls) end(terminal string) {
	if terminal == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.under[terminal]--; c.under[terminal] == 0 {
		delete(c.under, terminal)
	}
}
