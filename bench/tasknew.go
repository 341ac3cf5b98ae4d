package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"termic/internal/api"
	"termic/internal/control"
)

// taskNew times a creation to its accepted answer and to its worktree, in pairs with git's own `worktree add`.
func taskNew(ctx context.Context, b *bench) ([]row, error) {
	r, err := b.serve()
	if err != nil {
		return nil, err
	}
	var added api.ProjectAddResult
	if err := b.call(ctx, "project_add", map[string]any{"path": b.repo, "name": "bench"}, &added); err != nil {
		return nil, err
	}
	c, err := control.Dial(ctx, control.AddressIn(b.data)) // which a client keeps
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var accepted, ready, peer []time.Duration
	for i := range 15 {
		t := time.Now()
		var n api.TaskNewResult
		if err := callOn(ctx, c, "task_new", map[string]any{"name": fmt.Sprint("task ", i), "project": "bench", "noAgent": true}, &n); err != nil {
			return nil, err
		}
		accepted = append(accepted, time.Since(t))
		// One call that waits, as the window waits: to ask again and again would take from git what it needs.
		var j api.JobResult
		if err := callOn(ctx, c, "job_wait", map[string]any{"job": n.Job, "timeoutMs": 60_000}, &j); err != nil {
			return nil, err
		}
		if j.Job.State != api.JobDone {
			return nil, fmt.Errorf("the task was not made: %+v", j.Job)
		}
		ready = append(ready, time.Since(t))
		t = time.Now()
		if err := b.git("worktree", "add", "-q", "-b", fmt.Sprint("peer-", i), filepath.Join(b.dir, "peer", fmt.Sprint(i)), "main"); err != nil {
			return nil, err
		}
		peer = append(peer, time.Since(t))
	}
	if err := r.stop(); err != nil {
		return nil, err
	}
	a, o, p := median(accepted), median(ready), median(peer)
	return []row{
		{"task_new to its accepted answer, against git worktree add", ms(a), ms(p), ratio(float64(a), float64(p))},
		{"task_new to its worktree, against git worktree add (400 files)", ms(o), ms(p), ratio(float64(o), float64(p))},
	}, nil
}
