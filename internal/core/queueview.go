package core

import (
	"context"
	"slices"
	"unicode/utf8"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/store"
)

// maxQueuedText is how many bytes of each prompt task_queue shows: enough to know it again.
const maxQueuedText = 2000

// TaskQueue is the verb task_queue. A prompt that is being typed is shown, and can be neither taken out nor moved.
func (c *Core) TaskQueue(ctx context.Context, call *Call, p api.TaskQueueParams) (api.TaskQueueResult, error) {
	if len(p.Cancel) > 0 || p.Up != "" {
		if err := c.changeQueue(ctx, call.Task, p); err != nil {
			return api.TaskQueueResult{}, err
		}
		c.beacon.change()
	}
	prompts, err := c.queueOf(ctx, call.Task)
	result := api.TaskQueueResult{TaskID: call.Task, Prompts: make([]api.QueuedPrompt, len(prompts))}
	for i, q := range prompts {
		text := q.Text
		if len(text) > maxQueuedText {
			text = text[:maxQueuedText]
			for !utf8.ValidString(text) && len(text) > 0 && len(text) > maxQueuedText-utf8.UTFMax {
				text = text[:len(text)-1] // not in the middle of a character
			}
		}
		result.Prompts[i] = api.QueuedPrompt{ID: q.ID, TabID: q.TabID, Text: text, Bytes: len(q.Text), Truncated: len(text) < len(q.Text),
			Typing: q.State == store.PromptDelivering, FromTask: q.FromTask, Repeats: q.Repeats, Created: stamp(q.Created)}
	}
	return result, err
}

// queueOf returns what waits for the tabs of a task, tab by tab.
func (c *Core) queueOf(ctx context.Context, task string) ([]store.Prompt, error) {
	tabs, err := c.store.Tabs(ctx, task)
	if err != nil {
		return nil, err
	}
	var out []store.Prompt
	for _, tab := range tabs {
		prompts, err := c.store.Prompts(ctx, tab.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, prompts...)
	}
	return out, nil
}

// changeQueue takes prompts out and moves one, all or nothing. Only prompts of the task can be named.
func (c *Core) changeQueue(ctx context.Context, task string, p api.TaskQueueParams) error {
	queued, err := c.queueOf(ctx, task)
	if err != nil {
		return err
	}
	find := func(id string) error {
		i := slices.IndexFunc(queued, func(q store.Prompt) bool { return q.ID == id })
		switch {
		case i < 0:
			return fault.New(fault.NotFound, "No prompt %q waits for this task", id).WithHint("It may have been delivered meanwhile. Without cancel and up, the command shows what waits.")
		case queued[i].State != store.PromptQueued:
			return typedNow()
		}
		return nil
	}
	cancel := p.Cancel
	if slices.Equal(cancel, []string{"all"}) {
		cancel = nil
		for _, q := range queued {
			if q.State == store.PromptQueued {
				cancel = append(cancel, q.ID)
			}
		}
	}
	for _, id := range cancel {
		if err := find(id); err != nil {
			return err
		}
	}
	if p.Up != "" {
		if err := find(p.Up); err != nil {
			return err
		}
	}
	err = c.store.Write(ctx, func(tx *store.Tx) error {
		for _, id := range cancel {
			if err := tx.SetPromptState(ctx, id, store.PromptCancelled, "It was taken out of the queue.", store.PromptQueued); err != nil {
				return err
			}
		}
		if p.Up == "" {
			return nil
		}
		return tx.MovePromptUp(ctx, p.Up)
	})
	if fault.CodeOf(err) == fault.Conflict {
		return typedNow()
	}
	return err
}

func typedNow() error {
	return fault.New(fault.Conflict, "That prompt is being typed already, so it stays").
		WithHint("Stop the agent in its terminal if it must not see it.")
}
