package core

import (
	"context"
	"strings"
	"time"

	"termic/internal/agent"
	"termic/internal/fault"
	"termic/internal/store"
)

// How an agent must rest until that counts as settled, and how long after one settling the next is told at the earliest. Settling is
// a heuristic, and what shows on a screen may flicker; and a caged program that pretends to settle must not fill the list of events.
const (
	settleQuiet = 500 * time.Millisecond
	settleGap   = 5 * time.Second
)

// maxSettleDetail is how many bytes are kept of what an agent asks.
const maxSettleDetail = 500

// tellSettled makes an event of each time that an agent settles. It ends with the program.
func (c *Core) tellSettled(l *liveTab) {
	var done uint64     // settlings that were told
	var asked time.Time // since when the question was there that was told
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-l.term.Done():
			c.tellEnded(l)
			return
		case <-l.turned:
		}
		if !l.rests(done, asked) || !c.stays(l, settleQuiet) {
			continue
		}
		s := l.det.State()
		if !l.rests(done, asked) {
			continue
		}
		outcome := string(agent.Done)
		if done = s.DoneSeq; s.Work == agent.NeedsInput {
			outcome, asked = string(agent.NeedsInput), s.Since
		}
		c.settledAs(l, outcome, s)
		if !c.stays(l, settleGap) {
			continue
		}
		poke(l.turned) // what came to rest meanwhile is told now
	}
}

// rests reports whether an agent is at rest in a way that was not told.
func (l *liveTab) rests(done uint64, asked time.Time) bool {
	s := l.det.State()
	switch s.Work {
	case agent.NeedsInput:
		return !s.Since.Equal(asked)
	case agent.Done, agent.Idle:
		return s.DoneSeq != done
	}
	return false
}

// stays waits, unless the program ends.
func (c *Core) stays(l *liveTab, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-l.term.Done():
	case <-c.ctx.Done():
	}
	return false
}

// tellEnded tells of an agent that ended by itself: nothing more will come of it.
func (c *Core) tellEnded(l *liveTab) {
	l.mu.Lock()
	meant := l.ending != ""
	l.mu.Unlock()
	if !meant && c.ctx.Err() == nil {
		c.settledAs(l, "ended", l.det.State())
	}
}

func (c *Core) settledAs(l *liveTab, outcome string, s agent.State) {
	ctx := context.WithoutCancel(c.ctx)
	e := store.Event{Kind: store.EventTaskSettled, Subject: l.task.Name, Task: l.task.ID, Project: l.task.ProjectID,
		Facts: map[string]any{"outcome": outcome, "agent": l.tab.Agent, "tab": l.tab.ID}}
	if t, err := c.store.Task(ctx, l.task.ID); err == nil {
		e.Subject = t.Name // it may have been renamed
	}
	if outcome == string(agent.NeedsInput) && s.Detail != "" {
		e.Facts["detail"] = strings.ToValidUTF8(s.Detail[:min(len(s.Detail), maxSettleDetail)], "")
	}
	if l.task.Sandbox != uncaged {
		e.Cages = []string{l.task.ID}
	}
	var err error
	if e.Depth, err = c.depthOf(ctx, l); err != nil {
		c.log.Error("it cannot be told what made an agent work, so nothing follows from its settling", "task", l.task.ID, "err", err)
		e.Depth = MaxChain
	}
	c.happened(ctx, e)
}

// driven is for how long what the agent of a task asks of others is taken for a part of what it was prompted to do by a rule.
const driven = time.Hour

// depthOf is how many firings led to what an agent did last: by the prompt that it was given. A prompt that a person sends begins
// anew; one that the agent of another task sends goes on with what that was prompted to do.
func (c *Core) depthOf(ctx context.Context, l *liveTab) (int, error) {
	id := l.det.State().Prompt
	if id == "" {
		return 0, nil
	}
	p, err := c.store.Prompt(ctx, id)
	if err != nil {
		return 0, err
	}
	depth, err := c.store.DepthOf(ctx, l.task.ID, p.Job)
	if err != nil || depth > 0 {
		return depth, err
	}
	driver, err := c.driverOf(ctx, l.task.ID, p)
	if err != nil || driver == "" {
		return 0, err
	}
	return c.store.DepthAround(ctx, driver, c.clock.wall().Add(-driven))
}

// driverOf is the task whose agent sent a prompt, or made the task that begins with it; empty for everybody else.
func (c *Core) driverOf(ctx context.Context, task string, p store.Prompt) (string, error) {
	if p.FromTask != "" {
		return p.FromTask, nil
	}
	if p.Job == "" {
		t, err := c.store.Task(ctx, task)
		return t.ParentID, err
	}
	j, err := c.store.Job(ctx, p.Job)
	if fault.CodeOf(err) == fault.NotFound {
		return "", nil // it was forgotten
	}
	driver, _ := strings.CutPrefix(j.Principal, taskPrefix)
	if driver == j.Principal {
		driver = ""
	}
	return driver, err
}
