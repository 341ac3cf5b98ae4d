package inlet

import "sync"

// Calls bounds what each of those who share the connections has under way at the same time: with calls that wait one could
// keep them all. It is safe for concurrent use.
type Calls struct {
	most int

	mu    sync.Mutex // guards the following
	under map[string]int
}

// NewCalls allows each of them that many.
func NewCalls(most int) *Calls { return &Calls{most: most, under: map[string]int{}} }

// Begin counts a call of somebody and reports whether it may go on; then End must follow. The empty name is not counted.
func (c *Calls) Begin(who string) bool {
	if who == "" {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.under[who] >= c.most {
		return false
	}
	c.under[who]++
	return true
}

// End takes a call out of the count.
func (c *Calls) End(who string) {
	if who == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.under[who]--; c.under[who] == 0 {
		delete(c.under, who)
	}
}

// Len is how many of them have something under way.
func (c *Calls) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.under)
}
