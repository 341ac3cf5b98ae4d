package core

import (
	"context"

	"termic/internal/api"
	"termic/internal/store"
)

// Health is the verb health. What it counts is what the caller may know of. It is cheap, and says less than doctor does: no path,
// and nothing about the machine.
func (c *Core) Health(ctx context.Context, call *Call, _ api.HealthParams) (api.HealthResult, error) {
	r := api.HealthResult{Version: c.version, Started: stamp(c.started), Problems: []string{}}
	tasks, err := c.store.Tasks(ctx, store.TaskFilter{})
	if err != nil {
		return r, err
	}
	for _, t := range matching(tasks, func(t store.Task) bool { return mayRead(call.Caller, t) }) {
		if c.missing(t) {
			t.State = api.TaskMissing
		}
		var work string
		queued := 0
		if t.State == api.TaskLive || t.State == api.TaskMissing { // the others have no tab that does anything
			tabs, err := c.tabsFor(ctx, call.Caller, t.ID)
			if err != nil {
				return r, err
			}
			work, _, queued = c.aggregate(tabs)
		}
		countTask(&r.Tasks, t.State, work, queued)
	}
	if r.Jobs, err = c.store.CountJobs(ctx, store.JobFilter{State: store.JobRunning, Within: reachOf(call.Caller)}); err != nil {
		return r, err
	}
	if r.Tasks.Missing > 0 {
		r.Problems = append(r.Problems, "The folders of some tasks are gone")
	}
	if c.settings.Problem() != "" {
		r.Problems = append(r.Problems, "The settings have a fault; what was in force before still is")
	}
	r.OK = len(r.Problems) == 0
	return r, nil
}

// countTask adds a task to the counts: to one of what it is, and while its agent runs to one of what that does.
func countTask(n *api.TaskCounts, state, work string, queued int) {
	switch state {
	case api.TaskLive:
		n.Live++
	case api.TaskCreating:
		n.Creating++
	case api.TaskFailed:
		n.Failed++
	case api.TaskMissing:
		n.Missing++
	}
	switch work {
	case api.WorkWorking:
		n.Working++
	case api.WorkNeedsInput:
		n.NeedsInput++
	}
	n.Queued += queued
}
