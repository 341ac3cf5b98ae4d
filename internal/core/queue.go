package core

import (
	"context"
	"errors"
	"time"

	"termic/internal/agent"
	"termic/internal/fault"
	"termic/internal/ptyhost"
	"termic/internal/store"
)

// agentTerm shows a terminal to the delivery of prompts.
type agentTerm struct {
	*ptyhost.Terminal
	id string // unique for each start, unlike the id of the tab
}

func (t agentTerm) ID() string { return t.id }

func (t agentTerm) Screen() agent.Screen { return screenOf(t.Terminal) }

// Foreground is the process group that owns the input, 0 when unknown.
func (t agentTerm) Foreground() int {
	p, err := t.Terminal.Foreground()
	if err != nil {
		return 0
	}
	return p.Pid
}

func screenOf(t *ptyhost.Terminal) agent.Screen {
	s := t.Screen()
	return agent.Screen{Lines: s.Lines, CursorX: s.CursorX, CursorY: s.CursorY, Title: s.Title, AltScreen: s.AltScreen,
		BracketedPaste: s.BracketedPaste, CursorVisible: s.CursorVisible}
}

// watchAgent makes the detector of a tab and returns the tap that feeds it. ready is closed once the terminal is there.
func (c *Core) watchAgent(l *liveTab, ready <-chan struct{}) func([]byte) {
	l.det = agent.NewDetector(agent.DetectorOptions{Kind: l.kind,
		Screen: func() agent.Screen {
			<-ready
			return screenOf(l.term)
		},
		OnChange: func(s agent.State) {
			if s.Submits > 0 {
				c.markUsed(l)
			}
			l.wake()
			poke(l.turned)
			c.beacon.change()
		},
	})
	return l.det.Feed
}

// markUsed stores that the agent knows the conversation of this spawn: only now can it be resumed.
func (c *Core) markUsed(l *liveTab) {
	l.mu.Lock()
	done := l.used
	l.used = true
	l.mu.Unlock()
	if done {
		return
	}
	_, err := c.store.UpdateTab(context.WithoutCancel(c.ctx), l.tab.ID, func(t *store.Tab) error {
		t.SessionID, t.SessionUsed = orElse(l.session, t.SessionID), true
		return nil
	})
	if err != nil {
		c.log.Error("the conversation of a tab could not be stored", "tab", l.tab.ID, "err", err)
	}
}

// wake makes the runner look at the queue.
func (l *liveTab) wake() {
	select {
	case l.kick <- struct{}{}:
	default: // it will look anyway
	}
}

// runQueue types the prompts of a tab, one at a time, whenever its agent is ready for one. It ends with the program.
func (c *Core) runQueue(l *liveTab) {
	l.wake() // prompts may have been queued before the start
	var pause <-chan time.Time
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-l.term.Done():
			return
		case <-l.kick:
		case <-pause:
		}
		pause = nil
		if wait := c.drain(l); wait > 0 {
			pause = time.After(wait)
		}
	}
}

// drain delivers prompts until the queue is empty or the agent is not ready. It returns how long to wait before
// looking again, 0 when the next change tells.
func (c *Core) drain(l *liveTab) time.Duration {
	for c.ctx.Err() == nil && !l.ended() {
		p, ok, err := c.store.NextPrompt(c.ctx, l.tab.ID)
		if err != nil {
			c.log.Error("queue could not be read", "tab", l.tab.ID, "err", err)
			return time.Second
		}
		if !ok || !readyForPrompt(l.det.State()) {
			return 0
		}
		if until := l.det.State().Fresh(time.Now()); !until.IsZero() {
			return time.Until(until) // the one before is not seen at work yet: it would be typed into that turn
		}
		if wait := c.untilNext(l, p); wait > 0 {
			return wait
		}
		if again := c.deliver(l, p); !again {
			return 0
		}
	}
	return 0
}

// ended reports whether the program is gone, or is being ended: what waits for its tab is for the one that comes after it.
func (l *liveTab) ended() bool {
	l.mu.Lock()
	going := l.ending != "" || l.gone
	l.mu.Unlock()
	select {
	case <-l.term.Done():
		return true
	default:
		return going
	}
}

// readyForPrompt reports whether a prompt may be typed now. An agent whose state is never told is always ready.
func readyForPrompt(s agent.State) bool {
	return !s.Capable || s.Work != agent.Working && s.Work != agent.NeedsInput && !s.Held
}

// untilNext keeps a pause between prompts that follow one another without a person: a person may want to step in.
func (c *Core) untilNext(l *liveTab, p store.Prompt) time.Duration {
	l.mu.Lock()
	last := l.lastSend
	l.mu.Unlock()
	if last.IsZero() || p.Created.After(last) {
		return 0
	}
	return time.Until(last.Add(time.Duration(c.settings.Get().Queue.IntervalSeconds) * time.Second))
}

// deliver types one prompt and stores how that went. It reports whether the next one may follow.
func (c *Core) deliver(l *liveTab, p store.Prompt) bool {
	if p.FromTask != "" {
		if err := c.stillAllowed(c.ctx, p, l); err != nil {
			c.log.Warn("prompt of a caged agent was not delivered", "tab", l.tab.ID, "prompt", p.ID, "err", err)
			c.refusePrompt(p, err)
			return c.ctx.Err() == nil
		}
	}
	if err := c.store.SetPromptState(c.ctx, p.ID, store.PromptDelivering, "", store.PromptQueued); err != nil {
		return fault.CodeOf(err) == fault.Conflict // cancelled meanwhile: look at the next
	}
	l.mu.Lock()
	fresh := l.fresh
	l.mu.Unlock()
	c.beacon.change()
	receipt, err := agent.Deliver(c.ctx, agentTerm{l.term, l.row}, l.kind, p.Text, agent.DeliverOptions{Detector: l.det, PromptID: p.ID, Fresh: fresh, Hold: l.holdKeys})
	state, reason := store.PromptDelivered, ""
	switch {
	case err == nil:
		l.mu.Lock()
		l.fresh, l.lastSend, l.entered = false, time.Now(), receipt.At
		l.mu.Unlock()
		c.log.Debug("prompt delivered", "tab", l.tab.ID, "prompt", p.ID, "how", receipt.Mode, "enters", receipt.Enters)
	case untyped(err):
		state = store.PromptQueued // a dialog or a draft stands before it, and not a byte was typed
	case c.ctx.Err() != nil:
		return false // the next start finds it as being delivered, and says that its fate is unknown
	default:
		state, reason = store.PromptFailed, sentence(err)
	}
	if serr := c.settlePrompt(p.ID, state, reason); serr != nil && fault.CodeOf(serr) != fault.Conflict { // somebody ended it meanwhile
		c.log.Error("the fate of a prompt could not be stored", "prompt", p.ID, "err", serr)
	}
	c.beacon.change()
	return err == nil
}

// settlePrompt stores what became of a prompt that was being typed, and queues it once more where it is to be repeated.
func (c *Core) settlePrompt(id, state, reason string) error {
	ctx := context.WithoutCancel(c.ctx)
	return c.store.Write(ctx, func(tx *store.Tx) error {
		err := tx.SetPromptState(ctx, id, state, reason, store.PromptDelivering)
		if err != nil || state != store.PromptDelivered {
			return err
		}
		return tx.RepeatPrompt(ctx, id)
	})
}

// refusePrompt ends a prompt that may not be typed.
func (c *Core) refusePrompt(p store.Prompt, why error) {
	if c.ctx.Err() != nil {
		return // the app is ending, which is no reason
	}
	err := c.store.SetPromptState(context.WithoutCancel(c.ctx), p.ID, store.PromptFailed, sentence(why), store.PromptQueued)
	if err != nil && fault.CodeOf(err) != fault.Conflict {
		c.log.Error("the fate of a prompt could not be stored", "prompt", p.ID, "err", err)
	}
	c.beacon.change()
}

// untyped reports that a person must act before a prompt can be typed, and that nothing of it was typed.
func untyped(err error) bool {
	var d *agent.DeliveryError
	return errors.As(err, &d) && !d.Typed && (errors.Is(d.Reason, agent.ErrNeedsInput) || errors.Is(d.Reason, agent.ErrOccupied))
}

// holdKeys keeps the keys of people out of the terminal while a prompt is typed.
func (l *liveTab) holdKeys() (release func()) {
	l.keys <- struct{}{}
	return func() { <-l.keys }
}

// failPrompts ends everything that waits for a tab which will never take it.
func (c *Core) failPrompts(tabID, reason string) {
	if tabID == "" {
		return
	}
	ctx := context.WithoutCancel(c.ctx)
	prompts, err := c.store.Prompts(ctx, tabID)
	for _, p := range prompts {
		err = errors.Join(err, c.store.SetPromptState(ctx, p.ID, store.PromptFailed, reason))
	}
	if err != nil {
		c.log.Error("a queue could not be ended", "tab", tabID, "err", err)
	}
}
