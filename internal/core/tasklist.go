package core

import (
	"context"
	"sort"
	"strings"
	"sync"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/store"
)

// TaskList is the verb task_list.
func (c *Core) TaskList(ctx context.Context, call *Call, p api.TaskListParams) (api.TaskListResult, error) {
	var r api.TaskListResult
	filter, err := c.taskFilter(ctx, call.Caller, p)
	if err != nil {
		return r, err
	}
	tasks, err := c.store.Tasks(ctx, filter)
	if err != nil {
		return r, err
	}
	switch {
	case !p.Archived:
	case filter.Before == "" && len(tasks) < filter.Limit:
		r.Total = len(tasks) // all that there are
	default:
		if r.Total, err = c.store.CountTasks(ctx, filter); err != nil {
			return r, err
		}
	}
	tasks = matching(tasks, func(t store.Task) bool { return mayRead(call.Caller, t) })
	if r.Tasks, err = c.summaries(ctx, call.Caller, tasks, p.Quiet || p.Archived); err != nil || p.Archived {
		return r, err
	}
	sort.SliceStable(r.Tasks, func(a, b int) bool {
		pa, pb := strings.ToLower(r.Tasks[a].Project), strings.ToLower(r.Tasks[b].Project)
		if pa != pb {
			return pa < pb
		}
		return strings.ToLower(r.Tasks[a].Name) < strings.ToLower(r.Tasks[b].Name)
	})
	return r, nil
}

// taskFilter is what the store is asked for by a task_list.
func (c *Core) taskFilter(ctx context.Context, caller grant.Caller, p api.TaskListParams) (store.TaskFilter, error) {
	f := store.TaskFilter{Archived: p.Archived, Find: p.Find}
	if bounded(caller) {
		f.Projects = append([]string{}, caller.Projects...) // so that a page and its total hold nothing that is hidden
	}
	if p.Project != "" {
		project, err := c.resolveProject(ctx, caller, p.Project)
		if err != nil {
			return f, err
		}
		f.ProjectID = project.ID
	}
	if !p.Archived {
		if p.Before != "" || p.Limit != 0 {
			return f, fault.New(fault.InvalidArgument, "before and limit are for archived tasks").WithHint("Add archived; the others are listed whole.")
		}
		return f, nil
	}
	if f.Limit = int(p.Limit); p.Limit == 0 {
		f.Limit = store.TasksUsual
	}
	if p.Limit < 0 || p.Limit > store.TasksMost {
		return f, fault.New(fault.InvalidArgument, "limit is a number from 1 to %d", store.TasksMost)
	}
	if p.Before == "" {
		return f, nil
	}
	f.Before = strings.ToUpper(p.Before)
	if t, err := c.store.Task(ctx, f.Before); err != nil || !t.Archived() || !mayRead(caller, t) {
		return f, fault.New(fault.NotFound, "There is no archived task with the id %q", p.Before).
			WithHint("before takes the id of the last task of the page before; list again without it.")
	}
	return f, nil
}

// summaries are tasks as a list shows them; quiet ones run no git.
func (c *Core) summaries(ctx context.Context, caller grant.Caller, tasks []store.Task, quiet bool) ([]api.TaskSummary, error) {
	names, err := c.projectNames(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]api.TaskSummary, len(tasks))
	var wg sync.WaitGroup
	defer wg.Wait()
	slots := make(chan struct{}, diffAtOnce)
	counting, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	for i, t := range tasks {
		var tabs []store.Tab
		if !quiet {
			if tabs, err = c.tabsFor(ctx, caller, t.ID); err != nil {
				return nil, err
			}
		}
		out[i] = c.viewTask(t, names[t.ProjectID], tabs, quiet)
		if err := c.onlyReachableParent(ctx, caller, &out[i]); err != nil {
			return nil, err
		}
		if quiet || t.State != api.TaskLive {
			continue
		}
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			out[i].Diff, out[i].DiffError = c.stat(counting, t)
		})
	}
	wg.Wait()
	return out, nil
}
